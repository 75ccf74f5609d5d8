"""Policies start from rows recorded before the first pull."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from cb_pgm import CausalSystem, Intervention
from cb_pgm.errors import CausalBanditError
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.registry import POLICIES, make_policy
from cb_pgm.problem.earlier_rows import table_rows
from cb_pgm.simulation import MOST_OBSERVATIONS, drawn_rows, simulate
from discovery import DiscreteTable

NOTHING = Intervention()


@pytest.fixture(scope="module")
def system():
    return CausalSystem.from_bif("data/asia.bif", reward="xray=yes")


def test_rows_of_a_table_are_grouped_by_what_was_set():
    frame = pd.DataFrame(
        {"a": list("xyxyxyxyxy"), "b": list("uuvvuuvvuv"), "set": [*[""] * 4, *"aaba", "", ""]}
    )
    frame["r"] = np.arange(10.0)
    frame = pd.concat([frame] * 4, ignore_index=True)
    table = DiscreteTable.from_frame(frame, "r", intervention_column="set")
    groups = [(dict(arm), rows.rewards[: len(rows) // 4].tolist()) for arm, rows in table_rows(table)]
    assert groups == [({}, [0, 1, 2, 3, 8, 9]), ({"a": "x"}, [4]), ({"a": "y"}, [5, 7]), ({"b": "v"}, [6])]


def test_states_are_coded_as_asked_for_and_rows_with_other_states_are_left_out():
    frame = pd.DataFrame({"a": list("xyz") * 10, "b": list("uv") * 15, "c": ["k"] * 30, "r": np.arange(30.0)})
    table = DiscreteTable.from_frame(frame, "r")
    ((_, rows),) = table_rows(table, {"c": ("j", "k"), "b": ("v", "u"), "a": ("y", "x")})
    assert rows.rewards.tolist() == [i for i in range(30) if i % 3 != 2]
    assert rows.codes[:2].tolist() == [[1, 1, 1], [1, 0, 0]]
    with pytest.raises(CausalBanditError, match="'d'"):
        table_rows(table, {"d": ("0", "1")})


def test_no_more_observations_than_are_useful(system):
    rows = system.sample({}, MOST_OBSERVATIONS + 5, np.random.default_rng(0))
    table = DiscreteTable(rows.codes, dict(system.states), rows.rewards)
    assert [len(part) for _, part in table_rows(table)] == [MOST_OBSERVATIONS]


def test_drawn_rows_leave_out_what_the_system_cannot_make(system):
    wanted = {NOTHING: 50, Intervention({"lung": "yes"}): 20, Intervention({"lung": "maybe"}): 5}
    drawn = drawn_rows(system, wanted, np.random.default_rng(0))
    assert {arm: len(rows) for arm, rows in drawn} == {NOTHING: 50, Intervention({"lung": "yes"}): 20}


def test_screening_names_the_cause_before_the_first_pull(system):
    context = PolicyContext.of_system(system, None, None, system.effective_gaps(system.essential_graph()))
    policy = make_policy("screening", context)
    cold = simulate(policy, system, 3000, 1)
    earlier = drawn_rows(system, {NOTHING: 10_000}, np.random.default_rng(1))
    warm = simulate(policy, system, 3000, 1, earlier=earlier)
    assert warm.interventions_to_find == 0
    assert warm.reward_variables == system.reward_parents
    assert warm.started_from == 10_000
    assert warm.regret < cold.regret


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_counts_rows_in_which_an_arm_was_set(name, system):
    graph = system.essential_graph()
    context = PolicyContext.of_system(system, graph, system.marginals(), system.effective_gaps(graph))
    context = replace(context, failure_prob=0.1)
    arms = [Intervention({"either": state}) for state in ("yes", "no")]
    earlier = drawn_rows(system, dict.fromkeys([NOTHING, *arms], 50), np.random.default_rng(2))
    run = simulate(make_policy(name, context), system, 20, 3, earlier=earlier)
    assert run.started_from in (100, 150)  # with the observations or without
