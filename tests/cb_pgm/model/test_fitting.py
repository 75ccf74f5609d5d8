"""Models fitted to a table: tables by formula, the right parents of the reward, warnings where due."""

import numpy as np
import pytest

from cb_pgm import CausalBanditError, instances
from cb_pgm.model import fitting
from cb_pgm.model.fitting import fit_model, fit_reward, rehearse
from cb_pgm.model.reward_parents import chosen_parents
from discovery import DiscreteTable, EssentialGraph


def table_of(codes, rewards) -> DiscreteTable:
    codes = np.asarray(codes, dtype=np.int16)
    cards = codes.max(axis=0) + 1
    states = {f"X{v}": tuple(f"s{code}" for code in range(card)) for v, card in enumerate(cards)}
    return DiscreteTable(codes, states, np.asarray(rewards, dtype=float), "R")


@pytest.fixture(scope="module")
def tree_table():
    """20,000 rows of a tree, 8 variables, 3 states; the reward is Gaussian about one variable's means."""
    system = instances.tree(8, n_states=3, copy_probability=0.8, seed=3)
    seen = system.sample({}, 20_000, np.random.default_rng(0))
    return system, DiscreteTable(seen.codes, system.states, seen.rewards, "R")


def test_tables_are_smoothed_counts():
    codes = [[0, 0]] * 30 + [[0, 1]] * 10 + [[1, 1]] * 5
    model = fit_model(
        table_of(codes, [0, 1] * 22 + [0]), EssentialGraph(["X0", "X1"], [], [("X0", "X1")]), 8.0
    )
    child = next(v for v, parents in enumerate(model.parents) if parents)
    root = 1 - child
    counts = np.zeros((2, 2))
    for row in codes:
        counts[row[root], row[child]] += 1
    np.testing.assert_allclose(model.tables[root], (counts.sum(axis=1) + 4) / (45 + 8))
    np.testing.assert_allclose(model.tables[child], (counts + 2) / (counts.sum(axis=1, keepdims=True) + 4))


def test_pgmpys_fit_gives_the_formula_in_variable_order_and_keeps_states_that_no_row_shows(capfd):
    """500 rows; each variable's parents are in variable order, which isn't that of the names."""
    rng = np.random.default_rng(0)
    cards = {"zeta": 3, "alpha": 2, "mid": 4}
    codes = np.column_stack([rng.integers(card - 1, size=500) for card in cards.values()]).astype(np.int16)
    states = {name: tuple(f"{9 - code}" for code in range(card)) for name, card in cards.items()}
    table = DiscreteTable(codes, states, rng.integers(2, size=500).astype(float), "R")
    model = fit_model(table, EssentialGraph(cards, [("zeta", "mid"), ("alpha", "mid")], []), 7.0)
    assert model.states == states
    assert model.parents == ((), (), (0, 1))
    counts = np.zeros((3, 2, 4))
    np.add.at(counts, tuple(codes.T), 1)
    smoothed = counts + 7 / counts.size
    np.testing.assert_allclose(model.tables[2], smoothed / smoothed.sum(axis=-1, keepdims=True), atol=1e-15)
    np.testing.assert_allclose(model.tables[0], (counts.sum(axis=(1, 2)) + 7 / 3) / 507, atol=1e-15)
    assert capfd.readouterr() == ("", "")


def test_every_row_is_positive_and_the_model_has_the_graph(tree_table):
    system, table = tree_table
    model = rehearse(table, system.essential_graph()).system
    assert all(cells.min() > 0 for cells in model.model.tables)
    assert model.essential_graph() == system.essential_graph()
    assert model.states == system.states


def test_means_come_near_the_truth(tree_table):
    """One run, 20,000 rows; means differ by less than 5 standard errors and the smoothing."""
    system, table = tree_table
    rehearsal = rehearse(table, system.essential_graph())
    assert rehearsal.warnings == ()
    assert rehearsal.system.reward_parents == system.reward_parents
    (parent,) = system.reward_parents
    shares = np.bincount(table.codes[:, table.variables.index(parent)]) / table.n_rows
    for state, share in zip(system.states[parent], shares, strict=True):
        tolerance = 5 * system.noise_scale / np.sqrt(share * table.n_rows) + 10 / (share * table.n_rows)
        fitted, true = (one.mean_reward({parent: state}) for one in (rehearsal.system, system))
        assert abs(fitted - true) < tolerance
    assert rehearsal.system.conditional_noise_scale == pytest.approx(system.conditional_noise_scale, rel=0.05)


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("kind", ["single", "and", "xor"])
def test_the_rewards_parents_are_chosen(kind, numeric):
    """5,000 rows; the reward depends on X1, or on X1 and X4, in "xor" only together."""
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 2, size=(5000, 6))
    codes[:, 2] = np.where(
        rng.random(5000) < 0.9, codes[:, 1], codes[:, 2]
    )  # a copy that explains nothing more
    one, other = codes[:, 1], codes[:, 4]
    wanted = {"single": one, "and": one & other, "xor": one ^ other}[kind]
    mean = 0.2 + 0.6 * wanted
    rewards = mean + rng.normal(size=5000) if numeric else rng.random(5000) < mean
    table = table_of(codes, rewards)
    assert chosen_parents(table) == (("X1",) if kind == "single" else ("X1", "X4"))
    said = rehearse(table, EssentialGraph(table.variables, [], [])).warnings
    assert ("X1 and X4" in " ".join(said)) == (kind != "single")


def test_a_reward_that_nothing_explains_is_said():
    rng = np.random.default_rng(1)
    table = table_of(rng.integers(0, 3, size=(2000, 5)), rng.random(2000) < 0.4)
    rehearsal = rehearse(table, EssentialGraph(table.variables, [], []))
    assert chosen_parents(table) == ()
    assert len(rehearsal.system.reward_parents) == 1
    assert "no variable tells anything" in rehearsal.warnings[0]


def test_a_reward_without_scatter_is_fitted():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 2, size=(500, 3))
    reward = fit_reward(table_of(codes, 3.0 * codes[:, 0] - 1), ["X0"], equivalent_sample_size=1e-9)
    np.testing.assert_allclose(reward.means, [-1, 2], atol=1e-6)
    assert reward.noise == pytest.approx(0, abs=1e-6)


def test_renaming_and_reordering_columns_changes_nothing_else(tree_table):
    _, table = tree_table
    order = np.random.default_rng(5).permutation(len(table.variables))
    states = {table.variables[v]: table.states[table.variables[v]] for v in order}
    shuffled = DiscreteTable(table.codes[:, order], states, table.rewards, "R")
    assert set(chosen_parents(shuffled)) == set(chosen_parents(table))


def test_what_cannot_be_fitted_is_refused(monkeypatch):
    monkeypatch.setattr(fitting, "fitted_model", None)  # all is refused before pgmpy is asked
    rng = np.random.default_rng(3)
    with pytest.raises(CausalBanditError, match=r"0\.5 in every row"):
        rehearse(table_of([[0, 0], [1, 1]] * 20, [0.5] * 40), EssentialGraph(["X0", "X1"], [], []))
    no_rewards = DiscreteTable(np.zeros((2, 2), dtype=np.int16), {"X0": ("a", "b"), "X1": ("a", "b")})
    with pytest.raises(CausalBanditError, match="name the reward column"):
        rehearse(no_rewards, EssentialGraph(["X0", "X1"], [], []))
    table = table_of(rng.integers(0, 10, size=(300, 8)), rng.random(300) < 0.5)
    hub = EssentialGraph(table.variables, [(f"X{v}", "X7") for v in range(7)], [])
    with pytest.raises(CausalBanditError, match=r"7 parents of 'X7'.*10,000,000"):
        rehearse(table, hub)
