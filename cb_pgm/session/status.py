"""`Status`: what is known so far in a session, as text and for JSON."""

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
    fallback
        Why the policy gave up its own method; None if it didn't.
    best_arm
        The arm with the highest lower confidence bound (with `minimize` the lowest upper one), on the scale
        of the data; None before the first row of an arm. The intervals of all arms hold at all times at once
        with probability 1 − δ (1 − δ/2 if the session stops at the best arm).
    certain
        Whether the interval of the best arm lies beyond those of all other arms.
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
        """Return the status for JSON."""
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
            lines.append(f"Ruled out   {listed(self.ruled_out, most=12, none='no variable yet')}")
            possible = [" and ".join(names) for names in self.left]
            lines.append(f"Possible    {listed(possible, most=12, last='or')}")
        if self.reward_variables:
            causes = "cause" if len(self.reward_variables) == 1 else "causes"
            lines.append(f"Identified  {listed(self.reward_variables)} as the {causes} of the reward")
        if self.fallback:
            lines.append(f"Note        {self.fallback}")
        lines.append(f"Best arm    {self._best_arm_text()}")
        if self.over:
            lines.append(f"Over        {self.over}")
        return "\n".join(lines)

    def _best_arm_text(self) -> str:
        best = self.best_arm
        if best is None:
            return "no arm has been pulled yet"
        return (
            f"{setting_text(best.intervention)}: mean {best.mean:.4g} (between {best.low:.4g} and "
            f"{best.high:.4g}) from {counted(best.rows, self.unit)}; "
            f"{'certain to be the best' if self.certain else 'not yet certain'}"
        )


def status_of(state: SessionState) -> Status:
    """Return the status of a session in the given state."""
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
    """Return an intervention as "drug = high".

    Examples
    --------
    >>> setting_text(Intervention({"drug": "high"})), setting_text(Intervention())
    ('drug = high', 'nothing')
    """
    return ", ".join(f"{name} = {state}" for name, state in intervention.items()) or "nothing"


def pull_text(pull: OpenPull, unit: str) -> str:
    """Return the instruction for the rows of a pull that are still to come."""
    more = "" if pull.left == pull.size else f" more (of {pull.size:,})"
    setting = setting_text(pull.intervention) if pull.intervention else "nothing, only observe,"
    return f"→ set {setting} for the next {counted(pull.left, unit)}{more}"


def pull_dict(pull: OpenPull) -> dict[str, Any]:
    """Return a pull for JSON."""
    return {
        "pull": pull.number,
        "set": dict(pull.intervention),
        "size": pull.size,
        "left": pull.left,
        "why": pull.why,
    }


def _as_asked(settings: SessionSettings, best: ArmEstimate | None) -> ArmEstimate | None:
    """Return the estimate on the scale of the data, with its interval cut to the possible rewards."""
    if best is None:
        return None
    low, high = sorted((settings.from_policy(best.low), settings.from_policy(best.high)))
    lowest, highest = settings.reward.limits
    mean = settings.from_policy(best.mean)
    return ArmEstimate(best.intervention, mean, max(low, lowest), min(high, highest), best.rows)
