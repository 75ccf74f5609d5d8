"""The tree that fits a table best: the spanning tree with the most mutual information ([1]_).

References
----------
.. [1] Chow & Liu (1968), Approximating discrete probability distributions with dependence trees, IEEE
   Transactions on Information Theory 14(3).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from discovery.estimation.causal_learn import MixedGraph, Pair
from discovery.estimation.contingency import Contingency

__all__ = ["best_tree", "mutual_information"]

#: The number of rows that are multiplied at once.
_BLOCK = 8192
#: Less mutual information than this, in nats times rows, counts as a rounding error.
_NOTHING = 1e-9


def mutual_information(contingency: Contingency) -> NDArray[np.float64]:
    """Return the empirical mutual information of all pairs of variables, float64 [n, n] in nats.

    The diagonal is 0.

    Notes
    -----
    All pairs are counted at once, by the product of the one-hot matrix of all variables' states with itself:
    O(N k²) for N distinct rows and k states in all.
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
