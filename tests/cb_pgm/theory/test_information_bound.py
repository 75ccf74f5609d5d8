"""The rate at which arms can tell the reward's parent from the other variables, against closed forms."""

import itertools
import math

import numpy as np
import pytest

from cb_pgm import CausalSystem, instances
from cb_pgm.errors import CausalSystemError
from cb_pgm.theory.information_bound import information_rate, least_pulls, proven_least_pulls


@pytest.mark.parametrize("depth", [0, 1])
def test_of_two_variables_the_parent_is_told_apart_as_fast_as_its_mean_varies(depth: int) -> None:
    """Set whichever makes the two independent, both states alike: a variance of ¼ is left for f(other)."""
    system = instances.tree(2, 2, shape="chain", reward_depth=depth, reward_means=[0, 1], noise=2.0, seed=0)
    assert information_rate(system) == pytest.approx(0.25 / (2 * 2.0**2), rel=2e-3)


@pytest.mark.parametrize("copying", [0.3, 0.9])
def test_in_the_middle_of_a_chain_half_of_the_pulls_go_against_each_neighbour(copying: float) -> None:
    """A → X → B: setting X shuts A out but not B, setting B the other way round; best is half of each.

    Pooled over the mixture either neighbour agrees with X with a correlation of c/2, so ¼(1 − c²/4) is left.
    """
    system = instances.tree(
        3, 2, shape="chain", reward_depth=1, reward_means=[0, 1], copy_probability=copying, seed=0
    )
    assert information_rate(system) == pytest.approx((1 - copying**2 / 4) / 8, rel=2e-3)


def test_no_mixture_on_a_grid_does_better() -> None:
    """Every mixture of sixths over the six arms of a chain, its rate worked out from 20,000 rows an arm.

    The sampled variances are right to about 2 %, so none may exceed the maximum by more than 5 %; the best of
    the grid comes within a tenth.
    """
    system = instances.tree(3, 2, shape="chain", reward_depth=2, copy_probability=0.7, seed=1)
    names, rng = list(system.states), np.random.default_rng(0)
    parent = names.index(system.reward_parents[0])
    others = [column for column in range(3) if column != parent]
    # Shares of (other's state, parent's state) by arm and other: [6, 2, 2, 2].
    joint = np.zeros((6, 2, 2, 2))
    for arm, (name, state) in enumerate(itertools.product(names, "01")):
        codes = system.sample({name: state}, 20_000, rng).codes
        for place, column in enumerate(others):
            np.add.at(joint[arm, place], (codes[:, column], codes[:, parent]), 1 / 20_000)
    means, best = np.array([0.1, 0.9]), 0.0
    for cuts in itertools.combinations(range(11), 5):
        weights = (np.diff([-1, *cuts, 11]) - 1) / 6
        mixed = np.tensordot(weights, joint, 1)
        counts, firsts = mixed.sum(axis=2), mixed @ means
        left = (mixed @ means**2).sum(axis=1) - (firsts**2 / np.maximum(counts, 1e-12)).sum(axis=1)
        best = max(best, float(left.min()) / 2)
    assert 0.9 * information_rate(system) <= best <= 1.05 * information_rate(system)


def test_pulls_grow_with_the_logarithm_of_one_over_delta() -> None:
    system = instances.tree(5, 3, seed=2)
    few, many = (least_pulls(system, failure_prob) for failure_prob in (0.05, 0.0005))
    assert many - few == pytest.approx(math.log(100) / information_rate(system), rel=1e-9)


@pytest.mark.parametrize("failure_prob", [0.2, 0.05, 1e-6])
def test_the_proven_bound_is_the_divergence_of_two_coins_and_below_the_yardstick(failure_prob: float) -> None:
    system = instances.tree(5, 3, seed=2)
    p, q = failure_prob, 1 - failure_prob
    divergence = p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))
    proven = proven_least_pulls(system, failure_prob)
    assert proven == pytest.approx(divergence / information_rate(system), rel=1e-9)
    assert proven < least_pulls(system, failure_prob)


def test_a_reward_that_depends_on_nothing_is_never_told_apart() -> None:
    system = instances.tree(4, 2, reward_means=[0.4, 0.4], seed=3)
    assert information_rate(system) == 0
    assert least_pulls(system, 0.05) == math.inf
    assert proven_least_pulls(system, 0.05) == math.inf


def test_refuses_two_parents_no_arms_and_large_failure_probabilities() -> None:
    with pytest.raises(CausalSystemError, match="one parent but found 2"):
        information_rate(instances.tree(4, 2, n_parents=2, seed=4))
    system = instances.tree(4, 2, seed=4)
    with pytest.raises(CausalSystemError, match="failure_prob above 0"):
        proven_least_pulls(system, 0.6)
    stuck = CausalSystem.from_model(system.model, system.reward, settable={})
    with pytest.raises(CausalSystemError, match="no arm"):
        information_rate(stuck)
