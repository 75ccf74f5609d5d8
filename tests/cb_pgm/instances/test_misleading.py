"""Systems with hidden or several causes: their arm means in closed form, and that what is hidden stays so."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest

from cb_pgm import CausalSystem, CausalSystemError, instances
from cb_pgm.instances.misleading_tables import selected_rows

FAMILIES = {
    "confounded": lambda seed: instances.confounded(seed=seed),
    "proxy": lambda seed: instances.proxy(seed=seed),
    "interaction": lambda seed: instances.interaction(6, seed=seed),
    "hidden_dag": lambda seed: instances.hidden_dag(6, n_parents=2, seed=seed),
    "many_parents": lambda seed: instances.many_parents(n_parents=4, seed=seed),
    "indication": lambda seed: instances.indication(seed=seed),
    "selection": lambda seed: instances.selection(seed=seed),
    "simpson": lambda seed: instances.simpson(seed=seed),
    "xor": lambda seed: instances.xor(n_parents=3, seed=seed),
    "hidden_chain": lambda seed: instances.hidden_chain(seed=seed),
    "informed_choice": lambda seed: instances.informed_choice(seed=seed),
}


def seen_mean(system: CausalSystem, variable: str, code: int, rows: int = 400_000) -> tuple[float, float]:
    """The mean reward in the rows under do() that show the state, and 5 standard errors of it."""
    seen = system.sample({}, rows, np.random.default_rng(0))
    rewards = seen.rewards[seen.codes[:, list(system.states).index(variable)] == code]
    return float(rewards.mean()), 2.5 / math.sqrt(len(rewards))


@pytest.mark.parametrize("family", FAMILIES)
def test_equal_seeds_give_equal_systems_and_names_hide_the_graph(family: str) -> None:
    one, same = FAMILIES[family](3), FAMILIES[family](3)
    assert list(one.states) == list(same.states)
    assert one.reward_parents == same.reward_parents
    assert one.arm_means() == same.arm_means()
    orders = {(tuple(each.states), each.reward_parents) for each in map(FAMILIES[family], range(20))}
    assert len(orders) > 1
    assert one.noise_scale == 0.5
    assert not set(one.hidden) & {*one.states, *one.settable, *one.dag.nodes}
    assert one.sample({}, 3, np.random.default_rng(0)).codes.shape == (3, len(one.states))


@pytest.mark.parametrize(
    ("family", "variable", "means"),
    [
        ("indication", "dose", (0.633, 0.5, 0.367)),
        ("simpson", "treatment", (0.557, 0.443)),
        ("simpson", "size", (0.675, 0.325)),
    ],
)
def test_a_table_turns_the_order_of_the_arms(family: str, variable: str, means: tuple[float, ...]) -> None:
    """Means among 400,000 rows seen, within 5 standard errors; those of the arms are in the doctests."""
    system = FAMILIES[family](0)
    for code, mean in enumerate(means):
        found, error = seen_mean(system, variable, code)
        assert abs(found - mean) < error + 5e-4
    arms = [system.mean_reward({variable: state}) for state in system.states[variable]]
    assert system.mean_reward() == pytest.approx(0.5)
    if variable != "size":
        assert list(np.argsort(arms)) == list(np.argsort(means))[::-1]


def test_selected_rows_make_another_variable_the_cause() -> None:
    """4,000 rows: B's last state and the reward go together in .8 of them; without a selection in half."""
    system = instances.selection(seed=0)
    for kept, share in ((0.25, 0.8), (1.0, 0.5)):
        rows = selected_rows(system, 4000, np.random.default_rng(0), variable="B", kept=kept)
        together = rows.codes[:, list(system.states).index("B")] == rows.rewards
        assert len(rows) == 4000
        assert abs(together.mean() - share) < 5 * 0.5 / math.sqrt(4000)
    with pytest.raises(CausalSystemError, match="'C'"):
        selected_rows(system, 5, np.random.default_rng(0), variable="C")


@pytest.mark.parametrize("n_parents", [2, 3])
def test_parity_moves_nothing_unless_all_parents_are_set(n_parents: int) -> None:
    system = instances.xor(n_parents=n_parents, seed=1)
    assert list(system.arm_means().values()) == pytest.approx([0.5] * 12)
    *few, last = system.reward_parents
    assert system.mean_reward(dict.fromkeys(few, "0")) == pytest.approx(0.5)
    assert system.mean_reward({**dict.fromkeys(few, "0"), last: "1"}) == pytest.approx(0.9)


def test_where_doing_nothing_is_best_every_arm_loses() -> None:
    for system in (
        instances.hidden_chain(5, copy_probability=0.9, seed=0),
        instances.informed_choice(seed=0),
    ):
        assert system.best_arm() == ({}, system.mean_reward())
        assert max(system.arm_means().values()) < system.mean_reward() - 0.25


def test_a_confounded_variable_tells_the_reward_and_does_not_move_it() -> None:
    """E[R | X = 1] is .796 among seen rows and .5 where X is set; 400,000 rows, within 5 standard errors."""
    system = instances.confounded(seed=1)
    assert system.arm_means() == {
        ("X", "0"): pytest.approx(0.5),
        ("X", "1"): pytest.approx(0.5),
        ("Z", "0"): pytest.approx(0.18),
        ("Z", "1"): pytest.approx(0.82),
    }
    found, error = seen_mean(system, "X", 1)
    assert abs(found - 0.796) < error
    assert system.mean_reward({"Z": "1", "X": "0"}) == pytest.approx(0.82)
    assert system.marginals().probabilities["X"] == pytest.approx([0.5, 0.5])
    assert system.hidden_reward_parents == ("U",)
    assert not system.essential_graph().directed
    other = instances.confounded(reward_means=(0.3, 0.5), cause_agreement=0.25, proxy_agreement=1, seed=0)
    assert other.mean_reward({"Z": "1"}) == pytest.approx(0.3 + 0.2 * 0.25)


@pytest.mark.parametrize("weights", [(0.4, 0.4), (0.2, 0.6), (0.0, 0.5)])
@pytest.mark.parametrize("n_states", [2, 3])
def test_a_proxy_and_all_else_but_the_parents_line_leave_the_mean_at_a_half(
    weights: tuple[float, float], n_states: int
) -> None:
    w, _ = weights
    for seed in range(5):
        system = instances.proxy(20, n_states, weights=weights, seed=seed)
        (parent,) = system.reward_parents
        assert nx.is_arborescence(system.dag)
        assert len(system.dag) == 20
        depths = nx.single_source_shortest_path_length(system.dag.reverse(), parent)
        for (variable, state), mean in system.arm_means().items():
            through = w * 0.95 ** depths[variable] if variable in depths else 0.0
            assert mean == pytest.approx(0.5 + through * (int(state) / (n_states - 1) - 0.5), abs=1e-12)
        (moved,) = set(system.network().get_children("U")) - {"reward"}
        assert moved not in depths
        assert system.hidden_reward_parents == ("U",)
        assert not system.essential_graph().directed
        joint = {parent: str(n_states - 1), moved: "0"}
        assert system.mean_reward(joint) == pytest.approx(0.5 + w / 2)


def test_the_proxy_follows_the_hidden_cause() -> None:
    """Rows in which it shows state 1 have U = 1 in .9 of cases: .5 + .6 · .4 besides what the tree adds."""
    system = instances.proxy(5, weights=(0.0, 0.6), proxy_agreement=0.8, seed=2)
    (moved,) = set(system.network().get_children("U")) - {"reward"}
    found, error = seen_mean(system, moved, 1)
    assert abs(found - (0.5 + 0.6 * (0.9 - 0.5))) < error


@pytest.mark.parametrize("n_children", [1, 2])
@pytest.mark.parametrize("hidden_weight", [0.0, 0.4])
def test_arm_means_of_a_dag_with_hidden_causes_follow_the_walk_back_from_the_parents(
    n_children: int, hidden_weight: float
) -> None:
    for seed in range(6):
        system = instances.hidden_dag(
            7, 3, n_parents=2, n_children=n_children, hidden_weight=hidden_weight, seed=seed
        )
        assert system.hidden == ("U1", "U2")
        assert system.hidden_reward_parents == (system.hidden if hidden_weight else ())
        assert bool(system.hidden_common_causes) == (n_children > 1)
        assert (system.true_graph() is None) == (n_children > 1)
        assert bool(system.hidden_confounders) == (n_children > 1 or hidden_weight > 0)
        network = system.network()
        for cause in system.hidden:
            assert len(set(network.get_children(cause)) - {"reward"}) == n_children
        for (variable, state), mean in system.arm_means().items():
            through = sum(walks_through(network, parent, variable) for parent in system.reward_parents) / 2
            moved = (1 - hidden_weight) * (0.1 + 0.4 * int(state) - 0.5) * through
            assert mean == pytest.approx(0.5 + moved, abs=1e-12)


def walks_through(network: nx.DiGraph, start: str, variable: str) -> float:
    """The probability that copying with .9, followed backwards from `start`, comes through `variable`."""
    if start == variable:
        return 1.0
    above = list(network.predecessors(start))
    return sum(0.9 / len(above) * walks_through(network, parent, variable) for parent in above)


@pytest.mark.parametrize("taken", [0.0, 0.005, 0.02])
@pytest.mark.parametrize("n_others", [0, 6])
def test_the_drug_is_the_best_arm_though_hardly_any_row_shows_it(taken: float, n_others: int) -> None:
    for seed in range(4):
        system = instances.interaction(n_others, drug_taken=taken, seed=seed)
        means = system.arm_means()
        assert len(system.states) == 2 + n_others
        for state, well in (("high", 0.1), ("medium", 0.35), ("low", 0.6)):
            assert means["severity", state] == pytest.approx(well + taken * (0.95 - well))
            for drug, mean in (("no", well), ("yes", 0.95)):
                assert system.mean_reward({"severity": state, "drug": drug}) == pytest.approx(mean)
        assert means["drug", "yes"] == pytest.approx(0.95)
        assert means["drug", "no"] == pytest.approx(0.35)
        plain = 0.35 + taken * 0.6
        assert all(mean == pytest.approx(plain) for arm, mean in means.items() if arm[0].startswith("X"))
        assert set(system.reward_parents) == {"severity", "drug"}
        assert system.marginals().probabilities["drug"] == pytest.approx([1 - taken, taken])
        assert system.hidden == ()
    if not taken:
        codes = system.sample({}, 10_000, np.random.default_rng(0)).codes
        assert not codes[:, list(system.states).index("drug")].any()


@pytest.mark.parametrize("n_parents", [1, 2, 3, 4])
def test_several_parents_effects_add_up_along_the_tree(n_parents: int) -> None:
    for seed in range(5):
        system = instances.many_parents(n_parents=n_parents, seed=seed)
        parents = system.reward_parents
        assert len(parents) == n_parents
        assert nx.is_arborescence(system.dag)
        effects = {}
        for parent in parents:
            others = dict.fromkeys(parents, "0")
            rises = [system.mean_reward({**others, parent: state}) * n_parents for state in "012"]
            effects[parent] = np.array(rises) - np.mean(rises)
            assert sorted(effects[parent]) == pytest.approx([-0.4, 0.0, 0.4])
        for (variable, state), mean in system.arm_means().items():
            below = nx.single_source_shortest_path_length(system.dag, variable)
            moved = sum(
                0.95 ** below[parent] * effects[parent][int(state)] for parent in parents if parent in below
            )
            assert mean == pytest.approx(0.5 + moved / n_parents, abs=1e-12)
        best = {parent: str(int(np.argmax(effect))) for parent, effect in effects.items()}
        assert system.mean_reward(best) == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: instances.confounded(cause_agreement=1.2), "cause_agreement from 0 to 1"),
        (lambda: instances.confounded(reward_means=(0.5, 1.5)), r"means in \[0, 1\]"),
        (lambda: instances.proxy(1), "at least 2 variables"),
        (lambda: instances.proxy(weights=(0.6, 0.6)), "together at most 1"),
        (lambda: instances.proxy(proxy_agreement=-0.1), "proxy_agreement from 0 to 1"),
        (lambda: instances.hidden_dag(4, n_hidden=0), "and 1 hidden one but found n=4"),
        (lambda: instances.hidden_dag(4, n_children=5), "n_children from 1 to 4 but found 5"),
        (lambda: instances.hidden_dag(4, hidden_weight=1.5), "hidden_weight from 0 to 1"),
        (lambda: instances.hidden_dag(4, expected_degree=9), "expected_degree from 0 to 3"),
        (lambda: instances.interaction(-1), "n_others of at least 0"),
        (lambda: instances.interaction(drug_taken=2), "drug_taken from 0 to 1"),
        (lambda: instances.indication(-1), "n_others of at least 0"),
        (lambda: instances.xor(2, n_parents=3), "n_parents from 1 to 2"),
        (lambda: instances.hidden_chain(0), "at least 1 variable"),
        (lambda: instances.hidden_chain(copy_probability=2), "copy_probability from 0 to 1"),
        (lambda: instances.informed_choice(1), "at least 2 kinds"),
        (lambda: instances.informed_choice(skill=2), "skill from 0 to 1"),
        (lambda: instances.many_parents(n_parents=9), "n_parents from 1 to 8"),
        (lambda: instances.many_parents(n_states=1), "at least 2 states"),
        (lambda: instances.many_parents(copy_probability=1.1), "copy_probability from 0 to 1"),
    ],
)
def test_what_cannot_be_is_refused(make: object, message: str) -> None:
    with pytest.raises(CausalSystemError, match=message):
        make()  # type: ignore[operator]
