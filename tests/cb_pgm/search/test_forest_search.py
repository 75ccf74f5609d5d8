import random
from itertools import permutations

import networkx as nx
import pytest
from graphs import ordered_dags

from cb_pgm.errors import SearchError
from cb_pgm.search import exact_answers, forest, is_forest, solve
from cb_pgm.search.component_order import components_in_order
from discovery import EssentialGraph


@pytest.mark.parametrize("n", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_right_on_every_forest(n: int) -> None:
    for dag in ordered_dags(n):
        graph = EssentialGraph.from_dag(dag)
        if is_forest(graph):
            for variable in dag:
                assert solve(forest(graph), exact_answers(dag, [variable])).reward_variables == (variable,)


def test_components_come_downstream_first_whatever_the_priority() -> None:
    rng = random.Random(0)
    for dag in ordered_dags(4):
        graph = EssentialGraph.from_dag(dag)
        for priority in (None, rng.sample(list(dag), 3), {node: rng.random() for node in dag}):
            components = components_in_order(graph, priority)
            place = {node: i for i, component in enumerate(components) for node in component}
            assert sorted(place) == sorted(dag)
            assert all(place[head] <= place[tail] for tail, head in graph.directed)


def test_priority_decides_between_components_that_the_arrows_leave_open() -> None:
    graph = EssentialGraph("ABCDE", directed=[], undirected=["AB"])
    for order in permutations("ACDE"):
        components = components_in_order(graph, order)
        assert [component[0] for component in components] == list(order)
        numbers = {node: -place for place, node in enumerate(order)}
        assert components_in_order(graph, numbers) == components
    assert components_in_order(graph, "B")[0] == ("A", "B")


def test_unknown_names_in_priority_are_refused() -> None:
    with pytest.raises(SearchError, match="'Z'"):
        forest(EssentialGraph("AB", directed=[], undirected=[]), priority=["A", "Z"])


def test_a_component_that_is_no_tree_ends_the_search_without_a_name() -> None:
    dag = nx.DiGraph([("A", "B"), ("A", "C"), ("B", "C"), ("C", "D"), ("E", "D")])
    graph = EssentialGraph.from_dag(dag)
    assert not is_forest(graph)
    downstream = solve(forest(graph), exact_answers(dag, ["D"]))
    assert downstream.reward_variables == ("D",)  # found before the triangle's turn
    result = solve(forest(graph), exact_answers(dag, ["A"]))
    assert result.reward_variables == ()
    assert "A" in result.candidates
    assert "isn't a tree" in result.note


def test_nothing_is_named_when_nothing_moves_the_reward() -> None:
    for dag in ordered_dags(3):
        graph = EssentialGraph.from_dag(dag)
        if is_forest(graph):
            result = solve(forest(graph), exact_answers(dag, []))
            assert result.reward_variables == result.candidates == ()
