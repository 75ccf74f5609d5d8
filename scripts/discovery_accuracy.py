"""How far estimated graphs are from the truth, and how often what a search returned had to be repaired.

    scripts/discovery_accuracy [--seeds 20] [--beside] [--json FILE] [--write-results]

Trees of 20 and random DAGs of 15 variables with 2 to 4 states (tables from Dirichlet(1), 1.2 parents on
average), asia and sachs, from 1,000 and 10,000 rows. "shd" is the mean structural Hamming distance to the
true essential graph with its 95 % interval, "raw" the same of what the search returned, "invalid" the
percentage of results that had to be repaired.

`--beside` runs causal-learn's own GES and PC on the same tables (ten minutes): "own" is the mean
distance of what they return, "same" the number of tables on which our search returned the same graph, "own
seconds" what they took, on average, and "seconds" what ours took.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from causal_learn_own import own_ges, own_pc
from discovery_tables import TableAndTruth, network_table, random_dag_table, tree_table
from results_page import add_option, markdown_table, write_section

from discovery import DiscreteTable, EssentialGraph, EstimatedGraph, compare, estimate
from discovery.estimation.causal_learn import MixedGraph

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
#: Settings that causal-learn has, too.
OWN: dict[str, Callable[[DiscreteTable], MixedGraph]] = {"GES": own_ges, "PC rule 2": own_pc}

Pairs = Iterable[tuple[str, str]]
Marks = dict[tuple[str, str], str]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20, help="tables per row of the result (default 20)")
    parser.add_argument("--beside", action="store_true", help="run causal-learn's own searches, too")
    parser.add_argument("--json", type=Path, help="write the rows to this file, too")
    add_option(parser)
    chosen = parser.parse_args(arguments)
    found = []
    for row in rows(chosen.seeds, beside=chosen.beside):
        found.append(row)
        text = f"{row['shd']:5.1f} ± {row['half_width']:.1f} (raw {row['raw']:5.1f}, invalid "
        text += f"{row['invalid_percent']:3.0f} %)"
        if "own" in row:
            text += f"  own {row['own']:5.1f}, same {row['same']} of {chosen.seeds}, {row['seconds']:.2f} s "
            text += f"against {row['own_seconds']:.2f} s"
        sys.stdout.write(f"{row['table']:7}{row['n_rows']:7,}  {row['setting']:22}{text}\n")
        sys.stdout.flush()
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if chosen.write_results:
        write_section("discovery_accuracy", as_markdown(found, chosen.seeds))
    return 0


def as_markdown(found: Sequence[dict[str, Any]], seeds: int) -> str:
    """Return a table of distances, a row a setting; and how often causal-learn's own found the same."""
    kinds = list(dict.fromkeys((row["table"], row["n_rows"]) for row in found))
    by_setting: dict[str, dict[tuple[str, int], str]] = {}
    for row in found:
        cell = f"{row['shd']:.1f} ± {row['half_width']:.1f}"
        by_setting.setdefault(row["setting"], {})[row["table"], row["n_rows"]] = cell
    head = ["", *(f"{table}, {n_rows:,} rows" for table, n_rows in kinds)]
    lines = [markdown_table(head, ([name, *map(cells.get, kinds)] for name, cells in by_setting.items()))]
    beside = [row for row in found if "own" in row]
    if beside:
        lines.append(
            f"causal-learn's own searches found the same graph, before repair, in "
            f"{sum(row['same'] for row in beside)} of {seeds * len(beside)} cases, and took "
            + ", ".join(
                f"{sum(row['own_seconds'] for row in own) / sum(row['seconds'] for row in own):.3g} times as "
                f"long ({name})"
                for name in OWN
                if (own := [row for row in beside if row["setting"] == name])
            )
            + "."
        )
    return "\n\n".join(lines)


def rows(seeds: int, *, beside: bool = False) -> Iterator[dict[str, Any]]:
    """Yield one row per kind of table, number of rows and setting, over the same tables for every setting."""
    for name, make in TABLES.items():
        for n_rows in (1000, 10_000):
            tables = [make(n_rows, seed) for seed in range(seeds)]
            for setting, options in SETTINGS.items():
                start = time.process_time()
                found = [estimate(table, **options) for table, _ in tables]
                seconds = time.process_time() - start
                distances = [
                    compare(one.graph, truth)["shd"] for one, (_, truth) in zip(found, tables, strict=True)
                ]
                raw = [_raw(one) for one in found]
                row = {
                    "table": name,
                    "n_rows": n_rows,
                    "setting": setting,
                    "shd": statistics.fmean(distances),
                    "half_width": 1.96 * statistics.stdev(distances) / seeds**0.5 if seeds > 1 else math.inf,
                    "raw": _mean_distance(raw, tables),
                    "invalid_percent": 100 * statistics.fmean(bool(one.repairs) for one in found),
                    "seconds": seconds / seeds,
                }
                if beside and setting in OWN:
                    start = time.process_time()
                    own = [_own_marks(OWN[setting](table), table.variables) for table, _ in tables]
                    row |= {
                        "own": _mean_distance(own, tables),
                        "same": sum(ours == theirs for ours, theirs in zip(raw, own, strict=True)),
                        "own_seconds": (time.process_time() - start) / seeds,
                    }
                yield row


def _mean_distance(found: Sequence[Marks], tables: Sequence[TableAndTruth]) -> float:
    """Return how many pairs of nodes are marked otherwise than in the truth, on average."""
    return statistics.fmean(
        sum(marks.get(pair, "") != true.get(pair, "") for pair in {*marks, *true}) // 2
        for marks, true in zip(found, (_marks(truth) for _, truth in tables), strict=True)
    )


def _raw(found: EstimatedGraph) -> Marks:
    """Return the graph as it was before its repair: with every change taken back."""
    marks = _marks(found.graph)
    for change in found.repairs:
        one, other = change.edge
        for pair, mark in (((one, other), change.before), ((other, one), _TURNED[change.before])):
            marks.pop(pair, None)
            if mark:
                marks[pair] = mark
    return marks


def _own_marks(found: MixedGraph, names: Sequence[str]) -> Marks:
    kinds = (found.directed, found.undirected, found.bidirected)
    return _marked(*([(names[i], names[j]) for i, j in pairs] for pairs in kinds))


def _marks(graph: EssentialGraph) -> Marks:
    return _marked(graph.directed, graph.undirected)


_TURNED = {"→": "←", "←": "→", "—": "—", "↔": "↔", "": ""}


def _marked(directed: Pairs, undirected: Pairs, bidirected: Pairs = ()) -> Marks:
    """Return each edge as read from either of its ends."""
    marks = dict.fromkeys(directed, "→") | dict.fromkeys(undirected, "—") | dict.fromkeys(bidirected, "↔")
    return marks | {(other, one): _TURNED[mark] for (one, other), mark in marks.items()}


if __name__ == "__main__":
    raise SystemExit(main())
