"""The answer in sentences, with tables of the contrasts and of the arms.

"Set" belongs to experiments. On rows that were only seen, every line that claims an effect says in the same
line that it presumes nothing hidden.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

from cb_pgm.effects.measured import Interval
from cb_pgm.effects.noise import RewardScale
from cb_pgm.effects.values import Answer, ArmRows, Comparison, Contrast, Decision, OpenEdge
from cb_pgm.model.intervention import Intervention
from discovery.wording import count, listed, number, setting

__all__ = ["effects_text", "hanging_sentences", "recommendation_sentences", "report_text", "scale_sentences"]

_SHOWN = 20  # arms and contrasts in their tables
_IF = "If nothing hidden acts on both"

_BASES = {
    "experimental": "these are the rows in which the arms were set; nothing is assumed about causes.",
    "identified": (
        "screening rules out every other variable as the reward's only cause, no second cause makes the rows "
        "likelier, and the rows that show the arm count"
    ),
    "graph-averaged": "means over graphs estimated from resampled tables",
    "given graph": "means over graphs that the given graph or knowledge restricts; that is taken to be right",
}


def report_text(report: Answer) -> str:
    """Return the whole answer: the recommendation first, then what it hangs on, the arms and the notes."""
    return _joined(
        [
            _heading(report),
            "\n".join(recommendation_sentences(report)),
            "\n".join(hanging_sentences(report)),
            "\n".join(report.decision.next),
            _details(report),
            "\n".join(_used_scale(report.scale)) if report.models else "",
            "\n".join(f"warning: {warning}" for warning in report.warnings),
        ]
    )


def effects_text(report: Answer, said: Collection[str]) -> str:
    """Return the part of the answer that is about the arms, for a run that has the recommendation already.

    The warnings `said` are left out.
    """
    warnings = [f"warning: {warning}" for warning in report.warnings if warning not in said]
    return _joined([_heading(report), _details(report), "\n".join(warnings)])


def hanging_sentences(report: Answer) -> list[str]:
    """Return a sentence for every edge on whose direction the choice hangs."""
    return [_hangs_on(edge) for edge in report.hangs_on]


def recommendation_sentences(report: Answer) -> list[str]:
    """Return the choice or that there is none, its gains, its basis and P(best), a sentence or two each."""
    if report.decision.basis == "experimental":
        return _of_experiment(report)
    return _of_graphs(report)


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def _heading(report: Answer) -> str:
    aim = "lowest" if report.minimize else "highest"
    asked = f"Which intervention has the {aim} mean of {report.reward}?"
    rows = count(report.rows, "row")
    if report.set_rows:
        others = f" and {rows} in which none was" if report.rows else ""
        rows = f"{count(report.set_rows, 'row')} in which a variable was set{others}"
    graph = "given graph" if report.decision.basis == "given graph" else "only graph there is"
    models = f", {report.models:,} models of the {graph}" if report.models else ""
    if report.models and report.is_searched:
        models = f", {report.models:,} graphs drawn from {report.draws:,} resampled tables"
    return f"{asked} From {rows}{models}."


def _of_experiment(report: Answer) -> list[str]:
    decision, spread = report.decision, report.scale.high - report.scale.low
    leader, control = decision.leader, _control(report)
    found = f"{report.reward}: {number(decision.mean, spread)}"
    if control is None:
        found += f", {_level(report)} interval {_interval(decision.interval, spread)}"
    else:
        contrast, mean = control
        found += (
            f" against {number(mean, spread)} under {contrast.variable} = {contrast.against}, the control: "
            f"{_signed(contrast.difference)}{_within(report, contrast.variable)}, {_level(report)} interval "
            f"{_interval(contrast.interval)}"
        )
    if decision.is_decided:
        lines = [f"Set {setting(leader)}. {found}."]
    else:
        lines = [
            "Undecided: no intervention has a gain over all others whose interval excludes 0.",
            f"{setting(leader)} looks best. {found}.",
        ]
    if decision.over_nothing is not None:
        lines.append(
            f"Gain over the baseline (no intervention), {number(report.do_nothing, spread)}: "
            f"{_comparison(decision.over_nothing)}."
        )
    is_said = control is not None and decision.second == {control[0].variable: control[0].against}
    if decision.over_second is not None and decision.second is not None and not is_said:
        lines.append(
            f"Gain over the closest rival, {setting(decision.second)}: {_comparison(decision.over_second)}"
            f"{_undecided_between(decision)}."
        )
    return [*lines, f"P(best): {decision.p_best:.2f}.", f"Basis: experimental; {_BASES['experimental']}"]


def _within(report: Answer, variable: str) -> str:
    return " within blocks" if variable in report.within_blocks else ""


def _control(report: Answer) -> tuple[Contrast, float] | None:
    """Return the leader's contrast and the mean of its control; None if it has none."""
    place = {(arm.variable, arm.state): arm for arm in report.arms}
    for contrast in report.contrasts:
        if report.decision.leader == {contrast.variable: contrast.state}:
            rows = place[contrast.variable, contrast.against].set_rows
            return None if rows is None else (contrast, rows.mean)
    return None


def _of_graphs(report: Answer) -> list[str]:
    decision, spread = report.decision, report.scale.high - report.scale.low
    leader = setting(decision.leader)
    expected = (
        f"{number(decision.mean, spread)}, {_level(report)} interval {_interval(decision.interval, spread)}"
    )
    gain = decision.over_nothing
    gained = "" if gain is None else f", gain over the baseline {_comparison(gain)}"
    if decision.is_decided:
        lines = [f"{_IF}, the best bet is {leader}: expected {report.reward} {expected}{gained}."]
    else:
        lines = [
            "Undecided: no intervention has a gain over the baseline whose interval excludes 0.",
            f"{_IF}, {leader} looks best: expected {report.reward} {expected}{gained}.",
        ]
    if decision.e_value is not None and decision.is_decided:
        estimate, nearer = decision.e_value
        lines.append(
            f"To undo that, something hidden would have to be tied to {next(iter(decision.leader))} and to "
            f"the reward by risk ratios of {_ratio(estimate)} each (E-value; {_ratio(nearer)} for the nearer "
            f"end of the interval)."
        )
    lines.append(
        f"Baseline (no intervention): {number(report.do_nothing, spread)}, {_level(report)} interval "
        f"{_interval(report.do_nothing_interval, spread)}."
    )
    if decision.over_second is not None and decision.second is not None:
        lines.append(
            f"{_IF}, the gain over the second best, {setting(decision.second)}, is "
            f"{_comparison(decision.over_second)}{_undecided_between(decision)}."
        )
    lines += [
        f"{_IF}, P(best) is {decision.p_best:.2f} over the graphs that these rows allow.",
        f"Basis: {decision.basis}; {_basis(report)}. This presumes that nothing hidden acts on both "
        f"a variable and the reward, and that no rows were selected by what the reward or its causes act on.",
    ]
    if decision.seen is not None:
        lines.append(
            f"The {count(decision.seen.rows, 'row')} that show {leader} have a mean of "
            f"{number(decision.seen.mean, spread)}, {_level(report)} interval "
            f"{_interval(decision.seen.interval, spread)}."
        )
    return lines


def _basis(report: Answer) -> str:
    if report.decision.basis == "graph-averaged" and not report.is_searched:
        return "means over models of the only graph there is"
    return _BASES[report.decision.basis]


def _undecided_between(decision: Decision) -> str:
    over = decision.over_second
    return "; which of the two is better is undecided" if over is not None and not over.is_decided else ""


def _level(report: Answer) -> str:
    return f"{100 * (1 - report.failure_prob):g} %"


def _comparison(comparison: Comparison) -> str:
    level = f"{100 * comparison.level:.3g} %"
    return f"{number(comparison.gain)}, {level} interval {_interval(comparison.interval)}"


def _ratio(e_value: float) -> str:
    return f"{e_value:.2f}" if e_value < 100 else "more than 100"


def _signed(difference: float) -> str:
    return f"{'+' if difference > 0 else ''}{number(difference)}"


def _hangs_on(edge: OpenEdge) -> str:
    one, other = edge.edge
    total = edge.forward + edge.backward
    return (
        f"It hangs on the edge {one} — {other}: in {edge.forward:,} of {total:,} graphs it is {one} → "
        f"{other}, and, if nothing hidden acts on both, {_best(edge.best_if_forward)}; the other "
        f"{edge.backward:,} have {other} → {one}, and {_best(edge.best_if_backward)}."
    )


def _best(intervention: Intervention) -> str:
    return f"{setting(intervention)} is best" if intervention else "nothing is better than no intervention"


def _details(report: Answer) -> str:
    spread = report.scale.high - report.scale.low
    return _joined([_contrasts(report), _arms(report, spread)])


def _contrasts(report: Answer) -> str:
    """Return a table of the contrasts: all of an experiment, otherwise those of the leader's variable."""
    is_experiment = report.decision.basis == "experimental"
    shown = [
        contrast
        for contrast in report.contrasts
        if is_experiment or contrast.variable in report.decision.leader
    ]
    if not shown:
        return ""
    rows = [
        (
            f"{contrast.variable} = {contrast.state} less {contrast.against}"
            f"{_within(report, contrast.variable)}",
            _signed(contrast.difference),
            _interval(contrast.interval),
        )
        for contrast in shown[:_SHOWN]
    ]
    named = {contrast.variable: contrast.against for contrast in shown}
    controls = listed([f"{variable} = {state}" for variable, state in named.items()])
    presumed = "" if is_experiment else f"{_IF}: "
    left = [f"… and {count(len(shown) - _SHOWN, 'further contrast')}; --json has all"] * (len(shown) > _SHOWN)
    return "\n".join(
        [
            f"{presumed}{'d' if presumed else 'D'}ifferences from the control, {controls} (--control changes "
            f"it), {_level(report)} intervals:",
            *_aligned(rows),
            *left,
        ]
    )


def _arms(report: Answer, spread: float) -> str:
    """Return a table of the arms; without graphs only the columns that say something of an arm."""
    arms, level = report.arms, _level(report)
    is_experiment = report.decision.basis == "experimental"
    heads = (
        "arm",
        "observed (rows)",
        f"set, {level} (rows)",
        f"bounds, {level}",
        f"over graphs, {level}",
        "P(best)",
        "P(better)",
    )
    cells = [
        (
            f"{arm.variable} = {arm.state}",
            "never" if arm.seen is None else f"{number(arm.seen.mean, spread)} ({arm.seen.rows:,})",
            _set(arm.set_rows, spread),
            "–" if arm.set_rows is not None else _interval(arm.bounds, spread),
            "–" if arm.mean is None else f"{number(arm.mean, spread)}, {_interval(arm.interval, spread)}",
            "–" if is_experiment and arm.set_rows is None else f"{arm.p_best:.2f}",
            "–" if arm.p_better is None else f"{arm.p_better:.2f}",
        )
        for arm in arms[:_SHOWN]
    ]
    filled = [column for column in range(len(heads)) if {row[column] for row in cells} - {"–", "never"}]
    rows = [tuple(row[column] for column in filled) for row in (heads, *cells)]
    presumed = (
        []
        if all(arm.mean is None for arm in arms)
        else [f"{_IF} (over graphs, P), and the rows are a random sample (observed, bounds, over graphs, P):"]
    )
    left = [f"… and {count(len(arms) - _SHOWN, 'further arm')}; --json has all"] * (len(arms) > _SHOWN)
    return "\n".join([*presumed, *_aligned(rows), *left])


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _set(rows: ArmRows | None, spread: float) -> str:
    if rows is None:
        return "–"
    return f"{number(rows.mean, spread)}, {_interval(rows.interval, spread)} ({rows.rows:,})"


def _interval(interval: Interval | None, spread: float | None = None) -> str:
    if interval is None or not all(map(math.isfinite, interval)):
        return "unknown"
    return f"{number(interval[0], spread)} to {number(interval[1], spread)}"


def _used_scale(scale: RewardScale) -> list[str]:
    """Say which scale the answer used; tails matter to policies only (`RewardScale.tail_factor`)."""
    return scale_sentences(replace(scale, residual=scale.deviation, tail_factor=1.0))


def scale_sentences(scale: RewardScale) -> list[str]:
    """Say which scale and which range of rewards were used, and which flag changes them."""
    given = f" given {listed(scale.parents)}" if scale.parents else ""
    if scale.given:
        sigma = f"σ = {number(scale.residual)} as given (--noise-scale)"
    elif scale.tail_factor > 1:
        sigma = (
            f"σ = {number(scale.residual)}: the residual's standard deviation{given}, "
            f"{number(scale.deviation)}, times {scale.tail_factor:.2f} for heavy tails "
            f"(--noise-scale changes it)"
        )
    else:
        sigma = f"σ = {number(scale.residual)}, the residual's{given} (--noise-scale changes it)"
    ends = _interval((scale.low, scale.high), scale.high - scale.low)
    bounded = f"The bounds assume that the rows are a random sample, and rewards from {ends}"
    if scale.range_given:
        bounded += ", as given (--reward-range)"
    elif not scale.binary:
        bounded += ", as in the table (--reward-range changes that)"
    return [f"{sigma}.", f"{bounded}."]
