"""UCB+: its number of interventions, index, shared rows and phases by hand, and its own systems."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from cb_pgm import CausalSystem, Intervention, Observations, PolicyError, Pull, instances, simulate
from cb_pgm.policies.baselines.ucb_plus import UCBPlus, UnknownKUCBPlus
from cb_pgm.policies.index_policies import MOSS

STATES = {f"X{v}": ("0", "1", "2") for v in range(8)}


def _interventions(policy: UCBPlus) -> list[Intervention]:
    nothing, *arms = policy.fresh(np.random.default_rng(0))._shown.arms
    assert nothing == {}
    return arms


class TestUCBPlus:
    @pytest.mark.parametrize("k", [1, 2, 3])
    def test_the_number_of_interventions(self, k: int) -> None:
        """⌈vᵏ·C(n, k)/C(m, k)·ln √T⌉ of C(8, 3)·27 = 1,512, all different and of three variables."""
        policy = UCBPlus(STATES, n_parents=k, horizon=2000)
        arms = _interventions(policy)
        needed = 3**k * math.comb(8, k) / math.comb(3, k) * math.log(math.sqrt(2000))
        assert len(arms) == min(1512, math.ceil(needed))
        assert len(set(arms)) == len(arms)
        assert {len(arm) for arm in arms} == {3}

    def test_all_interventions_where_more_parents_than_variables_are_set(self) -> None:
        arms = _interventions(UCBPlus(STATES, n_parents=3, set_size=2, horizon=2000))
        assert len(set(arms)) == len(arms) == math.comb(8, 2) * 9

    def test_sets_of_variables_are_as_likely_as_they_have_interventions(self) -> None:
        """30 variables of two to four states: 3,000 drawn interventions, chances within 5 standard errors."""
        states = {f"X{v}": tuple("0123"[: 2 + v % 3]) for v in range(30)}
        policy = UCBPlus(states, n_parents=3, horizon=2000)
        drawn = list(itertools.islice(policy._random_order(np.random.default_rng(0)), 3000))
        assert len(set(drawn)) == 3000
        sizes = [len(values) for values in states.values()]
        every = list(itertools.combinations(range(30), 3))
        weights = np.array([math.prod(sizes[v] for v in chosen) for chosen in every], dtype=float)
        holds = np.array([0 in chosen for chosen in every])
        share = weights[holds].sum() / weights.sum()
        seen = np.mean(["X0" in arm for arm in drawn])
        assert abs(seen - share) < 5 * math.sqrt(share * (1 - share) / 3000)

    def test_index_and_shared_rows_by_hand(self) -> None:
        system = instances.random_tables(5, 2, seed=1)
        policy = UCBPlus(system.states, set_size=2, horizon=500, noise_scale=0.5)
        policy = policy.fresh(np.random.default_rng(0))
        arms, rng = list(policy._shown.arms), np.random.default_rng(1)
        names = list(system.states)
        seen: dict[Intervention, list[float]] = {arm: [] for arm in arms}
        for _ in range(120):
            pull = policy.ask()
            if all(seen.values()):
                width = 0.1 / math.comb(5, 2) * math.log(500)
                index = {arm: np.mean(seen[arm]) + math.sqrt(width / len(seen[arm])) for arm in arms}
                assert index[pull.intervention] == pytest.approx(max(index.values()), abs=1e-12)
            rows = system.sample(pull.intervention, 2, rng)
            policy.tell(pull, rows)
            for codes, reward in zip(rows.codes, rows.rewards, strict=True):
                shown = dict(zip(names, map(str, codes), strict=True))
                for arm in arms:
                    if (
                        pull.intervention == {}
                        if not arm
                        else all(shown[name] == state for name, state in arm.items())
                    ):
                        seen[arm].append(float(reward))

    def test_estimates_are_of_rows_in_which_the_intervention_was_made(self) -> None:
        policy = UCBPlus(STATES, horizon=2000).fresh(np.random.default_rng(0))
        first = policy.ask()
        policy.tell(first, Observations(np.zeros((3, 8), dtype=np.int16), np.ones(3)))
        assert [(arm, rows) for arm, rows, _ in policy.means()] == [(first.intervention, 3)]
        assert first.intervention == {}

    def test_an_unknown_horizon_adds_interventions(self) -> None:
        policy = UCBPlus(STATES).fresh(np.random.default_rng(0))
        before = policy._shown.arms
        assert len(before) == 1 + math.ceil(3 * 8 / 3 * math.log(1024) / 2)
        policy.tell(Pull(before[1], 5000), Observations(np.ones((5000, 8), dtype=np.int16), np.ones(5000)))
        assert policy._shown.arms[: len(before)] == before
        assert len(policy._shown.arms) == 1 + math.ceil(3 * 8 / 3 * math.log(8192) / 2)
        assert policy._shown.rows[: len(before)].sum() == 5000 * sum(
            set(arm.values()) == {"1"} for arm in before
        )

    def test_refuses_by_name(self) -> None:
        for setting in ({"set_size": 0}, {"horizon": 0}, {"n_parents": 0}):
            with pytest.raises(PolicyError, match=next(iter(setting))):
                UCBPlus(STATES, **setting)
        with pytest.raises(PolicyError, match="can be set"):
            UCBPlus(STATES, settable={})
        with pytest.raises(PolicyError, match="at most 1,000,000"):
            UCBPlus({f"X{v}": tuple("01234567") for v in range(60)}, n_parents=3)


class TestUnknownK:
    def test_phases(self) -> None:
        """T = 2,000: 1,024 rounds with 64 interventions, then 32 of them and a repeat; do() in both."""
        policy = UnknownKUCBPlus(STATES, horizon=2000).fresh(np.random.default_rng(0))
        rng, played = np.random.default_rng(1), []
        means: dict[Intervention, list[float]] = {}
        for _ in range(1024):
            pull = policy.ask()
            assert policy._repeats == []
            played.append(pull.intervention)
            reward = float(rng.random() < 0.2 + 0.6 * ("0" in pull.intervention.values()))
            means.setdefault(pull.intervention, []).append(reward)
            policy.tell(pull, Observations(np.zeros((1, 8), dtype=np.int16), np.array([reward])))
        assert len(set(played)) <= 65
        assert len(policy._repeats) == 1
        assert policy._repeats[0].played.sum() == 1024
        kept = {policy._made.arms[number] for number in policy._open}
        assert Intervention() in kept
        assert len(kept) == 33
        worst = min(np.mean(means[arm]) for arm in kept if arm in means and arm)
        assert all(np.mean(rewards) <= worst for arm, rewards in means.items() if arm not in kept)

    def test_a_repeat_is_a_pull_of_its_phase_and_counts_for_both(self) -> None:
        policy = UnknownKUCBPlus(STATES, horizon=2000).fresh(np.random.default_rng(0))
        rng = np.random.default_rng(1)
        repeats = 0
        for _ in range(1500):
            pull = policy.ask()
            before = [one.rows for one in policy._repeats]
            number, repeated = policy._made.position(pull.intervention), policy._repeated
            if repeated is not None:
                assert policy._repeats[repeated].played[number] > 0
                repeats += 1
            rows = policy._made.rows[number]
            policy.tell(
                pull, Observations(np.zeros((1, 8), dtype=np.int16), rng.integers(2, size=1).astype(float))
            )
            assert policy._made.rows[number] == rows + 1
            if repeated is not None:
                assert policy._repeats[repeated].rows == before[repeated] + 1
        assert repeats

    def test_an_unknown_horizon_begins_the_phases_again(self) -> None:
        policy = UnknownKUCBPlus(STATES).fresh(np.random.default_rng(0))
        rng = np.random.default_rng(1)
        for _ in range(1024):
            pull = policy.ask()
            policy.tell(pull, Observations(np.zeros((1, 8), dtype=np.int16), rng.random(1)))
        assert policy._horizon == 4096
        assert len(policy._open) == 65
        assert not policy._repeats


def _best_joint(system: CausalSystem, size: int) -> float:
    sets = itertools.combinations(system.states, size)
    return max(
        system.mean_reward(dict(zip(names, states, strict=True)))
        for names in sets
        for states in itertools.product(*(system.states[name] for name in names))
    )


def test_on_its_own_systems_it_beats_moss_over_single_variables() -> None:
    """Three systems of two parents, T = 2,000: less than half of the regret to the best three settings."""
    lost = {"ucb-plus": 0.0, "moss": 0.0}
    for seed in range(3):
        system = instances.random_tables(n_parents=2, seed=seed)
        extra = 2000 * (_best_joint(system, 3) - system.best_arm()[1])
        for policy in (
            UCBPlus(system.states, n_parents=2, horizon=2000),
            MOSS(system.states, noise_scale=0.5),
        ):
            lost[policy.name] += simulate(policy, system, 2000, seed).regret + extra
    assert lost["ucb-plus"] < lost["moss"] / 2
