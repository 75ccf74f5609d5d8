"""How far rewards scatter: about their mean given the parents, from the rows, and their range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cb_pgm.effects.measured import Interval
from cb_pgm.errors import CausalBanditError
from cb_pgm.model.canonical import Rows
from cb_pgm.model.fitting import fit_reward
from cb_pgm.model.reward_unit import RewardUnit, is_binary

__all__ = ["RewardScale", "reward_scale"]


@dataclass(frozen=True)
class RewardScale:
    """The scale of rewards.

    Attributes
    ----------
    parents
        The variables that explain the reward best.
    residual
        σ, the standard deviation of the reward given these, times `tail_factor`; or as given.
    tail_factor
        How much farther out the largest residual lies than that of as many normal ones, σ√(2 log N); at
        least 1, and 1 for rewards of 0 and 1.
    arm
        The scale of the reward under one arm, where the parents vary: ½ for rewards of 0 and 1, which holds
        without any assumption, otherwise the root of σ² and the variance that the parents explain.
    low, high
        The range of rewards, which only the bounds with nothing assumed use.
    binary
        Whether all rewards are 0 or 1.
    given
        Whether σ was given.
    range_given
        Whether the range was given.
    """

    parents: tuple[str, ...]
    residual: float
    tail_factor: float
    arm: float
    low: float
    high: float
    binary: bool
    given: bool
    range_given: bool

    @property
    def deviation(self) -> float:
        """The standard deviation of the reward given the parents, whatever its tails: means of many rows."""
        return self.residual if self.given else self.residual / self.tail_factor

    def cut(self, interval: Interval) -> Interval:
        """Cut an interval off at 0 and 1 if all rewards are these."""
        return (max(0.0, interval[0]), min(1.0, interval[1])) if self.binary else interval

    def outside(self, unit: RewardUnit) -> RewardScale:
        """Return the scale in a person's unit."""
        low, high = unit.interval((self.low, self.high))
        return replace(
            self,
            residual=unit.difference(self.residual),
            arm=unit.difference(self.arm),
            low=low,
            high=high,
        )


def reward_scale(
    rows: Rows,
    parents: Sequence[str],
    noise_scale: float | None,
    reward_range: Interval | None,
    unit: RewardUnit,
) -> RewardScale:
    """Return the scale of the rewards given `parents`, as it is inside.

    Parameters
    ----------
    rows, parents
        Rows with rewards as they are inside, and the names of the variables given which they scatter by σ.
    noise_scale, reward_range
        σ and the range in a person's `unit`; None: those of the rows.

    Raises
    ------
    CausalBanditError
        If a reward lies outside of `reward_range`.
    """
    table, rewards = rows.pooled, rows.all_rewards
    low, high = float(rewards.min()), float(rewards.max())
    binary = is_binary(rewards)
    fitted = fit_reward(table, parents, equivalent_sample_size=1.0)
    expected = fitted.means[tuple(rows.all_codes[:, column] for column in fitted.parents)]
    residuals = rewards - expected
    deviation = float(np.sqrt(np.mean(residuals**2)))
    factor = 1.0
    if not binary and deviation > 0:
        normal = deviation * math.sqrt(2 * math.log(len(rewards)))
        factor = max(1.0, float(np.abs(residuals).max()) / normal)
    sigma = deviation * factor if noise_scale is None else unit.difference_inside(noise_scale)
    explained = float(np.broadcast_to(expected, rewards.shape).std())
    bottom, top = (0.0, 1.0) if binary else (low, high)
    if reward_range is not None:
        bottom, top = unit.inside(reward_range[0]), unit.inside(reward_range[1])
        if not bottom <= low <= high <= top:
            raise CausalBanditError(
                f"Expected rewards from {reward_range[0]:g} to {reward_range[1]:g} but found them from "
                f"{unit.outside(low):g} to {unit.outside(high):g}: widen the reward range"
            )
    return RewardScale(
        parents=tuple(sorted(parents)),
        residual=sigma,
        tail_factor=factor,
        arm=0.5 if binary and noise_scale is None else math.hypot(sigma, explained),
        low=bottom,
        high=top,
        binary=binary,
        given=noise_scale is not None,
        range_given=reward_range is not None,
    )
