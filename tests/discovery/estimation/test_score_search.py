"""The weight of the prior is chosen by the data; no search scores below one that it builds upon."""

import numpy as np
import pytest
from graphs import random_dag, rows_from

from discovery.errors import EstimationError
from discovery.estimation.contingency import Contingency
from discovery.estimation.counted_scores import BIC, BDeu
from discovery.estimation.estimation import estimate
from discovery.estimation.interventional import RegimeCounts
from discovery.estimation.score_search import SAMPLE_SIZES, ScoreSearch
from discovery.estimation.scores import class_score
from discovery.table.discrete_table import DiscreteTable


def drawn(seed, n=8, n_rows=500):
    rng = np.random.default_rng(seed)
    return rows_from(random_dag(range(n), 0.4, rng), 2 + seed % 2, n_rows, rng).astype(np.int16)


def table_of(codes):
    states = tuple(map(str, range(codes.max() + 1)))
    return DiscreteTable(codes, {f"v{i}": states for i in range(codes.shape[1])})


def search_of(codes, **settings):
    return ScoreSearch(RegimeCounts(table_of(codes)), **settings)


@pytest.mark.parametrize("seed", range(12))
def test_boss_from_ges_never_scores_below_ges(seed):
    codes = drawn(seed, n=5 + seed % 8)
    for settings in ({}, {"score": "bic"}, {"equivalent_sample_size": 3.0}):
        search = search_of(codes, **settings)
        assert search.run("ges-boss").total >= search.run("ges").total


@pytest.mark.parametrize("seed", range(6))
def test_the_chosen_weight_makes_the_table_most_probable(seed):
    codes = drawn(seed, n_rows=300)
    best = search_of(codes).run("ges-boss")
    counts = Contingency(codes, (codes.max(axis=0) + 1).tolist())
    totals = {
        size: class_score(BDeu(counts, equivalent_sample_size=size), best.found) for size in SAMPLE_SIZES
    }
    assert best.total == pytest.approx(totals[best.score.equivalent_sample_size])
    assert best.total == pytest.approx(max(totals.values()))


def test_a_given_weight_is_kept():
    assert search_of(drawn(0), equivalent_sample_size=7.0).run("ges").score.equivalent_sample_size == 7.0


def test_bic_is_the_likelihood_less_half_a_logarithm_for_each_parameter():
    """Two states, one parent of two: ½ log N for each of 2 parameters."""
    codes = np.array([[0, 0]] * 30 + [[0, 1]] * 10 + [[1, 0]] * 5 + [[1, 1]] * 15)
    expected = 30 * np.log(30 / 40) + 10 * np.log(10 / 40) + 5 * np.log(5 / 20) + 15 * np.log(15 / 20)
    score = BIC(Contingency(codes, [2, 2]))
    assert score.local_score(1, [0]) == pytest.approx(expected - np.log(60))
    assert score.edge_gain(0, 1) == pytest.approx(score.edge_gain(1, 0))


def test_dags_of_one_class_have_the_same_bic():
    score = BIC(Contingency(drawn(3, n=4), [3] * 4 if drawn(3, n=4).max() == 2 else [2] * 4))
    chain = score.local_score(0) + score.local_score(1, [0]) + score.local_score(2, [1])
    turned = score.local_score(2) + score.local_score(1, [2]) + score.local_score(0, [1])
    assert chain == pytest.approx(turned)


def test_an_unknown_score_is_refused_by_name():
    table = DiscreteTable(drawn(0), {f"v{i}": ("0", "1") for i in range(8)})
    with pytest.raises(EstimationError, match="score bdeu or bic but found 'bci': did you mean 'bic'"):
        estimate(table, score="bci")


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_the_columns_does_not_matter(seed):
    codes = drawn(seed, n=12)
    names = [f"v{i}" for i in range(12)]
    states = tuple(map(str, range(codes.max() + 1)))

    def edges(order):
        table = DiscreteTable(codes[:, order], {names[i]: states for i in order})
        found = estimate(table).graph
        return set(found.directed), set(map(frozenset, found.undirected))

    rng = np.random.default_rng(seed)
    assert edges(range(12)) == edges(rng.permutation(12)) == edges(rng.permutation(12))
