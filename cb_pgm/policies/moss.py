"""Anytime MOSS over single-variable interventions; ignores causal structure."""

from __future__ import annotations

from cb_pgm.model.intervention import Pull
from cb_pgm.policies.arm_policy import ArmPolicy
from cb_pgm.policies.index_play import IndexRule

__all__ = ["MOSS"]


class MOSS(ArmPolicy):
    """Pull the arm with the highest anytime MOSS index; O(arms) a round.

    It needs no horizon, and its regret is minimax optimal up to a constant. The index is
    mean + σ√(2 log⁺(t/(A·n_a))/n_a) for A arms, or its counterpart for the divergence of Bernoulli
    distributions while all rewards lie in [0, 1] and σ is ½ (`cb_pgm.policies.indices`). Sources: Audibert &
    Bubeck, "Minimax policies for adversarial and stochastic bandits" (2009); Degenne & Perchet, "Anytime
    optimal algorithms in stochastic multi-armed bandits" (2016).
    """

    name = "moss"
    index_rule = IndexRule.MOSS

    def _next_pull(self) -> Pull:
        return self._pulls[self._arms.highest_moss(self.noise_scale)]
