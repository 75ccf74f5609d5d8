"""The best tree: the information it weighs, the tree that it finds, and when it is a forest."""

import tracemalloc

import networkx as nx
import numpy as np
import pytest
from graphs import random_dag, random_tree, rows_from
from sklearn.metrics import mutual_info_score

from discovery.estimation.chow_liu import MutualInformation, best_tree
from discovery.estimation.contingency import Contingency


def counts_of(codes, n_states):
    return Contingency(codes, [n_states] * codes.shape[1])


def mutual_information(counts):
    """Return that of all pairs, float64 [n, n]."""
    columns = np.arange(counts.n_variables)
    shared = np.array([MutualInformation(counts).of(column, columns) for column in columns])
    np.fill_diagonal(shared, 0.0)
    return shared


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
    assert set(best_tree(counts).undirected) == {tuple(sorted(edge)) for edge in expected.edges}


def test_a_tree_is_found_from_enough_rows():
    rng = np.random.default_rng(1)
    tree = random_tree(15, rng)
    found = best_tree(counts_of(rows_from(tree, 3, 50_000, rng), 3))
    assert set(found.undirected) == {tuple(sorted(edge)) for edge in tree.edges}
    assert found.directed == ()


def test_nothing_shared_nothing_joined():
    """Two pairs of columns, each pair dependent, in all combinations: exactly independent of each other."""
    pair = [(0, 0), (0, 0), (0, 1), (1, 1)]
    codes = np.array([(*first, *second) for first in pair for second in pair])
    assert best_tree(counts_of(codes, 2)).undirected == ((0, 1), (2, 3))


def test_known_pairs_are_joined_or_not():
    rng = np.random.default_rng(2)
    codes = rows_from(random_tree(8, rng), 2, 3000, rng)
    counts = counts_of(codes, 2)
    free = best_tree(counts).undirected
    absent = next((i, j) for i in range(8) for j in range(i + 1, 8) if (i, j) not in free)
    found = best_tree(counts, required=[absent], forbidden=[free[0]])
    assert absent in found.undirected
    assert free[0] not in found.undirected
    assert len(found.undirected) == 7


def test_memory_is_linear_in_the_variables():
    """The information of all pairs of 1,500 variables alone would take 18 MB."""
    rng = np.random.default_rng(3)
    counts = counts_of(rng.integers(0, 2, (100, 1500)).astype(np.int16), 2)
    best_tree(counts_of(rng.integers(0, 2, (100, 3)), 2))  # compiles
    tracemalloc.start()
    best_tree(counts)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000
