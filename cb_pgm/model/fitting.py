"""Fit a causal system to a table, to try policies on before the real thing: a *rehearsal*, never the truth.

The variables' graph is one DAG of the estimated class. pgmpy fits its tables, smoothed so that every
probability is positive. The reward is a sink whose parents are chosen by score. Results of a rehearsal hold
in the world only as far as the model does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalBanditError
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.model.intervention import States
from cb_pgm.model.joint_states import joint_index
from cb_pgm.model.pgmpy_networks import fitted_model
from cb_pgm.model.system import CausalSystem
from discovery.estimation.contingency import Contingency
from discovery.estimation.counted_scores import BDeu
from discovery.wording import listed

if TYPE_CHECKING:
    from discovery import DiscreteTable, EssentialGraph

__all__ = [
    "Rehearsal",
    "choose_reward_parents",
    "fit_model",
    "fit_reward",
    "is_binary",
    "rehearse",
    "rewards_of",
]

_LARGEST_TABLE = 2_000_000  # entries; a larger one comes of a mistake in a hand-written graph
_PAIRED = 40  # the number of variables, the best on their own, that are also tried two by two


@dataclass(frozen=True)
class Rehearsal:
    """A system fitted to a table, and warnings about it for people, one line each."""

    system: CausalSystem
    warnings: tuple[str, ...]


def rehearse(
    table: DiscreteTable,
    graph: EssentialGraph,
    *,
    equivalent_sample_size: float = 10.0,
    settable: States | None = None,
) -> Rehearsal:
    """Fit a causal system to a table with rewards.

    Parameters
    ----------
    table
        Observations with rewards. If all rewards are 0 or 1 the fitted reward is Bernoulli, otherwise it is
        Gaussian.
    graph
        The essential graph over the table's variables.
    equivalent_sample_size
        The number of rows that the smoothing of each table is worth.
    settable
        As in `CausalSystem`.

    Raises
    ------
    CausalBanditError
        If the table has no rewards, or they are all the same, or a variable has too many parents for a table.
    """
    warnings = []
    parents = choose_reward_parents(table)
    if not parents:
        parents = choose_reward_parents(table, at_least_one=True)
        warnings.append(
            f"no variable tells anything about the reward, by score; the rehearsal takes the best one, "
            f"{parents[0]!r}, and its outcome means little"
        )
    if len(parents) > 1:
        warnings.append(
            f"the fitted reward has {len(parents)} causes ({listed(parents)}): CN-UCB's assumption of "
            f"a single one fails"
        )
    system = CausalSystem.from_model(
        fit_model(table, graph, equivalent_sample_size),
        fit_reward(table, parents, equivalent_sample_size),
        settable=settable,
    )
    return Rehearsal(system, tuple(warnings))


def fit_model(
    table: DiscreteTable, graph: EssentialGraph, equivalent_sample_size: float = 10.0
) -> DiscreteModel:
    """Fit P(variable | parents) on one DAG of the class to the rows of a table.

    pgmpy fits the tables, with its BDeu prior: each probability is (N_xp + α/Kq) / (N_p + α/q), where K is
    the number of the variable's states, q that of its parents' joint states, α the equivalent sample size in
    rows, and N counts rows. So every probability is positive.

    Raises
    ------
    CausalBanditError
        If a variable's table would have more than 2,000,000 entries.
    """
    dag = graph.consistent_extension()
    for variable, states in table.states.items():
        own = sorted(dag.predecessors(variable))
        joint_states = math.prod(len(table.states[parent]) for parent in own)
        if joint_states * len(states) > _LARGEST_TABLE:
            raise CausalBanditError(
                f"Expected a graph whose tables can be fitted but found {len(own)} parents of {variable!r}, "
                f"{joint_states:,} joint states: take edges away from it"
            )
    return fitted_model(table.states, table.codes, dag.edges, equivalent_sample_size)


def choose_reward_parents(table: DiscreteTable, *, at_least_one: bool = False) -> tuple[str, ...]:
    """Return the variables that explain the rewards best, in variable order.

    The score is BDeu with a prior on the number of parents for rewards of 0 and 1, and a Gaussian BIC for
    others. The search starts from the best set of at most two variables and then adds or removes one variable
    at a time while that improves the score. Pairs are formed among the 40 best single variables, so that a
    pair is found which explains the reward only together. With `at_least_one` the best single variable is
    returned.
    """
    score = _score(table)
    columns = range(len(table.variables))
    singles = sorted(columns, key=lambda column: -score((column,)))
    if at_least_one:
        return (table.variables[singles[0]],)
    small = [(), *((column,) for column in singles), *combinations(sorted(singles[:_PAIRED]), 2)]
    chosen = max(small, key=score)
    while True:
        changed = [tuple(sorted({*chosen} ^ {column})) for column in columns]
        best = max(changed, key=score)
        if score(best) <= score(chosen):
            return tuple(table.variables[column] for column in chosen)
        chosen = best


def fit_reward(table: DiscreteTable, parents: Sequence[str], equivalent_sample_size: float = 10.0) -> Reward:
    """Fit the mean reward at each joint state of `parents`, and the noise about it.

    Each mean is shrunk towards the overall mean as if α/q further rows had shown that; α is the equivalent
    sample size and q the number of joint states.
    """
    rewards = rewards_of(table)
    columns = tuple(sorted(table.variables.index(parent) for parent in parents))
    shape = tuple(len(table.states[table.variables[column]]) for column in columns)
    rows = joint_index(table.codes, columns, shape)
    size = math.prod(shape)
    prior = equivalent_sample_size / size
    totals = np.bincount(rows, rewards, minlength=size)
    means = (totals + prior * rewards.mean()) / (np.bincount(rows, minlength=size) + prior)
    noise = None if is_binary(rewards) else float(np.sqrt(np.mean((rewards - means[rows]) ** 2)))
    return Reward(columns, means.reshape(shape), noise)


def rewards_of(table: DiscreteTable) -> NDArray[np.float64]:
    """Return the table's rewards, or raise CausalBanditError where there are none, or all are the same."""
    if table.rewards is None:
        raise CausalBanditError("Expected a table with rewards but found none: name the reward column")
    if not len(table.rewards):
        raise CausalBanditError(
            "Expected rows in which nothing was set but found none: add observations, or see what set rows "
            "say (cb-pgm effects, cb-pgm replay)"
        )
    if np.ptp(table.rewards) == 0:
        raise CausalBanditError(
            f"Expected rewards that differ but found {table.rewards[0]:g} in every row: name another reward"
        )
    return table.rewards


def is_binary(rewards: NDArray[np.float64]) -> bool:
    """Return whether all rewards are 0 or 1."""
    return bool(np.isin(rewards, (0.0, 1.0)).all())


def _score(table: DiscreteTable) -> Callable[[Iterable[int]], float]:
    """Return the score of columns as the reward's parents; −∞ with more joint states than rows."""
    rewards = rewards_of(table)
    cards = [len(states) for states in table.states.values()]
    local = _bdeu(table, rewards, cards) if is_binary(rewards) else _gaussian_bic(table, rewards, cards)
    known: dict[tuple[int, ...], float] = {}

    def score(columns: Iterable[int]) -> float:
        key = tuple(columns)
        if key not in known:
            fits = math.prod(cards[column] for column in key) <= len(rewards)
            known[key] = local(key) if fits else -math.inf
        return known[key]

    return score


def _bdeu(
    table: DiscreteTable, rewards: NDArray[np.float64], cards: Sequence[int]
) -> Callable[[tuple[int, ...]], float]:
    codes = np.column_stack([table.codes, rewards.astype(np.int16)])
    bdeu = BDeu(Contingency(codes, [*cards, 2]))
    return lambda columns: bdeu.local_score(len(cards), columns)


def _gaussian_bic(
    table: DiscreteTable, rewards: NDArray[np.float64], cards: Sequence[int]
) -> Callable[[tuple[int, ...]], float]:
    """Return the score −N/2 · log(residual variance) − (fitted means)/2 · log N − (parents) · log n."""
    centred = rewards - rewards[0]  # exact for rewards that are large beside their differences
    centred /= np.abs(centred).max()  # the score only shifts by a constant
    centred -= centred.mean()
    n_rows, total = len(rewards), float(centred @ centred)

    def bic(columns: tuple[int, ...]) -> float:
        rows = joint_index(table.codes, columns, tuple(cards[column] for column in columns))
        counts = np.bincount(rows)
        seen = counts > 0
        explained = float(np.sum(np.bincount(rows, centred)[seen] ** 2 / counts[seen]))
        residual = max(total - explained, 1e-12 * total) / n_rows
        penalty = (np.count_nonzero(seen) - 1) / 2 * math.log(n_rows) + len(columns) * math.log(len(cards))
        return -n_rows / 2 * math.log(residual) - penalty

    return bic
