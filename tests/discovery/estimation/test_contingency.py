"""Whatever is put together, narrowed or remembered on the way, the numbers are those of a plain count."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from discovery.errors import EstimationError
from discovery.estimation.contingency import Contingency


def rows(rng, n_rows, cardinalities):
    return np.stack([rng.integers(0, c, n_rows) for c in cardinalities], axis=1).astype(np.int16)


def plain_count(codes, columns):
    return Counter(map(tuple, codes[:, columns].tolist()))


def as_counter(table):
    return Counter({index: int(table[index]) for index in np.ndindex(*table.shape) if table[index]})


@pytest.mark.parametrize("size", range(4))
def test_tables_equal_a_plain_count(size):
    cardinalities = [2, 3, 4, 2, 3, 2]
    codes = rows(np.random.default_rng(size), 400, cardinalities)
    counts = Contingency(codes, cardinalities)
    for given in combinations(range(2, 6), size):
        strata, _ = counts.strata(given)
        assert len(set(strata.tolist())) == len(plain_count(counts.columns.T, list(given)))
        of_one = counts.counts(0, given)
        of_two = counts.pair_counts(0, 1, given)
        assert sorted(as_counter(of_one).values()) == sorted(plain_count(codes, [*given, 0]).values())
        assert sorted(as_counter(of_two).values()) == sorted(plain_count(codes, [*given, 0, 1]).values())
        assert np.array_equal(of_two.sum(axis=2), of_one)


def test_more_joint_states_than_64_bits_hold_are_counted_all_the_same():
    cardinalities = [10] * 25
    codes = rows(np.random.default_rng(1), 3000, cardinalities)
    codes[1500:] = codes[:1500]
    counts = Contingency(codes, cardinalities)
    table = counts.counts(0, tuple(range(1, 25)))
    assert sorted(table[table > 0]) == sorted(plain_count(codes, list(range(25))).values())


def test_forgetting_strata_changes_nothing():
    codes = rows(np.random.default_rng(2), 300, [3] * 8)
    short, long = Contingency(codes, [3] * 8, memory=0), Contingency(codes, [3] * 8)
    for given in combinations(range(1, 8), 3):
        assert np.array_equal(short.counts(0, given), long.counts(0, given))


@pytest.mark.parametrize(
    ("codes", "named"),
    [
        (np.array([[0, 3], [1, 1]]), "column 1 but found 3"),
        (np.array([[0, -1], [1, 1]]), "column 1 but found -1"),
        (np.zeros((0, 2), dtype=int), r"shape \(0, 2\)"),
        (np.zeros((5, 3), dtype=int), r"shape \(5, 3\)"),
    ],
)
def test_codes_that_can_not_be_are_refused(codes, named):
    with pytest.raises(EstimationError, match=named):
        Contingency(codes, [2, 3])
