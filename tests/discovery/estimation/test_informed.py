"""Whatever is known is kept exactly, and what agrees with an estimate leaves it alone."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from graphs import random_dag

from discovery.errors import KnowledgeError
from discovery.estimation.informed import informed_graph
from discovery.estimation.knowledge import Knowledge
from discovery.graphs.essential_graph import EssentialGraph


def named(dag):
    return nx.relabel_nodes(dag, {node: f"v{node}" for node in sorted(dag)})


def random_knowledge(names, rng):
    """Draw statements of every kind until they don't contradict each other."""
    while True:
        tiers = [[], [], []]
        for name in names if rng.random() < 0.5 else ():
            if rng.random() < 0.7:
                tiers[rng.integers(3)].append(name)
        arrows = [tuple(map(str, rng.choice(names, 2, replace=False))) for _ in range(rng.integers(9))]
        required = int(rng.integers(4))
        ends = [str(name) for name in names if rng.random() < 0.1]
        try:
            return Knowledge(
                [tier for tier in tiers if tier], arrows[:required], arrows[required:], ends[:1], ends[1:]
            )
        except KnowledgeError:
            continue


def assert_kept(graph, known):
    """Look at each pair: what is required is certain, and so is the direction where only one is allowed."""
    certain = {*graph.directed, *graph.background}
    assert certain.issuperset(known.required)
    for one, other in (*graph.directed, *graph.undirected):
        assert known.may_be_adjacent(one, other)
        assert known.allows(one, other) or (other, one) in certain
        assert known.allows(other, one) or (one, other) in certain


@pytest.mark.parametrize("seed", range(4))
def test_random_knowledge_is_kept_exactly_in_any_graph(seed):
    """300 random graphs with random knowledge, true or not; a few seconds."""
    rng = np.random.default_rng(seed)
    with_background = 0
    for _ in range(75):
        estimate = EssentialGraph.from_dag(named(random_dag(range(rng.integers(3, 12)), rng.random(), rng)))
        known = random_knowledge(estimate.nodes, rng)
        graph, _ = informed_graph(estimate, known)
        assert_kept(graph, known)
        extension = graph.consistent_extension()
        assert all(known.allows(tail, head) for tail, head in extension.edges)
        assert all(extension.has_edge(tail, head) for tail, head in known.required)
        with_background += bool(graph.background)
    assert with_background > 20


@pytest.mark.parametrize("seed", range(4))
def test_true_knowledge_keeps_the_class_and_changes_nothing(seed):
    """200 random DAGs: what is true of one can't need another class, nor make a v-structure."""
    rng = np.random.default_rng(seed)
    for _ in range(50):
        dag = named(random_dag(range(rng.integers(3, 12)), rng.random(), rng))
        true = EssentialGraph.from_dag(dag)
        absent = [pair for pair in ((a, b) for a in dag for b in dag if a != b) if not dag.has_edge(*pair)]
        order = list(nx.topological_sort(dag))
        known = Knowledge(
            tiers=[order[: len(order) // 2], order[len(order) // 2 :]],
            required=[arrow for arrow in dag.edges if rng.random() < 0.3],
            forbidden=[arrow for arrow in absent if rng.random() < 0.3],
            roots=[node for node in dag if dag.in_degree(node) == 0 and rng.random() < 0.3],
        )
        graph, changes = informed_graph(true, known)
        assert (graph.directed, graph.undirected, changes) == (true.directed, true.undirected, [])
        assert all(dag.has_edge(*arrow) for arrow in graph.background)


def test_the_listed_changes_lead_from_the_estimate_to_the_result():
    rng = np.random.default_rng(9)
    kinds = set()
    for _ in range(200):
        estimate = EssentialGraph.from_dag(named(random_dag(range(rng.integers(3, 9)), rng.random(), rng)))
        graph, changes = informed_graph(estimate, random_knowledge(estimate.nodes, rng))
        directed, lines = set(estimate.directed), set(map(frozenset, estimate.undirected))
        for change in changes:
            one, other = change.edge
            was = {(one, other): "→", (other, one): "←"}
            before = [mark for arrow, mark in was.items() if arrow in directed]
            assert (before or ["—" if frozenset(change.edge) in lines else ""]) == [change.before]
            directed -= {(one, other), (other, one)}
            lines.discard(frozenset(change.edge))
            if change.after == "→":
                directed.add(change.edge)
            elif change.after == "—":
                lines.add(frozenset(change.edge))
            kinds.add(change.kind)
        assert (directed, lines) == (set(graph.directed), set(map(frozenset, graph.undirected)))
    assert kinds == {"add", "remove", "direct", "undirect", "reverse"}


def test_known_directions_around_a_cycle_cost_the_weakest_edge():
    triangle = EssentialGraph("ABC", [], [("A", "B"), ("B", "C"), ("A", "C")])
    known = Knowledge(forbidden=[("B", "A"), ("C", "B"), ("A", "C")])
    weights = {frozenset("AB"): 3.0, frozenset("BC"): 1.0, frozenset("AC"): 2.0}
    graph, changes = informed_graph(triangle, known, lambda one, other: weights[frozenset((one, other))])
    assert not graph.adjacent("B", "C")
    assert {*graph.directed, *graph.background} == {("A", "B"), ("C", "A")}
    assert "close a cycle" in changes[0].reason


def test_a_required_v_structure_becomes_one():
    chain = EssentialGraph("ABC", [], [("A", "B"), ("B", "C")])
    graph, _ = informed_graph(chain, Knowledge(required=[("A", "B"), ("C", "B")]))
    assert graph.directed == (("A", "B"), ("C", "B"))


def test_a_direction_that_contradicts_a_v_structure_undoes_it():
    collider = EssentialGraph("ABC", [("A", "B"), ("C", "B")], [])
    graph, _ = informed_graph(collider, Knowledge(roots=["B"]))
    assert (graph.undirected, graph.background) == ((("A", "B"), ("B", "C")), (("B", "A"), ("B", "C")))


def test_the_order_of_the_statements_does_not_matter():
    rng = np.random.default_rng(2)
    for _ in range(50):
        estimate = EssentialGraph.from_dag(named(random_dag(range(7), 0.5, rng)))
        known = random_knowledge(estimate.nodes, rng)
        turned = Knowledge(known.tiers, known.required[::-1], known.forbidden[::-1], known.roots, known.sinks)
        assert informed_graph(estimate, known)[0] == informed_graph(estimate, turned)[0]


def test_no_pair_is_joined_that_neither_data_nor_knowledge_join():
    rng = np.random.default_rng(5)
    for _ in range(50):
        estimate = EssentialGraph.from_dag(named(random_dag(range(8), 0.3, rng)))
        known = random_knowledge(estimate.nodes, rng)
        graph, _ = informed_graph(estimate, known)
        required = {frozenset(arrow) for arrow in known.required}
        for one, other in combinations(estimate.nodes, 2):
            if graph.adjacent(one, other):
                assert estimate.adjacent(one, other) or frozenset((one, other)) in required
