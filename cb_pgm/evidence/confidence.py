"""Confidence bounds that hold at all times at once."""

from __future__ import annotations

import math

__all__ = ["anytime_radius", "best_mixing_rows"]


def anytime_radius(rows: float, failure_prob: float, noise_scale: float, mixing_rows: float) -> float:
    """Return r such that the mean of the first m rows is within r(m) of its expectation for all m at once.

    For σ-subgaussian noise, with probability 1 − α:  |S_m| ≤ σ√((m + ρ)(log((m + ρ)/ρ) + 2 log(1/α)))  for
    every m, where S_m is the sum of m deviations. This is the two-sided normal mixture (Robbins 1970; Howard,
    Ramdas, McAuliffe & Sekhon 2021, eq. 14).

    Parameters
    ----------
    rows
        m; 0 gives infinity.
    failure_prob
        α.
    noise_scale
        σ.
    mixing_rows
        ρ > 0, chosen beforehand: see `best_mixing_rows`.

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
    """Return the ρ that makes `anytime_radius` (nearly) smallest when about `rows` rows will have been seen.

    Howard et al. (2021), Proposition 3 up to its Lambert function, replaced by the first two terms of its
    expansion.
    """
    level = -2.0 * math.log(failure_prob)
    return max(rows, 1.0) / (level + math.log1p(level))
