"""The best tree: the information it weighs, the tree that it finds, and when it is a forest."""

import networkx as nx
import numpy as np
import pytest
from graphs import random_dag, random_tree, rows_from
from sklearn.metrics import mutual_info_score

from discovery.estimation.chow_liu import best_tree, mutual_information
from discovery.estimation.contingency import Contingency


def counts_of(codes, n_states):
    return Contingency(codes, [n_states] * codes.shape[1])


@pytest.mark.parametrize("n_states", [2, 4])
def test_mutual_information_is_scikit_learns(n_states):
    rng = np.random.default_rng(n_states)
    codes = rows_from(random_dag(range(6), 0.5, rng), n_states, 20_000, rng)
    shared = mutual_information(counts_of(codes, n_states))
    for i in range(6):
        for j in range(i):
            assert shared[i, j] == pytest.approx(mutual_info_score(codes[:, i], codes[:, j]), abs=1e-12)
    assert np.array_equal(np.diagonal(shared), np.zeros(6))


@pytest.mark.parametrize("seed", range(5))
def test_no_tree_has_more_information(seed):
    rng = np.random.default_rng(seed)
    codes = rows_from(random_tree(30, rng), 3, 200, rng)
    counts = counts_of(codes, 3)
    shared = mutual_information(counts)
    complete = nx.Graph()
    complete.add_weighted_edges_from((i, j, shared[i, j]) for i in range(30) for j in range(i))
    expected = nx.maximum_spanning_tree(complete)
    assert set(best_tree(counts)) == {tuple(sorted(edge)) for edge in expected.edges}


def test_a_tree_is_found_from_enough_rows():
    rng = np.random.default_rng(1)
    tree = random_tree(15, rng)
    found = best_tree(counts_of(rows_from(tree, 3, 50_000, rng), 3))
    assert set(found) == {tuple(sorted(edge)) for edge in tree.edges}


def test_nothing_shared_nothing_joined():
    """Two pairs of columns, each pair dependent, in all combinations: exactly independent of each other."""
    pair = [(0, 0), (0, 0), (0, 1), (1, 1)]
    codes = np.array([(*first, *second) for first in pair for second in pair])
    assert best_tree(counts_of(codes, 2)) == ((0, 1), (2, 3))


def test_known_pairs_are_joined_or_not():
    rng = np.random.default_rng(2)
    codes = rows_from(random_tree(8, rng), 2, 3000, rng)
    counts = counts_of(codes, 2)
    free = best_tree(counts)
    absent = next((i, j) for i in range(8) for j in range(i + 1, 8) if (i, j) not in free)
    found = best_tree(counts, required=[absent], forbidden=[free[0]])
    assert absent in found
    assert free[0] not in found
    assert len(found) == 7
