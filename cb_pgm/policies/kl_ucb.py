"""KL-UCB over all single-variable arms: upper confidence bounds of the right shape for the rewards.

Source: Garivier & Cappé, "The KL-UCB algorithm for bounded stochastic bandits and beyond" (COLT 2011).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cb_pgm.errors import PolicyError
from cb_pgm.model.intervention import Intervention, Observations, Pull, States
from cb_pgm.policies.arm_policy import ArmPolicy

__all__ = ["KLUCB"]

_UNIT_INTERVAL_SCALE = 0.5  # σ of rewards in [0, 1], and of no other interval
_HALVINGS = 40  # of an interval of length 1 at most: to about 1e-12


class KLUCB(ArmPolicy):
    """Pull the arm with the highest q for which n_a · d(mean, q) ≤ log t + c·log log t.

    d is the divergence of two Bernoulli distributions when the rewards are in [0, 1], binary or not: that is
    when `noise_scale` is ½ and until a reward outside of [0, 1] is seen. Otherwise d is the divergence of two
    Gaussians of scale σ, (mean − q)²/2σ²; the index is then mean + σ√(2(log t + c·log log t)/n_a), which for
    c = 0 is UCB's.

    Parameters
    ----------
    states, noise_scale, settable
        As in `Policy`.
    log_log_weight
        c. The paper's regret bound has c = 3; it recommends, and measures with, c = 0.

    Notes
    -----
    Every arm once first, ties in variable order, as in `UCB`. O(arms) a round: a bound is only computed for
    an arm that is found to exceed the highest so far, which takes one divergence.
    """

    name = "kl-ucb"

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

    def _begin(self, rng: np.random.Generator) -> None:
        super()._begin(rng)
        self._bernoulli = self.noise_scale == _UNIT_INTERVAL_SCALE

    def _next_pull(self) -> Pull:
        arms = self._arms
        log_rounds = math.log(max(arms.rounds, 1))
        level = log_rounds + self.log_log_weight * math.log(max(log_rounds, 1.0))
        if self._bernoulli:
            highest = _highest_bernoulli_bound(arms.rows, arms.totals, level)
        else:
            highest = _highest_gaussian_bound(arms.rows, arms.totals, level, self.noise_scale)
        return self._pulls[int(highest)]

    def _learn(self, intervention: Intervention, observations: Observations) -> None:
        rewards = observations.rewards
        if self._bernoulli and len(rewards) and not (rewards.min() >= 0 and rewards.max() <= 1):
            self._bernoulli = False
        super()._learn(intervention, observations)


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba carries no types
def _highest_gaussian_bound(
    rows: NDArray[np.int64], totals: NDArray[np.float64], level: float, noise_scale: float
) -> int:
    width = noise_scale * math.sqrt(2.0 * level)
    best, best_bound = 0, -np.inf
    for arm in range(len(rows)):
        if rows[arm] == 0:
            return arm
        bound = totals[arm] / rows[arm] + width / math.sqrt(rows[arm])
        if bound > best_bound:
            best, best_bound = arm, bound
    return best


@njit(cache=True)  # type: ignore[untyped-decorator]
def _highest_bernoulli_bound(rows: NDArray[np.int64], totals: NDArray[np.float64], level: float) -> int:
    best, best_bound = 0, -1.0
    for arm in range(len(rows)):
        if rows[arm] == 0:
            return arm
        mean = min(totals[arm] / rows[arm], 1.0)
        # The bound lies above `best_bound` iff that one is still within reach, so most need no solving.
        if mean > best_bound or rows[arm] * _divergence(mean, best_bound) < level:
            bound = _bernoulli_bound(mean, level / rows[arm])
            if bound > best_bound:
                best, best_bound = arm, bound
    return best


@njit(cache=True)  # type: ignore[untyped-decorator]
def _bernoulli_bound(mean: float, most: float) -> float:
    """Return the highest q with divergence(mean, q) ≤ most; the divergence grows with q above the mean."""
    low, high = mean, min(1.0, mean + math.sqrt(most / 2.0))  # Pinsker: d(p, q) ≥ 2(p − q)²
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if _divergence(mean, middle) <= most:
            low = middle
        else:
            high = middle
    return low


@njit(cache=True)  # type: ignore[untyped-decorator]
def _divergence(p: float, q: float) -> float:
    """Return the divergence of Bernoulli(q) from Bernoulli(p), 0·log 0 being 0."""
    divergence = 0.0
    if p > 0.0:
        divergence += p * math.log(p / q) if q > 0.0 else np.inf
    if p < 1.0:
        divergence += (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) if q < 1.0 else np.inf
    return divergence
