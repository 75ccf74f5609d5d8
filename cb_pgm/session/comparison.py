"""How the arms of a session compare by their own rows: second best, gain over the control, P(best).

Nothing is assumed of causes. The interval of the gain over the control holds at all times at once, and
whichever arm is the best: it has its own share of δ, of which each arm gets an equal part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cb_pgm.effects.measured import Sample, floored
from cb_pgm.evidence.confidence import best_mixing_rows, bounded_difference, difference_radius
from cb_pgm.model.intervention import ArmEstimate, Intervention
from cb_pgm.session.state import SessionState
from cb_pgm.session.texts import counted, setting_text
from discovery.wording import listed

__all__ = ["Comparison", "Gain", "compare_arms"]

_DRAWS = 4000
_NARROWEST_AT = 150  # rows of an arm at which the interval of the gain is narrowest
_WORTH = 0.1  # the smallest difference worth having, in standard deviations of the reward


@dataclass(frozen=True)
class Gain:
    """The improvement of the best arm over another one: positive if it is better, in units of the reward.

    Attributes
    ----------
    against
        The other arm.
    gain, low, high
        The improvement and its interval.
    """

    against: Intervention
    gain: float
    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """How the arms compare.

    Attributes
    ----------
    second_best
        The arm of the best mean beside the best arm; None if only one has rows.
    gain
        The gain of the best arm over the control; None without a control, where that is the best arm, and
        until it has rows.
    p_best
        The probability that the best arm is better than all others that were set, if the rewards of an arm
        are alike and independent.
    settles
        What would settle which arm is the best; None if that is certain.
    """

    second_best: ArmEstimate | None
    gain: Gain | None
    p_best: float | None
    settles: str | None


def compare_arms(state: SessionState, best: ArmEstimate | None, certain: bool) -> Comparison:
    """Compare the best arm, on the scale of the data, with the others."""
    if best is None:
        return Comparison(None, None, None, None)
    settings = state.settings
    arms = [settings.as_asked(arm) for arm in state.policy.estimates()]
    sign = -1 if settings.minimize else 1
    others = [arm for arm in arms if arm.intervention != best.intervention]
    second = max(others, key=lambda arm: sign * arm.mean, default=None)
    beside = next((arm for arm in others if arm.intervention == settings.control), None)
    return Comparison(
        second,
        None if beside is None else _gain(state, best, beside, sign),
        _p_best(state, best.intervention, sign),
        None if certain else _settles(state, best, second, {arm.intervention for arm in arms}, sign),
    )


def _gain(state: SessionState, best: ArmEstimate, other: ArmEstimate, sign: int) -> Gain:
    settings = state.settings
    share = settings.gain_share / max(len(state.policy.possible_arms) - 1, 1)
    low, high = settings.reward.limits
    if math.isfinite(high - low):
        first, second = ((arm.rows, (arm.mean - low) / (high - low)) for arm in (best, other))
        ends = bounded_difference(first, second, share, best_mixing_rows(_NARROWEST_AT, share))
        ends = ends[0] * (high - low), ends[1] * (high - low)
    else:
        mixing = best_mixing_rows(_NARROWEST_AT, share)
        radius = difference_radius(best.rows, other.rows, share, settings.noise_scale, mixing)
        ends = best.mean - other.mean - radius, best.mean - other.mean + radius
    lower, upper = sorted(sign * end for end in ends)
    return Gain(other.intervention, sign * (best.mean - other.mean), lower, upper)


def _p_best(state: SessionState, best: Intervention, sign: int) -> float:
    """Draw the means of the arms that were set from their posteriors, by their own rows."""
    known, binary = state.rewards_by_arm(), state.settings.reward.state is not None
    samples = floored([Sample.of(own, binary=binary) for own in known.values()])
    rng = np.random.default_rng(state.settings.seed)
    drawn = sign * np.stack([sample.drawn(_DRAWS, rng) for sample in samples], axis=1)
    return float((drawn.argmax(axis=1) == list(known).index(best)).mean())


def _settles(
    state: SessionState, best: ArmEstimate, second: ArmEstimate | None, tried: set[Intervention], sign: int
) -> str:
    """Return what would make the best arm certain."""
    unit, steps = state.settings.unit, []
    if second is not None:
        gap = sign * (best.mean - second.mean)
        first, other = (setting_text(arm.intervention) for arm in (best, second))
        if gap < _WORTH * state.settings.noise_scale:
            steps = [f"nothing soon, as {first} and {other} differ by less than a tenth of the noise scale"]
        else:
            radii = [(arm.high - arm.low) / 2 * math.sqrt(arm.rows) for arm in (best, second)]
            needed = (sum(radii) / gap) ** 2  # intervals shrink with the root of the rows
            more = [(math.ceil(needed) - arm.rows, arm.intervention) for arm in (best, second)]
            steps = [f"about {counted(n, unit)} more with {setting_text(arm)}" for n, arm in more if n > 0]
    untried = [setting_text(arm) for arm in state.policy.possible_arms if arm not in tried]
    if untried:
        steps.append(f"some with {listed(untried, most=6)}: never set")
    return listed(steps)
