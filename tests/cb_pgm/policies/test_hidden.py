"""No policy sees a hidden variable, whether it starts from a table, a graph or the truth."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from cb_pgm import CausalSystem, Intervention, instances
from cb_pgm.model.bif import write_bif
from cb_pgm.model.discrete_model import DiscreteModel
from cb_pgm.pipeline import Pipeline
from cb_pgm.pipeline.task import Entry, Task
from cb_pgm.policies.registry import POLICIES, policy_kind

HIDDEN = "unseen"
HORIZON = 300


def renamed(system: CausalSystem) -> CausalSystem:
    """The same system, its hidden variables named as nothing else is."""
    model = system.model
    names = [name.replace("U", HIDDEN) for name in model.variables]
    states = dict(zip(names, model.states.values(), strict=True))
    hidden = [name for name in names if HIDDEN in name]
    return CausalSystem.from_model(
        DiscreteModel(states, model.parents, model.tables), system.reward, hidden=hidden
    )


@pytest.fixture(scope="module", params=[1, 2], ids=["one child each", "common causes"])
def task(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Task:
    """Every policy on a network in a file, with a table that has columns of the hidden variables too."""
    system = renamed(instances.hidden_dag(4, n_children=request.param, n_parents=1, seed=0))
    truth = tmp_path_factory.mktemp("hidden") / "truth.bif"
    write_bif(system.network(), truth)
    everything = CausalSystem.from_model(system.model, system.reward)
    rows = everything.sample({}, 500, np.random.default_rng(0))
    table = pd.DataFrame(rows.codes, columns=list(everything.states)).astype(str)
    table["reward"] = rows.rewards.astype(int).astype(str)
    assert len(system.hidden) == 2
    assert set(system.hidden) < set(table)
    return Pipeline(
        table,
        "reward=1",
        truth=truth,
        hidden=system.hidden,
        policies=tuple(POLICIES),
        horizon=HORIZON,
        seed=0,
    ).prepare()


def test_every_policy_plays_and_none_on_a_graph_that_is_untrue(task: Task) -> None:
    assert {entry.name for entry in task.entries} == set(POLICIES)
    on_truth = {entry.name for entry in task.entries if entry.graph == "oracle"}
    graphs = {name for name in POLICIES if POLICIES[name].needs_graph}
    untrue = bool(task.system.hidden_common_causes)
    assert bool(graphs & on_truth) != untrue
    assert any("no graph over the observed variables is true" in line for line in task.warnings) == untrue


@pytest.mark.parametrize("name", POLICIES)
def test_what_a_policy_holds_pulls_and_says_has_no_hidden_name(task: Task, name: str) -> None:
    for entry in task.entries:
        if entry.name == name:
            holds_nothing_hidden(task, entry)


def holds_nothing_hidden(task: Task, entry: Entry) -> None:
    rng = np.random.default_rng(1)
    policy = entry.policy.fresh(rng)
    seen = task.system.sample({}, 200, rng)
    policy.warm_start(Intervention(), seen)
    played = 0
    while played < HORIZON:
        pull = policy.ask()
        assert not set(pull.intervention) & set(task.system.hidden)
        policy.tell(pull, task.system.sample(pull.intervention, min(pull.size, HORIZON), rng))
        played += pull.size
        assert HIDDEN not in policy.why(pull)
    assert list(policy.states) == list(task.system.states)
    assert HIDDEN not in str((policy.candidates, policy.reward_variables, policy.best_arm(), policy.fallback))
    if not policy_kind(entry.name).is_oracle:  # an oracle may be told of the hidden causes
        assert HIDDEN.encode() not in pickle.dumps(entry.policy)
