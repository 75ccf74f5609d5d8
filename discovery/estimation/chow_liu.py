"""The tree that fits a table best (Chow & Liu 1968): its edges share the most information."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from discovery.estimation.causal_learn import MixedGraph, Pair
from discovery.estimation.contingency import Contingency

__all__ = ["best_tree", "mutual_information"]

#: Rows that are multiplied at once.
_BLOCK = 8192
#: Less shared information than this, in nats over all rows, is rounding.
_NOTHING = 1e-9


def mutual_information(contingency: Contingency) -> NDArray[np.float64]:
    """Return the empirical mutual information of all pairs in nats, float64 [n, n], 0 on the diagonal.

    Notes
    -----
    All pairs at once: the product of the columns' states, one-hot, with themselves. O(N k²) for k
    states in all.
    """
    sizes = np.array(contingency.cardinalities)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    total = int(sizes.sum())
    together = np.zeros((total, total))
    for begin in range(0, len(contingency.weights), _BLOCK):
        columns = contingency.columns[:, begin : begin + _BLOCK]
        weights = contingency.weights[begin : begin + _BLOCK]
        rows = np.arange(columns.shape[1])
        one_hot = np.zeros((columns.shape[1], total))
        for start, column in zip(starts, columns, strict=True):
            one_hot[rows, start + column] = 1.0
        together += (one_hot * weights[:, None]).T @ one_hot
    alone = np.diagonal(together)
    expected = np.outer(alone, alone) / contingency.n_rows
    terms = together * np.log(np.where(together > 0, together, 1.0) / np.where(expected > 0, expected, 1.0))
    shared = np.add.reduceat(np.add.reduceat(terms, starts, axis=0), starts, axis=1) / contingency.n_rows
    np.fill_diagonal(shared, 0.0)
    return np.asarray(np.maximum(shared, 0.0))


def best_tree(
    contingency: Contingency, *, required: Iterable[Pair] = (), forbidden: Iterable[Pair] = ()
) -> MixedGraph:
    """Return the spanning tree of most mutual information, as lines: the class of all its collider-free DAGs.

    Parameters
    ----------
    contingency
        The rows.
    required
        Pairs that are joined before others; of those that close a cycle the one of least information isn't.
    forbidden
        Pairs that are not joined.

    Notes
    -----
    Pairs that share no information at all are not joined either, nor are forbidden ones, so that the
    result can be a forest. Otherwise all n − 1 edges are there, however weak: the tree is right only where
    the true graph is one, without colliders.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    weights = mutual_information(contingency)
    weights[weights * contingency.n_rows < _NOTHING] = 0.0
    bonus = 1.0 + weights.max()
    for one, other in required:
        weights[one, other] = weights[other, one] = weights[one, other] + bonus
    for one, other in forbidden:
        weights[one, other] = weights[other, one] = 0.0
    tree = minimum_spanning_tree(csr_array(-np.triu(weights)))
    return MixedGraph((), tuple(sorted((int(i), int(j)) for i, j in zip(*tree.nonzero(), strict=True))))
