"""On the families of Theorems 4 and 5 nobody gains over UCB, and screening loses nothing there."""

from collections.abc import Callable

import numpy as np
import pytest

from cb_pgm import CNUCB, MOSS, UCB, CausalSystem, ScreeningUCB, ThompsonSampling, instances, simulate, theory

N, K, HORIZON = 3, 2, 2000
RUNS = 4
FAMILIES = [instances.lower_bound_effect_gap, instances.lower_bound_reward_gap]


@pytest.mark.parametrize("family", FAMILIES)
def test_screening_and_thompson_sampling_lose_as_much_as_ucb(family: Callable[..., CausalSystem]) -> None:
    """All 6 instances, 4 runs each: means equal UCB's within 4 standard errors, a tenth of it; 2 s.

    And no mean is below the minimax lower bound, since the instances are the ones that prove it.
    """
    regrets: dict[str, list[float]] = {"ucb": [], "screening": [], "thompson": []}
    for instance in range(1, N * K + 1):
        system = family(N, K, instance=instance, horizon=HORIZON)
        for policy in (UCB, ScreeningUCB, ThompsonSampling):
            made = policy(system.states, settable=system.settable)
            runs = [simulate(made, system, HORIZON, seed=100 * instance + run) for run in range(RUNS)]
            regrets[made.name] += [run.regret for run in runs]
    ucb = np.array(regrets.pop("ucb"))
    bound = theory.minimax_lower_bound(N, K, HORIZON)
    assert ucb.mean() >= bound
    for found in regrets.values():
        error = np.hypot(np.std(found), np.std(ucb)) / np.sqrt(len(ucb))
        assert 4 * error < 0.15 * ucb.mean()  # else the next line would show little
        assert abs(np.mean(found) - ucb.mean()) <= 4 * error
        assert np.mean(found) >= bound


@pytest.mark.parametrize("family", FAMILIES)
def test_cn_ucb_says_why_it_plays_all_arms(family: Callable[..., CausalSystem]) -> None:
    system = family(N, K, instance=3, horizon=HORIZON)
    graph = system.essential_graph()
    reward_gap, effect_gap = system.effective_gaps(graph)
    policy = CNUCB(
        graph,
        system.states,
        system.marginals(),
        reward_gap=reward_gap,
        effect_gap=effect_gap,
        settable=system.settable,
    )
    run, moss = (
        simulate(one, system, HORIZON, seed=0)
        for one in (policy, MOSS(system.states, settable=system.settable))
    )
    assert "gap is 0" in str(run.fallback)
    assert run.regret == moss.regret
