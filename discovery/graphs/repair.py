"""Mend a graph that isn't the essential graph of any DAG, and list what two graphs differ in, with reasons.

Searches by tests, such as PC, return such graphs. `repair` keeps the pairs of nodes that are joined: it
takes a DAG that extends the graph, or nearly does (`extension`), and returns its class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from discovery.errors import GraphError
from discovery.graphs.characterization import checked_pairs, numbered
from discovery.graphs.essential_graph import EssentialGraph
from discovery.graphs.extension import extension
from discovery.graphs.meek import Arrow

__all__ = ["Change", "changes_between", "marks_of", "repair"]

Kind = Literal["add", "remove", "direct", "undirect", "reverse"]
_VERBS = {"add": "added", "direct": "directed", "undirect": "undirected", "reverse": "reversed"}
_TURNED = {"→": "←", "←": "→"}


@dataclass(frozen=True)
class Change:
    """One pair of nodes whose edge was changed.

    Attributes
    ----------
    kind
        "add" or "remove" an edge, "direct" an undirected edge, "undirect" or "reverse" a directed one.
    edge
        The pair of nodes (tail, head) of the new directed edge, or of the one removed or undirected.
    reason
        Why it was changed, as text.
    before, after
        The edge as read along `edge`: "→", "←", "—", "↔" for a bidirected edge or contradicting marks, ""
        for none.

    Examples
    --------
    >>> print(Change("direct", ("A", "B"), "it is required", before="—", after="→"))
    directed A → B, before A — B: it is required
    """

    kind: Kind
    edge: Arrow
    reason: str
    before: str
    after: str

    def __str__(self) -> str:
        one, other = self.edge
        if self.kind == "remove":
            return f"removed {one} {self.before} {other}: {self.reason}"
        earlier = f", before {one} {self.before} {other}" if self.before else ""
        return f"{_VERBS[self.kind]} {one} {self.after} {other}{earlier}: {self.reason}"


def repair(
    nodes: Iterable[str],
    directed: Iterable[Arrow],
    undirected: Iterable[Arrow],
    bidirected: Iterable[Arrow] = (),
) -> tuple[EssentialGraph, list[Change]]:
    """Return the class of a DAG that has the edges of a mixed graph, and the list of changes, in node order.

    Parameters
    ----------
    nodes
        The nodes; ties are broken in their order.
    directed, undirected, bidirected
        Directed edges (tail, head), undirected edges, and edges with an arrowhead at both ends. Two nodes
        with different edges, such as both directions, count as joined by a bidirected edge, whose direction
        isn't known; an edge that is listed twice counts once.

    Raises
    ------
    GraphError
        If a node is listed twice, or an edge isn't a pair of two different nodes.

    Notes
    -----
    A valid graph is returned unchanged. The same input always gives the same result.

    Examples
    --------
    >>> graph, changes = repair("ABC", directed=[("A", "B")], undirected=[("B", "C")])
    >>> graph.undirected
    (('A', 'B'), ('B', 'C'))
    >>> print(changes[0])
    undirected A — B, before A → B: no class of DAGs has the edges as they were
    """
    names = tuple(nodes)
    index = numbered(names)
    given: dict[Arrow, str] = {}
    for mark, pairs in (("→", directed), ("—", undirected), ("↔", bidirected)):
        for one, other in checked_pairs(pairs, index):
            forwards = index[one] < index[other]
            edge, found = ((one, other), mark) if forwards else ((other, one), _TURNED.get(mark, mark))
            given[edge] = found if given.get(edge, found) == found else "↔"
    arrows = [edge if mark == "→" else edge[::-1] for edge, mark in given.items() if mark in _TURNED]
    lines = [edge for edge, mark in given.items() if mark not in _TURNED]
    if "↔" not in given.values():
        try:
            return EssentialGraph(names, arrows, lines), []
        except GraphError:
            pass  # what is wrong with it is mended
    graph = EssentialGraph.from_arrows(names, extension(names, arrows, lines))
    return graph, list(changes_between(given, graph, _reason))


def marks_of(graph: EssentialGraph) -> dict[Arrow, str]:
    """Return each edge's mark, "→", "←" or "—", as read from the end that is first in node order."""
    index = numbered(graph.nodes)
    marks: dict[Arrow, str] = dict.fromkeys(graph.undirected, "—")
    for tail, head in graph.directed:
        forwards = index[tail] < index[head]
        marks[(tail, head) if forwards else (head, tail)] = "→" if forwards else "←"
    return marks


def changes_between(
    before: Mapping[Arrow, str], after: EssentialGraph, reason: Callable[[Kind, Arrow, str], str]
) -> Iterator[Change]:
    """Yield what leads from a graph, as `marks_of` gives it, to another one, in node order.

    Parameters
    ----------
    before, after
        The marks of the edges before ("↔" may be among them), and the graph after.
    reason
        Returns the reason for a kind of change, an edge and the mark that it had before.
    """
    index = numbered(after.nodes)
    new_marks = marks_of(after)
    for edge in sorted({**before, **new_marks}, key=lambda pair: (index[pair[0]], index[pair[1]])):
        old, new = before.get(edge, ""), new_marks.get(edge, "")
        if old == new:
            continue
        if new == "←" or (new != "→" and old == "←"):
            edge, old, new = edge[::-1], _TURNED.get(old, old), _TURNED.get(new, new)
        kind = _kind(old, new)
        yield Change(kind, edge, reason(kind, edge, old), old, new)


def _kind(old: str, new: str) -> Kind:
    if not old:
        return "add"
    if not new:
        return "remove"
    if new == "—":
        return "undirect"
    return "reverse" if old == "←" else "direct"


def _reason(kind: Kind, edge: Arrow, before: str) -> str:
    if before == "↔":
        return "the marks at its ends contradict each other"
    return "no class of DAGs has the edges as they were"
