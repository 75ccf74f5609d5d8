"""The tree that fits a table best: the spanning tree with the most mutual information ([1]_).

The tree grows by one variable at a time (Prim's algorithm), and only the pairs of that variable with those
not yet joined are counted: all pairs are counted once, and memory is linear in the variables.

References
----------
.. [1] Chow & Liu (1968), Approximating discrete probability distributions with dependence trees, IEEE
   Transactions on Information Theory 14(3).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import log

import numpy as np
from numba import njit
from numpy.typing import NDArray

from discovery.estimation.bit_sets import shared, state_sets
from discovery.estimation.causal_learn import MixedGraph, Pair
from discovery.estimation.contingency import Contingency

__all__ = ["MutualInformation", "best_tree"]

#: Less mutual information than this, in nats times rows, counts as a rounding error.
_NOTHING = 1e-9


class MutualInformation:
    """The empirical mutual information of one variable with each of the others.

    Parameters
    ----------
    contingency
        The counted rows.

    Notes
    -----
    A cell of a pair's table has as many rows as the sets of rows of its two states share, 64 rows a step.
    Where that takes more steps than there are distinct rows, these are counted one by one.
    """

    def __init__(self, contingency: Contingency) -> None:
        self._data = contingency
        self._sets, self._first = state_sets(contingency)

    def of(self, variable: int, others: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return that of `variable` with each of `others`, columns in an int [m]: float64 [m] in nats."""
        data = self._data
        found = _informations(
            variable, others, self._sets, self._first, data.columns, data.weights, float(data.n_rows)
        )
        return np.asarray(found)


def best_tree(
    contingency: Contingency, *, required: Iterable[Pair] = (), forbidden: Iterable[Pair] = ()
) -> MixedGraph:
    """Return the spanning tree with the most mutual information, as undirected edges.

    It is the essential graph of all DAGs with these edges that have no collider.

    Parameters
    ----------
    contingency
        The counted rows.
    required
        Pairs of columns that are joined before all others. Where they close a cycle, the pair with the least
        information is left out.
    forbidden
        Pairs of columns that are never joined.

    Notes
    -----
    Pairs without any mutual information aren't joined either, so that the result can be a forest. Otherwise
    it has all n − 1 edges, however weak: it is right only if the true graph is a tree without colliders.
    """
    information = MutualInformation(contingency)
    n = contingency.n_variables
    # No pair shares more than this, so a required pair comes before any other.
    bonus = 1.0 + log(max(contingency.cardinalities))
    wanted, never = _partners(n, required), _partners(n, forbidden)
    left = np.arange(n)
    best, joined_to = np.zeros(n), np.zeros(n, dtype=np.int64)  # for each variable not yet in the tree
    edges: list[Pair] = []
    while len(left):
        highest = int(np.argmax(best[left]))
        new = int(left[highest])
        if best[new] > 0.0:
            one = int(joined_to[new])
            edges.append((min(one, new), max(one, new)))
        left = np.delete(left, highest)
        weights = np.zeros(n)
        weights[left] = information.of(new, left)
        weights[weights * contingency.n_rows < _NOTHING] = 0.0
        weights[wanted[new]] += bonus
        weights[never[new]] = 0.0
        closer = left[weights[left] > best[left]]
        best[closer], joined_to[closer] = weights[closer], new
    return MixedGraph((), tuple(sorted(edges)))


def _partners(n: int, pairs: Iterable[Pair]) -> list[list[int]]:
    partners: list[list[int]] = [[] for _ in range(n)]
    for one, other in pairs:
        partners[one].append(other)
        partners[other].append(one)
    return partners


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba carries no types
def _informations(
    variable: int,
    others: NDArray[np.int64],
    sets: NDArray[np.uint64],
    first: NDArray[np.int64],
    columns: NDArray[np.int16],
    weights: NDArray[np.int64],
    n_rows: float,
) -> NDArray[np.float64]:
    own = first[variable + 1] - first[variable]
    found = np.zeros(len(others))
    for place in range(len(others)):
        other = others[place]
        k = first[other + 1] - first[other]
        counts = np.zeros((own, k), dtype=np.int64)
        if own * k * sets.shape[1] < len(weights):
            for i in range(own):
                for j in range(k):
                    counts[i, j] = shared(sets[first[variable] + i], sets[first[other] + j])
        else:
            for row in range(len(weights)):
                counts[columns[variable, row], columns[other, row]] += weights[row]
        alone, beside = counts.sum(axis=1), counts.sum(axis=0)
        total = 0.0
        for i in range(own):
            for j in range(k):
                if counts[i, j] > 0:
                    total += counts[i, j] * np.log(counts[i, j] * n_rows / (alone[i] * beside[j]))
        found[place] = max(total / n_rows, 0.0)
    return found
