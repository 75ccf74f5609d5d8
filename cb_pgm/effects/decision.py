"""Which arm to recommend, on which basis, and what to do next.

*Experimental*: where variables were set, the arms are compared by their rows (`cb_pgm.effects.experiment`).

The others presume that nothing hidden acts on both a variable and the reward, and that the rows are a random
sample. The arm of the highest mean over graphs leads, with quantiles of the draws as intervals. It is
recommended if its gain over do() excludes 0: at 1 − 2δ, which leaves δ below, as it is claimed that the arm
gains and not how little.

*Identified*: screening (`cb_pgm.evidence.screening`) has ruled out all variables but one as the reward's only
cause, at δ/2, and it is the leader's. Then its mean and its gain are those of the rows. Screening doesn't
tell soon that there are two causes: it may have ruled out all variables but the stronger one, whose rows also
show what the other one does. So a second cause that makes the rows likelier, by the scores of
`cb_pgm.model.reward_parents`, stands against it.

*Graph-averaged* or *given graph*: the mean over graphs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from cb_pgm.effects.arms import Arm
from cb_pgm.effects.experiment import Experiment
from cb_pgm.effects.measured import Interval, Sample, difference_interval, mean_interval
from cb_pgm.effects.noise import RewardScale
from cb_pgm.effects.values import ArmRows, Comparison, Contrast, Decision
from cb_pgm.model.canonical import Rows
from cb_pgm.model.reward_unit import RewardUnit
from discovery.wording import count, listed, number

__all__ = ["Claims", "GraphDraws", "by_experiment", "over_graphs", "rows_of", "set_rows_of"]

_MAY_BE_BEST = 0.05  # P(best) from which on an arm is a contender
_CONTENDERS = 6
_FEWEST_ROWS = 10  # of an arm: from fewer no number of rows is advised

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Claims:
    """What is looked for, and how surely.

    Attributes
    ----------
    sign
        −1 where lower rewards are better, otherwise 1.
    failure_prob, power
        δ, and the probability with which the experiment that is advised finds a difference.
    worth
        The smallest difference worth having, as rewards are inside.
    unit
        The unit of rewards for sentences; all else is as inside.
    """

    sign: int
    failure_prob: float
    power: float
    worth: float
    unit: RewardUnit


@dataclass(frozen=True, eq=False)
class GraphDraws:
    """Draws of the arms' means over graphs, float64 [draws, arms], and of do(), float64 [draws].

    `directed` has for each draw the edges of its graph, by number.
    """

    means: Array
    nothing: Array
    directed: tuple[frozenset[tuple[int, int]], ...]

    def gains(self, sign: int) -> Array:
        """Return the improvements over do(), float64 [draws, arms]."""
        return sign * (self.means - self.nothing[:, None])

    def p_best(self, sign: int) -> Array:
        """Return the share of draws in which each arm is the best, do() included; equal ones share a draw."""
        gains = self.gains(sign)
        best = gains.max(axis=1, keepdims=True)
        tied = (gains >= best - 1e-12) & (best > 1e-12)
        shared: Array = (tied / np.maximum(tied.sum(axis=1, keepdims=True), 1)).mean(axis=0)
        return shared


def rows_of(rewards: Array, scale: RewardScale, failure_prob: float) -> ArmRows | None:
    """Summarise the rows that show an arm; None if there are none."""
    if not len(rewards):
        return None
    return _summary(Sample.of(rewards, binary=scale.binary), scale, failure_prob)


def set_rows_of(experiment: Experiment, arm: Arm, scale: RewardScale, failure_prob: float) -> ArmRows:
    """Summarise the rows in which an arm of the experiment was set."""
    return _summary(experiment.sample_of(arm), scale, failure_prob)


def _summary(sample: Sample, scale: RewardScale, failure_prob: float) -> ArmRows:
    return ArmRows(sample.rows, sample.mean, scale.cut(mean_interval(sample, failure_prob)))


def by_experiment(experiment: Experiment, p_best: Array, scale: RewardScale, claims: Claims) -> Decision:
    """Return the decision between arms that were set."""
    leader, nothing, second, over_second = experiment.leader(claims.sign)
    order = sorted(range(len(experiment.arms)), key=lambda i: (-p_best[i], experiment.arms[i].name))
    contenders = [
        experiment.arms[i] for i in order if p_best[i] >= _MAY_BE_BEST or experiment.arms[i] is leader
    ]
    gains = [gain for gain in (nothing, over_second) if gain is not None]
    is_decided = bool(gains) and all(gain.is_decided for gain in gains)
    own = set_rows_of(experiment, leader, scale, claims.failure_prob)
    steps = []
    if second is not None and not is_decided:
        rivals = [arm for arm in contenders if arm is not leader] or [second]
        sizes = [len(arm.set_rewards) for arm in (leader, *rivals)]
        steps = [_advice([leader, *rivals], min(sizes), _gaps(experiment, leader, rivals), scale, claims)]
    return Decision(
        leader=leader.intervention,
        basis="experimental",
        mean=own.mean,
        interval=own.interval,
        over_nothing=nothing,
        seen=None,
        second=None if second is None else second.intervention,
        over_second=over_second,
        is_decided=is_decided,
        p_best=float(p_best[experiment.arms.index(leader)]),
        contenders=tuple(arm.intervention for arm in contenders),
        e_value=None,
        next=tuple(steps),
    )


def _gaps(experiment: Experiment, leader: Arm, rivals: Sequence[Arm]) -> list[float]:
    return [abs(experiment.difference(leader, arm)[0]) for arm in rivals]


def over_graphs(
    arms: Sequence[Arm],
    draws: GraphDraws,
    contrasts: Sequence[Contrast],
    identified: int | None,
    rows: Rows,
    scale: RewardScale,
    claims: Claims,
    *,
    assumed: bool,
) -> Decision:
    """Return the decision between arms that were only seen.

    Parameters
    ----------
    arms, draws, contrasts
        The arms, at least one, the draws of their means, and their contrasts.
    identified
        The number of the only variable that may be the reward's cause; None if there are several.
    rows, scale, claims
        The table, the reward's scale, and what is looked for.
    assumed
        Whether a given graph or background knowledge restricts the graphs.
    """
    gains, p_best = draws.gains(claims.sign), draws.p_best(claims.sign)
    expected = gains.mean(axis=0)
    ranked = sorted(range(len(arms)), key=lambda i: (-round(float(expected[i]), 12), arms[i].name))
    best, leader = ranked[0], arms[ranked[0]]
    mean, interval = float(draws.means[:, best].mean()), quantiles(draws.means[:, best], claims.failure_prob)
    seen = rows_of(rows.rewards[leader.shown], scale, claims.failure_prob)
    basis, over_nothing = "given graph" if assumed else "graph-averaged", _compared(gains[:, best], claims)
    if leader.number == identified and seen is not None and not leader.shown.all():
        basis, mean, interval = "identified", seen.mean, seen.interval
        over_nothing = _over_others(leader, rows, scale, claims)
    over_second = None
    if len(ranked) > 1:
        over_second = _compared(gains[:, best] - gains[:, ranked[1]], claims)
    order = sorted(range(len(arms)), key=lambda i: (-p_best[i], arms[i].name))
    contenders = [i for i in order if p_best[i] >= _MAY_BE_BEST or i == best]
    own = [contrast for contrast in contrasts if contrast.variable == leader.variable]
    return Decision(
        leader=leader.intervention,
        basis=basis,
        mean=mean,
        interval=interval,
        over_nothing=over_nothing,
        seen=None if basis == "identified" else seen,
        second=arms[ranked[1]].intervention if len(ranked) > 1 else None,
        over_second=over_second,
        is_decided=over_nothing.is_decided,
        p_best=float(p_best[best]),
        contenders=tuple(arms[i].intervention for i in contenders),
        e_value=_e_value(leader, own, arms, draws, rows, scale, claims),
        next=(_experiment_that_settles(best, contenders, arms, gains, rows, scale, claims),),
    )


def quantiles(drawn: Array, failure_prob: float) -> Interval:
    """Return the middle of draws that leaves `failure_prob` outside."""
    low, high = np.quantile(drawn, [failure_prob / 2, 1 - failure_prob / 2])
    return float(low), float(high)


def _compared(gains: Array, claims: Claims) -> Comparison:
    error = 2 * claims.failure_prob
    return Comparison(float(gains.mean()), quantiles(gains, error), 1 - error)


def _over_others(arm: Arm, rows: Rows, scale: RewardScale, claims: Claims) -> Comparison:
    """Return the gain over all rows, of which the arm's own are a share, by its rows and the others."""
    own, others = (Sample.of(rows.rewards[shown], binary=scale.binary) for shown in (arm.shown, ~arm.shown))
    error, factor = 2 * claims.failure_prob, claims.sign * (1 - float(arm.shown.mean()))
    low, high = sorted(factor * end for end in difference_interval(own, others, error))
    return Comparison(factor * (own.mean - others.mean), (low, high), 1 - error)


def _e_value(
    leader: Arm,
    contrasts: Sequence[Contrast],
    arms: Sequence[Arm],
    draws: GraphDraws,
    rows: Rows,
    scale: RewardScale,
    claims: Claims,
) -> tuple[float, float] | None:
    """Return the E-values of the leader's contrast, for its estimate and for the nearer end of its interval.

    The leader is compared with its variable's control, or where it is the control with the best other state.
    The ratio of means is taken for rewards of 0 and 1, for others exp(.91 d), d in standard deviations.
    """
    place = {arm.name: column for column, arm in enumerate(arms)}
    against = next((c.against for c in contrasts if c.state == leader.state), None)
    others = [arm for arm in arms if arm.variable == leader.variable and arm is not leader]
    if against is None and others:
        against = max(others, key=lambda arm: claims.sign * draws.means[:, place[arm.name]].mean()).state
    if against is None or (leader.variable, against) not in place:
        return None
    one, other = (draws.means[:, place[leader.variable, state]] for state in (leader.state, against))
    if claims.sign < 0:
        one, other = other, one
    if scale.binary:
        ratios = np.log(np.maximum(one, 1e-9)) - np.log(np.maximum(other, 1e-9))
        ratio = math.log(max(float(one.mean()), 1e-9)) - math.log(max(float(other.mean()), 1e-9))
    else:
        ratios = 0.91 * (one - other) / float(rows.all_rewards.std())
        ratio = float(ratios.mean())
    low = quantiles(ratios, claims.failure_prob)[0]
    return _of_ratio(math.exp(min(ratio, 50.0))), _of_ratio(math.exp(min(low, 50.0)))


def _of_ratio(ratio: float) -> float:
    return ratio + math.sqrt(ratio * (ratio - 1)) if ratio > 1 else 1.0


def _experiment_that_settles(
    best: int,
    contenders: Sequence[int],
    arms: Sequence[Arm],
    gains: Array,
    rows: Rows,
    scale: RewardScale,
    claims: Claims,
) -> str:
    """Say between which arms to randomise: those that may be the best, of one only with doing nothing."""
    others = [i for i in contenders if i != best][: _CONTENDERS - 1]
    gaps = [abs(float((gains[:, best] - gains[:, i]).mean())) for i in others]
    if not others:
        gaps = [abs(float(gains[:, best].mean()))]
    return _advice([arms[best], *(arms[i] for i in others)], len(rows.all_rewards), gaps, scale, claims)


def _advice(
    arms: Sequence[Arm], fewest: int, gaps: Sequence[float], scale: RewardScale, claims: Claims
) -> str:
    """Say between which arms to randomise, and with how many rows each where that can be said.

    The difference to detect is the smallest of `gaps`, but none below what is worth having.
    """
    names = [f"{arm.variable} = {arm.state}" for arm in arms[:_CONTENDERS]]
    if len(names) == 1:
        names.append("the baseline")
    more = f" ({len(arms) - _CONTENDERS} further arms may be the best too)" if len(arms) > _CONTENDERS else ""
    what = f"To settle it, randomise between {listed(names, len(names))}{more}"
    if fewest < _FEWEST_ROWS or scale.deviation == 0:
        return f"{what}; from {count(fewest, 'row')} of an arm it can't be said how many that takes."
    gap = max(min(gaps), claims.worth)
    spread = (ndtri(1 - claims.failure_prob / 2) + ndtri(claims.power)) * scale.deviation
    rows = max(_FEWEST_ROWS, math.ceil(2 * (float(spread) / gap) ** 2))
    least = ", the smallest worth having (--worth)" if gap == claims.worth else ""
    return (
        f"{what}, {rows:,} rows each: that detects a difference of {number(claims.unit.difference(gap))}"
        f"{least} with power {claims.power:g} at level {claims.failure_prob:g}."
    )
