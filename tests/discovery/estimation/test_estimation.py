"""Whatever the table, the method and the knowledge: a valid graph, with all that was done to it on record."""

import re
from itertools import product
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from graphs import random_dag, rows_from

from discovery.errors import EstimationError, KnowledgeError
from discovery.estimation.estimation import estimate
from discovery.estimation.knowledge import Knowledge
from discovery.estimation.settings import METHODS as ALL_METHODS
from discovery.graphs.essential_graph import EssentialGraph
from discovery.table.discrete_table import DiscreteTable, read_csv

DATA = Path(__file__).parents[3] / "data"

#: Those that need no minutes on a table of thousands of rows.
METHODS = tuple(method for method in ALL_METHODS if method != "causal-learn-ges")

#: Searches whose results are often invalid come first.
SETTINGS = (
    {"method": "pc", "uc_rule": 0, "uc_priority": 1},
    {"method": "pc", "uc_rule": 0, "uc_priority": 2},
    {"method": "pc", "uc_rule": 1},
    {"method": "pc", "uc_rule": 2},
    {"method": "ges"},
    {"method": "ges-boss"},
)


def table_of(codes, n_states):
    states = tuple(map(str, range(n_states)))
    return DiscreteTable(codes.astype(np.int16), {f"v{i}": states for i in range(codes.shape[1])})


def class_of_bif(path, variables):
    dag = nx.DiGraph()
    dag.add_nodes_from(variables)
    for head, tails in re.findall(r"probability\s*\(\s*(\w+)\s*\|\s*([^)]*)\)", path.read_text()):
        dag.add_edges_from((tail.strip(), head) for tail in tails.split(","))
    return EssentialGraph.from_dag(dag)


@pytest.fixture(scope="module")
def asia():
    return read_csv(DATA / "asia.csv")


@pytest.mark.parametrize("method", ["ges", "pc"])
def test_the_class_of_sachs_is_found_from_ten_thousand_rows(method):
    table = read_csv(DATA / "sachs.csv")
    found = estimate(table, method)
    assert found.graph == class_of_bif(DATA / "sachs.bif", table.variables)
    assert (found.repairs, found.warnings, found.method) == ((), (), method)
    assert found.marginals.rows == table.n_rows
    assert found.seconds > 0


@pytest.mark.parametrize("method", METHODS)
def test_an_estimate_is_over_the_tables_variables_in_their_order(method, asia):
    assert estimate(asia, method).graph.nodes == asia.variables


def test_the_tree_of_most_information_is_a_tree(asia):
    graph = estimate(asia, "chow-liu").graph
    assert graph.directed == ()
    assert len(graph.undirected) == len(asia.variables) - 1
    assert len(graph.chain_components()) == 1


@pytest.mark.parametrize("method", METHODS)
def test_one_variable_is_a_graph_of_one_node(method):
    graph = estimate(table_of(np.arange(30)[:, None] % 2, 2), method).graph
    assert (graph.nodes, graph.directed, graph.undirected) == (("v0",), (), ())


@pytest.mark.parametrize("method", METHODS)
def test_two_variables_are_enough(method):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 500)
    joined = estimate(table_of(np.stack([x, x ^ (rng.random(500) < 0.1)], 1), 2), method).graph
    assert joined.undirected == (("v0", "v1"),)


def test_invalid_results_are_repaired_and_the_changes_listed():
    """30 tables under a rule of PC's that leaves most of them invalid; ten seconds."""
    repaired = 0
    rng = np.random.default_rng(0)
    for _ in range(30):
        table = table_of(rows_from(random_dag(range(9), 0.3, rng), 2, 500, rng), 2)
        found = estimate(table, "pc", uc_rule=0, uc_priority=1)
        assert EssentialGraph.from_dag(found.graph.consistent_extension()) == found.graph
        repaired += bool(found.repairs)
    assert repaired >= 5


def some_tables(seeds):
    """Yield tables like those whose results were counted: trees of 20, random DAGs of 15, asia, sachs."""
    asia_codes, sachs_codes = (read_csv(DATA / f"{name}.csv").codes for name in ("asia", "sachs"))
    for seed, n_rows in product(seeds, (1000, 10_000)):
        rng = np.random.default_rng(seed)
        tree = nx.DiGraph([(int(rng.integers(child)), child) for child in range(1, 20)])
        yield table_of(rows_from(tree, 2, n_rows, rng), 2)
        yield table_of(rows_from(random_dag(range(15), 2 / 14, rng), 2, n_rows, rng), 2)
        for codes in (asia_codes, sachs_codes):
            yield table_of(codes[rng.integers(0, len(codes), n_rows)], int(codes.max()) + 1)


def assert_always_valid(tables):
    for table in tables:
        for settings in SETTINGS:
            graph = estimate(table, **settings).graph
            assert EssentialGraph.from_dag(graph.consistent_extension()) == graph


def test_estimates_are_valid():
    """40 estimates; five seconds. Building the graph checks it; its class is compared once more."""
    assert_always_valid(some_tables(range(1)))


@pytest.mark.slow
def test_two_thousand_estimates_are_valid():
    """2,000 estimates; a minute and a half."""
    assert_always_valid(some_tables(range(100, 150)))


# -- knowledge -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_knowledge_is_kept_exactly_by_every_method(method):
    """25 tables a method, with knowledge that is true of half of them; ten seconds in all."""
    rng = np.random.default_rng(len(method))
    for trial in range(25):
        codes = rows_from(random_dag(range(6), 0.4, rng), 2, 500, rng)
        order = rng.permutation(6)
        names = [f"v{i}" for i in order]
        known = Knowledge(
            tiers=[names[:3], names[3:]],
            required=[(names[0], names[4]), (names[1], names[4])][: trial % 3],
            forbidden=[(names[0], names[5]), (names[1], names[2]), (names[2], names[1])],
            sinks=names[5:],
        )
        graph = estimate(table_of(codes, 2), method, knowledge=known).graph
        certain = {*graph.directed, *graph.background}
        assert certain.issuperset(known.required)
        for one, other in (*graph.directed, *graph.undirected):
            assert known.may_be_adjacent(one, other)
            assert known.allows(one, other) or (other, one) in certain
            assert known.allows(other, one) or (one, other) in certain


@pytest.mark.parametrize("settings", SETTINGS)
def test_forbidding_what_is_not_there_makes_no_v_structure(settings):
    """v0 → v1 → v2 where v0 and v2 are known not to be adjacent: background knowledge changes nothing."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 5000)
    y = x ^ (rng.random(5000) < 0.2)
    table = table_of(np.stack([x, y, y ^ (rng.random(5000) < 0.2)], 1), 2)
    found = estimate(table, **settings, knowledge=Knowledge(forbidden=[("v0", "v2"), ("v2", "v0")]))
    assert (found.graph.directed, found.graph.undirected) == ((), (("v0", "v1"), ("v1", "v2")))
    assert found.repairs == ()


def test_knowledge_beyond_the_class_rides_as_background(asia):
    plain = estimate(asia).graph
    one, other = plain.undirected[0]
    found = estimate(asia, knowledge=Knowledge(required=[(other, one)]))
    assert (found.graph.directed, found.graph.undirected) == (plain.directed, plain.undirected)
    assert found.graph.background == ((other, one),)
    assert found.repairs == ()


@pytest.mark.parametrize("method", ["ges", "pc"])
def test_an_edge_that_is_required_is_there_for_the_search(method):
    """v2 hangs on v1 too weakly to be seen, and v1 on v0: nothing had to be changed afterwards."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (400, 3))
    codes[:, 1] = codes[:, 0] ^ (rng.random(400) < 0.1)
    settings = {"method": method, "equivalent_sample_size": 1.0}
    assert "v2" not in {
        end for edge in estimate(table_of(codes, 2), **settings).graph.undirected for end in edge
    }
    found = estimate(table_of(codes, 2), **settings, knowledge=Knowledge(required=[("v1", "v2")]))
    assert found.graph.undirected == (("v0", "v1"), ("v1", "v2"))
    assert (found.graph.background, found.repairs) == ((("v1", "v2"),), ())


def test_knowledge_of_other_variables_is_refused_by_name(asia):
    with pytest.raises(KnowledgeError, match="'lunge': did you mean 'lung'"):
        estimate(asia, knowledge=Knowledge(roots=["lunge"]))


# -- settings, warnings and reproducibility ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (
            {"method": "gse"},
            "chow-liu or causal-learn-ges but found 'gse': did you mean 'ges'",
        ),
        ({"method": "fci"}, "but found 'fci'"),
        ({"alpha": 0.0}, "alpha between 0 and 1 but found 0.0"),
        ({"alpha": 1.0}, "alpha between 0 and 1 but found 1.0"),
        ({"uc_rule": 3}, "uc_rule 0, 1 or 2 but found 3"),
        ({"uc_priority": 1}, "uc_priority out of 2, 3, 4 with uc_rule 2 but found 1"),
        ({"max_conditions": 0}, "max_conditions of at least 1 but found 0"),
        ({"equivalent_sample_size": -1.0}, "equivalent_sample_size but found -1.0"),
    ],
)
def test_settings_out_of_range_are_refused_by_name(settings, named, asia):
    with pytest.raises(EstimationError, match=named) as refusal:
        estimate(asia, **settings)
    assert "\n" not in str(refusal.value)


def test_what_a_knowledge_file_says_of_the_search_holds(tmp_path, asia):
    path = tmp_path / "known.toml"
    path.write_text("[search]\nequivalent_sample_size = 3\nuc_rule = 5\n")
    with pytest.raises(EstimationError, match="uc_rule 0, 1 or 2 but found 5"):
        estimate(asia, "pc", knowledge=path)
    path.write_text("[search]\nequivalent_sample_size = 3\n")
    assert estimate(asia, knowledge=str(path)).equivalent_sample_size == 3


def test_a_smaller_alpha_and_a_smaller_prior_join_less(asia):
    def edges(**settings):
        graph = estimate(asia, **settings).graph
        return len(graph.directed) + len(graph.undirected)

    assert edges(method="pc", alpha=1e-12) < edges(method="pc", alpha=0.3)
    assert edges(equivalent_sample_size=1e-6) < edges(equivalent_sample_size=1000.0)
    assert edges(structure_prior=1e-9) < edges(structure_prior=6.0)


def test_fewer_rows_than_variables_is_warned_of():
    rng = np.random.default_rng(0)
    found = estimate(table_of(rows_from(random_dag(range(24), 0.1, rng), 2, 20, rng), 2))
    (warning,) = found.warnings
    assert "20" in warning
    assert "24" in warning


def test_what_a_search_has_to_say_is_a_python_warning_and_on_record(asia):
    with pytest.warns(UserWarning, match="time limit of 1e-09 s"):
        found = estimate(asia, time_limit=1e-9)
    assert found.warnings == (
        "the search was ended by the time limit of 1e-09 s: this is the best graph so far",
    )


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_printed_and_the_global_generator_is_left_alone(method, asia, capfd):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    estimate(asia, method)
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert capfd.readouterr() == ("", "")
