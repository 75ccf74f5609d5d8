"""A closed graph says exactly what all DAGs that agree with it say."""

import random
import time
from itertools import permutations

import networkx as nx
import pytest
from graphs import edge_lists, equivalence_classes, random_dag, random_edges, signature

from discovery import EssentialGraph
from discovery.graphs.meek import PartiallyDirectedGraph, meek_closure

NAMES = "ABCDEF"


def descendants(arrows, node):
    dag = nx.DiGraph(sorted(arrows))
    return nx.descendants(dag, node) | {node} if node in dag else {node}


def assert_says_what_all_dags_say(known, dags):
    common = frozenset.intersection(*dags)
    assert set(known.arrows()) == common
    undecided = next(iter(dags)) - common
    assert {frozenset(line) for line in known.lines()} == {frozenset(arrow) for arrow in undecided}
    for node in known.nodes:
        reached = [descendants(arrows, node) for arrows in dags]
        assert known.possible_descendants(node) == set.union(*reached)
        assert known.definite_descendants(node) == set.intersection(*reached)


def explore(known, dags, seen):
    """Check `known` against the DAGs that agree with it, and everything it can become."""
    if dags in seen:
        return
    seen.add(dags)
    assert_says_what_all_dags_say(known, dags)
    for line in list(known.lines()):
        for tail, head in (line, line[::-1]):
            further = known.copy()
            new = further.orient(tail, head)
            left = frozenset(arrows for arrows in dags if (tail, head) in arrows)
            assert left, "either direction of a line occurs"
            assert set(new) == set(further.arrows()) - set(known.arrows())
            explore(further, left, seen)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_whatever_is_learned_in_whatever_order_it_is_exact(n):
    """All classes with up to 4 nodes and every state of knowledge within each."""
    for members in equivalence_classes(NAMES[:n]):
        known = EssentialGraph.from_dag(members[0]).closure()
        explore(known, frozenset(frozenset(dag.edges) for dag in members), set())


def test_it_is_exact_on_random_larger_classes():
    """60 random DAGs with 6 nodes, lines directed in random order until none is left."""
    rng = random.Random(5)
    for _ in range(60):
        dag = random_dag(NAMES, rng.choice((0.4, 0.6, 0.9)), rng)
        known = EssentialGraph.from_dag(dag).closure()
        dags = _members(dag)
        while True:
            assert_says_what_all_dags_say(known, dags)
            lines = list(known.lines())
            if not lines:
                break
            tail, head = rng.sample(rng.choice(lines), 2)
            known.orient(tail, head)
            dags = [arrows for arrows in dags if (tail, head) in arrows]


def test_a_definite_descendant_needs_no_path_of_arrows():
    graph = EssentialGraph("ACDX", [("C", "X"), ("D", "X")], [("A", "C"), ("A", "D")])
    assert graph.closure().definite_descendants("A") == {"A", "X"}


def test_a_shielded_path_makes_no_possible_descendant():
    known = meek_closure("ABC", [], [("A", "B"), ("B", "C"), ("A", "C")], background=[("C", "A")])
    assert known.possible_descendants("A") == {"A", "B"}


# -- contradictions, undoing, copying ------------------------------------------------------------------------


def test_contradictions_are_recorded_and_change_nothing():
    known = PartiallyDirectedGraph("ABCD", [], [("A", "B"), ("B", "C")])
    known.orient("A", "B")
    before = list(known.arrows())
    assert known.orient("C", "B") == ()
    assert known.orient("A", "D") == ()
    assert known.orient("A", "B") == (), "known already, so not new, but no contradiction either"
    assert known.contradictions == [("C", "B"), ("A", "D")]
    assert list(known.arrows()) == before


def test_undoing_brings_back_the_state_before():
    rng = random.Random(6)
    for _ in range(100):
        known = EssentialGraph.from_dag(random_dag(NAMES, 0.6, rng)).closure()
        history = []
        while list(known.lines()):
            history.append((set(known.arrows()), {frozenset(line) for line in known.lines()}))
            history[-1] += (known.orient(*rng.sample(rng.choice(list(known.lines())), 2)),)
        for arrows, lines, new in reversed(history):
            known.undo(new)
            assert set(known.arrows()) == arrows
            assert {frozenset(line) for line in known.lines()} == lines


def test_a_copy_changes_independently():
    known = PartiallyDirectedGraph("ABC", [], [("A", "B"), ("B", "C")])
    twin = known.copy()
    twin.orient("A", "B")
    twin.orient("C", "B")
    assert not list(known.arrows())
    assert not known.contradictions
    assert twin.contradictions


def test_graphs_that_no_dag_agrees_with_end_too():
    """Random answers in random mixed graphs: cycles and squares included, everything returns."""
    rng = random.Random(7)
    for _ in range(300):
        edges = random_edges(NAMES, 0.7, rng, "→←—")
        known = PartiallyDirectedGraph(NAMES, *edge_lists(edges)[:2])
        for _ in range(10):
            known.orient(*rng.sample(NAMES, 2))
            node = rng.choice(NAMES)
            assert node in known.definite_descendants(node) & known.possible_descendants(node)
        n_edges = len(list(known.arrows())) + len(list(known.lines()))
        assert n_edges == len(edges)


@pytest.mark.parametrize("hub", [True, False])
def test_ten_thousand_arrows_follow_in_a_moment(hub):
    """One answer directs a star or chain of 10,000 nodes within 3 s of CPU; 0.1 s where this was written."""
    n = 10_000
    lines = [(0, i) for i in range(1, n)] if hub else [(i, i + 1) for i in range(n - 1)]
    known = PartiallyDirectedGraph(range(n), [], lines)
    started = time.process_time()
    new = known.orient(1, 0) if hub else known.orient(0, 1)
    assert len(new) == n - 1
    assert len(known.possible_descendants(1)) == (n if hub else n - 1)
    assert len(known.definite_descendants(1)) == (n if hub else n - 1)
    known.undo(new)
    assert len(known.possible_descendants(0)) == n
    assert known.definite_descendants(0) == {0}
    assert time.process_time() - started < 3


def _dag(arrows, nodes):
    dag = nx.DiGraph()
    dag.add_nodes_from(nodes)
    dag.add_edges_from(sorted(arrows))
    return dag


def _members(dag):
    """Return the arrows of all DAGs of the class, from all orders of the nodes."""
    found = {
        frozenset((a, b) if order.index(a) < order.index(b) else (b, a) for a, b in dag.edges)
        for order in permutations(dag)
    }
    return [arrows for arrows in found if signature(_dag(arrows, dag)) == signature(dag)]
