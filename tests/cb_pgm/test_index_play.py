"""Index policies are played compiled with the same choices, rows and regret as round by round."""

import time

import numpy as np
import pytest

from cb_pgm import CausalSystem, instances
from cb_pgm.policies.arm_policy import ArmPolicy
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.registry import make_policy
from cb_pgm.simulation import simulate

ASIA = CausalSystem.from_bif("data/asia.bif", reward="xray=yes")
SYSTEMS = {
    "bernoulli": ASIA,
    "gaussian": instances.tree(6, 3, seed=1),
    "wide": instances.tree(4, 2, noise=0.5, seed=2),  # σ is ½, and rewards leave [0, 1]
}


@pytest.mark.parametrize("name", ["ucb", "kl-ucb", "moss"])
@pytest.mark.parametrize("world", list(SYSTEMS))
def test_the_same_as_round_by_round(name: str, world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regret, its curve, the arms' rows and the recommended arm, to the last bit, over 6,007 rounds."""
    system = SYSTEMS[world]
    context = PolicyContext.of_system(system, None, None, (0.1, 0.1))
    policy = make_policy(name, context)
    assert isinstance(policy, ArmPolicy)
    assert policy.plays_ahead
    compiled = simulate(policy, system, 6_007, seed=5)
    monkeypatch.setattr(ArmPolicy, "plays_ahead", False)
    one_by_one = simulate(policy, system, 6_007, seed=5)
    assert compiled.regret == one_by_one.regret
    np.testing.assert_array_equal(compiled.regrets, one_by_one.regrets)
    assert compiled.best_arm == one_by_one.best_arm


def test_a_subclass_plays_its_own_way() -> None:
    """A policy derived from an index policy may override anything, so it isn't played compiled."""
    from cb_pgm import UCB

    class First(UCB):
        def _next_pull(self):
            return self._pulls[0]

    policy = First(ASIA.states, settable=ASIA.settable)
    worst = max(ASIA.arm_means().values()) - next(iter(ASIA.arm_means().values()))
    assert simulate(policy, ASIA, 100, seed=1).regret == pytest.approx(100 * worst)


@pytest.mark.slow
def test_ten_million_rounds_take_seconds() -> None:
    """10⁷ rounds of UCB on asia in at most 20 seconds of CPU."""
    policy = make_policy("ucb", PolicyContext.of_system(ASIA, None, None, (0.1, 0.1)))
    simulate(policy, ASIA, 1000, seed=1)  # compiles
    began = time.process_time()
    simulate(policy, ASIA, 10_000_000, seed=1)
    assert time.process_time() - began <= 20
