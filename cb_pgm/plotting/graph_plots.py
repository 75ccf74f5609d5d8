"""An essential graph as a picture: alone, or estimated beside true with every edge judged.

edge_verdicts(estimated, truth)   →  draw_graphs(edges, placed)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from cb_pgm.plotting.graph_drawing import NodeStyle, draw_panel, place
from cb_pgm.plotting.regret import STYLE, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from discovery import EssentialGraph

__all__ = ["VERDICTS", "draw_graphs", "edge_verdicts"]

#: verdict → how its edges are drawn.
VERDICTS: Mapping[str, Mapping[str, Any]] = {
    "edge": {"color": "#333333", "linestyle": "-", "linewidth": 1.4},
    "right": {"color": "#555555", "linestyle": "-", "linewidth": 1.3},
    "missing": {"color": "#0072B2", "linestyle": (0, (1, 1.2)), "linewidth": 2.8},
    "extra": {"color": "#D55E00", "linestyle": (0, (5, 2)), "linewidth": 2.2},
    "turned": {"color": "#AA3377", "linestyle": (0, (7, 1.5, 1.2, 1.5)), "linewidth": 2.2},
}
_MEANING = {
    "right": "right",
    "missing": "missing from the estimate",
    "extra": "extra in the estimate",
    "turned": "wrongly turned",
    "edge": "estimated",
}
_WIDEST = 13.0  # inches; wider pairs of graphs go one below the other


def edge_verdicts(estimated: EssentialGraph, truth: EssentialGraph | None = None) -> pd.DataFrame:
    """Judge every edge of two graphs over the same nodes.

    Returns
    -------
    pd.DataFrame
        Columns panel (a category, "estimated" and "truth"), source, target, directed, verdict: "right" (the
        same edge in both), "turned" (adjacent in both, with another direction or none), "extra" (estimated
        only), "missing" (true only); without a truth, "edge".

    Examples
    --------
    >>> from discovery import EssentialGraph
    >>> truth = EssentialGraph("ABC", [("A", "B"), ("C", "B")], [])
    >>> edges = edge_verdicts(EssentialGraph("ABC", [], [("A", "B")]), truth)
    >>> [(e.panel, e.source, e.target, e.verdict) for e in edges.itertuples()]
    [('estimated', 'A', 'B', 'turned'), ('truth', 'A', 'B', 'turned'), ('truth', 'C', 'B', 'missing')]
    """
    panels = {"estimated": estimated} if truth is None else {"estimated": estimated, "truth": truth}
    marks = {name: _marks(graph) for name, graph in panels.items()}
    rows = []
    for name, own in marks.items():
        other = None if truth is None else marks["truth" if name == "estimated" else "estimated"]
        for pair, (source, target, directed) in own.items():
            if other is None:
                verdict = "edge"
            elif pair not in other:
                verdict = "extra" if name == "estimated" else "missing"
            else:
                verdict = "right" if other[pair] == own[pair] else "turned"
            rows.append((name, source, target, directed, verdict))
    edges = pd.DataFrame(rows, columns=["panel", "source", "target", "directed", "verdict"])
    return edges.astype({"panel": pd.CategoricalDtype(list(panels)), "directed": bool})


def draw_graphs(
    edges: pd.DataFrame,
    graph: EssentialGraph,
    *,
    nodes: Collection[str] | None = None,
    marked: Sequence[str] = (),
    marked_as: str = "the reward's parent",
) -> Figure:
    """Draw the edges that `edge_verdicts` judged, one panel per graph, all with the same positions.

    Parameters
    ----------
    edges
        As `edge_verdicts` returns it.
    graph
        The graph whose arrows set the layers: the truth where there is one. Undirected edges are laid out as
        in one of the graphs of its class.
    nodes
        What to draw of it; None: all.
    marked, marked_as
        Nodes to shade, and what the shade means.
    """
    placement = place(graph.consistent_extension(), nodes)
    drawn = set(placement.widths)
    edges = edges[edges["source"].isin(drawn) & edges["target"].isin(drawn)]
    shaded = NodeStyle(facecolor="#F0E442", linewidth=2.2, bold=True)
    panels = list(edges["panel"].cat.categories)
    stacked = len(panels) * placement.width > _WIDEST
    n_rows, n_columns = (len(panels), 1) if stacked else (1, len(panels))
    with mpl.rc_context(STYLE):
        figure = new_figure(placement.width * n_columns, placement.height * n_rows + 0.75)
        for axes, panel in zip(figure.subplots(n_rows, n_columns, squeeze=False).flat, panels, strict=True):
            own = edges[edges["panel"] == panel]
            draw_panel(axes, placement, own, VERDICTS, dict.fromkeys(marked, shaded))
            axes.set_title(_title(panel, own), loc="left", fontsize=12)
        _legend(figure, edges, marked_as if marked else "")
    return figure


def _marks(graph: EssentialGraph) -> dict[frozenset[str], tuple[str, str, bool]]:
    marks = {frozenset(edge): (*edge, True) for edge in graph.directed}
    return marks | {frozenset(edge): (*edge, False) for edge in graph.undirected}


def _title(panel: str, edges: pd.DataFrame) -> str:
    counts = edges["verdict"].value_counts()
    said = [
        f"{counts[verdict]} {verdict}"
        for verdict in ("right", "turned", "extra", "missing")
        if verdict in counts
    ]
    name = "Estimated graph" if panel == "estimated" else "True graph"
    return f"{name}: {', '.join(said) or f'{len(edges)} edges'}"


def _legend(figure: Figure, edges: pd.DataFrame, marked_as: str) -> None:
    seen = [verdict for verdict in VERDICTS if verdict in set(edges["verdict"])]
    handles: list[Any] = [
        Line2D(
            [],
            [],
            color=style["color"],
            linestyle=style["linestyle"],
            linewidth=style["linewidth"],
            label=_MEANING[verdict],
        )
        for verdict, style in VERDICTS.items()
        if verdict in seen and verdict != "edge"
    ]
    if not edges["directed"].all():
        handles.append(Line2D([], [], color="#555555", label="no arrowhead: direction left open"))
    if marked_as:
        handles.append(Patch(facecolor="#F0E442", edgecolor="black", label=marked_as))
    if handles:
        figure.legend(
            handles=handles,
            loc="outside lower center",
            ncols=max(1, int(figure.get_figwidth() / 2.7)),
            frameon=False,
            fontsize=10,
            handlelength=3.2,
        )
