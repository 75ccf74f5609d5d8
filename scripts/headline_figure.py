"""The headline figure: regret row by row beside the best rival, over rounds, and pulls beside the bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from headline_text import best_rivals
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, NullFormatter

from cb_pgm.plotting.regret import OKABE_ITO, STYLE, new_figure

__all__ = ["draw_headline"]

BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK = OKABE_ITO
GREY = "#777777"
LEAST = 1.0  # regrets below are drawn here

#: The policies drawn as lines: look and name. Colour, dash and marker each tell them apart.
LINES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "ucb": ("UCB", {"color": BLACK, "linestyle": "-"}),
    "moss": ("MOSS", {"color": PURPLE, "linestyle": "--"}),
    "thompson": ("Thompson", {"color": SKY, "linestyle": "-."}),
    "cn-ucb-fixed": ("CN-UCB as printed", {"color": BLUE, "linestyle": ":"}),
    "cn-ucb": ("CN-UCB (knows graph)", {"color": BLUE, "linestyle": "-"}),
    "screening": ("screening", {"color": VERMILION, "linestyle": "-", "linewidth": 3.2}),
    "oracle": ("knows the causes", {"color": GREY, "linestyle": ":"}),
}
PULLS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "raps told of one parent": (
        "RAPS, told of one cause",
        {"color": ORANGE, "linestyle": "-", "marker": "X"},
    ),
    "raps by its printed formula": (
        "RAPS by its formula",
        {"color": ORANGE, "linestyle": ":", "marker": "x"},
    ),
    "cn-ucb-fixed": ("CN-UCB as printed", {"color": BLUE, "linestyle": ":", "marker": "s"}),
    "cn-ucb": ("CN-UCB", {"color": BLUE, "linestyle": "-", "marker": "D"}),
    "screening": (
        "screening",
        {"color": VERMILION, "linestyle": "-", "marker": "*", "linewidth": 3.2, "markersize": 11},
    ),
    "yardstick": ("yardstick", {"color": GREY, "linestyle": "--", "marker": "<"}),
    "proven bound": ("no policy needs fewer", {"color": GREY, "linestyle": ":", "marker": ">"}),
}
NETWORK_STARS = {0: 60, 1_000: 130, 10_000: 240}  # rows of the table → area of the star


def draw_headline(table: pd.DataFrame, curves: pd.DataFrame, pulls: pd.DataFrame) -> Figure:
    """Return the figure; the frames are those that `headline.py` writes."""
    found = best_rivals(table)
    networks = found[found["group"] == "network"]
    others = found[found["group"] != "network"]
    names = networks["setting"].str.split(", ").str[0].drop_duplicates()
    with mpl.rc_context({**STYLE, "font.size": 11, "lines.linewidth": 1.8, "lines.markersize": 7}):
        figure = new_figure(18.0, 3.5 + 0.24 * len(others))
        grid = figure.add_gridspec(2, 3)
        _draw_rows(figure.add_subplot(grid[:, 0]), others)
        _draw_networks(figure.add_subplot(grid[:, 1]), networks, list(names))
        _draw_legend(figure)
        _draw_rounds(figure.add_subplot(grid[0, 2]), curves, _longest_tree(table))
        _draw_pulls(figure.add_subplot(grid[1, 2]), pulls)
    return figure


def _draw_rows(axes: Axes, found: pd.DataFrame) -> None:
    """Draw a line per row, from our regret to the best untold rival's, and what knowing the causes costs."""
    names = list(found["setting"])
    height = {name: place for place, name in enumerate(reversed(names))}
    for row in found.itertuples():
        at, ours, rival = height[row.setting], max(row.ours, LEAST), max(row.rival_regret, LEAST)
        axes.plot(
            [ours, rival], [at, at], color=VERMILION if ours > rival else "#BBBBBB", linewidth=1.5, zorder=1
        )
        axes.scatter(rival, at, marker="o", color=BLACK, s=34, zorder=3)
        axes.scatter(ours, at, marker="*", color=VERMILION, s=130, zorder=4)
        for loss, shape in ((row.oracle, "|"), (row.floor, "<")):
            if pd.notna(loss):
                axes.scatter(max(loss, LEAST), at, marker=shape, color=GREY, s=60, zorder=2, linewidths=1)
    _rows_axis(axes, names, height)
    axes.set_title("Artificial systems: reward lost", loc="left")


def _draw_networks(axes: Axes, found: pd.DataFrame, names: list[str]) -> None:
    height = {name: place for place, name in enumerate(reversed(names))}
    for row in found.itertuples():
        at = height[row.setting.split(", ")[0]]
        size = NETWORK_STARS[int(row.table_rows)]
        axes.scatter(max(row.ours, LEAST), at, marker="*", color=VERMILION, s=size, zorder=4, linewidths=0)
        axes.scatter(
            max(row.rival_regret, LEAST), at, marker="o", color=BLACK, s=size / 4, zorder=3, alpha=0.7
        )
    _rows_axis(axes, names, height)
    axes.set_title("Real networks: reward lost", loc="left")


def _rows_axis(axes: Axes, names: list[str], height: Mapping[str, int]) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks([height[name] for name in names], names, fontsize=9)
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.grid(axis="both", color="#E5E5E5", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_xlabel("mean regret (log; to the left is better)")


def _draw_legend(figure: Figure) -> None:
    """Say below the panels what the marks of the rows mean."""

    def mark(shape: str, color: str, size: float) -> Line2D:
        return Line2D([], [], linestyle="none", marker=shape, color=color, markersize=size)

    marks = {
        "screening: this package's policy that needs no graph": mark("*", VERMILION, 13),
        "the best rival: UCB, MOSS, KL-UCB, Thompson, BBB or UCB+; none knows graph or causes": mark(
            "o", BLACK, 7
        ),
        "a policy that knows the causes": mark("|", GREY, 12),
        "the floor: no policy loses less on such systems, where it is known": mark("<", GREY, 7),
        "red line: screening loses more than the best rival": Line2D([], [], color=VERMILION),
        "networks: small, middle, large marks for 0, 1,000 and 10,000 rows seen before the first round": mark(
            "*", VERMILION, 8
        ),
    }
    figure.legend(
        marks.values(), marks, loc="outside lower left", ncols=2, frameon=False, fontsize=11, columnspacing=3
    )


def _draw_rounds(axes: Axes, curves: pd.DataFrame, setting: str) -> None:
    means = curves[curves["setting"] == setting].groupby(["policy", "round"])["regret"].mean()
    last = {}
    for name, (label, look) in LINES.items():
        if name in means.index.get_level_values("policy"):
            line = means[name][means[name].index >= 10].clip(lower=LEAST)
            axes.plot(line.index, line, **look)
            last[label] = (float(line.index[-1]), float(line.iloc[-1]), look["color"])
    _log_log(axes, "rounds", "regret")
    _label_ends(axes, last)
    axes.set_title(f"Lost over rounds, {setting.split(', T')[0]}", loc="left")


def _draw_pulls(axes: Axes, pulls: pd.DataFrame) -> None:
    medians = pulls.groupby(["policy", "n"])["pulls"].median()
    last = {}
    for name, (label, look) in PULLS.items():
        line = medians[name]
        axes.plot(line.index, line, **look)
        last[label] = (float(line.index[-1]), float(line.iloc[-1]), look["color"])
    _log_log(axes, "variables", "rounds")
    _label_ends(axes, last)
    axes.set_title("Rounds to find the cause, trees", loc="left")


def _label_ends(axes: Axes, ends: Mapping[str, tuple[float, float, str]]) -> None:
    """Write each line's name at its right end, moved apart where they would overlap."""
    low, high = np.log(axes.get_ylim())
    apart = (high - low) * 0.062
    ordered = sorted(ends.items(), key=lambda end: end[1][1])
    places = [math.log(y) for _, (_, y, _) in ordered]
    for place in range(1, len(places)):
        places[place] = max(places[place], places[place - 1] + apart)
    top = high
    for place in reversed(range(len(places))):
        places[place] = top = min(places[place], top)
        top -= apart
    for (label, (x, _, color)), at in zip(ordered, np.exp(places), strict=True):
        axes.annotate(
            label,
            (x, at),
            xytext=(6, 0),
            textcoords="offset points",
            color=color,
            fontsize=9.5,
            verticalalignment="center",
            annotation_clip=False,
        )


def _longest_tree(table: pd.DataFrame) -> str:
    trees = table[(table["n"] == 100) & table["group"].isin(["n", "T"])]
    return str(trees.loc[trees["horizon"].idxmax(), "setting"])


def _log_log(axes: Axes, x: str, y: str) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(EngFormatter(sep=""))
        axis.set_minor_formatter(NullFormatter())
    axes.grid(color="#E5E5E5", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_xlabel(f"{x} (log)")
    axes.set_ylabel(f"{y} (log)")
