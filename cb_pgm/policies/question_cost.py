"""What questions cost: rounds that are spent to learn the reward's parents rather than to earn rewards."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cb_pgm.model.intervention import Intervention, Pull
from cb_pgm.policies.arms import ArmTotals

__all__ = ["QuestionCost"]

_PRIOR_ROWS = 4.0


class QuestionCost:
    """The regret of questions, as the rows so far estimate it, beside the regret of all other rounds.

    The estimated regret of a round is the difference between the highest mean of any arm and the mean of the
    arm pulled; an arm without rows counts as one with the mean of all rows. For a question it is less by the
    standard error of the arm's mean: an arm that the rows don't tell from the best one costs nothing, since
    an index policy pulls it as well. A question is affordable as long as all questions together cost at most
    a fixed share of what all other rounds have cost. So questions multiply the regret of an index policy by
    about 1 + share at most, at any horizon and in any unit of the reward.

    Parameters
    ----------
    share
        The largest cost of all questions, relative to the cost of all other rounds.
    noise_scale
        σ of the reward under every arm.
    share_to_end
        The same for questions that can be seen to come to an end; None: `share`.
    """

    def __init__(self, share: float, noise_scale: float, share_to_end: float | None = None) -> None:
        self._share = share
        self._share_to_end = share if share_to_end is None else share_to_end
        self._noise_scale = noise_scale
        self._asked: NDArray[np.float64] = np.zeros(0)  # rows of questions by arm
        self._elsewhere = 0  # and of those that are none of the arms
        self.rows = 0  # of all questions

    def add(self, intervention: Intervention, rows: int, arms: ArmTotals) -> None:
        """Count so many rows of a question, where `arms` are all arms so far."""
        self.rows += rows
        position = arms.position(intervention)
        if position is None:
            self._elsewhere += rows
            return
        if len(self._asked) < len(arms.arms):
            self._asked = np.append(self._asked, np.zeros(len(arms.arms) - len(self._asked)))
        self._asked[position] += rows

    def affords(
        self, pull: Pull, arms: ArmTotals, to_end: float = math.inf, share: float | None = None
    ) -> bool:
        """Return whether `pull` is affordable; `arms` has the rows in which each arm was set.

        Rounds of do() don't count, since their rows may come from a table. `to_end` is the estimated cost of
        all pulls until the question is answered: one that is within reach is worth more than one of which
        only a part can be paid for. `share` replaces that of the constructor.
        """
        gaps, typical = self.gaps(arms)
        likely = self.likely_gaps(arms)
        asked = self._cost(likely, typical)
        of_pull = _cost_of(pull.intervention, pull.size, likely, typical, arms)
        pulled = np.where([bool(arm) for arm in arms.arms], arms.rows, 0)
        others = max(float(gaps @ pulled) - asked, 0.0)
        share = self._share if share is None else share
        return asked + of_pull <= share * others or asked + to_end <= self._share_to_end * others

    def below_index(self, pull: Pull, arms: ArmTotals, gaps: NDArray[np.float64], typical: float) -> bool:
        """Return whether all questions and `pull` cost less than an index policy is going to pay.

        Such a policy tells an arm with gap Δ from the best one by some 6σ²/Δ² rounds, which cost 6σ²/Δ, and
        never pays more than Δ a round. `gaps` and `typical` are those of `cautious_gaps`.
        """
        of_index = _cost_of_index(gaps, self._noise_scale, max(arms.rounds, len(gaps)))
        of_pull = _cost_of(pull.intervention, pull.size, gaps, typical, arms)
        return self._cost(gaps, typical) + of_pull <= self._share * float(of_index)

    def _cost(self, gaps: NDArray[np.float64], typical: float) -> float:
        return float(gaps[: len(self._asked)] @ self._asked) + self._elsewhere * typical

    @staticmethod
    def cautious_gaps(arms: ArmTotals) -> tuple[NDArray[np.float64], float]:
        """Return the same as `gaps` with all means drawn to the overall one as by four rows.

        The highest of many means of a row or two is far too high.
        """
        gaps: NDArray[np.float64]
        gaps, typical = _cautious_gaps(arms.rows, arms.totals)
        return gaps, float(typical)

    def likely_gaps(self, arms: ArmTotals) -> NDArray[np.float64]:
        """Return `gaps` less one standard error of each arm's mean, at least 0, float64 [arms]."""
        gaps, _ = self.gaps(arms)
        return np.maximum(gaps - self._noise_scale / np.sqrt(np.maximum(arms.rows, 1)), 0.0)

    def by_state(
        self,
        gaps: NDArray[np.float64],
        codes: tuple[NDArray[np.int64], NDArray[np.int64]],
        shape: tuple[int, int],
    ) -> NDArray[np.float64]:
        """Return what a round of each arm costs, positive, from the gaps of all arms.

        Parameters
        ----------
        gaps
            float64 [arms or more].
        codes
            The positions of the variables and of the states of the arms on one variable, in the order of
            `gaps`.
        shape
            (n, K), that of the result.
        """
        costs: NDArray[np.float64] = np.ones(shape)
        costs[codes] = np.maximum(gaps[: len(codes[0])], 1e-9 * self._noise_scale)
        return costs

    @staticmethod
    def gaps(arms: ArmTotals) -> tuple[NDArray[np.float64], float]:
        """Return the estimated regret of a round of each arm, float64 [arms], and of the average round."""
        overall = float(arms.totals.sum() / max(arms.rows.sum(), 1))
        means = np.divide(arms.totals, arms.rows, out=np.full(len(arms.rows), overall), where=arms.rows > 0)
        best = float(means.max())
        return best - means, best - overall


def _cost_of(
    intervention: Intervention, rows: int, gaps: NDArray[np.float64], typical: float, arms: ArmTotals
) -> float:
    position = arms.position(intervention)
    return rows * (typical if position is None else float(gaps[position]))


# Before the parents are identified every round needs these, so they are compiled.


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba carries no types
def _cautious_gaps(rows: NDArray[np.int64], totals: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    overall = totals.sum() / max(rows.sum(), 1)
    gaps, best = np.empty(len(rows)), -np.inf
    for arm in range(len(rows)):
        gaps[arm] = (totals[arm] + _PRIOR_ROWS * overall) / (rows[arm] + _PRIOR_ROWS)
        best = max(best, gaps[arm])
    for arm in range(len(rows)):
        gaps[arm] = best - gaps[arm]
    return gaps, best - overall


@njit(cache=True)  # type: ignore[untyped-decorator]
def _cost_of_index(gaps: NDArray[np.float64], noise_scale: float, rounds: int) -> float:
    cost = 0.0
    for gap in gaps:
        cost += min(6.0 * noise_scale**2 / max(gap, 1e-9 * noise_scale), gap * rounds)
    return cost
