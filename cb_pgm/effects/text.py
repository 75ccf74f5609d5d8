"""The answer in sentences, with a table of the arms."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from cb_pgm.effects.measured import Interval
from cb_pgm.effects.noise import RewardScale
from cb_pgm.effects.values import Answer, ArmEffect, ArmRows, Comparison, Decision, OpenEdge
from cb_pgm.model.intervention import Intervention
from cb_pgm.wording import count, listed, number, setting

__all__ = ["effects_text", "hanging_sentences", "recommendation_sentences", "report_text", "scale_sentences"]

_SHOWN = 20  # arms in the table

_GROUNDS = {
    "measured": (
        "Ground: measured. These are the rows in which the arms were set; nothing is assumed about causes."
    ),
    "identified": (
        "Ground: identified. Screening rules out every other variable as the reward's only cause, and no "
        "second cause makes the rows likelier; this assumes that the reward has one cause, and no hidden "
        "one."
    ),
    "fitted": (
        "Ground: fitted. These are means over graphs estimated from the table; it is assumed that there is "
        "no hidden cause."
    ),
    "assumed": (
        "Ground: assumed. These are means over graphs that the given graph or knowledge restricts; that is "
        "assumed to be right, and that there is no hidden cause."
    ),
}


def report_text(report: Answer) -> str:
    """Return the whole answer: the recommendation first, then what it hangs on, the arms and the notes."""
    parts = [
        _heading(report),
        "\n".join(recommendation_sentences(report)),
        "\n".join(hanging_sentences(report)),
        "\n".join(report.decision.next),
        _arms(report.arms, report.scale.high - report.scale.low),
        "\n".join(scale_sentences(report.scale)),
        "\n".join(f"warning: {warning}" for warning in report.warnings),
    ]
    return "\n\n".join(part for part in parts if part)


def effects_text(report: Answer, said: Collection[str]) -> str:
    """Return the part of the answer that is about the arms, for a run that has the recommendation already.

    The warnings `said` are left out.
    """
    parts = [
        _heading(report),
        _arms(report.arms, report.scale.high - report.scale.low),
        "\n".join(f"warning: {warning}" for warning in report.warnings if warning not in said),
    ]
    return "\n\n".join(part for part in parts if part)


def hanging_sentences(report: Answer) -> list[str]:
    """Return a sentence for every edge on whose direction the choice hangs."""
    return [_hangs_on(edge) for edge in report.hangs_on]


def _heading(report: Answer) -> str:
    aim = "lowest" if report.minimize else "highest"
    asked = f"Which intervention has the {aim} mean of {report.reward}?"
    set_there = f"{count(report.set_rows, 'row')} in which a variable was set"
    if not report.models:
        others = f" and {count(report.rows, 'row')} in which none was" if report.rows else ""
        return f"{asked} From {set_there}{others}."
    set_rows = f" and {set_there}" if report.set_rows else ""
    models = "models of the given graph"
    if report.is_searched:
        models = f"graphs drawn from {report.draws:,} resampled tables"
    return f"{asked} From {count(report.rows, 'row')}{set_rows}, {report.models:,} {models}."


def recommendation_sentences(report: Answer) -> list[str]:
    """Return the choice or that there is none, its gains, its ground and P(best), a sentence or two each."""
    decision, spread = report.decision, report.scale.high - report.scale.low
    level = f"{100 * (1 - report.failure_prob):g} %"
    expected = (
        f"Expected {report.reward}: {number(decision.mean, spread)}, {level} interval "
        f"{_interval(decision.interval, spread)}."
    )
    nothing = "Leaving things alone: unknown, since a variable was set in every row."
    if report.do_nothing is not None:
        nothing = (
            f"Leaving things alone: {number(report.do_nothing, spread)}, {level} interval "
            f"{_interval(report.do_nothing_interval, spread)}."
        )
    gain = []
    if decision.over_nothing is not None:
        gain.append(f"Gain over leaving things alone: {_comparison(decision.over_nothing)}.")
    if decision.is_decided:
        lines = [f"Set {setting(decision.leader)}. {expected}", nothing, *gain]
    else:
        what = "leaving things alone" if decision.over_nothing is not None else "all others"
        lines = [
            f"Undecided: no intervention has a gain over {what} whose interval excludes 0.",
            nothing,
            f"{setting(decision.leader)} looks best. {expected}",
            *gain,
        ]
    if decision.over_second is not None and decision.second is not None:
        # Of arms that the draws don't tell apart it needn't be the one of the highest mean that leads.
        rank = "second best" if report.models and decision.over_second.gain >= 0 else "closest rival"
        lines.append(
            f"Gain over the {rank}, {setting(decision.second)}: {_comparison(decision.over_second)}"
            f"{_undecided_between(decision)}."
        )
    lines += [f"P(best): {decision.p_best:.2f}.", _GROUNDS[decision.grounds]]
    if decision.seen is not None:
        lines.append(
            f"The {count(decision.seen.rows, 'row')} that show {setting(decision.leader)} have a mean of "
            f"{number(decision.seen.mean, spread)}, {level} interval "
            f"{_interval(decision.seen.interval, spread)}: setting it has the same mean if nothing causes "
            f"both it and the reward."
        )
    return lines


def _undecided_between(decision: Decision) -> str:
    over = decision.over_second
    return "; which of the two is better is undecided" if over is not None and not over.is_decided else ""


def _comparison(comparison: Comparison) -> str:
    level = f"{100 * comparison.level:.3g} %"
    return f"{number(comparison.gain)}, {level} interval {_interval(comparison.interval)}"


def _hangs_on(edge: OpenEdge) -> str:
    one, other = edge.edge
    total = edge.forward + edge.backward
    return (
        f"It hangs on the edge {one} — {other}: in {edge.forward:,} of {total:,} graphs it is {one} → "
        f"{other}, and {_best(edge.best_if_forward)}; the other {edge.backward:,} have {other} → {one}, and "
        f"{_best(edge.best_if_backward)}."
    )


def _best(intervention: Intervention) -> str:
    return (
        f"{setting(intervention)} is best" if intervention else "nothing is better than leaving things alone"
    )


def _arms(arms: Sequence[ArmEffect], spread: float) -> str:
    """Return a table of the arms; without graphs only the columns that say something of an arm."""
    heads = ("arm", "seen (rows)", "set (rows)", "bounds, 99 %", "over graphs, 90 %", "P(best)", "P(better)")
    cells = [
        (
            f"{arm.variable} = {arm.state}",
            _seen(arm.seen, spread),
            _set(arm.set_rows, spread),
            _interval(arm.bounds, spread),
            "–" if arm.mean is None else f"{number(arm.mean, spread)}, {_interval(arm.interval, spread)}",
            f"{arm.p_best:.2f}",
            "–" if arm.p_better is None else f"{arm.p_better:.2f}",
        )
        for arm in arms[:_SHOWN]
    ]
    filled = [
        column
        for column in range(len(heads))
        if arms[0].mean is not None or {row[column] for row in cells} - {"–", "never"}
    ]
    rows = [tuple(row[column] for column in filled) for row in (heads, *cells)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    left = len(arms) - _SHOWN
    return "\n".join([*lines, f"… and {count(left, 'further arm')}; --json has all"] if left > 0 else lines)


def _seen(sample: ArmRows | None, spread: float) -> str:
    return "never" if sample is None else f"{number(sample.mean, spread)} ({sample.rows:,})"


def _set(rows: ArmRows | None, spread: float) -> str:
    if rows is None:
        return "–"
    return f"{number(rows.mean, spread)}, {_interval(rows.interval, spread)} ({rows.rows:,})"


def _interval(interval: Interval | None, spread: float | None = None) -> str:
    if interval is None or not all(map(math.isfinite, interval)):
        return "unknown"
    return f"{number(interval[0], spread)} to {number(interval[1], spread)}"


def scale_sentences(scale: RewardScale) -> list[str]:
    """Say which scale and which range of rewards were used, and which flag changes them."""
    given = f" given {listed(scale.parents)}" if scale.parents else ""
    if scale.given:
        sigma = f"σ = {number(scale.residual)} as given (--noise-scale)"
    elif scale.tail_factor > 1:
        sigma = (
            f"σ = {number(scale.residual)}: the residual's standard deviation{given}, times "
            f"{scale.tail_factor:.2f} for heavy tails (--noise-scale changes it)"
        )
    else:
        sigma = f"σ = {number(scale.residual)}, the residual's{given} (--noise-scale changes it)"
    ends = _interval((scale.low, scale.high), scale.high - scale.low)
    bounded = f"The bounds assume nothing but rewards from {ends}"
    if scale.range_given:
        bounded += ", as given (--reward-range)"
    elif not scale.binary:
        bounded += ", as in the table (--reward-range changes that)"
    return [f"{sigma}.", f"{bounded}."]
