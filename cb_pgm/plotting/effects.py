"""Draw what a table says of its arms: a forest plot, with the grounds side by side.

`effects_frame` makes the tidy data frame of an answer's arms, `draw_effects` draws it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd

from cb_pgm.plotting.graph_drawing import shortened
from cb_pgm.plotting.regret import OKABE_ITO, STYLE, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_effects", "effects_frame"]

#: The grounds with their colours, line widths and places in an arm's row, in points of its height.
_GROUNDS: Mapping[str, tuple[str, float, float]] = {
    "nothing assumed": ("#BBBBBB", 5.0, 0.0),
    "over graphs": (OKABE_ITO[0], 2.5, -0.12),
    "measured": (OKABE_ITO[1], 2.5, 0.12),
}


def effects_frame(answer: Mapping[str, Any], most: int = 20) -> pd.DataFrame:
    """Return the first arms of an answer, one row per arm and ground.

    Parameters
    ----------
    answer
        As `EffectsReport.to_dict` returns it.
    most
        The number of arms.

    Returns
    -------
    pd.DataFrame
        Columns arm, ground ("nothing assumed", "over graphs", "measured"), mean (nan for the first), low and
        high, in the order of the arms.
    """
    rows: list[tuple[str, str, float, float | None, float | None]] = []
    for arm in answer["arms"][:most]:
        name = f"{arm['variable']} = {arm['state']}"
        rows.append((name, "nothing assumed", np.nan, *arm["bounds"]))
        if arm["mean"] is not None:
            rows.append((name, "over graphs", arm["mean"], *arm["interval"]))
        if arm["set"] is not None:
            rows.append((name, "measured", arm["set"]["mean"], *arm["set"]["interval"]))
    frame = pd.DataFrame(rows, columns=["arm", "ground", "mean", "low", "high"])
    return frame.astype({"mean": float, "low": float, "high": float})


def draw_effects(
    frame: pd.DataFrame, do_nothing: float | None, *, reward: str = "reward", narrow: bool = False
) -> Figure:
    """Draw the intervals of every arm on each ground, the first arm on top, and do() as a line.

    Parameters
    ----------
    frame
        As `effects_frame` returns it, not empty.
    do_nothing
        The mean reward under do(), which is drawn as a line; None: unknown.
    reward
        The name of the reward, for the axis label.
    narrow
        Draw for a phone.
    """
    arms = list(dict.fromkeys(frame["arm"]))
    with mpl.rc_context(STYLE):
        figure = new_figure(4.3 if narrow else 8.0, 0.42 * len(arms) + 1.4)
        axes = figure.subplots()
        if do_nothing is not None:
            axes.axvline(
                do_nothing, color="#000000", linewidth=1.2, linestyle="--", label="do(), nothing set"
            )
        for ground, own in frame.groupby("ground", sort=False):
            _draw_ground(axes, str(ground), own, arms)
        axes.set_yticks(range(len(arms)), [shortened(arm, 18 if narrow else 28) for arm in arms])
        axes.set_ylim(len(arms) - 0.5, -0.5)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color="#DDDDDD", linewidth=0.8)
        axes.set_axisbelow(True)
        figure.supxlabel(f"mean of {shortened(reward)}", fontsize=mpl.rcParams["axes.labelsize"])
        handles, names = axes.get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=2 if narrow else 4, frameon=False)
    return figure


def _draw_ground(axes: Axes, ground: str, own: pd.DataFrame, arms: Iterable[str]) -> None:
    colour, width, shift = _GROUNDS[ground]
    place = {arm: row for row, arm in enumerate(arms)}
    heights = np.array([place[arm] for arm in own["arm"]]) + shift
    axes.hlines(heights, own["low"], own["high"], color=colour, linewidth=width, label=ground)
    axes.plot(own["mean"], heights, "o", color=colour, markersize=5)
