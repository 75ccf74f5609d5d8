"""The headline figure: regret row by row beside the best rival, over rounds, and pulls beside the bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
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
    "screening": ("screening", {"color": VERMILION, "linestyle": "-", "marker": "*", "linewidth": 3.2}),
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
    rows = max(len(others), len(names) + 14)
    with mpl.rc_context({**STYLE, "font.size": 11, "lines.linewidth": 1.8, "lines.markersize": 7}):
        figure = new_figure(15.0, 3.0 + 0.28 * rows)
        grid = figure.add_gridspec(2, 3, width_ratios=[1.15, 1, 0.95], height_ratios=[1.0, 1.0])
        _draw_rows(figure.add_subplot(grid[:, 0]), others)
        _draw_networks(figure.add_subplot(grid[0, 1]), networks, list(names))
        _draw_legend(figure.add_subplot(grid[1, 1]))
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
        if pd.notna(row.floor):
            axes.scatter(max(row.floor, LEAST), at, marker="|", color=GREY, s=90, zorder=2)
    _rows_axis(axes, names, height)
    axes.set_title("Reward lost in all rounds, artificial systems", loc="left")


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
    axes.set_title("The same on real networks", loc="left")


def _rows_axis(axes: Axes, names: list[str], height: Mapping[str, int]) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks([height[name] for name in names], names, fontsize=9)
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.grid(axis="both", color="#E5E5E5", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_xlabel("mean regret (log; to the left is better)")


def _draw_legend(axes: Axes) -> None:
    """Say what the marks of the rows mean, in an empty panel of its own."""
    axes.set_axis_off()
    marks = [
        Line2D([], [], linestyle="none", marker="*", color=VERMILION, markersize=13),
        Line2D([], [], linestyle="none", marker="o", color=BLACK),
        Line2D([], [], color="#BBBBBB"),
        Line2D([], [], color=VERMILION),
        Line2D([], [], linestyle="none", marker="|", color=GREY, markersize=11),
        Line2D([], [], linestyle="none", marker="*", color=VERMILION, markersize=8),
        Line2D([], [], linestyle="none", marker="*", color=VERMILION, markersize=11),
        Line2D([], [], linestyle="none", marker="*", color=VERMILION, markersize=15),
    ]
    labels = [
        "screening, this package's policy that needs no graph",
        "the best of UCB, MOSS, KL-UCB, Thompson, BBB and UCB+,\nnone of which knows graph or causes",
        "screening loses less …",
        "… or more",
        "a policy that knows the causes",
        "networks: without a table before the first round,",
        "with 1,000 rows,",
        "with 10,000 rows (the rival starts from them as well)",
    ]
    axes.legend(
        marks, labels, loc="center left", frameon=False, fontsize=10, labelspacing=0.9, borderaxespad=0
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
    axes.set_title(f"Regret over rounds, {setting.split(', T')[0]}", loc="left")


def _draw_pulls(axes: Axes, pulls: pd.DataFrame) -> None:
    medians = pulls.groupby(["policy", "n"])["pulls"].median()
    last = {}
    for name, (label, look) in PULLS.items():
        line = medians[name]
        axes.plot(line.index, line, **look)
        last[label] = (float(line.index[-1]), float(line.iloc[-1]), look["color"])
    _log_log(axes, "variables", "rounds")
    _label_ends(axes, last)
    axes.set_title("Rounds until the cause is identified", loc="left")


def _label_ends(axes: Axes, ends: Mapping[str, tuple[float, float, str]]) -> None:
    """Write each line's name at its right end, moved apart where they would overlap."""
    least_ratio = (axes.get_ylim()[1] / axes.get_ylim()[0]) ** 0.062
    at = 0.0
    for label, (x, y, color) in sorted(ends.items(), key=lambda end: end[1][1]):
        at = max(y, at * least_ratio)
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
