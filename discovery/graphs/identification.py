"""How many causal effects an estimated graph gets wrong: the adjustment identification distances ([1]_).

From a graph one reads, for every ordered pair (T, Y), how to identify the effect of T on Y: by adjusting for
a set of variables, as no effect at all, or not by adjustment. The distance counts the pairs for which what
the estimate says isn't right in the true graph. The two distances read a graph differently: the *parent*
distance adjusts for the parents of T, and says "no effect" where Y is one of them (between DAGs it is the
structural intervention distance). The *ancestor* distance adjusts for the ancestors of T, and says "no
effect" where Y isn't a descendant of T.

Both graphs are equivalence classes here. An effect that the true class leaves open, because its DAGs disagree
on it, is right where the estimate leaves it open too, and wrong where the estimate names a set. An effect
that the true class identifies is wrong where the estimate leaves it open. So the true essential graph has
distance 0. The distances aren't symmetric.

References
----------
.. [1] Henckel, Würtzen & Weichwald (2024), Adjustment identification distance: a gadjid for causal structure
   learning, UAI.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["WrongEffects", "ancestor_aid", "parent_aid"]


class WrongEffects(TypedDict):
    """The number of ordered pairs (T, Y) whose effect is identified wrongly, and its share of all of them."""

    wrong: int
    share: float


def parent_aid(estimated: EssentialGraph, truth: EssentialGraph) -> WrongEffects:
    """Return the parent adjustment distance of two graphs over the same nodes, by gadjid.

    Background knowledge is no part of the equivalence class and isn't compared. The share is 0 for a single
    node, which has no pairs.

    Examples
    --------
    >>> collider = EssentialGraph("ABC", [("A", "B"), ("C", "B")], [])
    >>> parent_aid(EssentialGraph("ABC", [], []), collider)  # A and C have effects on B
    {'wrong': 2, 'share': 0.3333333333333333}
    """
    return _wrong_effects("parent_aid", estimated, truth)


def ancestor_aid(estimated: EssentialGraph, truth: EssentialGraph) -> WrongEffects:
    """Return the ancestor adjustment distance of two graphs, as `parent_aid` returns the other.

    Examples
    --------
    >>> collider = EssentialGraph("ABC", [("A", "B"), ("C", "B")], [])
    >>> ancestor_aid(collider, collider)
    {'wrong': 0, 'share': 0.0}
    """
    return _wrong_effects("ancestor_aid", estimated, truth)


def _wrong_effects(distance: str, estimated: EssentialGraph, truth: EssentialGraph) -> WrongEffects:
    import gadjid  # late: few that import this room compare graphs

    if len(truth.nodes) < 2:  # gadjid refuses these
        return {"wrong": 0, "share": 0.0}
    index = {node: i for i, node in enumerate(truth.nodes)}
    share, wrong = getattr(gadjid, distance)(
        _matrix(truth, index), _matrix(estimated, index), edge_direction="from row to column"
    )
    return {"wrong": int(wrong), "share": float(share)}


def _matrix(graph: EssentialGraph, index: Mapping[str, int]) -> NDArray[np.int8]:
    """Return gadjid's matrix, int8 [n, n]: 1 for a directed edge from row to column, 2 for an undirected."""
    matrix = np.zeros((len(index), len(index)), dtype=np.int8)
    for code, pairs in ((1, graph.directed), (2, graph.undirected)):
        for one, other in pairs:
            matrix[index[one], index[other]] = code
    return matrix
