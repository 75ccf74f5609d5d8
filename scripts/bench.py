"""Runs all benchmarks and prints one Markdown table: figure, rival, ratio with its range, goal, met or not.

scripts/bench [--full] [--json FILE] [--only NAME] [--write-results]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from comparisons import Row
from results_page import add_option, write_section

HEAD = "| what | ours | against | ratio | goal | met |\n|---|---|---|---|---|---|\n"
PARTS = {"sampling": "bench_sampling", "rounds": "bench_rounds", "discovery": "bench_discovery"}


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="also what takes the rival ten minutes")
    parser.add_argument("--json", type=Path, default=Path("runs/bench.json"), help="(default: %(default)s)")
    parser.add_argument("--only", choices=PARTS, help="one part instead of all")
    add_option(parser)
    options = parser.parse_args()
    if options.only and options.write_results:
        parser.error("--write-results takes all parts, without --only")
    sys.stdout.write(HEAD)
    found = []
    for row in _rows(options):
        found.append(row)
        sys.stdout.write(_line(row))
        sys.stdout.flush()
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.write_results:
        write_section("bench", HEAD + "".join(map(_line, found)))
    missed = [row["what"] for row in found if not row["met"]]
    sys.stdout.write(f"\n{len(found) - len(missed)} of {len(found)} goals met; written to {options.json}\n")
    sys.stdout.write("".join(f"Falls short: {what}\n" for what in missed))


def _rows(options: argparse.Namespace) -> Iterator[Row]:
    for part, module in PARTS.items():
        if options.only in (None, part):
            settings = {"full": True} if options.full and part == "discovery" else {}
            yield from import_module(module).rows(**settings)


def _line(row: Row) -> str:
    low, high = row["range"]
    if "ratio" in row:
        figure, ratio = _time(row["seconds"]), f"{row['ratio']:.3g}× ({low:.3g}–{high:.3g})"
        against = f"{row['against']}: {_time(row['rival_seconds'])}"
    else:
        figure, ratio = f"{row['figure']:.3g} {row['unit']} ({low:.3g}–{high:.3g})", "–"
        against = "–"
    cells = (row["what"], figure, against, ratio, row["goal"], "yes" if row["met"] else "no")
    return f"| {' | '.join(cells)} |\n"


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


if __name__ == "__main__":
    main()
