"""Counting and drawing the members of a class, against listing them."""

import math
import random
from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from graphs import equivalence_classes, random_chordal_dag, signature

from discovery import EssentialGraph
from discovery.graphs import class_sampling
from discovery.graphs.class_sampling import ClassSampler, count_members


def listed(skeleton: nx.Graph) -> set[frozenset]:
    """Return every acyclic orientation of a chordal graph without a v-structure, by trying all."""
    wanted = signature(nx.DiGraph(EssentialGraph(skeleton, [], skeleton.edges).consistent_extension()))
    found, edges = set(), list(skeleton.edges)
    for turned in range(2 ** len(edges)):
        dag = nx.DiGraph((b, a) if turned >> i & 1 else (a, b) for i, (a, b) in enumerate(edges))
        if nx.is_directed_acyclic_graph(dag) and signature(dag) == wanted:
            found.add(frozenset(dag.edges))
    return found


def connected_chordal_graphs(n: int):
    """Yield every connected chordal graph over n labelled nodes."""
    pairs = list(combinations("ABCDE"[:n], 2))
    for chosen in range(2 ** len(pairs)):
        graph = nx.Graph()
        graph.add_nodes_from("ABCDE"[:n])
        graph.add_edges_from(pair for i, pair in enumerate(pairs) if chosen >> i & 1)
        if nx.is_connected(graph) and nx.is_chordal(graph):
            yield graph


def test_every_class_on_four_nodes_is_counted_right():
    for members in equivalence_classes("ABCD"):
        assert count_members(EssentialGraph.from_dag(members[0])) == len(members)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_every_small_chordal_graph_is_counted_right_and_only_members_are_drawn(n):
    rng = np.random.default_rng(n)
    for skeleton in connected_chordal_graphs(n):
        members = listed(skeleton)
        sampler = ClassSampler(EssentialGraph(skeleton, [], skeleton.edges))
        assert sampler.count() == len(members)
        assert all(frozenset(sampler.draw(rng).edges) in members for _ in range(5))


@pytest.mark.parametrize("seed", range(6))
def test_members_are_drawn_uniformly(seed):
    dag = random_chordal_dag(6, 4, random.Random(seed))
    graph = EssentialGraph.from_dag(dag)
    members = listed(dag.to_undirected())
    rng, draws = np.random.default_rng(seed), 60 * len(members)
    sampler = ClassSampler(graph)
    seen = Counter(frozenset(sampler.draw(rng).edges) for _ in range(draws))
    assert set(seen) == members
    square = sum((count - 60) ** 2 / 60 for count in seen.values())
    freedom = len(members) - 1
    assert square < freedom + 4 * math.sqrt(2 * freedom) + 8


def test_a_complete_graph_has_as_many_members_as_orders():
    names = [f"X{i}" for i in range(20)]
    graph = EssentialGraph(names, [], combinations(names, 2))
    assert count_members(graph) == math.factorial(20)
    assert nx.is_directed_acyclic_graph(ClassSampler(graph).draw(np.random.default_rng(0)))


def test_a_tree_has_as_many_members_as_nodes():
    tree = nx.random_labeled_tree(60, seed=1)
    names = {node: f"X{node}" for node in tree}
    graph = EssentialGraph(names.values(), [], nx.relabel_nodes(tree, names).edges)
    assert count_members(graph) == 60


@pytest.mark.parametrize("listed_at_most", [512, 0])
def test_background_knowledge_restricts_the_draws(listed_at_most, monkeypatch):
    monkeypatch.setattr(class_sampling, "_LISTED", listed_at_most)
    square = nx.Graph(["AB", "BC", "CD", "DA", "AC"])
    members = {member for member in listed(square) if ("C", "A") in member}
    sampler = ClassSampler(EssentialGraph("ABCD", [], square.edges, background=[("C", "A")]))
    assert sampler.count() == len(members)
    rng = np.random.default_rng(3)
    seen = Counter(frozenset(sampler.draw(rng).edges) for _ in range(100 * len(members)))
    assert set(seen) == members
    assert all(60 < count < 140 for count in seen.values())


def test_background_knowledge_is_kept_where_drawing_until_it_agrees_fails(monkeypatch):
    monkeypatch.setattr(class_sampling, "_LISTED", 0)
    monkeypatch.setattr(class_sampling, "_TRIES", 0)
    names = [f"X{i}" for i in range(6)]
    known = list(combinations(names[:4], 2))
    graph = EssentialGraph(names, [], combinations(names, 2), background=known)
    dag = ClassSampler(graph).draw(np.random.default_rng(0))
    assert set(known) <= set(dag.edges)
    assert nx.is_directed_acyclic_graph(dag)
