"""Questions cost at most a share of what other rounds cost, in whatever unit."""

import numpy as np
import pytest

from cb_pgm import Intervention, Pull
from cb_pgm.policies.arms import ArmTotals
from cb_pgm.policies.question_cost import QuestionCost

ARMS = [Intervention({"A": state}) for state in ("0", "1")]


def totals(unit: float, rows_of_worse: int) -> ArmTotals:
    """Return 100 rows of mean 1 of the better arm, and rows of mean ½ of the worse one."""
    arms = ArmTotals(ARMS)
    arms.add(ARMS[0], np.full(100, unit))
    arms.add(ARMS[1], np.full(rows_of_worse, unit / 2))
    return arms


@pytest.mark.parametrize("unit", [0.01, 1.0, 100.0])
def test_a_fifth_of_what_the_other_rounds_cost(unit: float) -> None:
    """Beside 20 other rounds of the worse arm there may be 4 questions about it."""
    cost = QuestionCost(0.2, 1e-6)
    cost.add(ARMS[1], 3, ArmTotals(ARMS))
    assert cost.affords(Pull(ARMS[1]), totals(unit, 24))
    cost.add(ARMS[1], 1, ArmTotals(ARMS))
    assert not cost.affords(Pull(ARMS[1]), totals(unit, 25))


def test_questions_about_the_best_arm_are_free() -> None:
    assert QuestionCost(0.2, 1e-6).affords(Pull(ARMS[0], 10**6), totals(1.0, 1))


def test_rows_of_a_table_pay_for_no_question() -> None:
    arms = ArmTotals([*ARMS, Intervention()])
    arms.add(ARMS[0], np.ones(10))
    arms.add(Intervention(), np.zeros(10_000))
    arms.add(ARMS[1], np.zeros(4))
    assert not QuestionCost(0.2, 1e-6).affords(Pull(ARMS[1]), arms)


def test_below_what_an_index_policy_pays() -> None:
    """With gap ½ and σ ½ it pays some 6σ²/Δ = 3, half of which is 3 rounds of the worse arm."""
    arms = totals(1.0, 100)
    cost = QuestionCost(0.5, 0.5)
    assert cost.below_index(Pull(ARMS[1], 2), arms, *cost.cautious_gaps(arms))
    assert not cost.below_index(Pull(ARMS[1], 4), arms, *cost.cautious_gaps(arms))


def test_what_rows_do_not_tell_from_the_best_is_free() -> None:
    """25 rows of a mean ½ too low with σ 2.5: a standard error of ½."""
    arms = totals(1.0, 25)
    assert QuestionCost(0.0, 2.6).affords(Pull(ARMS[1], 10**6), arms)
    assert not QuestionCost(0.0, 2.4).affords(Pull(ARMS[1]), arms)


def test_a_question_within_reach_may_cost_more() -> None:
    """Beside 20 other rounds with gap ½ a share of .6 is 6, of which 2 questions have cost 1."""
    arms = totals(1.0, 22)
    cost = QuestionCost(0.1, 1e-6, 0.6)
    cost.add(ARMS[1], 2, ArmTotals(ARMS))
    assert not cost.affords(Pull(ARMS[1]), arms)
    assert cost.affords(Pull(ARMS[1]), arms, to_end=4.9)
    assert not cost.affords(Pull(ARMS[1]), arms, to_end=5.1)
