"""Which arm to recommend, on which ground, and what to do next.

The grounds are tried from the weakest assumption on. The first on which the interval of the best arm's gain
over do() excludes 0 gives the recommendation. Where none does, the last one is shown, as undecided.

*Measured*: the arms with set rows. The gain is a difference of two means of independent rows, with Welch's
interval; all comparisons with the other arms and with do() hold at once. Where all arms that may still be the
best were set, no other ground is tried, nor where too few rows are without an intervention to draw graphs
from. Without any such row the gain is that over the other arms.

*Identified*: screening (`cb_pgm.evidence.screening`) has ruled out all variables but one as the reward's only
cause, at δ. If there is one only, and no hidden cause, seeing and setting it have the same mean. Screening
doesn't tell soon that there are two: it may have ruled out all variables but the stronger one, whose rows
also show what the other one does. So the ground is left out where a second cause makes the rows likelier, by
the weights of `cb_pgm.effects.parents`, and for a variable that was set.

*Fitted* or *assumed*: means over graphs of the arms without enough set rows, with quantiles of the draws as
intervals. Where the draws don't tell the best arms apart, models fitted to the table's own rows say which of
them leads. A gain's interval is at 1 − 2δ, which leaves δ below it: recommending an arm claims that it gains,
not how little, and an arm that isn't better than do() is taken for one in δ of the draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from cb_pgm.effects.arms import Arm, Draws, error_of_mean
from cb_pgm.effects.canonical import Rows
from cb_pgm.effects.grounds import Ground, by_rows, by_set_rows
from cb_pgm.effects.measured import Sample, anytime_interval, mean_interval
from cb_pgm.effects.noise import RewardScale
from cb_pgm.effects.parents import set_score
from cb_pgm.effects.values import ArmRows, Comparison, Decision
from cb_pgm.evidence.screening import Screening
from cb_pgm.model.intervention import Intervention
from cb_pgm.model.reward_unit import RewardUnit
from cb_pgm.wording import listed

__all__ = ["decide", "seen_rows"]

_MAY_BE_BEST = 0.05  # P(best) from which on an arm is a contender
_TIED = 2.0  # times the error of the draws: expected gains that differ by less are tied
_FEWEST_ROWS = 5  # of each arm: means of fewer are far from normal, on which the power rests
_CONTENDERS = 6
_LEAVE_ALONE = "Leave things alone in some rows too: what that gives is unknown, since no row shows it."

Array = NDArray[np.float64]


def decide(
    rows: Rows,
    arms: Sequence[Arm],
    draws: Draws,
    scale: RewardScale,
    *,
    sign: int,
    failure_prob: float,
    power: float,
    assumed: bool,
    rng: np.random.Generator,
    unit: RewardUnit,
) -> Decision:
    """Return the decision between the arms, at least one.

    Parameters
    ----------
    rows, arms, draws, scale
        The table, its arms, their draws and the reward's scale.
    sign
        −1 where lower rewards are better, otherwise 1.
    failure_prob
        δ: intervals are at 1 − δ.
    power
        The probability with which the experiment advised finds a difference.
    assumed
        Whether a given graph or background knowledge restricts the graphs.
    rng
        Puts the rows in random order for screening.
    unit
        The unit of rewards for the sentences; all else is as inside.
    """
    p_best = draws.p_best
    contenders = _contenders(arms, draws)
    grounds = []
    measured = [arm for arm in arms if arm.is_measured]
    if draws.means is None:
        grounds.append(by_set_rows(rows, measured or arms, arms, scale, sign, failure_prob))
    elif measured:
        interval_of = {
            arm.name: scale.cut(anytime_interval(Sample.of(arm.set_rewards), failure_prob, scale.arm))
            for arm in measured
        }
        pieces = [(arm, Sample.of(arm.set_rewards), Sample.of(arm.against), arm.share) for arm in measured]
        grounds.append(by_rows("measured", pieces, interval_of, sign, failure_prob))
    if draws.means is not None and not all(arm.is_measured for arm in contenders):
        identified = _identified(rows, arms, draws, scale, sign, failure_prob, rng)
        grounds += [] if identified is None else [identified]
        name = "assumed" if assumed else "fitted"
        grounds.append(_over_graphs(name, arms, draws, draws.means, failure_prob))
    chosen = next((ground for ground in grounds if ground.is_decided), grounds[-1])
    place = {arm.name: column for column, arm in enumerate(arms)}
    leading = p_best[place[chosen.leader.name]]
    return Decision(
        leader=_intervention(chosen.leader),
        grounds=chosen.name,
        mean=chosen.mean,
        interval=chosen.interval,
        over_nothing=chosen.over_nothing,
        seen=seen_rows(rows, chosen.leader, scale, failure_prob)
        if chosen.name in ("fitted", "assumed")
        else None,
        second=None if chosen.second is None else _intervention(chosen.second),
        over_second=chosen.over_second,
        p_best=float(leading),
        contenders=tuple(_intervention(arm) for arm in contenders),
        next=_next_steps(chosen, contenders, arms, draws, scale, failure_prob, power, unit),
    )


def seen_rows(rows: Rows, arm: Arm, scale: RewardScale, failure_prob: float) -> ArmRows | None:
    """Summarise the rows that show an arm without its being set; None if there are none."""
    if not arm.shown.any():
        return None
    sample = Sample.of(rows.rewards[arm.shown])
    return ArmRows(sample.rows, sample.mean, mean_interval(sample, failure_prob, binary=scale.binary))


def _identified_cause(
    rows: Rows, scale: RewardScale, failure_prob: float, rng: np.random.Generator
) -> int | None:
    """Return the only variable that screening leaves as the reward's single cause; None if there isn't one.

    There is none either if the rows are likelier with a second cause.

    The rows come in random order, since the test takes each as drawn anew given the past; canonical order
    would sort the rewards.
    """
    if len(rows.variables) < 2:
        return None
    if scale.residual <= 0 and not scale.binary:
        return None
    screening = Screening(rows.cards, 1, failure_prob, scale.residual, in_unit_interval=scale.binary)
    order = rng.permutation(len(rows.all_rewards))
    screening.observe(np.ascontiguousarray(rows.all_codes[order]), rows.all_rewards[order])
    if screening.left != 1:
        return None
    cause = int(screening.candidates[screening.surviving][0, 0])
    score = set_score(rows.all_codes, rows.all_rewards, rows.cards)
    others = (column for column in range(len(rows.cards)) if column != cause)
    has_second = any(score(tuple(sorted((cause, other)))) > score((cause,)) for other in others)
    return None if has_second else cause


def _identified(
    rows: Rows,
    arms: Sequence[Arm],
    draws: Draws,
    scale: RewardScale,
    sign: int,
    failure_prob: float,
    rng: np.random.Generator,
) -> Ground | None:
    """Compare the arms of the identified cause by their seen rows; None if there is no such cause.

    Naming the cause and the intervals have half of δ each. The second best of all arms is compared over
    graphs, since it may set another variable.
    """
    failure_prob /= 2
    cause = _identified_cause(rows, scale, failure_prob, rng)
    own = [arm for arm in arms if arm.number == cause]
    seen = [arm for arm in own if 0 < arm.shown.sum() < len(arm.shown)]
    if not seen or any(arm.is_measured for arm in own):
        return None
    pieces, interval_of = [], {}
    for arm in seen:
        sample = Sample.of(rows.rewards[arm.shown])
        pieces.append((arm, sample, Sample.of(rows.rewards[~arm.shown]), float(arm.shown.mean())))
        interval_of[arm.name] = mean_interval(sample, failure_prob, binary=scale.binary)
    ground = by_rows("identified", pieces, interval_of, sign, failure_prob)
    best = next(i for i, arm in enumerate(arms) if arm is ground.leader)
    second, over_second = _over_second(best, arms, draws, failure_prob)
    return replace(ground, second=second, over_second=over_second)


def _contenders(arms: Sequence[Arm], draws: Draws) -> list[Arm]:
    """Return the arms that may still be the best, and the one with the best mean in any case."""
    p_best = draws.p_best
    leader = int(draws.gains.mean(axis=0).argmax())
    order = sorted(range(len(arms)), key=lambda i: (-p_best[i], arms[i].name))
    return [arms[i] for i in order if p_best[i] >= _MAY_BE_BEST or i == leader]


def _over_graphs(name: str, arms: Sequence[Arm], draws: Draws, means: Array, failure_prob: float) -> Ground:
    """Compare the best of the arms without enough set rows over graphs, over which it has `means`."""
    best = _leading(arms, draws)
    low, high = np.quantile(means[:, best], [failure_prob / 2, 1 - failure_prob / 2])
    return Ground(
        name,
        arms[best],
        float(means[:, best].mean()),
        (float(low), float(high)),
        _compared(draws.gains[:, best], failure_prob),
        *_over_second(best, arms, draws, failure_prob),
    )


def _leading(arms: Sequence[Arm], draws: Draws) -> int:
    """Return the number of the best arm over graphs, of those without enough set rows.

    Arms that may be the best are tied where the draws don't tell their expected gains apart. Of these the one
    leads that has the highest gain in models fitted to the table's own rows. The highest of many expected
    gains is mostly too high, and the more so the fewer rows it rests on.
    """
    first = next(i for i in _ranked(arms, draws) if not arms[i].is_measured)
    behind = draws.gains[:, [first]] - draws.gains
    is_tied = (draws.p_best >= _MAY_BE_BEST) & (behind.mean(axis=0) <= _TIED * error_of_mean(behind))
    tied = [first, *(i for i, arm in enumerate(arms) if is_tied[i] and not arm.is_measured)]
    return max(tied, key=lambda i: draws.fitted[i])


def _over_second(
    best: int, arms: Sequence[Arm], draws: Draws, failure_prob: float
) -> tuple[Arm, Comparison] | tuple[None, None]:
    """Compare an arm with the best of the others over graphs."""
    second = next((i for i in _ranked(arms, draws) if i != best), None)
    if second is None:
        return None, None
    return arms[second], _compared(draws.gains[:, best] - draws.gains[:, second], failure_prob)


def _ranked(arms: Sequence[Arm], draws: Draws) -> list[int]:
    """Return the arms' numbers by their expected gain, the best first."""
    expected = draws.gains.mean(axis=0)
    return sorted(range(len(arms)), key=lambda i: (-expected[i], arms[i].name))


def _compared(gains: Array, failure_prob: float) -> Comparison:
    low, high = np.quantile(gains, [failure_prob, 1 - failure_prob])
    return Comparison(float(gains.mean()), (float(low), float(high)), 1 - 2 * failure_prob)


def _next_steps(
    chosen: Ground,
    contenders: Sequence[Arm],
    arms: Sequence[Arm],
    draws: Draws,
    scale: RewardScale,
    failure_prob: float,
    power: float,
    unit: RewardUnit,
) -> tuple[str, ...]:
    """Say between which arms to randomise, and with how many rows each."""
    place = {arm.name: column for column, arm in enumerate(arms)}
    own = draws.gains[:, place[chosen.leader.name]]
    others = [arm for arm in contenders if arm.name != chosen.leader.name][: _CONTENDERS - 1]
    if chosen.over_nothing is None:
        if not others and not chosen.is_decided and chosen.second is not None:
            others = [chosen.second]
        if not others:
            return (_LEAVE_ALONE,)
    names = [f"{arm.variable} = {arm.state}" for arm in (chosen.leader, *others)]
    gaps = [float(np.median(np.abs(own - draws.gains[:, place[arm.name]]))) for arm in others]
    if chosen.over_nothing is not None and (not chosen.over_nothing.is_decided or not others):
        names.append("leaving things alone")
        moved = np.abs(own[np.abs(own) > 1e-12])
        gaps.append(float(np.median(moved)) if len(moved) else 0.0)
    alone = (_LEAVE_ALONE,) if chosen.over_nothing is None else ()
    left_out = max(0, len(contenders) - len(others) - 1)
    more = f" ({left_out} further arms may be the best too)" if left_out > 0 else ""
    if min(gaps) <= 1e-9:
        gaps = [gap for gap in gaps if gap > 1e-9]
    if not gaps or scale.residual == 0:
        return (
            f"Randomise between {_either(names)}{more}; they differ too little to say how often.",
            *alone,
        )
    gap = min(gaps)
    spread = (stats.norm.ppf(1 - failure_prob / 2) + stats.norm.ppf(power)) * scale.residual
    count = max(_FEWEST_ROWS, math.ceil(2 * (float(spread) / gap) ** 2))
    given = f" given {listed(scale.parents)}" if scale.parents else ""
    source = " as given" if scale.given else f", the residual's{given}"
    return (
        f"Randomise between {_either(names)}{more}, {count:,} rows each: that detects a difference of "
        f"{unit.difference(gap):.3g} with power {power:g} at level {failure_prob:g} "
        f"(σ = {unit.difference(scale.residual):.3g}{source}).",
        *alone,
    )


def _either(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _intervention(arm: Arm) -> Intervention:
    return Intervention({arm.variable: arm.state})
