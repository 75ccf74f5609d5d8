"""A graph checked against a table: right graphs pass at the level, missing edges are found, and by name."""

import networkx as nx
import numpy as np
import pytest
from graphs import all_dags, random_dag, rows_from

from discovery import DiscreteTable, EssentialGraph, GraphError, check_graph
from discovery.estimation.check import implied_independencies


def table_of(codes, n_states=2):
    states = {f"v{i}": tuple(map(str, range(n_states))) for i in range(codes.shape[1])}
    return DiscreteTable(np.asfortranarray(codes), states)


def named(dag):
    return nx.relabel_nodes(dag, {node: f"v{node}" for node in dag})


@pytest.mark.parametrize("n", [2, 3, 4])
def test_every_implied_independence_is_a_d_separation_and_every_missing_edge_has_one(n):
    for dag in all_dags([f"v{i}" for i in range(n)]):
        basis = list(implied_independencies(EssentialGraph.from_dag(dag)))
        assert all(nx.is_d_separator(dag, {one}, {other}, set(given)) for one, other, given in basis)
        missing = {frozenset(pair) for pair in nx.non_edges(dag.to_undirected())}
        assert {frozenset((one, other)) for one, other, _ in basis} == missing
        assert len(set(basis)) == len(basis)


def test_a_right_graph_fails_no_more_often_than_the_level():
    """200 tables; at a level of .05 at most 21 fail with probability .998."""
    rng = np.random.default_rng(11)
    failures = 0
    for _ in range(200):
        dag = random_dag(range(5), 0.4, rng)
        table = table_of(rows_from(dag, 2, 500, rng))
        failures += bool(check_graph(EssentialGraph.from_dag(named(dag)), table).failed)
    assert failures <= 21


def test_a_missing_edge_is_found_the_worst_first():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 2000)
    y, z = x ^ (rng.random(2000) < 0.1), rng.integers(0, 2, 2000)
    w = np.where(rng.random(2000) < 0.15, z, rng.integers(0, 2, 2000))
    table = table_of(np.stack([x, y, z, w], 1).astype(np.int16))
    check = check_graph(EssentialGraph(table.variables, [], []), table)
    assert [(test.one, test.other, test.given) for test in check.failed] == [
        ("v0", "v1", ()),
        ("v2", "v3", ()),
    ]
    assert [test.adjusted_p_value for test in check.tests] == sorted(t.adjusted_p_value for t in check.tests)
    assert not check_graph(EssentialGraph(table.variables, [], [("v0", "v1"), ("v2", "v3")]), table).failed


def test_adjusted_p_values_are_holms():
    """The i-th lowest of m p-values (from 0), times m − i, made increasing."""
    rng = np.random.default_rng(5)
    table = table_of(rows_from(random_dag(range(5), 0.6, rng), 2, 300, rng))
    tests = check_graph(EssentialGraph(table.variables, [], []), table).tests
    p_values = np.array([test.p_value for test in tests])
    expected = np.minimum(np.maximum.accumulate(p_values * np.arange(len(tests), 0, -1)), 1)
    assert np.allclose([test.adjusted_p_value for test in tests], expected)


def test_a_complete_graph_implies_nothing():
    dag = nx.DiGraph([("v0", "v1"), ("v0", "v2"), ("v1", "v2")])
    table = table_of(
        rows_from(random_dag(range(3), 0.5, np.random.default_rng(1)), 2, 100, np.random.default_rng(1))
    )
    check = check_graph(EssentialGraph.from_dag(dag), table)
    assert (check.tests, check.untested, check.failed) == ((), 0, ())


def test_independencies_with_too_few_rows_are_counted_not_tested():
    rng = np.random.default_rng(2)
    table = table_of(rows_from(random_dag(range(4), 0, rng), 4, 40, rng), 4)
    check = check_graph(EssentialGraph(table.variables, [], []), table)
    assert (len(check.tests), check.untested) == (0, 6)


def test_other_variables_are_refused_by_name():
    table = table_of(
        rows_from(random_dag(range(3), 0.5, np.random.default_rng(1)), 2, 100, np.random.default_rng(1))
    )
    with pytest.raises(GraphError, match="found 'v2', 'x' in one"):
        check_graph(EssentialGraph(["v0", "v1", "x"], [], []), table)
