"""Make an estimated graph respect background knowledge, and keep as much of the estimate as that allows.

Adjacencies come first: pairs that may not be adjacent lose their edge, and required pairs get one. If the
known directions then agree with some DAG of the class, the result is the estimate with these directions as
its ``background``. If they don't, the result is the essential graph of one DAG with all known directions,
with as many other directed edges of the estimate as fit, and with as few new v-structures as a greedy order
of the nodes finds. So a known direction by itself never makes a v-structure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

import networkx as nx

from discovery.errors import GraphError
from discovery.estimation.knowledge import Arrow, Knowledge
from discovery.graphs.essential_graph import EssentialGraph
from discovery.repairs.repairs import Change

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
    dag = _ordered(estimate.nodes, joined, _acyclic(estimate.nodes, known, kept))
    found = EssentialGraph.from_dag(dag)
    informed = EssentialGraph(found.nodes, found.directed, found.undirected, known)
    return informed, list(_changes(estimate, informed, knowledge))


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


def _ordered(nodes: Iterable[str], joined: Iterable[Arrow], arrows: nx.DiGraph[str]) -> nx.DiGraph[str]:
    """Return a DAG that joins all pairs and has all of `arrows`, with few new v-structures.

    Sinks are removed one by one, that with the fewest new v-structures first. Where the graph has a
    consistent extension, no sink makes a new v-structure (Dor & Tarsi 1992; reference in
    `discovery.repairs.starts`).
    """
    adjacent: dict[str, dict[str, None]] = {node: {} for node in nodes}
    for one, other in joined:
        adjacent[one][other] = adjacent[other][one] = None
    dag: nx.DiGraph[str] = nx.DiGraph()
    dag.add_nodes_from(adjacent)
    open_children = {node: arrows.out_degree(node) for node in adjacent}
    left = dict.fromkeys(adjacent)
    while left:
        sinks = [node for node in left if open_children[node] == 0]
        sink = min(sinks, key=lambda node: _new_v_structures(node, adjacent, arrows))
        dag.add_edges_from((other, sink) for other in adjacent[sink])
        for other in adjacent.pop(sink):
            del adjacent[other][sink]
            if arrows.has_edge(other, sink):
                open_children[other] -= 1
        del left[sink]
    return dag


def _new_v_structures(sink: str, adjacent: dict[str, dict[str, None]], arrows: nx.DiGraph[str]) -> int:
    """Count the non-adjacent neighbours of `sink` that would become its parents and aren't both already."""
    around = list(adjacent[sink])
    parents = set(arrows.predecessors(sink))
    return sum(
        other not in adjacent[one] and not (one in parents and other in parents)
        for i, one in enumerate(around)
        for other in around[:i]
    )


def _changes(before: EssentialGraph, after: EssentialGraph, knowledge: Knowledge) -> Iterator[Change]:
    position = {node: i for i, node in enumerate(before.nodes)}
    old_marks, new_marks = _marks(before, position), _marks(after, position)
    pairs = sorted({**old_marks, **new_marks}, key=lambda pair: (position[pair[0]], position[pair[1]]))
    for edge in pairs:
        old, new = old_marks.get(edge, ""), new_marks.get(edge, "")
        if old == new:
            continue
        if "←" in (new, old) and new != "→":
            edge, old, new = edge[::-1], _TURNED[old], _TURNED[new]
        kind = _KINDS.get((bool(old), new)) or ("direct" if old == "—" else "reverse")
        yield Change(kind, edge, _reason(kind, edge, knowledge), old, new)


_TURNED = {"→": "←", "←": "→", "—": "—", "": ""}
_KINDS: dict[tuple[bool, str], Literal["add", "remove", "undirect"]] = {
    (False, "→"): "add",
    (False, "—"): "add",
    (True, ""): "remove",
    (True, "—"): "undirect",
}


def _reason(kind: str, edge: Arrow, knowledge: Knowledge) -> str:
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


def _marks(graph: EssentialGraph, position: dict[str, int]) -> dict[Arrow, str]:
    """Return each edge's mark as read from the end that is first in node order."""
    marks: dict[Arrow, str] = dict.fromkeys(graph.undirected, "—")
    for tail, head in graph.directed:
        forwards = position[tail] < position[head]
        marks[(tail, head) if forwards else (head, tail)] = "→" if forwards else "←"
    return marks
