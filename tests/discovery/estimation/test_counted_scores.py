"""The counted G² test and BDeu score: causal-learn's numbers, the textbook's properties, and edge cases."""

from itertools import permutations
from math import comb

import numpy as np
import pytest

from discovery.errors import EstimationError
from discovery.estimation.contingency import Contingency
from discovery.estimation.counted_scores import BDeu, GSquare

#: Rows, states per variable: tables from full to nearly empty, with strata, rows and columns of zeros.
SHAPES = [
    (20, [2, 2, 2, 2, 2]),
    (60, [5, 4, 3, 5, 4, 3]),
    (500, [3, 2, 4, 3, 2, 2]),
    (4000, [2, 3, 3, 2, 6, 2]),
]


def dependent_rows(n_rows, cardinalities, rng):
    """Draw rows in which each variable follows the one before it half of the time; every state occurs."""
    codes = np.stack([rng.integers(0, c, n_rows) for c in cardinalities], axis=1)
    for column in range(1, len(cardinalities)):
        follows = rng.random(n_rows) < 0.5
        codes[follows, column] = codes[follows, column - 1] % cardinalities[column]
    for column, cardinality in enumerate(cardinalities):
        codes[rng.choice(n_rows, cardinality, replace=False), column] = np.arange(cardinality)
    return codes


def random_queries(n_variables, rng, n_queries=60):
    for _ in range(n_queries):
        x, y, *given = rng.permutation(n_variables)[: rng.integers(2, n_variables + 1)]
        yield int(x), int(y), tuple(map(int, given))


@pytest.mark.parametrize(("n_rows", "cardinalities"), SHAPES)
def test_g_square_is_causal_learns_to_nine_digits(n_rows, cardinalities):
    from causallearn.utils.cit import CIT
    from scipy.stats import chi2

    rng = np.random.default_rng(n_rows)
    codes = dependent_rows(n_rows, cardinalities, rng)
    ours, theirs = GSquare(Contingency(codes, cardinalities)), CIT(codes, "gsq")
    for x, y, given in random_queries(len(cardinalities), rng):
        result = ours.test(x, y, given)
        assert result.p_value == pytest.approx(theirs(x, y, given), rel=1e-9, abs=1e-300)
        if result.degrees_of_freedom:
            expected = chi2.sf(result.statistic, result.degrees_of_freedom)
            assert result.p_value == pytest.approx(expected, rel=1e-12)


def test_states_that_do_not_occur_in_a_stratum_cost_degrees_of_freedom():
    """Stratum 0 holds a 2×2 table, stratum 1 a 1×2 one and stratum 2 nothing: 1 + 0 degrees of freedom."""
    codes = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [2, 0, 1], [2, 1, 1]])
    assert GSquare(Contingency(codes, [3, 2, 3])).test(0, 1, (2,)).degrees_of_freedom == 1


def test_without_degrees_of_freedom_nothing_speaks_against_independence():
    codes = np.array([[0, 0], [0, 1], [0, 1]])
    assert GSquare(Contingency(codes, [2, 2])).test(0, 1).p_value == 1.0


def test_g_square_is_symmetric_and_keeps_its_level():
    """3,000 tables of 200 rows, a second; the rate within 4.5 deviations (1e-5) and a tenth, χ²'s error."""
    rng, runs, alpha = np.random.default_rng(5), 3000, 0.05
    rejections = 0
    for _ in range(runs):
        test = GSquare(Contingency(rng.integers(0, 2, (200, 2)), [2, 2]))
        forwards, backwards = test.test(0, 1), test.test(1, 0)
        assert forwards.p_value == pytest.approx(backwards.p_value, rel=1e-9)
        rejections += forwards.p_value <= alpha
    assert abs(rejections / runs - alpha) < 4.5 * np.sqrt(alpha * (1 - alpha) / runs) + 0.1 * alpha


@pytest.mark.parametrize(("n_rows", "cardinalities"), SHAPES)
def test_bdeu_is_causal_learns_to_nine_digits(n_rows, cardinalities):
    from causallearn.score.LocalScoreFunction import local_score_BDeu

    rng = np.random.default_rng(n_rows + 1)
    codes = dependent_rows(n_rows, cardinalities, rng)
    ours = BDeu(Contingency(codes, cardinalities))
    for x, _, parents in random_queries(len(cardinalities), rng, 25):
        assert ours.local_score(x, parents) == pytest.approx(
            local_score_BDeu(codes, x, list(parents)), rel=1e-9
        )


@pytest.mark.parametrize(("sample_size", "prior"), [(1.0, 1.0), (10.0, 2.5), (0.1, 0.5)])
def test_bdeus_settings_are_what_causal_learn_calls_its_parameters(sample_size, prior):
    from causallearn.score.LocalScoreFunction import local_score_BDeu

    rng, cardinalities = np.random.default_rng(7), [2, 3, 4, 2]
    codes = dependent_rows(300, cardinalities, rng)
    ours = BDeu(Contingency(codes, cardinalities), equivalent_sample_size=sample_size, structure_prior=prior)
    parameters = {
        "sample_prior": sample_size,
        "structure_prior": prior,
        "r_i_map": dict(enumerate(cardinalities)),
    }
    for x, _, parents in random_queries(4, rng, 20):
        expected = local_score_BDeu(codes, x, list(parents), parameters)
        assert ours.local_score(x, parents) == pytest.approx(expected, rel=1e-9)


def test_all_complete_graphs_score_alike():
    """Every order of four variables gives a DAG of the same class, hence the same score."""
    cardinalities = [2, 3, 2, 4]
    bdeu = BDeu(Contingency(dependent_rows(200, cardinalities, np.random.default_rng(3)), cardinalities))
    scores = [
        sum(bdeu.local_score(node, order[:place]) for place, node in enumerate(order))
        for order in permutations(range(4))
    ]
    assert scores == pytest.approx([scores[0]] * 24, rel=1e-12)
    assert bdeu.edge_gain(0, 3) == pytest.approx(bdeu.edge_gain(3, 0), rel=1e-9)


def test_the_prior_over_parents_is_a_distribution():
    """The prior's part of the score, summed over all sets of parents out of four other variables."""
    bdeu = BDeu(Contingency(np.zeros((1, 5), dtype=int), [1] * 5), structure_prior=1.7)
    assert sum(comb(4, k) * np.exp(bdeu.local_score(0, range(1, k + 1))) for k in range(5)) == pytest.approx(
        1.0
    )


def test_with_two_variables_both_graphs_are_possible():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 400)
    copied, independent = np.stack([x, x ^ (rng.random(400) < 0.2)], 1), rng.integers(0, 2, (400, 2))
    gains = [BDeu(Contingency(codes, [2, 2])).edge_gain(0, 1) for codes in (copied, independent)]
    assert np.isfinite(gains).all()
    assert gains[0] > 0 > gains[1]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"equivalent_sample_size": 0.0}, "equivalent_sample_size but found 0.0"),
        ({"equivalent_sample_size": float("inf")}, "equivalent_sample_size but found inf"),
        ({"structure_prior": 0.0}, "structure_prior .* but found 0.0"),
        ({"structure_prior": 2.0}, "below 2, .* but found 2.0"),
    ],
)
def test_settings_out_of_range_are_refused_by_name(settings, named):
    with pytest.raises(EstimationError, match=named):
        BDeu(Contingency(np.zeros((4, 3), dtype=int), [2, 2, 2]), **settings)
