"""Systems in which every variable copies one of its parents: their gaps are known in closed form.

A root is uniform over its K states. Any other variable takes, with probability c, the state of one of its
parents, chosen uniformly, and otherwise a uniform state. Followed backwards from a variable Y, copying is a
random walk that stops at each step with probability 1 − c. Let h(X) be the probability that it comes through
X. Then every marginal is uniform and

    P(Y = y | do(X = x)) − 1/K = h(X) · (1{x = y} − 1/K),

so a reward with means f of Y has E[R | do(X = x)] − E[R] = h(X) · (f(x) − average of f).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalSystemError
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.model.names import standard_deviation
from cb_pgm.model.system import CausalSystem

__all__ = ["CopyOptions", "copy_table", "copying_system"]

_COPY_PROBABILITY = 0.95
_LARGEST_TABLE = 2**24
_DRAWS = 1000  # of sets of several reward parents, before a gap counts as out of reach

Parents = Sequence[Sequence[int]]


class CopyOptions(TypedDict, total=False):
    """The settings of all families of random instances; `cb_pgm.instances.families` explains each."""

    copy_probability: float | None
    reward_means: Sequence[float] | None
    noise: float | Literal["bernoulli"]
    reward_gap: float | None
    effect_gap: float | None
    n_parents: int


def copying_system(
    parents: Parents,
    n_states: int,
    rng: np.random.Generator,
    *,
    copy_probability: float | None = None,
    reward_means: Sequence[float] | None = None,
    noise: float | Literal["bernoulli"] = 1.0,
    reward_gap: float | None = None,
    effect_gap: float | None = None,
    n_parents: int = 1,
    candidates: Sequence[int] | None = None,
) -> CausalSystem:
    """Return a system of copying variables, named X1 to Xn in a random order.

    Parameters
    ----------
    parents
        For each position, in topological order, the positions of its parents.
    n_states, rng
        K, and the source from which the reward's parents and the names are drawn.
    copy_probability, reward_means, noise, reward_gap, effect_gap, n_parents
        As in `cb_pgm.instances.families`.
    candidates
        The positions out of which the reward's parents are drawn; None: all.

    Raises
    ------
    CausalSystemError
        If a setting is out of range or a gap can't be reached.
    """
    if n_states < 2:
        raise CausalSystemError(f"Expected at least 2 states but found n_states={n_states}")
    copying = _copying(parents, n_states, copy_probability, effect_gap)
    means = (
        np.linspace(0.1, 0.9, n_states)
        if reward_means is None
        else np.asarray(reward_means, dtype=np.float64)
    )
    if means.shape != (n_states,):
        raise CausalSystemError(f"Expected {n_states} reward_means, one per state, but found {means.size}")
    pool = range(len(parents)) if candidates is None else candidates
    if not 1 <= n_parents <= len(pool):
        raise CausalSystemError(f"Expected n_parents from 1 to {len(pool)} but found {n_parents}")
    chosen, means = _reward(parents, copying, means, reward_gap, _choices(pool, n_parents, rng))

    number = rng.permutation(len(parents))
    named: list[tuple[int, ...]] = [()] * len(parents)
    for position, above in enumerate(parents):
        named[number[position]] = tuple(sorted(int(number[other]) for other in above))
    tables = {
        n_above: copy_table(n_states, n_above, copying)
        for n_above in sorted({len(above) for above in parents})
    }
    model = DiscreteModel(
        states=dict.fromkeys((f"X{v + 1}" for v in range(len(parents))), tuple(map(str, range(n_states)))),
        parents=tuple(named),
        tables=tuple(tables[len(above)] for above in named),
    )
    joint = sum(np.ix_(*[means / n_parents] * n_parents)) + np.zeros((n_states,) * n_parents)
    return CausalSystem.from_model(
        model, Reward(tuple(sorted(int(number[v]) for v in chosen)), joint, standard_deviation(noise))
    )


def _copying(
    parents: Parents, n_states: int, copy_probability: float | None, effect_gap: float | None
) -> float:
    """Return the probability c of copying; an edge to one of d parents moves by c/d · (1 − 1/K) at least."""
    widest = max((len(above) for above in parents), default=0)
    reach = (1 - 1 / n_states) / max(widest, 1)
    if copy_probability is not None and not 0 <= copy_probability <= 1:
        raise CausalSystemError(f"Expected a copy_probability from 0 to 1 but found {copy_probability}")
    if effect_gap is None:
        return _COPY_PROBABILITY if copy_probability is None else copy_probability
    largest = reach * (1 if copy_probability is None else copy_probability)
    if not 0 <= effect_gap <= largest:
        raise CausalSystemError(
            f"Expected an effect_gap from 0 to {largest:.4g}, all that copying guarantees with {n_states} "
            f"states and up to {widest} parents, but found {effect_gap}"
        )
    return effect_gap / reach if copy_probability is None else copy_probability


def _choices(pool: Sequence[int], size: int, rng: np.random.Generator) -> Iterator[list[int]]:
    """Draw sets of reward parents: each single one of the pool in random order, or many sets of several."""
    if size == 1:
        yield from ([int(position)] for position in rng.permutation(np.asarray(pool)))
    else:
        for _ in range(_DRAWS):
            yield [int(position) for position in rng.choice(np.asarray(pool), size, replace=False)]


def _reward(
    parents: Parents,
    copying: float,
    means: NDArray[np.float64],
    gap: float | None,
    choices: Iterator[list[int]],
) -> tuple[list[int], NDArray[np.float64]]:
    """Return the reward's parents and its means: the first choice for which the gap is within reach."""
    if gap is None:
        return next(choices), means
    if gap < 0:
        raise CausalSystemError(f"Expected a reward_gap of at least 0 but found {gap}")
    deviations = means - means.mean()
    spread, furthest = float(np.ptp(means)), float(np.abs(deviations).max())
    best = 0.0
    for chosen in choices:
        weakest = _weakest(parents, chosen, copying)
        reach = weakest * furthest / spread if spread else 0.0  # when the means span all of [0, 1]
        if gap <= reach * (1 + 1e-12):
            scale = gap / (weakest * furthest) if gap else 0.0
            scaled = means.mean() + scale * deviations
            shifted: NDArray[np.float64] = scaled - max(scaled.max() - 1, 0) - min(scaled.min(), 0)
            return chosen, np.clip(shifted, 0, 1)
        best = max(best, reach)
    raise CausalSystemError(
        f"Expected a reward_gap that some variable can have with means in [0, 1], here up to {best:.4g}, "
        f"but found {gap}"
    )


def _weakest(parents: Parents, chosen: Sequence[int], copying: float) -> float:
    """Return the least probability, over ancestors, that a walk back from the chosen comes through them."""
    through = {position: 1 / len(chosen) for position in chosen}
    weakest = 1.0
    for position in range(max(chosen), -1, -1):
        if position in through:
            weakest = min(weakest, through[position])
            for other in parents[position]:
                through[other] = through.get(other, 0.0) + through[position] * copying / len(
                    parents[position]
                )
    return weakest


def copy_table(n_states: int, n_above: int, copying: float) -> NDArray[np.float64]:
    """Return P(variable | its `n_above` parents), float64 [K, ..., K] with the variable last.

    With probability `copying` it takes the state of one of its parents, chosen uniformly, and otherwise a
    uniform state.
    """
    if n_states ** (n_above + 1) > _LARGEST_TABLE:
        raise CausalSystemError(
            f"Expected tables of at most {_LARGEST_TABLE} cells but found {n_above} parents with {n_states} "
            f"states each: use fewer of either"
        )
    shape = (n_states,) * (n_above + 1)
    table = np.full(shape, (1 - copying if n_above else 1.0) / n_states)
    for axis in range(n_above):
        one_hot = np.eye(n_states).reshape(
            [n_states if a in (axis, n_above) else 1 for a in range(n_above + 1)]
        )
        table += copying / n_above * one_hot
    return table
