"""How much better another arm may still be: what ends an experiment at (ε, δ), at any time.

Two bases:

experimental
    The mean of each arm lies in the anytime interval of the rows in which it was set; nothing is assumed of
    causes. An arm that was never set may be better than all others.
identified
    The reward depends on one set of variables alone, the one that the test has left, as it is with the test's
    share of δ if there are at most `max_parents` parents and none is hidden. Then no arm beats the best joint
    state of that set, and only these are compared, by rows with their states, set or observed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cb_pgm.evidence.confidence import best_mixing_rows, bounded_difference, difference_radius
from cb_pgm.model.intervention import ArmEstimate, Intervention

__all__ = ["BASES", "Basis", "Shortfall", "compare_states", "shortfall_of"]

Basis = Literal["experimental", "identified"]
BASES: tuple[Basis, ...] = ("experimental", "identified")

# The rows of each of two states at which the interval of their difference is narrowest.
_NARROWEST_AT = 300


@dataclass(frozen=True)
class Shortfall:
    """The arm that looks best, and the most that another one may be better.

    Attributes
    ----------
    arm, challenger
        The arm, and the one that may be better by the most; None while there is none.
    most
        The most by which it may be better, in units of the reward, at 1 − δ; infinite while `missing` says
        why nothing can be said.
    ask
        Of the two the one with fewer rows, or what has to be tried first.
    difference, rows
        How much higher the challenger's mean reward is, and the rows of both.
    missing
        What has to be shown first, as a clause; empty if nothing.
    """

    arm: Intervention | None
    challenger: Intervention | None
    most: float
    ask: Intervention | None = None
    missing: str = ""
    difference: float = 0.0
    rows: int = 0

    def rows_left(self, within: float) -> int | None:
        """Return how many further rows of the two it takes until `most` is at most `within`, about.

        None if something is missing, or the means would have to change. An interval's width falls with the
        root of the rows.
        """
        if self.missing or within <= self.difference:
            return None
        factor = ((self.most - self.difference) / (within - self.difference)) ** 2
        return max(0, math.ceil(self.rows * (factor - 1)))


def shortfall_of(known: Sequence[ArmEstimate], arms: Sequence[Intervention]) -> Shortfall:
    """Return it by the intervals of the arms' own rows.

    Parameters
    ----------
    known
        The arms with rows, with intervals that hold together and at all times.
    arms
        All that may be played.
    """
    if not known:
        return Shortfall(None, None, math.inf, missing="no arm has been pulled yet")
    best = max(known, key=lambda one: one.low)
    tried = {one.intervention for one in known}
    untried = [arm for arm in arms if arm not in tried]
    if untried:
        return Shortfall(best.intervention, untried[0], math.inf, untried[0], f"{untried[0]} was never tried")
    others = [one for one in known if one is not best]
    if not others:
        return Shortfall(best.intervention, None, 0.0)
    rival = max(others, key=lambda one: one.high)
    ask = min((best, rival), key=lambda one: one.rows).intervention
    return Shortfall(
        best.intervention,
        rival.intervention,
        max(0.0, rival.high - best.low),
        ask,
        difference=rival.mean - best.mean,
        rows=best.rows + rival.rows,
    )


def compare_states(
    rows: NDArray[np.float64],
    means: NDArray[np.float64],
    failure_prob: float,
    noise_scale: float,
    *,
    in_unit_interval: bool,
) -> tuple[int, int, float]:
    """Compare the joint states of the one set on which the reward depends.

    Parameters
    ----------
    rows, means
        float64 [s]: the rows with each joint state, and their mean reward.
    failure_prob
        α: the probability that one of the bounds on differences ever fails, over all ordered pairs.
    noise_scale
        σ of the reward given the set.
    in_unit_interval
        Whether the rewards are in [0, 1].

    Returns
    -------
    tuple of int, int and float
        The state with the highest mean, the one that may be better by the most, and by how much at the most.

    Examples
    --------
    >>> compare_states(np.array([300.0, 300.0]), np.array([0.0, 0.5]), 0.05, 1.0, in_unit_interval=False)
    (1, 0, 0.0)
    """
    best = int(np.argmax(np.where(rows > 0, means, -np.inf)))
    share = failure_prob / max(1, len(rows) * (len(rows) - 1))
    mixing_rows = best_mixing_rows(_NARROWEST_AT, share)
    rival, most = best, 0.0
    for state in range(len(rows)):
        if state == best:
            continue
        if not rows[state] or not rows[best]:
            better = 1.0 if in_unit_interval else math.inf
        elif in_unit_interval:
            one, other = ((int(rows[place]), float(means[place])) for place in (state, best))
            better = bounded_difference(one, other, share, mixing_rows)[1]
        else:
            radius = difference_radius(int(rows[state]), int(rows[best]), share, noise_scale, mixing_rows)
            better = float(means[state] - means[best]) + radius
        if better > most or rival == best:
            rival, most = state, max(0.0, better)
    return best, rival, most
