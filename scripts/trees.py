"""Plays random trees, of 100 variables or the paper's 500: the mean regret of each policy."""

from __future__ import annotations

import pandas as pd
from results_page import markdown_table
from results_run import Run

__all__ = ["make"]


def make(run: Run) -> dict[str, str]:
    """Return the table "trees" or "large_trees": mean regret and median pulls, the best policy first."""
    results, _ = run.study(quick={"runs": 1, "horizons": 1000})
    grouped = results.groupby("policy", sort=False)
    table = pd.DataFrame(
        {"regret": grouped["regret"].mean(), "pulls": grouped["interventions_to_find"].median()}
    )
    rows = [
        (row.Index, f"{row.regret:,.0f}", "–" if pd.isna(row.pulls) else f"{row.pulls:,.0f}")
        for row in table.sort_values("regret").itertuples()
    ]
    return {run.name: markdown_table(("policy", "mean regret", "median pulls to name"), rows)}
