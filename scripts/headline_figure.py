"""The headline figure: regret against n and T, pulls against n, and regret on real networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from headline_runs import POLICIES
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, NullFormatter

from cb_pgm.plotting.regret import OKABE_ITO, STYLE, new_figure

__all__ = ["draw_headline"]

BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK = OKABE_ITO
GREY = "#777777"

#: Colour says what a policy knows or is, dash and marker which of these it is: readable without colour.
LOOKS: Mapping[str, Mapping[str, Any]] = {
    "ucb": {"color": BLACK, "linestyle": "-", "marker": "o"},
    "moss": {"color": BLACK, "linestyle": "--", "marker": "d"},
    "kl-ucb": {"color": PURPLE, "linestyle": "--", "marker": "v"},
    "thompson": {"color": SKY, "linestyle": "-.", "marker": "P"},
    "raps": {"color": ORANGE, "linestyle": ":", "marker": "X"},
    "cn-ucb-fixed": {"color": BLUE, "linestyle": "--", "marker": "s"},
    "cn-ucb-sequential": {"color": BLUE, "linestyle": "-.", "marker": "p"},
    "cn-ucb": {"color": BLUE, "linestyle": "-", "marker": "D"},
    "learn-graph": {"color": GREEN, "linestyle": "--", "marker": "^"},
    "screening": {"color": VERMILION, "linestyle": "-", "marker": "*", "linewidth": 3},
    "causal-ucb": {"color": GREY, "linestyle": "-.", "marker": "<"},
    "oracle": {"color": GREY, "linestyle": ":", "marker": ">"},
}
LABELS = {
    "ucb": "UCB",
    "moss": "MOSS",
    "kl-ucb": "KL-UCB",
    "thompson": "Thompson",
    "raps": "RAPS",
    "cn-ucb-fixed": "CN-UCB, fixed",
    "cn-ucb-sequential": "CN-UCB, sequential",
    "cn-ucb": "CN-UCB",
    "learn-graph": "learn graph first",
    "screening": "screening",
    "causal-ucb": "C-UCB (knows all)",
    "oracle": "oracle (knows parents)",
}
#: What stands in the panel of pulls, and whose look each line has.
PULLS = {
    "raps as printed": ("raps", "RAPS, printed B"),
    "cn-ucb-fixed": ("cn-ucb-fixed", ""),
    "learn-graph": ("learn-graph", ""),
    "cn-ucb-sequential": ("cn-ucb-sequential", ""),
    "cn-ucb": ("cn-ucb", ""),
    "screening": ("screening", ""),
    "information bound": ("oracle", "information bound"),
}


def draw_headline(table: pd.DataFrame, curves: pd.DataFrame, pulls: pd.DataFrame) -> Figure:
    """Return the figure of four panels; the frames are those that `headline.py` writes."""
    with mpl.rc_context({**STYLE, "font.size": 12, "lines.linewidth": 1.8, "lines.markersize": 7}):
        figure = new_figure(11.0, 9.6)
        (by_n, naming), (by_rounds, networks) = figure.subplots(2, 2)
        _draw_by_n(by_n, table[table["group"] == "n"])
        _draw_pulls(naming, pulls)
        _draw_rounds(by_rounds, curves, _longest_tree(table))
        _draw_networks(networks, table[table["group"] == "network"])
        handles = [Line2D([], [], label=LABELS[name], **LOOKS[name]) for name in POLICIES]
        figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False, fontsize=11)
    return figure


def _longest_tree(table: pd.DataFrame) -> str:
    trees = table[(table["n"] == 100) & table["group"].isin(["n", "T"])]
    return str(trees.loc[trees["horizon"].idxmax(), "setting"])


def _draw_by_n(axes: Axes, rows: pd.DataFrame) -> None:
    for name in POLICIES:
        line = rows[(rows["policy"] == name) & rows["regret"].notna()]
        axes.plot(line["n"], line["regret"], **LOOKS[name])
    _log_log(axes, "variables", "regret")
    axes.set_title(f"Regret after {int(rows['horizon'].iloc[0]):,} rounds, random trees", loc="left")


def _draw_pulls(axes: Axes, pulls: pd.DataFrame) -> None:
    medians = pulls.groupby(["policy", "n"])["pulls"].median()
    for name, (look, label) in PULLS.items():
        line = medians[name]
        axes.plot(line.index, line, **LOOKS[look])
        if label:
            at, offset, side = (0, (6, 8), "left") if look == "oracle" else (-1, (-10, -4), "right")
            axes.annotate(
                label,
                (line.index[at], line.iloc[at]),
                xytext=offset,
                textcoords="offset points",
                horizontalalignment=side,
                color=LOOKS[look]["color"] if look == "oracle" else BLACK,
            )
    _log_log(axes, "variables", "pulls")
    axes.set_title("Pulls until the reward's parent is named", loc="left")


def _draw_rounds(axes: Axes, curves: pd.DataFrame, setting: str) -> None:
    means = curves[curves["setting"] == setting].groupby(["policy", "round"])["regret"].mean()
    for place, name in enumerate(POLICIES):
        if name in means.index.get_level_values("policy"):
            line = means[name]
            line = line[line.index >= 10]
            every = (place * 2 % 16, 16)  # markers of different lines at different places
            axes.plot(line.index, np.maximum(line, 1e-9), markevery=every, **LOOKS[name])
    _log_log(axes, "rounds", "regret")
    axes.set_ylim(bottom=1)
    axes.set_title(f"Regret over rounds, {setting.split(', T')[0]}", loc="left")


def _draw_networks(axes: Axes, rows: pd.DataFrame) -> None:
    names = list(dict.fromkeys(rows["setting"]))
    height = {name: place for place, name in enumerate(reversed(names))}
    least = rows.loc[rows["regret"] > 0, "regret"].min() / 3  # where what lost nothing is drawn
    for name in POLICIES:
        of_policy = rows[(rows["policy"] == name) & rows["regret"].notna()]
        look = {key: LOOKS[name][key] for key in ("color", "marker")}
        at = [height[setting] for setting in of_policy["setting"]]
        axes.plot(of_policy["regret"].clip(lower=least), at, linestyle="none", **look)
    for setting in dict.fromkeys(rows.loc[rows["regret"] <= 0, "setting"]):
        place = (least, height[setting])
        axes.annotate("below 0", place, xytext=(9, -4), textcoords="offset points", fontsize=10)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_yticks(list(height.values()), [name.replace(" ", "\n", 1) for name in height], fontsize=9)
    axes.grid(axis="both", color="#DDDDDD", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_xlabel("regret")
    axes.set_title(f"Regret after {int(rows['horizon'].iloc[0]):,} rounds, real networks", loc="left")


def _log_log(axes: Axes, x: str, y: str) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(EngFormatter(sep=""))
        axis.set_minor_formatter(NullFormatter())
    axes.grid(color="#DDDDDD", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_xlabel(f"{x} (log)")
    axes.set_ylabel(f"{y} (log)")
