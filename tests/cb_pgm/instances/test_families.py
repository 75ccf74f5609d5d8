"""Instances have the graphs and gaps that they promise; the families of the lower bounds are as printed."""

from __future__ import annotations

import math
import time

import networkx as nx
import numpy as np
import pytest

from cb_pgm import CausalSystem, CausalSystemError, instances

FAMILIES = {
    "recursive tree": lambda n, **options: instances.tree(n, **options),
    "chain": lambda n, **options: instances.tree(n, shape="chain", **options),
    "star": lambda n, **options: instances.tree(n, shape="star", **options),
    "binary tree": lambda n, **options: instances.tree(n, shape="binary", **options),
    "forest": lambda n, **options: instances.forest(n, **options),
    "chordal": lambda n, **options: instances.chordal(n, **options),
    "random DAG": lambda n, **options: instances.random_dag(n, expected_degree=min(2.5, n - 1), **options),
}
TREES = ("recursive tree", "chain", "star", "binary tree")
families = pytest.mark.parametrize("family", FAMILIES)


# -- graphs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", TREES)
@pytest.mark.parametrize("n", [1, 2, 15, 40])
def test_trees_are_directed_trees(family: str, n: int) -> None:
    dag = FAMILIES[family](n, seed=n).dag
    assert len(dag) == n
    assert nx.is_arborescence(dag)
    depth = nx.dag_longest_path_length(dag)
    if family != "recursive tree":
        assert depth == {"chain": n - 1, "star": min(n - 1, 1), "binary tree": n.bit_length() - 1}[family]


@pytest.mark.parametrize("seed", range(20))
def test_the_chain_components_of_a_forest_are_trees(seed: int) -> None:
    system = instances.forest(30, seed=seed)
    graph = system.essential_graph()
    components = graph.chain_components()
    assert len(components) == 6
    undirected = nx.Graph(list(graph.undirected))
    undirected.add_nodes_from(graph.nodes)
    assert all(nx.is_tree(undirected.subgraph(component)) for component in components)


def test_forests_have_arrows_into_components_of_several_variables() -> None:
    graphs = [instances.forest(30, seed=seed).essential_graph() for seed in range(20)]
    sizes = [len(graph.component_of(head)) for graph in graphs for _, head in graph.directed]
    assert max(sizes) > 1


@pytest.mark.parametrize("seed", range(20))
def test_a_chordal_instance_is_one_component(seed: int) -> None:
    system = instances.chordal(25, max_clique=5, seed=seed)
    assert not system.essential_graph().directed
    skeleton = system.dag.to_undirected()
    assert nx.is_connected(skeleton)
    assert max(map(len, nx.find_cliques(skeleton))) <= 5
    assert nx.is_tree(instances.chordal(25, max_clique=2, seed=seed).dag)


def test_random_dags_have_the_expected_number_of_edges() -> None:
    """400 graphs of 30 variables, .2 s: 12,000 edges expected; within 6 standard deviations (2e-9)."""
    edges = sum(
        instances.random_dag(30, expected_degree=2, seed=seed).dag.number_of_edges() for seed in range(400)
    )
    assert abs(edges - 12_000) <= 6 * math.sqrt(12_000)


def test_random_dags_keep_within_max_parents() -> None:
    dag = instances.random_dag(50, expected_degree=20, max_parents=3, n_states=2, seed=0).dag
    assert max(degree for _, degree in dag.in_degree()) == 3


@families
def test_the_order_of_the_names_says_nothing_of_the_graph(family: str) -> None:
    """Over 40 instances arrows go up and down the names; the chance that all go one way is below 2⁻⁴⁰."""
    up = {
        int(parent[1:]) < int(child[1:])
        for seed in range(40)
        for parent, child in FAMILIES[family](6, seed=seed).dag.edges
    }
    assert up == {True, False}


@families
def test_equal_seeds_give_equal_systems(family: str) -> None:
    one, same, other = (FAMILIES[family](20, seed=seed) for seed in (3, 3, 4))
    assert list(one.dag.edges) == list(same.dag.edges)
    assert one.reward_parents == same.reward_parents
    assert one.arm_means() == same.arm_means()
    assert list(one.dag.edges) != list(other.dag.edges)
    assert list(one.states) == [f"X{v}" for v in range(1, 21)]
    from_generator = FAMILIES[family](20, seed=np.random.default_rng(3))
    assert list(from_generator.dag.edges) == list(one.dag.edges)


@families
def test_a_single_variable_will_do(family: str) -> None:
    system = FAMILIES[family](1, seed=0)
    assert system.reward_parents == ("X1",)
    assert system.arm_means() == pytest.approx({("X1", "0"): 0.1, ("X1", "1"): 0.5, ("X1", "2"): 0.9})


# -- probabilities and gaps ----------------------------------------------------------------------------------


@families
@pytest.mark.parametrize("n_states", [2, 3, 5])
def test_gaps_are_the_gaps_asked_for(family: str, n_states: int) -> None:
    """The reward gap exactly, the effect gap at least, in trees exactly too; found by exact inference."""
    for seed in range(5):
        system = FAMILIES[family](12, n_states=n_states, reward_gap=0.02, effect_gap=0.06, seed=seed)
        assert system.reward_gap() == pytest.approx(0.02, abs=1e-12)
        assert system.effect_gap() >= 0.06 - 1e-12
        if family in TREES:
            assert system.effect_gap() == pytest.approx(0.06, abs=1e-12)
        assert all(-1e-12 <= mean <= 1 + 1e-12 for mean in system.arm_means().values())


@families
def test_every_variable_is_uniform_and_every_row_possible(family: str) -> None:
    system = FAMILIES[family](15, seed=1)
    for probabilities in system.marginals().probabilities.values():
        assert probabilities == pytest.approx(np.full(3, 1 / 3))
    assert all(table.min() > 0 for table in system.model.tables)


def test_a_child_copies_its_parent_or_is_redrawn() -> None:
    system = instances.tree(2, n_states=4, copy_probability=0.8, seed=0)
    ((parent, child),) = system.dag.edges
    assert system.interventional_distribution(child, {parent: "2"}) == pytest.approx([0.05, 0.05, 0.85, 0.05])
    assert system.effect_gap() == pytest.approx(0.8 * 0.75)


@families
@pytest.mark.parametrize("n_parents", [2, 3])
def test_several_parents_of_the_reward_add_up(family: str, n_parents: int) -> None:
    means = [0.0, 0.2, 0.7]
    system = FAMILIES[family](12, n_parents=n_parents, reward_means=means, seed=2)
    assert len(system.reward_parents) == n_parents
    rng = np.random.default_rng(0)
    for _ in range(5):
        codes = rng.integers(3, size=n_parents)
        do = {parent: str(code) for parent, code in zip(system.reward_parents, codes, strict=True)}
        assert system.mean_reward(do) == pytest.approx(np.mean([means[code] for code in codes]))
    with_gap = FAMILIES[family](12, n_parents=n_parents, reward_gap=0.01, seed=2)
    assert with_gap.reward_gap() == pytest.approx(0.01, abs=1e-12)


def test_the_rewards_parent_can_be_put_at_a_depth() -> None:
    for depth in range(5):
        system = instances.tree(30, shape="binary", reward_depth=depth, seed=depth)
        assert len(nx.ancestors(system.dag, system.reward_parents[0])) == depth


def test_means_that_would_leave_the_unit_interval_are_shifted() -> None:
    system = instances.tree(
        1, n_states=3, reward_means=[0.9, 0.1, 0.1], reward_gap=0.65, noise="bernoulli", seed=0
    )
    assert system.reward_gap() == pytest.approx(0.65)
    assert system.noise_scale == 0.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: instances.tree(0), "at least one variable"),
        (lambda: instances.tree(5, n_states=1), "at least 2 states"),
        (lambda: instances.tree(5, shape="bush"), "'bush'"),
        (lambda: instances.tree(5, shape="chain", reward_depth=5), "reward_depth from 0 to 4"),
        (lambda: instances.tree(5, copy_probability=1.5), "copy_probability from 0 to 1"),
        (lambda: instances.tree(5, n_states=2, effect_gap=0.6), r"effect_gap from 0 to 0\.5"),
        (lambda: instances.tree(5, copy_probability=0.4, effect_gap=0.3), r"effect_gap from 0 to 0\.2667"),
        (lambda: instances.tree(5, reward_gap=0.6, seed=0), r"up to 0\.5, but found 0\.6"),
        (lambda: instances.tree(5, reward_gap=-0.1), "at least 0"),
        (lambda: instances.tree(5, reward_means=[0.5, 0.5, 0.5], reward_gap=0.1), "up to 0,"),
        (lambda: instances.tree(5, reward_means=[0.1, 0.2]), "Expected 3 reward_means"),
        (lambda: instances.tree(5, noise="gauss"), "'gauss'"),
        (lambda: instances.tree(5, n_parents=6), "n_parents from 1 to 5"),
        (lambda: instances.forest(5, n_components=6), "n_components from 1 to 5"),
        (lambda: instances.chordal(5, max_clique=1), "max_clique of at least 2"),
        (lambda: instances.random_dag(5, expected_degree=9), "expected_degree from 0 to 4"),
        (lambda: instances.random_dag(40, n_states=10, expected_degree=39), "use fewer of either"),
    ],
)
def test_what_cannot_be_is_refused(make: object, message: str) -> None:
    with pytest.raises(CausalSystemError, match=message):
        make()  # type: ignore[operator]


@families
def test_a_thousand_variables_are_made_in_no_time(family: str) -> None:
    """Less than a second of CPU time, the least of three; .02 s in fact."""

    def seconds() -> float:
        start = time.process_time()
        FAMILIES[family](1000, seed=0)
        return time.process_time() - start

    assert min(seconds() for _ in range(3)) < 1


# -- the families of the lower bounds ------------------------------------------------------------------------

sizes = pytest.mark.parametrize(("n", "k"), [(1, 2), (2, 1), (3, 2), (4, 3)])
bounds = pytest.mark.parametrize(
    "family", [instances.lower_bound_effect_gap, instances.lower_bound_reward_gap]
)


@sizes
@bounds
def test_in_every_instance_one_arm_alone_is_better(family: type, n: int, k: int) -> None:
    """The l-th arm in instance l, none in instance 0; the means do not depend on anything else."""
    for instance in range(n * k + 1):
        system = family(n, k, instance, reward_gap=0.25)
        means = list(system.arm_means().values())
        assert means == [0.25 * (arm == instance) for arm in range(1, n * k + 1)]
        assert system.mean_reward() == 0
        assert system.reward.noise == 1.0
        assert system.noise_scale == pytest.approx(math.hypot(1, 0.125 if instance else 0))


@sizes
def test_theorem_4_fails_assumption_2_alone(n: int, k: int) -> None:
    for instance in range(n * k + 1):
        system = instances.lower_bound_effect_gap(n, k, instance, reward_gap=0.25)
        assert all(states == tuple(map(str, range(k + 1))) for states in system.states.values())
        assert all(states == tuple(map(str, range(1, k + 1))) for states in system.settable.values())
        assert system.effect_gap() == (0 if n > 1 else 1)
        assert system.reward_gap() == (0.25 if instance else 0)


@sizes
def test_theorem_5_fails_assumption_3_alone(n: int, k: int) -> None:
    for instance in range(n * k + 1):
        system = instances.lower_bound_reward_gap(n, k, instance, reward_gap=0.25)
        assert all(states == tuple(map(str, range(k + 2))) for states in system.states.values())
        assert all(states == tuple(map(str, range(2, k + 2))) for states in system.settable.values())
        assert system.effect_gap() == 1
        assert system.reward_gap() == (0 if n > 1 or not instance else 0.25)
        for parent, child in system.dag.edges:  # 0 and 1 are passed on, and nothing else is reached
            for state in system.states[parent]:
                reached = system.interventional_distribution(child, {parent: state})
                assert reached[1 if state == "1" else 0] == 1


@pytest.mark.parametrize("family", [instances.lower_bound_effect_gap, instances.lower_bound_reward_gap])
def test_no_settable_arm_shows_anything_but_its_own_reward(family: type) -> None:
    """Rows under an arm differ from those of do() in the variable set alone: only rewards tell them apart."""
    rng = np.random.default_rng(0)
    for instance in range(7):
        system = family(3, 2, instance, horizon=600)
        for column, (variable, states) in enumerate(system.settable.items()):
            for state in states:
                codes = system.sample({variable: state}, 20, rng).codes
                assert (np.delete(codes, column, axis=1) == 0).all()


CHAINS = [
    (instances.lower_bound_effect_gap, 0, ["X1", "X2", "X3", "X4"]),
    (instances.lower_bound_effect_gap, 2, ["X1", "X2", "X3", "X4"]),
    (instances.lower_bound_effect_gap, 3, ["X2", "X1", "X3", "X4"]),
    (instances.lower_bound_effect_gap, 6, ["X3", "X1", "X2", "X4"]),
    (instances.lower_bound_effect_gap, 7, ["X4", "X3", "X2", "X1"]),
    (instances.lower_bound_reward_gap, 0, ["X4", "X3", "X2", "X1"]),
    (instances.lower_bound_reward_gap, 1, ["X4", "X3", "X2", "X1"]),
    (instances.lower_bound_reward_gap, 4, ["X1", "X4", "X3", "X2"]),
    (instances.lower_bound_reward_gap, 5, ["X2", "X1", "X4", "X3"]),
    (instances.lower_bound_reward_gap, 8, ["X3", "X2", "X1", "X4"]),
]


@pytest.mark.parametrize(("family", "instance", "chain"), CHAINS)
def test_the_chains_are_those_printed(family: type, instance: int, chain: list[str]) -> None:
    """n = 4, K = 2: the reward's parent is the source of Theorem 4's chain and the end of Theorem 5's."""
    system = family(4, 2, instance, reward_gap=0.25)
    assert list(nx.topological_sort(system.dag)) == chain
    assert system.dag.number_of_edges() == 3
    assert system.reward_parents == ((chain[0] if family is instances.lower_bound_effect_gap else chain[-1]),)


@bounds
def test_the_horizon_sets_the_gap(family: type) -> None:
    system: CausalSystem = family(5, 4, 7, horizon=2000)
    assert system.best_arm()[1] == pytest.approx(math.sqrt(20 / 2000) / 4)
    drawn = {family(5, 4, horizon=2000, seed=seed).best_arm()[0] for seed in range(30)}
    assert len(drawn) > 1


@bounds
def test_instances_that_cannot_be_are_refused(family: type) -> None:
    for arguments, options, message in (
        ((5, 4, 21), {"horizon": 10}, "from 0 to nK = 20"),
        ((0, 4, 0), {"horizon": 10}, "n=0"),
        ((5, 4, 1), {}, "one of horizon and reward_gap"),
        ((5, 4, 1), {"horizon": 10, "reward_gap": 0.1}, "one of horizon and reward_gap"),
        ((5, 4, 1), {"horizon": 0}, "horizon of at least 1"),
    ):
        with pytest.raises(CausalSystemError, match=message):
            family(*arguments, **options)
