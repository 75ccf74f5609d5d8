"""UCB, MOSS and KL-UCB over single-variable interventions and do(): they ignore causal structure.

An index depends on the rows and rewards of the arms alone. So where rewards are drawn ahead, as a simulation
does, a compiled loop plays until an arm has none left, with the choices that `ask` and `tell` would make.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import PolicyError
from cb_pgm.model.intervention import Pull, States
from cb_pgm.policies.arm_policy import ArmPolicy
from cb_pgm.policies.indices import highest_index, play

__all__ = ["KLUCB", "MOSS", "UCB", "IndexPolicy", "RewardsAhead"]

#: The most rounds of one call, which bounds its memory and how long no progress is shown.
_MOST_ROUNDS = 65_536


@dataclass(frozen=True, eq=False)
class RewardsAhead:
    """The rewards of each arm's next pulls.

    Attributes
    ----------
    rewards
        float64 [arms, m]: those of the arm at position a are rewards[a, begin[a]:end[a]], the next first.
    begin, end
        int64 [arms]; `begin` moves on as rewards are taken.
    """

    rewards: NDArray[np.float64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]


class IndexPolicy(ArmPolicy):
    """Base class of policies that pull the arm of the highest index; O(arms) a round.

    Every arm is pulled once first, and ties are broken in the order of the arms. For rewards in [0, 1] and
    σ = ½ the index may be that for the divergence of Bernoulli distributions.
    """

    #: Whether the level is log⁺(t/(A·n_a)), as of anytime MOSS; else it is log t + c·log log t.
    _of_moss = False
    #: Whether the divergence of Bernoulli distributions is used while all rewards lie in [0, 1].
    _by_divergence = True
    #: c
    log_log_weight = 0.0

    @final
    def next_pull(self) -> Pull:
        return self._pulls[int(highest_index(*self._state()))]

    @final
    def play_ahead(self, ahead: RewardsAhead, rounds: int) -> NDArray[np.int64]:
        """Play until the arm to be pulled has no reward left, but at most `rounds` rounds; learn from them.

        This equals as many calls of `ask` and `tell`.

        Returns
        -------
        NDArray
            int64 [rounds played]: the position of the arm pulled in each of them, among the arms in the order
            in which `ahead` has their rewards. It may be empty.
        """
        arms = self._arms
        chosen = np.empty(min(rounds, _MOST_ROUNDS), dtype=np.int64)
        played, arms.in_unit_interval = play(
            *self._state(), arms.in_unit_interval, ahead.rewards, ahead.begin, ahead.end, chosen
        )
        arms.rounds += played
        self._pending = None
        return chosen[:played]

    def _state(self) -> tuple[object, ...]:
        """Return what the index depends on, as the compiled functions take it."""
        arms, bernoulli = self._arms, self._by_divergence and self._has_unit_rewards
        weight, scale = self.log_log_weight, self.noise_scale
        return self._of_moss, bernoulli, weight, scale, arms.rows, arms.totals, arms.rounds


class UCB(IndexPolicy):
    """Pull the arm with the highest mean + σ√(2 log t / n_a).

    Source: Auer, Cesa-Bianchi & Fischer, "Finite-time analysis of the multiarmed bandit problem" (2002).
    """

    name = "ucb"
    _by_divergence = False


class MOSS(IndexPolicy):
    """Pull the arm with the highest anytime MOSS index.

    It needs no horizon, and its regret is minimax optimal up to a constant. The index is
    mean + σ√(2 log⁺(t/(A·n_a))/n_a) for A arms, or its counterpart for the divergence of Bernoulli
    distributions while all rewards lie in [0, 1] and σ is ½ (`cb_pgm.policies.indices`). Sources: Audibert &
    Bubeck, "Minimax policies for adversarial and stochastic bandits" (2009); Degenne & Perchet, "Anytime
    optimal algorithms in stochastic multi-armed bandits" (2016).
    """

    name = "moss"
    _of_moss = True


class KLUCB(IndexPolicy):
    """Pull the arm with the highest q for which n_a · d(mean, q) ≤ log t + c·log log t.

    d is the divergence of two Bernoulli distributions if the rewards are in [0, 1], binary or not: that is,
    if `noise_scale` is ½, and until a reward outside of [0, 1] is observed. Otherwise d is the divergence of
    two Gaussian distributions of scale σ, (mean − q)²/2σ². The index is then
    mean + σ√(2(log t + c·log log t)/n_a), which is UCB's for c = 0. Source: Garivier & Cappé, "The KL-UCB
    algorithm for bounded stochastic bandits and beyond" (COLT 2011).

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
