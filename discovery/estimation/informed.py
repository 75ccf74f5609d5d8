"""Make an estimated graph respect background knowledge, and keep as much of the estimate as that allows.

Adjacencies come first: pairs that may not be adjacent lose their edge, and required pairs get one. If the
known directions then agree with some DAG of the class, the result is the estimate with these directions as
its ``background``. If they don't, the result is the essential graph of one DAG with all known directions,
with as many other directed edges of the estimate as fit, and with as few new v-structures as a greedy order
of the nodes finds. So a known direction by itself never makes a v-structure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import networkx as nx

from discovery.errors import GraphError
from discovery.estimation.knowledge import Knowledge
from discovery.graphs.essential_graph import EssentialGraph
from discovery.graphs.extension import extension
from discovery.graphs.meek import Arrow
from discovery.graphs.repair import Change, Kind, changes_between, marks_of

__all__ = ["informed_graph"]

Weight = Callable[[str, str], float]


def informed_graph(
    estimate: EssentialGraph, knowledge: Knowledge, weight: Weight | None = None
) -> tuple[EssentialGraph, list[Change]]:
    """Return a graph near `estimate` that respects all of `knowledge`, and the list of changes.

    The rule is that of this module.

    Parameters
    ----------
    estimate
        A graph without background.
    knowledge
        The directions that are required or forbidden.
    weight
        How strongly the data support an edge between two variables. Decides which edge is removed where known
        directions would close a cycle, and which directed edge is kept where two can't both be. None: all
        edges are alike.

    Notes
    -----
    Every DAG that agrees with the result and its background has all required edges and no forbidden one.
    O(n²) steps for n variables of bounded degree.

    Examples
    --------
    >>> chain = EssentialGraph("ABC", [], [("A", "B"), ("B", "C")])
    >>> graph, changes = informed_graph(chain, Knowledge(roots=["B"]))
    >>> graph.background, changes
    ((('B', 'A'), ('B', 'C')), [])
    >>> graph, changes = informed_graph(chain, Knowledge(sinks=["B"]))
    >>> graph.directed
    (('A', 'B'), ('C', 'B'))
    >>> print(changes[0])
    directed A → B, before A — B: no other direction is allowed
    """
    position = {node: i for i, node in enumerate(estimate.nodes)}
    strength = weight or (lambda one, other: 0.0)

    def weakest_first(pair: Arrow) -> tuple[float, int, int]:
        return strength(*pair), position[pair[0]], position[pair[1]]

    joined = _adjacencies(estimate, knowledge)
    known = _known_arrows(joined, knowledge)
    while (cycle := _cycle(known)) is not None:
        one, other = min((arrow for arrow in cycle if arrow not in knowledge.required), key=weakest_first)
        joined = [pair for pair in joined if pair not in ((one, other), (other, one))]
        known.remove((one, other))
    if set(joined) == set(_pairs(estimate)):
        try:
            return EssentialGraph(estimate.nodes, estimate.directed, estimate.undirected, known), []
        except GraphError:
            pass  # no DAG of the class has the known arrows
    kept = sorted(set(estimate.directed).intersection(joined), key=weakest_first, reverse=True)
    arrows = _acyclic(estimate.nodes, known, kept)
    lines = [pair for pair in joined if not (arrows.has_edge(*pair) or arrows.has_edge(*pair[::-1]))]
    dag = extension(estimate.nodes, arrows.edges, lines)
    informed = EssentialGraph.from_arrows(estimate.nodes, dag, known)

    def reason(kind: Kind, edge: Arrow, before: str) -> str:
        return _reason(kind, edge, knowledge)

    return informed, list(changes_between(marks_of(estimate), informed, reason))


def _pairs(graph: EssentialGraph) -> list[Arrow]:
    return [*graph.directed, *graph.undirected]


def _adjacencies(estimate: EssentialGraph, knowledge: Knowledge) -> list[Arrow]:
    """Return the pairs that are adjacent in the result, directed edges of the estimate as (tail, head)."""
    joined = [pair for pair in _pairs(estimate) if knowledge.may_be_adjacent(*pair)]
    missing = [(tail, head) for tail, head in knowledge.required if not estimate.adjacent(tail, head)]
    return [*joined, *missing]


def _known_arrows(joined: Iterable[Arrow], knowledge: Knowledge) -> list[Arrow]:
    """Return the adjacent pairs for which only one direction is allowed, as (tail, head)."""
    both_ways = (arrow for one, other in joined for arrow in ((one, other), (other, one)))
    return [(tail, head) for tail, head in both_ways if not knowledge.allows(head, tail)]


def _cycle(arrows: Iterable[Arrow]) -> list[Arrow] | None:
    try:
        return [(tail, head) for tail, head in nx.find_cycle(nx.DiGraph(list(arrows)))]
    except nx.NetworkXNoCycle:
        return None


def _acyclic(nodes: Iterable[str], known: Iterable[Arrow], wanted: Iterable[Arrow]) -> nx.DiGraph[str]:
    """Return the DAG of the known directed edges and, in turn, those wanted ones that close no cycle."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(known)
    for tail, head in wanted:
        if not graph.has_edge(head, tail) and not nx.has_path(graph, head, tail):
            graph.add_edge(tail, head)
    return graph


def _reason(kind: Kind, edge: Arrow, knowledge: Knowledge) -> str:
    one, other = edge
    if kind == "remove":
        forbidden = not knowledge.may_be_adjacent(one, other)
        return (
            "neither direction is allowed" if forbidden else "with it, known directions would close a cycle"
        )
    if kind == "add":
        return "it is required"
    if kind in ("direct", "reverse") and not knowledge.allows(other, one):
        return "no other direction is allowed"
    return "it follows from the other changes"
