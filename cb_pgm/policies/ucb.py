"""UCB over single-variable interventions; ignores causal structure."""

from __future__ import annotations

from cb_pgm.model.intervention import Pull
from cb_pgm.policies.arm_policy import ArmPolicy
from cb_pgm.policies.index_play import IndexRule

__all__ = ["UCB"]


class UCB(ArmPolicy):
    """Pull the arm with the highest upper confidence bound; O(arms) a round.

    The index is mean + σ√(2 log t / n_a) (`ArmTotals`). Source: Auer, Cesa-Bianchi & Fischer,
    "Finite-time analysis of the multiarmed bandit problem" (2002).
    """

    name = "ucb"
    index_rule = IndexRule.UCB

    def _next_pull(self) -> Pull:
        return self._pulls[self._arms.highest_bound(self.noise_scale)]
