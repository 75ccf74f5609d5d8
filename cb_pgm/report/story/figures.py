"""The steps of a search as pictures: the graph after each answer, and what becomes of each variable."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from cb_pgm.plotting.graph_drawing import NodeStyle, Placement, draw_panel
from cb_pgm.plotting.regret import STYLE, new_figure
from cb_pgm.report.story.replay import TraceStep

__all__ = ["EDGES", "KEY", "NODES", "draw_step", "step_edges", "step_nodes"]

#: How a variable is drawn; the names are those of `KEY` and of the page's style sheet.
NODES: Mapping[str, NodeStyle] = {
    "asked": NodeStyle(facecolor="#D6ECF9", edgecolor="#0072B2", linewidth=2.6, bold=True),
    "candidate": NodeStyle(),
    "ruled-out": NodeStyle(facecolor="#FBE3D6", edgecolor="#D55E00", linewidth=1.6, linestyle=(0, (3, 1.6))),
    "out": NodeStyle(edgecolor="#767676", textcolor="#767676", linewidth=0.8, linestyle=(0, (1, 1.6))),
    "held": NodeStyle(linewidth=2.6, bold=True),
    "named": NodeStyle(facecolor="#F0E442", linewidth=2.6, bold=True),
}
#: How an edge is drawn: learnt with this answer, of known direction, of unknown direction.
EDGES: Mapping[str, Mapping[str, Any]] = {
    "learnt": {"color": "#0072B2", "linestyle": "-", "linewidth": 2.4},
    "known": {"color": "#555555", "linestyle": "-", "linewidth": 1.1},
    "open": {"color": "#000000", "linestyle": (0, (1, 1.3)), "linewidth": 1.8},
}
#: (style, meaning) of all that the pictures show.
KEY = (
    ("asked", "asked about"),
    ("ruled-out", "ruled out by this answer"),
    ("candidate", "still possible"),
    ("out", "ruled out before"),
    ("held", "held fixed"),
    ("named", "identified as a cause"),
    ("learnt", "direction learnt from this answer"),
    ("open", "direction unknown"),
)


def step_nodes(step: TraceStep, named: Collection[str] = ()) -> dict[str, str]:
    """Return the style in `NODES` of every variable with an edge or among the candidates.

    Variables that this answer identifies (`named`) have their own style, and so has the one asked about,
    unless it is one of them.
    """
    question = step.question
    ruled_out = set(step.before) - set(step.after)
    shown = dict.fromkeys((end for edge in (*step.directed, *step.undirected) for end in edge), "out")
    shown |= dict.fromkeys(step.before, "candidate")
    shown |= {node: "ruled-out" for node in step.before if node in ruled_out}
    shown |= dict.fromkeys(question["fixed"], "held")
    shown[question["variable"]] = "asked"
    return shown | dict.fromkeys(named, "named")


def step_edges(step: TraceStep, nodes: Collection[str]) -> pd.DataFrame:
    """Return the edges between `nodes`: columns source, target, directed, verdict (a style in `EDGES`)."""
    learnt = set(step.learnt)
    rows = [(*edge, True, "learnt" if edge in learnt else "known") for edge in step.directed]
    rows += [(*edge, False, "open") for edge in step.undirected]
    frame = pd.DataFrame(rows, columns=["source", "target", "directed", "verdict"])
    kept = frame["source"].isin(list(nodes)) & frame["target"].isin(list(nodes))
    return frame[kept].reset_index(drop=True).astype({"directed": bool})


def draw_step(placement: Placement, edges: pd.DataFrame, nodes: Mapping[str, str]) -> Figure:
    """Draw one step: the variables of `placement` in the styles that `nodes` names, `edges` between them."""
    styles = {node: NODES[nodes.get(node, "out")] for node in placement.widths}
    with mpl.rc_context(STYLE):
        figure = new_figure(placement.width, placement.height)
        draw_panel(figure.subplots(), placement, edges, EDGES, styles)
    return figure
