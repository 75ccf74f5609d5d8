"""The DAG with the highest score of all, on tables of a few variables ([1]_).

A DAG has a sink, and without it the rest is a DAG again. So the best DAG of a set of variables has the best
sink: that whose best parents among the others, and whose best DAG of the others, score most together. For n
variables that takes n·2ⁿ⁻¹ local scores, 5,120 for ten.

References
----------
.. [1] Silander & Myllymäki (2006), A simple approach for finding the globally optimal Bayesian network
   structure, UAI 22.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from discovery.estimation.boss import canonical_order
from discovery.estimation.scores import ROUNDING, Parents, Score, class_score, parents_of
from discovery.estimation.watch import SearchStopped, Watch

__all__ = ["EXACT_UP_TO", "better_of_all"]

#: With so many variables all DAGs are compared, which takes seconds on 100,000 rows.
EXACT_UP_TO = 10


def better_of_all(score: Score, found: Parents, watch: Watch | None = None) -> Parents:
    """Return the DAG with the highest score; `found` itself if none has a higher one, or time is up.

    Examples
    --------
    >>> from discovery.estimation.contingency import Contingency
    >>> from discovery.estimation.counted_scores import BDeu
    >>> rows = np.array([[0, 0], [1, 1]] * 20 + [[0, 1]] * 10)
    >>> better_of_all(BDeu(Contingency(rows, [2, 2])), ((), ()))
    ((1,), ())
    """
    with suppress(SearchStopped):
        best = _best(score, watch or Watch())
        if class_score(score, best) > class_score(score, found) + ROUNDING:
            return best
    return found


def _best(score: Score, watch: Watch) -> Parents:
    rank = canonical_order(score)
    n = len(rank)
    sets = np.arange(2**n)
    highest, parents = np.empty((n, 2**n)), np.empty((n, 2**n), dtype=np.int64)
    for variable in range(n):
        watch.tick(f"All DAGs are compared, {variable} of {n} variables")
        highest[variable], parents[variable] = _best_parents(score, rank, variable)
    total, sink = np.zeros(2**n), np.zeros(2**n, dtype=np.int64)
    for size in range(1, n + 1):
        # Sets of one size build on those of the size before.
        chosen = sets[[int(members).bit_count() == size for members in sets]]
        sums = np.full((n, len(chosen)), -np.inf)
        for variable in range(n):
            has = (chosen >> variable & 1).astype(bool)
            others = chosen[has] ^ (1 << variable)
            sums[variable, has] = total[others] + highest[variable, others]
        sink[chosen], total[chosen] = sums.argmax(axis=0), sums.max(axis=0)
    arrows, left = [], 2**n - 1
    while left:
        last = int(sink[left])
        left ^= 1 << last
        arrows += [(rank[tail], rank[last]) for tail in _members(int(parents[last, left]), n)]
    return parents_of(n, arrows)


def _best_parents(
    score: Score, rank: list[int], variable: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the highest score of `variable` with parents within each set, and these parents, as bit masks.

    Variables are numbered by their place in `rank`. Sets that hold the variable itself have no meaning.
    """
    n = len(rank)
    parents = np.arange(2**n)
    highest = np.full(2**n, -np.inf)
    for members in range(2**n):
        if not members >> variable & 1:
            columns = [rank[other] for other in _members(members, n)]
            highest[members] = score.local_score(rank[variable], columns)
    for other in range(n):
        # Parents that leave `other` out may be the best within a set that has it; of equals the fewer.
        with_it = np.flatnonzero(np.arange(2**n) >> other & 1)
        without = with_it ^ (1 << other)
        better = highest[without] >= highest[with_it]
        highest[with_it[better]] = highest[without[better]]
        parents[with_it[better]] = parents[without[better]]
    return highest, parents


def _members(members: int, n: int) -> list[int]:
    return [variable for variable in range(n) if members >> variable & 1]
