"""What the rows themselves say of arms: means, differences of means, and bounds without any assumption.

Intervals are those for a fixed number of rows: Wilson's for the mean of rewards of 0 and 1 and Newcombe's for
a difference of two ([1]_, method 10), Student's and Welch's for others. Consistency alone gives

    p·E[R | x] + (1 − p)·a  ≤  E[R | do(X = x)]  ≤  p·E[R | x] + (1 − p)·b

for rewards from a to b and p = P(X = x) ([2]_, [3]_). Either end is the mean of a bounded variable: the
reward in rows that show x, and a (or b) in all others. So a confidence bound for one mean covers the sampling
error of both terms: that of Clopper & Pearson for rewards of 0 and 1, otherwise the better of Hoeffding's and
of the empirical Bernstein bound ([4]_).

References
----------
.. [1] Newcombe (1998), Interval estimation for the difference between independent proportions: comparison of
   eleven methods, Statistics in Medicine 17.
.. [2] Robins (1989), The analysis of randomized and non-randomized AIDS treatment trials, in Health Service
   Research Methodology.
.. [3] Manski (1990), Nonparametric bounds on treatment effects, American Economic Review 80.
.. [4] Maurer & Pontil (2009), Empirical Bernstein bounds and sample variance penalization, COLT.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special  # scipy.stats has the same by name, for half a second of every start

__all__ = ["Interval", "Sample", "bounds", "difference_interval", "finite_ends", "floored", "mean_interval"]

_FLOOR_ROWS = 10.0  # that the variance common to several samples is worth beside a smaller own one
_NOTHING = 1e-20  # a variance of rewards in [0, 1] that comes of rounding
_FEW = 10  # rows of 0 and 1, of which Wilson's interval is too short

Array = NDArray[np.float64]
Interval = tuple[float, float]


@dataclass(frozen=True)
class Sample:
    """Some rewards: how many, their mean and their variance (0 for a single one), and if all are 0 or 1."""

    rows: int
    mean: float
    variance: float
    binary: bool

    @classmethod
    def of(cls, rewards: Array, *, binary: bool) -> Sample:
        """Summarise at least one reward."""
        variance = float(rewards.var(ddof=1)) if len(rewards) > 1 else 0.0
        return cls(len(rewards), float(rewards.mean()), variance, binary)

    @property
    def of_mean(self) -> float:
        """The variance of the mean."""
        return self.variance / self.rows

    def drawn(self, draws: int, rng: np.random.Generator) -> Array:
        """Draw the mean from its posterior: Jeffreys' Beta for rewards of 0 and 1, else Student's."""
        if self.binary:
            hits = self.mean * self.rows
            return rng.beta(hits + 0.5, self.rows - hits + 0.5, draws)
        freedom = max(self.rows - 1, 1)
        return self.mean + math.sqrt(self.of_mean) * rng.standard_t(freedom, draws)


def floored(samples: Sequence[Sample]) -> list[Sample]:
    """Return samples of numbers with variances that aren't too small by chance.

    The variance of few or skewed rewards is too small wherever the rare large ones are missing, most of all
    where all are equal. One below the variance common to all samples counts as if ten further rows had shown
    the common one; where each sample's rewards are all equal, that is the variance of all rewards together.
    """
    freedom = sum(sample.rows - 1 for sample in samples)
    common = sum((sample.rows - 1) * sample.variance for sample in samples) / max(freedom, 1)
    if common < _NOTHING:
        sizes = [sample.rows for sample in samples]
        means = np.array([sample.mean for sample in samples])
        common = float(np.average((means - np.average(means, weights=sizes)) ** 2, weights=sizes))
    found = []
    for sample in samples:
        own = sample.rows - 1
        mixed = (own * sample.variance + _FLOOR_ROWS * common) / (own + _FLOOR_ROWS)
        found.append(replace(sample, variance=max(sample.variance, mixed)))
    return found


def mean_interval(sample: Sample, failure_prob: float) -> Interval:
    """Return the interval for a mean: Student's; of 0 and 1 Wilson's, exact below ten rows."""
    if sample.binary:
        hits = round(sample.mean * sample.rows)
        if sample.rows < _FEW:
            return _exact(hits, sample.rows - hits, sample.rows, failure_prob / 2)
        return _wilson(hits, sample.rows, failure_prob)
    if sample.rows < 2:
        return -math.inf, math.inf
    radius = float(special.stdtrit(sample.rows - 1, 1 - failure_prob / 2)) * math.sqrt(sample.of_mean)
    return sample.mean - radius, sample.mean + radius


def _exact(hits: int, misses: int, rows: int, error: float) -> Interval:
    """Return the ends of Clopper and Pearson: each fails with probability `error`."""
    lower = special.betaincinv(hits, rows - hits + 1, error) if hits else 0.0
    upper = 1 - special.betaincinv(misses, rows - misses + 1, error) if misses else 1.0
    return float(lower), float(upper)


def _wilson(hits: int, rows: int, failure_prob: float) -> Interval:
    """Return Wilson's interval for a proportion."""
    z2 = float(special.ndtri(1 - failure_prob / 2)) ** 2
    middle = (hits + z2 / 2) / (rows + z2)
    half = math.sqrt(z2 * (hits * (rows - hits) / rows + z2 / 4)) / (rows + z2)
    return max(0.0, middle - half), min(1.0, middle + half)


def difference_interval(one: Sample, other: Sample, failure_prob: float) -> Interval:
    """Return the interval for the mean of `one` less that of `other`: Newcombe's or Welch's.

    Examples
    --------
    >>> cured, left = Sample(14, 10 / 14, 0.0, binary=True), Sample(14, 4 / 14, 0.0, binary=True)
    >>> [round(end, 4) for end in difference_interval(cured, left, 0.05)]
    [0.0598, 0.6669]
    """
    difference = one.mean - other.mean
    if one.binary:
        (low, high), (other_low, other_high) = (mean_interval(x, failure_prob) for x in (one, other))
        below = math.hypot(one.mean - low, other_high - other.mean)
        above = math.hypot(high - one.mean, other.mean - other_low)
        return difference - below, difference + above
    variance = one.of_mean + other.of_mean
    if variance == 0 or min(one.rows, other.rows) < 2:
        return -math.inf, math.inf
    freedom = variance**2 / sum(x.of_mean**2 / (x.rows - 1) for x in (one, other))
    radius = float(special.stdtrit(freedom, 1 - failure_prob / 2)) * math.sqrt(variance)
    return difference - radius, difference + radius


def bounds(
    shown: NDArray[np.bool_], rewards: Array, low: float, high: float, failure_prob: float, *, binary: bool
) -> Interval:
    """Return bounds for E[R | do(X = x)] with nothing assumed of causes, only rewards from `low` to `high`.

    Parameters
    ----------
    shown
        bool [N]: the rows in which X has the state x; a random sample.
    rewards
        float64 [N].
    failure_prob
        The probability that the bounds fail.
    binary
        Whether rewards are 0 or 1, and `low` and `high` are these.

    Examples
    --------
    >>> shown = np.repeat([True, False], 500)
    >>> lower, upper = bounds(shown, np.tile([1.0, 0.0], 500), 0.0, 1.0, 0.01, binary=True)
    >>> round(lower, 2), round(upper, 2)
    (0.22, 0.78)
    """
    error = failure_prob / 2
    if binary:
        n = len(rewards)
        hits, misses = int(rewards[shown].sum()), int((1 - rewards[shown]).sum())
        return _exact(hits, misses, n, error)
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


def finite_ends(interval: Interval | None) -> list[float | None] | None:
    """Return the ends for JSON, which has no infinities: None for each of these, and for no interval."""
    if interval is None:
        return None
    return [float(end) if math.isfinite(end) else None for end in interval]
