import random
from collections.abc import Callable
from itertools import combinations

import networkx as nx
import pytest
from graphs import random_chordal_dag

from cb_pgm.errors import SearchError
from cb_pgm.search.clique_graphs import (
    clique_graph,
    directed_clique_graph,
    directed_clique_tree,
    is_intersection_incomparable,
)
from cb_pgm.search.cliques import clique_tree, maximal_cliques


@pytest.fixture(scope="module")
def chordal_dags() -> list[nx.DiGraph]:
    """Random DAGs without v-structures, 2 to 15 nodes; their skeletons are the connected chordal graphs."""
    rng = random.Random(0)
    return [random_chordal_dag(rng.randint(2, 15), rng.randint(2, 6), rng) for _ in range(100)]


def spanning_trees_of_largest_weight(graph: nx.Graph) -> list[nx.Graph]:
    """Every clique tree of a graph with few cliques, by brute force: spanning trees with the largest
    separators."""
    cliques = maximal_cliques(graph)
    pairs = [pair for pair in combinations(cliques, 2) if set(pair[0]) & set(pair[1])]
    trees: dict[int, list[nx.Graph]] = {}
    for edges in combinations(pairs, len(cliques) - 1):
        tree = nx.Graph(edges)
        tree.add_nodes_from(cliques)
        if nx.is_connected(tree):
            trees.setdefault(sum(len(set(one) & set(other)) for one, other in edges), []).append(tree)
    return trees[max(trees)]


def test_maximal_cliques_are_networkx_own(chordal_dags: list[nx.DiGraph]) -> None:
    for dag in chordal_dags:
        skeleton = dag.to_undirected()
        assert {frozenset(c) for c in maximal_cliques(skeleton)} == {
            frozenset(c) for c in nx.find_cliques(skeleton)
        }


def test_the_cliques_with_a_node_form_a_subtree(chordal_dags: list[nx.DiGraph]) -> None:
    for dag in chordal_dags:
        tree = clique_tree(dag.to_undirected())
        assert nx.is_tree(tree)
        for node in dag:
            assert nx.is_connected(tree.subgraph([clique for clique in tree if node in clique]))
        for one, other, separator in tree.edges(data="separator"):
            assert set(separator) == set(one) & set(other)


def test_a_graph_in_parts_has_a_tree_for_each() -> None:
    graph = nx.Graph(["AB", "BC", "AC", "XY"])
    graph.add_node("Z")
    assert set(maximal_cliques(graph)) == {("A", "B", "C"), ("X", "Y"), ("Z",)}
    assert clique_tree(graph).number_of_edges() == 0


def test_the_clique_graph_is_the_union_of_all_clique_trees(chordal_dags: list[nx.DiGraph]) -> None:
    checked = 0
    for dag in chordal_dags:
        skeleton = dag.to_undirected()
        if len(maximal_cliques(skeleton)) <= 5:
            trees = spanning_trees_of_largest_weight(skeleton)
            union = {frozenset(edge) for tree in trees for edge in tree.edges}
            assert {frozenset(edge) for edge in clique_graph(skeleton).edges} == union
            checked += 1
    assert checked > 20


def test_every_edge_of_a_directed_clique_graph_has_an_arrowhead(chordal_dags: list[nx.DiGraph]) -> None:
    # Were neither end's own nodes all below the separator, the two cliques would make a v-structure.
    for dag in chordal_dags:
        undirected, directed = clique_graph(dag.to_undirected()), directed_clique_graph(dag)
        assert {frozenset(edge) for edge in directed.edges} == {frozenset(edge) for edge in undirected.edges}
        assert set(directed_clique_tree(dag).edges) <= set(directed.edges)


def test_arrowheads_are_those_of_definition_8() -> None:
    # {A, B} and {B, C} share B; B → C, and A → B, so the head is at {B, C} only.
    assert set(directed_clique_tree(nx.DiGraph(["AB", "BC"])).edges) == {(("A", "B"), ("B", "C"))}
    # A fork has heads at both ends.
    assert directed_clique_tree(nx.DiGraph(["BA", "BC"])).number_of_edges() == 2


def test_without_comparable_edges_no_clique_has_two_parents(chordal_dags: list[nx.DiGraph]) -> None:
    checked = 0
    for dag in chordal_dags:
        if is_intersection_incomparable(dag.to_undirected(), strict=True):
            checked += 1
            directed = directed_clique_tree(dag)
            for clique in directed:
                parents = [p for p in directed.predecessors(clique) if not directed.has_edge(clique, p)]
                assert len(parents) <= 1
    assert checked > 5


def test_trees_with_a_node_of_three_neighbours_pass_only_the_strict_reading() -> None:
    for n in range(2, 8):
        for tree in nx.nonisomorphic_trees(n):
            tree = nx.relabel_nodes(tree, str)
            assert is_intersection_incomparable(tree, strict=True)
            assert is_intersection_incomparable(tree) == (max(dict(tree.degree).values()) <= 2)


def test_nested_separators_are_comparable() -> None:
    graph = nx.Graph(["AB", "AC", "BC", "AD", "BD", "AE"])  # {A,B,C}, {A,B,D}, {A,E}
    assert not is_intersection_incomparable(graph)
    assert not is_intersection_incomparable(graph, strict=True)


@pytest.mark.parametrize(
    "function", [maximal_cliques, clique_tree, clique_graph, is_intersection_incomparable]
)
def test_graphs_that_are_not_chordal_are_refused_with_a_cycle(function: Callable[..., object]) -> None:
    with pytest.raises(SearchError, match="chordless cycle"):
        function(nx.Graph(["AB", "BC", "CD", "DA"]))


@pytest.mark.parametrize("function", [directed_clique_tree, directed_clique_graph])
def test_dags_with_v_structures_are_refused_with_one(function: Callable[..., object]) -> None:
    with pytest.raises(SearchError, match="A → C ← B"):
        function(nx.DiGraph(["AC", "BC"]))


def test_hundreds_of_nodes_take_no_time() -> None:
    dag = random_chordal_dag(1_000, 6, random.Random(5))
    assert clique_graph(dag.to_undirected()).number_of_nodes() > 500
