"""Plays scripts/estimated_vs_oracle.toml and draws what an estimated graph costs, beside the true one.

Leaves in the folder, beside the study's own files and its report, by_rows.csv (a row a system, method and
number of rows) and the figure by_rows. The true graph comes with the marginals of the same rows, so that
what differs is the graph alone.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
from results_page import add_option, keep_figure, write_section

from cb_pgm.cli.console import progress
from cb_pgm.plotting.regret import save
from cb_pgm.plotting.results import draw_by_rows, regret_by_rows
from cb_pgm.report import write_report
from cb_pgm.study import Study, run_study

STUDY = Path(__file__).with_suffix(".toml")
POLICY = "cn-ucb"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two systems, two sizes, two runs: a minute")
    parser.add_argument("--out", type=Path, help="folder (default: runs/estimated_vs_oracle, or -quick)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--force", action="store_true", help="start over")
    add_option(parser)
    options = parser.parse_args()
    if options.quick and options.write_results:
        parser.error("--write-results takes a full run, without --quick")
    folder = options.out or Path("runs") / f"estimated_vs_oracle{'-quick' if options.quick else ''}"

    study = Study.from_toml(STUDY)
    if options.quick:
        study = _quick(study)
    cells = sum(1 for _ in study.cells())
    with progress(cells, "Playing", unit="cell") as step:
        counts = run_study(
            study, folder, jobs=options.jobs, resume=not options.force, force=options.force, progress=step
        )
    results = pd.read_csv(folder / "results.csv")
    frame = regret_by_rows(results[results["policy"] == POLICY])
    frame.to_csv(folder / "by_rows.csv", index=False, float_format="%.6g")
    png, svg = save(draw_by_rows(frame), folder / "by_rows")
    report = write_report(folder)
    text = reading(frame, results)
    if options.write_results:
        write_section("estimated_vs_oracle", f"```\n{text}\n```")
        keep_figure(png, "estimated_vs_oracle")
    sys.stdout.write(f"{text}\n\nWritten: {png}, {svg}, {folder / 'by_rows.csv'}, {report}\n")
    return 1 if counts["failed"] else 0


def reading(frame: pd.DataFrame, results: pd.DataFrame) -> str:
    """Say in a table what each method's graphs cost: regret over the true graph's, how often X_R is named."""
    lines = [
        f"Regret of {POLICY} over {results['horizon'].max():,} rounds as a multiple of that on the true "
        f"graph with the same rows, and the share of runs that name the cause:"
    ]
    for system, own in frame.groupby("system", sort=False):
        sizes = sorted(own["rows"].dropna().unique())
        true = own[own["method"] == "oracle"].set_index("rows")
        lines.append(f"\n{system}\n  {'rows':<10}" + "".join(f"{size:>14,.0f}" for size in sizes))
        lines.append(
            _line("true graph", [f"{true['regret'][size]:,.0f}" for size in sizes], true["right"][sizes])
        )
        for method, line in own[own["method"] != "oracle"].groupby("method", sort=False):
            line = line.set_index("rows")
            ratios = [f"{line['regret'][size] / true['regret'][size]:,.1f} ×" for size in sizes]
            lines.append(_line(str(method), ratios, line["right"][sizes]))
        methods = set(own["method"])
        if {"ges", "ges-boss"} <= methods:
            lines.append(_paired(results[results["system"] == system], "ges-boss", "ges", sizes))
        for policy in ("screening", "ucb"):
            regrets = results.loc[(results["system"] == system) & (results["policy"] == policy), "regret"]
            lines.append(f"  {policy:<10}{regrets.mean():>14,.0f}  (needs no graph)")
    return "\n".join(lines)


def _paired(results: pd.DataFrame, method: str, other: str, sizes: Sequence[float]) -> str:
    """Return the mean difference of regrets on two methods' graphs of the same rows, with 95 % intervals."""
    played = results[(results["policy"] == POLICY) & results["method"].isin((method, other))]
    regrets = played.pivot_table(index=["rows", "run"], columns="method", values="regret")
    differences = regrets[method] - regrets[other]
    texts = []
    for size in sizes:
        own = differences[size].to_numpy()
        half = 1.96 * own.std(ddof=1) / math.sqrt(len(own)) if len(own) > 1 else math.inf
        texts.append(f"{own.mean():+,.0f} ± {half:,.0f}")
    return f"  regret on {method}'s graphs less that on {other}'s: " + ", ".join(texts)


def _line(name: str, values: list[str], rights: pd.Series) -> str:
    return f"  {name:<10}" + "".join(
        f"{value:>8} {right:>4.0%} " for value, right in zip(values, rights, strict=True)
    )


def _quick(study: Study) -> Study:
    """Keep the first and the last system, graphs from 300 and 3,000 rows, and two runs."""
    graphs = tuple(graph for graph in study.graphs if graph["rows"] in (300, 3000))
    return replace(study, systems=(study.systems[0], study.systems[-1]), graphs=graphs, runs=2)


if __name__ == "__main__":
    sys.exit(main())
