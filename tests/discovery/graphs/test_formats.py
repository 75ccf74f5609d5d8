"""A graph is the same graph in every form that other programs read."""

from __future__ import annotations

import io

import networkx as nx

from discovery import EssentialGraph

GRAPH = EssentialGraph(
    ["A", "B", "C", "D", "E", 'F "x" & <y>', "alone"],
    directed=[("A", "C"), ("B", "C")],
    undirected=[("D", "E"), ("E", 'F "x" & <y>')],
    background=[("E", "D")],
)


def test_networkx_has_every_edge_with_its_kind() -> None:
    graph = GRAPH.to_networkx()
    assert list(graph.nodes) == list(GRAPH.nodes)
    kinds = nx.get_edge_attributes(graph, "kind")
    last = 'F "x" & <y>'
    assert kinds == {
        ("A", "C"): "directed",
        ("B", "C"): "directed",
        ("E", "D"): "required",
        ("E", last): "undirected",
        (last, "E"): "undirected",
    }


def test_pgmpy_has_the_same_directed_and_undirected_edges() -> None:
    graph = GRAPH.to_pgmpy()
    assert set(graph.nodes) == set(GRAPH.nodes)
    assert graph.directed_edges == {("A", "C"), ("B", "C"), ("E", "D")}
    assert {frozenset(edge) for edge in graph.undirected_edges} == {frozenset(("E", 'F "x" & <y>'))}


def test_graphml_is_read_back_by_networkx() -> None:
    from discovery.graphs.formats import graphml_text

    text = graphml_text(GRAPH.nodes, GRAPH.edges())
    again = nx.read_graphml(io.BytesIO(text.encode()))
    assert list(again.nodes) == list(GRAPH.nodes)
    assert list(again.edges(data=True)) == list(GRAPH.to_networkx().edges(data=True))
