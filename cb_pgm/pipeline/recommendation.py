"""Recommend an intervention after a run, with its expected reward, the grounds for it and a next step.

In a rehearsal the recommendation is that of the table (`cb_pgm.effects`): pulls from a model fitted to the
table show nothing that the table doesn't. Against a known truth it rests on the pulls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cb_pgm.effects.measured import Interval, Sample, finite_ends, mean_interval
from cb_pgm.effects.text import hanging_sentences, recommendation_sentences
from cb_pgm.effects.values import GROUNDS
from cb_pgm.model.intervention import Intervention
from cb_pgm.model.reward_unit import is_binary, rewards_of
from cb_pgm.pipeline.task import Played, Task, groups_of
from discovery.wording import number, setting

if TYPE_CHECKING:
    from cb_pgm.effects.report import EffectsReport
    from cb_pgm.model.intervention import ArmEstimate

__all__ = ["Recommendation", "recommend", "recommendation_lines"]


@dataclass(frozen=True)
class Recommendation:
    """A recommended intervention, or that none is decided.

    Attributes
    ----------
    source
        Where it comes from: "the table", or the policy that pulled the arm.
    leader
        The arm that looks best.
    is_decided
        Whether it is recommended: the interval of its gain over do() excludes 0.
    mean, interval
        The expected mean reward of `leader` and a confidence interval for it, on the scale of the table.
    do_nothing, do_nothing_interval
        The same of do(); None where the table has no row of it.
    gain, gain_interval
        The improvement of `leader` over do(); positive also where lower rewards are better. None where it
        isn't known.
    basis
        What this rests on, as in `cb_pgm.effects.values.Decision`.
    p_best
        The probability that `leader` is the best of all arms; None where it isn't estimated.
    sentences
        All of this in words.
    next_steps
        What to do next, in sentences.
    """

    source: str
    leader: Intervention
    is_decided: bool
    mean: float
    interval: Interval
    do_nothing: float | None
    do_nothing_interval: Interval | None
    gain: float | None
    gain_interval: Interval | None
    basis: str
    p_best: float | None
    sentences: tuple[str, ...]
    next_steps: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON, in the form of `EffectsReport.to_dict`."""
        return {
            "intervention": dict(self.leader) if self.is_decided else None,
            "grounds": GROUNDS[self.basis],
            "basis": self.basis,
            "mean": self.mean if self.is_decided else self.do_nothing,
            "interval": finite_ends(self.interval if self.is_decided else self.do_nothing_interval),
            "gain": self.gain,
            "gain_interval": finite_ends(self.gain_interval),
            "p_best": self.p_best,
            "next": list(self.next_steps),
        }


def recommend(task: Task, played: Sequence[Played], effects: EffectsReport | None) -> Recommendation | None:
    """Return what the table of a rehearsal recommends, or the best arm over all policies and runs.

    Policies on the "oracle" graph are left out, since in practice nobody has that knowledge. Of each other
    one the arm counts that was its best most often, with the estimate of the first run in which it was. The
    arm with the best lower confidence bound is compared with do(), whose mean the table has. The result is
    None if no such policy pulled an arm.
    """
    if effects is not None:
        return _of_table(effects)
    groups = [group for group in groups_of(played) if group[0].graph != "oracle"]
    known = [(group[0], estimate) for group in groups if (estimate := _best_arm(group)) is not None]
    if not known:
        return None
    by, best = max(known, key=lambda pair: pair[1].low)
    return _of_pulls(task, by, best)


def recommendation_lines(found: Recommendation | None) -> list[str]:
    """Return the recommendation as lines of text, a heading first."""
    if found is None:
        return ["Recommendation", "  None: no policy without the oracle's knowledge has pulled an arm."]
    return [
        f"Recommendation (by {found.source})",
        *(f"  {sentence}" for sentence in (*found.sentences, *found.next_steps)),
    ]


def _of_table(effects: EffectsReport) -> Recommendation:
    decision = effects.decision
    return Recommendation(
        source="the table",
        leader=decision.leader,
        is_decided=decision.is_decided,
        mean=decision.mean,
        interval=decision.interval,
        do_nothing=effects.do_nothing,
        do_nothing_interval=effects.do_nothing_interval,
        gain=None if decision.gain is None else decision.gain.gain,
        gain_interval=None if decision.gain is None else decision.gain.interval,
        basis=decision.basis,
        p_best=decision.p_best,
        sentences=(*recommendation_sentences(effects), *hanging_sentences(effects)),
        next_steps=decision.next,
    )


def _best_arm(group: Sequence[Played]) -> ArmEstimate | None:
    arms = [one.outcome.best_arm for one in group if one.outcome.best_arm is not None]
    if not arms:
        return None
    chosen, _ = Counter(arm.intervention for arm in arms).most_common(1)[0]
    return next(arm for arm in arms if arm.intervention == chosen)


def _of_pulls(task: Task, by: Played, best: ArmEstimate) -> Recommendation:
    """Compare the pulls of an arm with the rows in which nothing was set, from the same true network."""
    rewards, delta = rewards_of(task.table), task.context.failure_prob
    binary = is_binary(rewards)
    nothing = Sample.of(rewards, binary=binary)
    nothing_interval = mean_interval(nothing, delta)
    cut = (max(0.0, best.low), min(1.0, best.high)) if binary else (best.low, best.high)
    mean, interval = task.unit.outside(best.mean), task.unit.interval(cut)
    sign = -1 if task.settings.minimize else 1
    gains = _ordered(sign * (interval[0] - nothing_interval[1]), sign * (interval[1] - nothing_interval[0]))
    is_decided = gains[0] > 0
    what = setting(best.intervention)
    expected = (
        f"Expected {task.settings.reward}: {number(mean)}, interval {_text(interval)}, from {best.rows:,} "
        f"rounds; the true mean is {number(task.unit.outside(task.system.mean_reward(best.intervention)))}."
    )
    if is_decided:
        choice = f"Set {what}. {expected}"
    elif not best.intervention:
        choice = f"Set nothing: do() has the highest lower bound. {expected}"
    else:
        choice = (
            f"Undecided: no arm has a gain over leaving things alone whose interval excludes 0. {what} looks "
            f"best. {expected}"
        )
    lasting = "" if by.graph == "none" else f" on the {by.graph} graph"
    return Recommendation(
        source=f"{by.policy}{lasting}, the best over all policies",
        leader=best.intervention,
        is_decided=is_decided,
        mean=mean,
        interval=interval,
        do_nothing=nothing.mean,
        do_nothing_interval=nothing_interval,
        gain=sign * (mean - nothing.mean),
        gain_interval=gains,
        basis=next(basis for basis, ground in GROUNDS.items() if ground == best.grounds),
        p_best=None,
        sentences=(
            choice,
            f"Leaving things alone: {number(nothing.mean)}, interval {_text(nothing_interval)}, from the "
            f"table.",
            f"Gain over leaving things alone: {number(sign * (mean - nothing.mean))}, interval "
            f"{_text(gains)}.",
        ),
        next_steps=_after_truth(task, best.intervention),
    )


def _after_truth(task: Task, arm: Intervention) -> tuple[str, ...]:
    best, best_mean = task.system.best_arm()
    lost = best_mean - task.system.mean_reward(arm)
    verdict = f"In the true network {best} is better by {lost:.4g} per round."
    if lost <= 0:
        verdict = "In the true network no intervention on one variable is better."
    spread = "repeat with --runs 20 to see the spread, or " if task.settings.runs == 1 else ""
    return verdict, f"Next: {spread}leave out --truth to see what the table alone says."


def _ordered(one: float, other: float) -> Interval:
    return min(one, other), max(one, other)


def _text(interval: Interval) -> str:
    return f"{number(interval[0])} to {number(interval[1])}"
