"""How few pulls could name the reward's parent at all: what the rounds can tell, at best.

A pull of arm a tells the true parent's model from the best model in which the reward depends on X_j instead
at the rate of E[(μ(X_R) − f(X_j))² | do(a)] / 2σ² nats. Against all n − 1 other variables at once

    D* = max over mixtures w of the arms, min over j and f of  Σ_a w_a E[(μ(X_R) − f(X_j))² | do(a)] / 2σ²

is the best rate, so a policy that rules each of them out at level δ/n needs about (log n + log 1/δ)/D* pulls:
for Gaussian rewards to first order as δ → 0, elsewhere a yardstick.

References
----------
.. [1] Garivier & Kaufmann (2016), Optimal best arm identification with fixed confidence, COLT, for bounds of
   this form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalSystemError
from cb_pgm.model.discrete_model import Reward
from cb_pgm.model.exact import ExactInference

if TYPE_CHECKING:
    from cb_pgm.model.system import CausalSystem

__all__ = ["information_rate", "least_pulls"]

Array = NDArray[np.float64]

_PRECISION = 1e-3  # relative, of D*
_MOST_ROUNDS = 1000
_CUTS_A_ROUND = 8


def least_pulls(system: CausalSystem, failure_prob: float) -> float:
    """Return (log n + log 1/δ)/D*; infinite where no arm tells the reward's parent from some other variable.

    Raises
    ------
    CausalSystemError
        If the reward has not exactly one parent, there is no arm, or the graph is too dense for exact
        answers.

    Examples
    --------
    >>> from cb_pgm import instances
    >>> 60 < least_pulls(instances.tree(20, seed=0), failure_prob=0.05) < 200
    True
    """
    rate = information_rate(system)
    return math.log(len(system.states) / failure_prob) / rate if rate > 0 else math.inf


def information_rate(system: CausalSystem) -> float:
    """Return D* in nats a pull, to a thousandth of itself; σ is that of the reward given its parent.

    Raises
    ------
    CausalSystemError
        As `least_pulls`.

    Notes
    -----
    Exact moments of (X_R, X_j) under every arm for every j; then the concave maximum by cutting planes, one
    linear programme a round. About a second for trees of 100 variables with 3 states.
    """
    if len(system.reward_parents) != 1:
        raise CausalSystemError(
            f"Expected a reward with one parent but found {len(system.reward_parents)}: the rate is defined "
            f"for one"
        )
    if not system.settable:
        raise CausalSystemError("Expected a variable that can be set but found none: there is no arm")
    if len(system.states) == 1 or system.conditional_noise_scale == 0:
        return math.inf
    value = _max_min(_moments(system))
    return max(value, 0.0) / (2 * system.conditional_noise_scale**2)


@dataclass(frozen=True)
class _Moments:
    """E[1{X_j = x}·μ^k | do(arm)] for k = 0, 1, 2: each [arms, j, states]; 0 beyond a variable's states."""

    shares: Array
    firsts: Array
    seconds: Array


def _moments(system: CausalSystem) -> _Moments:
    model, (parent,) = system.model, system.reward.parents
    exact = ExactInference(model)
    index = model.index
    arms = [
        (index[variable], model.codes[index[variable]][state])
        for variable, states in system.settable.items()
        for state in states
    ]
    others = [v for v in range(len(model.parents)) if v != parent]
    found = np.zeros((3, len(arms), len(others), max(model.cards)))
    for place, other in enumerate(others):
        for state in range(model.cards[other]):
            indicator = np.zeros(model.cards[other])
            indicator[state] = 1.0
            for power in range(3):
                means = np.multiply.outer(system.reward.means**power, indicator)
                ordered = means if parent < other else means.T
                reward = Reward((min(parent, other), max(parent, other)), ordered, 1.0)
                observed, by_arm = exact.arm_means(reward)
                found[power, :, place, state] = [
                    by_arm[v][code] if v in by_arm else observed for v, code in arms
                ]
    return _Moments(*found)


def _max_min(moments: _Moments) -> float:
    """Return max over w of min over j of the variance of μ left when X_j is known, under the mixture w."""
    from scipy.optimize import linprog

    n_arms = len(moments.shares)
    weights = np.full(n_arms, 1 / n_arms)
    # Where a state doesn't occur under w any f is best; a cut holds for every f, so take the even mixture's.
    fallback = _best_fit(moments, weights, np.zeros(moments.shares.shape[1:]))
    cuts: list[Array] = []
    lowest, highest = 0.0, math.inf
    for _ in range(_MOST_ROUNDS):
        fits = _best_fit(moments, weights, fallback)
        residuals = (moments.seconds - 2 * fits * moments.firsts + fits**2 * moments.shares).sum(
            axis=2
        )  # [arms, j]
        left = weights @ residuals
        lowest = max(lowest, float(left.min()))
        if lowest >= (1 - _PRECISION) * highest:
            break
        cuts += [residuals[:, j] for j in np.argsort(left, kind="stable")[:_CUTS_A_ROUND]]
        # Maximise t over (w, t) with t ≤ every cut's Σ_a w_a · residual_a.
        solved = linprog(
            c=[*np.zeros(n_arms), -1.0],
            A_ub=np.column_stack([-np.array(cuts), np.ones(len(cuts))]),
            b_ub=np.zeros(len(cuts)),
            A_eq=[[*np.ones(n_arms), 0.0]],
            b_eq=[1.0],
            bounds=[(0, 1)] * n_arms + [(None, None)],
        )
        if solved.x is None or solved.fun is None:
            raise CausalSystemError(f"Expected a best mixture of arms but the solver says: {solved.message}")
        weights = np.clip(solved.x[:-1], 0, None)
        weights /= weights.sum()
        highest = float(-solved.fun)
        if highest <= 1e-12:
            return 0.0
    return lowest


def _best_fit(moments: _Moments, weights: Array, fallback: Array) -> Array:
    """Return E[μ | X_j = x] under the mixture [j, states]; `fallback` where x doesn't occur."""
    share = np.tensordot(weights, moments.shares, 1)
    first = np.tensordot(weights, moments.firsts, 1)
    occurs = share > 1e-12
    return np.where(occurs, first / np.where(occurs, share, 1.0), fallback)
