"""From any graph of arrows, lines and bidirected edges to an essential graph near it, change by change.

Estimated graphs, and those that people write down, often aren't the essential graph of any DAG. `repair`
finds one that is, by this rule: the fewest changes it can find, where a change is a pair of nodes whose
edge differs; among those, the least evidence against the edges removed and added; among those, the first
found, where nodes and edges are tried in node order. With up to five nodes the fewest it finds nearly
always are the fewest there are; in large graphs all that is promised is a valid result within seconds.
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
        "add" or "remove" an edge, "direct" or "undirect" one (to an arrow or a line), "reverse" an arrow.
    edge
        The pair, read in the direction of the new arrow, or of the arrow removed or undirected.
    reason
        Why, in words.
    before, after
        The edge as read along `edge`: "→", "←", "—", "↔" for one with two arrowheads or contradicting
        marks, "" for none.

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
    """Return an essential graph near a mixed graph, and what was changed, in node order.

    Parameters
    ----------
    nodes
        The nodes, in an order that decides ties.
    directed, undirected, bidirected
        Arrows (tail, head), lines, and edges with an arrowhead at both ends. A pair of nodes listed with
        different marks, both directions say, is taken for bidirected; the same edge twice is one edge.
    evidence
        How strongly the data speak for an edge between two nodes, either one first: positive for, negative
        against. By default, and for pairs left out, 1 where there is an edge and −1 where there is none.

    Raises
    ------
    GraphError
        If a node is listed twice, an edge isn't a pair of two different nodes, or evidence isn't finite.

    Notes
    -----
    A valid graph comes back as it is. The same input always gives the same result. Seconds at 100
    nodes, dense ones too.

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
                f"Expected evidence as finite numbers but found {weight} for {one!r} and {other!r}"
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
