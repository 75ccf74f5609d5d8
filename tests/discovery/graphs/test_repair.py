"""Whatever goes in, an essential graph over the same joined pairs comes out, and the changes say how."""

import random
import time

import networkx as nx
import pytest
from graphs import MARKS, all_dags, edge_lists, random_dag, random_edges

from discovery import EssentialGraph, GraphError, repair
from discovery.graphs.extension import extension


def normal(edges):
    """Return the edges with each pair in sorted order."""
    turned = {"→": "←", "←": "→"}
    return {
        tuple(sorted(pair)): mark if pair == tuple(sorted(pair)) else turned.get(mark, mark)
        for pair, mark in edges.items()
        if mark
    }


def assert_repaired(nodes, edges):
    """Repair, and check that the list of changes is complete, each finding what it says was there."""
    graph, changes = repair(nodes, *edge_lists(edges))
    assert EssentialGraph.from_dag(graph.consistent_extension()) == graph
    result = normal(edges)
    for change in changes:
        pair = tuple(sorted(change.edge))
        assert normal({change.edge: change.before}) == {pair: result.pop(pair)}
        result |= normal({change.edge: change.after})
        assert "\n" not in str(change)
    assert result == normal({**dict.fromkeys(graph.directed, "→"), **dict.fromkeys(graph.undirected, "—")})


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_essential_graph_comes_back_unchanged(n):
    for dag in all_dags(range(n)):
        graph = EssentialGraph.from_dag(dag)
        assert repair(graph.nodes, graph.directed, graph.undirected) == (graph, [])


def test_random_mixed_graphs_become_valid():
    """300 random mixed graphs with up to 14 nodes."""
    rng = random.Random(11)
    for _ in range(300):
        nodes = range(rng.randrange(2, 15))
        marks = rng.sample(MARKS, rng.randrange(1, 5))
        assert_repaired(nodes, random_edges(nodes, rng.random(), rng, marks))


@pytest.mark.parametrize("density", [0.03, 1.0])
def test_a_hundred_nodes_take_seconds(density):
    started = time.process_time()
    assert_repaired(range(100), random_edges(range(100), density, random.Random(14)))
    assert time.process_time() - started < 30


def test_a_graph_with_some_directions_of_a_dag_gets_the_class_of_the_dag():
    """200 random DAGs, of whose edges all in v-structures and some others stay directed."""
    rng = random.Random(3)
    for _ in range(200):
        dag = random_dag(range(rng.randrange(2, 12)), rng.random(), rng)
        true = EssentialGraph.from_dag(dag)
        directed = [arrow for arrow in dag.edges if arrow in true.directed or rng.random() < 0.3]
        undirected = [arrow for arrow in dag.edges if arrow not in directed]
        assert repair(dag, directed, undirected)[0] == true
        found = nx.DiGraph(extension(dag, directed, undirected))
        assert set(directed) <= set(found.edges)


def test_marks_that_contradict_each_other_leave_the_direction_open():
    given = ([("A", "B"), ("B", "A")], [], []), ([("A", "B")], [("B", "A")], []), ([], [], [("A", "B")])
    for kinds in given:
        graph, (change,) = repair("AB", *kinds)
        assert graph.undirected == (("A", "B"),)
        assert str(change) == "undirected A — B, before A ↔ B: the marks at its ends contradict each other"
    assert repair("AB", [], [("A", "B"), ("B", "A"), ("A", "B")])[1] == []


def test_directions_on_a_cycle_give_way():
    graph, changes = repair("ABC", [("A", "B"), ("B", "C"), ("C", "A")], [])
    assert graph.directed == ()
    assert {change.kind for change in changes} == {"undirect"}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("ABA", [], []), "'A' twice"),
        (("AB", [("A", "Z")], []), "'Z'"),
        (("AB", [], [("A", "A")]), "'A' joined to itself"),
    ],
)
def test_what_is_no_graph_is_refused(arguments, named):
    with pytest.raises(GraphError, match=named):
        repair(*arguments)
