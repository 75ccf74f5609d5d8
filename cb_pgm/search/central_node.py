"""Central nodes of weighted trees: every branch around one holds at most half of the weight.

Querying a central node halves the remaining weight whatever the answer. The logarithms of the paper's bounds
come from this. The tree's nodes may be variables or, for a clique tree, the numbers of its cliques.

References
----------
.. [1] Lu, Meisami & Tewari (2021), Causal bandits with unknown graph structure, NeurIPS: Definition 2 and
   Algorithm 6.
.. [2] Jordan (1869), Sur les assemblages de lignes, J. reine angew. Math. 70.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import TypeVar

__all__ = ["branch", "central_node"]

N = TypeVar("N", bound=Hashable)

Neighbours = Mapping[N, Collection[N]]


def central_node(neighbours: Neighbours[N], weights: Mapping[N, float]) -> N:
    """Return a node around which no branch weighs more than half of the tree (Definition 2).

    Parameters
    ----------
    neighbours
        An undirected tree: each node's neighbours.
    weights
        Non-negative weights; a node left out weighs nothing.

    Notes
    -----
    Starts at the first node and follows the heaviest branch, the first of equal ones. Cost is linear in the
    nodes, where the paper's loop, which weighs all branches anew at each step, is quadratic.

    Examples
    --------
    >>> path = {"A": "B", "B": "AC", "C": "BD", "D": "C"}
    >>> central_node(path, dict.fromkeys("ABCD", 1)), central_node(path, {"D": 1})
    ('B', 'D')
    """
    root = next(iter(neighbours))
    parent: dict[N, N] = {root: root}
    order = [root]
    for node in order:  # grows meanwhile
        for other in neighbours[node]:
            if other != parent[node]:
                parent[other] = node
                order.append(other)
    below = {node: weights.get(node, 0) for node in order}
    for node in reversed(order[1:]):
        below[parent[node]] += below[node]
    central = root
    while True:
        ahead = [other for other in neighbours[central] if other != parent[central]]
        heaviest = max(ahead, key=below.__getitem__, default=central)
        # Algorithm 6, line 2, says "≥ 1/2": with a branch of exactly half it would walk to and fro
        # for ever. Behind us is less than half of the weight, so only what lies ahead needs a look.
        if heaviest == central or 2 * below[heaviest] <= below[root]:
            return central
        central = heaviest


def branch(neighbours: Neighbours[N], away_from: N, through: Iterable[N]) -> list[N]:
    """Return the nodes reachable from `away_from` through its neighbours `through`, breadth first.

    Parameters
    ----------
    neighbours
        An undirected tree: each node's neighbours.
    away_from
        A node; it is not part of the result.
    through
        Some of its neighbours; the result starts with them.

    Examples
    --------
    >>> branch({"A": "B", "B": "AC", "C": "BD", "D": "C"}, "B", "C")
    ['C', 'D']
    """
    reached = list(through)
    seen = {away_from, *reached}
    for node in reached:  # grows meanwhile
        for other in neighbours[node]:
            if other not in seen:
                seen.add(other)
                reached.append(other)
    return reached
