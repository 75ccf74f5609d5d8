"""The adjustment identification distances: by hand, and against their definition on all small classes."""

from itertools import combinations, permutations

import networkx as nx
import pytest
from graphs import equivalence_classes

from discovery import EssentialGraph
from discovery.graphs.identification import ancestor_aid, parent_aid

NODES = "ABC"
CLASSES = {EssentialGraph.from_dag(members[0]): members for members in equivalence_classes(NODES)}


def valid(dag, cause, effect, adjusted):
    """The adjustment criterion of Shpitser et al. (2010), in one DAG."""
    forbidden, causal = set(), nx.DiGraph(dag)
    for path in nx.all_simple_paths(dag, cause, effect):
        causal.remove_edges_from([tuple(path[:2])])
        for node in path[1:]:
            forbidden |= {node} | nx.descendants(dag, node)
    return not forbidden & adjusted and nx.is_d_separator(causal, {cause}, {effect}, adjusted)


def identifiable(members, cause, effect):
    """Whether one set adjusts in all DAGs of the class, or none of them has an effect."""
    others = [node for node in NODES if node not in (cause, effect)]
    sets = [set(chosen) for size in range(len(others) + 1) for chosen in combinations(others, size)]
    return not any(nx.has_path(dag, cause, effect) for dag in members) or any(
        all(valid(dag, cause, effect, chosen) for dag in members) for chosen in sets
    )


def reading(graph, kind, cause, effect):
    """What a class says of an effect: "open", None for no effect, or a set to adjust for."""
    members = CLASSES[graph]
    if not identifiable(members, cause, effect):
        return "open"
    if kind == "parent":
        parents = set(graph.parents(cause))
        return None if effect in parents else parents
    if not any(nx.has_path(dag, cause, effect) for dag in members):
        return None
    return set.intersection(*(nx.ancestors(dag, cause) for dag in members))


def wrong(estimated, truth, kind):
    members, found = CLASSES[truth], 0
    for cause, effect in permutations(NODES, 2):
        said = reading(estimated, kind, cause, effect)
        if said == "open":
            found += identifiable(members, cause, effect)
        elif said is None:
            found += any(nx.has_path(dag, cause, effect) for dag in members)
        else:
            found += not all(valid(dag, cause, effect, said) for dag in members)
    return found


@pytest.mark.parametrize(("kind", "distance"), [("parent", parent_aid), ("ancestor", ancestor_aid)])
def test_the_distance_is_its_definition_on_all_pairs_of_classes_of_three_nodes(kind, distance):
    for estimated in CLASSES:
        for truth in CLASSES:
            assert distance(estimated, truth)["wrong"] == wrong(estimated, truth, kind), (estimated, truth)


def test_by_hand():
    """Truth A → C ← B, C → D; the estimate lacks C → D.

    For parents it adjusts A's, B's and C's effects on D rightly, but lets D act on A, B and C, with which it
    is confounded. For ancestors it says that A, B and C have no effect on D.
    """
    truth = EssentialGraph("ABCD", ["AC", "BC", "CD"], [])
    assert parent_aid(truth, truth) == ancestor_aid(truth, truth) == {"wrong": 0, "share": 0.0}
    without = EssentialGraph("ABCD", ["AC", "BC"], [])
    assert parent_aid(without, truth) == ancestor_aid(without, truth) == {"wrong": 3, "share": 3 / 12}


def test_nodes_in_another_order_are_the_same_nodes():
    truth = EssentialGraph("ABC", ["AB", "CB"], [])
    assert parent_aid(EssentialGraph("CBA", ["AB", "CB"], []), truth)["wrong"] == 0


def test_a_graph_of_one_node_has_no_effects():
    assert parent_aid(EssentialGraph("A", [], []), EssentialGraph("A", [], [])) == {"wrong": 0, "share": 0.0}
