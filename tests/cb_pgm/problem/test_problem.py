"""Graphs and truths from files, and whether they fit the table: misfits are refused by name."""

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from cb_pgm import CausalBanditError, CausalSystem
from cb_pgm.pipeline.pipeline import Pipeline
from cb_pgm.problem.graph_files import read_graph, widened
from cb_pgm.problem.problem import Problem, settable_states
from cb_pgm.problem.truth import check_against_truth, read_truth, with_flipped_reward
from cb_pgm.report.run_folder import write_run
from cb_pgm.session.beginning import prepare
from cb_pgm.session.replay import replay_log
from cb_pgm.session.setup import Setup
from discovery import DiscoveryError, DiscreteTable, EssentialGraph


@pytest.fixture(scope="module")
def truth() -> CausalSystem:
    return read_truth("data/earthquake.bif", "MaryCalls=True")


def table_with(states, constants=None) -> DiscreteTable:
    codes = np.array([[row % len(values) for values in states.values()] for row in range(60)], dtype=np.int16)
    return DiscreteTable(codes, states, np.arange(60) % 2 * 1.0, "R", constants=constants or {})


# -- the truth ----------------------------------------------------------------------------------------


def test_a_table_like_the_truth_fits_in_any_order_of_columns_and_states(truth):
    states = {variable: tuple(reversed(values)) for variable, values in reversed(truth.states.items())}
    check_against_truth(table_with(states), truth, "it")


def test_a_column_that_the_truth_lacks_is_refused_by_name(truth):
    with pytest.raises(CausalBanditError, match=r"'Allarm' in the table: did you mean 'Alarm'"):
        check_against_truth(table_with({**truth.states, "Allarm": ("a", "b")}), truth, "it")


def test_a_variable_that_the_table_lacks_is_refused_by_name(truth):
    states = {variable: values for variable, values in truth.states.items() if variable != "Burglary"}
    with pytest.raises(CausalBanditError, match="none for 'Burglary'"):
        check_against_truth(table_with(states), truth, "it")
    check_against_truth(table_with(states, {"Burglary": "False"}), truth, "it")


def test_a_state_that_the_truth_lacks_is_refused_by_name(truth):
    states = {**truth.states, "Alarm": ("False", "Maybe", "True")}
    with pytest.raises(CausalBanditError, match="'Maybe' in the column 'Alarm'"):
        check_against_truth(table_with(states), truth, "it")
    rest = {variable: values for variable, values in truth.states.items() if variable != "Alarm"}
    with pytest.raises(CausalBanditError, match="'true' in the column 'Alarm': did you mean 'True'"):
        check_against_truth(table_with(rest, {"Alarm": "true"}), truth, "it")


def test_marginals_follow_the_truths_order_and_count_nothing_for_unseen_states(truth):
    states = {variable: tuple(reversed(values)) for variable, values in truth.states.items()}
    table = table_with({name: states[name] for name in list(states)[1:]}, {next(iter(states)): "False"})
    marginals = Problem(table).marginals(truth.states)
    assert list(marginals.probabilities) == list(truth.states)
    assert marginals.rows == 60
    assert marginals.reward_mean == 0.5
    for variable, values in truth.states.items():
        for value, probability in zip(values, marginals.probabilities[variable], strict=True):
            if variable in table.constants:
                assert probability == (value == "False")
            else:
                seen = table.codes[:, table.variables.index(variable)] == table.states[variable].index(value)
                assert probability == seen.mean()


def test_the_with_flipped_reward_system_is_one_minus_the_other(truth):
    other = with_flipped_reward(truth)
    assert other.reward_parents == truth.reward_parents
    assert other.mean_reward({}) == pytest.approx(1 - truth.mean_reward({}))
    for (arm, mean), (same, turned) in zip(truth.arm_means().items(), other.arm_means().items(), strict=True):
        assert arm == same
        assert turned == pytest.approx(1 - mean)
    assert other.effective_gaps(truth.essential_graph()) == pytest.approx(
        truth.effective_gaps(truth.essential_graph())
    )


def test_a_reward_without_a_state_needs_the_states_0_and_1():
    with pytest.raises(CausalBanditError, match=r"NODE=STATE .* 'MaryCalls'"):
        read_truth("data/earthquake.bif", "MaryCalls")


def test_what_cant_be_set_is_left_out_and_unknown_names_are_refused():
    states = {"a": ("0", "1"), "b": ("x", "y")}
    assert settable_states(states, ()) == states
    assert settable_states(states, ("a",)) == {"b": ("x", "y")}
    with pytest.raises(CausalBanditError, match="'aa': did you mean 'a'"):
        settable_states(states, ("aa",))


# -- graphs ----------------------------------------------------------------------------------------


@pytest.fixture
def graph() -> EssentialGraph:
    return EssentialGraph.from_dag(nx.DiGraph([("a", "c"), ("b", "c"), ("c", "d")]))


def test_a_graph_is_read_as_it_was_written_in_the_order_asked_for(graph, tmp_path):
    path = tmp_path / "graph.json"
    path.write_text(graph.to_json(), encoding="utf-8-sig")  # with the mark that some editors leave
    assert read_graph(path).graph == graph
    used = read_graph(path, ("d", "c", "b", "a"))
    assert used.graph == widened(graph, ("d", "c", "b", "a"))
    assert used.repairs == ()


def test_what_discover_prints_is_read_too(graph, tmp_path):
    path = tmp_path / "graph.json"
    remarks = {"method": "ges", "repairs": [], "seconds": 0.1, "data": {"rows": 5}, "warnings": []}
    path.write_text(json.dumps(json.loads(graph.to_json()) | remarks))
    assert read_graph(path).graph == graph


def test_a_network_is_read_as_its_essential_graph():
    used = read_graph("data/earthquake.bif")
    assert set(used.graph.directed) >= {("Burglary", "Alarm"), ("Earthquake", "Alarm")}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"nodes": ["a", "b", "c"]}', "no 'd'"),
        ('{"nodes": ["a", "b", "c", "d", "ee"]}', "'ee' in"),
        ('{"nodes": ["a"', "JSON"),
        ("[1, 2]", "JSON object"),
        ('{"nodes": ["a", "b", "c", "d"], "edges": []}', "'edges'"),
    ],
)
def test_a_file_that_doesnt_fit_is_refused_with_what_is_wrong(content, message, tmp_path):
    path = tmp_path / "graph.json"
    path.write_text(content)
    with pytest.raises(DiscoveryError, match=message):
        read_graph(path, ("a", "b", "c", "d"))


@pytest.mark.parametrize(
    ("edges", "named"),
    [
        ('"directed": [["a", "b"], ["b", "c"], ["c", "a"]]', "cycle but found a → b → c → a"),
        ('"undirected": [["a", "b"], ["b", "c"], ["c", "d"], ["d", "a"]]', "without a chord"),
        ('"bidirected": [["a", "b"]]', "bidirected edges but found a ↔ b"),
    ],
)
def test_a_faulty_graph_is_refused_by_name(edges, named, tmp_path):
    path = tmp_path / "graph.json"
    path.write_text(f'{{"nodes": ["a", "b", "c", "d"], {edges}}}')
    with pytest.raises(DiscoveryError, match=named) as refusal:
        read_graph(path)
    assert str(path) in str(refusal.value)


def test_a_data_frame_stands_for_its_file_in_runs_sessions_and_replays(tmp_path: Path) -> None:
    frame = pd.read_csv("data/kidney_stones.csv")
    settings = {"policies": ["screening"], "horizon": 200, "seed": 1}
    by_path, by_frame = (
        Pipeline(source, "success=yes", **settings).run() for source in ("data/kidney_stones.csv", frame)
    )
    pd.testing.assert_frame_equal(by_path.summary(), by_frame.summary())
    write_run(by_frame, tmp_path)
    assert json.loads((tmp_path / "settings.json").read_text())["data"]["path"] == "the data frame"
    asked = {"reward": "success=yes", "horizon": 20, "seed": 1}
    starts = [prepare(Setup(data=source, **asked)) for source in ("data/kidney_stones.csv", frame)]
    assert starts[0].settings.states == starts[1].settings.states
    log = frame.assign(set=["treatment" if i % 2 else "" for i in range(len(frame))])
    report = replay_log(Setup(data=log, intervention_column="set", **asked))
    assert report.to_dict()["log"] == "the data frame"
