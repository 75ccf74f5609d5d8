"""Exact pseudo-regret, one seed, and a curve that is right at every recorded round."""

from collections.abc import Iterable
from typing import ClassVar

import numpy as np
import pytest

from cb_pgm import (
    MOSS,
    UCB,
    CausalSystem,
    Intervention,
    Observations,
    Policy,
    Pull,
    compare,
    instances,
    simulate,
)
from cb_pgm.errors import CausalBanditError
from cb_pgm.policies.context import PolicyContext


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

    def begin(self, rng: np.random.Generator) -> None:
        self.turn = self.rows = 0

    def next_pull(self) -> Pull:
        return self.script[self.turn % len(self.script)]

    def learn(self, intervention: Intervention, observations: Observations) -> None:
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


# -- systems of one's own, and many runs -------------------------------------------------------------------


class Coin:
    """A system of one's own: one variable, of which "b" has the higher mean; "c" can't be set."""

    states: ClassVar = {"x": ("a", "b", "c")}
    settable: ClassVar = {"x": ("a", "b")}
    means: ClassVar = {"a": 0.2, "b": 0.8, "c": 0.9}

    def sample(self, do, size, rng):
        codes = np.full((size, 1), self.states["x"].index(do.get("x", "c")), dtype=np.int16)
        return Observations(codes, (rng.random(size) < self.mean_reward(do)) * 1.0)

    def mean_reward(self, do):
        return self.means[do.get("x", "a")]


def test_any_object_with_four_things_is_a_system() -> None:
    run = simulate(UCB(Coin.states, noise_scale=0.5, settable=Coin.settable), Coin(), 500, seed=1)
    assert run.best_arm is not None
    assert run.best_arm.intervention == {"x": "b"}
    assert 0 < run.regret < 100


def test_an_arm_that_cannot_be_set_is_refused() -> None:
    with pytest.raises(CausalBanditError, match=r"x = c: make the policy with settable=system\.settable"):
        simulate(UCB(Coin.states, noise_scale=0.5), Coin(), 500, seed=1)


def test_compare_gives_a_row_for_each_policy_system_and_seed(asia: CausalSystem) -> None:
    tree = instances.tree(4, 2, seed=0)
    systems = {"asia": asia, "tree": tree}

    def mine(context: PolicyContext) -> Policy:
        return UCB(context.states, noise_scale=context.noise_scale)

    found = compare(["screening", "cn-ucb", MOSS, mine], systems, 300, seeds=2)
    assert list(found["policy"].unique()) == ["screening", "cn-ucb", "moss", "mine"]
    assert len(found) == 4 * 2 * 2
    assert not found.duplicated(["policy", "system", "seed"]).any()
    fewer = compare(["cn-ucb"], systems, 300, seeds=[1])
    same = found[(found["policy"] == "cn-ucb") & (found["seed"] == 1)].reset_index(drop=True)
    assert fewer["regret"].tolist() == same["regret"].tolist()
    own = compare(["moss", UCB], Coin(), 300, seeds=3)
    assert own["correct"].isna().all()
    assert (own["regret"] > 0).all()


@pytest.mark.parametrize(
    ("policies", "systems", "said"),
    [([], Coin(), "policies"), (["ucb", "ucb"], Coin(), "names of their own"), (["cn-ucb"], Coin(), "graph")],
)
def test_what_cannot_be_compared_is_refused(policies, systems, said) -> None:
    with pytest.raises(CausalBanditError, match=said):
        compare(policies, systems, 100)
