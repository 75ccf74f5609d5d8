"""Scores of hand-made pairs of graphs, and what must hold for all."""

import random
from itertools import combinations

import pytest
from graphs import random_dag

from discovery import EssentialGraph, GraphError, compare

PERFECT = {"precision": 1.0, "recall": 1.0, "f1": 1.0}
NOTHING = {"precision": 0.0, "recall": 0.0, "f1": 0.0}


EDGES = ("shd", "skeleton", "arrow")


def edge_scores(estimated, truth):
    """The scores that speak of edges only."""
    scores = compare(estimated, truth)
    return {name: scores[name] for name in EDGES}


def random_graphs(n_graphs, n=8):
    rng = random.Random(18)
    for _ in range(n_graphs):
        yield EssentialGraph.from_dag(random_dag(range(n), rng.random(), rng))


def test_a_graph_compared_with_itself_is_perfect():
    for graph in random_graphs(30):
        assert edge_scores(graph, graph) == {"shd": 0, "skeleton": PERFECT, "arrow": PERFECT}


def test_each_kind_of_error_by_hand():
    """Truth A → C ← B, C → D, E — F; the estimate lacks E — F and has D → E besides."""
    truth = EssentialGraph("ABCDEF", ["AC", "BC", "CD"], ["EF"])
    estimate = EssentialGraph("ABCDEF", ["AC", "BC", "CD", "DE"], [])
    assert edge_scores(estimate, truth) == {
        "shd": 2,
        "skeleton": {"precision": 3 / 4, "recall": 3 / 4, "f1": 3 / 4},
        "arrow": {"precision": 3 / 4, "recall": 1.0, "f1": 6 / 7},
    }


def test_a_turned_arrow_counts_once_and_is_a_wrong_arrow():
    truth = EssentialGraph("ABCD", ["AB", "CB", "DB"], [])
    estimate = EssentialGraph("ABCD", ["BC", "AB", "DB"], [])
    scores = compare(estimate, truth)
    assert scores["shd"] == 1
    assert scores["skeleton"] == PERFECT
    assert scores["arrow"]["precision"] == scores["arrow"]["recall"] == 2 / 3


def test_a_line_for_an_arrow_is_a_miss_and_an_arrow_for_a_line_wrong():
    collider, chain = EssentialGraph("ABC", ["AB", "CB"], []), EssentialGraph("ABC", [], ["AB", "BC"])
    assert edge_scores(chain, collider) == {"shd": 2, "skeleton": PERFECT, "arrow": NOTHING}
    assert edge_scores(collider, chain) == {"shd": 2, "skeleton": PERFECT, "arrow": NOTHING}


def test_nothing_found_is_perfect_only_where_nothing_is_to_be_found():
    empty, line = EssentialGraph("AB", [], []), EssentialGraph("AB", [], ["AB"])
    assert edge_scores(empty, empty) == {"shd": 0, "skeleton": PERFECT, "arrow": PERFECT}
    assert edge_scores(empty, line) == {"shd": 1, "skeleton": NOTHING, "arrow": PERFECT}
    assert edge_scores(line, empty) == {"shd": 1, "skeleton": NOTHING, "arrow": PERFECT}


def test_shd_is_a_distance():
    """Symmetric, zero only between equals, no shorter by way of a third: 20 random graphs, all triples."""
    graphs = list(random_graphs(20))
    shd = {(a, b): compare(graphs[a], graphs[b])["shd"] for a in range(20) for b in range(20)}
    for a, b in combinations(range(20), 2):
        assert shd[a, b] == shd[b, a]
        assert (shd[a, b] == 0) == (graphs[a] == graphs[b])
        assert all(shd[a, b] <= shd[a, c] + shd[c, b] for c in range(20))


def test_the_order_of_nodes_does_not_matter():
    graphs = list(random_graphs(10))
    for one, other in combinations(graphs, 2):
        turned = EssentialGraph(other.nodes[::-1], other.directed, other.undirected)
        assert compare(one, turned) == compare(one, other)


def test_wrong_effects_by_hand():
    """Truth A → C ← B, C → D; the estimate lacks C → D.

    For parents it adjusts A's, B's and C's effects on D rightly, but lets D act on A, B and C, with which it
    is confounded. For ancestors it says that A, B and C have no effect on D.
    """
    truth = EssentialGraph("ABCD", ["AC", "BC", "CD"], [])
    without = compare(EssentialGraph("ABCD", ["AC", "BC"], []), truth)
    assert without["parent_aid"] == without["ancestor_aid"] == {"wrong": 3, "share": 3 / 12}
    alone = EssentialGraph("A", [], [])
    assert compare(alone, alone)["parent_aid"] == {"wrong": 0, "share": 0.0}


def test_background_is_not_compared():
    plain, vouched = EssentialGraph("AB", [], ["AB"]), EssentialGraph("AB", [], ["AB"], ["BA"])
    assert compare(plain, vouched)["shd"] == 0


def test_other_nodes_are_refused_by_name():
    with pytest.raises(GraphError, match="found 'C' missing from the truth"):
        compare(EssentialGraph("ABC", [], []), EssentialGraph("AB", [], []))
    with pytest.raises(GraphError, match="found 'C' missing from the estimate"):
        compare(EssentialGraph("AB", [], []), EssentialGraph("ABC", [], []))
