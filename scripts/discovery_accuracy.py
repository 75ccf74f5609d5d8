"""How far estimated graphs are from the truth, and how often what a search returned had to be repaired.

    .venv/bin/python scripts/discovery_accuracy.py [--seeds 20] [--json FILE]

Trees of 20 and random DAGs of 15 variables with 2 to 4 states (tables from Dirichlet(1), 1.2 parents on
average), asia and sachs, from 1,000 and 10,000 rows. "shd" is the mean structural Hamming distance to the
true essential graph, "raw" the same of what the search returned, "invalid" the percentage of results that
had to be repaired.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from discovery_tables import TableAndTruth, network_table, random_dag_table, tree_table

from discovery import EssentialGraph, EstimatedGraph, compare, estimate

SETTINGS: dict[str, dict[str, Any]] = {
    "PC rule 0": {"method": "pc", "uc_rule": 0},
    "PC rule 0, priority 1": {"method": "pc", "uc_rule": 0, "uc_priority": 1},
    "PC rule 1": {"method": "pc", "uc_rule": 1},
    "PC rule 2": {"method": "pc", "uc_rule": 2},
    "GES": {"method": "ges"},
}
TABLES: dict[str, Callable[[int, int], TableAndTruth]] = {
    "tree20": lambda n_rows, seed: tree_table(20, (2, 3, 4), n_rows, seed),
    "er15": lambda n_rows, seed: random_dag_table(15, (2, 3, 4), n_rows, seed, parents=1.2),
    "asia": lambda n_rows, seed: network_table("asia", n_rows, seed),
    "sachs": lambda n_rows, seed: network_table("sachs", n_rows, seed),
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20, help="tables per row of the result (default 20)")
    parser.add_argument("--json", type=Path, help="write the rows to this file, too")
    chosen = parser.parse_args(arguments)
    found = []
    for row in rows(chosen.seeds):
        found.append(row)
        text = f"{row['shd']:5.1f} (raw {row['raw']:5.1f}, invalid {row['invalid_percent']:3.0f} %)"
        sys.stdout.write(f"{row['table']:7}{row['n_rows']:7,}  {row['setting']:22}{text}\n")
        sys.stdout.flush()
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def rows(seeds: int) -> Iterator[dict[str, Any]]:
    """Yield one row per kind of table, number of rows and setting, over the same tables for every setting."""
    for name, make in TABLES.items():
        for n_rows in (1000, 10_000):
            tables = [make(n_rows, seed) for seed in range(seeds)]
            for setting, options in SETTINGS.items():
                results = [(estimate(table, **options), truth) for table, truth in tables]
                yield {
                    "table": name,
                    "n_rows": n_rows,
                    "setting": setting,
                    "shd": statistics.fmean(compare(found.graph, truth)["shd"] for found, truth in results),
                    "raw": statistics.fmean(_raw_distance(found, truth) for found, truth in results),
                    "invalid_percent": 100 * statistics.fmean(bool(found.repairs) for found, _ in results),
                }


def _raw_distance(found: EstimatedGraph, truth: EssentialGraph) -> int:
    """Return the distance to the truth of the graph before its repair: with every change taken back."""
    marks, true = _marks(found.graph), _marks(truth)
    for change in found.repairs:
        one, other = change.edge
        marks.pop((other, one), None)
        marks[one, other] = change.before
        marks[other, one] = _TURNED[change.before]
    pairs = {*marks, *true}
    return sum(marks.get(pair, "") != true.get(pair, "") for pair in pairs) // 2


_TURNED = {"→": "←", "←": "→", "—": "—", "↔": "↔", "": ""}


def _marks(graph: EssentialGraph) -> dict[tuple[str, str], str]:
    marks = dict.fromkeys(graph.directed, "→") | dict.fromkeys(graph.undirected, "—")
    return marks | {(other, one): _TURNED[mark] for (one, other), mark in marks.items()}


if __name__ == "__main__":
    raise SystemExit(main())
