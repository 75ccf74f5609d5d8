"""Bounds and intervals from rows hold as often as they say."""

import numpy as np
import pytest

from cb_pgm.effects.measured import BOUNDS_LEVEL, Sample, anytime_interval, bounds, mean_interval, set_bounds


@pytest.mark.parametrize("binary", [True, False])
def test_bounds_hold_as_often_as_they_say(binary):
    rng = np.random.default_rng(0)
    missed, tables = 0, 500
    for _ in range(tables):
        hidden = rng.random(200) < 0.5
        x = np.where(rng.random(200) < 0.7, hidden, ~hidden)
        mean = 0.05 + 0.9 * hidden
        rewards = (rng.random(200) < mean).astype(float) if binary else 2 + 4 * rng.beta(mean, 1 - mean)
        low, high = (0.0, 1.0) if binary else (2.0, 6.0)
        lower, upper = bounds(x, rewards, low, high, binary=binary)
        truth = low + (high - low) * 0.5  # X does nothing
        missed += not lower <= truth <= upper
    assert missed <= tables * (1 - BOUNDS_LEVEL) + 3 * np.sqrt(tables * (1 - BOUNDS_LEVEL))


def test_bounds_are_the_textbook_ones_with_many_rows():
    rng = np.random.default_rng(1)
    shown = rng.random(1_000_000) < 0.3
    rewards = (rng.random(1_000_000) < 0.6).astype(float)
    lower, upper = bounds(shown, rewards, 0, 1, binary=True)
    assert lower == pytest.approx(0.3 * 0.6, abs=0.003)
    assert upper == pytest.approx(0.3 * 0.6 + 0.7, abs=0.003)


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_bounds_of_set_rows_hold_whenever_one_looks(rate):
    rng = np.random.default_rng(4)
    tables = 300
    missed = 0
    for _ in range(tables):
        rewards = 2.0 + 4.0 * (rng.random(200) < rate)
        ends = [set_bounds(Sample.of(rewards[:n]), 2.0, 6.0) for n in range(1, 200, 3)]
        missed += not all(low <= 2 + 4 * rate <= high for low, high in ends)
    assert missed <= tables * (1 - BOUNDS_LEVEL) + 3 * np.sqrt(tables * (1 - BOUNDS_LEVEL))


def test_a_state_that_is_never_seen_says_nothing():
    assert bounds(np.zeros(50, dtype=bool), np.ones(50), 0, 1, binary=True) == (0.0, 1.0)
    assert bounds(np.zeros(50, dtype=bool), np.arange(50.0), 0, 49, binary=False) == (0.0, 49.0)


@pytest.mark.parametrize("binary", [True, False])
def test_the_usual_interval_covers(binary):
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(400):
        rewards = (rng.random(60) < 0.3).astype(float) if binary else rng.normal(0.3, 1, 60)
        low, high = mean_interval(Sample.of(rewards), 0.05, binary=binary)
        held += low <= 0.3 <= high
    assert held >= 400 * 0.95 - 3 * np.sqrt(400 * 0.05 * 0.95)


def test_the_anytime_interval_is_wider_than_the_usual_one():
    sample = Sample.of(np.random.default_rng(3).normal(size=100))
    low, high = anytime_interval(sample, 0.05, 1.0)
    usual = mean_interval(sample, 0.05, binary=False)
    assert low < usual[0] < usual[1] < high
