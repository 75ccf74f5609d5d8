"""GES with a counted score: causal-learn's own result, from a causal-learn that is afterwards as it was."""

import numpy as np
import pytest
from causallearn.search.ScoreBased import GES
from graphs import random_dag, rows_from

from discovery.estimation.causal_learn import patched, read_matrix
from discovery.estimation.contingency import Contingency
from discovery.estimation.counted_scores import BDeu
from discovery.estimation.ges_search import run_ges


def counted(codes, n_states):
    return run_ges(codes, BDeu(Contingency(codes, [n_states] * codes.shape[1])).local_score)


def causal_learns_own(codes):
    return read_matrix(GES.ges(codes, score_func="local_score_BDeu")["G"].graph)


@pytest.mark.parametrize("seed", range(12))
def test_the_result_is_causal_learns_own(seed):
    rng = np.random.default_rng(seed)
    n, n_states = int(rng.integers(3, 8)), int(rng.integers(2, 4))
    dag = random_dag(range(n), 0.5, rng)
    codes = rows_from(dag, n_states, int(rng.choice([100, 1000])), rng)
    assert counted(codes, n_states) == causal_learns_own(codes)


@pytest.mark.parametrize("seed", range(6))
def test_the_faster_helpers_change_nothing(seed, monkeypatch):
    """Denser graphs than causal-learn's own score has time for: the same search with its own helpers."""
    rng = np.random.default_rng(seed)
    codes = rows_from(random_dag(range(14), 0.3, rng), 2, 3000, rng)
    faster = counted(codes, 2)
    monkeypatch.setattr("discovery.estimation.ges_search._faster_helpers", lambda module: {})
    assert counted(codes, 2) == faster
    assert faster.directed


def test_causal_learn_is_unchanged_afterwards():
    rng = np.random.default_rng(0)
    codes = rows_from(random_dag(range(4), 0.5, rng), 2, 200, rng)
    before = dict(vars(GES))
    counted(codes, 2)
    assert dict(vars(GES)) == before

    def fails(variable, parents):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_ges(codes, fails)
    assert dict(vars(GES)) == before


def test_a_causal_learn_with_another_hook_keeps_its_own_and_says_so(monkeypatch):
    rng = np.random.default_rng(1)
    codes = rows_from(random_dag(range(4), 0.5, rng), 2, 500, rng)
    expected = causal_learns_own(codes)
    search, own_score = GES.ges, GES.local_score_BDeu

    def ignores_what_was_put_in(data, score_func):
        with patched((GES, {"local_score_BDeu": own_score})):
            return search(data, score_func=score_func)

    monkeypatch.setattr(GES, "ges", ignores_what_was_put_in)
    found = counted(codes, 2)
    assert (found.directed, found.undirected) == (expected.directed, expected.undirected)
    assert len(found.warnings) == 1
    assert "its own BDeu" in found.warnings[0]


def test_a_causal_learn_that_minimises_gets_the_score_with_the_other_sign(monkeypatch):
    """As up to its version 0.1.4.3: a search that turns every score round before it maximises."""
    rng = np.random.default_rng(2)
    codes = rows_from(random_dag(range(6), 0.4, rng), 2, 1000, rng)
    expected = counted(codes, 2)
    search, own_score = GES.ges, GES.local_score_BDeu

    def turned(score):
        return lambda *arguments: -score(*arguments)

    def minimises(data, score_func):
        with patched((GES, {"local_score_BDeu": turned(GES.local_score_BDeu)})):
            return search(data, score_func=score_func)

    monkeypatch.setattr(GES, "local_score_BDeu", turned(own_score))
    monkeypatch.setattr(GES, "ges", minimises)
    assert counted(codes, 2) == expected


def test_two_variables_are_joined_where_they_depend_on_each_other():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 500)
    assert counted(np.stack([x, x ^ (rng.random(500) < 0.1)], 1), 2).undirected == ((0, 1),)
    assert counted(rng.integers(0, 2, (500, 2)), 2).undirected == ()


def test_a_variable_with_thirty_effects_takes_seconds():
    """causal-learn's own loops would go through 2³⁰ subsets."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (4000, 33)).astype(np.int16)
    for effect in range(1, 31):
        codes[:, effect] = codes[:, 0] ^ (rng.random(4000) < 0.25)
    assert counted(codes, 2).undirected == tuple((0, effect) for effect in range(1, 31))


def test_parents_that_score_minus_infinity_never_occur():
    rng = np.random.default_rng(3)
    codes = rows_from(random_dag(range(6), 0.8, rng), 2, 3000, rng)
    bdeu = BDeu(Contingency(codes, [2] * 6))

    def score(variable, parents):
        apart = any({int(parent), variable} == {0, 1} for parent in parents)
        return float("-inf") if apart else bdeu.local_score(variable, parents)

    assert {0, 1} in [set(pair) for pair in (*counted(codes, 2).directed, *counted(codes, 2).undirected)]
    found = run_ges(codes, score)
    assert {0, 1} not in [set(pair) for pair in (*found.directed, *found.undirected)]
