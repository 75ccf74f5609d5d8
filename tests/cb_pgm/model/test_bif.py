"""Networks survive writing to BIF and reading, whatever their names."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cb_pgm import CausalSystem
from cb_pgm.model.bif import read_bif, read_bif_model, write_bif
from cb_pgm.model.discrete_model import DiscreteModel
from cb_pgm.model.pgmpy_networks import model_of_network, network_of_model
from cb_pgm.pipeline import Pipeline
from cb_pgm.report.run_folder import write_run


@pytest.mark.parametrize("name", ["asia", "child", "insurance", "alarm"])
def test_a_bundled_network_is_read_back_as_it_was(tmp_path: Path, name: str) -> None:
    network = read_bif(f"data/{name}.bif")
    write_bif(network, tmp_path / "again.bif")
    again = read_bif(tmp_path / "again.bif")
    assert list(again.nodes) == list(network.nodes)
    assert set(again.edges) == set(network.edges)
    for node in network.nodes:
        table, same = network.get_cpds(node), again.get_cpds(node)
        assert table.state_names == same.state_names
        np.testing.assert_allclose(table.values, same.values, rtol=1e-15)
    assert not (tmp_path / "again.bif").read_text().startswith("//")


@pytest.mark.parametrize("name", ["asia", "survey"])
def test_pgmpy_reads_what_is_written(tmp_path: Path, name: str) -> None:
    from pgmpy.readwrite import BIFReader

    model = read_bif_model(f"data/{name}.bif")
    write_bif(model, tmp_path / "again.bif")
    again = model_of_network(BIFReader(str(tmp_path / "again.bif")).get_model())
    assert (again.states, again.parents) == (model.states, model.parents)
    for table, same in zip(model.tables, again.tables, strict=True):
        np.testing.assert_allclose(table, same, rtol=1e-15)


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
    states = ("a b", "a,b", "a_b", "<5", '>=5 // "x"', ">=5 // _x_", "None", "property")
    rng = np.random.default_rng(0)
    tables = [rng.dirichlet(np.ones(8), size=(8,) if v else ()) for v in range(len(names))]
    parents = tuple(((v - 1,) if v else ()) for v in range(len(names)))
    model = DiscreteModel(dict.fromkeys(names, states), parents, tuple(tables))
    path = tmp_path / "odd.bif"
    write_bif(network_of_model(model), path)
    again = read_bif_model(path)
    remarks = (line for line in path.read_text("utf-8").splitlines() if line.startswith("//"))
    written = {}
    for remark in remarks:
        name, text = remark.removeprefix("// ").split(" is written ", 1)
        written[json.loads(name)] = text.strip('"')
    assert set(written) == {name for name in (*names, *states) if '"' in name or "\x07" in name}
    assert again.variables == tuple(written.get(name, name) for name in names)
    own = ("a b", "a,b", "a_b", "<5", ">=5 // _x__2", ">=5 // _x_", "None", "property")
    assert set(again.states.values()) == {own}
    assert again.parents == model.parents
    for table, same in zip(model.tables, again.tables, strict=True):
        np.testing.assert_allclose(table, same, rtol=1e-15)


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
        assert left.mean_reward(do) == pytest.approx(
            report.task.unit.outside(played.mean_reward(do)), abs=1e-12
        )


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
