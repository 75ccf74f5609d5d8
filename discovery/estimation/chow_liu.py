"""The tree that fits a table best: the spanning tree with the most mutual information ([1]_).

References
----------
.. [1] Chow & Liu (1968), Approximating discrete probability distributions with dependence trees, IEEE
   Transactions on Information Theory 14(3).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from discovery.estimation.causal_learn import MixedGraph, Pair
from discovery.estimation.contingency import Contingency

__all__ = ["best_tree", "mutual_information"]

#: The largest number of entries of a matrix at work, 32 MB: for tables with up to 2,000 states one holds all.
_BLOCK = 4_000_000
#: Less mutual information than this, in nats times rows, counts as a rounding error.
_NOTHING = 1e-9


def mutual_information(contingency: Contingency) -> NDArray[np.float64]:
    """Return the empirical mutual information of all pairs of variables, float64 [n, n] in nats.

    The diagonal is 0.

    Notes
    -----
    Pairs are counted by the product of the one-hot matrix of all variables' states with itself: O(N k²) for
    N distinct rows and k states in all.
    """
    return np.concatenate([shared for _, shared in _information_blocks(contingency)])


def _information_blocks(contingency: Contingency) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield the mutual information of some variables with all, float64 [some, n], with the first's number.

    Memory is bounded by a few matrices of `_BLOCK` entries and these rows.
    """
    sizes = np.array(contingency.cardinalities)
    ends = np.cumsum(sizes)
    starts = ends - sizes
    total = int(ends[-1])
    alone = np.concatenate(
        [
            np.bincount(column, contingency.weights, minlength=size)
            for column, size in zip(contingency.columns, sizes, strict=True)
        ]
    )
    begin = 0
    while begin < len(sizes):
        fitting = int(np.searchsorted(ends, starts[begin] + _BLOCK // total, side="right"))
        end = max(begin + 1, fitting)
        own = slice(int(starts[begin]), int(ends[end - 1]))
        together = _counted(contingency, starts, total, own)
        expected = np.outer(alone[own], alone) / contingency.n_rows
        together *= np.log(np.where(together > 0, together, 1.0) / np.where(expected > 0, expected, 1.0))
        by_row = np.add.reduceat(together, starts[begin:end] - own.start, axis=0)
        shared = np.add.reduceat(by_row, starts, axis=1) / contingency.n_rows
        shared[np.arange(end - begin), np.arange(begin, end)] = 0.0
        yield begin, np.maximum(shared, 0.0)
        begin = end


def _counted(
    contingency: Contingency, starts: NDArray[np.int64], total: int, own: slice
) -> NDArray[np.float64]:
    """Return how many rows have each of some states together with each of all: float64 [some, total]."""
    together = np.zeros((own.stop - own.start, total))
    step = max(1, _BLOCK // total)
    for begin in range(0, len(contingency.weights), step):
        columns = contingency.columns[:, begin : begin + step]
        one_hot = np.zeros((columns.shape[1], total))
        one_hot[np.arange(columns.shape[1]), starts[:, None] + columns] = 1.0
        weighted = one_hot[:, own] * contingency.weights[begin : begin + step, None]
        together += weighted.T @ one_hot
    return together


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

    bonus = 1.0 + math.log(max(contingency.cardinalities))  # more than any pair's mutual information
    n = len(contingency.cardinalities)
    wanted, unwanted = _both_ways(required), _both_ways(forbidden)
    tree = csr_array((n, n))
    for begin, weights in _information_blocks(contingency):
        weights[weights * contingency.n_rows < _NOTHING] = 0.0
        end = begin + len(weights)
        for pairs, joined in ((wanted, True), (unwanted, False)):
            for one, other in pairs:
                if begin <= one < end:
                    weights[one - begin, other] = (weights[one - begin, other] + bonus) if joined else 0.0
        # An edge that isn't in the best tree of some edges isn't in that of more: the others are done with.
        own = csr_array(-np.triu(weights, begin + 1))
        placed = csr_array(
            (own.data, own.indices, np.concatenate([np.zeros(begin), own.indptr, np.full(n - end, own.nnz)])),
            shape=(n, n),
        )
        tree = csr_array(minimum_spanning_tree(placed + tree if begin else placed))
    return MixedGraph((), tuple(sorted((int(i), int(j)) for i, j in zip(*tree.nonzero(), strict=True))))


def _both_ways(pairs: Iterable[Pair]) -> list[Pair]:
    return list(dict.fromkeys(way for one, other in pairs for way in ((one, other), (other, one))))
