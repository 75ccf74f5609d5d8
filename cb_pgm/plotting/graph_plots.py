"""Draw an essential graph, alone or as an estimate beside the true graph with every edge compared.

`edge_verdicts` makes the data frame of edges, `draw_graphs` draws it.
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
from cb_pgm.wording import count

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
_WIDEST_EDGE = 4.5  # points, of an edge in all resampled tables
_WIDEST = 13.0  # inches; wider pairs of graphs are placed one below the other


def edge_verdicts(estimated: EssentialGraph, truth: EssentialGraph | None = None) -> pd.DataFrame:
    """Compare every edge of two graphs over the same nodes.

    Parameters
    ----------
    estimated
        The estimated graph.
    truth
        The true graph; None if it isn't known.

    Returns
    -------
    pd.DataFrame
        One row per edge and graph, with the columns panel (a category, "estimated" or "truth"), source,
        target, directed and verdict. The verdict is "right" (the same edge in both graphs), "turned"
        (adjacent in both, with another direction or none), "extra" (in the estimate only) or "missing" (in
        the truth only). Without a true graph it is "edge".

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
    confidence: Mapping[tuple[str, str], float] | None = None,
) -> Figure:
    """Draw the edges of `edge_verdicts`, one panel per graph, all with the same positions.

    Parameters
    ----------
    edges
        As `edge_verdicts` returns it.
    graph
        The graph whose directed edges set the layers: the true graph if there is one. Undirected edges are
        laid out as in one DAG of its class.
    nodes
        The nodes to draw; None: all.
    marked, marked_as
        The nodes to shade, and the meaning of the shade in the legend.
    confidence
        For pairs of nodes, either one first, a share between 0 and 1 that is drawn as the width of their
        edge; 0 for pairs that aren't in it. None: an edge's width is that of its verdict.
    """
    placement = place(graph.consistent_extension(), nodes)
    drawn = set(placement.widths)
    edges = edges[edges["source"].isin(drawn) & edges["target"].isin(drawn)]
    shaded = NodeStyle(facecolor="#F0E442", linewidth=2.2, bold=True)
    panels = list(edges["panel"].cat.categories)
    stacked = len(panels) * placement.width > _WIDEST
    n_rows, n_columns = (len(panels), 1) if stacked else (1, len(panels))
    styles: Mapping[Any, Mapping[str, Any]] = VERDICTS
    looks = edges
    if confidence is not None:
        looks, styles = _with_widths(edges, confidence)
    with mpl.rc_context(STYLE):
        figure = new_figure(placement.width * n_columns, placement.height * n_rows + 0.75)
        for axes, panel in zip(figure.subplots(n_rows, n_columns, squeeze=False).flat, panels, strict=True):
            own = edges[edges["panel"] == panel]
            draw_panel(axes, placement, looks.loc[own.index], styles, dict.fromkeys(marked, shaded))
            axes.set_title(_title(panel, own), loc="left", fontsize=12)
        _legend(figure, edges, marked_as if marked else "", widths=confidence is not None)
    return figure


def _with_widths(
    edges: pd.DataFrame, confidence: Mapping[tuple[str, str], float]
) -> tuple[pd.DataFrame, dict[Any, dict[str, Any]]]:
    """Return the edges with a style of its own for each, and these styles."""
    shares = {frozenset(pair): share for pair, share in confidence.items()}
    styles = {
        number: {**VERDICTS[verdict], "linewidth": _edge_width(shares.get(frozenset((source, target)), 0.0))}
        for number, (source, target, verdict) in enumerate(
            edges[["source", "target", "verdict"]].itertuples(index=False)
        )
    }
    return edges.assign(verdict=range(len(edges))), styles


def _edge_width(share: float) -> float:
    return max(0.6, _WIDEST_EDGE * share)


def _marks(graph: EssentialGraph) -> dict[frozenset[str], tuple[str, str, bool]]:
    marks = {frozenset(edge): (*edge, True) for edge in graph.directed}
    return marks | {frozenset(edge): (*edge, False) for edge in graph.undirected}


def _title(panel: str, edges: pd.DataFrame) -> str:
    counts = edges["verdict"].value_counts()
    parts = [
        f"{counts[verdict]} {verdict}"
        for verdict in ("right", "turned", "extra", "missing")
        if verdict in counts
    ]
    name = "Estimated graph" if panel == "estimated" else "True graph"
    return f"{name}: {', '.join(parts) or count(len(edges), 'edge')}"


def _legend(figure: Figure, edges: pd.DataFrame, marked_as: str, *, widths: bool) -> None:
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
    if widths and len(edges):
        handles += [
            Line2D(
                [],
                [],
                color="#333333",
                linewidth=_edge_width(share),
                label=f"in {share:.0%} of resampled tables",
            )
            for share in (1.0, 0.5, 0.1)
        ]
    if not edges["directed"].all():
        handles.append(Line2D([], [], color="#555555", label="no arrowhead: direction left open"))
    if marked_as:
        handles.append(Patch(facecolor="#F0E442", edgecolor="black", label=marked_as))
    if handles:
        figure.legend(
            handles=handles,
            loc="outside lower center",
            ncols=max(1, int(figure.get_figwidth() / 2.9)),
            frameon=False,
            fontsize=10,
            handlelength=3.2,
        )
