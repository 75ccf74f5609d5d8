import random
from collections.abc import Iterator
from math import log2

import networkx as nx
import pytest
from graphs import directed_tree, random_tree

from cb_pgm.errors import SearchError
from cb_pgm.search import Probe, exact_answers, solve, tree
from discovery import EssentialGraph


def random_trees(seed: int, n_trees: int, sizes: tuple[int, int]) -> Iterator[nx.DiGraph]:
    rng = random.Random(seed)
    for _ in range(n_trees):
        yield nx.relabel_nodes(random_tree(rng.randint(*sizes), rng), str)


#: The worked example's tree, as far as the text tells, with enough below X2 for X2 to be the first central
#: node.
FIGURE = nx.DiGraph(
    [
        ("X1", "X2"),
        ("X1", "X3"),
        ("X2", "X4"),
        ("X2", "X5"),
        ("X3", "X6"),
        ("X3", "X7"),
        ("X4", "X8"),
        ("X5", "X9"),
    ]
)


def test_the_worked_example_step_by_step() -> None:
    graph = EssentialGraph.from_dag(FIGURE)
    result = solve(tree(graph), exact_answers(FIGURE, ["X7"]))
    assert [
        (step.query.variable, step.probe.is_ancestor, set(step.probe.children), set(step.ruled_out))
        for step in result.queries
    ] == [
        # Stage 1, t = 0: X2 is no ancestor of the reward, and what is below it is crossed out.
        ("X2", False, {"X4", "X5"}, {"X2", "X4", "X5", "X8", "X9"}),
        # Stage 1, t = 1: X3 is one, so X1, upstream of it, is crossed out.
        ("X3", True, {"X6", "X7"}, {"X1"}),
        # Stage 2: X3 is central again and known; its children are asked in turn.
        ("X6", False, set(), {"X6"}),
        ("X7", True, set(), {"X3"}),
    ]
    assert result.reward_variables == result.candidates == ("X7",)
    assert all(step.reason for step in result.queries)


@pytest.mark.parametrize("n", range(1, 8))
def test_every_variable_of_every_small_tree_is_found_within_the_bound(n: int) -> None:
    for skeleton in nx.nonisomorphic_trees(n) if n > 1 else [nx.empty_graph(1)]:
        for root in skeleton:
            check_all_variables(nx.relabel_nodes(directed_tree(skeleton, root), str))


def test_every_variable_of_random_trees_is_found_within_the_bound() -> None:
    for dag in random_trees(seed=0, n_trees=60, sizes=(8, 60)):
        check_all_variables(dag)


def check_all_variables(dag: nx.DiGraph) -> None:
    graph = EssentialGraph.from_dag(dag)
    degree = max(dict(dag.degree).values())
    for variable in dag:
        result = solve(tree(graph), exact_answers(dag, [variable]))
        assert result.reward_variables == (variable,)
        asked = [step.query.variable for step in result.queries]
        assert len(asked) == len(set(asked)) <= (2 + degree) * log2(len(dag)) + 1


def test_steps_rule_out_everything_but_the_variable_named() -> None:
    for dag in random_trees(seed=1, n_trees=30, sizes=(2, 30)):
        result = solve(tree(EssentialGraph.from_dag(dag)), exact_answers(dag, [list(dag)[-1]]))
        ruled_out = [variable for step in result.queries for variable in step.ruled_out]
        assert len(ruled_out) == len(set(ruled_out))
        assert set(dag) - set(ruled_out) == set(result.reward_variables)


def test_nothing_is_named_when_nothing_moves_the_reward() -> None:
    for dag in random_trees(seed=2, n_trees=30, sizes=(1, 30)):
        result = solve(tree(EssentialGraph.from_dag(dag)), exact_answers(dag, []))
        assert result.reward_variables == result.candidates == ()
        assert "no variable" in result.note


def test_answers_that_contradict_each_other_end_the_search() -> None:
    rng = random.Random(3)
    for dag in random_trees(seed=3, n_trees=200, sizes=(1, 20)):
        chance = rng.random()
        result = solve(
            tree(EssentialGraph.from_dag(dag)),
            lambda query, chance=chance: Probe(
                rng.random() < chance, [other for other in query.undecided if rng.random() < chance]
            ),
        )
        assert len(result.queries) <= len(dag)
        moved = [step.query.variable for step in result.queries if step.probe.is_ancestor]
        assert (result.reward_variables == ()) == (moved == [])


def test_background_arrows_are_used_and_not_asked_about() -> None:
    dag = nx.relabel_nodes(directed_tree(nx.path_graph(7), 0), str)
    graph = EssentialGraph.from_dag(dag)
    told = EssentialGraph(graph.nodes, graph.directed, graph.undirected, background=[("0", "1")])
    for variable in dag:
        result = solve(tree(told), exact_answers(dag, [variable]))
        assert result.reward_variables == (variable,)
        assert not any(step.query.undecided for step in result.queries)  # all follows from 0 → 1


@pytest.mark.parametrize(
    "edges", [["AB", "AC", "BC"], ["AB", "CD"], []], ids=["a cycle", "two trees", "isolated nodes"]
)
def test_other_graphs_are_refused_before_the_first_question(edges: list[str]) -> None:
    with pytest.raises(SearchError, match="one undirected tree"):
        tree(EssentialGraph("ABCD", directed=[], undirected=edges))


def test_ten_thousand_variables_are_searched_in_near_linear_time() -> None:
    # Questions are few and cost little: the whole takes well under a second.
    for skeleton in (nx.path_graph(10_000), nx.star_graph(9_999)):
        dag = nx.relabel_nodes(directed_tree(skeleton, 0), str)
        result = solve(tree(EssentialGraph.from_dag(dag)), exact_answers(dag, ["2500"]))
        assert result.reward_variables == ("2500",)
