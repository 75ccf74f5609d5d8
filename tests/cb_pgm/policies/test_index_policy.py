"""Index policies play the same many rounds at a time as round by round."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from cb_pgm import CausalSystem, simulate
from cb_pgm.instances import tree
from cb_pgm.model.intervention import Intervention, Observations, Pull
from cb_pgm.policies.base import Policy
from cb_pgm.policies.index_policies import KLUCB, MOSS, UCB, IndexPolicy


class RoundByRound(Policy):
    """Plays as an index policy does, but isn't one: a simulation asks it round by round."""

    def __init__(self, played: IndexPolicy) -> None:
        super().__init__(played.states, noise_scale=played.noise_scale, settable=played.settable)
        self.played = played

    def begin(self, rng: np.random.Generator) -> None:
        self.played = self.played.fresh(rng)

    def next_pull(self) -> Pull:
        return self.played.ask()

    def learn(self, intervention: Intervention, observations: Observations) -> None:
        self.played.tell(Pull(intervention, len(observations)), observations)

    def means(self) -> Iterable[tuple[Intervention, int, float]]:
        return self.played.means()

    @property
    def _has_unit_rewards(self) -> bool:
        return self.played._has_unit_rewards


@pytest.mark.parametrize("noise_scale", [0.5, 0.7])
@pytest.mark.parametrize("kind", [UCB, MOSS, KLUCB])
@pytest.mark.parametrize("name", ["binary", "normal"])
def test_the_same_choices_and_rewards_as_round_by_round(
    kind: type[IndexPolicy], noise_scale: float, name: str
) -> None:
    system = CausalSystem.from_bif("data/asia.bif", "dysp=yes") if name == "binary" else tree(6, seed=1)
    policy = kind(system.states, noise_scale=noise_scale, settable=system.settable)
    ahead = simulate(policy, system, 20_000, seed=3)
    by_round = simulate(RoundByRound(policy), system, 20_000, seed=3)
    assert np.array_equal(ahead.regrets, by_round.regrets)
    assert ahead.regret == by_round.regret
    assert ahead.best_arm == by_round.best_arm


def test_a_reward_outside_the_unit_interval_ends_its_divergence() -> None:
    """From then on the index is that for Gaussian rewards, in the same round as round by round."""
    system = tree(4, seed=2)  # normal rewards about means in [0, 1]
    policy = MOSS(system.states, noise_scale=0.5, settable=system.settable)
    ahead = simulate(policy, system, 500, seed=1)
    by_round = simulate(RoundByRound(policy), system, 500, seed=1)
    assert np.array_equal(ahead.regrets, by_round.regrets)


@pytest.mark.slow
def test_ten_million_rounds_in_seconds() -> None:
    from time import perf_counter

    system = CausalSystem.from_bif("data/asia.bif", "dysp=yes")
    policy = UCB(system.states, noise_scale=0.5, settable=system.settable)
    begun = perf_counter()
    run = simulate(policy, system, 10**7, seed=1)
    assert perf_counter() - begun < 20
    assert run.regrets[-1] == pytest.approx(run.regret)
    assert run.best_arm is not None
    assert run.best_arm.intervention == system.best_arm()[0]
