"""The families of the paper's lower bounds: without Assumption 2 or 3 no policy improves on UCB.

A family has nK + 1 instances. In each of them every variable has the state 0 unless it is set. One arm has
mean Δ (none in instance 0), all others have mean 0, and no other arm gives any information about it.

References
----------
.. [1] Lu, Meisami & Tewari (2021), Causal bandits with unknown graph structure, NeurIPS: Theorems 4 and 5 and
   their proofs.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalSystemError
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.model.system import CausalSystem

__all__ = ["lower_bound_effect_gap", "lower_bound_reward_gap"]


def lower_bound_effect_gap(
    n: int,
    n_states: int,
    instance: int | None = None,
    *,
    horizon: int | None = None,
    reward_gap: float | None = None,
    seed: int | np.random.Generator | None = None,
) -> CausalSystem:
    """Return an instance of Theorem 4's family [1]_: no variable moves another, so Assumption 2 fails.

    Parameters
    ----------
    n, n_states
        The number of variables, and K. Variables have the states 0 to K, of which 1 to K can be set.
    instance
        From 0 to nK: in instance (j−1)K + k the arm do(Xj = k) has mean Δ. None: one of 1 to nK, drawn from
        `seed`.
    horizon
        T in rounds. Δ is then ¼ sqrt(nK/T), for which any policy loses at least ⅛ sqrt(nKT) in T rounds in
        some instance.
    reward_gap
        Δ itself, in place of `horizon`.
    seed
        Used where `instance` is None.

    Raises
    ------
    CausalSystemError
        If the instance is out of range, or not exactly one of `horizon` and `reward_gap` is given.

    Notes
    -----
    The reward's parent Xj is the source of the chain Xj → X1 → ... (skipping Xj) → Xn, which for j = n is
    printed the other way round: Xn → ... → X1. Rewards have Gaussian noise of 1.
    """
    j, k = _best_arm(n, n_states, instance, seed)
    order = list(range(n, 0, -1)) if j == n > 1 else [j, *(i for i in range(1, n + 1) if i != j)]
    table = np.zeros((n_states + 1, n_states + 1))
    table[:, 0] = 1.0
    means = np.zeros(n_states + 1)
    means[k] = _gap(n * n_states, horizon, reward_gap) if k else 0.0
    return _chain(order, table, j, means, n_states)


def lower_bound_reward_gap(
    n: int,
    n_states: int,
    instance: int | None = None,
    *,
    horizon: int | None = None,
    reward_gap: float | None = None,
    seed: int | np.random.Generator | None = None,
) -> CausalSystem:
    """Return an instance of Theorem 5's family [1]_: Assumption 2 holds, no ancestor of Xj moves the reward.

    Parameters
    ----------
    n, n_states
        The number of variables, and K. Variables have the states 0 to K+1, of which 2 to K+1 can be set.
    instance
        From 0 to nK: in instance (j−1)K + k the arm do(Xj = k+1) has mean Δ. None: one of 1 to nK, drawn from
        `seed`.
    horizon, reward_gap, seed
        As in `lower_bound_effect_gap`.

    Raises
    ------
    CausalSystemError
        If the instance is out of range, or not exactly one of `horizon` and `reward_gap` is given.

    Notes
    -----
    The reward's parent Xj is the end of the chain X(j−1) → ... → X1 → Xn → ... → Xj. A variable takes its
    parent's state when that is 0 or 1. Where the parent is set to 2 or more the paper requires only that the
    variable is below 2. Here it is 0, so that the rows of all arms but the best look the same.
    """
    j, k = _best_arm(n, n_states, instance, seed)
    order = [*range(j - 1, 0, -1), *range(n, j - 1, -1)]
    table = np.zeros((n_states + 2, n_states + 2))
    table[:, 0] = 1.0
    table[1, :2] = 0.0, 1.0
    means = np.zeros(n_states + 2)
    means[k + 1] = _gap(n * n_states, horizon, reward_gap) if k else 0.0
    return _chain(order, table, j, means, n_states)


def _best_arm(
    n: int, n_states: int, instance: int | None, seed: int | np.random.Generator | None
) -> tuple[int, int]:
    """Return j and k of the instance; (1, 0) for instance 0, which has no best arm."""
    if n < 1 or n_states < 1:
        raise CausalSystemError(f"Expected n and n_states of at least 1 but found n={n}, n_states={n_states}")
    if instance is None:
        instance = int(np.random.default_rng(seed).integers(1, n * n_states + 1))
    if not 0 <= instance <= n * n_states:
        raise CausalSystemError(f"Expected an instance from 0 to nK = {n * n_states} but found {instance}")
    return ((instance - 1) // n_states + 1, (instance - 1) % n_states + 1) if instance else (1, 0)


def _gap(n_arms: int, horizon: int | None, reward_gap: float | None) -> float:
    if (horizon is None) == (reward_gap is None):
        raise CausalSystemError("Expected one of horizon and reward_gap but found both or neither: give one")
    if reward_gap is not None:
        return reward_gap
    if horizon is None or horizon < 1:
        raise CausalSystemError(f"Expected a horizon of at least 1 but found {horizon}")
    return math.sqrt(n_arms / horizon) / 4


def _chain(
    order: list[int], table: NDArray[np.float64], j: int, means: NDArray[np.float64], n_settable: int
) -> CausalSystem:
    """Return the system on the chain of `order` whose reward has `means` by the state of Xj."""
    parents: list[tuple[int, ...]] = [()] * len(order)
    for above, below in pairwise(order):
        parents[below - 1] = (above - 1,)
    states = tuple(map(str, range(len(table))))
    model = DiscreteModel(
        states=dict.fromkeys((f"X{i + 1}" for i in range(len(order))), states),
        parents=tuple(parents),
        tables=tuple(table if above else table[0] for above in parents),
    )
    settable = dict.fromkeys(model.states, states[-n_settable:])
    return CausalSystem.from_model(model, Reward((j - 1,), means, 1.0), settable=settable)
