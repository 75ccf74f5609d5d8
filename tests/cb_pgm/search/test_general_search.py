import random

import networkx as nx
import pytest
from graphs import ordered_dags, random_chordal_dag
from printed_algorithms import Run, Slips

from cb_pgm.search import Probe, exact_answers, general, is_forest, solve
from discovery import EssentialGraph


@pytest.mark.parametrize("n", [2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_finds_what_the_mended_pseudo_code_finds(n: int) -> None:
    for dag in ordered_dags(n):
        graph = EssentialGraph.from_dag(dag)
        for variable in dag:
            run = Run(graph, dag, variable, Slips(), random.Random(0))
            result = solve(general(graph), exact_answers(dag, [variable]))
            assert set(result.candidates) == set(run.outcome())


def test_forests_are_searched_like_trees() -> None:
    for dag in ordered_dags(4):
        graph = EssentialGraph.from_dag(dag)
        if is_forest(graph):
            for variable in dag:
                assert solve(general(graph), exact_answers(dag, [variable])).reward_variables == (variable,)


def test_a_single_clique_is_found_whole() -> None:
    dag = nx.DiGraph([("A", "B"), ("A", "C"), ("B", "C")])
    for variable in dag:
        result = solve(general(EssentialGraph.from_dag(dag)), exact_answers(dag, [variable]))
        assert result.candidates == ("A", "B", "C")
        assert result.reward_variables == ()


def test_no_clique_is_found_when_nothing_moves_the_reward() -> None:
    rng = random.Random(1)
    for _ in range(50):
        dag = random_chordal_dag(rng.randint(3, 12), 4, rng)
        result = solve(general(EssentialGraph.from_dag(dag)), exact_answers(dag, []))
        assert result.candidates == ()
        assert result.note


def test_answers_that_contradict_each_other_end_the_search() -> None:
    rng = random.Random(2)
    for _ in range(300):
        dag = random_chordal_dag(rng.randint(3, 12), 4, rng)
        chance = rng.random()
        result = solve(
            general(EssentialGraph.from_dag(dag)),
            lambda query, chance=chance: Probe(
                rng.random() < chance, [other for other in query.undecided if rng.random() < chance]
            ),
        )
        assert len(result.queries) <= len(dag)


def test_a_wrong_clique_is_returned_where_the_right_one_was_cut_off() -> None:
    # The fault that can't be mended: X1 moves the reward, the branch with X2 is "up" since X1's is not all
    # above it.
    dag = nx.DiGraph()
    dag.add_nodes_from(["X1", "X2", "X3", "X4"])
    dag.add_edges_from([("X1", "X2"), ("X1", "X3"), ("X1", "X4"), ("X2", "X3"), ("X3", "X4")])
    result = solve(general(EssentialGraph.from_dag(dag)), exact_answers(dag, ["X2"]))
    assert result.candidates == ("X1", "X3", "X4")
