"""Thompson sampling over all single-variable arms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from cb_pgm.intervention import Intervention, Observations, Pull
from cb_pgm.policies.arms import ArmTotals
from cb_pgm.policies.base import Policy, single_variable_arms

__all__ = ["ThompsonSampling"]


class ThompsonSampling(Policy):
    """Draw each arm's mean from N(mean, σ²/n_a) and pull the highest draw; every arm once first.

    The posterior under a flat prior and Gaussian rewards of scale σ: the same σ that UCB is given. Source:
    Agrawal & Goyal, "Further optimal regret bounds for Thompson sampling" (2013).
    """

    name = "thompson"

    def _begin(self, rng: np.random.Generator) -> None:
        self._draw = rng
        self._arms = ArmTotals(single_variable_arms(self.settable))
        self._pulls = [Pull(arm) for arm in self._arms.arms]
        self._untried = len(self._pulls)

    def _next_pull(self) -> Pull:
        arms = self._arms
        if self._untried:
            return self._pulls[int(np.argmin(arms.rows > 0))]
        spread = self.noise_scale / np.sqrt(arms.rows)
        draws = arms.totals / arms.rows + spread * self._draw.standard_normal(len(spread))
        return self._pulls[int(np.argmax(draws))]

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull:
        untried = self._untried
        with self._arms.counting(under_way):
            self._untried = int(np.count_nonzero(self._arms.rows == 0))
            pull = self._next_pull()
        self._untried = untried
        return pull

    def why(self, pull: Pull) -> str:
        return f"the highest draw of what its mean may be: {self._arms.describe(pull.intervention)}"

    def _learn(self, intervention: Intervention, observations: Observations) -> None:
        self._arms.add(intervention, observations.rewards)
        if self._untried:
            self._untried = int(np.count_nonzero(self._arms.rows == 0))

    def means(self) -> Iterable[tuple[Intervention, int, float]]:
        return self._arms
