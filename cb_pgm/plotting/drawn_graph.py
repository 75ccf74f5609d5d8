"""Draw the graphs drawn from a table as one: edges as wide as the share of graphs that have them.

`drawn_edges_frame` makes the tidy data frame of an answer's edges, `draw_drawn_graph` draws it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import networkx as nx
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from cb_pgm.plotting.graph_drawing import NodeStyle, draw_panel, place
from cb_pgm.plotting.regret import STYLE, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_drawn_graph", "drawn_edges_frame"]

_SHOWN = 0.1  # of the graphs have an edge that is drawn
_ONE_WAY = 0.9  # of the graphs with an edge agree on its direction
_WIDEST = 4.5  # line width in points, of an edge in all graphs
_COLOURS = {False: "#444444", True: "#D55E00"}


def drawn_edges_frame(answer: Mapping[str, Any]) -> pd.DataFrame:
    """Return the edges of an answer's graphs, one row each.

    Parameters
    ----------
    answer
        As `EffectsReport.to_dict` returns it.

    Returns
    -------
    pd.DataFrame
        Columns source, target, directed, share and deciding. The share of graphs is that with the edge in
        either direction; edges in less than a tenth are left out. An edge is directed if nine tenths of the
        graphs with it agree, otherwise source is the commoner tail. Deciding edges are those on whose
        direction the best arm depends.
    """
    deciding = {tuple(edge["edge"]) for edge in answer["hangs_on"]}
    rows = []
    for edge in answer["edges"]:
        (one, other), forward, backward = edge["edge"], edge["forward"], edge["backward"]
        share = forward + backward
        ends = (one, other) if forward >= backward else (other, one)
        if share >= _SHOWN:
            one_way = max(forward, backward) >= _ONE_WAY * share
            rows.append((*ends, one_way, share, (one, other) in deciding))
    frame = pd.DataFrame(rows, columns=["source", "target", "directed", "share", "deciding"])
    return frame.astype({"directed": bool, "share": float, "deciding": bool})


def draw_drawn_graph(
    frame: pd.DataFrame,
    variables: Iterable[str],
    *,
    nodes: Collection[str] | None = None,
    marked: Sequence[str] = (),
) -> Figure:
    """Draw the edges with their shares as widths, deciding ones in another colour.

    Parameters
    ----------
    frame
        As `drawn_edges_frame` returns it.
    variables
        All variables, in the order in which ties of the layout are broken.
    nodes
        The variables to draw; None: all.
    marked
        The variables to shade: those of the arm that looks best.
    """
    placement = place(_layers(frame, variables), nodes)
    drawn = set(placement.widths)
    own = frame[frame["source"].isin(drawn) & frame["target"].isin(drawn)].reset_index(drop=True)
    own = own.assign(verdict=range(len(own)))
    styles: dict[Any, dict[str, Any]] = {
        number: {"color": _COLOURS[deciding], "linewidth": _width(share)}
        for number, deciding, share in zip(
            range(len(own)), own["deciding"].tolist(), own["share"].tolist(), strict=True
        )
    }
    shaded = NodeStyle(facecolor="#F0E442", linewidth=2.2, bold=True)
    with mpl.rc_context(STYLE):
        figure = new_figure(placement.width, placement.height + 0.9)
        draw_panel(figure.subplots(), placement, own, styles, dict.fromkeys(marked, shaded))
        handles: list[Any] = [
            Line2D([], [], color=_COLOURS[False], linewidth=_width(share), label=f"in {share:.0%} of graphs")
            for share in (1.0, 0.5, 0.1)
        ]
        if own["deciding"].any():
            handles.append(
                Line2D([], [], color=_COLOURS[True], linewidth=3, label="the best arm depends on it")
            )
        if not own["directed"].all():
            handles.append(Line2D([], [], color=_COLOURS[False], label="no arrowhead: direction unsure"))
        if marked:
            handles.append(Patch(facecolor="#F0E442", edgecolor="black", label="looks best to set"))
        columns = max(1, int(figure.get_figwidth() / 2.7))
        figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False, fontsize=10)
    return figure


def _layers(frame: pd.DataFrame, variables: Iterable[str]) -> nx.DiGraph[str]:
    """Return a DAG of the edges for the layout: commoner edges first, those that close a cycle turned."""
    dag: nx.DiGraph[str] = nx.DiGraph()
    dag.add_nodes_from(variables)
    for row in frame.sort_values("share", ascending=False, kind="stable").itertuples():
        tail, head = str(row.source), str(row.target)
        if nx.has_path(dag, head, tail):
            tail, head = head, tail
        dag.add_edge(tail, head)
    return dag


def _width(share: float) -> float:
    return max(0.6, _WIDEST * share)
