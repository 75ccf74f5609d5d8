"""GES takes causal-learn's steps: the class of causal-learn's own graph on every table, ties included."""

from unittest.mock import patch

import numpy as np
import pytest
from causallearn.search.ScoreBased import GES
from graphs import random_dag, rows_from

from discovery.estimation.causal_learn import read_matrix
from discovery.estimation.contingency import Contingency
from discovery.estimation.counted_scores import BIC, BDeu
from discovery.estimation.estimation import estimate
from discovery.estimation.ges import incremental_ges
from discovery.estimation.scores import AdjacencyScore, class_of_columns
from discovery.graphs.repair import repair
from discovery.table.discrete_table import DiscreteTable


def counted(codes, kind=BDeu, **settings):
    return kind(Contingency(codes, (codes.max(axis=0) + 1).tolist()), **settings)


def drawn(rng, *, widest=8, most_rows=1000):
    n, n_states = int(rng.integers(2, widest + 1)), int(rng.integers(2, 4))
    dag = random_dag(range(n), float(rng.uniform(0.1, 0.8)), rng)
    return rows_from(dag, n_states, min(int(rng.choice([30, 100, 1000])), most_rows), rng).astype(np.int16)


def edges_of(score):
    dag = incremental_ges(score)
    closed = class_of_columns(score, [(tail, head) for head, tails in enumerate(dag) for tail in tails])
    return set(closed.arrows()), set(map(frozenset, closed.lines()))


def assert_same(codes, score):
    """Compare with causal-learn's loop on the same score, which is put into it for one call."""

    def local_score(_data, variable, parents, _parameters=None):
        return score.local_score(variable, parents)

    with patch.object(GES, "local_score_BDeu", local_score):
        matrix = GES.ges(codes, score_func="local_score_BDeu")["G"].graph
    theirs = read_matrix(matrix, tuple(map(str, range(codes.shape[1]))))
    assert edges_of(score) == (set(theirs.having("→")), set(map(frozenset, theirs.having("—"))))


@pytest.mark.parametrize("seed", range(5))
def test_the_graph_is_causal_learns(seed):
    """20 tables of 2 to 8 variables a seed."""
    rng = np.random.default_rng(seed)
    for trial in range(20):
        codes = drawn(rng)
        assert_same(codes, counted(codes, BIC if trial % 3 == 0 else BDeu))


def test_the_method_causal_learn_ges_is_untouched_and_finds_what_ges_does():
    rng = np.random.default_rng(7)
    before = dict(vars(GES))
    for _ in range(5):
        codes = drawn(rng, widest=5, most_rows=100)
        states = {f"v{i}": tuple(map(str, range(codes.max() + 1))) for i in range(codes.shape[1])}
        table = DiscreteTable(codes, states)
        theirs = estimate(table, "causal-learn-ges")
        assert theirs.graph == estimate(table, "ges", equivalent_sample_size=1.0).graph
        own = read_matrix(GES.ges(codes, score_func="local_score_BDeu")["G"].graph, table.variables)
        assert theirs.graph == repair(own.nodes, own.having("→"), own.having("—"))[0]
    assert dict(vars(GES)) == before


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
    directed, undirected = edges_of(counted(codes))
    assert not directed
    assert undirected == {frozenset(("0", str(effect))) for effect in range(1, 61)}
