"""Exact means, effects and distributions against truncated factorisation by hand and against pgmpy."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

from cb_pgm import CausalSystem, CausalSystemError, instances
from cb_pgm.model.contraction import contract, value_and_gradients
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.model.exact import ExactInference


def random_model(seed: int) -> tuple[DiscreteModel, Reward]:
    """A random network of up to 6 variables of 1 to 3 states, some deterministic, 0 to 3 reward parents."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    order = rng.permutation(n)
    cards = rng.integers(1, 4, n) if seed % 3 == 0 else rng.integers(2, 4, n)
    parents: list[tuple[int, ...]] = [()] * n
    for place, v in enumerate(order):
        above = [int(u) for u in order[:place] if rng.random() < 0.5]
        parents[v] = tuple(int(u) for u in rng.permutation(above))
    tables = []
    for v in range(n):
        table = rng.dirichlet(np.ones(cards[v]), size=[cards[u] for u in parents[v]])
        if rng.random() < 0.3:
            table = np.eye(cards[v])[table.argmax(axis=-1)]
        tables.append(table)
    states = {f"V{v}": tuple(f"s{code}" for code in range(cards[v])) for v in range(n)}
    model = DiscreteModel(states, tuple(parents), tuple(tables))
    chosen = tuple(sorted(int(v) for v in rng.choice(n, min(n, int(rng.integers(0, 4))), replace=False)))
    return model, Reward(chosen, rng.random([cards[v] for v in chosen]), 1.0)


def joint_by_hand(model: DiscreteModel, held: dict[int, int]) -> np.ndarray:
    """Truncated factorisation, state by state: P(all variables | do(held)) with one axis per variable."""
    joint = np.zeros(model.cards)
    for codes in itertools.product(*map(range, model.cards)):
        probability = 1.0
        for v, code in enumerate(codes):
            if v in held:
                probability *= code == held[v]
            else:
                probability *= model.tables[v][(*(codes[u] for u in model.parents[v]), code)]
        joint[codes] = probability
    return joint


def mean_by_hand(model: DiscreteModel, reward: Reward, held: dict[int, int]) -> float:
    joint = joint_by_hand(model, held)
    return sum(
        joint[codes] * reward.means[tuple(codes[v] for v in reward.parents)]
        for codes in itertools.product(*map(range, model.cards))
    )


def interventions(model: DiscreteModel, rng: np.random.Generator, size: int) -> dict[int, int]:
    chosen = rng.choice(len(model.parents), min(size, len(model.parents)), replace=False)
    return {int(v): int(rng.integers(model.cards[v])) for v in chosen}


@pytest.mark.parametrize("seed", range(60))
def test_all_arm_means_equal_truncated_factorisation(seed: int) -> None:
    model, reward = random_model(seed)
    system = CausalSystem.from_model(model, reward)
    assert system.mean_reward() == pytest.approx(mean_by_hand(model, reward, {}), abs=1e-12)
    means = system.arm_means()
    assert list(means) == [(name, state) for name, states in model.states.items() for state in states]
    for (name, state), mean in means.items():
        v = model.index[name]
        assert mean == pytest.approx(mean_by_hand(model, reward, {v: model.codes[v][state]}), abs=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_means_under_several_settings_equal_truncated_factorisation(seed: int) -> None:
    model, reward = random_model(seed)
    system = CausalSystem.from_model(model, reward)
    rng = np.random.default_rng(seed)
    for size in (2, 3, len(model.parents)):
        held = interventions(model, rng, size)
        do = {model.variables[v]: model.states[model.variables[v]][code] for v, code in held.items()}
        assert system.mean_reward(do) == pytest.approx(mean_by_hand(model, reward, held), abs=1e-12)
        assert system.mean_reward(dict(reversed(do.items()))) == system.mean_reward(do)


@pytest.mark.parametrize("seed", range(60))
def test_distributions_and_effects_equal_truncated_factorisation(seed: int) -> None:
    model, _ = random_model(seed)
    exact = ExactInference(model)
    n, rng = len(model.parents), np.random.default_rng(seed)
    for target in range(n):
        others = tuple(v for v in range(n) if v != target)
        assert np.allclose(exact.marginal(target), joint_by_hand(model, {}).sum(axis=others), atol=1e-12)
        for size in (1, 2):
            held = interventions(model, rng, size)
            by_hand = joint_by_hand(model, held).sum(axis=others)
            assert np.allclose(exact.distribution(target, held), by_hand, atol=1e-12)
        for cause in model.parents[target]:
            by_hand = [joint_by_hand(model, {cause: x}).sum(axis=others) for x in range(model.cards[cause])]
            assert np.allclose(exact.effect(cause, target), by_hand, atol=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_gaps_equal_their_definitions(seed: int) -> None:
    model, reward = random_model(seed)
    system = CausalSystem.from_model(model, reward)
    observed = joint_by_hand(model, {})
    n = len(model.parents)
    ancestors = {v for v in range(n) if any(model.ancestry[u] >> v & 1 for u in reward.parents)}
    moves = [
        max(
            abs(mean_by_hand(model, reward, {v: x}) - mean_by_hand(model, reward, {}))
            for x in range(model.cards[v])
        )
        for v in ancestors
    ]
    assert system.reward_gap() == pytest.approx(min(moves, default=1.0), abs=1e-11)
    effects = []
    for target in range(n):
        others = tuple(v for v in range(n) if v != target)
        for cause in model.parents[target]:
            shifts = [
                np.abs(joint_by_hand(model, {cause: x}).sum(axis=others) - observed.sum(axis=others)).max()
                for x in range(model.cards[cause])
            ]
            effects.append(max(shifts))
    assert system.effect_gap() == pytest.approx(min(effects, default=1.0), abs=1e-11)


@pytest.mark.parametrize(
    ("name", "reward"), [("asia", "dysp=yes"), ("child", "CO2Report=<7.5"), ("sachs", "Akt=LOW")]
)
def test_arm_means_equal_pgmpys_variable_elimination(name: str, reward: str) -> None:
    """pgmpy's `do` averages the table of the variable set; with that as evidence it plays no part."""
    from pgmpy.inference import VariableElimination
    from pgmpy.readwrite import BIFReader

    network = BIFReader(f"data/{name}.bif").get_model()
    leaf, state = reward.split("=")
    system = CausalSystem(network, reward=reward)
    for variable, states in system.states.items():
        inference = VariableElimination(network.do([variable]))
        for value in states:
            found = inference.query([leaf], evidence={variable: value}, show_progress=False)
            by_pgmpy = found.get_value(**{leaf: state})
            assert system.mean_reward({variable: value}) == pytest.approx(by_pgmpy, abs=1e-6)


@pytest.mark.parametrize("shape", ["chain", "recursive", "star", "binary"])
def test_a_thousand_variables_take_less_than_a_second(shape: str) -> None:
    """The least CPU time of three; about .1 s in fact."""
    system = instances.tree(1000, shape=shape, seed=0)  # type: ignore[arg-type]

    def seconds() -> float:
        start = time.process_time()
        CausalSystem.from_model(system.model, system.reward).arm_means()
        return time.process_time() - start

    assert min(seconds() for _ in range(3)) < 1


def test_a_graph_too_dense_for_exact_answers_is_refused_before_memory_runs_out() -> None:
    """40 roots, every pair joined in a collider, all ancestors of the reward: the treewidth is about 40."""
    pairs = list(itertools.combinations(range(40), 2))
    fair, copies = np.array([0.5, 0.5]), np.array([[[0.9, 0.1], [0.5, 0.5]], [[0.5, 0.5], [0.1, 0.9]]])
    parents: list[tuple[int, ...]] = [() for _ in range(40)] + pairs
    tables = [fair] * 40 + [copies] * len(pairs)
    last = 40
    while last < 40 + len(pairs) - 1:  # join all colliders in one descendant
        parents.append((last if last == 40 else len(parents) - 1, last + 1))
        tables.append(copies)
        last += 1
    model = DiscreteModel({f"V{v}": ("0", "1") for v in range(len(parents))}, tuple(parents), tuple(tables))
    system = CausalSystem.from_model(model, Reward((len(parents) - 1,), np.array([0.0, 1.0]), 1.0))
    with pytest.raises(CausalSystemError, match="sparse enough for exact answers"):
        system.arm_means()


def test_a_contraction_equals_einsum_and_its_gradients_are_those_of_a_product() -> None:
    rng = np.random.default_rng(0)
    a, b, c = rng.random((2, 3)), rng.random((3, 4)), rng.random((4, 2))
    factors = [(a, (7, 8)), (b, (8, 9)), (c, (9, 7))]
    assert np.allclose(contract(factors, (9, 7)), np.einsum("ij,jk,ki->ki", a, b, c))
    assert np.allclose(contract(factors[:1], (8, 7)), a.T)
    value, gradients = value_and_gradients(factors)
    assert value == pytest.approx(np.einsum("ij,jk,ki->", a, b, c))
    for gradient, expected in zip(gradients, ("jk,ki->ij", "ij,ki->jk", "ij,jk->ki"), strict=True):
        others = {"jk,ki->ij": (b, c), "ij,ki->jk": (a, c), "ij,jk->ki": (a, b)}[expected]
        assert np.allclose(gradient, np.einsum(expected, *others))
