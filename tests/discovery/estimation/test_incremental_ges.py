"""The incremental GES takes causal-learn's steps: the same graph on every table, ties included."""

import numpy as np
import pytest
from graphs import random_dag, rows_from

from discovery.estimation.contingency import Contingency
from discovery.estimation.counted_scores import BIC, BDeu
from discovery.estimation.ges_search import run_ges
from discovery.estimation.incremental_ges import incremental_ges
from discovery.estimation.scores import AdjacencyScore


def counted(codes, kind=BDeu, **settings):
    return kind(Contingency(codes, (codes.max(axis=0) + 1).tolist()), **settings)


def drawn(rng, *, widest=8):
    n, n_states = int(rng.integers(2, widest + 1)), int(rng.integers(2, 4))
    dag = random_dag(range(n), float(rng.uniform(0.1, 0.8)), rng)
    return rows_from(dag, n_states, int(rng.choice([30, 100, 1000])), rng).astype(np.int16)


def assert_same(codes, score):
    assert incremental_ges(score) == run_ges(codes, score.local_score)


@pytest.mark.parametrize("seed", range(5))
def test_the_graph_is_causal_learns(seed):
    """20 tables of 2 to 8 variables a seed."""
    rng = np.random.default_rng(seed)
    for trial in range(20):
        codes = drawn(rng)
        assert_same(codes, counted(codes, BIC if trial % 3 == 0 else BDeu))


@pytest.mark.slow
def test_the_graphs_of_a_thousand_tables_are_causal_learns():
    """1,000 tables of 2 to 11 variables; two minutes."""
    rng = np.random.default_rng(99)
    for _ in range(1000):
        codes = drawn(rng, widest=11)
        assert_same(codes, counted(codes, equivalent_sample_size=float(rng.choice([1, 10]))))


@pytest.mark.parametrize("seed", range(5))
def test_ties_are_decided_as_causal_learn_does(seed):
    """10 tables a seed: columns that are copies of others, renamed copies, or of one state only."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        codes = drawn(rng, widest=5)
        copies = codes[:, rng.integers(0, codes.shape[1], 3)]
        copies[:, 1] = copies[:, 1].max() - copies[:, 1]
        copies[:, 2] *= int(rng.integers(0, 2))
        codes = np.concatenate([codes, copies], axis=1)[:, rng.permutation(codes.shape[1] + 3)]
        assert_same(codes, counted(codes))


@pytest.mark.parametrize("seed", range(5))
def test_known_adjacencies_lead_both_the_same_way(seed):
    rng = np.random.default_rng(seed)
    codes = drawn(rng) if seed else rows_from(random_dag(range(7), 0.7, rng), 2, 1000, rng).astype(np.int16)
    n = codes.shape[1]
    pairs = [(i, j) for i in range(n) for j in range(i)]
    chosen = [pairs[k] for k in rng.permutation(len(pairs))]
    score = AdjacencyScore(counted(codes), len(codes), chosen[: n // 3], chosen[n // 3 : n])
    assert_same(codes, score)


def test_a_star_of_sixty_effects_takes_a_moment():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (2000, 61)).astype(np.int16)
    codes[:, 1:] = codes[:, :1] ^ (rng.random((2000, 60)) < 0.2)
    assert incremental_ges(counted(codes)).undirected == tuple((0, effect) for effect in range(1, 61))
