"""What no policy can do without, even one that knows the graph: regret, and pulls to identify the parent.

The reward has one parent X_R, all states of which can be set; μ_x is its mean at state x, μ* the highest
mean, Δ_x = μ* − μ_x, and KL_x(m) the divergence of the rewards at x from those that would have mean m there.

* *As T grows* ([1]_). A policy whose regret is sublinear in every system loses at least c(ν)·log T with

      c(ν) = Σ_{x ≠ x*} Δ_x / KL_x(μ*),        2σ²/Δ_x a state for Gaussian rewards.

  It has to see state x log T/KL_x(μ*) times, lest x be the best one. A round under any arm costs
  Σ_x P(X_R = x)·Δ_x, so rows seen cost what rows set do. What isn't X_R needn't be tried at all where each of
  its states occurs under the best arm: were it the parent, its means would have to be all equal. So c(ν)
  doesn't grow with the number of variables, and it is that of an oracle that knows X_R. Without structure the
  sum is over all arms (`structure=False`).

* *At a horizon*. Let R be the largest expected regret of a policy in this system and in those in which one
  state x has the mean μ* + g instead. Whether the best arm has more than half of the T rounds tells the two
  apart: with Δ the smallest Δ_x, it does but with probability 2R/(TΔ) here and with at most 2R/(Tg) there. By
  the data-processing inequality ([2]_)

      E[rows with x] · KL_x(μ* + g) ≥ kl(1 − 2R/(TΔ), 2R/(Tg)),

  where kl(p, q) = p log p/q + (1−p) log (1−p)/(1−q), and R ≥ Σ_x Δ_x·E[rows with x]. With the g of each x
  that makes this largest, R is at least the fixed point.

* *To identify X_R* ([3]_). If any of n variables may be X_R with the same means, a pull tells at most C nats,
  the capacity of the channel from mean to reward: at most ½ log(1 + (range/2σ)²) for Gaussian rewards. Naming
  the right one with probability 1 − δ needs at least ((1−δ) log n − log 2)/C pulls.

References
----------
.. [1] Graves & Lai (1997), Asymptotically efficient adaptive choice of control laws in controlled Markov
   chains, SIAM Journal on Control and Optimization 35: Theorem 1. For independent arms Lai & Robbins (1985).
.. [2] Garivier, Ménard & Stoltz (2019), Explore first, exploit next: the true shape of regret in bandit
   problems, Mathematics of Operations Research 44: inequality (6).
.. [3] Cover & Thomas (2006), Elements of information theory: Theorem 2.10.1 (Fano), Section 9.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalBanditError, CausalSystemError

if TYPE_CHECKING:
    from cb_pgm.model.system import CausalSystem

__all__ = ["graves_lai_constant", "naming_floor", "regret_floor"]

Array = NDArray[np.float64]

_TIE = 1e-12
_GAINS = 400  # values of g, evenly spaced by their logarithm, of which the best is taken


def graves_lai_constant(system: CausalSystem, *, structure: bool = True) -> float:
    """Return c(ν), the factor of log T in the least regret of policies that are good in every system.

    Parameters
    ----------
    system
        A system whose reward has one parent, and no hidden one.
    structure
        Whether the arms have the parent in common. Otherwise the sum is over do() and all single-variable
        arms, each as noisy as the reward given its parent.

    Raises
    ------
    CausalSystemError
        If the reward doesn't have exactly one parent, has a hidden one, or a state of it can't be set.

    Examples
    --------
    >>> from cb_pgm import instances
    >>> [round(graves_lai_constant(instances.tree(n, seed=0)), 6) for n in (10, 100)]
    [7.5, 7.5]
    """
    means, scale = _reward_of(system)
    if not structure:
        means = np.array([system.mean_reward(), *system.arm_means().values()])
    best = float(means.max())
    worse = means[best - means > _TIE]
    return float(sum((best - mean) / _divergence(scale)(mean, best) for mean in worse.tolist()))


def regret_floor(system: CausalSystem, horizon: int) -> float:
    """Return the regret that no policy avoids both here and where another state of the parent is the best.

    It holds for policies that know everything but the means, and start without rows.

    Parameters
    ----------
    system
        As in `graves_lai_constant`.
    horizon
        T, in rounds.

    Raises
    ------
    CausalSystemError
        As in `graves_lai_constant`.
    CausalBanditError
        If the horizon is less than 1.

    Examples
    --------
    >>> from cb_pgm import instances
    >>> system = instances.tree(100, seed=0)
    >>> [round(regret_floor(system, horizon)) for horizon in (10_000, 100_000, 1_000_000)]
    [17, 28, 40]
    """
    from scipy.optimize import brentq

    if horizon < 1:
        raise CausalBanditError(f"Expected a horizon of at least 1 but found {horizon}")
    means, scale = _reward_of(system)
    best = float(means.max())
    worse = means[best - means > _TIE]
    if len(worse) == 0:
        return 0.0
    smallest, range_ = best - float(worse.max()), best - float(worse.min())
    most = range_ if scale is not None else min(range_, 1 - best)
    if most <= 0:
        return 0.0  # a mean of 1 can't be exceeded
    gains = np.geomspace(1e-3 * most, most, _GAINS)
    divergence = _divergence(scale)
    # What a row with each state costs, by what it tells of each g: float64 [states, g].
    costs = np.array(
        [[(best - mean) / divergence(mean, best + g) for g in gains.tolist()] for mean in worse.tolist()]
    )

    def excess(regret: float) -> float:
        here, there = 1 - 2 * regret / (horizon * smallest), 2 * regret / (horizon * gains)
        nats = np.array([_kl(here, q) if q < here else 0.0 for q in there.tolist()])
        return float((costs * nats).max(axis=1).sum()) - regret

    largest = horizon * smallest / 2
    return float(brentq(excess, 1e-18 * largest, largest))


def naming_floor(
    n: int, failure_prob: float, lowest: float, highest: float, noise_scale: float | None
) -> float:
    """Return the least pulls with which every policy may name the reward's parent at level δ, by Fano.

    Parameters
    ----------
    n
        The number of variables that may be the parent.
    failure_prob
        δ, the probability with which a wrong one may be named, on average over which is the parent.
    lowest, highest
        The range of the reward's mean.
    noise_scale
        σ of its Gaussian noise; None: the reward is 0 or 1.

    Raises
    ------
    CausalBanditError
        If n is less than 1, δ is not inside (0, 1), the range is empty, or σ is negative.

    Examples
    --------
    >>> [round(naming_floor(n, 0.05, 0.1, 0.9, 1.0)) for n in (10, 100, 1000)]
    [20, 50, 79]
    """
    if n < 1 or not 0 < failure_prob < 1 or not lowest <= highest or (noise_scale or 0.0) < 0:
        raise CausalBanditError(
            f"Expected n of at least 1, a failure_prob inside (0, 1), means in order and no negative σ but "
            f"found {n}, {failure_prob}, {lowest} to {highest} and {noise_scale}"
        )
    nats = (1 - failure_prob) * math.log(n) - math.log(2)
    capacity = _capacity(lowest, highest, noise_scale)
    if nats <= 0:
        return 0.0
    return nats / capacity if capacity > 0 else math.inf


def _reward_of(system: CausalSystem) -> tuple[Array, float | None]:
    """Return the reward's mean at each state of its parent, and its σ; None if it is 0 or 1."""
    if len(system.reward_parents) != 1 or system.hidden_reward_parents:
        parents = (*system.reward_parents, *system.hidden_reward_parents)
        raise CausalSystemError(f"Expected a reward with one observed parent but found {len(parents)} causes")
    (parent,) = system.reward_parents
    if len(system.settable.get(parent, ())) != len(system.states[parent]):
        raise CausalSystemError(f"Expected all states of {parent!r} settable but found some that aren't")
    return system.reward.means, system.reward.noise


def _divergence(scale: float | None) -> Callable[[float, float], float]:
    """Return the divergence of rewards of one mean from those of another, in nats."""
    if scale is None:
        return _kl
    return lambda mean, other: (other - mean) ** 2 / (2 * scale**2) if scale > 0 else math.inf


def _kl(p: float, q: float) -> float:
    """Return KL(Bernoulli(p) ‖ Bernoulli(q)), with 0·log 0 = 0."""
    first = 0.0 if p <= 0 else math.inf if q <= 0 else p * math.log(p / q)
    second = 0.0 if p >= 1 else math.inf if q >= 1 else (1 - p) * math.log((1 - p) / (1 - q))
    return first + second


def _capacity(lowest: float, highest: float, scale: float | None) -> float:
    """Return the most that a reward tells of its mean, or a bound on it, in nats."""
    if scale is not None:
        return 0.5 * math.log1p(((highest - lowest) / (2 * scale)) ** 2) if scale > 0 else math.inf
    from scipy.optimize import minimize_scalar

    # The divergence is convex in the mean, so that the extreme means alone tell most.
    def less_told(share: float) -> float:
        mean = share * highest + (1 - share) * lowest
        return -share * _kl(highest, mean) - (1 - share) * _kl(lowest, mean)

    return -float(minimize_scalar(less_told, bounds=(0, 1), method="bounded").fun)
