"""The tables, searches and measurements of `discovery_accuracy`, where other processes can import them."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from typing import Any

import tetrad_own
from causal_learn_own import own_boss, own_grasp
from discovery_tables import TableAndTruth, network_table, random_dag_table, tree_table

from discovery import DiscreteTable, EssentialGraph, compare, estimate, repair
from discovery.graphs.mixed_graph import MixedGraph

__all__ = ["OF_TETRAD", "SEARCHES", "TABLES", "Record", "measured"]

Record = dict[str, Any]

TABLES: dict[str, Callable[[int, int], TableAndTruth]] = {
    "tree of 20": lambda n_rows, seed: tree_table(20, (2, 3, 4), n_rows, seed),
    "DAG of 15": lambda n_rows, seed: random_dag_table(15, (2, 3, 4), n_rows, seed, parents=1.2),
    "DAG of 50": lambda n_rows, seed: random_dag_table(50, (2, 3, 4), n_rows, seed, parents=1.2),
    "dense DAG of 20": lambda n_rows, seed: random_dag_table(20, (2, 3, 4), n_rows, seed, parents=2.0),
    "asia": lambda n_rows, seed: network_table("asia", n_rows, seed),
    "sachs": lambda n_rows, seed: network_table("sachs", n_rows, seed),
    "child": lambda n_rows, seed: network_table("child", n_rows, seed),
    "insurance": lambda n_rows, seed: network_table("insurance", n_rows, seed),
    "alarm": lambda n_rows, seed: network_table("alarm", n_rows, seed),
}
SEARCHES: dict[str, Callable[[DiscreteTable], EssentialGraph]] = {
    "default": lambda table: estimate(table).graph,
    "GES": lambda table: estimate(table, "ges", equivalent_sample_size=1.0).graph,
    "PC": lambda table: estimate(table, "pc").graph,
    "BOSS of causal-learn": lambda table: _valid(own_boss(table)),
    "GRaSP of causal-learn": lambda table: _valid(own_grasp(table)),
    "FGES of Tetrad": lambda table: _valid(tetrad_own.tetrad_fges(table)),
    "BOSS of Tetrad, 5 orders": lambda table: _valid(tetrad_own.tetrad_boss(table)),
}
_LONGEST = 60  # seconds of a search of Tetrad's
OF_TETRAD = ("FGES of Tetrad", "BOSS of Tetrad, 5 orders")


def measured(name: str, table: DiscreteTable, truth: EssentialGraph) -> Record:
    """Return how far the graph of the search `name` is from the truth, and its CPU seconds."""
    return _measured_apart(name, table, truth) if name in OF_TETRAD else _measurement(name, table, truth)


_APART: list[Any] = []


def _measured_apart(name: str, table: DiscreteTable, truth: EssentialGraph) -> Record:
    """Measure in a process that is ended after a minute: FGES doesn't end on some tables."""
    if not _APART:
        _APART.append(multiprocessing.get_context("spawn").Pool(1))
    try:
        found: Record = _APART[0].apply_async(_measurement, (name, table, truth)).get(timeout=_LONGEST)
    except multiprocessing.TimeoutError:
        _APART.pop().terminate()
        raise
    return found


def _measurement(name: str, table: DiscreteTable, truth: EssentialGraph) -> Record:
    _warm_up(name)
    start = time.process_time()
    graph = SEARCHES[name](table)
    seconds = time.process_time() - start
    result = compare(graph, truth)
    return {
        "shd": result["shd"],
        "parent_aid": result["parent_aid"]["share"],
        "arrow_f1": result["arrow"]["f1"],
        "seconds": seconds,
    }


_WARM: set[str] = set()


def _warm_up(name: str) -> None:
    """Import, compile and start Java, once a process."""
    if name not in _WARM:
        _WARM.add(name)
        SEARCHES[name](random_dag_table(12, (2, 3), 200, 0, parents=1.0)[0])


def _valid(found: MixedGraph) -> EssentialGraph:
    return repair(found.nodes, *map(found.having, "→—↔"))[0]
