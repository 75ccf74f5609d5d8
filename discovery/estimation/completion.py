"""From a partially directed graph to the essential graph of the DAGs that extend it, compiled.

GES does this after each of its steps, on graphs of up to thousands of nodes. `discovery.graphs`, which takes
nodes by name, would need most of the search's time for it.

Graphs are matrices here: ``graph[i, j]`` is 1 where i → j or i — j; an undirected edge is there both ways.

References
----------
.. [1] Dor & Tarsi (1992), A simple algorithm to construct a consistent extension of a partially oriented
   graph, UCLA Cognitive Systems Laboratory R-185.
.. [2] Chickering (1995), A transformational characterization of equivalent Bayesian network structures,
   UAI 11.
.. [3] Hauser & Bühlmann (2012), Characterization and greedy learning of interventional Markov equivalence
   classes of directed acyclic graphs, Journal of Machine Learning Research 13.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["completed", "completed_with_targets"]

Matrix = NDArray[np.uint8]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def completed(graph: Matrix) -> Matrix:
    """Return the essential graph of the DAGs with the directed edges and v-structures of `graph`.

    Parameters
    ----------
    graph
        uint8 [n, n]; some DAG must extend it, which isn't checked.
    """
    degrees, around = _neighbourhoods(graph)
    place = _extension(graph, around, degrees)
    found: Matrix = _labelled(around, degrees, place)
    return found


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def completed_with_targets(graph: Matrix, targets: NDArray[np.bool_]) -> Matrix:
    """Return the interventional essential graph of the DAGs that extend `graph`, [3]_.

    It has the directed edges that the DAG has in common with all others of its class whose edges at `targets`
    point the same way, where one variable is set at a time.

    Parameters
    ----------
    graph
        uint8 [n, n]; some DAG must extend it, which isn't checked, and its edges at targets are directed.
    targets
        bool [n]: the variables that were set in some rows, beside rows in which nothing was set.

    Notes
    -----
    An edge is directed iff it is at a target or strongly protected (Theorem 18 of [3]_): in a v-structure, or
    by one of Meek's rules 1 to 3.
    """
    n = len(graph)
    degrees, around = _neighbourhoods(graph)
    place = _extension(graph, around, degrees)
    directed = np.zeros((n, n), dtype=np.bool_)  # known to be
    for x in range(n):
        for k in range(degrees[x]):
            y = around[x, k]
            if place[x] < place[y] and (targets[x] or targets[y]):
                directed[x, y] = True
    more = True
    while more:
        more = False
        for x in range(n):
            for k in range(degrees[x]):
                y = around[x, k]
                if place[x] > place[y] or directed[x, y]:
                    continue
                if _protected(x, y, graph, around, degrees, place, directed):
                    directed[x, y] = more = True
    found = np.zeros((n, n), dtype=np.uint8)
    for x in range(n):
        for k in range(degrees[x]):
            y = around[x, k]
            if place[x] < place[y]:
                found[x, y] = 1
                found[y, x] = not directed[x, y]
    return found


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _protected(
    x: int,
    y: int,
    graph: Matrix,
    around: NDArray[np.int64],
    degrees: NDArray[np.int64],
    place: NDArray[np.int64],
    directed: NDArray[np.bool_],
) -> bool:
    """Return whether the DAG's edge x → y is in a v-structure, or follows from `directed` by rules 1 to 3."""
    for k in range(degrees[x]):
        w = around[x, k]
        beside = graph[w, y] | graph[y, w]
        if w != y and directed[w, x] and not beside:
            return True
        if w != y and beside and directed[x, w] and directed[w, y]:
            return True
    for k in range(degrees[y]):
        z = around[y, k]
        if z == x or place[z] > place[y]:
            continue
        if not (graph[z, x] | graph[x, z]):
            return True
        if not directed[z, y]:
            continue
        for m in range(degrees[y]):  # rule 3: z → x ← w isn't in the DAG
            w = around[y, m]
            if w in (x, z) or not directed[w, y] or not (graph[w, x] | graph[x, w]):
                continue
            into_x = place[z] < place[x] and place[w] < place[x]
            if not into_x and not (graph[w, z] | graph[z, w]):
                return True
    return False


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _neighbourhoods(graph: Matrix) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the degree of each node, int [n], and its neighbours, int [n, largest degree]."""
    n = len(graph)
    degrees = np.zeros(n, dtype=np.int64)
    for i in range(n):
        for j in range(n):
            degrees[i] += graph[i, j] | graph[j, i]
    around = np.empty((n, max(1, degrees.max())), dtype=np.int64)
    for i in range(n):
        degree = 0
        for j in range(n):
            if graph[i, j] | graph[j, i]:
                around[i, degree] = j
                degree += 1
    return degrees, around


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _extension(graph: Matrix, around: NDArray[np.int64], degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each node's place in an order of a DAG that extends the graph: sinks are taken away, [1]_."""
    n = len(graph)
    place = np.full(n, -1)
    waiting = np.arange(n)
    is_waiting = np.ones(n, dtype=np.bool_)
    first, n_waiting, left = 0, n, n
    while n_waiting > 0 and left > 0:
        node = waiting[first]
        first = (first + 1) % n
        n_waiting -= 1
        is_waiting[node] = False
        if place[node] >= 0 or not _can_be_sink(node, graph, around, degrees, place):
            continue
        left -= 1
        place[node] = left
        for k in range(degrees[node]):
            other = around[node, k]
            if place[other] < 0 and not is_waiting[other]:
                waiting[(first + n_waiting) % n] = other
                n_waiting += 1
                is_waiting[other] = True
    return place


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _can_be_sink(
    node: int,
    graph: Matrix,
    around: NDArray[np.int64],
    degrees: NDArray[np.int64],
    place: NDArray[np.int64],
) -> bool:
    """Return whether no arrow leaves the node, and its neighbours are adjacent to all others around it."""
    for k in range(degrees[node]):
        other = around[node, k]
        if place[other] < 0 and graph[node, other] and not graph[other, node]:
            return False
    for k in range(degrees[node]):
        other = around[node, k]
        if place[other] >= 0 or not graph[node, other]:
            continue
        for m in range(degrees[node]):
            third = around[node, m]
            if third != other and place[third] < 0 and not (graph[other, third] | graph[third, other]):
                return False
    return True


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _labelled(around: NDArray[np.int64], degrees: NDArray[np.int64], place: NDArray[np.int64]) -> Matrix:
    """Return the essential graph of the DAG whose edges lead to the later place: Label-Edges of [2]_."""
    n = len(place)
    order = np.argsort(place)
    dag = np.zeros((n, n), dtype=np.bool_)
    for i in range(n):
        for k in range(degrees[i]):
            if place[i] < place[around[i, k]]:
                dag[i, around[i, k]] = True
    unknown, compelled, reversible = 0, 1, 2
    label = np.zeros((n, n), dtype=np.uint8)
    for y in order:
        parents = np.array([x for x in around[y, : degrees[y]] if dag[x, y]])
        parents = parents[np.argsort(-place[parents])]
        for x in parents:
            if label[x, y] != unknown:
                continue
            into_all = False
            for k in range(degrees[x]):
                w = around[x, k]
                if dag[w, x] and label[w, x] == compelled:
                    if not dag[w, y]:
                        into_all = True
                        break
                    label[w, y] = compelled
            if not into_all:
                for z in parents:
                    if z != x and not dag[z, x]:
                        into_all = True
                        break
                for z in parents:
                    if label[z, y] == unknown:
                        label[z, y] = compelled if into_all else reversible
            else:
                for z in parents:
                    label[z, y] = compelled
    found = dag.astype(np.uint8)
    for y in range(n):
        for k in range(degrees[y]):
            x = around[y, k]
            if label[x, y] == reversible:
                found[y, x] = 1
    return found
