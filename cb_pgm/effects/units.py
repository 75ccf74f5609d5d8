"""An answer in a person's unit of rewards; it is computed with rewards in [0, 1] (`RewardUnit`)."""

from __future__ import annotations

from dataclasses import replace

from cb_pgm.effects.measured import Interval
from cb_pgm.effects.report import EffectsReport
from cb_pgm.effects.values import ArmEffect, ArmRows, Comparison, Decision
from cb_pgm.errors import CausalBanditError
from cb_pgm.model.fitting import rewards_of
from cb_pgm.model.reward_unit import RewardUnit
from discovery.table.discrete_table import DiscreteTable

__all__ = ["range_inside", "report_outside"]


def range_inside(reward_range: Interval | None, table: DiscreteTable, unit: RewardUnit) -> Interval | None:
    """Return a given range of rewards as it is inside.

    Raises
    ------
    CausalBanditError
        If a reward of the table lies outside of the range.
    """
    if reward_range is None:
        return None
    rewards = rewards_of(table)
    done = table.interventional
    given = [rewards] if done is None or done.rewards is None or not len(done) else [rewards, done.rewards]
    low, high = min(float(part.min()) for part in given), max(float(part.max()) for part in given)
    if not reward_range[0] <= low <= high <= reward_range[1]:
        raise CausalBanditError(
            f"Expected rewards from {reward_range[0]:g} to {reward_range[1]:g} but found them from {low:g} "
            f"to {high:g}: widen the reward range"
        )
    return unit.inside(reward_range[0]), unit.inside(reward_range[1])


def report_outside(report: EffectsReport, unit: RewardUnit) -> EffectsReport:
    """Return an answer in the person's unit; its sentences are in it already."""
    return replace(
        report,
        do_nothing=unit.outside(report.do_nothing),
        do_nothing_interval=unit.interval(report.do_nothing_interval),
        scale=report.scale.outside(unit),
        arms=tuple(_arm(arm, unit) for arm in report.arms),
        decision=_decision(report.decision, unit),
    )


def _arm(arm: ArmEffect, unit: RewardUnit) -> ArmEffect:
    return replace(
        arm,
        seen=_rows(arm.seen, unit),
        set_rows=_rows(arm.set_rows, unit),
        bounds=unit.interval(arm.bounds),
        mean=unit.outside(arm.mean),
        interval=unit.interval(arm.interval),
    )


def _rows(shown: ArmRows | None, unit: RewardUnit) -> ArmRows | None:
    if shown is None:
        return None
    return replace(shown, mean=unit.outside(shown.mean), interval=unit.interval(shown.interval))


def _decision(decision: Decision, unit: RewardUnit) -> Decision:
    second = decision.over_second
    return replace(
        decision,
        mean=unit.outside(decision.mean),
        interval=unit.interval(decision.interval),
        over_nothing=_comparison(decision.over_nothing, unit),
        seen=_rows(decision.seen, unit),
        over_second=None if second is None else _comparison(second, unit),
    )


def _comparison(comparison: Comparison, unit: RewardUnit) -> Comparison:
    return replace(
        comparison,
        gain=unit.difference(comparison.gain),
        interval=unit.differences(comparison.interval),
    )
