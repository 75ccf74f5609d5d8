"""Bounds and intervals from rows hold as often as they say."""

import numpy as np
import pytest
from scipy import stats

from cb_pgm.effects.measured import Sample, bounds, difference_interval, floored, mean_interval


@pytest.mark.parametrize("binary", [True, False])
def test_bounds_hold_as_often_as_they_say(binary):
    rng = np.random.default_rng(0)
    missed, tables, delta = 0, 500, 0.05
    for _ in range(tables):
        hidden = rng.random(200) < 0.5
        x = np.where(rng.random(200) < 0.7, hidden, ~hidden)
        mean = 0.05 + 0.9 * hidden
        rewards = (rng.random(200) < mean).astype(float) if binary else 2 + 4 * rng.beta(mean, 1 - mean)
        low, high = (0.0, 1.0) if binary else (2.0, 6.0)
        lower, upper = bounds(x, rewards, low, high, delta, binary=binary)
        truth = low + (high - low) * 0.5  # X does nothing
        missed += not lower <= truth <= upper
    assert missed <= tables * delta + 3 * np.sqrt(tables * delta)


def test_bounds_are_the_textbook_ones_with_many_rows():
    rng = np.random.default_rng(1)
    shown = rng.random(1_000_000) < 0.3
    rewards = (rng.random(1_000_000) < 0.6).astype(float)
    lower, upper = bounds(shown, rewards, 0, 1, 0.01, binary=True)
    assert lower == pytest.approx(0.3 * 0.6, abs=0.003)
    assert upper == pytest.approx(0.3 * 0.6 + 0.7, abs=0.003)


def test_a_state_that_is_never_seen_says_nothing():
    assert bounds(np.zeros(50, dtype=bool), np.ones(50), 0, 1, 0.05, binary=True) == (0.0, 1.0)
    assert bounds(np.zeros(50, dtype=bool), np.arange(50.0), 0, 49, 0.05, binary=False) == (0.0, 49.0)


@pytest.mark.parametrize("binary", [True, False])
def test_the_interval_of_a_mean_covers(binary):
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(400):
        rewards = (rng.random(60) < 0.3).astype(float) if binary else rng.normal(0.3, 1, 60)
        low, high = mean_interval(Sample.of(rewards, binary=binary), 0.05)
        held += low <= 0.3 <= high
    assert held >= 400 * 0.95 - 3 * np.sqrt(400 * 0.05 * 0.95)


def test_differences_of_numbers_are_welchs():
    rng = np.random.default_rng(3)
    one, other = rng.normal(1, 2, 60), rng.normal(0, 1, 40)
    known = stats.ttest_ind(one, other, equal_var=False).confidence_interval()
    samples = [Sample.of(rewards, binary=False) for rewards in (one, other)]
    assert difference_interval(*samples, 0.05) == pytest.approx((known.low, known.high))


def test_a_variance_is_no_smaller_by_chance_than_the_others():
    rng = np.random.default_rng(4)
    constant, other = floored([Sample.of(x, binary=False) for x in (np.zeros(25), rng.normal(0, 1, 400))])
    low, high = difference_interval(constant, other, 0.05)
    assert 0.15 < high - low < 1
    assert other.variance == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize(("hits", "rows"), [(0, 5), (3, 9), (9, 9), (0, 40), (7, 40), (40, 40), (233, 350)])
def test_intervals_of_shares_are_scipys(hits, rows):
    """Exact below ten rows, else Wilson's."""
    known = stats.binomtest(hits, rows).proportion_ci(0.95, "exact" if rows < 10 else "wilson")
    found = mean_interval(Sample(rows, hits / rows, 0.0, binary=True), 0.05)
    assert found == pytest.approx((known.low, known.high), abs=1e-12)
