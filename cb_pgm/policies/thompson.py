"""Thompson sampling over single-variable interventions; ignores causal structure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cb_pgm.model.intervention import Intervention, Observations, Pull
from cb_pgm.policies.arm_policy import ArmPolicy

__all__ = ["ThompsonSampling"]


class ThompsonSampling(ArmPolicy):
    """Draw each arm's mean from N(mean, σ²/n_a) and pull the arm with the highest draw.

    Every arm is pulled once first. The distribution is the posterior under a flat prior and Gaussian rewards
    of scale σ, the `noise_scale` of `Policy`. Source: Agrawal & Goyal, "Further optimal regret bounds for
    Thompson sampling" (2013).
    """

    name = "thompson"
    _reason = "the highest draw from the posterior of its mean"

    def _begin(self, rng: np.random.Generator) -> None:
        super()._begin(rng)
        self._draw = rng
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

    def _learn(self, intervention: Intervention, observations: Observations) -> None:
        super()._learn(intervention, observations)
        if self._untried:
            self._untried = int(np.count_nonzero(self._arms.rows == 0))
