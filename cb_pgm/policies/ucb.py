"""UCB over all single-variable arms: what one plays who knows nothing of causes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from cb_pgm.intervention import Intervention, Observations, Pull
from cb_pgm.policies.arms import ArmTotals
from cb_pgm.policies.base import Policy, single_variable_arms

__all__ = ["UCB"]


class UCB(Policy):
    """Pull the arm with the highest upper confidence bound; O(arms) a round.

    Source: Auer, Cesa-Bianchi & Fischer, "Finite-time analysis of the multiarmed bandit problem" (2002).
    """

    name = "ucb"

    def _begin(self, rng: np.random.Generator) -> None:
        self._arms = ArmTotals(single_variable_arms(self.settable))
        self._pulls = [Pull(arm) for arm in self._arms.arms]

    def _next_pull(self) -> Pull:
        return self._pulls[self._arms.highest_bound(self.noise_scale)]

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull:
        with self._arms.counting(under_way):
            return self._next_pull()

    def why(self, pull: Pull) -> str:
        return f"the highest upper confidence bound: {self._arms.describe(pull.intervention)}"

    def _learn(self, intervention: Intervention, observations: Observations) -> None:
        self._arms.add(intervention, observations.rewards)

    def means(self) -> Iterable[tuple[Intervention, int, float]]:
        return self._arms
