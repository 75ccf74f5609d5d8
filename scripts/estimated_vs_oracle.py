"""Plays scripts/estimated_vs_oracle.toml and draws what an estimated graph costs, beside the true one.

Leaves in the folder, beside the study with its report, by_rows.csv (a row a system, method and number of
rows) and the figure. The true graph comes with the marginals of the same rows, so that
what differs is the graph alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
from results_run import Run

from cb_pgm.plotting.regret import save
from cb_pgm.plotting.results import draw_by_rows, regret_by_rows
from cb_pgm.report import write_report

__all__ = ["make"]

POLICY = "cn-ucb"
#: What a quick run keeps: the first and the last system, two numbers of rows, two runs.
QUICK_ROWS = [300, 3000]


def make(run: Run) -> dict[str, str]:
    """Return the section "estimated_vs_oracle", and draw the figure of that name."""
    results, _ = run.study(
        quick={
            "runs": 2,
            "system": [
                {"network": "data/asia.bif", "reward": "xray=yes", "rows": 0},
                {"instance": "tree", "n": 20, "n_states": 3, "noise": "bernoulli", "rows": 0},
            ],
            "graph": [
                {"source": "oracle", "rows": QUICK_ROWS},
                {"source": "estimated", "method": ["ges-boss", "ges", "pc", "chow-liu"], "rows": QUICK_ROWS},
            ],
        }
    )
    frame = regret_by_rows(results[results["policy"] == POLICY])
    frame.to_csv(run.folder / "by_rows.csv", index=False, float_format="%.6g")
    save(draw_by_rows(frame), run.folder / "estimated_vs_oracle")
    write_report(run.folder / "study")
    return {"estimated_vs_oracle": f"```\n{reading(frame, results)}\n```"}


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
