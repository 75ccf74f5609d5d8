"""Plays random trees, of 100 variables or the paper's 500, and prints the mean regret of each policy."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd
from results_page import add_option, markdown_table, write_section

from cb_pgm.cli.console import progress
from cb_pgm.study import Study, run_study


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="the paper's own case, 500 variables")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--force", action="store_true", help="start over")
    add_option(parser)
    options = parser.parse_args()
    name = "large_trees" if options.large else "trees"
    folder = Path("runs") / name
    study = Study.from_toml(Path(__file__).with_name(f"{name}.toml"))
    with progress(sum(1 for _ in study.cells()), "Playing", unit="cell") as step:
        counts = run_study(
            study,
            folder,
            jobs=options.jobs,
            resume=not options.force,
            force=options.force,
            progress=step,
        )
    text = mean_regret(pd.read_csv(folder / "results.csv"))
    if options.write_results:
        write_section(name, text)
    sys.stdout.write(f"{text}\n\nWritten: {folder / 'results.csv'}\n")
    return 1 if counts["failed"] else 0


def mean_regret(results: pd.DataFrame) -> str:
    """Return mean regret and median pulls until a variable was named, a row a policy, the best one first.

    Parameters
    ----------
    results
        A study's results.csv: columns policy, regret, interventions_to_find and others.
    """
    grouped = results.groupby("policy", sort=False)
    table = pd.DataFrame(
        {"regret": grouped["regret"].mean(), "pulls": grouped["interventions_to_find"].median()}
    )
    rows = [
        (row.Index, f"{row.regret:,.0f}", "–" if pd.isna(row.pulls) else f"{row.pulls:,.0f}")
        for row in table.sort_values("regret").itertuples()
    ]
    return markdown_table(("policy", "mean regret", "median pulls to name"), rows)


if __name__ == "__main__":
    sys.exit(main())
