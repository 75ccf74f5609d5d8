"""A DAG with the edges of a partially directed graph: one that extends it, where there is one ([1]_).

A DAG *extends* a graph with directed and undirected edges if it has the same skeleton, the same directed
edges and no other v-structures. All DAGs that extend a graph are equivalent.

References
----------
.. [1] Dor & Tarsi (1992), A simple algorithm to construct a consistent extension of a partially oriented
   graph, UCLA Cognitive Systems Laboratory R-185.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from discovery.graphs.chain_graphs import ends_of
from discovery.graphs.meek import Arrow

__all__ = ["extension"]


def extension(nodes: Iterable[str], directed: Iterable[Arrow], undirected: Iterable[Arrow]) -> list[Arrow]:
    """Return the edges (tail, head) of a DAG with these edges; it extends the graph if any DAG does.

    Otherwise as many directed edges are kept, and as few v-structures made, as a greedy choice finds.
    Directed edges without a cycle are all kept.

    Notes
    -----
    Sinks are taken away one by one. A node can be a sink if no directed edge leaves it, and if each of its
    undirected edges leads to a node that is adjacent to all others around it. Where no node can be, that with
    the fewest directed edges out of it is taken, and of those the one with the fewest new v-structures.

    Examples
    --------
    >>> extension("ABC", [("A", "B")], [("B", "C")])
    [('B', 'C'), ('A', 'B')]
    """
    names, arrows, lines = tuple(nodes), list(directed), list(undirected)
    both_ways = [pair for edge in (*arrows, *lines) for pair in (edge, edge[::-1])]
    adjacent, children = ends_of(names, both_ways), ends_of(names, arrows)
    parents = ends_of(names, ((head, tail) for tail, head in arrows))

    def new_v_structures(node: str) -> Iterator[Arrow]:
        """Yield the pairs that form a new v-structure at `node` if it is a sink."""
        known = parents[node]
        for one, other in combinations(adjacent[node], 2):
            if other not in adjacent[one] and not (one in known and other in known):
                yield one, other

    found: list[Arrow] = []
    left, waiting = dict.fromkeys(names), list(names)
    while left:
        if waiting:
            sink = waiting.pop()
            if sink not in left or children[sink] or next(new_v_structures(sink), None):
                continue  # is looked at again when one of its neighbours has been taken away
        else:
            sink = min(left, key=lambda node: (len(children[node]), sum(1 for _ in new_v_structures(node))))
        found.extend((other, sink) for other in adjacent[sink])
        for other in adjacent.pop(sink):
            del adjacent[other][sink]
            children[other].pop(sink, None)
            waiting.append(other)
        del left[sink]
    return found
