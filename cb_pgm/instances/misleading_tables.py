"""Systems of which a table of observations says the opposite of what setting a variable does.

Rewards are 0 or 1. The order of the variables is drawn from `seed`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalSystemError
from cb_pgm.instances.copy_model import copy_table
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.model.intervention import Observations
from cb_pgm.model.system import CausalSystem

__all__ = ["indication", "selected_rows", "selection", "simpson"]

Seed = int | np.random.Generator | None

_BITS = ("0", "1")
_DOSES = ("none", "low", "high")
_COIN = np.array([0.5, 0.5])


def indication(n_others: int = 4, *, seed: Seed = None) -> CausalSystem:
    """Return a system in which a hidden illness gives the best dose to those who will fare worst.

    Parameters
    ----------
    n_others
        The number of further variables: fair coins that move nothing.
    seed
        The order of the variables is drawn from it.

    Notes
    -----
    Half of the patients are ill, which is hidden. The well get no dose in .8 of the cases, the ill a high
    one, and each of the other two doses in .1. The reward's mean is .7, .8, .9 at no, a low and a high dose
    for the well, and .1, .2, .3 for the ill. So do(dose) has means .4, .5, .6, whereas the rows seen under
    do() have means .633, .5, .367, and do() has .5.

    Examples
    --------
    >>> {arm: round(mean, 3) for arm, mean in indication(0).arm_means().items()}
    {('dose', 'none'): 0.4, ('dose', 'low'): 0.5, ('dose', 'high'): 0.6}
    """
    given = np.array([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]])
    return _system(
        {"dose": _DOSES, "ill": _BITS} | _coins(n_others),
        {"dose": (("ill",), given)},
        (("ill", "dose"), np.array([[0.7, 0.8, 0.9], [0.1, 0.2, 0.3]])),
        hidden="ill",
        seed=seed,
    )


def simpson(*, seed: Seed = None) -> CausalSystem:
    """Return Simpson's paradox: a treatment that is better for all and looks worse, as the severe get it.

    Parameters
    ----------
    seed
        The order of the two observed variables is drawn from it.

    Notes
    -----
    Severity is hidden; `size` shows it in .9 of the cases, and moves nothing but the choice of the treatment:
    B in .8 of the cases of large ones, A in .8 of the others. The reward's mean is .7 and .85 under A and B
    for mild cases, .15 and .3 for severe ones. So do(treatment) has means .425 and .575, and setting the size
    only changes who gets B: .455 and .545 at small and large. The rows seen under do() have means of .557
    under A, .443 under B, and of .675 and .325 at small and large size.

    Examples
    --------
    >>> {arm: round(mean, 3) for arm, mean in sorted(simpson().arm_means().items())}
    {('size', 'large'): 0.545, ('size', 'small'): 0.455, ('treatment', 'A'): 0.425, ('treatment', 'B'): 0.575}
    """
    return _system(
        {"size": ("small", "large"), "treatment": ("A", "B"), "severe": _BITS},
        {
            "size": (("severe",), copy_table(2, 1, 0.8)),
            "treatment": (("size",), copy_table(2, 1, 0.6)),
        },
        (("severe", "treatment"), np.array([[0.7, 0.85], [0.15, 0.3]])),
        hidden="severe",
        seed=seed,
    )


def selection(n_others: int = 4, *, seed: Seed = None) -> CausalSystem:
    """Return a system of coins of which one, A, moves the reward; `selected_rows` make B look like the cause.

    Parameters
    ----------
    n_others
        The number of variables besides A and B. Like B they move nothing.
    seed
        The order of the variables is drawn from it.

    Notes
    -----
    The reward's mean is .35 and .65 at the two states of A, and .5 under any other arm.

    Examples
    --------
    >>> system = selection(0, seed=0)
    >>> {arm: round(mean, 3) for arm, mean in sorted(system.arm_means().items())}
    {('A', '0'): 0.35, ('A', '1'): 0.65, ('B', '0'): 0.5, ('B', '1'): 0.5}
    >>> rows = selected_rows(system, 5000, np.random.default_rng(0), variable="B")
    >>> by_b = rows.codes[:, list(system.states).index("B")]
    >>> [round(float(rows.rewards[by_b == code].mean()), 1) for code in (0, 1)]
    [0.2, 0.8]
    """
    return _system(
        {"A": _BITS, "B": _BITS} | _coins(n_others),
        {},
        (("A",), np.array([0.35, 0.65])),
        hidden="",
        seed=seed,
    )


def selected_rows(
    system: CausalSystem, size: int, rng: np.random.Generator, *, variable: str = "B", kept: float = 0.25
) -> Observations:
    """Return rows of a system under do() that were selected by a variable and the reward.

    Parameters
    ----------
    system
        The system, with rewards of 0 and 1.
    size
        The number of rows returned.
    rng
        Draws the rows and which are kept.
    variable
        The variable. A row is kept where its state is the last one and the reward is 1, or neither is so.
    kept
        The probability with which any other row is kept.

    Raises
    ------
    CausalSystemError
        If the variable is unknown, or `kept` is no probability above 0.
    """
    if variable not in system.states or not 0 < kept <= 1:
        raise CausalSystemError(
            f"Expected an observed variable and a probability above 0 but found {variable!r} and {kept}"
        )
    column, last = list(system.states).index(variable), len(system.states[variable]) - 1
    parts, left = [], size
    while left > 0:
        rows = system.sample({}, left, rng)
        agrees = (rows.codes[:, column] == last) == (rows.rewards == 1)
        chosen = agrees | (rng.random(left) < kept)
        parts.append(Observations(rows.codes[chosen], rows.rewards[chosen]))
        left -= int(chosen.sum())
    codes, rewards = ([getattr(part, name) for part in parts] for name in ("codes", "rewards"))
    return Observations(np.concatenate(codes), np.concatenate(rewards))


def _coins(number: int) -> dict[str, tuple[str, ...]]:
    if number < 0:
        raise CausalSystemError(f"Expected n_others of at least 0 but found {number}")
    return {f"X{other + 1}": _BITS for other in range(number)}


def _system(
    states: Mapping[str, tuple[str, ...]],
    caused: Mapping[str, tuple[tuple[str, ...], NDArray[np.float64]]],
    reward: tuple[Sequence[str], NDArray[np.float64]],
    *,
    hidden: str,
    seed: Seed,
) -> CausalSystem:
    """Return a system in a random order; `caused` has the parents and table of what isn't a fair coin."""
    names = list(states)
    order = [names[v] for v in np.random.default_rng(seed).permutation(len(names))]
    parents, means = reward
    axes = sorted(range(len(parents)), key=lambda axis: order.index(parents[axis]))
    model = DiscreteModel(
        states={name: states[name] for name in order},
        parents=tuple(tuple(map(order.index, caused[name][0])) if name in caused else () for name in order),
        tables=tuple(caused[name][1] if name in caused else _COIN for name in order),
    )
    return CausalSystem.from_model(
        model,
        Reward(tuple(order.index(parents[axis]) for axis in axes), means.transpose(axes), None),
        hidden=[hidden] if hidden else [],
    )
