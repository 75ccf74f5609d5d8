"""Draw the nodes and edges of a graph: boxes in layers, smooth curves between them, solid arrowheads.

`place` computes the positions once. `draw_panel` draws edges and nodes at these positions in any style, and
can be called for several panels.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from matplotlib.patches import FancyBboxPatch, PathPatch, Polygon
from matplotlib.path import Path
from numpy.typing import NDArray

from cb_pgm.plotting.layered_layout import Layout, layered_layout

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["NodeStyle", "Placement", "draw_panel", "place", "shortened"]

_LAYER = 0.85  # inches between layers
_HALF_HEIGHT = 0.14  # of a label's box, inches
_CHARACTER = 0.088  # inches, at the font size below
_FONT = 9.5
_HEAD = 0.11  # length of an arrowhead, inches
_LONGEST_LABEL = 28  # characters

Point = tuple[float, float]


@dataclass(frozen=True)
class NodeStyle:
    """The style of a node's box: matplotlib colours and line style, line width in points, bold text."""

    facecolor: str = "white"
    edgecolor: str = "black"
    textcolor: str = "black"
    linewidth: float = 0.9
    linestyle: Any = "-"
    bold: bool = False


@dataclass(frozen=True)
class Placement:
    """The positions of nodes and bends, and the size of the drawing.

    Attributes
    ----------
    layout
        x in inches, y in layers.
    widths
        node → width of its box, in inches.
    left, right, lowest
        The extent of the drawing, in inches; its top is at 0.
    """

    layout: Layout
    widths: Mapping[str, float]
    left: float
    right: float
    lowest: float

    @property
    def width(self) -> float:
        """The width of a panel that holds the drawing, in inches."""
        return max(3.9, self.right - self.left + 0.4)

    @property
    def height(self) -> float:
        """The height of a panel that holds the drawing, in inches."""
        return 0.9 - self.lowest


def place(dag: nx.DiGraph[str], nodes: Collection[str] | None = None) -> Placement:
    """Place nodes of `dag` in layers so that the edges between them point down.

    Parameters
    ----------
    dag
        A directed acyclic graph.
    nodes
        The nodes to place; None: all.
    """
    if nodes is not None:
        whole, chosen = dag, set(nodes)
        dag = nx.DiGraph()
        dag.add_nodes_from(node for node in whole if node in chosen)
        dag.add_edges_from(edge for edge in whole.edges if chosen.issuperset(edge))
    widths = {node: max(3, len(shortened(node))) * _CHARACTER + 0.16 for node in dag}
    layout = layered_layout(dag, widths)
    spots = [(x - widths[node] / 2, x + widths[node] / 2, y) for node, (x, y) in layout.positions.items()]
    spots += [(x, x, y) for bends in layout.bends.values() for x, y in bends]
    left, right, low = min(s[0] for s in spots), max(s[1] for s in spots), min(s[2] for s in spots)
    return Placement(layout, widths, left, right, low * _LAYER)


def shortened(name: str, longest: int = _LONGEST_LABEL) -> str:
    """Return the name as it is written in a box: of more than 28 characters the middle is left out."""
    if len(name) <= longest:
        return name
    half = (longest - 1) // 2
    return f"{name[:half]}…{name[-half:]}"


def draw_panel(
    axes: Axes,
    placement: Placement,
    edges: pd.DataFrame,
    edge_styles: Mapping[str, Mapping[str, Any]],
    node_styles: Mapping[str, NodeStyle],
) -> None:
    """Draw a graph on `axes`, with the same scale in both directions.

    Parameters
    ----------
    axes
        The axes to draw on.
    placement
        The positions of the graph's nodes; all of its nodes are drawn.
    edges
        Columns source, target, directed, verdict; one row per edge.
    edge_styles
        verdict → line style, as matplotlib's keyword arguments of a patch.
    node_styles
        node → style, for nodes that aren't drawn as `NodeStyle()`.
    """
    axes.set_xlim(placement.left - 0.15, placement.right + 0.15)
    axes.set_ylim(placement.lowest - 0.35, 0.35)
    axes.set_aspect("equal")
    axes.set_axis_off()
    for route, directed, verdict in zip(
        _routes(edges, placement), edges["directed"], edges["verdict"], strict=True
    ):
        _draw_edge(axes, route, directed, edge_styles[verdict])
    plain = NodeStyle()
    for node, (x, y) in placement.layout.positions.items():
        _draw_node(axes, node, (x, y * _LAYER), placement.widths[node], node_styles.get(node, plain))


def _draw_node(axes: Axes, node: str, centre: Point, width: float, style: NodeStyle) -> None:
    x, y = centre
    box = FancyBboxPatch(
        (x - width / 2 + 0.05, y - _HALF_HEIGHT + 0.05),
        width - 0.1,
        2 * _HALF_HEIGHT - 0.1,
        boxstyle="round,pad=0.05",
        facecolor=style.facecolor,
        edgecolor=style.edgecolor,
        linewidth=style.linewidth,
        linestyle=style.linestyle,
        zorder=3,
    )
    axes.add_patch(box)
    axes.text(
        x,
        y - 0.01,
        shortened(node),
        ha="center",
        va="center",
        fontsize=_FONT,
        zorder=4,
        color=style.textcolor,
        weight="bold" if style.bold else "normal",
    )


def _draw_edge(axes: Axes, route: Sequence[Point], directed: bool, style: Mapping[str, Any]) -> None:
    """Draw a smooth curve along `route` and, if directed, a solid arrowhead at its end.

    The head is wider than the curve.
    """
    points = [np.array(point) for point in route]
    before_end = points[-2][1] - points[-1][1] if points[-2][1] != points[-1][1] else 1.0
    up = np.array([0.0, np.sign(before_end)])
    tip = points[-1].copy()
    if directed:
        head_size = max(_HEAD, 2.8 * style["linewidth"] / 72)
        points[-1] = tip + head_size * up
        side = np.array([0.45 * head_size, 0.0])
        head = [tip, points[-1] + side, points[-1] - side]
        axes.add_patch(Polygon(head, closed=True, color=style["color"], linewidth=0, zorder=2.5))
    axes.add_patch(PathPatch(_curve(points), fill=False, capstyle="butt", zorder=2, **style))


def _routes(edges: pd.DataFrame, placement: Placement) -> list[list[Point]]:
    """Return each edge's points from box to box, in inches, along the bends of the layout.

    Ends on the same side of a box are spread over it, in the order of their neighbouring points, so that
    edges don't cross at the box.
    """
    layout, widths = placement.layout, placement.widths
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
    """Return a smooth path through the points, vertical at both ends and no wider than the points."""
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
