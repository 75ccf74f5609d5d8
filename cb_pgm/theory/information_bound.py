"""The fewest pulls that can identify the reward's parent: a proven lower bound and a yardstick.

A pull of arm a separates the true model from the best model in which the reward depends on X_j instead, at a
rate of E[(μ(X_R) − f(X_j))² | do(a)] / 2σ² nats. Against all n − 1 other variables at once the best rate is::

    D* = max over mixtures w of the arms, min over j and f of  Σ_a w_a E[(μ(X_R) − f(X_j))² | do(a)] / 2σ²

Two numbers of pulls follow from it.

* *Proven*: with Gaussian rewards, every policy that identifies the parent with probability at least 1 − δ, in
  this system and in those where another variable is the parent, needs at least kl(δ, 1−δ)/D* pulls in
  expectation ([1]_). Here kl(p, q) = p·log(p/q) + (1−p)·log((1−p)/(1−q)). `proven_least_pulls` returns it.
* *Yardstick*: a policy that rules out each of the n − 1 variables at level δ/n needs about
  (log n + log 1/δ)/D* pulls. This isn't a lower bound: nothing proves that a policy has to pay for log n.
  `least_pulls` returns it.

References
----------
.. [1] Garivier & Kaufmann (2016), Optimal best arm identification with fixed confidence, COLT: Theorem 1 and
   its proof, of which this is the form for the reward's parent.
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

__all__ = ["information_rate", "least_pulls", "proven_least_pulls"]

Array = NDArray[np.float64]

_PRECISION = 1e-3  # relative, of D*
_MOST_ROUNDS = 1000
_CUTS_A_ROUND = 8


def least_pulls(system: CausalSystem, failure_prob: float) -> float:
    """Return (log n + log 1/δ)/D*, a yardstick for the pulls until the reward's parent is identified.

    It isn't a lower bound; `proven_least_pulls` is.

    Parameters
    ----------
    system
        A system whose reward has one parent.
    failure_prob
        δ, the probability with which a policy may identify a wrong variable.

    Returns
    -------
    float
        Infinity if no mixture of arms separates the reward's parent from some other variable.

    Raises
    ------
    CausalSystemError
        If the reward doesn't have exactly one parent, if no variable can be set, or if the graph is too dense
        for exact inference.

    Examples
    --------
    >>> from cb_pgm import instances
    >>> 60 < least_pulls(instances.tree(20, seed=0), failure_prob=0.05) < 200
    True
    """
    return _pulls(math.log(len(system.states) / failure_prob), system)


def proven_least_pulls(system: CausalSystem, failure_prob: float) -> float:
    """Return kl(δ, 1−δ)/D*, a lower bound on the expected pulls of every policy that is correct at level δ.

    Parameters
    ----------
    system, failure_prob
        As in `least_pulls`; the bound is proven for Gaussian rewards and δ ≤ ½.

    Returns
    -------
    float
        Infinity if no mixture of arms separates the reward's parent from some other variable.

    Raises
    ------
    CausalSystemError
        As in `least_pulls`, or if δ is not in (0, ½].

    Examples
    --------
    >>> from cb_pgm import instances
    >>> system = instances.tree(20, seed=0)
    >>> proven_least_pulls(system, failure_prob=0.05) < least_pulls(system, failure_prob=0.05)
    True
    """
    if not 0 < failure_prob <= 0.5:
        raise CausalSystemError(f"Expected a failure_prob above 0 and at most 0.5 but found {failure_prob}")
    # kl(δ, 1−δ) simplifies to this by the symmetry of its two terms.
    divergence = (1 - 2 * failure_prob) * math.log((1 - failure_prob) / failure_prob)
    return _pulls(divergence, system)


def _pulls(nats: float, system: CausalSystem) -> float:
    rate = information_rate(system)
    return nats / rate if rate > 0 else math.inf


def information_rate(system: CausalSystem) -> float:
    """Return D* in nats per pull, to a relative precision of 0.001.

    σ is the noise scale of the reward given its parent.

    Returns
    -------
    float
        Infinity if the parent is known after one pull: if the reward has no noise or there is one variable.

    Raises
    ------
    CausalSystemError
        As in `least_pulls`.

    Notes
    -----
    The moments of (X_R, X_j) under every arm are computed exactly for every j. The concave maximum is then
    found by cutting planes, with one linear programme per round. It takes about a second for trees of 100
    variables with 3 states.
    """
    if len(system.reward_parents) != 1:
        raise CausalSystemError(
            f"Expected a reward with one parent but found {len(system.reward_parents)}: the rate is defined "
            f"for a single parent"
        )
    if not system.settable:
        raise CausalSystemError(
            "Expected a variable that can be set but found none: there is no arm, so settable must name one"
        )
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
    """Return max over w of min over j of the variance of μ that remains given X_j, under the mixture w."""
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
            raise CausalSystemError(
                f"Expected a best mixture of arms but the solver failed: {solved.message}"
            )
        weights = np.clip(solved.x[:-1], 0, None)
        weights /= weights.sum()
        highest = float(-solved.fun)
        if highest <= 1e-12:
            return 0.0
    return lowest


def _best_fit(moments: _Moments, weights: Array, fallback: Array) -> Array:
    """Return E[μ | X_j = x] under the mixture, as [j, states]; `fallback` where x doesn't occur."""
    share = np.tensordot(weights, moments.shares, 1)
    first = np.tensordot(weights, moments.firsts, 1)
    occurs = share > 1e-12
    return np.where(occurs, first / np.where(occurs, share, 1.0), fallback)
