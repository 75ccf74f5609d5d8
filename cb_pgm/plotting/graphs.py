"""Draw graphs: alone, an estimate beside the truth, or many graphs as one, each edge as wide as its share.

A frame has the edges (`edge_verdicts`, `drawn_edges_frame`; `with_reward` adds the reward's), `place` gives
every node its place, and `draw_graphs` draws. Pictures of one placement have each node at the same place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import networkx as nx
import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, FancyBboxPatch, Patch, PathPatch, Polygon
from matplotlib.path import Path
from numpy.typing import NDArray

from cb_pgm.plotting.layered_layout import Layout, layered_layout
from cb_pgm.plotting.regret import STYLE, new_figure
from discovery.wording import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from discovery import EssentialGraph, MixedGraph

__all__ = [
    "ROLES",
    "VERDICTS",
    "Placement",
    "draw_graphs",
    "drawn_edges_frame",
    "edge_verdicts",
    "pag_frame",
    "place",
    "place_graph",
    "place_pag",
    "shortened",
    "with_reward",
]

#: verdict → how its edges are drawn, and its meaning.
VERDICTS: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "edge": ({"color": "#555555", "linestyle": "-", "linewidth": 1.4}, ""),
    "right": ({"color": "#555555", "linestyle": "-", "linewidth": 1.4}, "right"),
    "missing": (
        {"color": "#0072B2", "linestyle": (0, (1, 1.2)), "linewidth": 2.8},
        "missing from the estimate",
    ),
    "extra": ({"color": "#D55E00", "linestyle": (0, (5, 2)), "linewidth": 2.2}, "extra in the estimate"),
    "turned": (
        {"color": "#AA3377", "linestyle": (0, (7, 1.5, 1.2, 1.5)), "linewidth": 2.2},
        "direction wrong",
    ),
    "deciding": ({"color": "#D55E00", "linestyle": "-", "linewidth": 3.0}, "the best arm depends on it"),
}
#: role of a node → how its box is drawn; its meaning is the caller's to say.
ROLES: Mapping[str, Mapping[str, Any]] = {
    "marked": {"facecolor": "#F0E442", "edgecolor": "#000000", "linewidth": 2.2},
    "fixed": {"facecolor": "#FFFFFF", "edgecolor": "#767676", "linewidth": 1.2, "linestyle": (0, (2, 1.6))},
    "reward": {"facecolor": "#D6ECF9", "edgecolor": "#0072B2", "linewidth": 2.2},
}
_PLAIN = {"facecolor": "#FFFFFF", "edgecolor": "#000000", "linewidth": 0.9}
_LAYER = 0.85  # inches between layers
_HALF_HEIGHT = 0.14  # of a label's box, inches
_CHARACTER = 0.088  # inches, at the font size below
_FONT = 9.5
_HEAD = 0.11  # length of an arrowhead, inches
_ENDS = {  # what is drawn at the first and the second end of an edge with these marks
    "→": ("", "head"),
    "—": ("dot", "dot"),
    "↔": ("head", "head"),
    "∘→": ("dot", "head"),
    "∘–∘": ("dot", "dot"),
    "∘–": ("dot", ""),
}
_DOT = 0.035  # radius of the dots at the ends of an undirected edge, inches
_LONGEST_LABEL = 28  # characters
_WIDEST_EDGE = 4.5  # points, of an edge in all graphs
_WIDEST = 13.0  # inches; wider pairs of graphs are placed one below the other
_SHOWN = 0.1  # of the graphs have an edge that is drawn
_ONE_WAY = 0.9  # of the graphs with an edge agree on its direction

Point = tuple[float, float]


# -- the edges ---------------------------------------------------------------------------------------------


def edge_verdicts(
    estimated: EssentialGraph,
    truth: EssentialGraph | None = None,
    confidence: Mapping[tuple[str, str], float] | None = None,
) -> pd.DataFrame:
    """Compare every edge of two graphs over the same nodes.

    Parameters
    ----------
    estimated
        The estimated graph.
    truth
        The true graph; None if it isn't known.
    confidence
        For pairs of nodes, either one first, the share of resampled tables that have an edge between them; 0
        for pairs that aren't in it. None: unknown.

    Returns
    -------
    pd.DataFrame
        One row per edge and graph, with the columns panel (a category, "estimated" or "truth"), source,
        target, directed, share (nan if unknown) and verdict. The verdict is "right" (the same edge in both
        graphs), "turned" (an edge in both, with another direction or none), "extra" (only in the estimate) or
        "missing" (only in the truth); without a truth it is "edge".

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
    shares = {frozenset(pair): share for pair, share in (confidence or {}).items()}
    rows = []
    for name, own in marks.items():
        other = None if truth is None else marks["truth" if name == "estimated" else "estimated"]
        for pair, edge in own.items():
            if other is None:
                verdict = "edge"
            elif pair not in other:
                verdict = "extra" if name == "estimated" else "missing"
            else:
                verdict = "right" if other[pair] == edge else "turned"
            share = np.nan if confidence is None else shares.get(pair, 0.0)
            rows.append((name, *edge, share, verdict))
    return _frame(rows, list(panels))


def pag_frame(graph: MixedGraph, confidence: Mapping[tuple[str, str], float] | None = None) -> pd.DataFrame:
    """Return the edges of a PAG as `edge_verdicts` does, and the marks of each ("∘→", for example)."""
    shares = {frozenset(pair): share for pair, share in (confidence or {}).items()}
    rows = [
        (
            "estimated",
            one,
            other,
            marks in ("→", "↔"),
            np.nan if confidence is None else shares.get(frozenset((one, other)), 0.0),
            "edge",
        )
        for one, other, marks in graph.edges
    ]
    return _frame(rows, ["estimated"]).assign(marks=[marks for _, _, marks in graph.edges])


def place_pag(graph: MixedGraph) -> Placement:
    """Place a PAG's nodes by a member of its class."""
    return place(graph.nodes, [*graph.member().edges, *graph.having("↔")])


def drawn_edges_frame(answer: Mapping[str, Any]) -> pd.DataFrame:
    """Return the edges of the graphs drawn from a table, as `edge_verdicts` does.

    Parameters
    ----------
    answer
        As `EffectsReport.to_dict` returns it.

    Returns
    -------
    pd.DataFrame
        The share is that of the graphs with the edge in either direction; edges in less than a tenth are left
        out. An edge is directed if nine tenths of the graphs with it agree, otherwise source is the commoner
        tail. The verdict is "deciding" where the best arm depends on the direction, else "edge".
    """
    deciding = {tuple(edge["edge"]) for edge in answer["hangs_on"]}
    rows = []
    for edge in answer["edges"]:
        (one, other), forward, backward = edge["edge"], edge["forward"], edge["backward"]
        share = forward + backward
        if share >= _SHOWN:
            ends = (one, other) if forward >= backward else (other, one)
            one_way = max(forward, backward) >= _ONE_WAY * share
            rows.append(("drawn", *ends, one_way, share, "deciding" if (one, other) in deciding else "edge"))
    return _frame(rows, ["drawn"])


def with_reward(edges: pd.DataFrame, reward: str, parents: Iterable[str]) -> pd.DataFrame:
    """Return the edges and, in every panel, those from the reward's parents to it."""
    panels = list(edges["panel"].cat.categories)
    rows = [(panel, parent, reward, True, np.nan, "edge") for panel in panels for parent in parents]
    return _frame([*edges.itertuples(index=False, name=None), *rows], panels)


def _frame(rows: Iterable[Sequence[Any]], panels: Sequence[str]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["panel", "source", "target", "directed", "share", "verdict"])
    return frame.astype({"panel": pd.CategoricalDtype(list(panels)), "directed": bool, "share": float})


def _marks(graph: EssentialGraph) -> dict[frozenset[str], tuple[str, str, bool]]:
    marks = {frozenset(edge): (*edge, True) for edge in graph.directed}
    return marks | {frozenset(edge): (*edge, False) for edge in graph.undirected}


# -- the places --------------------------------------------------------------------------------------------


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


def place(nodes: Iterable[str], edges: Iterable[tuple[str, str]]) -> Placement:
    """Place nodes in layers so that the edges between them point down.

    Parameters
    ----------
    nodes
        The nodes to place, in the order in which ties are broken.
    edges
        (tail, head), the most important first; one that would close a cycle counts as turned, one with an end
        that isn't among the nodes not at all.
    """
    dag: nx.DiGraph[str] = nx.DiGraph()
    dag.add_nodes_from(nodes)
    for tail, head in edges:
        if tail in dag and head in dag:
            dag.add_edge(*((head, tail) if nx.has_path(dag, head, tail) else (tail, head)))
    widths = {node: max(3, len(shortened(node))) * _CHARACTER + 0.16 for node in dag}
    layout = layered_layout(dag, widths)
    spots = [(x - widths[node] / 2, x + widths[node] / 2, y) for node, (x, y) in layout.positions.items()]
    spots += [(x, x, y) for bends in layout.bends.values() for x, y in bends]
    left, right, low = min(s[0] for s in spots), max(s[1] for s in spots), min(s[2] for s in spots)
    return Placement(layout, widths, left, right, low * _LAYER)


def place_graph(
    graph: EssentialGraph,
    *further: pd.DataFrame,
    nodes: Collection[str] | None = None,
    reward: str | None = None,
) -> Placement:
    """Place a graph's nodes by one DAG of its class, then by the edges of `further` frames.

    Parameters
    ----------
    graph
        The graph.
    *further
        Frames of edges that are drawn at the same places.
    nodes
        The nodes to place; None: all.
    reward
        The name of the reward, which is placed, too; None: it isn't drawn.
    """
    chosen = [node for node in graph.nodes if nodes is None or node in nodes]
    edges = [
        (str(edge.source), str(edge.target))
        for frame in further
        for edge in frame.sort_values("share", ascending=False, kind="stable").itertuples()
    ]
    shown = [*chosen, *([] if reward is None else [reward])]
    return place(shown, [*graph.consistent_extension().edges, *edges])


def shortened(name: str, longest: int = _LONGEST_LABEL) -> str:
    """Return the name as it is written in a box: of more than 28 characters the middle is left out."""
    if len(name) <= longest:
        return name
    half = (longest - 1) // 2
    return f"{name[:half]}…{name[-half:]}"


# -- the drawing -------------------------------------------------------------------------------------------


def draw_graphs(
    edges: pd.DataFrame,
    placement: Placement,
    *,
    roles: Mapping[str, str] | None = None,
    meanings: Mapping[str, str] | None = None,
) -> Figure:
    """Draw one panel per graph, all with the same positions.

    Parameters
    ----------
    edges
        As `edge_verdicts` returns it; edges with an end that isn't placed are left out.
    placement
        The nodes to draw, and where.
    roles
        node → role, one of `ROLES`; other nodes are plain.
    meanings
        role → its meaning in the legend.
    """
    roles = {node: role for node, role in (roles or {}).items() if node in placement.widths}
    drawn = edges["source"].isin(list(placement.widths)) & edges["target"].isin(list(placement.widths))
    edges = edges[drawn].drop_duplicates(["panel", "source", "target"])
    panels = list(edges["panel"].cat.categories)
    stacked = len(panels) * placement.width > _WIDEST
    n_rows, n_columns = (len(panels), 1) if stacked else (1, len(panels))
    width = placement.width * n_columns
    handles = _handles(edges, {role: (meanings or {}).get(role, "") for role in roles.values()})
    columns = max(1, int(width / 2.9))
    lines = -(-len(handles) // columns)  # of the legend
    with mpl.rc_context(STYLE):
        figure = new_figure(width, placement.height * n_rows + 0.4 + 0.25 * lines)
        for axes, panel in zip(figure.subplots(n_rows, n_columns, squeeze=False).flat, panels, strict=True):
            own = edges[edges["panel"] == panel]
            _draw_panel(axes, placement, own, roles)
            axes.set_title(_title(panel, own), loc="left", fontsize=12)
        if handles:
            figure.legend(
                handles=handles,
                loc="outside lower center",
                ncols=columns,
                frameon=False,
                fontsize=10,
                handlelength=3.2,
            )
    return figure


def _title(panel: str, edges: pd.DataFrame) -> str:
    counts = edges["verdict"].value_counts()
    judged = [verdict for verdict in VERDICTS if verdict in counts and verdict != "edge"]
    names = {"estimated": "Estimated graph", "truth": "True graph", "drawn": "Graphs drawn from the table"}
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in judged) if panel != "drawn" else ""
    return f"{names[panel]}: {told or count(len(edges), 'edge')}"


def _handles(edges: pd.DataFrame, meanings: Mapping[str, str]) -> list[Any]:
    seen = set(edges["verdict"])
    handles: list[Any] = [
        Line2D([], [], label=meaning, **style)
        for verdict, (style, meaning) in VERDICTS.items()
        if verdict in seen and meaning
    ]
    if edges["share"].notna().any():
        of = "graphs" if "drawn" in edges["panel"].cat.categories else "resampled tables"
        handles += [
            Line2D([], [], color="#555555", linewidth=_width(share), label=f"in {share:.0%} of {of}")
            for share in (1.0, 0.5, 0.1)
        ]
    if not edges["directed"].all():
        dots: dict[str, Any] = {"marker": "o", "markersize": 5, "markerfacecolor": "#FFFFFF"}
        handles.append(Line2D([], [], color="#555555", label="direction unknown", **dots))
    handles += [Patch(**ROLES[role], label=meaning) for role, meaning in meanings.items() if meaning]
    return handles


def _width(share: float) -> float:
    return max(0.6, _WIDEST_EDGE * share)


def _draw_panel(axes: Axes, placement: Placement, edges: pd.DataFrame, roles: Mapping[str, str]) -> None:
    """Draw a graph with the same scale in both directions."""
    axes.set_xlim(placement.left - 0.15, placement.right + 0.15)
    axes.set_ylim(placement.lowest - 0.35, 0.35)
    axes.set_aspect("equal")
    axes.set_axis_off()
    marks = edges["marks"] if "marks" in edges else np.where(edges["directed"], "→", "—")
    looks = zip(marks, edges["share"], edges["verdict"], strict=True)
    for route, (mark, share, verdict) in zip(_routes(edges, placement), looks, strict=True):
        style = dict(VERDICTS[verdict][0])
        if not np.isnan(share):
            style["linewidth"] = _width(share)
        _draw_edge(axes, route, _ENDS[mark], style)
    for node, (x, y) in placement.layout.positions.items():
        look = ROLES[roles[node]] if node in roles else _PLAIN
        _draw_node(axes, node, (x, y * _LAYER), placement.widths[node], look)


def _draw_node(axes: Axes, node: str, centre: Point, width: float, look: Mapping[str, Any]) -> None:
    (x, y), pad = centre, 0.05
    corner = (x - width / 2 + pad, y - _HALF_HEIGHT + pad)
    size = (width - 2 * pad, 2 * _HALF_HEIGHT - 2 * pad)
    axes.add_patch(FancyBboxPatch(corner, *size, boxstyle=f"round,pad={pad}", zorder=3, **look))
    axes.text(x, y - 0.01, shortened(node), ha="center", va="center", fontsize=_FONT, zorder=4)


def _draw_edge(axes: Axes, route: Sequence[Point], ends: tuple[str, str], style: Mapping[str, Any]) -> None:
    """Draw a smooth curve along `route`, with a "head", a "dot" or nothing at each of its ends."""
    points = [np.array(point) for point in route]
    inwards = (np.array([0.0, np.sign(b[1] - a[1]) or 1.0]) for a, b in (points[:2], points[:-3:-1]))
    for place, end, inward in zip((0, -1), ends, inwards, strict=True):
        if end == "head":
            tip, size = points[place].copy(), max(_HEAD, 2.8 * style["linewidth"] / 72)
            points[place] = tip + size * inward
            side = np.array([0.45 * size, 0.0])
            head = [tip, points[place] + side, points[place] - side]
            axes.add_patch(Polygon(head, closed=True, color=style["color"], linewidth=0, zorder=2.5))
        elif end == "dot":
            points[place] = points[place] + _DOT * inward
            dot = Circle(
                tuple(points[place]), _DOT, facecolor="#FFFFFF", edgecolor=style["color"], zorder=2.6
            )
            axes.add_patch(dot)
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
