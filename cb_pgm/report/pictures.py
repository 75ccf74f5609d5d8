"""Pictures that several kinds of report show: regret curves, rounds to identification, a graph."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from cb_pgm.plotting.graph_plots import draw_graphs, edge_verdicts
from cb_pgm.plotting.regret import draw_regret, line_name, regret_bands
from cb_pgm.plotting.results import draw_pulls
from cb_pgm.report.html.page import Picture
from cb_pgm.report.html.svg import inline_svg
from cb_pgm.report.story.replay import surroundings
from cb_pgm.wording import count, listed, number
from discovery import EssentialGraph

__all__ = ["MOST_NODES", "marked_graph", "pulls_picture", "regret_picture"]

MOST_NODES = 60  # in one picture; of larger graphs the part around the reward's causes is drawn


def regret_picture(curves: pd.DataFrame, identity: str, rounds: int, about: str = "") -> Picture:
    """Return regret curves: mean over runs with a band where there are several.

    Parameters
    ----------
    curves
        Columns policy, graph, run, round, regret.
    identity
        Unique in the page.
    rounds
        The horizon.
    about
        On what, for the caption.
    """
    bands = regret_bands(curves)
    ends = [
        (line_name(str(line.policy), str(line.graph)), float(line.mean))
        for line in bands[bands["round"] == bands["round"].max()].itertuples()
    ]
    ends.sort(key=lambda end: end[1])
    finals = "; ".join(f"{name} {number(round(regret))}" for name, regret in ends)
    label = f"Cumulative regret over {rounds:,} rounds{about}, at the end: {finals}."
    runs = int(bands["runs"].max())
    band = "; the band holds the middle 80 % of them" if runs > 1 else ""
    return Picture(
        inline_svg(draw_regret(bands), identity, label),
        f"Regret is the mean reward lost so far against playing the best intervention{about} in every round. "
        f"{'Mean of ' + str(runs) + ' runs' if runs > 1 else 'One run'}{band}. Lower is better; a flat curve "
        f"means that nothing more is lost.",
        narrow=inline_svg(draw_regret(bands, narrow=True), f"{identity}-narrow", label),
    )


def pulls_picture(frame: pd.DataFrame, identity: str, horizon: int) -> Picture:
    """Return a mark for each run at its round of identification; `frame` as `pulls_to_name` returns it."""
    medians = frame.groupby("name", sort=False)["pulls"].quantile(0.5, interpolation="lower")
    told = "; ".join(f"{name} {number(round(median))}" for name, median in medians.items())
    label = f"Rounds to identification, median: {told}."
    return Picture(
        inline_svg(draw_pulls(frame, horizon), identity, label),
        "Each dot is a run that identified the right causes, each cross one that identified others; the bar "
        "is the median. Rounds without an intervention count too.",
        narrow=inline_svg(draw_pulls(frame, horizon, narrow=True), f"{identity}-narrow", label),
    )


def marked_graph(graph: EssentialGraph, marked: Sequence[str], marked_as: str) -> Picture:
    """Return a graph by itself, the `marked` variables shaded."""
    shown = surroundings(graph, marked or graph.nodes[:1], MOST_NODES)
    figure = draw_graphs(edge_verdicts(graph), graph, nodes=shown, marked=[*marked], marked_as=marked_as)
    told = f" Marked, {marked_as}: {listed(marked)}." if marked else ""
    label = f"The graph over {count(len(graph.nodes), 'variable')}.{told}"
    hidden = len(graph.nodes) - len(shown)
    caption = f"{count(hidden, 'variable')} further away are not shown." if hidden else ""
    return Picture(inline_svg(figure, "graph", label), caption, scrolls=True)
