"""Marginals are the observed frequencies, and their error bound holds as often as it promises."""

from types import SimpleNamespace

import numpy as np
import pytest

from discovery.errors import DiscoveryError
from discovery.estimation.marginals import Marginals


def table(codes, states, rewards=None):
    return SimpleNamespace(
        codes=np.asarray(codes, np.int16), states=states, rewards=rewards, n_rows=len(codes)
    )


def test_frequencies_follow_the_order_of_the_states_and_keep_states_that_never_occur():
    seen = Marginals.from_table(
        table([[0, 2], [0, 2], [1, 0], [0, 2]], {"A": ("no", "yes"), "B": ("x", "y", "z")})
    )
    assert seen.probabilities["A"].tolist() == [0.75, 0.25]
    assert seen.probabilities["B"].tolist() == [0.25, 0.0, 0.75]
    assert seen.rows == 4
    assert seen.reward_mean is None


def test_the_reward_mean_comes_from_the_reward_column():
    rewards = np.array([1.0, 0.0, 4.0, 0.0])
    assert Marginals.from_table(table([[0], [1], [1], [0]], {"A": ("0", "1")}, rewards)).reward_mean == 1.25


def test_exact_marginals_have_no_sampling_error():
    assert Marginals({"A": np.array([0.5, 0.5])}).sampling_error(0.05) == 0.0


def test_sampling_error_is_the_printed_formula_with_the_largest_number_of_states():
    seen = Marginals({"A": np.array([0.5, 0.5]), "B": np.array([0.2, 0.3, 0.5])}, rows=800)
    assert seen.sampling_error(0.1) == pytest.approx(np.sqrt(np.log(16 * 2 * 3 / 0.1) / 1600))


def test_no_probability_is_off_by_more_than_the_bound_more_often_than_promised():
    """2,000 tables of 50 rows, under a second; tolerance: 4.76 deviations (1e-6) above the promised rate."""
    rng, failure_prob, runs = np.random.default_rng(1), 0.8, 2000
    truth = np.array([0.5, 0.3, 0.2])
    counts = rng.multinomial(50, truth, size=(runs, 4))
    bound = Marginals({str(i): truth for i in range(4)}, rows=50).sampling_error(failure_prob)
    failures = int((np.abs(counts / 50 - truth).max(axis=(1, 2)) > bound).sum())
    assert failures <= runs * failure_prob / 8 + 4.76 * np.sqrt(runs * failure_prob / 8)


@pytest.mark.parametrize("values", [[0.5, 0.6], [-0.1, 1.1], [[0.5, 0.5]]])
def test_what_is_no_distribution_is_refused_by_name(values):
    with pytest.raises(DiscoveryError, match="'A'"):
        Marginals({"A": np.array(values)})


def test_probabilities_can_not_be_changed_afterwards():
    mine = np.array([0.5, 0.5])
    kept = Marginals({"A": mine})
    mine[0] = 9.0
    assert kept.probabilities["A"][0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        kept.probabilities["A"][0] = 1.0


def test_rows_and_failure_probability_must_make_sense():
    with pytest.raises(DiscoveryError, match="row"):
        Marginals({"A": np.array([1.0])}, rows=0)
    with pytest.raises(DiscoveryError, match="failure_prob"):
        Marginals({"A": np.array([1.0])}).sampling_error(0.0)
