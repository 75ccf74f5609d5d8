"""The tree that fits a table best: the spanning tree with the most mutual information ([1]_).

References
----------
.. [1] Chow & Liu (1968), Approximating discrete probability distributions with dependence trees, IEEE
   Transactions on Information Theory 14(3).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import log

import numpy as np
from numpy.typing import NDArray

from discovery.estimation.contingency import Contingency
from discovery.estimation.counted_scores import LogLikelihood
from discovery.estimation.scores import Pair

__all__ = ["best_tree", "mutual_information"]

#: Less mutual information than this, in nats times rows, counts as a rounding error.
_NOTHING = 1e-6


def mutual_information(contingency: Contingency) -> NDArray[np.float64]:
    """Return the empirical mutual information of all pairs of variables, float64 [n, n] in nats.

    It is what the log-likelihood of a row gains by the one variable as the other's parent.
    """
    n, score = contingency.n_variables, LogLikelihood(contingency)
    found = np.zeros((n, n))
    for variable in range(n - 1):
        later = range(variable + 1, n)
        gains = score.extended_scores(variable, (), later) - score.local_score(variable)
        found[variable, later] = np.where(gains > _NOTHING, gains, 0.0) / contingency.n_rows
    return found + found.T


def best_tree(
    contingency: Contingency, required: Iterable[Pair] = (), forbidden: Iterable[Pair] = ()
) -> tuple[Pair, ...]:
    """Return the undirected edges of the spanning tree with the most mutual information.

    They are the essential graph of all DAGs with these edges that have no collider.

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
    weights = -mutual_information(contingency)
    for one, other in forbidden:
        weights[one, other] = weights[other, one] = 0.0  # no edge
    bonus = 1.0 + log(max(contingency.cardinalities))  # no pair shares as much
    for one, other in {tuple(sorted(pair)) for pair in required}:
        weights[one, other] = weights[other, one] = weights[one, other] - bonus
    from scipy.sparse.csgraph import minimum_spanning_tree  # late: other searches don't wait for it

    ends = minimum_spanning_tree(np.triu(weights)).nonzero()
    return tuple(sorted((int(one), int(other)) for one, other in zip(*ends, strict=True)))
