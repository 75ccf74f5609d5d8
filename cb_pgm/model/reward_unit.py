"""`RewardUnit`: the unit in which rewards are computed with, whatever unit a person measures them in.

Squares of rewards of 10¹⁶⁰ overflow, those of 10⁻³⁰⁰ vanish, and beside 10⁹ the variance of differences of 1
is lost in rounding. So a table's rewards are moved and divided to lie in [0, 1] before anything is computed,
and results are turned back. A reward with two values is 0 or 1 inside, and so a Bernoulli reward.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalBanditError

if TYPE_CHECKING:
    from discovery import DiscreteTable

__all__ = ["RewardUnit", "given_rewards", "is_binary", "rewards_of"]


@dataclass(frozen=True)
class RewardUnit:
    """The map x ↦ (x − zero) / width from a person's rewards to those inside, and its inverse.

    Attributes
    ----------
    zero
        The reward that is 0 inside.
    width
        The difference of rewards that is 1 inside; negative where lower rewards are better, so that higher
        ones are inside.

    Examples
    --------
    >>> unit = RewardUnit(zero=1e9, width=1e160)
    >>> unit.inside(1e160), unit.outside(0.5), unit.difference(0.25)
    (1.0, 5e+159, 2.5e+159)
    """

    zero: float = 0.0
    width: float = 1.0

    @classmethod
    def of(cls, table: DiscreteTable) -> RewardUnit:
        """Return the unit in which a table's rewards, those of interventional rows included, fill [0, 1].

        It is the identity for a table without rewards, or with one value only.
        """
        parts = [] if table.rewards is None else [table.rewards]
        if table.interventional is not None and table.interventional.rewards is not None:
            parts.append(table.interventional.rewards)
        rewards = np.concatenate(parts) if parts else np.zeros(0)
        if not len(rewards) or rewards.min() == rewards.max():
            return cls()
        low, high = float(rewards.min()), float(rewards.max())
        return cls(low, high - low)

    def turned(self) -> RewardUnit:
        """Return the unit in which a reward R inside is 1 − R: lower rewards are higher.

        >>> RewardUnit(zero=10.0, width=4.0).turned().inside(11.0)
        0.75
        """
        return RewardUnit(self.zero + self.width, -self.width)

    def inside(self, reward: float) -> float:
        """Return a person's reward as it is inside."""
        return (reward - self.zero) / self.width

    def outside(self, reward: float) -> float:
        """Return a reward inside in the person's unit."""
        return self.zero + reward * self.width

    def difference(self, inside: float) -> float:
        """Return a gain inside, or the scale of rewards, in the person's unit."""
        return inside * abs(self.width)

    def difference_inside(self, difference: float) -> float:
        """Return a person's difference of rewards as it is inside."""
        return difference / abs(self.width)

    def interval(self, inside: tuple[float, float]) -> tuple[float, float]:
        """Return an interval of rewards in the person's unit."""
        low, high = sorted(map(self.outside, inside))
        return low, high

    def differences(self, inside: tuple[float, float]) -> tuple[float, float]:
        """Return an interval of differences in the person's unit."""
        return self.difference(inside[0]), self.difference(inside[1])

    def rewards(self, rewards: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rewards, float64 [m], as they are inside."""
        return rewards if self == RewardUnit() else (rewards - self.zero) / self.width

    def table(self, table: DiscreteTable) -> DiscreteTable:
        """Return the table with its rewards as they are inside."""
        if table.rewards is None or self == RewardUnit():
            return table
        done = table.interventional
        if done is not None and done.rewards is not None:
            done = replace(done, rewards=self.rewards(done.rewards))
        return replace(table, rewards=self.rewards(table.rewards), interventional=done)


def given_rewards(table: DiscreteTable) -> NDArray[np.float64]:
    """Return the table's rewards, at least one, or raise CausalBanditError."""
    if table.rewards is None:
        raise CausalBanditError("Expected a table with rewards but found none: name the reward column")
    if not len(table.rewards):
        raise CausalBanditError(
            "Expected rows in which nothing was set but found none: add observations, or see what set rows "
            "say (cb-pgm effects, cb-pgm replay)"
        )
    return table.rewards


def rewards_of(table: DiscreteTable) -> NDArray[np.float64]:
    """Return the table's rewards, or raise CausalBanditError where there are none, or all are the same."""
    rewards = given_rewards(table)
    if np.ptp(rewards) == 0:
        raise CausalBanditError(
            f"Expected rewards that differ but found {rewards[0]:g} in every row: name another reward"
        )
    return rewards


def is_binary(rewards: NDArray[np.float64]) -> bool:
    """Return whether all rewards are 0 or 1."""
    return bool(np.isin(rewards, (0.0, 1.0)).all())
