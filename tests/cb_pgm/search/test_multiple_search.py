import random
from itertools import combinations

import networkx as nx
import pytest
from graphs import ordered_dags, random_chordal_dag

from cb_pgm.search import Probe, exact_answers, multiple, solve
from discovery import EssentialGraph


@pytest.mark.parametrize("n", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_every_set_of_parents_in_every_dag_is_found(n: int) -> None:
    for dag in ordered_dags(n):
        graph = EssentialGraph.from_dag(dag)
        for size in range(n + 1):
            for parents in combinations(dag, size):
                result = solve(multiple(graph), exact_answers(dag, parents))
                assert result.reward_variables == result.candidates == parents


def test_larger_graphs() -> None:
    rng = random.Random(0)
    for _ in range(200):
        dag = random_chordal_dag(rng.randint(5, 40), rng.randint(2, 6), rng)
        parents = rng.sample(list(dag), rng.randint(1, 4))
        result = solve(multiple(EssentialGraph.from_dag(dag)), exact_answers(dag, parents))
        assert set(result.reward_variables) == set(parents)


def test_only_parents_found_are_held_and_no_question_is_repeated() -> None:
    rng = random.Random(1)
    for dag in ordered_dags(4):
        parents = rng.sample(list(dag), 2)
        result = solve(multiple(EssentialGraph.from_dag(dag)), exact_answers(dag, parents))
        held = [tuple(step.query.fixed) for step in result.queries]
        assert all(set(fixed) <= set(parents) for fixed in held)
        assert held == sorted(held, key=len)
        assert all(state is None for step in result.queries for state in step.query.fixed.values())
        asked = [(step.query.variable, fixed) for step, fixed in zip(result.queries, held, strict=True)]
        assert len(asked) == len(set(asked))
        assert all(step.query.variable not in step.query.fixed for step in result.queries)


def test_parents_above_one_another() -> None:
    chain = nx.DiGraph(["AB", "BC", "CD"])
    for parents in (("A", "C"), ("B", "C"), ("A", "B", "C", "D")):
        result = solve(multiple(EssentialGraph.from_dag(chain)), exact_answers(chain, parents))
        assert result.reward_variables == parents


def test_a_parent_that_cannot_be_set_leaves_candidates() -> None:
    fork = nx.DiGraph(["CA", "CB"])
    graph = EssentialGraph.from_dag(fork)
    result = solve(multiple(graph, settable="AC"), exact_answers(fork, "AB"))
    assert result.reward_variables == ("A",)
    assert {"A", "B"} <= set(result.candidates)
    assert "further parent" in result.note


def test_with_variables_that_cannot_be_set_no_parent_is_lost_and_none_is_made_up() -> None:
    rng = random.Random(3)
    n_complete = 0
    for dag in [*ordered_dags(4)] * 5:
        parents = set(rng.sample(list(dag), rng.randint(0, 3)))
        settable = [node for node in dag if rng.random() < 0.7]
        result = solve(multiple(EssentialGraph.from_dag(dag), settable=settable), exact_answers(dag, parents))
        assert set(result.reward_variables) <= parents <= set(result.candidates)
        assert {step.query.variable for step in result.queries} <= set(settable)
        n_complete += set(result.reward_variables) == parents
    assert n_complete > 50


def test_nothing_is_named_when_nothing_moves_the_reward() -> None:
    for dag in ordered_dags(3):
        result = solve(multiple(EssentialGraph.from_dag(dag)), exact_answers(dag, []))
        assert result.reward_variables == result.candidates == ()
        assert "no variable" in result.note


def test_random_answers_end_the_search() -> None:
    rng = random.Random(2)
    for _ in range(300):
        dag = random_chordal_dag(rng.randint(2, 10), 4, rng)
        chance = rng.random()

        def answer(query, chance=chance):
            return Probe(rng.random() < chance, [other for other in query.undecided if rng.random() < chance])

        for settable in (None, rng.sample(list(dag), len(dag) // 2)):
            result = solve(multiple(EssentialGraph.from_dag(dag), settable=settable), answer)
            assert len(result.queries) <= len(dag) * (len(dag) + 1)
            assert set(result.reward_variables) <= set(result.candidates)
