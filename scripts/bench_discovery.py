"""Estimating graphs beside causal-learn's own searches: `rows()` gives one dict per comparison.

Both sides get the same table and must come to the same graph, or the row says so. Ours is all of
`estimate`. CPU time, so that other programs on the machine don't count. Four minutes, nearly all of them
causal-learn's; its slowest searches are run once.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from causal_learn_own import own_ges, own_pc
from comparisons import Row, ratio_row
from discovery_tables import network_table, tree_table

from discovery import DiscreteTable, EssentialGraph, GraphError, estimate
from discovery.graphs.mixed_graph import MixedGraph

__all__ = ["rows"]

REPEATS = 3
GES_GOAL, PC_GOAL, WIDE_GOAL = 10, 2, 10

#: With the weight of the prior that causal-learn has.
GES = {"method": "ges", "equivalent_sample_size": 1.0}


def rows(seed: int, repeats: int) -> Iterator[Row]:
    """Yield every comparison."""
    _warm_up()
    for name in ("sachs", "child", "alarm"):
        table, _ = network_table(name, 10_000, seed=seed)
        often = 1 if name == "alarm" else min(repeats, 3)
        yield _row(f"GES, {name}, 10,000 rows", table, GES, own_ges, often, GES_GOAL)
    for name in ("asia", "sachs", "child", "insurance", "alarm"):
        table, _ = network_table(name, 100_000, seed=seed)
        yield _row(f"PC, {name}, 100,000 rows", table, {"method": "pc"}, own_pc, min(repeats, 2), PC_GOAL)
    table, _ = tree_table(200, (3,), 10_000, seed=seed)
    yield _row("PC, tree of 200 variables, 10,000 rows", table, {"method": "pc"}, own_pc, 1, WIDE_GOAL)
    table, _ = tree_table(100, (3,), 1000, seed=seed)
    yield _chow_liu_row(table)


def _row(
    what: str,
    table: DiscreteTable,
    settings: dict[str, Any],
    theirs: Callable[[DiscreteTable], MixedGraph],
    repeats: int,
    goal: float,
) -> Row:
    pairs, same = [], True
    for _ in range(repeats):
        our_seconds, ours = _timed(lambda: estimate(table, **settings))
        their_seconds, found = _timed(lambda: theirs(table))
        pairs.append((our_seconds, their_seconds))
        graph = _essential(found)
        same = same and (graph is None or graph == ours.graph)
    return {**ratio_row(what, "causal-learn's own", pairs, at_least=goal), "same_graph": same}


def _timed(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def _essential(found: MixedGraph) -> EssentialGraph | None:
    """Return the graph; None where it isn't valid, since ours is repaired then."""
    if any(found.having("↔")):
        return None
    try:
        return EssentialGraph(found.nodes, found.having("→"), found.having("—"))
    except GraphError:
        return None


def _chow_liu_row(table: DiscreteTable) -> Row:
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy import config
        from pgmpy.estimators import TreeSearch

    config.set_show_progress(False)
    frame = pd.DataFrame(table.codes, columns=list(table.variables))

    def theirs() -> set[frozenset[str]]:
        tree = TreeSearch(frame, root_node=table.variables[0], n_jobs=1)
        return set(map(frozenset, tree.estimate(estimator_type="chow-liu", show_progress=False).edges))

    our_seconds, ours = _timed(lambda: estimate(table, "chow-liu"))
    their_seconds, edges = _timed(theirs)
    row = ratio_row(
        "Chow–Liu, 100 variables, 1,000 rows",
        "pgmpy's TreeSearch",
        [(our_seconds, their_seconds)],
        at_least=10,
    )
    return {**row, "same_graph": edges == set(map(frozenset, ours.graph.undirected))}


def _warm_up() -> None:
    """Import causal-learn and compile, which is done once per machine."""
    table, _ = tree_table(4, (2,), 200, seed=0)
    for method in ("ges", "pc", "chow-liu"):
        estimate(table, method)
    own_pc(table)
