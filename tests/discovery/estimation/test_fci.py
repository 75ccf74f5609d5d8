"""FCI with a counted test: causal-learn's own PAG; what a PAG implies holds in the data that it is from."""

import contextlib
import io

import networkx as nx
import numpy as np
import pytest
from causallearn.search.ConstraintBased.FCI import fci
from graphs import random_dag, rows_from

from discovery import (
    DiscreteTable,
    EdgeConfidence,
    EssentialGraph,
    EstimationError,
    GraphError,
    Knowledge,
    MixedGraph,
    check_graph,
    compare_marks,
    edge_confidence,
    estimate_pag,
)
from discovery.estimation.causal_learn import read_matrix
from discovery.estimation.check import implied_independencies
from discovery.estimation.settings import EstimateSettings
from discovery.graphs.formats import dagitty_text, dot_text, networkx_graph

ALL_KINDS = MixedGraph(
    tuple("ABCDEFG"),
    (
        ("A", "B", "→"),
        ("B", "C", "—"),
        ("C", "D", "↔"),
        ("D", "E", "∘→"),
        ("E", "F", "∘–∘"),
        ("F", "G", "∘–"),
    ),
)


def table_of(dag, rows, rng, seen):
    """Rows of a random system over the DAG, of which the first `seen` variables are in the table."""
    codes = rows_from(dag, 2, rows, rng).astype(np.int16)[:, :seen]
    return DiscreteTable(np.asfortranarray(codes), {f"v{i}": ("0", "1") for i in range(seen)})


def test_the_pag_is_causal_learns_own_on_tables_with_two_hidden_variables():
    rng = np.random.default_rng(0)
    for _ in range(5):
        table = table_of(random_dag(range(9), 0.3, rng), 3000, rng, 7)
        with contextlib.redirect_stdout(io.StringIO()):
            theirs, _ = fci(table.codes, "gsq", 0.01, show_progress=False)
        assert estimate_pag(table).graph == read_matrix(theirs.graph, table.variables)


def test_a_common_cause_that_is_no_column_is_a_bidirected_edge(capfd):
    """0 → 2 ← 4 → 3 ← 1, where 4 isn't in the table: 2 ↔ 3, and nothing is printed."""
    rng = np.random.default_rng(3)
    hidden = rng.integers(0, 2, 20_000)
    x, y = rng.integers(0, 2, (2, 20_000))
    codes = np.stack([x, y, (x + hidden + (rng.random(20_000) < 0.2)) // 2, (y + hidden) // 2], 1)
    table = DiscreteTable(np.asfortranarray(codes.astype(np.int16)), {f"v{i}": ("0", "1") for i in range(4)})
    assert set(estimate_pag(table).graph.edges) == {("v0", "v2", "∘→"), ("v1", "v3", "∘→"), ("v2", "v3", "↔")}
    assert capfd.readouterr() == ("", "")


def test_what_a_pag_implies_holds_in_the_graph_with_the_hidden_variables():
    """40 random DAGs of nine nodes, two of them hidden, whose PAGs follow from exact separation."""
    rng = np.random.default_rng(1)
    implied = 0
    for _ in range(40):
        dag = random_dag(range(9), 0.3, rng)
        with contextlib.redirect_stdout(io.StringIO()):
            found, _ = fci(np.eye(9)[:, :7], "d_separation", 0.5, show_progress=False, true_dag=dag)
        for one, other, given in implied_independencies(read_matrix(found.graph, range(7))):
            assert nx.is_d_separator(dag, {one}, {other}, set(given))
            implied += 1
    assert implied > 200


def test_a_pag_passes_the_check_of_a_table_of_its_system_and_a_wrong_one_does_not():
    rng = np.random.default_rng(2)
    chain = nx.DiGraph([(0, 1), (1, 2)])
    table = table_of(chain, 5000, rng, 3)
    right = MixedGraph(table.variables, (("v0", "v1", "∘–∘"), ("v1", "v2", "∘–∘")))
    assert check_graph(right, table).failed == ()
    wrong = MixedGraph(table.variables, (("v0", "v1", "∘→"), ("v2", "v1", "∘→")))
    assert [str(test) for test in check_graph(wrong, table).failed] == ["v0 independent of v2"]


def test_resampled_tables_count_the_marks():
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 2, (2, 2000))
    codes = np.stack([x, y, x & y], 1).astype(np.int16)
    table = DiscreteTable(np.asfortranarray(codes), {f"v{i}": ("0", "1") for i in range(3)})
    found = edge_confidence(table, EstimateSettings(method="fci"), resamples=4)
    assert isinstance(found, EdgeConfidence)
    edge = found.between("v0", "v2")
    assert edge.marks == {"∘→": 1.0}
    assert edge.adjacent == 1.0


def test_settings_that_it_cannot_take_are_refused():
    table = table_of(nx.DiGraph([(0, 1)]), 100, np.random.default_rng(5), 2)
    with pytest.raises(EstimationError, match="no statements of knowledge"):
        estimate_pag(table, EstimateSettings(knowledge=Knowledge(roots=["v0"])))
    with pytest.raises(EstimationError, match="two variables"):
        estimate_pag(table_of(nx.DiGraph([(0, 1)]), 100, np.random.default_rng(5), 1))


# -- the graph itself ----------------------------------------------------------------------------------------


def test_json_brings_back_every_kind_of_edge_and_no_essential_graph_takes_circles():
    assert MixedGraph.from_json(ALL_KINDS.to_json()) == ALL_KINDS
    with pytest.raises(GraphError, match="C ↔ D"):
        EssentialGraph.from_json(ALL_KINDS.to_json())
    circle = MixedGraph(("A", "B"), (("A", "B", "∘→"),))
    with pytest.raises(GraphError, match="a PAG"):
        EssentialGraph.from_json(circle.to_json())


def test_every_kind_has_its_form_in_other_programs():
    dagitty = dagitty_text(ALL_KINDS.nodes, ALL_KINDS.kinds())
    assert dagitty.startswith("pag {")
    for line in ('"C" <-> "D"', '"D" @-> "E"', '"E" @-@ "F"', '"F" @-- "G"'):
        assert line in dagitty
    dot = dot_text(ALL_KINDS.nodes, ALL_KINDS.kinds())
    assert '"D" -> "E" [dir=both, arrowtail=odot];' in dot
    assert networkx_graph(ALL_KINDS.nodes, ALL_KINDS.kinds()).edges["D", "C"]["kind"] == "bidirected"


def test_marks_are_compared_by_their_ends():
    turned = MixedGraph(ALL_KINDS.nodes[::-1], tuple(ALL_KINDS.forwards()))
    assert compare_marks(turned, ALL_KINDS)["shd"] == 0
    found = MixedGraph(tuple("ABC"), (("A", "B", "∘→"), ("B", "C", "→")))
    true = MixedGraph(tuple("ABC"), (("A", "B", "→"), ("A", "C", "→")))
    scores = compare_marks(found, true)
    assert scores["shd"] == 3
    assert scores["skeleton"]["precision"] == 1 / 2
    assert scores["marks"]["precision"] == 1 / 3  # of the arrowheads at B and C and the tail at B
    with pytest.raises(GraphError, match="'C' missing from the truth"):
        compare_marks(found, MixedGraph(tuple("AB"), ()))
