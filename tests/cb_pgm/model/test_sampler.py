"""Sampled rows follow the truncated factorisation, as the generator says, and take little more memory."""

from __future__ import annotations

import itertools
import math
import tracemalloc

import numpy as np
import pytest

from cb_pgm import CausalSystem, CausalSystemError, instances
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.model.sampler import _UNIFORMS_AT_ONCE

FALSE_ALARM = 1e-9  # probability of failing by chance, of each test as a whole


def tolerance(probability: float, rows: int, checks: int) -> float:
    """Bernstein: a frequency is off by more with probability at most FALSE_ALARM / checks."""
    log = math.log(2 * checks / FALSE_ALARM)
    return math.sqrt(2 * probability * (1 - probability) * log / rows) + 2 * log / (3 * rows)


def collider_system(noise: float | None) -> CausalSystem:
    """A → C ← B, C → D with 2, 3, 4, 2 states, in an order that isn't topological; rewards by (B, C)."""
    rng = np.random.default_rng(7)
    cards = {"D": 2, "C": 4, "A": 2, "B": 3}
    states = {name: tuple(f"{name}{code}" for code in range(card)) for name, card in cards.items()}
    tables = (
        rng.dirichlet(np.ones(2), size=4),
        rng.dirichlet(np.full(4, 0.5), size=(3, 2)),
        np.array([0.3, 0.7]),
        np.array([0.5, 0.0, 0.5]),
    )
    model = DiscreteModel(states, ((1,), (3, 2), (), ()), tables)
    return CausalSystem.from_model(model, Reward((1, 3), rng.random((4, 3)), noise))


@pytest.mark.parametrize("held", [{}, {2: 0}, {1: 3}, {3: 1}, {1: 2, 3: 2}, {0: 1, 1: 0, 2: 1, 3: 0}])
def test_joint_frequencies_under_do_are_those_of_truncated_factorisation(held: dict[int, int]) -> None:
    """200,000 rows, .1 s; all 48 joint states within Bernstein's bound, those of probability 0 never seen."""
    system, rows = collider_system(1.0), 200_000
    model = system.model
    do = {model.variables[v]: model.states[model.variables[v]][code] for v, code in held.items()}
    codes = system.sample(do, rows, np.random.default_rng(1)).codes
    counts = np.zeros(model.cards)
    np.add.at(counts, tuple(codes.T), 1)
    for joint in itertools.product(*map(range, model.cards)):
        probability = 1.0
        for v, code in enumerate(joint):
            own = model.tables[v][(*(joint[u] for u in model.parents[v]), code)]
            probability *= float(code == held[v]) if v in held else own
        if probability == 0:
            assert counts[joint] == 0
        assert abs(counts[joint] / rows - probability) <= tolerance(probability, rows, counts.size)


@pytest.mark.parametrize("name", ["asia", "alarm"])
def test_sampled_means_agree_with_exact_means_under_every_arm(name: str) -> None:
    """10,000 rows for each of up to 102 arms, about 1 s; within Bernstein's bound."""
    system = CausalSystem.from_bif(f"data/{name}.bif", {"asia": "dysp=yes", "alarm": "CVP=NORMAL"}[name])
    rng, rows, means = np.random.default_rng(0), 10_000, system.arm_means()
    for (variable, state), mean in means.items():
        rewards = system.sample({variable: state}, rows, rng).rewards
        assert set(np.unique(rewards)) <= {0.0, 1.0}
        assert abs(rewards.mean() - mean) <= tolerance(mean, rows, len(means))


def test_marginal_frequencies_agree_with_exact_marginals() -> None:
    """1,000,000 rows of alarm, about 1 s; within Bernstein's bound."""
    system, rows = CausalSystem.from_bif("data/alarm.bif", "CVP=NORMAL"), 1_000_000
    codes = system.sample({}, rows, np.random.default_rng(0)).codes
    probabilities = system.marginals().probabilities
    for column, exact in enumerate(probabilities.values()):
        frequencies = np.bincount(codes[:, column], minlength=len(exact)) / rows
        for frequency, probability in zip(frequencies, exact, strict=True):
            assert abs(frequency - probability) <= tolerance(float(probability), rows, 102)


def test_gaussian_rewards_have_the_mean_and_noise_of_their_row() -> None:
    """100,000 rows: the residuals' mean and mean square within 6.5 standard errors (1e-10)."""
    system, rows = collider_system(2.0), 100_000
    seen = system.sample({}, rows, np.random.default_rng(3))
    residuals = seen.rewards - system.reward.means[seen.codes[:, 1], seen.codes[:, 3]]
    assert abs(residuals.mean()) <= 6.5 * 2 / math.sqrt(rows)
    assert abs((residuals**2).mean() - 4) <= 6.5 * 4 * math.sqrt(2 / rows)


def test_without_noise_rewards_are_their_means() -> None:
    system = collider_system(0.0)
    seen = system.sample({}, 1000, np.random.default_rng(3))
    assert np.array_equal(seen.rewards, system.reward.means[seen.codes[:, 1], seen.codes[:, 3]])


@pytest.mark.parametrize("size", [0, 1, 5, _UNIFORMS_AT_ONCE // 4 + 3])
def test_shapes_types_and_variables_set(size: int) -> None:
    """The last size takes two blocks of uniforms."""
    seen = collider_system(1.0).sample({"A": "A1", "C": "C2"}, size, np.random.default_rng(0))
    assert seen.codes.shape == (size, 4)
    assert seen.codes.dtype == np.int16
    assert seen.rewards.shape == (size,)
    assert seen.rewards.dtype == np.float64
    assert (seen.codes[:, 2] == 1).all()
    assert (seen.codes[:, 1] == 2).all()


def test_equal_generators_give_equal_rows_and_go_on_differently() -> None:
    system = collider_system(1.0)
    first, second = np.random.default_rng(4), np.random.default_rng(4)
    one, other = system.sample({"A": "A0"}, 1000, first), system.sample({"A": "A0"}, 1000, second)
    assert np.array_equal(one.codes, other.codes)
    assert np.array_equal(one.rewards, other.rewards)
    assert not np.array_equal(one.codes, system.sample({"A": "A0"}, 1000, first).codes)


@pytest.mark.parametrize("seed", range(200))
def test_a_state_that_cannot_be_is_never_drawn_however_its_neighbours_round(seed: int) -> None:
    """Tables whose cumulative sums miss 1 by rounding; states of probability 0 first, between and last."""
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.ones(12)) * (rng.random(12) < 0.6)
    table[0 if table.sum() == 0 else table.argmax()] += 1e-3
    table /= table.sum()
    model = DiscreteModel({"X": tuple(map(str, range(12)))}, ((),), (table,))
    system = CausalSystem.from_model(model, Reward((), np.array(0.0), 0.0))

    class Extremes(np.random.Generator):
        """Uniforms as close to 0 and 1 as there are, and at every threshold."""

        def random(self, size: tuple[int, int]) -> np.ndarray:  # type: ignore[override]
            thresholds = np.cumsum(system.model.tables[0])
            points = np.concatenate([[0, np.nextafter(1, 0)], thresholds, np.nextafter(thresholds, 0)])
            return np.resize(points[(points >= 0) & (points < 1)], size)

    codes = system.sample({}, 100, Extremes(np.random.PCG64(0))).codes[:, 0]
    assert (table[codes] > 0).all()


def test_memory_stays_below_two_copies_of_the_rows() -> None:
    system, rng = instances.tree(100, seed=0), np.random.default_rng(0)
    system.sample({}, 1, rng)
    tracemalloc.start()
    seen = system.sample({}, 100_000, rng)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 2 * seen.codes.nbytes


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ({"c": "C1"}, r"found 'c': did you mean 'C'\?"),
        ({"A": "A7"}, r"state of 'A' but found 'A7'"),
        ({"A": "A0", "Z": "x"}, r"found 'Z': choose D, C, A or B"),
    ],
)
def test_an_unknown_variable_or_state_is_named(do: dict[str, str], message: str) -> None:
    with pytest.raises(CausalSystemError, match=message):
        collider_system(1.0).sample(do, 1, np.random.default_rng(0))
