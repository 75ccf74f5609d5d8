"""Graphs beside each other: every edge gets one verdict, the verdicts add up, every edge is drawn."""

import networkx as nx
import numpy as np
import pytest
from graphs import random_dag
from matplotlib.patches import Circle, FancyBboxPatch, PathPatch, Polygon
from pictures import ink, words

from cb_pgm.plotting.graphs import (
    VERDICTS,
    draw_graphs,
    drawn_edges_frame,
    edge_verdicts,
    pag_frame,
    place,
    place_graph,
    place_pag,
    with_reward,
)
from cb_pgm.plotting.regret import save
from discovery import EssentialGraph, MixedGraph


def random_graph(n: int, probability: float, seed: int) -> EssentialGraph:
    dag = random_dag([f"v{i}" for i in range(n)], probability, np.random.default_rng(seed))
    return EssentialGraph.from_dag(dag)


def skeleton(graph: EssentialGraph) -> set[frozenset[str]]:
    return {frozenset(edge) for edge in (*graph.directed, *graph.undirected)}


@pytest.mark.parametrize("seed", range(20))
def test_verdicts_are_what_they_say(seed):
    estimated, truth = random_graph(9, 0.3, seed), random_graph(9, 0.3, seed + 100)
    edges = edge_verdicts(estimated, truth)
    own = edges[edges["panel"] == "estimated"]
    other = edges[edges["panel"] == "truth"]
    assert len(own) == len(skeleton(estimated))
    assert len(other) == len(skeleton(truth))

    def pairs(frame, verdict):
        chosen = frame[frame["verdict"] == verdict]
        return {frozenset(pair) for pair in zip(chosen["source"], chosen["target"], strict=True)}

    assert pairs(own, "extra") == skeleton(estimated) - skeleton(truth)
    assert pairs(other, "missing") == skeleton(truth) - skeleton(estimated)
    assert pairs(own, "turned") == pairs(other, "turned")
    assert pairs(own, "right") == pairs(other, "right")
    same = set(estimated.directed) & set(truth.directed) | set(estimated.undirected) & set(truth.undirected)
    assert pairs(own, "right") == {frozenset(edge) for edge in same}


def test_a_graph_is_all_right_beside_itself_and_unjudged_alone():
    graph = random_graph(8, 0.3, 1)
    assert set(edge_verdicts(graph, graph)["verdict"]) == {"right"}
    assert set(edge_verdicts(graph)["verdict"]) == {"edge"}
    assert set(edge_verdicts(graph)["panel"]) == {"estimated"}


@pytest.mark.parametrize(("n", "probability"), [(2, 0.0), (8, 0.3), (15, 0.5), (36, 0.08)])
def test_every_edge_is_drawn_once_and_every_arrow_has_a_head(n, probability, tmp_path):
    estimated, truth = random_graph(n, probability, n), random_graph(n, probability, n + 1)
    edges = edge_verdicts(estimated, truth)
    figure = draw_graphs(edges, place_graph(truth), roles={truth.nodes[0]: "marked"})
    assert len(figure.axes) == 2
    for axes, panel in zip(figure.axes, ("estimated", "truth"), strict=True):
        own = edges[edges["panel"] == panel]
        assert sum(type(patch) is PathPatch for patch in axes.patches) == len(own)
        assert sum(type(patch) is Polygon for patch in axes.patches) == own["directed"].sum()
        assert sum(type(patch) is Circle for patch in axes.patches) == 2 * (~own["directed"]).sum()
        assert {text.get_text() for text in axes.texts} == set(truth.nodes)
    png, svg = save(figure, tmp_path / "graph")
    assert set(words(svg)) >= set(truth.nodes)
    assert ink(png) > 0.01


def test_nodes_stand_in_the_same_place_in_both_panels():
    estimated, truth = random_graph(10, 0.3, 3), random_graph(10, 0.3, 4)
    figure = draw_graphs(edge_verdicts(estimated, truth), place_graph(truth))
    left, right = ({text.get_text(): text.get_position() for text in axes.texts} for axes in figure.axes)
    assert left == right


def test_a_part_of_a_graph_is_drawn_alone_and_odd_names_are_text():
    names = ["$x$", "long" * 20, "c", "d"]
    graph = EssentialGraph.from_dag(nx.DiGraph([(names[0], names[1]), (names[1], "c"), ("c", "d")]))
    figure = draw_graphs(edge_verdicts(graph), place_graph(graph, nodes=names[:3]))
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["$x$", "longlonglongl…glonglonglong", "c"]
    assert sum(type(patch) is PathPatch for patch in axes.patches) == 2


def test_verdicts_differ_in_more_than_colour():
    judged = [VERDICTS[verdict][0] for verdict in ("right", "missing", "extra", "turned")]
    assert len({str(style["linestyle"]) for style in judged}) == 4
    assert len({style["color"] for style in judged}) == 4


def test_confidence_is_drawn_as_width():
    graph = EssentialGraph("ABC", [], [("A", "B"), ("B", "C")])
    figure = draw_graphs(
        edge_verdicts(graph, confidence={("B", "A"): 1.0, ("B", "C"): 0.5}), place_graph(graph)
    )
    widths = [patch.get_linewidth() for patch in figure.axes[0].patches if type(patch) is PathPatch]
    assert widths[0] == 2 * widths[1]


def test_the_reward_stands_below_its_parents_and_what_cannot_be_set_looks_different():
    graph = EssentialGraph("ABC", [], [("A", "B"), ("B", "C")])
    edges = with_reward(edge_verdicts(graph), "recovered", ["B"])
    placement = place_graph(graph, edges, reward="recovered")
    assert placement.layout.positions["recovered"][1] < placement.layout.positions["B"][1]
    figure = draw_graphs(
        edges, placement, roles={"recovered": "reward", "A": "fixed"}, meanings={"fixed": "can't be set"}
    )
    boxes = [patch for patch in figure.axes[0].patches if type(patch) is FancyBboxPatch]
    assert len({(box.get_facecolor(), str(box.get_linestyle())) for box in boxes}) == 3
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "direction unknown",
        "can't be set",
    ]


def test_an_edge_is_as_wide_as_often_it_is_drawn_and_marked_if_it_decides():
    answer = {
        "edges": [
            {"edge": ["a", "b"], "forward": 0.4, "backward": 0.6},
            {"edge": ["b", "c"], "forward": 0.5, "backward": 0.02},
            {"edge": ["a", "c"], "forward": 0.05, "backward": 0.02},
        ],
        "hangs_on": [{"edge": ["a", "b"]}],
    }
    frame = drawn_edges_frame(answer)
    assert frame[["source", "target", "directed", "verdict"]].values.tolist() == [
        ["b", "a", False, "deciding"],
        ["b", "c", True, "edge"],
    ]
    figure = draw_graphs(frame, place("abcd", [("a", "b"), ("b", "a"), ("b", "c")]))
    curves = [patch for patch in figure.axes[0].patches if type(patch) is PathPatch]
    assert curves[0].get_linewidth() > curves[1].get_linewidth()
    assert curves[0].get_edgecolor() != curves[1].get_edgecolor()
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "the best arm depends on it" in legend
    assert "in 50% of graphs" in legend


def test_a_pag_is_drawn_with_the_marks_at_the_ends_of_its_edges():
    marks = ("→", "↔", "∘→", "∘–∘", "∘–")
    nodes = tuple("ABCDEF")
    graph = MixedGraph(nodes, tuple(zip(nodes, nodes[1:], marks, strict=False)))
    figure = draw_graphs(pag_frame(graph, {("A", "B"): 0.5}), place_pag(graph))
    (axes,) = figure.axes
    assert sum(type(patch) is Polygon for patch in axes.patches) == 4
    assert sum(type(patch) is Circle for patch in axes.patches) == 4
