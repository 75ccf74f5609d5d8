"""Hidden variables cause what they cause and appear nowhere; the observed graph is true or refused."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from pgmpy.inference import VariableElimination

from cb_pgm import CausalSystem, CausalSystemError, instances
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from discovery import EssentialGraph


def asia(*hidden: str) -> CausalSystem:
    return CausalSystem.from_bif("data/asia.bif", reward="dysp=yes", hidden=hidden)


def random_system(seed: int) -> CausalSystem:
    """Seven variables of 2 states with Dirichlet tables on a random DAG, one to three of them hidden."""
    rng = np.random.default_rng(seed)
    shape = instances.random_dag(7, n_states=2, expected_degree=2.5, n_parents=2, seed=rng)
    tables = tuple(rng.dirichlet(np.ones(2), size=table.shape[:-1]) for table in shape.model.tables)
    model = DiscreteModel(shape.model.states, shape.model.parents, tables)
    hidden = rng.choice(list(model.states), int(rng.integers(1, 4)), replace=False)
    reward = Reward(shape.reward.parents, rng.random(shape.reward.means.shape), None)
    return CausalSystem.from_model(model, reward, hidden=[str(name) for name in hidden])


def observed_joint(system: CausalSystem, held: dict[int, int]) -> np.ndarray:
    """P(observed variables | do(held)) by truncated factorisation; axes in the order of `states`."""
    model = system.model
    joint = np.zeros(model.cards)
    for codes in itertools.product(*map(range, model.cards)):
        probability = 1.0
        for v, code in enumerate(codes):
            own = model.tables[v][(*(codes[u] for u in model.parents[v]), code)]
            probability *= float(code == held[v]) if v in held else own
        joint[codes] = probability
    return joint.sum(axis=tuple(model.index[name] for name in system.hidden))


@pytest.mark.parametrize("hidden", [("smoke",), ("either",), ("lung", "tub", "asia")])
def test_nothing_that_a_learner_gets_shows_a_hidden_variable(hidden: tuple[str, ...]) -> None:
    """Arm means and rows are those of the system in which everything is seen, less the hidden columns."""
    every, system = asia(), asia(*hidden)
    seen = [name for name in every.states if name not in hidden]
    assert system.hidden == tuple(name for name in every.states if name in hidden)
    for listed in (system.states, system.settable, system.marginals().probabilities, system.dag.nodes):
        assert list(listed) == seen
    assert system.arm_means() == {arm: mean for arm, mean in every.arm_means().items() if arm[0] in seen}
    columns = [list(every.states).index(name) for name in seen]
    for do in ({}, {"bronc": "yes"}, {"bronc": "yes", "xray": "no"}):
        assert system.mean_reward(do) == every.mean_reward(do)
        ours, theirs = (one.sample(do, 500, np.random.default_rng(0)) for one in (system, every))
        assert np.array_equal(ours.codes, theirs.codes[:, columns])
        assert np.array_equal(ours.rewards, theirs.rewards)
    assert pickle.loads(pickle.dumps(system)).arm_means() == system.arm_means()


def test_a_hidden_variable_can_be_neither_set_nor_asked_for_and_no_error_lists_it() -> None:
    system, rng = asia("smoke"), np.random.default_rng(0)
    for refused in (
        lambda: system.sample({"smoke": "yes"}, 1, rng),
        lambda: system.mean_reward({"smoke": "yes"}),
        lambda: system.mean_reward({"bronc": "yes", "smoke": "yes"}),
        lambda: system.network(do={"smoke": "yes"}),
        lambda: system.interventional_distribution("smoke"),
        lambda: CausalSystem.from_bif(
            "data/asia.bif", reward="dysp=yes", hidden=["smoke"], settable={"smoke": ["yes"]}
        ),
    ):
        with pytest.raises(CausalSystemError, match="found 'smoke': choose asia, tub, lung, bronc"):
            refused()
    with pytest.raises(CausalSystemError, match=r"found 'lun': did you mean 'lung'\?"):
        system.sample({"lun": "yes"}, 1, rng)


def test_the_observed_graph_of_asia() -> None:
    """Hidden at the top, in between (`either` leads to xray and the reward), and as a common cause."""
    top = asia("asia")
    assert top.essential_graph() == EssentialGraph.from_dag(asia().dag.subgraph(top.states))
    between = asia("either")
    assert between.reward_parents == ("tub", "lung", "bronc")
    assert between.hidden_reward_parents == ("either",)
    assert set(between.dag.predecessors("xray")) == {"lung", "tub"}
    assert between.hidden_common_causes == {}
    common = asia("smoke")
    assert common.reward_parents == ("bronc", "either")
    assert common.hidden_reward_parents == ()
    assert common.hidden_common_causes == {"smoke": ("lung", "bronc")}
    with pytest.raises(CausalSystemError, match="'smoke', which causes lung and bronc") as refusal:
        common.essential_graph()
    assert "\n" not in str(refusal.value)
    assert not common.dag.has_edge("lung", "bronc")
    assert common.true_graph() is None
    assert top.true_graph() == top.essential_graph()
    assert (top.hidden_confounders, between.hidden_confounders, common.hidden_confounders) == (
        (),
        ("either",),
        ("smoke",),
    )


def test_without_a_true_graph_the_gaps_are_over_all_ancestors_and_edges() -> None:
    """Lung and bronc are caused by the hidden smoke; all observed variables but xray cause the reward."""
    common = asia("smoke")
    assert common.effective_gaps(None) == (common.reward_gap(), common.effect_gap())


@pytest.mark.parametrize("seed", range(40))
def test_without_a_common_cause_the_observed_rows_factorise_by_the_graph_under_any_intervention(
    seed: int,
) -> None:
    system = random_system(seed)
    if system.hidden_common_causes:
        with pytest.raises(CausalSystemError, match="at most one observed child"):
            system.essential_graph()
        return
    names = list(system.states)
    natural = observed_joint(system, {})
    rng = np.random.default_rng(seed)
    for size in (0, 1, 2):
        chosen = [str(name) for name in rng.choice(names, size, replace=False)]
        held = {system.model.index[name]: int(rng.integers(2)) for name in chosen}
        product = np.ones(natural.shape)
        for axis, name in enumerate(names):
            parents = [names.index(parent) for parent in system.dag.predecessors(name)]
            others = tuple(place for place in range(len(names)) if place not in (*parents, axis))
            family = natural.sum(axis=others, keepdims=True)
            table = family / family.sum(axis=axis, keepdims=True)
            if name in chosen:
                point = np.eye(2)[held[system.model.index[name]]]
                table = point.reshape([2 if place == axis else 1 for place in range(len(names))])
            product = product * table
        np.testing.assert_allclose(product, observed_joint(system, held), atol=1e-12)


@pytest.mark.parametrize("seed", range(15))
def test_means_and_effects_equal_pgmpys_inference_on_the_full_network(seed: int) -> None:
    system = random_system(seed)
    assert system.network().latents == set(system.hidden)
    for (variable, state), mean in system.arm_means().items():
        inference = VariableElimination(system.network(do={variable: state}))
        found = inference.query(["reward"], show_progress=False)
        assert found.values[1] == pytest.approx(mean, abs=1e-9)
    moves = []
    for cause, target in system.dag.edges:
        plain = system.interventional_distribution(target)
        shifted = [system.interventional_distribution(target, {cause: x}) for x in system.states[cause]]
        moves.append(max(np.abs(one - plain).max() for one in shifted))
    least = min(moves, default=1.0)
    assert system.effect_gap() == pytest.approx(least if least >= 1e-12 else 0.0, abs=1e-12)
    means, plain_mean = system.arm_means(), system.mean_reward()
    every = CausalSystem.from_model(system.model, system.reward)
    above = set(system.reward_parents)
    for parent in system.reward_parents:
        above |= {other for other in every.states if _leads_to(every, other, parent)}
    moved = [
        max(abs(means[name, x] - plain_mean) for x in states)
        for name, states in system.states.items()
        if name in above
    ]
    assert system.reward_gap() == pytest.approx(min(moved, default=1.0), abs=1e-11)


def _leads_to(system: CausalSystem, one: str, other: str) -> bool:
    model = system.model
    return bool(model.ancestry[model.index[other]] >> model.index[one] & 1)


def test_effective_gaps_are_over_the_observed_variables() -> None:
    """Z → U → reward, U → X: a search over Z − X has to see X's edge from Z; Z moves the reward by .32."""
    system = instances.confounded(seed=0)
    graph = system.essential_graph()
    assert set(graph.nodes) == {"X", "Z"}
    reward_gap, effect_gap = system.effective_gaps(graph)
    assert reward_gap == pytest.approx(0.32)
    assert effect_gap == pytest.approx(0.5 * (2 * 0.9 - 1) * (2 * 0.87 - 1))
    assert system.reward_gap() == pytest.approx(0.32)
    with pytest.raises(CausalSystemError, match="'U' is in one of them alone"):
        system.effective_gaps(EssentialGraph(["X", "Z", "U"], [], []))


def test_the_scatter_about_the_observed_parents_takes_in_what_hidden_ones_do() -> None:
    half = np.array([0.5, 0.5])
    model = DiscreteModel({"X": ("0", "1"), "U": ("0", "1")}, ((), ()), (half, half))
    means = np.array([[0.0, 1.0], [0.0, 8.0]])
    system = CausalSystem.from_model(model, Reward((0, 1), means, 3.0), hidden=["U"])
    assert system.conditional_noise_scale == pytest.approx(5)  # √(3² + (8/2)²)
    assert system.noise_scale == pytest.approx(5)
    assert CausalSystem.from_model(model, Reward((0, 1), means, 3.0)).conditional_noise_scale == 3


def test_hidden_variables_that_cannot_be_are_refused() -> None:
    assert asia("smoke").hidden == CausalSystem.from_bif("data/asia.bif", "dysp=yes", hidden="smoke").hidden
    with pytest.raises(CausalSystemError, match=r"hidden but found 'smok': did you mean 'smoke'\?"):
        asia("smok")
    with pytest.raises(CausalSystemError, match="hidden but found 'dysp'"):
        asia("dysp")
    with pytest.raises(CausalSystemError, match="at least one variable"):
        asia(*asia().states)
