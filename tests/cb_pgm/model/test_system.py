"""What a causal system takes, refuses, says of itself, and how hard it is to learn against."""

from __future__ import annotations

import pickle
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from pgmpy.factors.discrete import TabularCPD
from pgmpy.models import DiscreteBayesianNetwork
from pgmpy.readwrite import BIFReader

from cb_pgm import CausalSystem, CausalSystemError, Intervention
from cb_pgm.model.discrete_model import DiscreteModel
from discovery import EssentialGraph


def sprinkler() -> DiscreteBayesianNetwork:
    """Rain → Sprinkler, and both → Grass, whose table names them in another order than the graph."""
    network = DiscreteBayesianNetwork([("Rain", "Sprinkler"), ("Sprinkler", "Grass"), ("Rain", "Grass")])
    rain, sprinkler, grass = ["no", "yes"], ["off", "on"], ["dry", "wet"]
    network.add_cpds(
        TabularCPD("Rain", 2, [[0.8], [0.2]], state_names={"Rain": rain}),
        TabularCPD(
            "Sprinkler", 2, [[0.6, 0.99], [0.4, 0.01]], ["Rain"], [2], {"Sprinkler": sprinkler, "Rain": rain}
        ),
        TabularCPD(
            "Grass",
            2,
            [[1.0, 0.2, 0.1, 0.01], [0.0, 0.8, 0.9, 0.99]],
            ["Sprinkler", "Rain"],
            [2, 2],
            {"Grass": grass, "Sprinkler": sprinkler, "Rain": rain},
        ),
    )
    return network


ZERO_ONE, ZERO_TWO = {"no": 0.0, "yes": 1.0}, {"no": 0.0, "yes": 2.0}


@cache
def real_network(name: str) -> DiscreteBayesianNetwork:
    return BIFReader(f"data/{name}.bif").get_model()


def coin(state_names: list[object], table: list[list[float]] | None = None) -> DiscreteBayesianNetwork:
    network = DiscreteBayesianNetwork()
    network.add_node("Coin")
    network.add_cpds(TabularCPD("Coin", 2, table or [[0.5], [0.5]], state_names={"Coin": state_names}))
    return network


# -- the two forms -------------------------------------------------------------------------------------------


def test_a_leafs_state_as_the_reward() -> None:
    system = CausalSystem(sprinkler(), reward="Grass=wet")
    assert system.states == {"Rain": ("no", "yes"), "Sprinkler": ("off", "on")}
    assert system.reward_parents == ("Rain", "Sprinkler")
    assert system.noise_scale == 0.5
    assert list(system.dag.edges) == [("Rain", "Sprinkler")]
    for rain, on, wet in (("yes", "on", 0.99), ("no", "on", 0.9), ("yes", "off", 0.8), ("no", "off", 0.0)):
        assert system.mean_reward({"Rain": rain, "Sprinkler": on}) == pytest.approx(wet)
    assert system.mean_reward({"Sprinkler": "on"}) == pytest.approx(0.8 * 0.9 + 0.2 * 0.99)
    assert system.mean_reward({"Rain": "yes"}) == pytest.approx(0.99 * 0.8 + 0.01 * 0.99)


def test_a_mean_for_each_state_of_a_variable() -> None:
    system = CausalSystem(
        sprinkler(), reward_variable="Grass", reward_means={"dry": -1.0, "wet": 3.0}, noise=1.5
    )
    assert tuple(system.states) == ("Rain", "Sprinkler", "Grass")
    assert system.reward_parents == ("Grass",)
    assert system.mean_reward({"Grass": "wet"}) == pytest.approx(3)
    assert system.noise_scale == pytest.approx(2.5)  # √(1.5² + (3 − −1)²/4)
    assert system.conditional_noise_scale == 1.5


def test_a_mean_for_each_joint_state_in_the_order_written() -> None:
    means = {("wet", "no"): 0.1, ("wet", "yes"): 0.2, ("dry", "no"): 0.3, ("dry", "yes"): 0.4}
    system = CausalSystem(
        sprinkler(), reward_variable=("Grass", "Rain"), reward_means=means, noise="bernoulli"
    )
    assert system.reward_parents == ("Rain", "Grass")  # in variable order
    for (grass, rain), mean in means.items():
        assert system.mean_reward({"Grass": grass, "Rain": rain}) == pytest.approx(mean)
    assert system.noise_scale == 0.5


def test_a_bif_file_keeps_its_order_of_nodes_and_states() -> None:
    system = CausalSystem.from_bif("data/child.bif", reward="CO2Report=<7.5")
    assert list(system.states) == [
        node for node in BIFReader("data/child.bif").variable_names if node != "CO2Report"
    ]
    assert system.states["CO2"] == ("Normal", "Low", "High")
    by_means = CausalSystem.from_bif(
        Path("data/cancer.bif"),
        reward_variable="Xray",
        reward_means={"positive": 0, "negative": 1},
        noise=0.0,
    )
    by_leaf = CausalSystem.from_bif("data/cancer.bif", reward="Xray=negative")
    assert by_means.mean_reward({"Cancer": "True"}) == pytest.approx(by_leaf.mean_reward({"Cancer": "True"}))


def test_states_that_are_not_text_become_text() -> None:
    system = CausalSystem(coin([0, 1]), reward_variable="Coin", reward_means={0: 0.25, 1: 0.75})
    assert system.states == {"Coin": ("0", "1")}
    assert system.mean_reward({"Coin": "1"}) == pytest.approx(0.75)
    with pytest.raises(CausalSystemError, match="'1' twice"):
        CausalSystem(coin([1, "1"]), reward_variable="Coin", reward_means={1: 0.25})


def test_a_systems_network_gives_the_same_system() -> None:
    system = CausalSystem(sprinkler(), reward="Grass=wet")
    again = CausalSystem(system.network(), reward="reward=1")
    assert again.states == system.states
    assert all(np.allclose(a, b) for a, b in zip(again.model.tables, system.model.tables, strict=True))
    assert np.allclose(again.reward.means, system.reward.means)


def test_a_system_can_be_sent_to_another_process() -> None:
    system = CausalSystem(sprinkler(), reward="Grass=wet")
    system.sample({}, 1, np.random.default_rng(0))
    again = pickle.loads(pickle.dumps(system))
    assert again.arm_means() == system.arm_means()
    seen, once_more = (one.sample({}, 50, np.random.default_rng(0)) for one in (system, again))
    assert np.array_equal(seen.codes, once_more.codes)


# -- what is refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reward", "message"),
    [
        ("Rain=yes", r"leaf .*'Rain' has children \(Sprinkler and Grass\)"),
        ("Gras=wet", r"found 'Gras': did you mean 'Grass'\?"),
        ("grass=wet", r"did you mean 'Grass'\?"),
        ("Grass=Wet", r"state of 'Grass' but found 'Wet': did you mean 'wet'\?"),
        ("Grass=blue", r"choose dry or wet"),
        ("Grass", "of the form node=state but found 'Grass'"),
    ],
)
def test_a_reward_that_cannot_be_is_refused(reward: str, message: str) -> None:
    with pytest.raises(CausalSystemError, match=message):
        CausalSystem(sprinkler(), reward=reward)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "reward="),
        (
            {"reward": "Grass=wet", "reward_variable": "Rain", "reward_means": {"no": 0, "yes": 1}},
            "another mix",
        ),
        ({"reward_variable": "Rain"}, "another mix"),
        ({"reward_variable": "Rian", "reward_means": {}}, r"did you mean 'Rain'\?"),
        ({"reward_variable": "Rain", "reward_means": {"no": 0.0}}, "none for Rain=yes"),
        ({"reward_variable": "Rain", "reward_means": {"no": 0.0, "yess": 1.0}}, r"did you mean 'yes'\?"),
        ({"reward_variable": ("Rain", "Rain"), "reward_means": {}}, "twice"),
        ({"reward_variable": ("Rain", "Grass"), "reward_means": {"no": 1.0}}, "states of Rain and Grass"),
        (
            {"reward_variable": "Rain", "reward_means": {"no": 0, "yes": 2}, "noise": "bernoulli"},
            r"in \[0, 1\]",
        ),
        ({"reward_variable": "Rain", "reward_means": ZERO_ONE, "noise": "gauss"}, "'gauss'"),
        ({"reward_variable": "Rain", "reward_means": ZERO_ONE, "noise": -1.0}, "found -1"),
        ({"reward_variable": "Rain", "reward_means": {"no": 0, "yes": float("inf")}}, "finite"),
        ({"reward": "Grass=wet", "settable": {"Grass": ["wet"]}}, "settable but found 'Grass'"),
        ({"reward": "Grass=wet", "settable": {"Rain": ["maybe"]}}, "'maybe'"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(CausalSystemError, match=message):
        CausalSystem(sprinkler(), **options)  # type: ignore[arg-type]


def test_tables_that_are_not_probabilities_are_refused() -> None:
    with pytest.raises(CausalSystemError, match="Coin is not equal to 1"):
        CausalSystem(coin(["no", "yes"], [[0.5], [0.4]]), reward_variable="Coin", reward_means=ZERO_ONE)
    for table in ([0.5, 0.49], [1.2, -0.2], [0.5, np.nan]):
        with pytest.raises(CausalSystemError, match="sum to 1 in every row of the table of 'X'"):
            DiscreteModel({"X": ("a", "b")}, ((),), (np.array(table),))
    with pytest.raises(CausalSystemError, match="cycle among or above X and Y"):
        DiscreteModel({"X": ("a",), "Y": ("a",)}, ((1,), (0,)), (np.ones((1, 1)), np.ones((1, 1))))
    with pytest.raises(CausalSystemError, match=r"shape \(2, 1\) .* found \(1, 1\)"):
        DiscreteModel({"X": ("a", "b"), "Y": ("a",)}, ((), (0,)), (np.full(2, 0.5), np.ones((1, 1))))


def test_a_network_without_tables_or_variables_is_refused() -> None:
    with pytest.raises(CausalSystemError, match="none for Rain"):
        CausalSystem(DiscreteBayesianNetwork([("Rain", "Grass")]), reward="Grass=wet")
    with pytest.raises(CausalSystemError, match="besides the reward"):
        CausalSystem(coin(["no", "yes"]), reward="Coin=yes")


def test_rounded_tables_are_scaled_to_sum_to_one() -> None:
    system = CausalSystem(
        coin(["a", "b"], [[0.3333], [0.6666]]), reward_variable="Coin", reward_means={"a": 0.0, "b": 1.0}
    )
    assert system.marginals().probabilities["Coin"].sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("content", ["", "no network at all", "network x { }\nvariable a {", "\x00\x01"])
def test_a_file_that_is_not_bif_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "broken.bif"
    path.write_text(content)
    with pytest.raises(CausalSystemError, match=r"broken\.bif") as refusal:
        CausalSystem.from_bif(path, reward="a=b")
    assert "\n" not in str(refusal.value)


def test_a_missing_file_is_refused() -> None:
    with pytest.raises(CausalSystemError, match="nowhere"):
        CausalSystem.from_bif("nowhere.bif", reward="a=b")


# -- arms ----------------------------------------------------------------------------------------------------


def test_arms_are_the_settable_states_in_variable_order() -> None:
    system = CausalSystem(
        sprinkler(), reward="Grass=wet", settable={"Sprinkler": ["on", "off"], "Rain": ["yes"]}
    )
    assert system.settable == {"Rain": ("yes",), "Sprinkler": ("off", "on")}
    assert list(system.arm_means()) == [("Rain", "yes"), ("Sprinkler", "off"), ("Sprinkler", "on")]
    arm, mean = system.best_arm()
    assert arm == {"Sprinkler": "on"}
    assert mean == pytest.approx(0.918)
    assert isinstance(arm, Intervention)


@pytest.mark.parametrize("settable", [{}, {"Rain": ["no"]}])
def test_doing_nothing_is_best_where_all_else_is_worse(settable: dict[str, list[str]]) -> None:
    system = CausalSystem(sprinkler(), reward="Grass=wet", settable=settable)
    assert system.best_arm() == (Intervention(), system.mean_reward())


def test_doing_nothing_is_best_where_nothing_is_better() -> None:
    system = CausalSystem(sprinkler(), reward_variable="Grass", reward_means={"dry": 0.3, "wet": 0.3})
    assert system.best_arm()[0] == {}


def test_marginals_and_interventional_distributions() -> None:
    system = CausalSystem(sprinkler(), reward="Grass=wet")
    marginals = system.marginals()
    assert marginals.rows is None
    assert marginals.reward_mean is None  # what is given beforehand is P(X) alone
    assert marginals.probabilities["Sprinkler"] == pytest.approx(
        [0.8 * 0.6 + 0.2 * 0.99, 0.8 * 0.4 + 0.2 * 0.01]
    )
    assert system.interventional_distribution("Rain", {"Sprinkler": "on"}) == pytest.approx([0.8, 0.2])
    assert system.interventional_distribution("Sprinkler", {"Rain": "yes"}) == pytest.approx([0.99, 0.01])
    with pytest.raises(CausalSystemError, match="Sprinkler"):
        system.interventional_distribution("Sprinkle")


# -- gaps ----------------------------------------------------------------------------------------------------

GAPS = [
    ("cancer", "Xray=negative", "Cancer", (0.0122, 0.0174), (0.6919, 1)),
    ("earthquake", "MaryCalls=True", "Alarm", (0.1935, 0.2805), (0.6789, 1)),
    ("asia", "xray=yes", "either", (0.0348, 0.0396), (0.8697, 1)),
    ("child", "GruntingReport=no", "Grunting", (0.0118, 0.0499), (0.5435, 1)),
    ("child", "CO2Report=<7.5", "CO2", (0.0082, 0.0499), (0.0082, 0.1341)),
    ("insurance", "ILiCost=Thousand", "Accident", (0.0026, 0), (0.1688, 1)),
    ("insurance", "OtherCar=False", "SocioEcon", (0.0160, 0), (0.0160, 0)),
    ("alarm", "CVP=LOW", "LVEDVOLUME", (0.0481, 0.0046), (0.8357, 1)),
    ("alarm", "HISTORY=TRUE", "LVFAILURE", (0.8455, 0.0046), (0.8455, 1)),
]


@pytest.mark.parametrize(("name", "reward", "parent", "printed", "effective"), GAPS)
def test_gaps_of_real_networks_to_four_digits(
    name: str, reward: str, parent: str, printed: tuple[float, float], effective: tuple[float, float]
) -> None:
    system = CausalSystem(real_network(name), reward=reward)
    assert system.reward_parents == (parent,)
    assert (system.reward_gap(), system.effect_gap()) == pytest.approx(printed, abs=5e-5)
    assert system.effective_gaps(system.essential_graph()) == pytest.approx(effective, abs=5e-5)
    zeros = [
        a == 0 for a, b in zip((system.reward_gap(), system.effect_gap()), printed, strict=True) if b == 0
    ]
    assert all(zeros)


def chain_system(settable: dict[str, tuple[str, str]] | None = None) -> CausalSystem:
    """A → B → C ← D → E, of which A − B → C ← D − E is seen; the reward's mean is .2 or .8 by B's state."""
    network = DiscreteBayesianNetwork([("A", "B"), ("B", "C"), ("D", "C"), ("D", "E")])
    states = {name: ["0", "1"] for name in "ABCDE"}
    collider = [[0.9, 0.4, 0.3, 0.1], [0.1, 0.6, 0.7, 0.9]]
    network.add_cpds(
        TabularCPD("A", 2, [[0.5], [0.5]], state_names={"A": ["0", "1"]}),
        TabularCPD("B", 2, [[0.9, 0.2], [0.1, 0.8]], ["A"], [2], {n: states[n] for n in "AB"}),
        TabularCPD(
            "C",
            2,
            collider,
            ["B", "D"],
            [2, 2],
            {n: states[n] for n in "BCD"},
        ),
        TabularCPD("D", 2, [[0.4], [0.6]], state_names={"D": ["0", "1"]}),
        TabularCPD("E", 2, [[0.55, 0.5], [0.45, 0.5]], ["D"], [2], {n: states[n] for n in "DE"}),
    )
    return CausalSystem(
        network, reward_variable="B", reward_means={"0": 0.2, "1": 0.8}, noise="bernoulli", settable=settable
    )


def test_effective_gaps_are_those_of_the_parents_component() -> None:
    """Component {A, B}: A moves B by .35, the reward by .6 · .35; the weak edge D → E (.03) plays no part."""
    system = chain_system()
    assert system.effect_gap() == pytest.approx(0.03)
    assert system.effective_gaps(system.essential_graph()) == pytest.approx((0.21, 0.35))


def test_effective_gaps_follow_the_graph_they_are_asked_for() -> None:
    """With every arrow known nothing but the parent itself has to be seen; a wrong edge isn't a true edge."""
    system = chain_system()
    known = EssentialGraph("ABCDE", [("A", "B"), ("C", "B"), ("D", "E"), ("C", "E")], [])
    assert system.effective_gaps(known) == pytest.approx(
        (0.33, 1)
    )  # B's mean is .45, so setting it moves by up to .6 · .55
    wrong = EssentialGraph("ABCDE", [], [("A", "C"), ("B", "E")])
    assert system.effective_gaps(wrong) == pytest.approx((0.33, 1))


def test_only_settable_states_count_as_effective() -> None:
    states = ("0", "1")
    everything = dict.fromkeys("ABCDE", states)
    system = chain_system({**everything, "B": ("1",)})
    assert system.effective_gaps(system.essential_graph())[0] == pytest.approx(0.21)  # A's, as before
    system = chain_system({**everything, "A": ("0",), "B": ("0",)})
    # do(A = 0) moves B by .45 − .1 and the reward by .6 times that; do(B = 0) moves it by .6 · .45.
    assert system.effective_gaps(system.essential_graph()) == pytest.approx((0.21, 0.35))


def test_with_a_variable_downstream_that_cannot_be_set_upstream_counts_too() -> None:
    """asia dysp: bronc and either; xray is downstream of either, smoke's component upstream."""
    every = CausalSystem(real_network("asia"), reward="xray=yes")
    graph = every.essential_graph()
    effective = every.effective_gaps(graph)
    without = {name: states for name, states in every.states.items() if name != "dysp"}
    partly = CausalSystem(real_network("asia"), reward="xray=yes", settable=without)
    assert effective == pytest.approx((0.8697, 1), abs=5e-5)
    reward_gap, effect_gap = partly.effective_gaps(graph)
    assert reward_gap == pytest.approx(partly.reward_gap())
    assert effect_gap < 1


def test_a_graph_over_other_variables_is_refused() -> None:
    with pytest.raises(CausalSystemError, match="'E' is in one of them alone"):
        chain_system().effective_gaps(EssentialGraph("ABCD", [], []))
