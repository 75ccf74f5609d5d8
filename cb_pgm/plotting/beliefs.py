"""How the probabilities of what the reward depends on moved while rows came in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from cb_pgm.plotting.regret import WIDTH, legal, line_style, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["beliefs_frame", "draw_beliefs"]

_MOST_LINES = 6
_LIKELY = 0.05  # what was never more probable has no line


def beliefs_frame(believed: Iterable[tuple[int, Mapping[str, Any]]]) -> pd.DataFrame:
    """Return a row for each hypothesis at each time: `rows`, `hypothesis`, `probability`.

    Parameters
    ----------
    believed
        Numbers of rows, each with what was believed after it, as `Beliefs.to_dict` has it.
    """
    records = []
    for rows, beliefs in believed:
        shares = {" and ".join(one["variables"]): one["probability"] for one in beliefs["sets"]}
        shares |= {
            "something hidden": beliefs["hidden"],
            "what was hardly ever tried": beliefs["novel"],
            "none of these": beliefs["arms"],
        }
        records += [(rows, name, share) for name, share in shares.items()]
    return pd.DataFrame(records, columns=["rows", "hypothesis", "probability"])


def draw_beliefs(frame: pd.DataFrame, *, unit: str = "rows") -> Figure:
    """Return a picture with a line for each of the hypotheses that were ever likely, at most six."""
    highest = frame.groupby("hypothesis")["probability"].max().sort_values(ascending=False)
    chosen = highest[highest >= _LIKELY].index[:_MOST_LINES]
    wide = frame.pivot(index="rows", columns="hypothesis", values="probability").fillna(0.0)
    figure = new_figure(WIDTH, 2.8 + 0.25 * len(chosen))
    axes = figure.subplots()
    for index, name in enumerate(chosen):
        axes.plot(wide.index, wide[name], label=legal(str(name)), **line_style(index))
    axes.set(xlabel=f"{unit} recorded", ylabel="probability", ylim=(-0.02, 1.02))
    figure.legend(loc="outside lower left", frameon=False, handlelength=3.2)
    return figure
