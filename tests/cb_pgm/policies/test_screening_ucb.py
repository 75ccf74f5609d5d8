"""ScreeningUCB where what it assumes fails: it says so, and loses little more than UCB meanwhile."""

import math

import numpy as np
import pytest

from cb_pgm import UCB, CausalSystem, ScreeningUCB, instances, simulate


@pytest.mark.parametrize(("n", "n_parents", "max_parents"), [(20, 4, 1), (30, 6, 2), (10, 5, 3)])
def test_more_parents_than_it_looks_for(n: int, n_parents: int, max_parents: int) -> None:
    """6 systems each, T = 20,000, 8 s: at most 3 times UCB's regret in all; at size 1 it always says so."""
    lost: dict[str, float] = {"ucb": 0.0, "screening": 0.0}
    for seed in range(6):
        system = instances.tree(n, 2, seed=seed, n_parents=n_parents)
        screening = ScreeningUCB(system.states, noise_scale=system.noise_scale, max_parents=max_parents)
        for policy in (screening, UCB(system.states, noise_scale=system.noise_scale)):
            run = simulate(policy, system, 20_000, np.random.SeedSequence(seed))
            lost[policy.name] += run.regret
            if policy.name == "screening" and max_parents == 1:
                assert "no single variable explains the reward" in str(run.fallback)
    assert lost["screening"] <= 3 * lost["ucb"]


def test_rounds_spent_on_telling_apart_are_bounded_at_all_times() -> None:
    """At most 2√(arms · t) of t rounds, and the pull that goes beyond it, counted from outside by `why`."""
    system: CausalSystem = instances.tree(10, 2, seed=1, n_parents=5)
    policy = ScreeningUCB(system.states, noise_scale=system.noise_scale, max_parents=3)
    policy = policy.fresh(np.random.default_rng(0))
    rng, spent, arms = np.random.default_rng(1), 0, 20
    for t in range(1, 6001):
        pull = policy.ask()
        spent += "best tells" in policy.why(pull)
        policy.tell(pull, system.sample(pull.intervention, 1, rng))
        assert spent <= 2 * math.sqrt(arms * t) + 1
    assert spent > math.sqrt(arms * 6000)  # it does use them
