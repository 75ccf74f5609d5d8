"""Repair a graph with directed, undirected and bidirected edges: find an essential graph near it.

Graphs from a search or from a person often aren't the essential graph of any DAG. `repair` searches for one
with the fewest changes, where a change is a pair of nodes whose edge differs. Of graphs with equally many
changes it takes the one against whose removed and added edges the data speak least, and of those the first
found, with nodes and edges tried in node order. With up to five nodes the number of changes is nearly always
the least possible; in large graphs only a valid result within seconds is guaranteed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from discovery.errors import GraphError
from discovery.graphs.characterization import checked_pairs, numbered
from discovery.graphs.essential_graph import EssentialGraph
from discovery.repairs.bitset_graphs import Marks, bits, mixed_marks
from discovery.repairs.reasons import Reasons
from discovery.repairs.search import nearest_class

__all__ = ["Change", "repair"]

_Pair = tuple[str, str]


@dataclass(frozen=True)
class Change:
    """One pair of nodes whose edge `repair` changed.

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
    >>> print(Change("direct", ("A", "B"), "it follows from the other changes", before="—", after="→"))
    directed A → B, before A — B: it follows from the other changes
    """

    kind: Literal["add", "remove", "direct", "undirect", "reverse"]
    edge: _Pair
    reason: str
    before: str
    after: str

    def __str__(self) -> str:
        one, other = self.edge
        if self.kind == "remove":
            return f"removed {one} {self.before} {other}: {self.reason}"
        earlier = f", before {one} {self.before} {other}" if self.before else ""
        verb = {"add": "added", "direct": "directed", "undirect": "undirected", "reverse": "reversed"}[
            self.kind
        ]
        return f"{verb} {one} {self.after} {other}{earlier}: {self.reason}"


def repair(
    nodes: Iterable[str],
    directed: Iterable[_Pair],
    undirected: Iterable[_Pair],
    bidirected: Iterable[_Pair] = (),
    evidence: Mapping[_Pair, float] | None = None,
) -> tuple[EssentialGraph, list[Change]]:
    """Return an essential graph near a mixed graph, and the list of changes, in node order.

    Parameters
    ----------
    nodes
        The nodes; ties are broken in their order.
    directed, undirected, bidirected
        Directed edges (tail, head), undirected edges, and edges with an arrowhead at both ends. Two nodes
        with different edges, such as both directions, count as joined by a bidirected edge; an edge that is
        listed twice counts once.
    evidence
        How strongly the data support an edge between two nodes (in either order), for instance a difference
        in log score: positive for an edge, negative against it. By default, and for pairs left out, 1 where
        there is an edge and −1 where there is none.

    Raises
    ------
    GraphError
        If a node is listed twice, an edge isn't a pair of two different nodes, or evidence isn't finite.

    Notes
    -----
    A valid graph is returned unchanged. The same input always gives the same result. A graph of 100 nodes
    takes seconds, dense ones included.

    Examples
    --------
    >>> graph, changes = repair("ABC", directed=[("A", "B")], undirected=[("B", "C")])
    >>> graph.undirected
    (('A', 'B'), ('B', 'C'))
    >>> print(changes[0])
    undirected A — B, before A → B: A → B — C with A and C not adjacent isn't closed under Meek's rules
    """
    names = tuple(nodes)
    index = numbered(names)
    pairs = [checked_pairs(edges, index) for edges in (directed, undirected, bidirected)]
    given = mixed_marks(
        len(names), *([(index[one], index[other]) for one, other in edges] for edges in pairs)
    )
    weight = None if evidence is None else _weight(evidence, given, index)
    if not any(given.conflicts):
        with suppress(GraphError):
            return _essential_graph(names, given), []
    nearest = nearest_class(given, weight)
    return _essential_graph(names, nearest), _changes(names, given, nearest)


def _essential_graph(names: tuple[str, ...], marks: Marks) -> EssentialGraph:
    directed = ((names[i], names[j]) for i, row in enumerate(marks.children) for j in bits(row))
    undirected = ((names[i], names[j]) for i, row in enumerate(marks.lines) for j in bits(row >> i << i))
    return EssentialGraph(names, directed, undirected)


def _weight(
    evidence: Mapping[_Pair, float], given: Marks, index: Mapping[str, int]
) -> Callable[[int, int], float]:
    weights: dict[tuple[int, int], float] = {}
    for one, other in checked_pairs(evidence, index):
        weight = float(evidence[one, other])
        if not math.isfinite(weight):
            raise GraphError(
                f"Expected evidence as finite numbers but found {weight} for {one!r} and {other!r}: "
                "leave the pair out"
            )
        ends = sorted((index[one], index[other]))
        weights[ends[0], ends[1]] = weight
    adjacent = given.adjacent()

    def weight_of(one: int, other: int) -> float:
        return weights.get((one, other), 1.0 if adjacent[one] >> other & 1 else -1.0)

    return weight_of


def _changes(names: tuple[str, ...], given: Marks, repaired: Marks) -> list[Change]:
    reasons = Reasons(names, given)
    changes = []
    for i, row in enumerate(given.differing(repaired)):
        for j in bits(row >> i << i):
            new, old = repaired.mark(i, j), given.mark(i, j)
            against = new == "←" or (new != "→" and old == "←")
            one, other = (j, i) if against else (i, j)
            before, after = given.mark(one, other), repaired.mark(one, other)
            edge = (names[one], names[other])
            changes.append(Change(_kind(before, after), edge, reasons.reason(one, other), before, after))
    return changes


def _kind(before: str, after: str) -> Literal["add", "remove", "direct", "undirect", "reverse"]:
    if not before:
        return "add"
    if not after:
        return "remove"
    if after == "—":
        return "undirect"
    return "reverse" if before == "←" else "direct"
