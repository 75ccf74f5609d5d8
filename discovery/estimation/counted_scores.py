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

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import chdtrc

from discovery.errors import EstimationError
from discovery.estimation.batch_counts import BatchCounts
from discovery.estimation.contingency import Contingency

__all__ = ["BIC", "BDeu", "CountedScore", "GSquare", "GSquareResult", "LogLikelihood"]

#: So many scores with one more parent are kept, 160 MB.
_KEPT_SCORES = 20_000_000
_LARGEST_PRIOR = 10**9  # rows: of priors beyond, scores have no digits left for the table


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


class CountedScore(ABC):
    """A score that is computed from counts: the common part of `BDeu` and `BIC`.

    Parameters
    ----------
    contingency
        The counted rows.

    Attributes
    ----------
    equivalent_sample_size
        What the prior is worth in rows; 1 where the score has none.
    targets
        None: all rows count for all variables.
    """

    equivalent_sample_size: float = 1.0
    targets: frozenset[int] = frozenset()

    def __init__(self, contingency: Contingency) -> None:
        self.contingency = contingency
        self._counts = BatchCounts(contingency)
        self._scores: dict[tuple[int, tuple[int, ...]], float] = {}
        self._extended: dict[tuple[int, tuple[int, ...]], NDArray[np.float64]] = {}

    @property
    def n_variables(self) -> int:
        """The number of columns."""
        return self.contingency.n_variables

    def local_score(self, variable: int, parents: Iterable[int] = ()) -> float:
        """Return the score of `variable` with these `parents` in nats; higher is better. It is cached."""
        key = int(variable), tuple(sorted(map(int, parents)))
        if key not in self._scores:
            size = self._joint_states(key[1])
            found = self._counts.single(*key, *self._priors(key[0], size))
            self._scores[key] = found + self._prior(key[0], len(key[1]), size)
        return self._scores[key]

    def extended_scores(
        self, variable: int, parents: Sequence[int], candidates: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return the score of `variable` with `parents` and one more, for each of the `candidates` in turn.

        Float [number of candidates], in nats. They are counted in one go and cached.
        """
        key = int(variable), tuple(sorted(map(int, parents)))
        scores = self._extended.get(key)
        if scores is None:
            if len(self._extended) * self.n_variables >= _KEPT_SCORES:
                self._extended.clear()
            scores = self._extended[key] = np.full(self.n_variables, np.nan)
        wanted = np.asarray(candidates, dtype=np.int64)
        missing = wanted[np.isnan(scores[wanted])]
        states = self._states[missing]
        size = self._joint_states(key[1])
        for cardinality in np.unique(states):
            alike = missing[states == cardinality]
            larger = size * int(cardinality)
            found = self._counts.extended(*key, alike, *self._priors(key[0], larger))
            scores[alike] = found + self._prior(key[0], len(key[1]) + 1, larger)
        return scores[wanted]

    def edge_gain(self, x: int, y: int, given: tuple[int, ...] = ()) -> float:
        """Return by how much ``x → y`` raises the score where `y` has the parents `given`.

        ``y → x`` raises it by the same amount where `x` has these parents.
        """
        return self.local_score(y, (*given, x)) - self.local_score(y, given)

    @abstractmethod
    def _priors(self, variable: int, configurations: float) -> tuple[float, float]:
        """Return the weight of the prior for each of so many strata, and for each of their cells."""

    @abstractmethod
    def _prior(self, variable: int, n_parents: int, configurations: float) -> float:
        """Return what the score adds to the likelihood of the column, for parents of so many joint states."""

    @cached_property
    def _states(self) -> NDArray[np.int64]:
        return np.array(self.contingency.cardinalities, dtype=np.int64)

    def _joint_states(self, parents: Iterable[int]) -> float:
        found = 1.0
        for parent in parents:
            found *= self.contingency.cardinalities[parent]
        return found


class BDeu(CountedScore):
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
        If a setting is out of its range.

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
        super().__init__(contingency)
        others = max(1, contingency.n_variables - 1)  # a single variable has no parents, whatever the prior
        if not 0 < equivalent_sample_size <= _LARGEST_PRIOR:
            raise EstimationError(
                f"Expected a positive equivalent_sample_size but found {equivalent_sample_size}: take 1, "
                f"the default, or at most {_LARGEST_PRIOR:,}"
            )
        if structure_prior is None:
            structure_prior = min(1.0, others / 2)
        if not 0 < structure_prior < others:
            raise EstimationError(
                f"Expected a structure_prior above 0 and below {others}, the number of other variables, but "
                f"found {structure_prior}: leave it out for the default"
            )
        self.equivalent_sample_size = float(equivalent_sample_size)
        self._log_parent = log(structure_prior / others)
        self._log_no_parent = log(1 - structure_prior / others)

    def _priors(self, variable: int, configurations: float) -> tuple[float, float]:
        per_stratum = self.equivalent_sample_size / configurations
        return per_stratum, per_stratum / self.contingency.cardinalities[variable]

    def _prior(self, variable: int, n_parents: int, configurations: float) -> float:
        absent = self.n_variables - 1 - n_parents
        return n_parents * self._log_parent + absent * self._log_no_parent


class LogLikelihood(CountedScore):
    """The log-likelihood of a variable's column given its parents' columns, at its maximum, in nats."""

    def _priors(self, variable: int, configurations: float) -> tuple[float, float]:
        return 0.0, 0.0

    def _prior(self, variable: int, n_parents: int, configurations: float) -> float:
        return 0.0


class BIC(LogLikelihood):
    """The Bayesian information criterion: the log-likelihood less ½ log N for each free parameter ([1]_).

    A variable with K states and parents with q joint states has (K − 1)·q parameters, whether or not all of
    these states occur. In nats. All DAGs of an equivalence class have the same sum of local scores.

    References
    ----------
    .. [1] Schwarz (1978), Estimating the dimension of a model, Annals of Statistics 6(2).
    """

    def _prior(self, variable: int, n_parents: int, configurations: float) -> float:
        parameters = (self.contingency.cardinalities[variable] - 1) * configurations
        return -0.5 * log(self.contingency.n_rows) * parameters


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _g_square(table: NDArray[np.int64]) -> tuple[float, int]:
    """Return G² = 2 Σ c log(c/e), with e the expected count of a cell, and its degrees of freedom."""
    n_strata, n_x, n_y = table.shape
    statistic, freedom = 0.0, 0
    x_sums, y_sums = np.empty(n_x), np.empty(n_y)
    for s in range(n_strata):
        # Add up the margins of the stratum's table.
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
            continue  # a stratum without rows
        # Compare each cell with what independence expects of it; an empty cell adds nothing.
        for i in range(n_x):
            for j in range(n_y):
                count = table[s, i, j]
                if count > 0:
                    statistic += count * log(count * total / (x_sums[i] * y_sums[j]))
        # Only states that occur in the stratum count for the degrees of freedom.
        freedom += (int(np.count_nonzero(x_sums)) - 1) * (int(np.count_nonzero(y_sums)) - 1)
    return 2.0 * statistic, freedom
