"""Confidence bounds that hold at all times simultaneously, so that one may look after every row.

References
----------
.. [1] Robbins (1970), Statistical methods related to the law of the iterated logarithm, Annals of
   Mathematical Statistics 41.
.. [2] Howard, Ramdas, McAuliffe & Sekhon (2021), Time-uniform, nonparametric, nonasymptotic confidence
   sequences, Annals of Statistics 49.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, xlog1py, xlogy

__all__ = [
    "anytime_radius",
    "best_mixing_rows",
    "bounded_difference",
    "bounded_intervals",
    "difference_radius",
]

_HALVINGS = 40  # of an interval's ends
_GRID = 1001  # means of an arm

Array = NDArray[np.float64]


def anytime_radius(rows: float, failure_prob: float, noise_scale: float, mixing_rows: float) -> float:
    """Return the radius r(m) of an anytime confidence interval for a mean.

    With probability 1 − α the mean of the first m rows is within r(m) of its expectation for all m
    simultaneously.

    Parameters
    ----------
    rows
        m; 0 gives infinity.
    failure_prob
        α.
    noise_scale
        σ; the radius has its unit.
    mixing_rows
        ρ > 0, chosen before the first row is seen (`best_mixing_rows`).

    Notes
    -----
    For σ-subgaussian noise, with probability 1 − α, |S_m| ≤ σ√((m + ρ)(log((m + ρ)/ρ) + 2 log(1/α))) for
    every m, where S_m is the sum of m deviations. This is the two-sided normal mixture ([1]_; [2]_, eq. 14).

    Examples
    --------
    >>> anytime_radius(0, 0.05, 1.0, 10.0)
    inf
    >>> anytime_radius(100, 0.05, 1.0, 10.0) > anytime_radius(1000, 0.05, 1.0, 10.0) > 0
    True
    """
    if rows <= 0:
        return math.inf
    spread = rows + mixing_rows
    return (
        noise_scale
        * math.sqrt(spread * (math.log(spread / mixing_rows) - 2.0 * math.log(failure_prob)))
        / rows
    )


def best_mixing_rows(rows: float, failure_prob: float) -> float:
    """Return the ρ for which `anytime_radius` is nearly smallest at about `rows` rows.

    This is Proposition 3 of [2]_, with its Lambert function replaced by the first two terms of the expansion.
    """
    level = -2.0 * math.log(failure_prob)
    return max(rows, 1.0) / (level + math.log1p(level))


def bounded_intervals(
    rows: ArrayLike, means: ArrayLike, failure_prob: float, mixing_rows: float
) -> tuple[Array, Array]:
    """Return anytime confidence intervals for means of rewards in [0, 1], which adapt to their variance.

    With probability 1 − α the expectation lies in the interval of the first m rows for all m simultaneously.

    Parameters
    ----------
    rows, means
        The numbers of rows, at least 1, and their mean rewards; of one length.
    failure_prob
        α, of each interval.
    mixing_rows
        ρ > 0, as in `anytime_radius`.

    Notes
    -----
    For every p the ratio of the Beta(ρp, ρ(1 − p)) mixture of Bernoulli likelihoods to that of p is a
    supermartingale if the expectation is p: of rewards of 0 and 1 by construction, of others in [0, 1] since
    the likelihood of q over that of p is convex in the reward. So it exceeds 1/α at any time with probability
    α at most (Ville; [2]_, section 3.2), and the interval has all p for which it doesn't.

    Examples
    --------
    >>> low, high = bounded_intervals([450], [80 / 450], 0.05, best_mixing_rows(150, 0.05))
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.126, 0.237)
    """
    m, mean = np.asarray(rows, dtype=np.float64), np.asarray(means, dtype=np.float64)
    ends = []
    for end in (0.0, 1.0):
        inside, outside = mean.copy(), np.full(len(mean), end)
        for _ in range(_HALVINGS):
            p = (inside + outside) / 2
            excluded = _log_ratio(p, m, mean, mixing_rows) >= -math.log(failure_prob)
            outside, inside = np.where(excluded, p, outside), np.where(excluded, inside, p)
        ends.append(outside)
    return ends[0], ends[1]


def _log_ratio(p: Array, rows: ArrayLike, means: ArrayLike, mixing_rows: float) -> Array:
    """Return the logarithm of the mixture's ratio for each expectation p."""
    hits, misses = np.multiply(rows, means), np.multiply(rows, np.subtract(1, means))
    prior = mixing_rows * p, mixing_rows * (1 - p)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Array = betaln(prior[0] + hits, prior[1] + misses) - betaln(*prior)
        return ratio - (xlogy(hits, p) + xlog1py(misses, -p))


def bounded_difference(
    one: tuple[int, float], other: tuple[int, float], failure_prob: float, mixing_rows: float
) -> tuple[float, float]:
    """Return an anytime interval for the difference of two arms' means of rewards in [0, 1].

    Parameters
    ----------
    one, other
        The rows of each arm, at least 1, and their mean reward.
    failure_prob, mixing_rows
        As in `bounded_intervals`.

    Notes
    -----
    The product of both arms' ratios is a supermartingale, too, whichever arm the next row is of. The interval
    has the differences of all pairs of means, on a grid and rounded outwards, for which it is below 1/α.

    Examples
    --------
    >>> low, high = bounded_difference((900, 0.8), (100, 0.55), 0.05, best_mixing_rows(150, 0.05))
    >>> round(low, 3), round(high, 3)
    (0.066, 0.442)
    """
    grid = np.linspace(0.0, 1.0, _GRID)
    first, second = (_log_ratio(grid, *arm, mixing_rows) for arm in (one, other))
    first, second = (np.nan_to_num(ratio, nan=np.inf, neginf=np.inf) for ratio in (first, second))
    at, against = np.nonzero(first[:, None] + second < -math.log(failure_prob))
    differences = grid[at] - grid[against]
    step = 2.0 / (_GRID - 1)
    return max(-1.0, float(differences.min()) - step), min(1.0, float(differences.max()) + step)


def difference_radius(
    one: int, other: int, failure_prob: float, noise_scale: float, mixing_rows: float
) -> float:
    """Return the radius of an anytime interval for the difference of two means of so many rows each.

    As `anytime_radius`, from the product of both arms' mixtures.

    Examples
    --------
    >>> round(difference_radius(100, 100, 0.05, 1.0, 10.0), 3), round(anytime_radius(100, 0.05, 1.0, 10.0), 3)
    (0.487, 0.304)
    """
    spreads = one + mixing_rows, other + mixing_rows
    level = -2.0 * math.log(failure_prob) + sum(math.log(spread / mixing_rows) for spread in spreads)
    return noise_scale * math.sqrt(level * (spreads[0] / one**2 + spreads[1] / other**2))
