"""KL-UCB over single-variable interventions; ignores causal structure.

Source: Garivier & Cappé, "The KL-UCB algorithm for bounded stochastic bandits and beyond" (COLT 2011).
"""

from __future__ import annotations

import math

from cb_pgm.errors import PolicyError
from cb_pgm.model.intervention import Pull, States
from cb_pgm.policies.arm_policy import ArmPolicy
from cb_pgm.policies.arms import UNIT_INTERVAL_SCALE
from cb_pgm.policies.index_play import IndexRule
from cb_pgm.policies.indices import highest_bernoulli_bound, highest_gaussian_bound

__all__ = ["KLUCB"]


class KLUCB(ArmPolicy):
    """Pull the arm with the highest q for which n_a · d(mean, q) ≤ log t + c·log log t.

    d is the divergence of two Bernoulli distributions if the rewards are in [0, 1], binary or not: that is,
    if `noise_scale` is ½, and until a reward outside of [0, 1] is observed. Otherwise d is the divergence of
    two Gaussian distributions of scale σ, (mean − q)²/2σ². The index is then
    mean + σ√(2(log t + c·log log t)/n_a), which is UCB's for c = 0.

    Parameters
    ----------
    states, noise_scale, settable
        As in `Policy`.
    log_log_weight
        c ≥ 0. The paper proves its regret bound for c = 3; it recommends c = 0 and uses it in experiments.

    Raises
    ------
    PolicyError
        If `log_log_weight` is negative or not finite.

    Notes
    -----
    Every arm is pulled once first, and ties are broken in variable order, as in `UCB`. A round takes O(arms):
    one divergence shows whether an arm's bound exceeds the highest so far, and only then is it computed.
    """

    name = "kl-ucb"
    index_rule = IndexRule.KL_UCB

    def __init__(
        self,
        states: States,
        *,
        noise_scale: float = 1.0,
        log_log_weight: float = 0.0,
        settable: States | None = None,
    ) -> None:
        super().__init__(states, noise_scale=noise_scale, settable=settable)
        if not (math.isfinite(log_log_weight) and log_log_weight >= 0):
            raise PolicyError(f"Expected a log_log_weight of at least 0 but found {log_log_weight}")
        self.log_log_weight = float(log_log_weight)

    def _next_pull(self) -> Pull:
        arms = self._arms
        log_rounds = math.log(max(arms.rounds, 1))
        level = log_rounds + self.log_log_weight * math.log(max(log_rounds, 1.0))
        if arms.in_unit_interval and self.noise_scale == UNIT_INTERVAL_SCALE:
            highest = highest_bernoulli_bound(arms.rows, arms.totals, level)
        else:
            highest = highest_gaussian_bound(arms.rows, arms.totals, level, self.noise_scale)
        return self._pulls[int(highest)]
