"""Exact pseudo-regret, one seed, and a curve that is right at every recorded round."""

from collections.abc import Iterable

import numpy as np
import pytest

from cb_pgm import UCB, CausalSystem, Intervention, Observations, Policy, Pull, instances, simulate
from cb_pgm.errors import CausalBanditError


@pytest.fixture(scope="module")
def asia() -> CausalSystem:
    return CausalSystem.from_bif("data/asia.bif", reward="xray=yes")


class Scripted(Policy):
    """Pulls a fixed list of (intervention, size) over and over; names a variable after `name_after` rows."""

    name = "scripted"

    def __init__(
        self, system: CausalSystem, script: list[tuple[dict[str, str], int]], name_after: int = 10**9
    ):
        super().__init__(system.states)
        self.script = [Pull(Intervention(do), size) for do, size in script]
        self.name_after = name_after

    def _begin(self, rng: np.random.Generator) -> None:
        self.turn = self.rows = 0

    def _next_pull(self) -> Pull:
        return self.script[self.turn % len(self.script)]

    def _learn(self, intervention: Intervention, observations: Observations) -> None:
        self.turn += 1
        self.rows += len(observations)

    def means(self) -> Iterable[tuple[Intervention, int, float]]:
        return ()

    @property
    def reward_variables(self) -> tuple[str, ...]:
        return ("either",) if self.rows >= self.name_after else ()


def test_regret_is_the_sum_of_exact_gaps(asia: CausalSystem) -> None:
    script = [({"smoke": "yes"}, 3), ({}, 5), ({"either": "yes"}, 1), ({"lung": "no", "tub": "yes"}, 2)]
    run = simulate(Scripted(asia, script), asia, 300, seed=0)
    best = max(asia.arm_means().values())
    lost = np.concatenate([np.full(size, best - asia.mean_reward(do)) for do, size in script])
    expected = np.cumsum(np.resize(lost, 300))
    np.testing.assert_allclose(run.regrets, expected[run.rounds - 1], atol=1e-9)
    assert run.regret == pytest.approx(expected[-1])
    assert run.rounds[0] == 1
    assert run.rounds[-1] == 300
    assert list(run.curve.columns) == ["round", "regret"]


def test_the_last_pull_is_cut_at_the_horizon(asia: CausalSystem) -> None:
    passed: list[int] = []
    simulate(Scripted(asia, [({}, 7)]), asia, 20, seed=0, progress=passed.append)
    assert passed == [7, 7, 6]


def test_interventions_to_find_counts_rounds_until_the_naming(asia: CausalSystem) -> None:
    run = simulate(Scripted(asia, [({}, 4)], name_after=10), asia, 100, seed=0)
    assert (run.reward_variables, run.interventions_to_find) == (("either",), 12)
    assert simulate(Scripted(asia, [({}, 4)]), asia, 100, seed=0).interventions_to_find is None


def test_a_longer_horizon_begins_alike(asia: CausalSystem) -> None:
    policy = UCB(asia.states, noise_scale=0.5)
    short, long = (simulate(policy, asia, horizon, seed=4) for horizon in (500, 5000))
    shared = np.intersect1d(short.rounds, long.rounds)
    np.testing.assert_array_equal(
        short.regrets[np.isin(short.rounds, shared)], long.regrets[np.isin(long.rounds, shared)]
    )


def test_a_policy_over_other_variables_is_refused(asia: CausalSystem) -> None:
    other = instances.tree(3, 2, seed=0)
    with pytest.raises(CausalBanditError, match="variables and states"):
        simulate(UCB(other.states), asia, 10, seed=0)
    with pytest.raises(CausalBanditError, match="at least 1 round"):
        simulate(UCB(asia.states), asia, 0, seed=0)


def test_ucb_regret_is_that_of_a_plain_loop() -> None:
    """Means of 30 runs of 2,000 rounds, drawn by `simulate` and by hand: equal within 4 standard errors."""
    system = instances.tree(3, 2, noise="bernoulli", seed=1)
    means = system.arm_means()
    arms = list(means)
    drawn, by_hand = [], []
    rng = np.random.default_rng(8)
    for seed in range(30):
        drawn.append(simulate(UCB(system.states, noise_scale=0.5), system, 2000, seed).regret)
        rows, totals, lost = np.zeros(len(arms)), np.zeros(len(arms)), 0.0
        for t in range(2000):
            width = 0.5 * np.sqrt(2 * np.log(max(t, 1)) / np.maximum(rows, 1))
            index = np.where(rows == 0, np.inf, totals / np.maximum(rows, 1) + width)
            arm = int(np.argmax(index))
            rows[arm] += 1
            totals[arm] += rng.random() < means[arms[arm]]
            lost += max(means.values()) - means[arms[arm]]
        by_hand.append(lost)
    error = np.sqrt((np.var(drawn) + np.var(by_hand)) / 30)
    assert abs(np.mean(drawn) - np.mean(by_hand)) < 4 * error
