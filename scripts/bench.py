"""Runs all benchmarks: figure, rival, ratio with its range, goal, met or not.

What takes a rival minutes is measured once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import bench_discovery
import bench_rounds
import bench_sampling
from comparisons import Row
from results_page import markdown_table
from results_run import Run

__all__ = ["make"]

HEAD = ("what", "ours", "against", "ratio", "goal", "met")


def make(run: Run) -> dict[str, str]:
    """Return the section "bench"."""
    found = list(_rows(run))
    rows = json.dumps(found, indent=1, ensure_ascii=False)
    (run.folder / "bench.json").write_text(f"{rows}\n", encoding="utf-8")
    missed = [str(row["what"]) for row in found if not row["met"]]
    text = f"{len(found) - len(missed)} of {len(found)} goals are met."
    if missed:
        text += f" Short fall: {'; '.join(missed)}."
    return {"bench": f"{markdown_table(HEAD, map(_line, found))}\n\n{text}"}


def _rows(run: Run) -> Iterator[Row]:
    parts = (bench_sampling, bench_rounds) if run.quick else (bench_sampling, bench_rounds, bench_discovery)
    for part in parts:
        yield from part.rows(seed=run.seed, repeats=1 if run.quick else part.REPEATS)


def _line(row: Row) -> tuple[str, ...]:
    low, high = row["range"]
    if "ratio" in row:
        figure, ratio = _time(row["seconds"]), f"{row['ratio']:.3g}× ({low:.3g}–{high:.3g})"
        against = f"{row['against']}: {_time(row['rival_seconds'])}"
    else:
        figure, ratio = f"{row['figure']:.3g} {row['unit']} ({low:.3g}–{high:.3g})", "–"
        against = "–"
    same = "" if row.get("same_graph", True) else ", another graph"
    return row["what"], figure, against, ratio, row["goal"], ("yes" if row["met"] else "no") + same


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
