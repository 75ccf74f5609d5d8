"""Intervals whatever the numbers' unit, spread and repetition."""

from __future__ import annotations

import numpy as np
import pytest

from discovery import TableError
from discovery.table.binning import bin_numbers, merge_rare_states


@pytest.mark.parametrize("unit", [1e-300, 1e-12, 1.0, 1e9, 1e300])
@pytest.mark.parametrize("shape", ["normal", "lognormal", "with an outlier"])
def test_quantile_bins_are_even_in_any_unit(unit: float, shape: str) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=1_000) if shape != "lognormal" else np.exp(5 * rng.normal(size=1_000))
    if shape == "with an outlier":
        numbers[17] = 1e6
    codes, labels = bin_numbers(numbers * unit, 4)
    assert np.bincount(codes).tolist() == pytest.approx([250] * 4, abs=1)
    assert len(set(labels)) == 4
    assert (np.diff(codes[np.argsort(numbers)]) >= 0).all()


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_width_bins_are_as_wide_as_each_other(unit: float) -> None:
    codes, labels = bin_numbers(np.arange(100.0) * unit, 4, "width")
    assert np.bincount(codes).tolist() == [25] * 4
    assert len(labels) == 4


def test_bins_that_hold_nothing_are_not_there() -> None:
    codes, labels = bin_numbers(np.array([0.0, 1.0, 2.0, 100.0]), 10, "width")
    assert codes.tolist() == [0, 0, 0, 1]
    assert len(labels) == 2
    codes, labels = bin_numbers(np.array([0.0] * 90 + [1.0] * 10), 4)
    assert len(labels) == len(np.unique(codes))


@pytest.mark.parametrize("rule", ["quantile", "width"])
def test_cuts_depend_on_the_fitted_numbers_only(rule: str) -> None:
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=500)
    fit = np.arange(500) < 300
    numbers[~fit] *= 100
    codes, labels = bin_numbers(numbers, 3, rule, fit=fit)
    alone, same_labels = bin_numbers(numbers[fit], 3, rule)
    assert labels == same_labels
    assert np.array_equal(codes[fit], alone)
    assert codes.max() < 3


def test_numbers_too_far_apart_to_subtract_are_refused() -> None:
    far = np.array([-1.5e308, 0.0, 1.0, 1.5e308])
    with pytest.raises(TableError, match="bin by quantile"):
        bin_numbers(far, 2, "width")
    assert bin_numbers(far, 2)[0].tolist() == [0, 0, 1, 1]


def test_merging_counts_only_the_rows_that_count() -> None:
    codes = np.array([0, 0, 0, 1, 1, 2, 3, 3, 3], dtype=np.int16)
    count = np.array([True] * 6 + [False] * 3)
    merged, states, gone = merge_rare_states(codes, ("a", "b", "c", "d"), 3, "other", count=count)
    assert (states, gone) == (("a", "other"), ("b", "c", "d"))
    assert merged.tolist() == [0, 0, 0, 1, 1, 1, 1, 1, 1]
    assert merge_rare_states(codes, ("a", "b", "c", "d"), 2, "other", count=count)[2] == ()


@pytest.mark.parametrize("bins", [2, 3, 4, 5])
def test_zeros_of_amounts_are_a_state_of_their_own(bins: int) -> None:
    rng = np.random.default_rng(0)
    for share in (0.35, 0.7, 0.95):
        numbers = np.where(rng.random(400) < share, 0.0, rng.lognormal(8, 1, 400).round(2))
        codes, labels = bin_numbers(numbers, bins)
        assert labels[0] == "0"
        assert np.array_equal(codes == 0, numbers == 0)
        assert len(labels) == bins == len(np.unique(codes))


@pytest.mark.parametrize("seed", range(40))
def test_no_column_of_two_numbers_or_more_becomes_constant(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.choice(np.arange(-20, 60), int(rng.integers(2, 40)), replace=False) * 1.0
    weights = rng.dirichlet(np.full(len(values), rng.choice([0.05, 0.3, 2.0])))
    numbers = np.concatenate([values, rng.choice(values, 300, p=weights)])
    for bins in (2, 3, 4, 6):
        codes, labels = bin_numbers(numbers, bins)
        assert 2 <= len(labels) <= max(bins, 2)
        assert len(labels) == len(np.unique(codes)) == len(set(labels))
        assert (np.diff(codes[np.argsort(numbers)]) >= 0).all()


def test_a_frequent_number_between_others_keeps_its_name() -> None:
    hours = np.array([20.0, 25, 30] * 10 + [40.0] * 140 + [45.0, 50, 60] * 10)
    codes, labels = bin_numbers(hours, 3)
    assert labels == ("below 40", "40", "45 and above")
    assert np.bincount(codes).tolist() == [30, 140, 30]
