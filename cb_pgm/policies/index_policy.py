"""Index policies, which pull the arm of the highest index, round by round or many rounds at a time.

An index depends on the rows and rewards of the arms alone. So where rewards are drawn ahead, as a simulation
does, a compiled loop plays until an arm has none left, with the choices that `ask` and `tell` would make.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cb_pgm.model.intervention import Pull
from cb_pgm.policies.arm_policy import ArmPolicy
from cb_pgm.policies.indices import (
    highest_bernoulli_bound,
    highest_bernoulli_moss,
    highest_gaussian_bound,
    highest_gaussian_moss,
)

__all__ = ["IndexPolicy", "RewardsAhead"]

#: The most rounds of one call, which bounds its memory and how long no progress is shown.
_MOST_ROUNDS = 65_536


@dataclass(frozen=True, eq=False)
class RewardsAhead:
    """The rewards of each arm's next pulls.

    Attributes
    ----------
    rewards
        float64 [arms, m]: those of the arm at position a are rewards[a, begin[a]:end[a]], the next first.
    begin, end
        int64 [arms]; `begin` moves on as rewards are taken.
    """

    rewards: NDArray[np.float64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]


class IndexPolicy(ArmPolicy):
    """Base class of policies that pull the arm of the highest index; O(arms) a round.

    Every arm is pulled once first, and ties are broken in the order of the arms. For rewards in [0, 1] and
    σ = ½ the index may be that for the divergence of Bernoulli distributions.
    """

    #: Whether the level is log⁺(t/(A·n_a)), as of anytime MOSS; else it is log t + c·log log t.
    _of_moss = False
    #: Whether the divergence of Bernoulli distributions is used while all rewards lie in [0, 1].
    _by_divergence = True
    #: c
    log_log_weight = 0.0

    @final
    def _next_pull(self) -> Pull:
        arms = self._arms
        highest = _highest(
            self._of_moss,
            self._bernoulli(),
            self.log_log_weight,
            self.noise_scale,
            arms.rows,
            arms.totals,
            arms.rounds,
        )
        return self._pulls[int(highest)]

    @final
    def play_ahead(self, ahead: RewardsAhead, rounds: int) -> NDArray[np.int64]:
        """Play until the arm to be pulled has no reward left, but at most `rounds` rounds; learn from them.

        This equals as many calls of `ask` and `tell`.

        Returns
        -------
        NDArray
            int64 [rounds played]: the position of the arm pulled in each of them, among the arms in the order
            in which `ahead` has their rewards. It may be empty.
        """
        arms = self._arms
        chosen = np.empty(min(rounds, _MOST_ROUNDS), dtype=np.int64)
        played, arms.in_unit_interval = _play(
            self._of_moss,
            self._bernoulli(),
            self.log_log_weight,
            self.noise_scale,
            arms.rows,
            arms.totals,
            arms.rounds,
            arms.in_unit_interval,
            ahead.rewards,
            ahead.begin,
            ahead.end,
            chosen,
        )
        arms.rounds += played
        self._pending = None
        return chosen[:played]

    def _bernoulli(self) -> bool:
        return self._by_divergence and self._has_unit_rewards


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba carries no types
def _highest(
    of_moss: bool,
    bernoulli: bool,
    log_log_weight: float,
    noise_scale: float,
    rows: NDArray[np.int64],
    totals: NDArray[np.float64],
    rounds: int,
) -> int:
    t = float(max(rounds, 1))
    position: int
    if of_moss:
        every = np.ones(len(rows), dtype=np.bool_)
        if bernoulli:
            position = highest_bernoulli_moss(rows, totals, t, every)
        else:
            position = highest_gaussian_moss(rows, totals, t, noise_scale, every)
    else:
        level = math.log(t)
        if log_log_weight > 0.0:
            level += log_log_weight * math.log(max(level, 1.0))
        if bernoulli:
            position = highest_bernoulli_bound(rows, totals, level)
        else:
            position = highest_gaussian_bound(rows, totals, level, noise_scale)
    return position


@njit(cache=True)  # type: ignore[untyped-decorator]
def _play(
    of_moss: bool,
    bernoulli: bool,
    log_log_weight: float,
    noise_scale: float,
    rows: NDArray[np.int64],
    totals: NDArray[np.float64],
    rounds: int,
    in_unit_interval: bool,
    rewards: NDArray[np.float64],
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    chosen: NDArray[np.int64],
) -> tuple[int, bool]:
    """Play, and count each reward in `rows`, `totals` and `begin`; return how many rounds were played.

    Also return whether all rewards so far lie in [0, 1]: the first that doesn't ends a call for those.
    """
    for played in range(len(chosen)):
        arm = _highest(of_moss, bernoulli, log_log_weight, noise_scale, rows, totals, rounds + played)
        if begin[arm] == end[arm]:
            return played, in_unit_interval
        reward = rewards[arm, begin[arm]]
        begin[arm] += 1
        rows[arm] += 1
        totals[arm] += reward
        chosen[played] = arm
        if not 0.0 <= reward <= 1.0:
            in_unit_interval = False
            if bernoulli:
                return played + 1, False
    return len(chosen), in_unit_interval
