"""An answer in a person's unit of rewards; it is computed with rewards in [0, 1] (`RewardUnit`)."""

from __future__ import annotations

from dataclasses import replace

from cb_pgm.effects.measured import Interval
from cb_pgm.effects.report import EffectsReport
from cb_pgm.effects.values import ArmEffect, ArmRows, Comparison, Contrast, Decision
from cb_pgm.model.reward_unit import RewardUnit

__all__ = ["report_outside"]


def report_outside(report: EffectsReport, unit: RewardUnit) -> EffectsReport:
    """Return an answer in the person's unit; its sentences are in it already."""
    return replace(
        report,
        do_nothing=None if report.do_nothing is None else unit.outside(report.do_nothing),
        do_nothing_interval=_interval(report.do_nothing_interval, unit),
        scale=report.scale.outside(unit),
        arms=tuple(_arm(arm, unit) for arm in report.arms),
        contrasts=tuple(_contrast(contrast, unit) for contrast in report.contrasts),
        decision=_decision(report.decision, unit),
    )


def _arm(arm: ArmEffect, unit: RewardUnit) -> ArmEffect:
    return replace(
        arm,
        seen=_rows(arm.seen, unit),
        set_rows=_rows(arm.set_rows, unit),
        bounds=unit.interval(arm.bounds),
        mean=None if arm.mean is None else unit.outside(arm.mean),
        interval=_interval(arm.interval, unit),
    )


def _contrast(contrast: Contrast, unit: RewardUnit) -> Contrast:
    return replace(
        contrast,
        difference=unit.difference(contrast.difference),
        interval=unit.differences(contrast.interval),
    )


def _interval(interval: Interval | None, unit: RewardUnit) -> Interval | None:
    return None if interval is None else unit.interval(interval)


def _rows(shown: ArmRows | None, unit: RewardUnit) -> ArmRows | None:
    if shown is None:
        return None
    return replace(shown, mean=unit.outside(shown.mean), interval=unit.interval(shown.interval))


def _decision(decision: Decision, unit: RewardUnit) -> Decision:
    return replace(
        decision,
        mean=unit.outside(decision.mean),
        interval=unit.interval(decision.interval),
        over_nothing=_comparison(decision.over_nothing, unit),
        seen=_rows(decision.seen, unit),
        over_second=_comparison(decision.over_second, unit),
    )


def _comparison(comparison: Comparison | None, unit: RewardUnit) -> Comparison | None:
    if comparison is None:
        return None
    return replace(
        comparison,
        gain=unit.difference(comparison.gain),
        interval=unit.differences(comparison.interval),
    )
