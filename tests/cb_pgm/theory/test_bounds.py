import math
import random
from math import ceil, inf, log, log2

import pytest
from graphs import ordered_dags, random_chordal_dag

from cb_pgm.errors import CausalBanditError
from cb_pgm.search import exact_answers, forest, general, is_forest, solve, tree
from cb_pgm.theory import batch_size, exploration_bound, minimax_lower_bound, regret_bound
from discovery import EssentialGraph

#: Networks with a leaf as the reward: variables without it, largest number of states, gaps to four digits,
#: and B, at δ = .05 and σ = 1/2.
NETWORKS = [
    ("cancer Xray=negative, effective", 4, 2, 0.6919, 1.0, 120),
    ("earthquake MaryCalls=True", 4, 2, 0.1935, 0.2805, 1_529),
    ("earthquake MaryCalls=True, effective", 4, 2, 0.6789, 1.0, 125),
    ("asia xray=yes", 7, 2, 0.0348, 0.0396, 50_953),
    ("asia xray=yes, effective", 7, 2, 0.8697, 1.0, 82),
    ("child GruntingReport=no", 19, 6, 0.0118, 0.0499, 567_631),
    ("child GruntingReport=no, effective", 19, 6, 0.5435, 1.0, 266),
    ("insurance ILiCost=Thousand, effective", 26, 5, 0.1688, 1.0, 2_791),
    ("alarm HISTORY=TRUE", 36, 4, 0.8455, 0.0046, 1_399_924),
    ("alarm HISTORY=TRUE, effective", 36, 4, 0.8455, 1.0, 113),
]


@pytest.mark.parametrize(("name", "n", "n_states", "reward_gap", "effect_gap", "expected"), NETWORKS)
def test_batch_size_on_real_networks(
    name: str, n: int, n_states: int, reward_gap: float, effect_gap: float, expected: int
) -> None:
    """The gaps are rounded to four digits, which leaves B an interval."""
    half = 0.5e-4

    def size(sign: int) -> float:
        return batch_size(
            n, n_states, reward_gap + sign * half, effect_gap + sign * half, 0.05, noise_scale=0.5
        )

    assert size(+1) <= expected <= size(-1)


def test_batch_size_is_theorem_1s() -> None:
    n, k, reward_gap, effect_gap, delta = 12, 3, 0.3, 0.2, 0.1
    expected = max(
        32 / reward_gap**2 * log(8 * n * k / delta), 2 / effect_gap**2 * log(8 * n**2 * k**2 / delta)
    )
    assert batch_size(n, k, reward_gap, effect_gap, delta) == ceil(expected)


def test_batch_size_makes_the_promised_deviations_improbable() -> None:
    """Hoeffding: an arm's mean is within Δ/4, and a frequency within ε/2, but with probability δ/4nK and
    δ/4n²K²."""
    n, k, gap, delta = 8, 2, 0.25, 0.05
    rewards = batch_size(n, k, gap, 1e9, delta)
    assert 2 * math.exp(-rewards * (gap / 4) ** 2 / 2) <= delta / (4 * n * k)
    effects = batch_size(n, k, 1e9, gap, delta)
    assert 2 * math.exp(-2 * effects * (gap / 2) ** 2) <= delta / (4 * n**2 * k**2)


def test_rewards_cost_with_the_square_of_the_noise() -> None:
    one, half = (batch_size(10, 2, 0.01, 1.0, 0.05, noise_scale=scale) for scale in (1.0, 0.5))
    assert one == pytest.approx(4 * half, rel=1e-4)


def test_estimated_marginals_cost_pulls_and_can_make_it_impossible() -> None:
    n, k, effect_gap, delta = 10, 3, 0.2, 0.05
    exact = batch_size(n, k, 1.0, effect_gap, delta)
    sizes = [batch_size(n, k, 1.0, effect_gap, delta, marginal_rows=10**power) for power in range(3, 10)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1] >= exact
    fewest = log(16 * n * k / delta) / (2 * (effect_gap / 2) ** 2)  # rows at which η = ε/2
    assert batch_size(n, k, 1.0, effect_gap, delta, marginal_rows=int(fewest)) == inf
    assert batch_size(n, k, 1.0, effect_gap, delta, marginal_rows=2 * int(fewest)) < inf


def test_no_number_of_pulls_is_enough_for_a_gap_of_zero() -> None:
    assert batch_size(4, 2, 0.0, 0.5, 0.05) == inf
    assert batch_size(4, 2, 0.5, 0.0, 0.05) == inf


@pytest.mark.parametrize(
    "wrong",
    [
        {"n": 0},
        {"n_states": 0},
        {"reward_gap": -0.1},
        {"effect_gap": math.nan},
        {"failure_prob": 0},
        {"failure_prob": 1},
        {"noise_scale": 0},
        {"marginal_rows": 0},
    ],
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    right = {"n": 4, "n_states": 2, "reward_gap": 0.3, "effect_gap": 0.3, "failure_prob": 0.05}
    with pytest.raises(CausalBanditError, match=f"Expected (a )?{next(iter(wrong))}"):
        batch_size(**{**right, **wrong})


# -- bounds
# ------------------------------------------------------------------------------------------------------


def path(n: int) -> EssentialGraph:
    return EssentialGraph(
        range_names(n), directed=[], undirected=zip(range_names(n), range_names(n)[1:], strict=False)
    )


def range_names(n: int) -> list[str]:
    return [f"X{i}" for i in range(n)]


def test_exploration_of_a_tree_is_lemma_1s() -> None:
    assert exploration_bound(path(64), 3, 100, "tree") == 3 * 100 * (2 + 2) * log2(64) + 100


def test_exploration_of_a_forest_is_theorem_2s() -> None:
    two = EssentialGraph(range_names(8), directed=[], undirected=[("X0", "X1"), ("X1", "X2"), ("X3", "X4")])
    assert exploration_bound(two, 2, 10, "forest") == 2 * 10 * (2 + 5 + 1) * log2(8) + 10


def test_exploration_of_a_general_graph_is_theorem_3s() -> None:
    triangle_and_edge = EssentialGraph("ABCDE", directed=[], undirected=["AB", "AC", "BC", "BD"])
    # {A,B,C} and {B,D}: ω = 3, two cliques, one neighbour each; {E}: ω = 1, one clique, none.
    stage_one, stage_two = 3 * (log2(2) + 1) + 1 * (log2(1) + 1), (1 + 1) * 3 * (log2(2) + 1)
    assert exploration_bound(triangle_and_edge, 2, 10) == 2 * 10 * (stage_one + stage_two) + 10


def test_questions_stay_within_the_bounds() -> None:
    """With B = 1 and K = 1 the bound is one more, for do(), than the number of questions."""
    rng = random.Random(0)
    dags = [*ordered_dags(4), *(random_chordal_dag(20, 4, rng) for _ in range(50))]
    for dag in dags:
        graph = EssentialGraph.from_dag(dag)
        searches = [(general, "general")]
        if is_forest(graph):
            searches.append((forest, "forest"))
            if len(graph.chain_components()) == 1:
                searches.append((tree, "tree"))
        for search, kind in searches:
            for variable in dag:
                result = solve(search(graph), exact_answers(dag, [variable]))
                if variable in result.candidates:
                    assert len(result.queries) + 1 <= exploration_bound(graph, 1, 1, kind)


def test_a_bound_is_only_given_for_graphs_of_its_kind() -> None:
    triangle = EssentialGraph("ABC", directed=[], undirected=["AB", "AC", "BC"])
    with pytest.raises(CausalBanditError, match="kind='general'"):
        exploration_bound(triangle, 2, 10, "forest")
    with pytest.raises(CausalBanditError, match="kind='forest'"):
        exploration_bound(EssentialGraph("AB", directed=[], undirected=[]), 2, 10, "tree")
    with pytest.raises(CausalBanditError, match="'trees'"):
        exploration_bound(triangle, 2, 10, "trees")


def test_regret_adds_stage_threes_to_the_exploration() -> None:
    graph, horizon = path(16), 10**6
    exploration = exploration_bound(graph, 3, 50, "tree")
    assert regret_bound(graph, 3, 50, horizon, "tree") == exploration + math.sqrt(3 * horizon * log(horizon))
    clique = EssentialGraph("ABC", directed=[], undirected=["AB", "AC", "BC"])
    later = regret_bound(clique, 3, 50, horizon) - exploration_bound(clique, 3, 50)
    assert later == pytest.approx(math.sqrt(9 * horizon * log(horizon)))  # ω = 3 variables of 3 states


def test_nobody_beats_the_lower_bound_and_it_stays_below_what_is_possible() -> None:
    for horizon in (10**3, 10**5):
        bound = minimax_lower_bound(10, 5, horizon, noise_scale=0.5)
        assert bound == pytest.approx(0.5 * math.sqrt(50 * horizon) / 8)
        assert bound < horizon  # means lie in [0, 1]


@pytest.mark.parametrize(("n", "n_states", "horizon"), [(1, 2, 100), (10, 10, 6)])
def test_the_lower_bounds_proof_needs_arms_and_rounds(n: int, n_states: int, horizon: int) -> None:
    with pytest.raises(CausalBanditError, match="Expected at least 3 arms"):
        minimax_lower_bound(n, n_states, horizon)
