"""The least regret and the fewest pulls to a name: closed forms, and that no oracle does better."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from cb_pgm import CausalBanditError, CausalSystem, CausalSystemError, instances, simulate
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.policies.baselines.oracle import OracleUCB
from cb_pgm.theory import graves_lai_constant, naming_floor, regret_floor


def one_cause(means: list[float], noise: float | None) -> CausalSystem:
    """A uniform variable that is the reward's parent."""
    k = len(means)
    model = DiscreteModel({"X": tuple(map(str, range(k)))}, ((),), (np.full(k, 1 / k),))
    return CausalSystem.from_model(model, Reward((0,), np.array(means), noise))


class TestConstant:
    @pytest.mark.parametrize(("n", "plain"), [(10, 296), (30, 601), (100, 1673)])
    def test_it_is_the_oracles_whatever_the_number_of_variables(self, n: int, plain: float) -> None:
        """On trees with means .1, .5, .9 and σ = 1: 2/.8 + 2/.4; without structure the mean of 20 trees."""
        systems = [instances.tree(n, seed=seed) for seed in range(20)]
        assert [graves_lai_constant(system) for system in systems] == pytest.approx([7.5] * 20)
        without = [graves_lai_constant(system, structure=False) for system in systems]
        gaps = 0.9 - np.array([systems[0].mean_reward(), *systems[0].arm_means().values()])
        assert without[0] == pytest.approx((2 / gaps[gaps > 1e-12]).sum())
        assert np.mean(without) == pytest.approx(plain, rel=0.05)

    def test_of_rewards_of_0_and_1(self) -> None:
        expected = sum(
            (0.9 - mean) / (mean * math.log(mean / 0.9) + (1 - mean) * math.log((1 - mean) / 0.1))
            for mean in (0.2, 0.5)
        )
        assert graves_lai_constant(one_cause([0.2, 0.9, 0.5], None)) == pytest.approx(expected)

    def test_nothing_to_learn_costs_nothing(self) -> None:
        for system in (one_cause([0.5, 0.5], None), one_cause([0.1, 0.9], 0.0)):
            assert graves_lai_constant(system) == 0
        assert regret_floor(one_cause([0.5, 0.5], 1.0), 1000) == 0

    def test_refuses_systems_of_which_it_is_not_known(self) -> None:
        for system, said in (
            (instances.many_parents(seed=0), "2 causes"),
            (instances.proxy(seed=0), "2 causes"),
            (CausalSystem.from_model(*_parts(one_cause([0.1, 0.9], 1.0)), settable={"X": ("0",)}), "'X'"),
        ):
            with pytest.raises(CausalSystemError, match=said):
                graves_lai_constant(system)
        with pytest.raises(CausalBanditError, match="horizon of at least 1"):
            regret_floor(one_cause([0.1, 0.9], 1.0), 0)


def _parts(system: CausalSystem) -> tuple[DiscreteModel, Reward]:
    return system.model, system.reward


class TestFloor:
    @pytest.mark.parametrize("horizon", [1000, 100_000])
    def test_it_is_the_fixed_point(self, horizon: int) -> None:
        """R = Σ_x max_g Δ_x·2σ²·kl(1 − 2R/(TΔ), 2R/(Tg))/(Δ_x + g)², each maximum found anew here."""
        floor = regret_floor(one_cause([0.1, 0.5, 0.9], 1.0), horizon)

        def nats(p: float, q: float) -> float:
            return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q)) if q < p else 0.0

        total = 0.0
        for gap in (0.4, 0.8):
            best = minimize_scalar(
                lambda g, gap=gap: (
                    -nats(1 - 2 * floor / (horizon * 0.4), 2 * floor / (horizon * g)) / (gap + g) ** 2
                ),
                bounds=(4 * floor / horizon, 0.8),
                method="bounded",
            )
            total -= gap * 2 * best.fun
        assert floor == pytest.approx(total, rel=1e-3)

    def test_it_grows_towards_the_constant(self) -> None:
        system = one_cause([0.1, 0.5, 0.9], 1.0)
        ratios = [regret_floor(system, 10**power) / math.log(10**power) for power in (3, 5, 8, 12)]
        assert ratios == sorted(ratios)
        assert ratios[-1] < graves_lai_constant(system)

    @pytest.mark.parametrize("noise", [1.0, None])
    def test_no_oracle_loses_less_in_all_neighbours(self, noise: float | None) -> None:
        """MOSS on the parent's arms, here and where another state is the best: 40 runs of 5,000 rounds."""
        means, horizon = [0.1, 0.5, 0.8], 5000
        lost = []
        for raised in (None, 0, 1):
            system = one_cause([0.9 if state == raised else mean for state, mean in enumerate(means)], noise)
            policy = OracleUCB(system.states, ["X"], noise_scale=0.5 if noise is None else noise)
            lost.append(np.mean([simulate(policy, system, horizon, seed).regret for seed in range(40)]))
        assert max(lost) > regret_floor(one_cause(means, noise), horizon) > 1


class TestNaming:
    @pytest.mark.parametrize(("n", "pulls"), [(10, 20), (100, 50), (1000, 79), (2, 0)])
    def test_by_fano(self, n: int, pulls: int) -> None:
        """((1−δ) log n − log 2) / ½ log(1 + range²/4σ²) for means of .1 to .9, σ = 1 and δ = .05."""
        assert round(naming_floor(n, 0.05, 0.1, 0.9, 1.0)) == pulls

    def test_of_rewards_of_0_and_1(self) -> None:
        """The capacity of the symmetric channel with means .1 and .9 is log 2 less the entropy of .1."""
        capacity = math.log(2) + 0.1 * math.log(0.1) + 0.9 * math.log(0.9)
        expected = (0.95 * math.log(100) - math.log(2)) / capacity
        assert naming_floor(100, 0.05, 0.1, 0.9, None) == pytest.approx(expected, rel=1e-6)

    def test_without_a_difference_nothing_is_ever_named(self) -> None:
        assert naming_floor(10, 0.05, 0.5, 0.5, 1.0) == math.inf
        assert naming_floor(10, 0.05, 0.1, 0.9, 0.0) == 0
        with pytest.raises(CausalBanditError, match="failure_prob inside"):
            naming_floor(10, 0.0, 0.1, 0.9, 1.0)
