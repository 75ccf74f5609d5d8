"""Chordality against networkx, on graphs small enough for it."""

import random
from itertools import combinations

import networkx as nx
from graphs import random_dag

from discovery.graphs.chordality import chordless_cycle, onwards, perfect_order


def random_graphs(n_graphs):
    rng = random.Random(8)
    for _ in range(n_graphs):
        graph = random_dag(range(rng.randrange(1, 12)), rng.random(), rng).to_undirected()
        yield graph
        yield nx.complete_to_chordal_graph(graph)[0]


def test_it_agrees_with_networkx_and_shows_why():
    """1,000 random graphs and their completions: a perfect order or a cycle without a chord, never both."""
    for graph in random_graphs(1000):
        order, cycle = perfect_order(graph, graph.adj), chordless_cycle(list(graph), graph.adj)
        assert (order is None) != (cycle is None)
        assert (cycle is None) == nx.is_chordal(graph)
        if order is not None:
            assert sorted(order) == sorted(graph)
            for i, node in enumerate(order):
                earlier = [other for other in order[:i] if graph.has_edge(node, other)]
                assert all(graph.has_edge(*pair) for pair in combinations(earlier, 2))
        else:
            assert len(cycle) >= 4
            assert nx.is_isomorphic(graph.subgraph(cycle), nx.cycle_graph(len(cycle)))
            assert nx.is_path(graph, [*cycle, cycle[0]])


def test_edges_of_chordal_graphs_directed_onwards_make_no_v_structure():
    for graph in random_graphs(300):
        if not nx.is_chordal(graph):
            continue
        dag = nx.DiGraph(onwards([tuple(c) for c in nx.connected_components(graph)], graph.adj))
        assert nx.is_directed_acyclic_graph(dag)
        assert dag.number_of_edges() == graph.number_of_edges()
        assert not list(nx.dag.v_structures(dag))
