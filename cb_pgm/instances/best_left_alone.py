"""Systems in which do() is the best arm: nature sets a variable to what suits the reward's other cause.

Rewards are 0 or 1.
"""

from __future__ import annotations

import numpy as np

from cb_pgm.errors import CausalSystemError
from cb_pgm.instances.copy_model import copy_table
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.model.system import CausalSystem

__all__ = ["hidden_chain", "informed_choice"]

Seed = int | np.random.Generator | None

_BITS = ("0", "1")


def hidden_chain(
    n: int = 4,
    *,
    copy_probability: float = 1.0,
    reward_means: tuple[float, float] = (0.0, 1.0),
    seed: Seed = None,
) -> CausalSystem:
    """Return a chain U → A → … → B → reward ← U, with U hidden: the reward wants B to equal U.

    Parameters
    ----------
    n
        The number of observed variables.
    copy_probability
        The probability with which a variable takes the state of the one before it; otherwise it takes a
        uniform state.
    reward_means
        The reward's mean (m0, m1) where B differs from U and where it doesn't, in [0, 1].
    seed
        The names X1 to Xn are drawn from it.

    Notes
    -----
    U is 0 or 1 with probability .5 each, so every do(X = x) has mean (m0 + m1)/2, and do() has
    m0 + (m1 − m0)(1 + cⁿ)/2: by default .5 and 1. The reward's observed parent is B, and the true graph over
    the observed variables is the chain.

    Examples
    --------
    >>> system = hidden_chain(3)
    >>> sorted(set(system.arm_means().values())), system.best_arm()
    ([0.5], (Intervention({}), 1.0))
    """
    if n < 1:
        raise CausalSystemError(f"Expected at least 1 variable but found n={n}")
    if not 0 <= copy_probability <= 1:
        raise CausalSystemError(f"Expected a copy_probability from 0 to 1 but found {copy_probability}")
    chain = [int(v) for v in np.random.default_rng(seed).permutation(n)]
    above = dict(zip(chain, [n, *chain], strict=False))
    model = DiscreteModel(
        states=dict.fromkeys((*(f"X{v + 1}" for v in range(n)), "U"), _BITS),
        parents=(*((above[v],) for v in range(n)), ()),
        tables=(*[copy_table(2, 1, copy_probability)] * n, copy_table(2, 0, 0.0)),
    )
    low, high = reward_means
    reward = Reward((chain[-1], n), np.array([[high, low], [low, high]]), None)
    return CausalSystem.from_model(model, reward, hidden=("U",))


def informed_choice(n_kinds: int = 3, *, skill: float = 0.9, seed: Seed = None) -> CausalSystem:
    """Return the system Z → X → reward ← Z in which whoever chooses X knows better than any rule for all.

    Z, a patient's kind, is seen and can't be set. Nobody but a doctor chooses the treatment X by it.

    Parameters
    ----------
    n_kinds
        The number K of states of Z and of X.
    skill
        The probability with which X takes Z's state; otherwise it takes a uniform state.
    seed
        The order of Z and X is drawn from it.

    Notes
    -----
    Z is uniform, and the reward's mean is .9 where X equals Z and .1 where it doesn't. So every do(X = x) has
    mean .1 + .8/K, and do() has .1 + .8 (skill + (1 − skill)/K).

    Examples
    --------
    >>> system = informed_choice(2, seed=0)
    >>> {arm: round(mean, 3) for arm, mean in system.arm_means().items()}
    {('X', '0'): 0.5, ('X', '1'): 0.5}
    >>> system.reward_parents, round(system.best_arm()[1], 3)
    (('Z', 'X'), 0.86)
    """
    if n_kinds < 2:
        raise CausalSystemError(f"Expected at least 2 kinds but found n_kinds={n_kinds}")
    if not 0 <= skill <= 1:
        raise CausalSystemError(f"Expected a skill from 0 to 1 but found {skill}: it is a probability")
    kinds = tuple(map(str, range(n_kinds)))
    parents = {"Z": (), "X": ("Z",)}
    order = [("Z", "X")[place] for place in np.random.default_rng(seed).permutation(2)]
    model = DiscreteModel(
        states=dict.fromkeys(order, kinds),
        parents=tuple(tuple(map(order.index, parents[name])) for name in order),
        tables=tuple(copy_table(n_kinds, len(parents[name]), skill) for name in order),
    )
    reward = Reward((0, 1), 0.1 + 0.8 * np.eye(n_kinds), None)
    return CausalSystem.from_model(model, reward, settable={"X": kinds})
