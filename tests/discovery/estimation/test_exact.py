"""The default search reaches the highest score of all DAGs on tables of up to ten columns."""

from itertools import permutations
from math import fsum

import numpy as np
import pytest
from graphs import all_dags, random_dag, rows_from

from discovery.estimation.contingency import Contingency
from discovery.estimation.counted_scores import BDeu
from discovery.estimation.exact import better_of_all
from discovery.estimation.interventional import RegimeCounts
from discovery.estimation.score_search import SAMPLE_SIZES, ScoreSearch
from discovery.estimation.scores import class_score
from discovery.estimation.watch import Watch
from discovery.table.discrete_table import DiscreteTable


def drawn(rng, n):
    dag = random_dag(range(n), float(rng.uniform(0.2, 0.7)), rng)
    return rows_from(dag, int(rng.integers(2, 4)), int(rng.choice([100, 1000, 5000])), rng).astype(np.int16)


def score_of(codes, **settings):
    return BDeu(Contingency(codes, (codes.max(axis=0) + 1).tolist()), **settings)


def nothing(n):
    return ((),) * n


def test_no_dag_of_four_columns_has_a_higher_score():
    """20 tables of two to four columns, each against all DAGs."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = int(rng.integers(2, 5))
        score = score_of(drawn(rng, n))
        totals = [
            fsum(score.local_score(node, dag.predecessors(node)) for node in dag)
            for dag in all_dags(range(n))
        ]
        best = better_of_all(score, nothing(n))
        assert class_score(score, best) == pytest.approx(max(totals), abs=1e-6)


def test_no_order_of_six_columns_has_a_better_dag():
    """Each order's best DAG takes the best parents among the earlier columns."""
    score = score_of(drawn(np.random.default_rng(1), 6))
    best_of = {}
    for node in range(6):
        for before in range(64):
            inside = [other for other in range(6) if other != node and before >> other & 1]
            sets = range(2 ** len(inside))
            best_of[node, before] = max(
                score.local_score(node, [one for i, one in enumerate(inside) if chosen >> i & 1])
                for chosen in sets
            )
    totals = []
    for order in permutations(range(6)):
        masks = [sum(1 << other for other in order[:place]) for place in range(6)]
        totals.append(fsum(best_of[node, mask] for node, mask in zip(order, masks, strict=True)))
    assert class_score(score, better_of_all(score, nothing(6))) == pytest.approx(max(totals), abs=1e-6)


@pytest.mark.parametrize("tables", [10, pytest.param(60, marks=pytest.mark.slow)])
def test_the_default_search_reaches_the_optimum_over_graphs_and_weights_of_the_prior(tables):
    """Tables of two to ten columns; BOSS alone falls short on a tenth of them."""
    rng = np.random.default_rng(2)
    for _ in range(tables):
        codes = drawn(rng, n := int(rng.integers(2, 11)))
        states = tuple(map(str, range(codes.max() + 1)))
        table = DiscreteTable(codes, {f"v{i}": states for i in range(n)})
        scores = [score_of(codes, equivalent_sample_size=size) for size in SAMPLE_SIZES]
        highest = max(class_score(score, better_of_all(score, nothing(n))) for score in scores)
        found = ScoreSearch(RegimeCounts(table)).run("ges-boss")
        assert found.total == pytest.approx(highest, abs=1e-6)


def test_without_time_the_graph_so_far_stays():
    score = score_of(drawn(np.random.default_rng(3), 5))
    assert better_of_all(score, nothing(5), Watch(time_limit=1e-9)) == nothing(5)
