"""Draw the results of reports and studies: rounds to identification, and regret against rows.

`pulls_to_name` makes the data frame for `draw_pulls`, `regret_by_rows` the one for `draw_by_rows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.ticker import EngFormatter, PercentFormatter

from cb_pgm.plotting.regret import OKABE_ITO, STYLE, WIDTH, line_name, line_style, log_scale, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_by_rows", "draw_pulls", "pulls_to_name", "regret_by_rows"]

_RIGHT, _WRONG = OKABE_ITO[0], OKABE_ITO[1]
_ROW = 0.62  # height of a policy's row, in inches


def pulls_to_name(results: pd.DataFrame) -> pd.DataFrame:
    """Return the rounds to identification of every run, for policies that identified parents at least once.

    Parameters
    ----------
    results
        One row per run, with the columns policy, graph, run, correct and interventions_to_find. The last two
        are None if the run identified no parents.

    Returns
    -------
    pd.DataFrame
        Columns name (`line_name`), run, pulls (rounds to identification; nan if no parents were identified)
        and right (whether the identified parents are the true ones), in order of appearance.
    """
    frame = pd.DataFrame(
        {
            "name": [
                line_name(str(policy), str(graph))
                for policy, graph in zip(results["policy"], results["graph"], strict=True)
            ],
            "run": results["run"].to_numpy(),
            "pulls": pd.to_numeric(results["interventions_to_find"]).to_numpy(dtype=float),
            "right": [value is True or value == 1 for value in results["correct"]],
        }
    )
    names = frame.loc[frame["pulls"].notna(), "name"].unique()
    return frame[frame["name"].isin(names)].reset_index(drop=True)


def draw_pulls(frame: pd.DataFrame, horizon: int) -> Figure:
    """Draw the rounds to identification, one mark per run: a dot if the parents are right, else a cross.

    Parameters
    ----------
    frame
        As `pulls_to_name` returns it, not empty.
    horizon
        The number of rounds played, the right end of the axis.
    """
    names = list(dict.fromkeys(frame["name"]))
    with mpl.rc_context(STYLE):
        figure = new_figure(WIDTH, _ROW * len(names) + 0.85)
        axes = figure.subplots()
        for place, name in enumerate(names):
            _draw_row(axes, frame[frame["name"] == name], len(names) - place, name)
        log_scale(axes, "x")
        axes.set_xlim(max(1.0, 0.7 * float(frame["pulls"].min())), max(2, horizon))
        axes.set_ylim(0.55, len(names) + 0.65)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x", color="#DDDDDD", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.set_xlabel("rounds to identification (logarithmic)")
    return figure


def _draw_row(axes: Axes, runs: pd.DataFrame, height: float, name: str) -> None:
    spread = np.linspace(-0.09, 0.09, len(runs)) if len(runs) > 1 else np.zeros(1)
    right = runs["right"].to_numpy(dtype=bool)
    pulls = np.maximum(runs["pulls"].to_numpy(dtype=float), 1)  # 0 has no place on a logarithmic axis
    for chosen, colour, marker, size in ((right, _RIGHT, "o", 22), (~right, _WRONG, "X", 34)):
        axes.scatter(
            pulls[chosen], (height + spread)[chosen], s=size, color=colour, marker=marker, alpha=0.75, lw=0
        )
    median = float(np.nanquantile(pulls, 0.5, method="lower"))
    shown = float(np.nanquantile(runs["pulls"], 0.5, method="lower"))
    if len(runs) > 1:
        axes.plot([median, median], [height - 0.18, height + 0.18], color="#000000", linewidth=2)
    named = int(runs["pulls"].notna().sum())
    often = f"{named} of {len(runs)} identify, median {shown:,.0f}" if len(runs) > 1 else f"{shown:,.0f}"
    _name_row(axes, height + 0.26, f"{name}: {often}")


def _name_row(axes: Axes, height: float, text: str) -> None:
    axes.text(
        0,
        height,
        text,
        transform=axes.get_yaxis_transform(),
        fontsize=10,
        va="bottom",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
    )


def regret_by_rows(results: pd.DataFrame, *, low: float = 0.1, high: float = 0.9) -> pd.DataFrame:
    """Summarise a study that compares graphs estimated from different numbers of rows with the oracle graph.

    Parameters
    ----------
    results
        A study's results: columns system, policy, horizon, graph, method, rows, regret, correct.
    low, high
        The quantiles of regret over runs.

    Returns
    -------
    pd.DataFrame
        One row per system, policy, horizon, method ("oracle" for the true graph) and rows (nan if the
        marginals are exact). The columns regret, low and high are the mean and the quantiles over runs; right
        is the share of runs that identified the right parents; runs is their number.
    """
    played = results[results["regret"].notna() & results["method"].notna()]
    frame = played.assign(
        right=[float(value is True or value == 1) for value in played["correct"]],
    )
    by = ["system", "policy", "horizon", "method", "rows"]
    grouped = frame.groupby(by, sort=False, dropna=False)
    return grouped.agg(
        low=("regret", lambda values: values.quantile(low)),
        high=("regret", lambda values: values.quantile(high)),
        regret=("regret", "mean"),
        right=("right", "mean"),
        runs=("right", "size"),
    ).reset_index()


def draw_by_rows(frame: pd.DataFrame) -> Figure:
    """Draw regret, and the share of runs that identified the right parents, against rows.

    Each system has a column; curves of the oracle graph are black.

    Parameters
    ----------
    frame
        As `regret_by_rows` returns it, with one policy and one horizon.
    """
    systems = list(dict.fromkeys(frame["system"]))
    methods = [method for method in dict.fromkeys(frame["method"]) if method != "oracle"]
    with mpl.rc_context(STYLE):
        figure = new_figure(max(WIDTH, 2.9 * len(systems)), 5.4)
        columns = figure.subplots(2, len(systems), squeeze=False).T
        for system, (regret, right) in zip(systems, columns, strict=True):
            own = frame[frame["system"] == system]
            _draw_system(regret, own, methods, "regret")
            _draw_system(right, own, methods, "right")
            regret.set_ylim(bottom=0)
            regret.yaxis.set_major_formatter(EngFormatter(sep=""))
            right.set_ylim(-0.03, 1.06)
            right.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
            right.set_xlabel("rows")
            if len(systems) > 1:
                regret.set_title(system, loc="left", fontsize=10, wrap=True)
        columns[0][0].set_ylabel("regret, mean and 10–90 %")
        columns[0][1].set_ylabel("runs that identify")
        handles, names = columns[0][0].get_legend_handles_labels()
        columns_of_names = max(2, int(figure.get_figwidth() / 1.8))
        figure.legend(handles, names, loc="outside lower center", ncols=columns_of_names, frameon=False)
    return figure


def _draw_system(axes: Axes, own: pd.DataFrame, methods: Sequence[str], what: str) -> None:
    exact = own[(own["method"] == "oracle") & own["rows"].isna()]
    if len(exact):
        axes.axhline(float(exact[what].iloc[0]), color="#000000", linewidth=1.4, label="true graph, exact")
    for index, method in enumerate(("oracle", *methods)):
        line = own[(own["method"] == method) & own["rows"].notna()].sort_values("rows")
        if line.empty:
            continue
        style: dict[str, Any] = {"color": "#000000", "linestyle": "-", "marker": "D"}
        if method != "oracle":
            style = line_style(index) | {
                "color": line_style(index - 1)["color"],
                "marker": "os^vP"[index % 5],
            }
        name = "true graph" if method == "oracle" else method
        axes.plot(line["rows"], line[what], markersize=4.5, linewidth=2, label=name, **style)
        if what == "regret":
            axes.fill_between(
                line["rows"], line["low"], line["high"], color=style["color"], alpha=0.15, linewidth=0
            )
    log_scale(axes, "x")
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.8)
    axes.set_axisbelow(True)
