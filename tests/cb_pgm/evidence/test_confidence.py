"""Confidence bounds that hold at all times at once."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from cb_pgm.evidence.confidence import anytime_radius, best_mixing_rows, bounded_intervals


@pytest.mark.parametrize("bernoulli", [False, True])
@pytest.mark.parametrize("failure_prob", [0.05, 0.2])
def test_means_leave_the_radius_at_any_time_no_more_often_than_promised(
    failure_prob: float, bernoulli: bool
) -> None:
    """4,000 runs of 2,000 rows, .4 s each; failures at most the binomial's 99.9 % point at δ."""
    rng = np.random.default_rng(5)
    runs, rows = 4000, 2000
    radii = np.array([anytime_radius(m, failure_prob, 0.5, 50.0) for m in range(1, rows + 1)])
    failures = 0
    for _ in range(runs):
        noise = rng.integers(2, size=rows) - 0.5 if bernoulli else 0.5 * rng.standard_normal(rows)
        means = np.abs(np.cumsum(noise)) / np.arange(1, rows + 1)
        failures += bool((means > radii).any())
    assert failures <= binom.ppf(0.999, runs, failure_prob)
    assert failures > 0  # a radius that nothing ever leaves would be far too wide


@pytest.mark.parametrize("rows", [50, 5000])
@pytest.mark.parametrize("failure_prob", [0.05, 1e-5])
def test_best_mixing_rows_is_nearly_best(rows: float, failure_prob: float) -> None:
    chosen = anytime_radius(rows, failure_prob, 1.0, best_mixing_rows(rows, failure_prob))
    best = min(anytime_radius(rows, failure_prob, 1.0, rho) for rho in np.geomspace(rows / 1000, rows, 400))
    assert chosen <= 1.001 * best
    assert chosen <= 1.2 * math.sqrt(2 * math.log(2 / failure_prob) / rows)


@pytest.mark.parametrize(("rate", "spread"), [(0.1, 0.0), (0.5, 0.0), (0.1, 5.0)])
def test_intervals_of_bounded_rewards_fail_at_any_time_no_more_often_than_promised(
    rate: float, spread: float
) -> None:
    """2,000 runs of 450 rows, looked at after every fifth; with a spread rewards lie between 0 and 1."""
    rng = np.random.default_rng(6)
    runs, rows, delta = 2000, 450, 0.05
    if spread:
        rewards = rng.beta(spread * rate, spread * (1 - rate), (runs, rows))
    else:
        rewards = (rng.random((runs, rows)) < rate).astype(float)
    totals, failed = np.cumsum(rewards, axis=1), np.zeros(runs, dtype=bool)
    mixing = best_mixing_rows(150, delta)
    for m in range(1, rows + 1, 5):
        lows, highs = bounded_intervals(np.full(runs, m), totals[:, m - 1] / m, delta, mixing)
        failed |= (rate < lows) | (rate > highs)
    assert failed.sum() <= binom.ppf(0.999, runs, delta)


def test_intervals_of_bounded_rewards_are_little_wider_than_wilsons() -> None:
    """Of 45 successes in 450 rows; they stay within [0, 1] and have the mean in them."""
    (low,), (high,) = bounded_intervals([450], [0.1], 0.05, best_mixing_rows(150, 0.05))
    assert high - low <= 1.6 * (0.1312 - 0.0756)
    lows, highs = bounded_intervals([1, 1, 20, 20, 5], [0.0, 1.0, 0.0, 1.0, 0.3], 0.01, 20.0)
    assert ((lows >= 0) & (highs <= 1)).all()
    assert ((lows <= [0, 1, 0, 1, 0.3]) & (highs >= [0, 1, 0, 1, 0.3])).all()
