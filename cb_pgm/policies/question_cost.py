"""What questions cost: rounds that are spent to learn the reward's parents rather than to earn rewards."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cb_pgm.model.intervention import Intervention, Pull
from cb_pgm.policies.arms import ArmTotals

__all__ = ["QuestionCost"]


class QuestionCost:
    """The regret of questions, as the rows so far estimate it, beside the regret of all other rounds.

    The estimated regret of a round is the difference between the highest mean of any arm and the mean of the
    arm pulled; an arm without rows counts as one with the mean of all rows. A question is affordable as long
    as all questions together cost at most a fixed share of what all other rounds have cost. So questions
    multiply the regret of an index policy by at most 1 + share, at any horizon and in any unit of the reward,
    and questions about arms that are as good as the best one are free.

    Parameters
    ----------
    share
        The largest cost of all questions, relative to the cost of all other rounds.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self._asked: dict[Intervention, int] = {}

    def add(self, intervention: Intervention, rows: int) -> None:
        """Count so many rows of a question."""
        self._asked[intervention] = self._asked.get(intervention, 0) + rows

    def affords(self, pull: Pull, arms: ArmTotals) -> bool:
        """Return whether `pull` is affordable; `arms` has the rows in which each arm was set."""
        gaps, typical = self.gaps(arms)

        def cost(intervention: Intervention, rows: int) -> float:
            position = arms.position(intervention)
            return rows * (typical if position is None else float(gaps[position]))

        asked = sum(cost(intervention, rows) for intervention, rows in self._asked.items())
        others = max(float(gaps @ arms.rows) - asked, 0.0)
        return asked + cost(pull.intervention, pull.size) <= self._share * others

    @staticmethod
    def gaps(arms: ArmTotals) -> tuple[NDArray[np.float64], float]:
        """Return the estimated regret of a round of each arm, float64 [arms], and of the average round."""
        overall = float(arms.totals.sum() / max(arms.rows.sum(), 1))
        means = np.divide(arms.totals, arms.rows, out=np.full(len(arms.rows), overall), where=arms.rows > 0)
        best = float(means.max())
        return best - means, best - overall
