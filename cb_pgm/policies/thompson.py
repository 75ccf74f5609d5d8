"""Thompson sampling over single-variable interventions and do(); ignores causal structure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from cb_pgm.model.intervention import Intervention, Observations, Pull
from cb_pgm.policies.arm_policy import ArmPolicy
from cb_pgm.policies.arms import ArmTotals

__all__ = ["ThompsonSampling"]


class ThompsonSampling(ArmPolicy):
    """Draw each arm's mean from its posterior and pull the arm with the highest draw; O(arms) a round.

    If `noise_scale` is ½, and while all rewards lie in [0, 1], the posterior is Beta(1 + s, 1 + n − s) after
    s successes in n rows. A reward r of 0 or 1 is its own trial. Any other is replaced by one trial with
    success probability r, so that the regret bound for Bernoulli rewards holds: Agrawal & Goyal, "Analysis of
    Thompson sampling for the multi-armed bandit problem" (COLT 2012), Algorithm 2. Otherwise the posterior is
    N(mean, σ²/n), as under a flat prior and Gaussian rewards of scale σ, and every arm is pulled once first:
    Agrawal & Goyal, "Further optimal regret bounds for Thompson sampling" (AISTATS 2013).
    """

    name = "thompson"
    _reason = "the highest draw from the posterior of its mean"

    def begin(self, rng: np.random.Generator) -> None:
        super().begin(rng)
        self._draw = rng
        self._trials = ArmTotals(self.arms)  # the same rows, each reward a trial

    def next_pull(self) -> Pull:
        return self._pulls[int(np.argmax(self._draws()))]

    def _draws(self) -> NDArray[np.float64]:
        """Return a draw of each arm's mean, float64 [arms]; infinity for an arm to be pulled first."""
        if self._has_unit_rewards:
            rows, successes = self._trials.rows, self._trials.totals
            return self._draw.beta(1 + successes, 1 + rows - successes)
        rows = np.maximum(self._arms.rows, 1)
        draws = self._arms.totals / rows
        draws += self.noise_scale / np.sqrt(rows) * self._draw.standard_normal(len(rows))
        return np.where(self._arms.rows > 0, draws, np.inf)

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull:
        with self._arms.counting(under_way), self._trials.counting(under_way):
            return self.next_pull()

    def learn(self, intervention: Intervention, observations: Observations) -> None:
        super().learn(intervention, observations)
        if self._has_unit_rewards:
            trials = self._draw.random(len(observations)) < observations.rewards
            self._trials.add(intervention, trials.astype(np.float64))
