"""What the rows themselves say of an arm: seen, set, and bounds that assume nothing.

Consistency alone gives

    p·E[R | x] + (1 − p)·a  ≤  E[R | do(X = x)]  ≤  p·E[R | x] + (1 − p)·b

for rewards from a to b and p = P(X = x) ([1]_, [2]_). Either end is the mean of a bounded variable: the
reward in rows that show x, and a (or b) in all others. So a confidence bound for one mean covers the sampling
error of both terms: that of Clopper & Pearson for rewards of 0 and 1, otherwise the better of Hoeffding's and
of the empirical Bernstein bound ([3]_).

References
----------
.. [1] Robins (1989), The analysis of randomized and non-randomized AIDS treatment trials, in Health Service
   Research Methodology.
.. [2] Manski (1990), Nonparametric bounds on treatment effects, American Economic Review 80.
.. [3] Maurer & Pontil (2009), Empirical Bernstein bounds and sample variance penalization, COLT.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from cb_pgm.evidence.confidence import anytime_radius, best_mixing_rows

__all__ = [
    "BOUNDS_LEVEL",
    "Interval",
    "Sample",
    "anytime_interval",
    "bounds",
    "finite_ends",
    "mean_interval",
    "set_bounds",
]

#: The bounds of one arm hold with this probability.
BOUNDS_LEVEL = 0.99

Array = NDArray[np.float64]
Interval = tuple[float, float]


@dataclass(frozen=True)
class Sample:
    """Some rewards: how many, their mean and their variance (0 for a single one).

    `freedom` is the number of degrees of freedom from which the variance is known.
    """

    rows: int
    mean: float
    variance: float
    freedom: float

    @classmethod
    def of(cls, rewards: Array) -> Sample:
        """Summarise at least one reward."""
        variance = float(rewards.var(ddof=1)) if len(rewards) > 1 else 0.0
        return cls(len(rewards), float(rewards.mean()), variance, len(rewards) - 1)

    def at_least(self, variance: float) -> Sample:
        """Return the sample with at least this variance, which is known; that of few rows hardly is."""
        return replace(self, variance=max(self.variance, variance), freedom=math.inf)

    @property
    def of_mean(self) -> float:
        """The variance of the mean."""
        return self.variance / self.rows


def bounds(shown: NDArray[np.bool_], rewards: Array, low: float, high: float, *, binary: bool) -> Interval:
    """Return bounds for E[R | do(X = x)] with nothing assumed but rewards from `low` to `high`.

    Parameters
    ----------
    shown
        bool [N]: the rows in which X has the state x.
    rewards
        float64 [N].
    binary
        Whether rewards are 0 or 1, and `low` and `high` are these.

    Examples
    --------
    >>> shown = np.repeat([True, False], 500)
    >>> lower, upper = bounds(shown, np.tile([1.0, 0.0], 500), 0.0, 1.0, binary=True)
    >>> round(lower, 2), round(upper, 2)
    (0.22, 0.78)
    """
    error = (1 - BOUNDS_LEVEL) / 2
    if binary:
        n = len(rewards)
        hits, misses = int(rewards[shown].sum()), int((1 - rewards[shown]).sum())
        lower = stats.beta.ppf(error, hits, n - hits + 1) if hits else 0.0
        upper = 1 - stats.beta.ppf(error, misses, n - misses + 1) if misses else 1.0
        return float(lower), float(upper)
    span = high - low
    from_below = np.where(shown, (rewards - low) / span, 0.0)
    from_above = np.where(shown, (high - rewards) / span, 0.0)
    return low + span * _lower(from_below, error), high - span * _lower(from_above, error)


def _lower(values: Array, error: float) -> float:
    """Return a lower bound for the mean of values in [0, 1]: the better of two, each with half the error."""
    n = len(values)
    log = math.log(2 / error)
    hoeffding = math.sqrt(log / (2 * n))
    if n < 2:
        return max(0.0, float(values.mean()) - hoeffding)
    log_bernstein = math.log(4 / error)
    variance = float(values.var(ddof=1))
    bernstein = math.sqrt(2 * variance * log_bernstein / n) + 7 * log_bernstein / (3 * (n - 1))
    return max(0.0, float(values.mean()) - min(hoeffding, bernstein))


def anytime_interval(sample: Sample, failure_prob: float, noise_scale: float) -> Interval:
    """Return an interval for the mean that holds at all numbers of rows at once."""
    mixing = best_mixing_rows(sample.rows, failure_prob)
    radius = anytime_radius(sample.rows, failure_prob, noise_scale, mixing)
    return sample.mean - radius, sample.mean + radius


def set_bounds(sample: Sample, low: float, high: float) -> Interval:
    """Return bounds for the mean of set rows with nothing assumed but rewards from `low` to `high`.

    They hold at all numbers of rows at once, so also where earlier rewards decided which arm to set next;
    a reward in [low, high] is sub-Gaussian with half of that range as its scale.
    """
    lower, upper = anytime_interval(sample, 1 - BOUNDS_LEVEL, (high - low) / 2)
    return max(low, lower), min(high, upper)


def mean_interval(sample: Sample, failure_prob: float, *, binary: bool) -> Interval:
    """Return the usual interval for the mean: Clopper & Pearson's for rewards of 0 and 1, else Student's."""
    if binary:
        hits, n = round(sample.mean * sample.rows), sample.rows
        lower = stats.beta.ppf(failure_prob / 2, hits, n - hits + 1) if hits else 0.0
        upper = stats.beta.ppf(1 - failure_prob / 2, hits + 1, n - hits) if hits < n else 1.0
        return float(lower), float(upper)
    if sample.rows < 2:
        return -math.inf, math.inf
    radius = float(stats.t.ppf(1 - failure_prob / 2, sample.rows - 1)) * math.sqrt(sample.of_mean)
    return sample.mean - radius, sample.mean + radius


def finite_ends(interval: Interval | None) -> list[float | None] | None:
    """Return the ends for JSON, which has no infinities: None for each of these, and for no interval."""
    if interval is None:
        return None
    return [float(end) if math.isfinite(end) else None for end in interval]
