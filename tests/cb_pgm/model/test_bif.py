"""Networks survive writing to BIF and reading, whatever their names."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cb_pgm import CausalSystem
from cb_pgm.model.bif import read_bif, write_bif
from cb_pgm.model.discrete_model import DiscreteModel
from cb_pgm.model.pgmpy_networks import model_of_network, network_of_model
from cb_pgm.pipeline import Pipeline
from cb_pgm.report.run.folder import write_run


@pytest.mark.parametrize("name", ["asia", "child", "insurance", "alarm"])
def test_a_bundled_network_is_read_back_as_it_was(tmp_path: Path, name: str) -> None:
    network = read_bif(f"data/{name}.bif")
    write_bif(network, tmp_path / "again.bif")
    again = read_bif(tmp_path / "again.bif")
    assert set(again.edges) == set(network.edges)
    for node in network.nodes:
        table, same = network.get_cpds(node), again.get_cpds(node)
        assert table.state_names == same.state_names
        assert np.array_equal(table.values, same.values)
    assert not (tmp_path / "again.bif").read_text().startswith("//")


def test_a_network_with_hidden_variables_is_written_whole(tmp_path: Path) -> None:
    system = CausalSystem.from_bif("data/asia.bif", "dysp=yes", hidden=["smoke"])
    write_bif(system.network(), tmp_path / "whole.bif")
    again = CausalSystem.from_bif(tmp_path / "whole.bif", "reward=1", hidden=["smoke"])
    means = system.arm_means()
    assert again.arm_means() == {arm: pytest.approx(means[arm], abs=1e-12) for arm in again.arm_means()}
    assert "property" not in (tmp_path / "whole.bif").read_text()


def test_any_names_are_written_so_that_they_can_be_read_and_told_apart(
    tmp_path: Path, hostile_names: tuple[str, ...]
) -> None:
    """A chain over awkward names, one of them another's twin but for case, with awkward states."""
    names = (*hostile_names, "age (years)", "AGE (years)", "variable", "probability", "table", "größe", "")
    states = ("a b", "a,b", "a_b", "<5", '>=5 // "x"', "None")
    rng = np.random.default_rng(0)
    tables = [rng.dirichlet(np.ones(6), size=(6,) if v else ()) for v in range(len(names))]
    parents = tuple(((v - 1,) if v else ()) for v in range(len(names)))
    model = DiscreteModel(dict.fromkeys(names, states), parents, tuple(tables))
    path = tmp_path / "odd.bif"
    write_bif(network_of_model(model), path)
    again = model_of_network(read_bif(path))
    remarks = (line for line in path.read_text("utf-8").splitlines() if line.startswith("//"))
    written = {}
    for remark in remarks:
        name, text = remark.removeprefix("// ").rsplit(" is written ", 1)
        written[json.loads(name)] = text
    assert written.keys() >= {"age (years)", "AGE (years)", "a b", ""}
    place = [again.index[written.get(name, name)] for name in names]
    assert sorted(place) == list(range(len(names)))
    assert again.states[written["age (years)"]] == ("a_b", "a_b_2", "a_b_3", "<5", ">=5__/__x_", "None")
    for v, position in enumerate(place):
        assert again.parents[position] == ((place[v - 1],) if v else ())
        np.testing.assert_allclose(again.tables[position], model.tables[v], atol=1e-15)


@pytest.mark.parametrize("minimize", [False, True])
def test_a_run_leaves_the_network_that_it_played_against(tmp_path: Path, minimize: bool) -> None:
    """The fitted model, with the reward as asked for also where its lowest mean is wanted."""
    report = Pipeline(
        "data/asia.csv", "xray=yes", policies=("ucb",), horizon=50, seed=1, minimize=minimize
    ).run()
    write_run(report, tmp_path)
    left = CausalSystem.from_bif(tmp_path / "model.bif", "reward=1")
    played = report.task.system
    assert set(left.states) == set(played.states)
    for do in ({}, {"either": "yes"}, {"smoke": "no", "lung": "yes"}):
        assert left.mean_reward(do) == pytest.approx(report.task.as_asked(played.mean_reward(do)), abs=1e-12)


def test_a_run_against_a_truth_leaves_the_truth(tmp_path: Path) -> None:
    settings = {"policies": ("ucb",), "horizon": 50, "seed": 1, "truth": "data/asia.bif"}
    write_run(Pipeline("data/asia.csv", "xray=yes", **settings).run(), tmp_path)
    left, truth = (
        CausalSystem.from_bif(path, reward)
        for path, reward in ((tmp_path / "model.bif", "reward=1"), (Path("data/asia.bif"), "xray=yes"))
    )
    assert set(left.essential_graph().directed) == set(truth.essential_graph().directed)
    means = truth.arm_means()
    assert left.arm_means() == {arm: pytest.approx(means[arm], abs=1e-12) for arm in left.arm_means()}
