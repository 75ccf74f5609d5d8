"""On the families of Theorems 4 and 5 nobody gains over UCB, and screening loses nothing there."""

from collections.abc import Callable

import numpy as np
import pytest

from cb_pgm import CNUCB, MOSS, UCB, CausalSystem, ScreeningUCB, ThompsonSampling, instances, simulate, theory

N, K, HORIZON = 3, 2, 2000
RUNS = 8
FAMILIES = [instances.lower_bound_effect_gap, instances.lower_bound_reward_gap]


@pytest.mark.parametrize("family", FAMILIES)
def test_screening_and_thompson_sampling_lose_as_much_as_without(family: Callable[..., CausalSystem]) -> None:
    """All 6 instances, 8 runs each: means equal those of the same index without screening; 4 s.

    Thompson sampling's equals UCB's, screening's that of MOSS, within 4 standard errors, a
    fifth of it. And no mean is below the minimax lower bound, since the instances are the ones that prove it.
    """
    regrets: dict[str, list[float]] = {"ucb": [], "moss": [], "screening": [], "thompson": []}
    for instance in range(1, N * K + 1):
        system = family(N, K, instance=instance, horizon=HORIZON)
        for policy in (UCB, MOSS, ScreeningUCB, ThompsonSampling):
            made = policy(system.states, settable=system.settable)
            runs = [simulate(made, system, HORIZON, seed=100 * instance + run) for run in range(RUNS)]
            regrets[made.name] += [run.regret for run in runs]
    bound = theory.minimax_lower_bound(N, K, HORIZON)
    assert min(np.mean(found) for found in regrets.values()) >= bound
    for name, like in (("thompson", "ucb"), ("screening", "moss")):
        found, without = regrets[name], regrets[like]
        error = np.hypot(np.std(found), np.std(without)) / np.sqrt(len(without))
        assert 4 * error < 0.25 * np.mean(without)  # else the next line would show little
        assert abs(np.mean(found) - np.mean(without)) <= 4 * error


@pytest.mark.parametrize("family", FAMILIES)
def test_cn_ucb_says_why_it_asks_nothing(family: Callable[..., CausalSystem]) -> None:
    system = family(N, K, instance=3, horizon=HORIZON)
    graph = system.essential_graph()
    reward_gap, effect_gap = system.effective_gaps(graph)
    policy = CNUCB(
        graph,
        system.states,
        system.marginals(),
        reward_gap=reward_gap,
        effect_gap=effect_gap,
        evidence="sequential",
        settable=system.settable,
    )
    run = simulate(policy, system, HORIZON, seed=0)
    assert "gap is 0" in str(run.fallback)
    assert run.story is not None
    assert run.story.questions == ()
