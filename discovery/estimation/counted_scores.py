"""The G² test and the BDeu score, computed from counts.

Both equal causal-learn's own (its ``gsq`` test and ``local_score_BDeu``), conventions included, and stand in
for them because they are faster: on 10,000 rows of asia, once equal rows are merged, a BDeu score with one
parent takes 2 µs against 3 ms, and a G² test with one condition 5 µs against .16 ms. The conventions:

* G² leaves out strata without rows. In every other stratum a state of x or y that doesn't occur is left out
  of the degrees of freedom. Without any degree of freedom the p-value is 1.
* BDeu spreads one equivalent sample over all joint states of a variable and its parents, whether they occur
  or not, and expects a variable to have one parent.

Variables are given by their column numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import lgamma, log

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import chdtrc

from discovery.errors import EstimationError
from discovery.estimation.contingency import Contingency

__all__ = ["BDeu", "GSquare", "GSquareResult"]


@dataclass(frozen=True, slots=True)
class GSquareResult:
    """G², its degrees of freedom, and the probability of a value at least as large under independence."""

    statistic: float
    degrees_of_freedom: int
    p_value: float


class GSquare:
    """The G² (likelihood ratio) test of x ⊥ y given a set of variables, on counted rows.

    Examples
    --------
    >>> rows = np.array([[0, 0], [1, 1]] * 20 + [[0, 1]] * 10)
    >>> result = GSquare(Contingency(rows, [2, 2])).test(0, 1)
    >>> round(result.statistic, 2), result.degrees_of_freedom, result.p_value < 1e-6
    (29.11, 1, True)
    """

    def __init__(self, contingency: Contingency) -> None:
        self.contingency = contingency

    def test(self, x: int, y: int, given: Iterable[int] = ()) -> GSquareResult:
        """Test `x` ⊥ `y` | `given`, in one pass over the distinct rows."""
        table = self.contingency.pair_counts(int(x), int(y), tuple(sorted(map(int, given))))
        statistic, freedom = _g_square(table)
        p_value = float(chdtrc(freedom, statistic)) if freedom else 1.0
        return GSquareResult(statistic, freedom, p_value)


class BDeu:
    """The Bayesian Dirichlet score with a uniform prior, and a prior on the number of parents.

    Parameters
    ----------
    contingency
        The counted rows.
    equivalent_sample_size
        The weight of the prior in rows; causal-learn's default is 1.
    structure_prior
        The expected number of parents of a variable, below n − 1 for n variables: each other variable is a
        parent with probability structure_prior/(n − 1). None: causal-learn's default of 1; for two variables,
        where 1 would forbid the empty graph, ½.

    Raises
    ------
    EstimationError
        If there is only one variable, or a setting is out of its range.

    Notes
    -----
    The local score is log P(column | parents' columns) + log P(parents), in nats ([1]_). All DAGs of an
    equivalence class have the same sum of local scores.

    References
    ----------
    .. [1] Heckerman, Geiger & Chickering (1995), Learning Bayesian networks: the combination of knowledge and
       statistical data, Machine Learning 20.
    """

    def __init__(
        self,
        contingency: Contingency,
        *,
        equivalent_sample_size: float = 1.0,
        structure_prior: float | None = None,
    ) -> None:
        others = contingency.n_variables - 1
        if others < 1:
            raise EstimationError(
                f"Expected at least two variables but found {contingency.n_variables}: add columns"
            )
        if not (np.isfinite(equivalent_sample_size) and equivalent_sample_size > 0):
            raise EstimationError(
                f"Expected a positive equivalent_sample_size but found {equivalent_sample_size}: take 1, "
                "the default"
            )
        if structure_prior is None:
            structure_prior = min(1.0, others / 2)
        if not 0 < structure_prior < others:
            raise EstimationError(
                f"Expected a structure_prior above 0 and below {others}, the number of other variables, but "
                f"found {structure_prior}: leave it out for the default"
            )
        self.contingency = contingency
        self.equivalent_sample_size = float(equivalent_sample_size)
        self._log_parent = log(structure_prior / others)
        self._log_no_parent = log(1 - structure_prior / others)
        self._scores: dict[tuple[int, tuple[int, ...]], float] = {}

    def local_score(self, variable: int, parents: Iterable[int] = ()) -> float:
        """Return the score of `variable` with these `parents` in nats; higher is better. It is cached."""
        key = int(variable), tuple(sorted(map(int, parents)))
        if key not in self._scores:
            self._scores[key] = self._computed(*key)
        return self._scores[key]

    @property
    def n_variables(self) -> int:
        """The number of columns."""
        return self.contingency.n_variables

    def extended_scores(
        self, variable: int, parents: Sequence[int], candidates: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return the score of `variable` with `parents` and one more, for each of the `candidates` in turn.

        Float [number of candidates], in nats.
        """
        return np.array([self.local_score(variable, (*parents, candidate)) for candidate in candidates])

    def edge_gain(self, x: int, y: int, given: tuple[int, ...] = ()) -> float:
        """Return by how much ``x → y`` raises the score where `y` has the parents `given`.

        ``y → x`` raises it by the same amount where `x` has these parents.
        """
        return self.local_score(y, (*given, x)) - self.local_score(y, given)

    def _computed(self, variable: int, parents: tuple[int, ...]) -> float:
        cardinalities = self.contingency.cardinalities
        configurations = 1.0
        for parent in parents:
            configurations *= cardinalities[parent]
        per_stratum = self.equivalent_sample_size / configurations
        per_cell = per_stratum / cardinalities[variable]
        table = self.contingency.counts(variable, parents)
        likelihood = float(_log_marginal(table, per_stratum, per_cell))
        absent = self.contingency.n_variables - 1 - len(parents)
        return likelihood + len(parents) * self._log_parent + absent * self._log_no_parent


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _g_square(table: NDArray[np.int64]) -> tuple[float, int]:
    """Return G² = 2 Σ c log(c/e), with e the expected count of a cell, and its degrees of freedom."""
    n_strata, n_x, n_y = table.shape
    statistic, freedom = 0.0, 0
    x_sums, y_sums = np.empty(n_x), np.empty(n_y)
    for s in range(n_strata):
        total = 0.0
        x_sums[:] = 0.0
        y_sums[:] = 0.0
        for i in range(n_x):
            for j in range(n_y):
                count = table[s, i, j]
                total += count
                x_sums[i] += count
                y_sums[j] += count
        if total == 0.0:
            continue
        for i in range(n_x):
            for j in range(n_y):
                count = table[s, i, j]
                if count > 0:
                    statistic += count * log(count * total / (x_sums[i] * y_sums[j]))
        freedom += (int(np.count_nonzero(x_sums)) - 1) * (int(np.count_nonzero(y_sums)) - 1)
    return 2.0 * statistic, freedom


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _log_marginal(table: NDArray[np.int64], per_stratum: float, per_cell: float) -> float:
    """Return the Dirichlet-multinomial log-likelihood of counts [strata, K] under these prior counts.

    What rounding loses is added at the end (Kahan–Babuška summation), so the order of strata and states
    doesn't matter: scores are the same whatever the order of the table's columns.
    """
    score, lost = 0.0, 0.0
    stratum_prior, cell_prior = lgamma(per_stratum), lgamma(per_cell)
    for s in range(table.shape[0]):
        total = 0
        for k in range(table.shape[1]):
            count = table[s, k]
            if count > 0:
                total += count
                term = lgamma(count + per_cell) - cell_prior
                new = score + term
                lost += (score - (new - (new - score))) + (term - (new - score))
                score = new
        if total > 0:
            term = stratum_prior - lgamma(total + per_stratum)
            new = score + term
            lost += (score - (new - (new - score))) + (term - (new - score))
            score = new
    return score + lost
