"""BOSS: never below GES, as high as causal-learn's, and the same graph whatever the order of the columns."""

import random
from itertools import combinations
from math import fsum, isinf
from unittest.mock import patch

import numpy as np
import pytest
from causallearn.search.PermutationBased import BOSS
from graphs import random_dag, rows_from

from discovery.estimation.boss import _GrowShrinkTree, better_by_orders, run_boss
from discovery.estimation.causal_learn import read_matrix
from discovery.estimation.contingency import Contingency
from discovery.estimation.counted_scores import BDeu
from discovery.estimation.ges import incremental_ges
from discovery.estimation.scores import AdjacencyScore, class_of_columns, class_score
from discovery.estimation.watch import Watch
from discovery.graphs.extension import extension


def drawn(seed, n=8, n_states=2, n_rows=500, density=0.4):
    rng = np.random.default_rng(seed)
    return rows_from(random_dag(range(n), density, rng), n_states, n_rows, rng).astype(np.int16)


def bdeu_of(codes):
    return BDeu(Contingency(codes, (codes.max(axis=0) + 1).tolist()))


def joined(dag):
    return {frozenset((tail, head)) for head, tails in enumerate(dag) for tail in tails}


def class_of(score, dag, names):
    arrows = [(tail, head) for head, tails in enumerate(dag) for tail in tails]
    closed = class_of_columns(score, arrows)
    pairs = (
        [(names[int(a)], names[int(b)]) for a, b in edges] for edges in (closed.arrows(), closed.lines())
    )
    directed, undirected = pairs
    return set(directed), set(map(frozenset, undirected))


def causal_learns_boss(codes, score):
    """Return the score of the class that causal-learn's BOSS finds on the same local scores."""

    def local_score(_data, variable, parents, _parameters=None):
        return score.local_score(variable, parents)

    with patch.object(BOSS, "local_score_BDeu", local_score):
        random.seed(0)
        matrix = BOSS.boss(codes, "local_score_BDeu", verbose=False).graph
    found = read_matrix(matrix, tuple(map(str, range(codes.shape[1]))))
    dag = extension(found.nodes, found.having("→"), found.having("—"))
    return fsum(
        score.local_score(i, [int(tail) for tail, head in dag if head == str(i)])
        for i in range(codes.shape[1])
    )


@pytest.mark.parametrize("seed", range(25))
def test_the_result_is_valid_and_never_scores_below_ges(seed):
    codes = drawn(seed, n=4 + seed % 7, n_states=2 + seed % 2)
    score = bdeu_of(codes)
    ges = incremental_ges(score)
    assert class_score(score, better_by_orders(score, ges)) >= class_score(score, ges)


def test_it_finds_higher_scores_than_ges():
    """15 dense tables of ten variables: better on some, and what it returns otherwise is GES's own graph."""
    better = 0
    for seed in range(15):
        codes = drawn(seed, n=10, n_rows=1000, density=0.5)
        score = bdeu_of(codes)
        ges = incremental_ges(score)
        found = better_by_orders(score, ges)
        higher = class_score(score, found) > class_score(score, ges)
        assert higher or found == ges
        better += higher
    assert better >= 3


def test_it_ends_as_high_as_causal_learns_own():
    """30 tables on the same score; two local searches differ on single tables, so their sums are compared."""
    ours, theirs = [], []
    for seed in range(30):
        codes = drawn(seed, n=9, n_rows=1000)
        score = bdeu_of(codes)
        ours.append(class_score(score, run_boss(score)))
        theirs.append(causal_learns_boss(codes, score))
    differences = np.subtract(ours, theirs)
    assert differences.mean() > -2 * differences.std() / 30**0.5
    assert (np.abs(differences) < 1e-6).mean() > 0.5


@pytest.mark.parametrize("seed", range(10))
def test_the_order_of_the_columns_does_not_matter(seed):
    codes = drawn(seed, n=9, n_states=3, n_rows=400)
    score = bdeu_of(codes)
    order = np.random.default_rng(seed).permutation(9)
    found = run_boss(bdeu_of(codes[:, order]))
    assert class_of(score, found, order) == class_of(score, run_boss(score), range(9))


def grown_and_shrunk(score, variable, prefix):
    """Return the parents by the definition: the best is added while it helps, the worst removed."""
    parents = []
    while True:
        current = score.local_score(variable, parents)
        gains = {one: score.local_score(variable, [*parents, one]) - current for one in prefix}
        left = [one for one in prefix if one not in parents]
        best = max(left, key=gains.__getitem__, default=None)
        if best is None or gains[best] <= 0:
            break
        parents.append(best)
    while parents:
        gain, worst = max(
            (score.local_score(variable, [p for p in parents if p != one]) - current, one) for one in parents
        )
        if gain <= 0:
            break
        parents.remove(worst)
        current = score.local_score(variable, parents)
    return sorted(parents)


@pytest.mark.parametrize("seed", range(4))
def test_a_tree_chooses_as_growing_and_shrinking_do(seed):
    score = bdeu_of(drawn(seed, n=6, n_rows=2000, density=0.7))
    tree = _GrowShrinkTree(score, range(6), 5, Watch())
    for size in range(6):
        for prefix in combinations(range(5), size):
            traced = tree.trace(sum(1 << one for one in prefix))
            assert sorted(traced.parents) == grown_and_shrunk(score, 5, prefix)
            assert traced.score == score.local_score(5, traced.parents)


def test_forbidden_and_required_pairs_hold():
    codes = drawn(1, n=6, n_rows=2000, density=0.8)
    bdeu = bdeu_of(codes)
    free = joined(run_boss(bdeu))
    forbidden = [tuple(pair) for pair in sorted(map(sorted, free))[:2]]
    required = [pair for pair in combinations(range(6), 2) if frozenset(pair) not in free][:1]
    score = AdjacencyScore(bdeu, len(codes), required, forbidden)
    assert isinf(score.local_score(forbidden[0][0], [forbidden[0][1]]))
    edges = {tuple(sorted(pair)) for pair in joined(run_boss(score))}
    assert not edges.intersection(forbidden)
    assert edges.issuperset(required)


def test_the_scores_with_one_more_parent_are_the_local_scores():
    codes = drawn(4, n=6, n_states=3)
    bdeu = bdeu_of(codes)
    for score in (bdeu, AdjacencyScore(bdeu, len(codes), [(0, 3)], [(1, 3)])):
        for parents in ((), (2,), (5, 0), (4, 2, 5)):
            candidates = [i for i in range(6) if i not in (3, *parents)]
            expected = [score.local_score(3, (*parents, candidate)) for candidate in candidates]
            assert score.extended_scores(3, parents, candidates).tolist() == expected
