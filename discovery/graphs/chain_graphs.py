"""Chain graphs: directed and undirected edges without a partially directed cycle.

A *partially directed cycle* has at least one directed edge and follows all of its directed edges forwards.
Nodes joined by undirected edges form the *chain components*, and the directed edges order these partially.
Adjacency is held in mappings of mappings, whose keys keep the order in which the edges were given.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import networkx as nx

__all__ = ["Ends", "chain_components", "downstream_first", "ends_of", "partially_directed_cycle"]

Ends = dict[str, dict[str, None]]


def ends_of(nodes: Iterable[str], pairs: Iterable[tuple[str, str]]) -> Ends:
    """Return for each node the second nodes of the pairs that it is first in, in their order."""
    ends: Ends = {node: {} for node in nodes}
    for one, other in pairs:
        ends[one][other] = None
    return ends


def chain_components(nodes: Iterable[str], neighbours: Mapping[str, Iterable[str]]) -> list[tuple[str, ...]]:
    """Return the chain components, ordered by their first node, each in the order of `nodes`.

    All neighbours of `nodes` must be among them. O(nodes + edges).
    """
    number: dict[str, int] = {}
    components: list[list[str]] = []
    for start in nodes:
        if start not in number:
            number[start] = len(components)
            components.append([])
            frontier = [start]
            while frontier:
                for other in neighbours[frontier.pop()]:
                    if other not in number:
                        number[other] = number[start]
                        frontier.append(other)
        components[number[start]].append(start)
    return [tuple(component) for component in components]


def downstream_first(
    components: Sequence[tuple[str, ...]], parents: Ends, children: Ends
) -> tuple[tuple[str, ...], ...]:
    """Return `components` in an order in which no directed edge leads from one into a later one.

    Among the components that could come next, the first given comes first. Components on a partially directed
    cycle, and those upstream of it, are left out. Takes near-linear time in nodes and edges.
    """
    number = {node: i for i, component in enumerate(components) for node in component}
    waiting_for = [sum(len(children[node]) for node in component) for component in components]
    ready = [i for i, arrows in enumerate(waiting_for) if not arrows]
    order: list[tuple[str, ...]] = []
    while ready:
        component = components[heapq.heappop(ready)]
        order.append(component)
        for node in component:
            for parent in parents[node]:
                waiting_for[number[parent]] -= 1
                if not waiting_for[number[parent]]:
                    heapq.heappush(ready, number[parent])
    return tuple(order)


def partially_directed_cycle(
    directed: Iterable[tuple[str, str]], undirected: Iterable[tuple[str, str]]
) -> str | None:
    """Return a partially directed cycle as text; None if there is none.

    Examples
    --------
    >>> partially_directed_cycle([("A", "B")], [("B", "C"), ("C", "A")])
    'A → B — C — A'
    """
    arrows, lines = list(directed), list(undirected)
    ahead: nx.DiGraph[str] = nx.DiGraph([*arrows, *lines, *((other, one) for one, other in lines)])
    part = {node: i for i, nodes in enumerate(nx.strongly_connected_components(ahead)) for node in nodes}
    on_cycle = next((arrow for arrow in arrows if part[arrow[0]] == part[arrow[1]]), None)
    if on_cycle is None:
        return None
    tail, head = on_cycle
    is_arrow = frozenset(arrows)
    steps = pairwise(nx.shortest_path(ahead, head, tail))
    rest = [f" {'→' if step in is_arrow else '—'} {step[1]}" for step in steps]
    return f"{tail} → {head}" + "".join(rest)
