"""Experiments end at (ε, δ): the arm is within ε of the best, on the basis said."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from cb_pgm import CausalSystem, Intervention, Observations, ScreeningUCB, instances
from cb_pgm.errors import PolicyError
from cb_pgm.evidence.stopping import Basis, compare_states
from cb_pgm.policies.base import Policy
from cb_pgm.policies.index_policies import UCB


def stopped(
    policy: Policy, system: CausalSystem, basis: Basis, within: float, seed: int, most: int
) -> tuple[int, Intervention | None]:
    """Play until the stop, looked at after every row up to 50 and every tenth; the rows, and the arm."""
    rng, playing = np.random.default_rng([7, seed]), policy.fresh(np.random.default_rng([8, seed]))
    for row in range(1, most + 1):
        pull = playing.ask()
        playing.tell(pull, system.sample(pull.intervention, 1, rng))
        if row <= 50 or row % 10 == 0:
            found = playing.shortfall(basis)
            if found.most <= within:
                assert found.arm is not None
                assert not found.missing
                return row, found.arm
    return most, None


def best_arm_policy(system: CausalSystem, basis: Basis = "identified", **settings: object) -> ScreeningUCB:
    known = {"noise_scale": system.noise_scale, "parent_noise_scale": system.conditional_noise_scale}
    return ScreeningUCB(system.states, explore="best-arm", basis=basis, **(known | settings))  # type: ignore[arg-type]


@pytest.mark.parametrize("runs", [8, pytest.param(40, marks=pytest.mark.slow)])
def test_trees_of_ten_end_within_the_tolerance(runs: int) -> None:
    """The median stop is below 600 rows, four times the floor; wrong ones at most the 99.9 % point at δ."""
    rows, wrong = [], 0
    for seed in range(runs):
        system = instances.tree(10, 3, seed=seed)
        took, arm = stopped(best_arm_policy(system), system, "identified", 0.05, seed, 4000)
        rows.append(took)
        wrong += arm is not None and system.best_arm()[1] - system.mean_reward(arm) > 0.05
    assert np.median(rows) < 600
    assert wrong <= binom.ppf(0.999, runs, 0.05)


@pytest.mark.parametrize("runs", [10, pytest.param(30, marks=pytest.mark.slow)])
def test_a_pair_of_causes_with_one_allowed_or_a_hidden_one_ends_wrongly_in_few_runs(runs: int) -> None:
    for make in (
        lambda seed: instances.many_parents(n_parents=2, seed=seed),
        lambda seed: instances.proxy(6, weights=(0.4, 0.4), seed=seed),
    ):
        wrong = 0
        for seed in range(runs):
            system = make(seed)
            _, arm = stopped(best_arm_policy(system), system, "identified", 0.05, seed, 600)
            wrong += arm is not None and system.best_arm()[1] - system.mean_reward(arm) > 0.05
        assert wrong <= binom.ppf(0.999, runs, 0.05)


@pytest.mark.parametrize("runs", [30, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("unit", [True, False])
def test_differences_of_states_hold_at_all_times(unit: bool, runs: int) -> None:
    """Two equal states and a worse one, looked at every 20 of 600 rows; failures up to the 99.9 % point."""
    rng, failures = np.random.default_rng(5), 0
    for _ in range(runs):
        states = rng.integers(3, size=600)
        means = np.array([0.5, 0.5, 0.3])[states]
        rewards = (rng.random(600) < means).astype(float) if unit else means + 0.5 * rng.standard_normal(600)
        for rows in range(20, 601, 20):
            counts = np.bincount(states[:rows], minlength=3).astype(float)
            totals = np.bincount(states[:rows], weights=rewards[:rows], minlength=3)
            best, _, most = compare_states(
                counts, totals / np.maximum(counts, 1), 0.2, 0.5, in_unit_interval=unit
            )
            if most < (0.2 if best == 2 else 0.0):
                failures += 1
                break
    assert failures <= binom.ppf(0.999, runs, 0.2)


@pytest.mark.parametrize("kind", ["ucb", "screening"])
def test_every_arm_is_compared_on_the_experimental_basis(kind: str) -> None:
    system = instances.tree(2, 2, reward_gap=0.4, noise=0.3, seed=1)
    policy: Policy = UCB(system.states, noise_scale=system.noise_scale)
    if kind == "screening":
        policy = best_arm_policy(system, "experimental")
    took, arm = stopped(policy, system, "experimental", 0.1, 1, 20_000)
    assert arm is not None
    assert system.best_arm()[1] - system.mean_reward(arm) <= 0.1
    assert took > len(system.states) * 2


def test_what_is_missing_is_said() -> None:
    policy = ScreeningUCB({"A": ("0", "1"), "B": ("0", "1", "2")}, noise_scale=0.5)
    assert policy.shortfall().missing == "no arm has been pulled yet"
    assert policy.shortfall("identified").most == math.inf
    playing = policy.fresh(np.random.default_rng(0))
    pull = playing.ask()
    playing.tell(pull, Observations(np.array([[0, 1]], dtype=np.int16), np.array([1.0])))
    found = playing.shortfall()
    assert found.most == math.inf
    assert found.missing.endswith("was never tried")
    assert playing.shortfall("identified").missing == "2 sets of causes are left"
    assert "identifies no causes" in UCB({"A": ("0", "1")}).shortfall("identified").missing
    with pytest.raises(PolicyError, match="basis"):
        ScreeningUCB({"A": ("0", "1")}, basis="believed")  # type: ignore[arg-type]


def test_a_state_that_never_occurs_is_tried_before_the_end() -> None:
    """Nobody takes the drug by itself: no end before it was given, even though severity explains all rows."""
    system = instances.interaction(seed=3)
    rng, playing = np.random.default_rng(1), best_arm_policy(system).fresh(np.random.default_rng(2))
    given = False
    for _ in range(400):
        pull = playing.ask()
        given |= pull.intervention == {"drug": "yes"}
        playing.tell(pull, system.sample(pull.intervention, 1, rng))
        if playing.shortfall("identified").most <= 0.05:
            break
    assert given
