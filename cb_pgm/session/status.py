"""`Status`: what is known so far in a session, as text and for JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cb_pgm.model.intervention import ArmEstimate, Intervention
from cb_pgm.session.checks import QUESTIONS, Irregularity, irregularities
from cb_pgm.session.comparison import Comparison, Gain, compare_arms
from cb_pgm.session.settings import SessionSettings
from cb_pgm.session.state import OpenPull, SessionState
from cb_pgm.session.stop import Stop
from cb_pgm.session.texts import counted, setting_text
from discovery.wording import listed, number

if TYPE_CHECKING:
    from cb_pgm.evidence.hypotheses import Beliefs

__all__ = ["Status", "pull_dict", "status_of"]


@dataclass(frozen=True)
class Status:
    """The status of a session.

    Attributes
    ----------
    policy, horizon, unit, reward, minimize, failure_prob
        Settings of the session (`SessionSettings`).
    told, earlier
        The number of rows told, and of rows from before the session.
    open
        The open pulls, oldest first.
    excluded
        The arms that can't be carried out.
    ruled_out, left
        The variables that can't be parents of the reward, and the sets of variables that can still be its
        parents; None if the policy doesn't look for parents.
    reward_variables
        The identified parents of the reward; empty while there are none.
    grounds, assumption
        On what these rest, as in `Policy`.
    fallback
        Why the policy gave up its own method; None if it didn't.
    beliefs
        The posterior over what the reward depends on; None if the policy has none.
    best_arm
        The arm with the highest lower confidence bound (with `minimize` the lowest upper one) by the rows in
        which it was set, on the scale of the data; None before the first such row.
    best_if_identified
        The same among the arms of the identified parents by all rows that had their states, set or seen. Its
        interval holds only if the parents are those identified; None while there are none.
    certain
        Whether the interval of the best arm lies beyond those of all other arms that can be set.
    control, comparison
        Today's practice, over which the gain is measured, if one was named; and how the best arm compares
        with the others.
    irregularities, checks
        What was noticed that the intervals don't allow for; and the share of δ that each question has. These
        are a δ of their own: so often any of them is raised by mistake.
    budget
        The shares of δ by name: all that the policy concludes, and the intervals, hold at all times at once
        with probability 1 − δ.
    stop
        How far the session is from its end by the best arm; None if it ends at its horizon alone.
    over
        Why the session is over; None while it goes on.
    loaded
        Whether the policy was loaded. One that isn't installed is loaded only if a person names it, and
        without it nothing is known of causes.
    """

    policy: str
    horizon: int
    unit: str
    reward: str
    minimize: bool
    failure_prob: float
    told: int
    earlier: int
    open: tuple[OpenPull, ...]
    excluded: tuple[Intervention, ...]
    ruled_out: tuple[str, ...] | None
    left: tuple[tuple[str, ...], ...] | None
    reward_variables: tuple[str, ...]
    grounds: str | None
    assumption: str | None
    fallback: str | None
    beliefs: Beliefs | None
    best_arm: ArmEstimate | None
    best_if_identified: ArmEstimate | None
    certain: bool
    control: Intervention | None
    comparison: Comparison
    irregularities: tuple[Irregularity, ...]
    checks: dict[str, float]
    budget: dict[str, float]
    stop: Stop | None
    over: str | None
    loaded: bool

    def __repr__(self) -> str:
        best = "none yet" if self.best_arm is None else setting_text(self.best_arm.intervention)
        return f"Status({self.told:,} of {counted(self.horizon, self.unit)} recorded, best arm {best})"

    def to_dict(self) -> dict[str, Any]:
        """Return the status for JSON."""
        content = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "comparison"}
        return content | {
            "open": [pull_dict(pull) for pull in self.open],
            "excluded": [dict(arm) for arm in self.excluded],
            "ruled_out": None if self.ruled_out is None else list(self.ruled_out),
            "left": None if self.left is None else [list(names) for names in self.left],
            "reward_variables": list(self.reward_variables),
            "beliefs": None if self.beliefs is None else self.beliefs.to_dict(),
            "best_arm": _estimate_dict(self.best_arm),
            "best_if_identified": _estimate_dict(self.best_if_identified),
            "control": None if self.control is None else dict(self.control),
            "irregularities": [
                vars(one) | {"intervention": dict(one.intervention)} for one in self.irregularities
            ],
            "stop": None if self.stop is None else self.stop.to_dict(),
            "second_best": _estimate_dict(self.comparison.second_best),
            "gain": _gain_dict(self.comparison.gain),
            "p_best": self.comparison.p_best,
            "settles": self.comparison.settles,
        }

    def to_text(self) -> str:
        """Return the status as lines of text."""
        lines = [
            f"{self.policy}, to {'lower' if self.minimize else 'raise'} {self.reward}: "
            f"{self.told:,} of {counted(self.horizon, self.unit)} recorded"
            + (f", and {self.earlier:,} from before the session" if self.earlier else ""),
        ]
        lines += [
            f"Open        {pull}: set {setting_text(pull.intervention)}, {pull.left:,} of {pull.size:,} "
            f"{self.unit} to come"
            for pull in self.open
        ]
        if self.excluded:
            lines.append(f"Excluded    {'; '.join(map(setting_text, self.excluded))}")
        if self.ruled_out is not None and self.left is not None:
            out = f"{listed(self.ruled_out, most=12)} as the only cause"
            lines.append(f"Ruled out   {out if self.ruled_out else 'no variable yet'}")
            possible = [" and ".join(names) for names in self.left]
            lines.append(f"Possible    {listed(possible, most=12, last='or')}")
        if self.beliefs is not None:
            lines.append(f"Likely      {self.beliefs}")
        if self.reward_variables:
            sets = "variable" if len(self.reward_variables) == 1 else "set of variables"
            named = listed(self.reward_variables)
            # Once the policy has gone on by other means, nothing explains the reward alone any more.
            alone = "not ruled out" if self.fallback else "that could explain the reward alone"
            lines.append(f"Identified  {named}: the only {sets} {alone}")
            if self.assumption:
                lines.append(f"            {self.assumption}")
        if self.fallback:
            lines.append(f"Note        {self.fallback}")
        if not self.loaded:
            lines.append("Note        the policy isn't loaded, as nobody named it (--policy)")
        lines += [f"Warning     {one.text}" for one in self.irregularities]
        lines.append(f"Best arm    {self._best_arm_text()}")
        if self.best_if_identified is not None:
            lines.append(f"Best if so  {self._estimate_text(self.best_if_identified)}, set or seen")
        lines += self._comparison_lines()
        shares = ", ".join(f"{name} {share:g}" for name, share in self.budget.items())
        lines.append(f"δ           {self.failure_prob:g}: {shares}")
        if self.told:
            each = ", ".join(f"{name} {share:.2g}" for name, share in self.checks.items())
            lines.append(
                f"Checks      {self.failure_prob:g}: {each}"
                + ("" if self.irregularities else "; nothing noticed")
            )
        if self.stop is not None and not self.stop.met:
            lines.append(f"To stop     {self.stop.left(self.unit)}")
        if self.over:
            lines.append(f"Over        {self.over}")
        return "\n".join(lines)

    def _comparison_lines(self) -> list[str]:
        comparison, gain = self.comparison, self.comparison.gain
        if self.best_arm is None:
            return []
        lines = []
        if comparison.second_best is not None:
            lines.append(f"Second      {self._estimate_text(comparison.second_best)}")
        if gain is not None:
            values = (number(value, gain.high - gain.low) for value in (gain.gain, gain.low, gain.high))
            text = "{} (between {} and {})".format(*values)
            over = setting_text(gain.against) if gain.against else "no intervention"
            lines.append(f"Gain        {text} over {over}")
        elif self.control is None:
            lines.append("Gain        unknown: no control was named at the start (--control)")
        elif self.best_arm.intervention != self.control:
            lines.append("Gain        unknown: no row of the control yet")
        lines.append(f"P(best)     {comparison.p_best:.2f}, of the arms set, by their own rows alone")
        if comparison.settles is not None:
            lines.append(f"To settle   {comparison.settles}")
        return lines

    def _best_arm_text(self) -> str:
        best = self.best_arm
        if best is None:
            return "no arm has been pulled yet"
        certain = "certain to be the best" if self.certain else "not yet certain"
        return f"{self._estimate_text(best)} in which it was set; {certain}"

    def _estimate_text(self, arm: ArmEstimate) -> str:
        mean, low, high = (number(value, arm.high - arm.low) for value in (arm.mean, arm.low, arm.high))
        return (
            f"{setting_text(arm.intervention)}: mean {mean} (between {low} and {high}) from "
            f"{counted(arm.rows, self.unit)}"
        )


def status_of(state: SessionState, *, checks: bool = True) -> Status:
    """Return the status of a session in the given state; without `checks` none of its irregularities."""
    settings, policy = state.settings, state.policy
    left = policy.candidates
    possible = None if left is None else {name for names in left for name in names}
    certain = state.certain_best()
    best = _highest(settings, policy.estimates() if certain is None else [certain])
    return Status(
        policy=settings.policy,
        horizon=settings.horizon,
        unit=settings.unit,
        reward=str(settings.reward),
        minimize=settings.minimize,
        failure_prob=settings.failure_prob,
        told=state.told,
        earlier=state.earlier,
        open=tuple(state.open.values()),
        excluded=tuple(state.excluded),
        ruled_out=None
        if possible is None
        else tuple(name for name in settings.states if name not in possible),
        left=left,
        reward_variables=policy.reward_variables,
        grounds=policy.grounds,
        assumption=policy.assumption,
        fallback=policy.fallback,
        beliefs=policy.beliefs(),
        best_arm=best,
        best_if_identified=_highest(settings, policy.identified()),
        certain=certain is not None,
        control=None if settings.control is None else Intervention(settings.control),
        comparison=compare_arms(state, best, certain is not None),
        irregularities=irregularities(state) if checks else (),
        checks=dict.fromkeys(QUESTIONS, settings.failure_prob / len(QUESTIONS)),
        budget=policy.budget.shares() | ({"gain": settings.gain_share} if settings.gain_share else {}),
        stop=state.stop,
        over=state.over,
        loaded=settings.loads_policy,
    )


def pull_dict(pull: OpenPull) -> dict[str, Any]:
    """Return a pull for JSON."""
    return {
        "pull": pull.number,
        "set": dict(pull.intervention),
        "size": pull.size,
        "left": pull.left,
        "why": pull.why,
    }


def _highest(settings: SessionSettings, arms: Iterable[ArmEstimate]) -> ArmEstimate | None:
    best = max(arms, key=lambda arm: arm.low, default=None)
    return None if best is None else settings.as_asked(best)


def _gain_dict(gain: Gain | None) -> dict[str, Any] | None:
    return None if gain is None else vars(gain) | {"against": dict(gain.against)}


def _estimate_dict(arm: ArmEstimate | None) -> dict[str, Any] | None:
    if arm is None:
        return None
    return {
        "intervention": dict(arm.intervention),
        "mean": arm.mean,
        "low": arm.low,
        "high": arm.high,
        "rows": arm.rows,
        "grounds": arm.grounds,
    }
