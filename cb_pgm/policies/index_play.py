"""Compiled play of index policies: rounds one after the other, without Python between them.

A policy whose choice depends on rows and totals per arm only can be played in compiled code as long as the
rewards of the arms that it chooses are drawn already. Choices, totals and their rounding are those of `ask`
and `tell` round by round.
"""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cb_pgm.policies.indices import (
    highest_bernoulli_bound,
    highest_bernoulli_moss,
    highest_gaussian_bound,
    highest_gaussian_moss,
)

__all__ = ["IndexRule", "play_rounds"]


class IndexRule(IntEnum):
    """The indices that can be played compiled; σ√(2 log t/n_a), that of KL-UCB, and that of anytime MOSS."""

    UCB = 0
    KL_UCB = 1
    MOSS = 2


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba carries no types
def play_rounds(
    rule: int,
    log_log_weight: float,
    noise_scale: float,
    bounded: bool,
    rounds: int,
    rows: NDArray[np.int64],
    totals: NDArray[np.float64],
    ahead: NDArray[np.float64],
    used: NDArray[np.int64],
    drawn: NDArray[np.int64],
    choices: NDArray[np.int32],
) -> tuple[int, int, bool]:
    """Play until `choices` is full or the chosen arm has no reward left.

    Parameters
    ----------
    rule, log_log_weight, noise_scale
        The index and its settings.
    bounded
        Whether all rewards so far lie in [0, 1] and σ is ½.
    rounds
        t before the first round.
    rows, totals
        [arms]: as in `ArmTotals`; they are changed.
    ahead
        float64 [arms, most]: rewards to come of each arm.
    used, drawn
        int64 [arms]: how many of them were given out before, which is changed, and how many there are.
    choices
        int32: filled with the position of each round's arm.

    Returns
    -------
    The number of rounds played; the arm without rewards, −1 if `choices` is full; `bounded` afterwards.
    """
    every = np.ones(len(rows), dtype=np.bool_)
    for played in range(len(choices)):
        t = max(rounds + played, 1)
        level = math.log(t)
        if rule == 2:
            if bounded:
                arm = highest_bernoulli_moss(rows, totals, float(t), every)
            else:
                arm = highest_gaussian_moss(rows, totals, float(t), noise_scale, every)
        elif rule == 1 and bounded:
            arm = highest_bernoulli_bound(rows, totals, level + log_log_weight * math.log(max(level, 1.0)))
        else:
            if rule == 1:
                level += log_log_weight * math.log(max(level, 1.0))
            arm = highest_gaussian_bound(rows, totals, level, noise_scale)
        if used[arm] == drawn[arm]:
            return played, arm, bounded
        reward = ahead[arm, used[arm]]
        used[arm] += 1
        rows[arm] += 1
        totals[arm] += reward
        choices[played] = arm
        bounded = bounded and 0.0 <= reward <= 1.0
    return len(choices), -1, bounded
