"""The POMIS oracle: its diagram of a system, its arms where not all can be set, and worlds that need it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cb_pgm import CausalSystem, Intervention, PolicyError, instances, simulate
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.policies.baselines.pomis import POMISBandit, diagram_of_system, pomis_arms
from cb_pgm.policies.index_policies import MOSS
from cb_pgm.search.intervention_sets import CausalDiagram

BITS = ("0", "1")


def _instrument() -> CausalSystem:
    """Z → X → R with a hidden fair U behind X and R: X = Z ⊕ U, and R is mostly 1 where X ⊕ U is."""
    fair = np.array([0.5, 0.5])
    parity = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    model = DiscreteModel(dict.fromkeys("ZXU", BITS), ((), (0, 2), ()), (fair, parity, fair))
    return CausalSystem.from_model(
        model, Reward((1, 2), np.array([[0.1, 0.9], [0.9, 0.1]]), None), hidden="U"
    )


def _random_system(seed: int) -> CausalSystem:
    """Four observed and two hidden variables with random edges and tables; a reward of up to three causes."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(6)
    parents: list[tuple[int, ...]] = [()] * 6
    for place, v in enumerate(order):
        parents[v] = tuple(sorted(int(u) for u in order[:place] if rng.random() < 0.45))
    tables = tuple(rng.dirichlet([0.3, 0.3], size=(2,) * len(above)) for above in parents)
    causes = tuple(sorted(int(v) for v in rng.choice(6, 3, replace=False)))
    model = DiscreteModel(dict.fromkeys("ABCDUV", BITS), tuple(parents), tables)
    return CausalSystem.from_model(model, Reward(causes, rng.random((2, 2, 2)), None), hidden=("U", "V"))


def _all_interventions(settable: dict[str, tuple[str, ...]]) -> list[Intervention]:
    choices = itertools.product(*([None, *states] for states in settable.values()))
    return [
        Intervention({name: state for name, state in zip(settable, chosen, strict=True) if state is not None})
        for chosen in choices
    ]


class TestArms:
    def test_the_diagram_of_a_proxy(self) -> None:
        system = instances.proxy(6, seed=0)
        diagram = diagram_of_system(system)
        moved = diagram.spouses[system.reward_node]
        assert len(moved) == 1
        assert diagram.parents[system.reward_node] == set(system.reward_parents)
        assert set(diagram.parents) == {*system.states, system.reward_node}

    @pytest.mark.parametrize("seed", range(12))
    def test_a_best_intervention_is_among_them_whatever_can_be_set(self, seed: int) -> None:
        """Exact means of all interventions: with everything settable, half of it, or single states of it."""
        system = _random_system(seed)
        diagram, reward = diagram_of_system(system), system.reward_node
        for settable in (
            dict(system.states),
            {"A": BITS, "C": BITS},
            {"A": ("0",), "B": BITS, "C": ("1",)},
            {"D": ("1",)},
        ):
            arms = pomis_arms(diagram, reward, system.states, settable)
            assert set(arms) <= set(_all_interventions(settable))
            best = max(system.mean_reward(arm) for arm in _all_interventions(settable))
            assert max(system.mean_reward(arm) for arm in arms) == pytest.approx(best, abs=1e-9)

    def test_refuses_too_many(self) -> None:
        names = [f"X{v}" for v in range(20)]
        diagram = CausalDiagram.of([*names, "R"], [(name, "R") for name in names])
        with pytest.raises(PolicyError, match="at most 200,000 interventions"):
            pomis_arms(diagram, "R", dict.fromkeys(names, BITS), dict.fromkeys(names, BITS))
        with pytest.raises(PolicyError, match="found 20"):
            pomis_arms(diagram, "R", dict.fromkeys(names, BITS), dict.fromkeys(names, ("0",)))

    def test_refuses_another_diagram(self) -> None:
        with pytest.raises(PolicyError, match="'R'"):
            POMISBandit({"A": BITS}, CausalDiagram.of("AB", []), "R")


class TestPOMISBandit:
    def test_the_instrument_is_set_not_the_cause(self) -> None:
        """Setting Z to 1 wins .9 and setting X wins .5; 3,000 rounds, with X alone settable it plays X."""
        system = _instrument()
        policy = POMISBandit(system.states, diagram_of_system(system), system.reward_node, noise_scale=0.5)
        assert policy.intervention_sets == (("Z",), ("X",))
        run = simulate(policy, system, 3000, seed=0)
        assert run.best_arm is not None
        assert run.best_arm.intervention == {"Z": "1"}
        assert run.regret < 150
        only_x = POMISBandit(
            system.states, diagram_of_system(system), system.reward_node, settable={"X": BITS}
        )
        assert only_x.intervention_sets == ((), ("X",))

    def test_without_hidden_causes_it_is_moss_on_the_parents_arms(self) -> None:
        system = instances.tree(8, 2, n_parents=2, seed=0)
        policy = POMISBandit(system.states, diagram_of_system(system), system.reward_node)
        assert policy.intervention_sets == (system.reward_parents,)

    def test_fewer_arms_lose_less(self) -> None:
        """A proxy world of 20 variables, 4,000 rounds: less than half of the regret of MOSS on all arms."""
        system = instances.proxy(20, seed=1)
        told = POMISBandit(system.states, diagram_of_system(system), system.reward_node, noise_scale=0.5)
        plain = MOSS(system.states, noise_scale=0.5)
        assert simulate(told, system, 4000, 0).regret < simulate(plain, system, 4000, 0).regret / 2
