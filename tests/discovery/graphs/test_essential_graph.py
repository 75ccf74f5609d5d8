"""An essential graph is exactly what all DAGs of its class have in common, and nothing else gets through."""

import dataclasses
import pickle
import random
import re
import time
from itertools import combinations, product

import networkx as nx
import pytest
from graphs import equivalence_classes, random_dag, signature

from discovery import EssentialGraph, GraphError

NAMES = "ABCDE"


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_from_dag_is_what_the_class_has_in_common(n):
    """On every DAG: arrows are those that all DAGs of its class have, lines the rest."""
    for members in equivalence_classes(NAMES[:n]):
        common = set.intersection(*(set(dag.edges) for dag in members))
        for dag in members:
            graph = EssentialGraph.from_dag(dag)
            assert set(graph.directed) == common
            lines = {frozenset(line) for line in graph.undirected}
            assert lines == {frozenset(arrow) for arrow in dag.edges} - {frozenset(arrow) for arrow in common}


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_accepts_essential_graphs_and_refuses_every_other_mixed_graph(n):
    essential = {
        (graph.directed, graph.undirected)
        for graph in (EssentialGraph.from_dag(c[0]) for c in equivalence_classes(NAMES[:n]))
    }
    accepted = set()
    for marks in product("→←—.", repeat=n * (n - 1) // 2):
        pairs = list(zip(combinations(NAMES[:n], 2), marks, strict=True))
        directed = [(a, b) if mark == "→" else (b, a) for (a, b), mark in pairs if mark in "→←"]
        undirected = [pair for pair, mark in pairs if mark == "—"]
        try:
            graph = EssentialGraph(NAMES[:n], directed, undirected)
        except GraphError:
            continue
        accepted.add((graph.directed, graph.undirected))
    assert accepted == essential


@pytest.mark.parametrize(
    ("directed", "undirected", "named"),
    [
        (["AB", "BC", "CA"], [], "A → B → C → A"),
        (["AB"], ["BC", "CA"], "A → B — C — A"),
        ([], ["AB", "BC", "CD", "DA"], "without a chord"),
        (["AB"], ["BC"], "A → B — C with A and C not adjacent"),
        (["AB"], [], "A → B, which some have the other way round"),
        (["AC", "BC", "CA"], [], "two of 'C' and 'A'"),
        (["AC", "BC"], ["CA"], "two of 'A' and 'C'"),
        ([], ["AB", "BA"], "two of 'A' and 'B'"),
        (["AE"], [], "'E' in ('A', 'E')"),
        (["AA"], [], "'A' joined to itself"),
        (["ABC"], [], "'ABC'"),
    ],
)
def test_refusals_name_the_nodes_at_fault(directed, undirected, named):
    with pytest.raises(GraphError) as refusal:
        EssentialGraph("ABCD", directed, undirected)
    assert named in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_refuses_a_node_listed_twice():
    with pytest.raises(GraphError, match="'A' twice"):
        EssentialGraph("ABA", [], [])


def test_from_dag_refuses_cycles_and_other_kinds_of_graph():
    with pytest.raises(GraphError, match="A → B → A"):
        EssentialGraph.from_dag(nx.DiGraph(["AB", "BA"]))
    with pytest.raises(GraphError, match=r"networkx\.DiGraph"):
        EssentialGraph.from_dag(nx.Graph(["AB"]))


def test_the_chordless_cycle_named_is_one():
    """On random lines, the message names a cycle of four or more whose only edges are its own."""
    rng = random.Random(1)
    named = 0
    for _ in range(200):
        lines = [pair for pair in combinations("ABCDEFG", 2) if rng.random() < 0.5]
        graph = nx.Graph(lines)
        try:
            EssentialGraph("ABCDEFG", [], lines)
        except GraphError as refusal:
            cycle = str(refusal).split("found ")[1].split(" without")[0].split(" — ")
            assert cycle[0] == cycle[-1]
            assert len(set(cycle)) == len(cycle) - 1 >= 4
            assert graph.subgraph(cycle).number_of_edges() == len(cycle) - 1
            assert nx.is_path(graph, cycle)
            named += 1
        else:
            assert not graph or nx.is_chordal(graph)
    assert named > 50


# -- what it tells -------------------------------------------------------------------------------------------


def test_adjacency_is_in_node_order():
    graph = EssentialGraph("DCBA", ["AC", "BC", "CD"], [])
    assert graph.parents("C") == ("B", "A")
    assert graph.children("C") == ("D",)
    assert EssentialGraph("CBA", [], ["AB", "CA"]).neighbours("A") == ("C", "B")
    assert graph.adjacent("A", "C")
    assert not graph.adjacent("A", "B")


def test_chain_components_come_downstream_first():
    for seed in range(30):
        graph = EssentialGraph.from_dag(random_dag(range(25), 0.1, random.Random(seed)))
        components = graph.chain_components()
        position = {node: i for i, component in enumerate(components) for node in component}
        assert sorted(position) == sorted(graph.nodes)
        assert all(position[tail] > position[head] for tail, head in graph.directed)
        assert all(position[one] == position[other] for one, other in graph.undirected)
        assert all(component == graph.component_of(node) for component in components for node in component)
        lines = nx.Graph(graph.undirected)
        assert all(len(c) == 1 or nx.is_connected(lines.subgraph(c)) for c in components)


def test_ties_between_chain_components_go_by_their_earliest_node():
    assert EssentialGraph("CBA", [], []).chain_components() == (("C",), ("B",), ("A",))
    # C waits for D; A, which comes first in node order, waits for C.
    assert EssentialGraph("ABCD", ["AC", "BC", "CD"], []).chain_components() == (
        ("D",),
        ("C",),
        ("A",),
        ("B",),
    )


def test_a_consistent_extension_is_in_the_class():
    for seed in range(50):
        dag = random_dag(range(20), seed / 100, random.Random(seed))
        extension = EssentialGraph.from_dag(dag).consistent_extension()
        assert signature(extension) == signature(dag)
        assert list(extension) == list(dag)


# -- background ----------------------------------------------------------------------------------------------


def test_background_is_accepted_iff_some_dag_of_the_class_has_it():
    """All classes with 3 or 4 nodes: one and two directions of their lines, all of them; three, at random."""
    rng = random.Random(2)
    for members in equivalence_classes("ABC") + equivalence_classes("ABCD"):
        graph = EssentialGraph.from_dag(members[0])
        directions = [pair for line in graph.undirected for pair in (line, line[::-1])]
        sets = [*combinations(directions, 1), *combinations(directions, 2)]
        if len(directions) > 3:
            sets += [tuple(rng.sample(directions, 3)) for _ in range(5)]
        for background in sets:
            given = (graph.nodes, graph.directed, graph.undirected, background)
            if not any(set(background) <= set(dag.edges) for dag in members):
                with pytest.raises(GraphError) as refusal:
                    EssentialGraph(*given)
                assert any(f"{tail} → {head}" in str(refusal.value) for tail, head in background)
                continue
            extension = EssentialGraph(*given).consistent_extension()
            assert set(background) <= set(extension.edges)
            assert signature(extension) == signature(members[0])


def test_background_the_class_has_already_is_dropped():
    assert EssentialGraph("ABC", ["AB", "CB"], [], background=["AB"]) == EssentialGraph(
        "ABC", ["AB", "CB"], []
    )


@pytest.mark.parametrize(
    ("background", "named"),
    [
        (["BA", "AB"], "B → A .* A → B"),
        (["CD", "AB"], "C → D .* D → C"),
        (["AD"], "A → D.* adjacent"),
        (["AX"], "'X'"),
    ],
)
def test_contradicting_background_is_refused_by_name(background, named):
    with pytest.raises(GraphError) as refusal:
        EssentialGraph("ABCDE", ["DC", "EC"], ["AB"], background)
    assert re.search(named, str(refusal.value))


# -- a value -------------------------------------------------------------------------------------------------


def test_it_is_immutable_hashable_and_equal_by_content():
    graph = EssentialGraph("ABCD", [("A", "C"), ("B", "C")], [], [])
    same = EssentialGraph(["A", "B", "C", "D"], [("B", "C"), ("A", "C")], ())
    assert graph == same
    assert len({graph, same}) == 1
    assert graph != EssentialGraph("BACD", [("A", "C"), ("B", "C")], [])
    assert pickle.loads(pickle.dumps(graph)) == graph
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.directed = ()


def test_json_brings_back_the_same_graph():
    for seed in range(20):
        graph = EssentialGraph.from_dag(random_dag([f"X{i}" for i in range(15)], 0.14, random.Random(seed)))
        background = graph.undirected[:1]
        graph = EssentialGraph(graph.nodes, graph.directed, graph.undirected, background)
        assert EssentialGraph.from_json(graph.to_json()) == graph
    odd = EssentialGraph(['a "quoted" ü', ""], [], [('a "quoted" ü', "")])
    assert EssentialGraph.from_json(odd.to_json()) == odd


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("nodes: A", "isn't JSON"),
        ("[1, 2]", "a JSON object"),
        ('{"directed": []}', '"nodes"'),
        ('{"nodes": "AB"}', "'AB'"),
        ('{"nodes": [1, 2]}', "found 1"),
        ('{"nodes": ["A"], "edges": []}', "'edges'"),
        ('{"nodes": ["A", "B"], "directed": ["AB"]}', "'AB'"),
        ('{"nodes": ["A", "B"], "directed": [["A", "B", "C"]]}', "['A', 'B', 'C']"),
        ('{"nodes": ["A", "B"], "undirected": [["A", "Z"]]}', "'Z'"),
        ('{"nodes": ["A", "B"], "undirected": {"A": "B"}}', "{'A': 'B'}"),
        ('{"nodes": ["A", "B"], "bidirected": [["A", "B"]]}', "A ↔ B"),
        ('{"nodes": ["A", "B"], "directed": [["A", "B"]]}', "A → B"),
    ],
)
def test_json_that_is_no_essential_graph_is_refused(text, named):
    with pytest.raises(GraphError) as refusal:
        EssentialGraph.from_json(text)
    assert named in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_nodes_that_are_not_text_cannot_be_written():
    with pytest.raises(GraphError, match="found 1"):
        EssentialGraph([1, 2], [], [(1, 2)]).to_json()


@pytest.mark.parametrize("shape", ["tree", "sparse", "star", "sink"])
def test_ten_thousand_nodes_take_seconds(shape):
    """Class of the DAG, validation and an extension within 10 s of CPU; 0.5 s where this was written."""
    n = 10_000
    rng = random.Random(4)
    arrows = {
        "tree": lambda: [(rng.randrange(i), i) for i in range(1, n)],
        "sparse": lambda: [tuple(sorted(rng.sample(range(n), 2))) for _ in range(2 * n)],
        "star": lambda: [(0, i) for i in range(1, n)],
        "sink": lambda: [(i, n) for i in range(n)],
    }[shape]()
    started = time.process_time()
    dag = nx.DiGraph(arrows)
    extension = EssentialGraph.from_dag(dag).consistent_extension()
    assert time.process_time() - started < 10
    assert extension.number_of_edges() == dag.number_of_edges()
