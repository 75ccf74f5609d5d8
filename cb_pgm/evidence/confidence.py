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

__all__ = ["anytime_radius", "best_mixing_rows"]


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
