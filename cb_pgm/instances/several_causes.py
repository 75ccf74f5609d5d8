"""Systems whose reward has several observed causes, for policies that look for one.

Rewards are 0 or 1.
"""

from __future__ import annotations

import numpy as np

from cb_pgm.errors import CausalSystemError
from cb_pgm.instances.copy_model import copy_table
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.model.system import CausalSystem

__all__ = ["interaction", "many_parents", "xor"]

Seed = int | np.random.Generator | None

_WELL = (0.1, 0.35, 0.6)  # P(well) without the drug, by severity
_WELL_WITH_DRUG = 0.95
_SEVERITY = ("high", "medium", "low")


def interaction(
    n_others: int = 0, *, drug_taken: float = 0.0, copy_probability: float = 0.8, seed: Seed = None
) -> CausalSystem:
    """Return a system of a patient's severity and a drug that nobody, or hardly anybody, takes by itself.

    Parameters
    ----------
    n_others
        The number of further variables. Each copies severity or an earlier one and doesn't move the reward.
    drug_taken
        The probability that the drug is taken by itself; 0: in no row but those in which it is set.
    copy_probability
        The probability with which a further variable takes the state of the one that it copies; otherwise it
        takes a uniform state.
    seed
        The order of the variables, and what the further ones copy, are drawn from it.

    Notes
    -----
    The reward is whether the patient gets well: with probability .1, .35 and .6 at high, medium and low
    severity, each of which a third of the patients have, and .95 with the drug, whatever the severity. So
    do(drug = yes) has mean .95 and do(severity = low) .6 + .35 · drug_taken. Under do() only severity seems
    to matter.

    Examples
    --------
    >>> system = interaction(seed=0)
    >>> arms = system.arm_means()
    >>> [round(arms["severity", state], 3) for state in ("high", "medium", "low")]
    [0.1, 0.35, 0.6]
    >>> [round(arms["drug", state], 3) for state in ("no", "yes")]
    [0.35, 0.95]
    """
    if n_others < 0:
        raise CausalSystemError(f"Expected n_others of at least 0 but found {n_others}")
    for name, value in (("drug_taken", drug_taken), ("copy_probability", copy_probability)):
        if not 0 <= value <= 1:
            raise CausalSystemError(f"Expected {name} from 0 to 1 but found {value}: it is a probability")
    rng = np.random.default_rng(seed)
    names = ["severity", *(f"X{other + 1}" for other in range(n_others)), "drug"]
    copied = {names[v]: names[int(rng.integers(v))] for v in range(1, n_others + 1)}
    order = [names[v] for v in rng.permutation(len(names))]
    place = {name: number for number, name in enumerate(order)}
    copies = copy_table(3, 1, copy_probability)
    tables = {"severity": copy_table(3, 0, 0.0), "drug": np.array([1 - drug_taken, drug_taken])}
    states = {"severity": _SEVERITY, "drug": ("no", "yes")}
    model = DiscreteModel(
        states={name: states.get(name, ("0", "1", "2")) for name in order},
        parents=tuple((place[copied[name]],) if name in copied else () for name in order),
        tables=tuple(tables.get(name, copies) for name in order),
    )
    means = np.column_stack([_WELL, np.full(3, _WELL_WITH_DRUG)])  # [severity, drug]
    pair = (place["severity"], place["drug"])
    reward = Reward((min(pair), max(pair)), means if pair[0] < pair[1] else means.T.copy(), None)
    return CausalSystem.from_model(model, reward)


def many_parents(
    n: int = 8,
    n_states: int = 3,
    *,
    n_parents: int = 2,
    copy_probability: float = 0.95,
    seed: Seed = None,
) -> CausalSystem:
    """Return a tree in which several variables move the reward, each by effects of its own that add up.

    Parameters
    ----------
    n, n_states
        The number of variables and of each one's states, K.
    n_parents
        The number of the reward's parents, k.
    copy_probability
        The probability c with which a variable takes the state of its parent in the tree; otherwise it takes
        a uniform state.
    seed
        The tree (each variable's parent is any earlier one, uniformly), the names X1 to Xn, the reward's
        parents and their effects are drawn from it.

    Notes
    -----
    The reward's mean is the average of f_i(x_i) over its parents, where f_i takes the values from .1 to .9 in
    equal steps, in an order of its own. So the best joint arm has mean .9, and E[R | do(A = x)] = .5 +
    Σ_i c^d(i) · (f_i(x) − .5) / k over the parents i that are A itself (d = 0) or d(i) edges below it.

    Examples
    --------
    >>> system = many_parents(n_parents=3, seed=0)
    >>> len(system.reward_parents), round(float(system.reward.means.max()), 12)
    (3, 0.9)
    """
    if n < 1 or n_states < 2:
        found = f"n={n}, n_states={n_states}"
        raise CausalSystemError(f"Expected at least 1 variable with at least 2 states but found {found}")
    if not 1 <= n_parents <= n:
        raise CausalSystemError(f"Expected n_parents from 1 to {n} but found {n_parents}")
    if not 0 <= copy_probability <= 1:
        raise CausalSystemError(f"Expected a copy_probability from 0 to 1 but found {copy_probability}")
    rng = np.random.default_rng(seed)
    number = rng.permutation(n)
    parents: list[tuple[int, ...]] = [()] * n
    for position in range(1, n):
        parents[number[position]] = (int(number[rng.integers(position)]),)
    root, copies = copy_table(n_states, 0, 0.0), copy_table(n_states, 1, copy_probability)
    model = DiscreteModel(
        states=dict.fromkeys((f"X{v + 1}" for v in range(n)), tuple(map(str, range(n_states)))),
        parents=tuple(parents),
        tables=tuple(copies if above else root for above in parents),
    )
    chosen = tuple(sorted(int(v) for v in rng.choice(n, n_parents, replace=False)))
    effects = [rng.permutation(np.linspace(0.1, 0.9, n_states)) for _ in chosen]
    means = np.clip(np.mean(np.meshgrid(*effects, indexing="ij"), axis=0), 0, 1)
    return CausalSystem.from_model(model, Reward(chosen, means, None))


def xor(n: int = 6, *, n_parents: int = 2, seed: Seed = None) -> CausalSystem:
    """Return a system of fair coins in which only the parity of several moves the reward.

    Parameters
    ----------
    n
        The number of variables.
    n_parents
        The number k of the reward's parents.
    seed
        The parents are drawn from it.

    Notes
    -----
    The reward's mean is .9 where an odd number of the parents are 1, and .1 elsewhere: .5 given the states of
    fewer than k of them, set or seen, and under do(). Only setting all of them wins.

    Examples
    --------
    >>> system = xor(4, seed=0)
    >>> sorted(set(system.arm_means().values())), float(system.reward.means.max())
    ([0.5], 0.9)
    """
    if not 1 <= n_parents <= n:
        raise CausalSystemError(f"Expected n_parents from 1 to {n} but found {n_parents}")
    chosen = np.random.default_rng(seed).choice(n, n_parents, replace=False)
    coin = copy_table(2, 0, 0.0)
    model = DiscreteModel(dict.fromkeys((f"X{v + 1}" for v in range(n)), ("0", "1")), ((),) * n, (coin,) * n)
    odd = np.indices((2,) * n_parents).sum(axis=0) % 2
    reward = Reward(tuple(sorted(int(v) for v in chosen)), 0.1 + 0.8 * odd, None)
    return CausalSystem.from_model(model, reward)
