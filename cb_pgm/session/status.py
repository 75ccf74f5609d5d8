"""What is known so far in a session, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cb_pgm.model.intervention import ArmEstimate, Intervention
from cb_pgm.session.settings import SessionSettings
from cb_pgm.session.state import OpenPull, SessionState
from cb_pgm.wording import listed

__all__ = ["Status", "counted", "pull_text", "setting_text", "status_of"]


@dataclass(frozen=True)
class Status:
    """Where a session stands.

    Attributes
    ----------
    policy, horizon, unit, reward, minimize, failure_prob
        As the session was started.
    told, earlier
        Rows told, and rows that were there before.
    open
        The pulls asked for and not finished, oldest first.
    excluded
        Arms that turned out not to be settable.
    ruled_out, left
        The variables that can't be the reward's parents, and the sets that still can; None where the policy
        doesn't look for parents.
    reward_variables
        The parents as named by the policy; empty while none is.
    fallback
        Why the policy gave up its own way; None where it didn't.
    best_arm
        The arm of highest lower bound, in the person's terms; None before the first row of an arm. Its
        interval holds at all times at once, for all arms, with probability 1 − δ (1 − δ/2 with stop
        "best-arm").
    certain
        Whether its interval lies beyond those of all other arms.
    over
        Why the session is over; None while it goes on.
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
    fallback: str | None
    best_arm: ArmEstimate | None
    certain: bool
    over: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        content = {name: getattr(self, name) for name in self.__dataclass_fields__}
        best = self.best_arm
        return content | {
            "open": [pull_dict(pull) for pull in self.open],
            "excluded": [dict(arm) for arm in self.excluded],
            "ruled_out": None if self.ruled_out is None else list(self.ruled_out),
            "left": None if self.left is None else [list(names) for names in self.left],
            "reward_variables": list(self.reward_variables),
            "best_arm": None
            if best is None
            else {
                "intervention": dict(best.intervention),
                "mean": best.mean,
                "low": best.low,
                "high": best.high,
                "rows": best.rows,
            },
        }

    def to_text(self) -> str:
        """Return it for people, a line for each thing known."""
        lines = [
            f"{self.policy}, to {'lower' if self.minimize else 'raise'} {self.reward}: "
            f"{self.told:,} of {counted(self.horizon, self.unit)} told"
            + (f", {self.earlier:,} known before" if self.earlier else ""),
        ]
        lines += [
            f"Open       {pull}: {setting_text(pull.intervention)}, {pull.left:,} of {pull.size:,} to come"
            for pull in self.open
        ]
        if self.excluded:
            lines.append(f"Excluded   {'; '.join(map(setting_text, self.excluded))}")
        if self.ruled_out is not None and self.left is not None:
            lines.append(f"Ruled out  {listed(self.ruled_out, most=12, none='no variable yet')}")
            lines.append(f"Left       {listed([' and '.join(names) for names in self.left], most=12)}")
        if self.reward_variables:
            lines.append(f"Named      {listed(self.reward_variables)}: what the reward depends on")
        if self.fallback:
            lines.append(f"Note       {self.fallback}")
        lines.append(f"Best arm   {self._best_arm_text()}")
        if self.over:
            lines.append(f"Over       {self.over}")
        return "\n".join(lines)

    def _best_arm_text(self) -> str:
        best = self.best_arm
        if best is None:
            return "none has been pulled yet"
        return (
            f"{setting_text(best.intervention)}: mean {best.mean:.4g}, between {best.low:.4g} and "
            f"{best.high:.4g}, {best.rows:,} rows{'; certain to be the best' if self.certain else ''}"
        )


def status_of(state: SessionState) -> Status:
    """Return where `state` stands."""
    settings, policy = state.settings, state.policy
    left = policy.candidates
    possible = None if left is None else {name for names in left for name in names}
    certain = state.certain_best()
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
        fallback=policy.fallback,
        best_arm=_as_asked(settings, certain or policy.best_arm(settings.failure_share)),
        certain=certain is not None,
        over=state.over,
    )


def counted(size: int, unit: str) -> str:
    """Return "25 patients", or "1 patient".

    Examples
    --------
    >>> counted(1200, "patients"), counted(1, "rows")
    ('1,200 patients', '1 row')
    """
    return f"{size:,} {unit.removesuffix('s') if size == 1 else unit}"


def setting_text(intervention: Intervention) -> str:
    """Return what to set, as "drug = high".

    Examples
    --------
    >>> setting_text(Intervention({"drug": "high"})), setting_text(Intervention())
    ('drug = high', 'nothing')
    """
    return ", ".join(f"{name} = {state}" for name, state in intervention.items()) or "nothing"


def pull_text(pull: OpenPull, unit: str) -> str:
    """Return what is to be done for a pull, in a sentence."""
    more = "" if pull.left == pull.size else f" more (of {pull.size:,})"
    setting = setting_text(pull.intervention) if pull.intervention else "nothing, only observe,"
    return f"→ set {setting} for the next {counted(pull.left, unit)}{more}"


def pull_dict(pull: OpenPull) -> dict[str, Any]:
    """Return a pull, ready for JSON."""
    return {
        "pull": pull.number,
        "set": dict(pull.intervention),
        "size": pull.size,
        "left": pull.left,
        "why": pull.why,
    }


def _as_asked(settings: SessionSettings, best: ArmEstimate | None) -> ArmEstimate | None:
    """Return the estimate in the person's terms, its interval within what rewards can be."""
    if best is None:
        return None
    low, high = sorted((settings.from_policy(best.low), settings.from_policy(best.high)))
    lowest, highest = settings.reward.limits
    mean = settings.from_policy(best.mean)
    return ArmEstimate(best.intervention, mean, max(low, lowest), min(high, highest), best.rows)
