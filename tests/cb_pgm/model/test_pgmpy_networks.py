"""A system's pgmpy network answers as the system does, by pgmpy's own inference and sampling."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pgmpy.inference import VariableElimination
from pgmpy.models import DiscreteBayesianNetwork
from pgmpy.sampling import BayesianModelSampling

from cb_pgm import CausalSystem, CausalSystemError, instances
from cb_pgm.model.discrete_model import DiscreteModel, Reward

REWARDS = {
    "asia": "dysp=yes",
    "cancer": "Dyspnoea=True",
    "earthquake": "MaryCalls=True",
    "survey": "T=car",
    "sachs": "Akt=LOW",
    "child": "CO2Report=<7.5",
    "insurance": "PropCost=Thousand",
    "alarm": "CVP=NORMAL",
}
FALSE_ALARM = 1e-9  # probability of failing by chance, of each test as a whole


def by_inference(network: DiscreteBayesianNetwork, node: str) -> np.ndarray:
    found = VariableElimination(network).query([node], show_progress=False)
    return np.asarray(found.values)


def samples_agree(
    system: CausalSystem, network: DiscreteBayesianNetwork, do: dict[str, str], rows: int
) -> None:
    """Every marginal frequency, the reward's too, of pgmpy's rows and ours within Bernstein's bounds."""
    theirs = BayesianModelSampling(network).forward_sample(rows, seed=1, show_progress=False)
    ours = system.sample(do, rows, np.random.default_rng(1))
    checks = sum(map(len, system.states.values())) + 1
    log = math.log(4 * checks / FALSE_ALARM)
    columns = dict(zip(system.states, ours.codes.T, strict=True))
    pairs = [
        (exact, (theirs[name] == state).mean(), (columns[name] == code).mean())
        for name, states in system.states.items()
        for exact, (code, state) in zip(
            system.interventional_distribution(name, do), enumerate(states), strict=True
        )
    ]
    pairs.append((system.mean_reward(do), (theirs[system.reward_node] == "1").mean(), ours.rewards.mean()))
    for exact, *frequencies in pairs:
        tolerance = math.sqrt(2 * exact * (1 - exact) * log / rows) + 2 * log / (3 * rows)
        assert all(abs(frequency - exact) <= tolerance for frequency in frequencies)


@pytest.mark.parametrize("name", REWARDS)
def test_variable_elimination_in_the_network_under_do_equals_the_arm_means(name: str) -> None:
    """All arms of the small networks, 25 of those of insurance and alarm; 1 to 5 s each."""
    system = CausalSystem.from_bif(f"data/{name}.bif", REWARDS[name])
    means = system.arm_means()
    arms = list(means)
    for place in np.random.default_rng(0).permutation(len(arms))[: 25 if len(arms) > 60 else None]:
        variable, state = arms[place]
        network = system.network(do={variable: state})
        assert not network.get_parents(variable)
        assert by_inference(network, "reward")[1] == pytest.approx(means[arms[place]], abs=1e-9)
    assert by_inference(system.network(), "reward")[1] == pytest.approx(system.mean_reward(), abs=1e-9)


@pytest.mark.parametrize("name", REWARDS)
def test_forward_samples_of_the_network_under_do_are_those_of_the_system(name: str) -> None:
    """20,000 rows of each kind, plain and with every third variable set to its last state."""
    system = CausalSystem.from_bif(f"data/{name}.bif", REWARDS[name])
    for do in ({}, {variable: states[-1] for variable, states in list(system.states.items())[::3]}):
        samples_agree(system, system.network(do=do), do, 20_000)


def test_several_variables_set_at_once() -> None:
    system = CausalSystem.from_bif("data/sachs.bif", "Akt=LOW")
    do = {"PKA": "HIGH", "Erk": "LOW", "Raf": "AVG"}
    network = system.network(do=do)
    assert by_inference(network, "reward")[1] == pytest.approx(system.mean_reward(do), abs=1e-9)
    assert by_inference(network, "PKA").tolist() == [0.0, 0.0, 1.0]
    for target in ("Mek", "Jnk"):
        exact = system.interventional_distribution(target, do)
        assert by_inference(network, target) == pytest.approx(exact, abs=1e-9)


def test_the_network_is_the_callers_own() -> None:
    system = CausalSystem.from_bif("data/asia.bif", "dysp=yes")
    system.network(do={"smoke": "yes"}).remove_node("lung")
    assert set(system.network().nodes) == {*system.states, "reward"}
    assert system.network().check_model()
    assert len(system.network().edges) == 8


def test_a_gaussian_reward_is_left_out_and_names_do_not_clash() -> None:
    assert set(instances.tree(3, seed=0).network().nodes) == {"X1", "X2", "X3"}
    half = np.array([0.5, 0.5])
    model = DiscreteModel({"reward": ("a", "b"), "reward_": ("a", "b")}, ((), ()), (half, half))
    system = CausalSystem.from_model(model, Reward((1,), np.array([0.2, 0.7]), None))
    assert system.reward_node == "reward__"
    network = system.network(do={"reward_": "b"})
    assert by_inference(network, "reward__")[1] == pytest.approx(0.7)


def test_a_reward_without_parents_is_a_root() -> None:
    model = DiscreteModel({"X": ("a", "b")}, ((),), (np.array([0.5, 0.5]),))
    system = CausalSystem.from_model(model, Reward((), np.array(0.3), None))
    assert by_inference(system.network(do={"X": "a"}), "reward")[1] == pytest.approx(0.3)


def test_an_unknown_variable_or_state_is_refused_and_the_reward_cannot_be_set() -> None:
    system = CausalSystem.from_bif("data/asia.bif", "dysp=yes")
    for do, message in (
        ({"smok": "yes"}, "did you mean 'smoke'"),
        ({"smoke": "maybe"}, "state of 'smoke'"),
        ({"reward": "1"}, "found 'reward'"),
    ):
        with pytest.raises(CausalSystemError, match=message):
            system.network(do=do)
