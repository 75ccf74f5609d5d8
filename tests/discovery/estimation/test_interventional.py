"""Interventional rows: the interventional essential graph is found, and cut edges are directed.

Tables of "expected counts" hold every joint state as often as 20,000 rows would on average, so that nothing
is left to chance.
"""

from functools import cache
from itertools import product

import networkx as nx
import numpy as np
import pytest
from graphs import all_dags, equivalence_classes, signature

from discovery import DiscreteTable, InterventionalRows, Knowledge, estimate

ROWS = 20_000


def model(dag, rng):
    """P(node = 1) for each joint state of its parents: far from each other, so that every edge matters."""
    tables = {}
    for node in dag:
        parents = sorted(dag.predecessors(node))
        values = (
            np.linspace(0.12, 0.88, 2 ** len(parents)) if parents else np.array([rng.uniform(0.35, 0.65)])
        )
        tables[node] = parents, rng.permutation(values)
    return tables


def expected_rows(tables, target=None, n_rows=ROWS):
    """Return every joint state as often as expected, int16 [about n_rows, n]; the target is 0 or 1 evenly."""
    rows = []
    for state in product((0, 1), repeat=len(tables)):
        probability = 1.0
        for node, (parents, values) in tables.items():
            index = sum(state[parent] << i for i, parent in enumerate(parents))
            one = 0.5 if node == target else values[index]
            probability *= one if state[node] else 1 - one
        rows.append(np.tile(np.array(state, dtype=np.int16), (round(n_rows * probability), 1)))
    return np.concatenate(rows)


def table_of(dag, targets, rng, n_rows=ROWS):
    tables = model(dag, rng)
    states = {f"v{node}": ("0", "1") for node in dag}
    given = None
    if targets is not None:
        parts = [expected_rows(tables, target, n_rows) for target in targets]
        codes = np.concatenate(parts) if parts else np.zeros((0, len(tables)), dtype=np.int16)
        marks = [np.full(len(part), target) for part, target in zip(parts, targets, strict=True)]
        given = InterventionalRows(
            np.asfortranarray(codes),
            states,
            None,
            np.concatenate(marks).astype(np.int16) if marks else np.zeros(0, dtype=np.int16),
        )
    return DiscreteTable(
        np.asfortranarray(expected_rows(tables, n_rows=n_rows)), states, interventional=given
    )


def directions(graph):
    closed = graph.closure()
    return set(closed.arrows()), {frozenset(line) for line in closed.lines()}


@cache
def classes(n):
    return {signature(dags[0]): dags for dags in equivalence_classes(range(n))}


def members(dag, targets):
    """All DAGs of the class, by definition: same skeleton and v-structures, same edges at targets."""

    def at_targets(other):
        return {edge for edge in other.edges if set(edge) & set(targets)}

    alike = classes(len(dag))[signature(dag)]
    return [other for other in alike if at_targets(other) == at_targets(dag)]


def interventional_graph(dag, targets):
    """The directed edges that all members have, and the pairs on which they differ."""
    common = set.intersection(*(set(other.edges) for other in members(dag, targets)))
    arrows = {(f"v{tail}", f"v{head}") for tail, head in common}
    return arrows, {frozenset((f"v{a}", f"v{b}")) for a, b in dag.edges if (a, b) not in common}


def dags(n):
    """All DAGs over three nodes, or every 25th over four."""
    return list(all_dags(range(n)))[:: 1 if n < 4 else 25]


@pytest.mark.parametrize("method", ["ges-boss", "boss"])
def test_the_interventional_essential_graph_is_found_on_all_dags_of_three_nodes(method):
    rng = np.random.default_rng(0)
    for dag in dags(3):
        for targets in [(0,), (1, 2)]:
            graph = estimate(table_of(dag, targets, rng), method).graph
            assert directions(graph) == interventional_graph(dag, targets), (sorted(dag.edges), targets)


def test_the_interventional_essential_graph_is_found_on_dags_of_four_nodes():
    rng = np.random.default_rng(1)
    for dag in dags(4):
        targets = tuple(rng.choice(4, size=int(rng.integers(1, 4)), replace=False).tolist())
        graph = estimate(table_of(dag, targets, rng)).graph
        assert directions(graph) == interventional_graph(dag, targets), (sorted(dag.edges), targets)


@pytest.mark.parametrize("method", ["ges", "pc"])
def test_other_methods_direct_the_edges_at_targets_of_what_they_find(method):
    rng = np.random.default_rng(2)
    for dag in dags(3):
        graph = estimate(table_of(dag, (1,), rng), method).graph
        arrows, lines = directions(graph)
        assert not any("v1" in line for line in lines)
        if {frozenset(edge) for edge in arrows} | lines == {
            frozenset((f"v{a}", f"v{b}")) for a, b in dag.edges
        }:
            assert (arrows, lines) == interventional_graph(dag, (1,)), sorted(dag.edges)


def test_chow_lius_tree_gets_its_root_from_interventions():
    rng = np.random.default_rng(3)
    chain = nx.DiGraph()
    chain.add_nodes_from(range(4))
    chain.add_edges_from([(2, 1), (1, 0), (2, 3)])
    graph = estimate(table_of(chain, (1,), rng), "chow-liu").graph
    assert set(graph.background) >= {("v2", "v1"), ("v1", "v0")}
    assert directions(graph) == interventional_graph(chain, (1,))


@pytest.mark.parametrize("method", ["ges-boss", "ges", "boss", "pc", "chow-liu"])
def test_rows_in_which_nothing_was_set_only_give_what_they_gave(method):
    dag = nx.DiGraph([(0, 1), (1, 2), (3, 1)])
    with_column = table_of(dag, (), np.random.default_rng(4), 500)
    without = table_of(dag, None, np.random.default_rng(4), 500)
    assert estimate(with_column, method).graph == estimate(without, method).graph


def test_interventional_rows_find_an_edge_that_the_others_are_too_few_for():
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 2, 30), rng.integers(0, 2, 30)
    states = {"x": ("0", "1"), "y": ("0", "1")}
    set_x = rng.integers(0, 2, 400)
    caused = set_x ^ (rng.random(400) < 0.25)
    rows = np.asfortranarray(np.stack([set_x, caused], 1).astype(np.int16))
    given = InterventionalRows(rows, states, None, np.zeros(400, dtype=np.int16))
    table = DiscreteTable(
        np.asfortranarray(np.stack([x, y], 1).astype(np.int16)), states, interventional=given
    )
    assert estimate(table).graph.background == (("x", "y"),)


def test_knowledge_comes_first():
    dag = nx.DiGraph([(0, 1)])
    table = table_of(dag, (0,), np.random.default_rng(6), 500)
    assert estimate(table).graph.background == (("v0", "v1"),)
    known = Knowledge(required=[("v1", "v0")])
    assert estimate(table, knowledge=known).graph.background == (("v1", "v0"),)
