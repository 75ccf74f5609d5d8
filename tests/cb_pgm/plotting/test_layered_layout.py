"""Layered layouts: arrows point down, nothing overlaps, the same picture every time."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from graphs import random_dag

from cb_pgm.plotting.layered_layout import layered_layout


@pytest.mark.parametrize("seed", range(12))
def test_arrows_point_down_and_boxes_dont_overlap(seed):
    n = 4 + 3 * seed
    dag = random_dag([f"node{v}" for v in range(n)], 4 / n, np.random.default_rng(seed))
    widths = {node: 0.5 + 0.3 * (index % 4) for index, node in enumerate(dag)}
    layout = layered_layout(dag, widths)
    assert set(layout.positions) == set(dag)
    for tail, head in dag.edges:
        assert layout.positions[head][1] <= layout.positions[tail][1] - 1
    for one, other in combinations(dag, 2):
        (x, y), (u, v) = layout.positions[one], layout.positions[other]
        if y == v:
            assert abs(x - u) >= (widths[one] + widths[other]) / 2


def test_long_arrows_bend_once_in_every_layer_that_they_pass():
    dag = nx.DiGraph([("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])
    layout = layered_layout(dag, dict.fromkeys(dag, 1.0))
    assert [y for _, y in layout.bends["a", "d"]] == [-1.0, -2.0]


def test_the_layout_doesnt_depend_on_the_order_of_edges():
    dag = random_dag([f"node{v}" for v in range(20)], 0.15, np.random.default_rng(5))
    again = nx.DiGraph()
    again.add_nodes_from(dag)
    again.add_edges_from(reversed(list(dag.edges)))
    widths = dict.fromkeys(dag, 1.0)
    ends = [layered_layout(graph, widths).positions for graph in (dag, again)]
    assert [y for _, y in ends[0].values()] == [y for _, y in ends[1].values()]


def test_two_arrows_that_need_not_cross_dont():
    dag = nx.DiGraph([("a", "y"), ("b", "x"), ("a", "left"), ("b", "right")])
    at = layered_layout(dag, dict.fromkeys(dag, 1.0)).positions
    a_side = np.sign(at["a"][0] - at["b"][0])
    assert np.sign(at["y"][0] - at["x"][0]) == a_side
    assert np.sign(at["left"][0] - at["right"][0]) == a_side


def test_an_empty_graph_and_one_without_arrows_are_laid_out():
    assert layered_layout(nx.DiGraph(), {}).positions == {}
    alone = nx.DiGraph()
    alone.add_nodes_from("abc")
    assert len(set(layered_layout(alone, dict.fromkeys("abc", 1.0)).positions.values())) == 3
