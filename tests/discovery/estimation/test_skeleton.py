"""The stable skeleton: causal-learn's own, whatever the order of the variables, with or without knowledge."""

import networkx as nx
import numpy as np
import pytest
from causallearn.utils.cit import CIT
from causallearn.utils.PCUtils.SkeletonDiscovery import skeleton_discovery
from graphs import random_dag, rows_from

from discovery.estimation.skeleton import stable_skeleton


def d_separation(dag):
    return lambda x, y, given: float(nx.is_d_separator(dag, {x}, {y}, set(given)))


def edges(skeleton):
    return {(x, y) for x, others in enumerate(skeleton.neighbours) for y in others if x < y}


@pytest.mark.parametrize("seed", range(8))
def test_graph_and_separators_are_causal_learns(seed):
    rng = np.random.default_rng(seed)
    codes = rows_from(random_dag(range(9), 0.4, rng), 2, 2000, rng)
    test = CIT(codes, "gsq")
    theirs = skeleton_discovery(codes, 0.05, test, stable=True, show_progress=False)
    ours = stable_skeleton(9, test, 0.05, all_separators=True)
    assert edges(ours) == {(i, j) for i in range(9) for j in range(i + 1, 9) if theirs.G.graph[i, j] != 0}
    for (x, y), separator in ours.separators.items():
        assert separator == frozenset().union(*theirs.sepset[x, y])


@pytest.mark.parametrize("seed", range(8))
def test_stopping_at_the_first_separator_keeps_the_graph(seed):
    dag = random_dag(range(9), 0.4, np.random.default_rng(seed))
    every = stable_skeleton(9, d_separation(dag), 0.5, all_separators=True)
    first = stable_skeleton(9, d_separation(dag), 0.5)
    assert edges(first) == edges(every) == {tuple(sorted(edge)) for edge in dag.edges}
    for pair, separator in first.separators.items():
        assert separator <= every.separators[pair]
        assert nx.is_d_separator(dag, {pair[0]}, {pair[1]}, set(separator))


def test_the_order_of_the_variables_does_not_matter():
    rng = np.random.default_rng(4)
    codes = rows_from(random_dag(range(8), 0.5, rng), 3, 300, rng)
    order = rng.permutation(8)
    one = edges(stable_skeleton(8, CIT(codes, "gsq"), 0.1))
    other = edges(stable_skeleton(8, CIT(codes[:, order], "gsq"), 0.1))
    assert one == {tuple(sorted((int(order[x]), int(order[y])))) for x, y in other}


def test_known_pairs_are_kept_or_left_out_without_a_test():
    def independent(x, y, given):
        assert {x, y} != {1, 2}
        return 1.0

    def dependent(x, y, given):
        assert {x, y} != {0, 3}
        return 0.0

    assert edges(stable_skeleton(4, independent, 0.05, required=[(2, 1)])) == {(1, 2)}
    assert edges(stable_skeleton(4, dependent, 0.05, forbidden=[(3, 0)])) == {
        (0, 1),
        (0, 2),
        (1, 2),
        (1, 3),
        (2, 3),
    }


def test_larger_sets_than_allowed_are_never_tested():
    sizes = set()

    def dependent(x, y, given):
        sizes.add(len(given))
        return 0.0

    assert stable_skeleton(7, dependent, 0.05, max_conditions=2).stopped_at == 2
    assert sizes == {0, 1, 2}
    assert stable_skeleton(4, dependent, 0.05, max_conditions=2).stopped_at is None
