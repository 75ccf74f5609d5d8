"""DAGs near a mixed graph, from which the search for a repair starts.

A node can be a sink if no directed edge leaves it and each of its undirected edges leads to a node that is
adjacent to all its other neighbours. Removing such nodes one by one yields a DAG with the same directed edges
and v-structures if there is one ([1]_). Where no remaining node can be a sink, the one with the fewest
obstacles is removed, and the obstacles are dealt with in one of three ways.

References
----------
.. [1] Dor & Tarsi (1992), A simple algorithm to construct a consistent extension of a partially oriented
   graph, UCLA Cognitive Systems Laboratory R-185.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Literal

from discovery.repairs.bitset_graphs import Marks, Rows, bits

__all__ = ["starting_dags"]

_Way = Literal["keep", "fill", "drop"]


def starting_dags(graph: Marks) -> Iterator[Rows]:
    """Yield the parents of each node in DAGs with directions kept or ignored, in each way; and no edges."""
    n = len(graph.parents)
    loose = [line | conflict for line, conflict in zip(graph.lines, graph.conflicts, strict=True)]
    with_directions = Marks(graph.parents, graph.children, loose, [0] * n)
    without_directions = Marks([0] * n, [0] * n, graph.adjacent(), [0] * n)
    for marks in (with_directions, without_directions):
        for way in ("keep", "fill", "drop"):
            yield _sinks_away(marks, way)
    yield [0] * n


def _sinks_away(graph: Marks, way: _Way) -> Rows:
    """Return the parents that each node has when it is removed as a sink.

    Where undirected edges of the sink lead to nodes that aren't adjacent, "keep" makes a v-structure of them,
    "fill" makes the nodes adjacent, and "drop" leaves edges out until the remaining nodes are adjacent.
    """
    n = len(graph.parents)
    children, lines, adjacent = graph.children[:], graph.lines[:], graph.adjacent()
    dag = [0] * n
    left = (1 << n) - 1

    def obstacles(node: int) -> int:
        around = adjacent[node] & left
        missing = sum(
            (around & ~adjacent[other] & ~(1 << other)).bit_count() for other in bits(lines[node] & left)
        )
        return (children[node] & left).bit_count() + missing

    queue = [(obstacles(node), node) for node in range(n)]
    heapq.heapify(queue)
    current = {node: count for count, node in queue}
    while left:
        count, sink = heapq.heappop(queue)
        if not left >> sink & 1 or count != current[sink]:
            continue
        left &= ~(1 << sink)
        around = adjacent[sink] & left
        if way == "drop":
            around = _clique(around, lines[sink], adjacent)
        dag[sink] = around
        affected = adjacent[sink]
        if way == "fill":
            affected |= _filled(around, lines, adjacent, sink)
        for node in bits(affected & left):
            current[node] = obstacles(node)
            heapq.heappush(queue, (current[node], node))
    return dag


def _clique(around: int, loose: int, adjacent: Rows) -> int:
    """Return `around` without the `loose` nodes that aren't adjacent to all kept; best connected first."""
    kept = around & ~loose
    wanted = sorted(bits(around & loose), key=lambda node: (-(adjacent[node] & around).bit_count(), node))
    for node in wanted:
        if not kept & ~adjacent[node]:
            kept |= 1 << node
    return kept


def _filled(around: int, lines: Rows, adjacent: Rows, sink: int) -> int:
    """Join the ends of the sink's undirected edges to all of `around`; return the nodes affected by it."""
    affected = 0
    for one in bits(around & lines[sink]):
        missing = around & ~adjacent[one] & ~(1 << one)
        for other in bits(missing):
            for a, b in ((one, other), (other, one)):
                adjacent[a] |= 1 << b
                lines[a] |= 1 << b
        if missing:
            affected |= adjacent[one]
    return affected
