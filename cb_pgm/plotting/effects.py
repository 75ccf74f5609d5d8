"""Draw means with their intervals: a row for each arm, with what every basis says of it.

`effects_frame` makes the tidy data frame of a table's answer, `arms_frame` that of a policy's arms, and
`draw_effects` draws either.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from cb_pgm.plotting.regret import OKABE_ITO, STYLE, WIDTH, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cb_pgm.model.intervention import ArmEstimate

__all__ = ["arm_name", "arms_frame", "draw_effects", "effects_frame"]

#: basis → colour, line width, place in an arm's row, and its name in the legend.
_BASES: Mapping[str, tuple[str, float, float, str]] = {
    "bounds": ("#BBBBBB", 5.0, 0.0, "no-assumption bounds"),
    "graphs": (OKABE_ITO[0], 2.5, -0.13, "graph-averaged"),
    "set": (OKABE_ITO[1], 2.5, 0.13, "experimental (rows set)"),
    "seen": ("#555555", 0.0, 0.0, "mean of the rows observed"),
    "arm": (OKABE_ITO[0], 2.5, 0.0, ""),
}
_ROW = 0.52  # height of an arm's row, in inches
_LONGEST = 34  # characters of a variable or of a state


def effects_frame(answer: Mapping[str, Any], most: int = 20) -> pd.DataFrame:
    """Return the first arms of an answer, one row per arm and basis.

    Parameters
    ----------
    answer
        As `EffectsReport.to_dict` returns it.
    most
        The number of arms.

    Returns
    -------
    pd.DataFrame
        Columns arm, basis ("bounds", "graphs", "set" or "seen"), mean (nan for bounds), low and high (nan
        for "seen"), in the order of the arms.
    """
    rows: list[tuple[str, str, float | None, float | None, float | None]] = []
    for arm in answer["arms"][:most]:
        name = arm_name({arm["variable"]: arm["state"]})
        rows.append((name, "bounds", np.nan, *_ends(arm["bounds"])))
        if arm["mean"] is not None:
            rows.append((name, "graphs", arm["mean"], *_ends(arm["interval"])))
        if arm["set"] is not None:
            rows.append((name, "set", arm["set"]["mean"], *_ends(arm["set"]["interval"])))
        if arm["seen"]["mean"] is not None:
            rows.append((name, "seen", arm["seen"]["mean"], np.nan, np.nan))
    return _frame(rows)


def _ends(interval: tuple[float, float] | None) -> tuple[float, float]:
    return (np.nan, np.nan) if interval is None else interval


def arms_frame(arms: Iterable[ArmEstimate]) -> pd.DataFrame:
    """Return a policy's estimates of its arms as such a frame, with the number of rows in the arm's name."""
    return _frame(
        (f"{arm_name(arm.intervention)} ({arm.rows:,})", "arm", arm.mean, arm.low, arm.high) for arm in arms
    )


def arm_name(intervention: Mapping[str, str]) -> str:
    """Return "variable = state"; long names end between words, so that no number is cut.

    Examples
    --------
    >>> arm_name({"Culmen Length of all of the penguins (mm)": "46.8 and above"})
    'Culmen Length of all of the … = 46.8 and above'
    """
    return " and ".join(f"{_cut(name)} = {_cut(state)}" for name, state in intervention.items()) or "do()"


def _cut(text: str) -> str:
    short = text if len(text) <= _LONGEST else textwrap.shorten(text, _LONGEST, placeholder=" …").strip()
    return short if short != "…" else f"{text[: _LONGEST - 1]}…"  # a single long word


def _frame(rows: Iterable[tuple[str, str, float | None, float | None, float | None]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["arm", "basis", "mean", "low", "high"])
    return frame.astype({"mean": float, "low": float, "high": float})


def draw_effects(
    frame: pd.DataFrame,
    do_nothing: float | None = None,
    *,
    reward: str = "reward",
    title: str = "",
    level: str = "",
) -> Figure:
    """Draw the intervals of every arm on each basis, the first arm on top, and do() as a line.

    Parameters
    ----------
    frame
        As `effects_frame` or `arms_frame` returns it, not empty.
    do_nothing
        The mean reward under do(), which is drawn as a line; None: unknown.
    reward
        The name of the reward, for the axis label.
    title
        The title.
    level
        The level of the intervals, for the legend: "95 %".
    """
    arms = list(dict.fromkeys(frame["arm"]))
    with mpl.rc_context(STYLE):
        figure = new_figure(WIDTH, _ROW * len(arms) + 1.6)
        axes = figure.subplots()
        if do_nothing is not None:
            axes.axvline(do_nothing, color="#000000", linewidth=1.2, linestyle="--", label="no intervention")
        for basis, own in frame.groupby("basis", sort=False):
            colour, width, shift, label = _BASES[str(basis)]
            label = f"{label}, {level}" if label and level and width else label
            heights = np.array([arms.index(arm) for arm in own["arm"]]) + shift
            if width:
                axes.hlines(heights, own["low"], own["high"], color=colour, linewidth=width, label=label)
                axes.plot(own["mean"], heights, "o", color=colour, markersize=5)
            else:
                axes.plot(own["mean"], heights, "D", color=colour, markersize=4.5, mfc="none", label=label)
        for place, arm in enumerate(arms):  # above its bars, where long names have room
            at = ("axes fraction", "data")
            ground = {"facecolor": "#FFFFFF", "edgecolor": "none", "pad": 0.5}
            axes.annotate(arm, (0, place - 0.4), xycoords=at, va="center", fontsize=10, bbox=ground)
        axes.set_yticks([])
        axes.set_ylim(len(arms) - 0.5, -0.75)
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_locator(MaxNLocator(6))
        axes.grid(axis="x", color="#DDDDDD", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.set_xlabel(f"mean of {_cut(reward)}")
        axes.set_title(title, loc="left", fontsize=11)
        handles, names = axes.get_legend_handles_labels()
        if handles:
            figure.legend(handles, names, loc="outside lower left", ncols=2, frameon=False, fontsize=10)
    return figure
