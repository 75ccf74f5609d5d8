"""An essential graph as a picture: alone, or estimated beside true with every edge judged.

edge_verdicts(estimated, truth)   →  draw_graphs(edges, placed)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, Patch, PathPatch, Polygon
from matplotlib.path import Path
from numpy.typing import NDArray

from cb_pgm.layout import Layout, layered_layout
from cb_pgm.plots import STYLE, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from discovery import EssentialGraph

__all__ = ["VERDICTS", "draw_graphs", "edge_verdicts", "label_widths"]

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
_LAYER = 0.85  # inches between layers
_HALF_HEIGHT = 0.14  # of a label's box, inches
_CHARACTER = 0.088  # inches, at the font size below
_FONT = 9.5
_WIDEST = 13.0  # inches; wider pairs of graphs go one below the other
_HEAD = 0.11  # length of an arrowhead, inches

Point = tuple[float, float]


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


def label_widths(nodes: Sequence[str]) -> dict[str, float]:
    """Return how wide each node's box is drawn, in inches."""
    return {node: max(3, len(node)) * _CHARACTER + 0.16 for node in nodes}


def draw_graphs(
    edges: pd.DataFrame,
    graph: EssentialGraph,
    *,
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
    marked, marked_as
        Nodes to shade, and what the shade means.
    """
    widths = label_widths(graph.nodes)
    layout = layered_layout(graph.consistent_extension(), widths)
    panels = list(edges["panel"].cat.categories)
    left, right, low = _extent(layout, widths)
    width, height = max(3.9, right - left + 0.4), -low * _LAYER + 0.9
    stacked = len(panels) * width > _WIDEST
    n_rows, n_columns = (len(panels), 1) if stacked else (1, len(panels))
    with mpl.rc_context(STYLE):
        figure = new_figure(width * n_columns, height * n_rows + 0.75)
        for axes, panel in zip(figure.subplots(n_rows, n_columns, squeeze=False).flat, panels, strict=True):
            axes.set_xlim(left - 0.15, right + 0.15)
            axes.set_ylim(low * _LAYER - 0.35, 0.35)
            axes.set_aspect("equal")
            axes.set_axis_off()
            own = edges[edges["panel"] == panel]
            axes.set_title(_title(panel, own), loc="left", fontsize=12)
            for route, directed, verdict in zip(
                _routes(own, layout, widths), own["directed"], own["verdict"], strict=True
            ):
                _draw_edge(axes, route, directed, VERDICTS[verdict])
            for node, (x, y) in layout.positions.items():
                _draw_node(axes, node, x, y * _LAYER, widths[node], node in marked)
        _legend(figure, edges, marked_as if marked else "")
    return figure


def _marks(graph: EssentialGraph) -> dict[frozenset[str], tuple[str, str, bool]]:
    marks = {frozenset(edge): (*edge, True) for edge in graph.directed}
    return marks | {frozenset(edge): (*edge, False) for edge in graph.undirected}


def _extent(layout: Layout, widths: Mapping[str, float]) -> tuple[float, float, float]:
    """Return left, right (inches) and the lowest layer."""
    spots = [(x - widths[node] / 2, x + widths[node] / 2, y) for node, (x, y) in layout.positions.items()]
    spots += [(x, x, y) for bends in layout.bends.values() for x, y in bends]
    return min(spot[0] for spot in spots), max(spot[1] for spot in spots), min(spot[2] for spot in spots)


def _title(panel: str, edges: pd.DataFrame) -> str:
    counts = edges["verdict"].value_counts()
    said = [
        f"{counts[verdict]} {verdict}"
        for verdict in ("right", "turned", "extra", "missing")
        if verdict in counts
    ]
    name = "Estimated graph" if panel == "estimated" else "True graph"
    return f"{name}: {', '.join(said) or f'{len(edges)} edges'}"


def _draw_node(axes: Axes, node: str, x: float, y: float, width: float, marked: bool) -> None:
    corner = (x - width / 2, y - _HALF_HEIGHT)
    box = FancyBboxPatch(
        (corner[0] + 0.05, corner[1] + 0.05),
        width - 0.1,
        2 * _HALF_HEIGHT - 0.1,
        boxstyle="round,pad=0.05",
        facecolor="#F0E442" if marked else "white",
        edgecolor="black",
        linewidth=2.2 if marked else 0.9,
        zorder=3,
    )
    axes.add_patch(box)
    axes.text(
        x,
        y - 0.01,
        node,
        ha="center",
        va="center",
        fontsize=_FONT,
        zorder=4,
        weight="bold" if marked else "normal",
    )


def _draw_edge(axes: Axes, route: Sequence[Point], directed: bool, style: Mapping[str, Any]) -> None:
    """Draw a smooth line along `route`, and at its end an arrowhead, solid whatever the line's style."""
    points = [np.array(point) for point in route]
    before_end = points[-2][1] - points[-1][1] if points[-2][1] != points[-1][1] else 1.0
    up = np.array([0.0, np.sign(before_end)])
    tip = points[-1].copy()
    if directed:
        points[-1] = tip + _HEAD * up
        side = np.array([0.45 * _HEAD, 0.0])
        head = [tip, points[-1] + side, points[-1] - side]
        axes.add_patch(Polygon(head, closed=True, color=style["color"], linewidth=0, zorder=2.5))
    axes.add_patch(PathPatch(_curve(points), fill=False, capstyle="butt", zorder=2, **style))


def _routes(edges: pd.DataFrame, layout: Layout, widths: Mapping[str, float]) -> list[list[Point]]:
    """Return each edge's way from box to box, in inches: along the layout's bends, ends spread over its side.

    Ends on the same side of a box are ordered by where they come from, so that lines don't cross on arrival.
    """
    ways: list[list[Point]] = []
    ends: dict[tuple[str, float], list[tuple[float, int, int]]] = {}
    for index, (source, target) in enumerate(edges[["source", "target"]].itertuples(index=False)):
        bends = layout.bends.get((source, target)) or tuple(reversed(layout.bends.get((target, source), ())))
        way = [(x, y * _LAYER) for x, y in (layout.positions[source], *bends, layout.positions[target])]
        for node, end, beside in ((source, 0, way[1]), (target, -1, way[-2])):
            side = -1.0 if beside[1] < way[end][1] else 1.0
            ends.setdefault((node, side), []).append((beside[0], index, end))
        ways.append(way)
    for (node, side), met in ends.items():
        step = min(0.14, (widths[node] - 0.2) / len(met))
        x, y = layout.positions[node]
        for place, (_, index, end) in enumerate(sorted(met)):
            ways[index][end] = (x + (place - (len(met) - 1) / 2) * step, y * _LAYER + side * _HALF_HEIGHT)
    return ways


def _curve(points: Sequence[NDArray[np.float64]]) -> Path:
    """Return a smooth path through the points, vertical at both ends, no wider than they are."""
    if points[0][1] == points[-1][1] and len(points) == 2:
        arch = np.array([0.0, 0.45 * _LAYER])
        return Path(
            [points[0], points[0] + arch, points[1] + arch, points[1]], [Path.MOVETO, *[Path.CURVE4] * 3]
        )
    slopes = [np.array([0.0, 1.2 * (points[1] - points[0])[1]])]
    for before, here, after in zip(points, points[1:], points[2:], strict=False):
        turns = (here - before)[0] * (after - here)[0] <= 0
        slopes.append((after - before) / 2 * ([0.0, 1.0] if turns else [1.0, 1.0]))
    slopes.append(np.array([0.0, 1.2 * (points[-1] - points[-2])[1]]))
    vertices, codes = [points[0]], [Path.MOVETO]
    for (start, begin), (stop, finish) in pairwise(zip(points, slopes, strict=True)):
        vertices += [start + begin / 3, stop - finish / 3, stop]
        codes += [Path.CURVE4] * 3
    return Path(vertices, codes)


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
