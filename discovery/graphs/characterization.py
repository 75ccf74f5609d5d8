"""Check whether a graph is an essential graph, and find the essential graph of a DAG.

The four conditions of Theorem 4.1 of [1]_, as `discovery.graphs.essential_graph` states them, are checked one
after the other. The last, that every directed edge is strongly protected, is checked from its meaning: one
DAG that fits the first three conditions is built, and its essential graph must have the same directed edges.

References
----------
.. [1] Andersson, Madigan & Perlman (1997), A characterization of Markov equivalence classes for acyclic
   digraphs, Annals of Statistics 25(2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from discovery.errors import GraphError
from discovery.graphs.chain_graphs import (
    Ends,
    chain_components,
    downstream_first,
    ends_of,
    partially_directed_cycle,
)
from discovery.graphs.chordality import chordless_cycle, onwards
from discovery.graphs.meek import Arrow, PartiallyDirectedGraph, meek_closure

__all__ = [
    "check_background",
    "check_essential",
    "check_listed_once",
    "checked_pairs",
    "class_of_dag",
    "numbered",
]


def class_of_dag(nodes: Iterable[str], arrows: Iterable[Arrow]) -> PartiallyDirectedGraph:
    """Return the essential graph of the DAG with the directed edges `arrows`.

    The edges of the DAG's v-structures are directed; Meek's rules direct those that follow from them, and all
    others are undirected. The edges must form a DAG: this is not checked.
    """
    names, pairs = tuple(nodes), tuple(arrows)
    parents = ends_of(names, ((head, tail) for tail, head in pairs))
    adjacent = ends_of(names, (pair for arrow in pairs for pair in (arrow, arrow[::-1])))
    in_v_structure: list[Arrow] = []
    others: list[Arrow] = []
    for tail, head in pairs:
        small, large = sorted((adjacent[tail], parents[head]), key=len)
        shielded = sum(node in large for node in small)
        (in_v_structure if shielded < len(parents[head]) - 1 else others).append((tail, head))
    return PartiallyDirectedGraph(names, in_v_structure, others)


def numbered(nodes: Iterable[str]) -> dict[str, int]:
    """Return each node's position among `nodes`.

    Raises
    ------
    GraphError
        If a node is listed twice.
    """
    index: dict[str, int] = {}
    for node in nodes:
        if node in index:
            raise GraphError(f"Expected each node once but found {node!r} twice: remove one of them")
        index[node] = len(index)
    return index


def checked_pairs(pairs: Iterable[Arrow], index: Mapping[str, int]) -> list[Arrow]:
    """Return `pairs` as tuples.

    Raises
    ------
    GraphError
        If one of them isn't a pair of two different nodes in `index`.
    """
    found: list[Arrow] = []
    for pair in pairs:
        ends = tuple(pair)
        if len(ends) != 2:
            raise GraphError(f"Expected edges as pairs of nodes but found {pair!r}: give (tail, head)")
        unknown = [node for node in ends if node not in index]
        if unknown:
            raise GraphError(
                f"Expected edges between the listed nodes but found {unknown[0]!r} in {ends!r}: add the node"
            )
        if ends[0] == ends[1]:
            raise GraphError(
                f"Expected edges between two nodes but found {ends[0]!r} joined to itself: remove the edge"
            )
        found.append(ends)
    return found


def check_listed_once(pairs: Iterable[Arrow]) -> None:
    """Raise `GraphError` if two of the edges `pairs` join the same nodes."""
    seen: set[frozenset[str]] = set()
    for one, other in pairs:
        pair = frozenset((one, other))
        if pair in seen:
            raise GraphError(
                f"Expected at most one edge between two nodes but found two of {one!r} and {other!r}: "
                "remove one of them"
            )
        seen.add(pair)


def check_essential(nodes: tuple[str, ...], parents: Ends, children: Ends, neighbours: Ends) -> None:
    """Raise `GraphError` unless these are the edges of an essential graph; takes near-linear time."""
    directed = [(tail, head) for tail in nodes for head in children[tail]]
    components = chain_components(nodes, neighbours)
    if len(downstream_first(components, parents, children)) < len(components):
        lines = [(one, other) for one in nodes for other in neighbours[one]]
        cycle = partially_directed_cycle(directed, lines)
        raise GraphError(f"Expected no partially directed cycle but found {cycle}: change one of its edges")
    _check_chordal(components, neighbours)
    _check_shared_parents(nodes, parents, neighbours)
    closed = class_of_dag(nodes, [*directed, *onwards(components, neighbours)])
    for tail, head in directed:
        if closed.has_line(tail, head):
            raise GraphError(
                f"Expected directed edges that every DAG of the class has but found {tail} → {head}, which "
                "some have the other way round: make the edge undirected, with the direction as background "
                "knowledge if it is known"
            )


def check_background(
    nodes: tuple[str, ...],
    directed: Sequence[Arrow],
    undirected: Sequence[Arrow],
    background: Sequence[Arrow],
) -> None:
    """Raise `GraphError` unless some DAG of the class has all directed edges of `background`."""
    known = meek_closure(nodes, directed, undirected)
    for tail, head in background:
        if not known.adjacent(tail, head):
            raise GraphError(
                f"Expected background along edges of the graph but found {tail} → {head}, not adjacent: "
                "remove it"
            )
        known.orient(tail, head)
        if known.contradictions:
            source = "has" if (head, tail) in directed else "and the other background leave only"
            raise GraphError(
                f"Expected background that fits the graph but found {tail} → {head} where the graph {source} "
                f"{head} → {tail}: remove one of them"
            )


def _check_chordal(components: Iterable[tuple[str, ...]], neighbours: Ends) -> None:
    for component in components:
        cycle = chordless_cycle(component, neighbours)
        if cycle:
            shown = " — ".join(map(str, [*cycle, cycle[0]]))
            raise GraphError(
                f"Expected chordal chain components but found {shown} without a chord: "
                "remove one of these edges or add a chord"
            )


def _check_shared_parents(nodes: Iterable[str], parents: Ends, neighbours: Ends) -> None:
    """Check Meek's rule 1; the other rules can't apply where there is no partially directed cycle."""
    for node in nodes:
        for other in neighbours[node]:
            for parent in parents[node]:
                if parent not in parents[other]:
                    raise GraphError(
                        f"Expected a graph closed under Meek's rules but found {parent} → {node} — {other} "
                        f"with {parent} and {other} not adjacent: direct {node} → {other}"
                    )
