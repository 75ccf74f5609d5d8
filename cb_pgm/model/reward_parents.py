"""Which variables may be the reward's parents, and how likely that is.

A set of variables has the weight exp(log-likelihood − fitted means − parents · log n): an Akaike weight with
a prior by which each further parent has to be found among n variables. The likelihood is the better one of
two: a mean for each joint state of the set, or a sum of effects, one of each state of each variable; the
latter has far fewer means to fit where several variables act. A parent too many costs little, as the means
at its states come out alike; a parent that is missed leaves its arms without any effect. So the weights
aren't the posterior by BDeu, which takes a parent of small effect for none. On six tables each of sachs and
random DAGs with 300 rows, 90 % intervals of arms that move the reward covered 93 and 98 % of them with Akaike
weights and 91 and 95 % with BDeu, and the arm with the best mean lost .018 and .014 against .026 and .032.

Leaving variables out saves rows. Where the table has plenty for all variables together, in every one of their
joint states, nothing is left out: the effect of each is then measured, rather than whether it has one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cb_pgm.model.canonical import canonical_rows
from cb_pgm.model.joint_states import joint_index
from cb_pgm.model.reward_unit import RewardUnit, is_binary, rewards_of

if TYPE_CHECKING:
    from discovery import DiscreteTable

__all__ = ["PLENTY", "RIDGE", "chosen_parents", "likely_parents", "one_hot", "set_score"]

_LIKELY = 20  # sets that are widened further at a time
_NEGLIGIBLE = 12.0  # nats below the best score
_MOST = 100  # sets
#: The rows in every joint state of variables with which nothing is gained by leaving any of them out.
PLENTY = 50
_PAIRED = 40  # the number of variables, the best on their own, that are also tried two by two
_LARGEST = 20_000  # joint states of a set
#: The rows at 0 that each effect starts with, so that it is hardly more than twice the noise.
RIDGE = 0.25

Array = NDArray[np.float64]
Columns = tuple[int, ...]


def chosen_parents(table: DiscreteTable, *, at_least_one: bool = False) -> tuple[str, ...]:
    """Return the likeliest parents of a table's reward, sorted by name; they may be none.

    Both kinds of rows count, in canonical order. With `at_least_one` it is the best single variable.

    Raises
    ------
    CausalBanditError
        If the table has no rewards, or they are all the same.
    """
    rows = canonical_rows(RewardUnit.of(table).table(table))
    rewards_of(rows.pooled)  # raises unless they differ
    if at_least_one:
        score = set_score(rows.all_codes, rows.all_rewards, rows.cards)
        return (rows.variables[max(range(len(rows.cards)), key=lambda column: score((column,)))],)
    likeliest = next(iter(likely_parents(rows.all_codes, rows.all_rewards, rows.cards)))
    return tuple(rows.variables[column] for column in likeliest)


def likely_parents(codes: NDArray[np.int16], rewards: Array, cards: Sequence[int]) -> dict[Columns, float]:
    """Return the sets of columns that may be the reward's parents, the likeliest first, with their weights.

    Sets of at most two variables are scored first. Then one variable at a time is added to or removed from
    the 20 best, until these stay the same. Sets e¹² times less likely than the best are left out, and all but
    the 100 likeliest; the weights of the others add up to 1. With 50 rows or more in every joint state of all
    columns the only set is that of all columns.
    """
    if _are_plenty(codes, cards):
        return {tuple(range(len(cards))): 1.0}
    score = set_score(codes, rewards, cards)
    columns = range(len(cards))
    singles = sorted(columns, key=lambda column: (-score((column,)), column))
    small: list[Columns] = [(), *((column,) for column in columns)]
    scored = {key: score(key) for key in [*small, *combinations(sorted(singles[:_PAIRED]), 2)]}
    widened: set[Columns] = set()
    while fresh := set(sorted(scored, key=lambda key: (-scored[key], key))[:_LIKELY]) - widened:
        for key in fresh:
            for column in columns:
                changed = tuple(sorted({*key} ^ {column}))
                scored[changed] = score(changed)
        widened |= fresh
    best = max(scored.values())
    likely = (key for key in scored if scored[key] > best - _NEGLIGIBLE)
    kept = sorted(likely, key=lambda key: (-scored[key], key))[:_MOST]
    total = sum(math.exp(scored[key] - best) for key in kept)
    return {key: math.exp(scored[key] - best) / total for key in kept}


def set_score(
    codes: NDArray[np.int16], rewards: Array, cards: Sequence[int], among: int | None = None
) -> Callable[[Columns], float]:
    """Return the function that scores columns as the reward's parents, in nats.

    `among` is the number of variables that they are chosen from; None: as many as there are columns.

    A mean for each joint state isn't tried with more of these than rows; of more than 20,000 joint states the
    score is −∞. Rewards of 0 and 1 have a Bernoulli likelihood, others a normal one.
    """
    centred = rewards - rewards.mean()
    binary, each = is_binary(rewards), math.log(among or len(cards))
    likelihood = _bernoulli(rewards) if binary else _normal(centred)
    additive = _Additive(codes, rewards, cards, binary)
    known: dict[Columns, float] = {}

    def score(columns: Columns) -> float:
        if columns not in known:
            shape = tuple(cards[column] for column in columns)
            best = -math.inf
            if math.prod(shape) <= len(rewards):
                fit, means = likelihood(joint_index(codes, columns, shape))
                best = fit - means
            if len(columns) > 1 and math.prod(shape) <= _LARGEST:
                best = max(best, additive.fit(columns) - 1 - sum(card - 1 for card in shape))
            known[columns] = best - len(columns) * each
        return known[columns]

    return score


class _Additive:
    """The log-likelihood of rewards that are sums of effects; the rows are counted once for all sets."""

    def __init__(self, codes: NDArray[np.int16], rewards: Array, cards: Sequence[int], binary: bool) -> None:
        self._starts = np.concatenate([[1], 1 + np.cumsum(cards)])
        self._cards, self._codes, self._rewards, self._binary = cards, codes, rewards, binary
        design = one_hot(codes, range(len(cards)), cards)
        self._level = float(rewards.mean())
        centred = rewards - self._level
        self._squares, self._products = design.T @ design, design.T @ centred
        self._total = float(centred @ centred)

    def fit(self, columns: Columns) -> float:
        own = [0, *(i for column in columns for i in range(self._starts[column], self._starts[column + 1]))]
        squares, products = self._squares[np.ix_(own, own)], self._products[own]
        ridge = np.diag(np.concatenate([[0.0], np.full(len(own) - 1, RIDGE)]))
        effects = np.linalg.solve(squares + ridge, products)
        n = len(self._rewards)
        if not self._binary:
            residual = self._total - 2 * effects @ products + effects @ squares @ effects
            return -n / 2 * math.log(max(float(residual), 1e-12 * self._total) / n)
        rates, start = np.full(n, self._level + effects[0]), 1
        for column in columns:
            rates += effects[start : start + self._cards[column]][self._codes[:, column]]
            start += self._cards[column]
        rates = np.clip(rates, 1 / n, 1 - 1 / n)
        return float(np.log(np.where(self._rewards > 0, rates, 1 - rates)).sum())


def one_hot(codes: NDArray[np.int16], columns: Sequence[int], cards: Sequence[int]) -> Array:
    """Return float64 [N, 1 + states]: a column of ones, and one for each state of each of the columns."""
    design = np.ones((len(codes), 1 + sum(cards[column] for column in columns)))
    start = 1
    for column in columns:
        design[:, start : start + cards[column]] = codes[:, [column]] == np.arange(cards[column])
        start += cards[column]
    return design


def _are_plenty(codes: NDArray[np.int16], cards: Sequence[int]) -> bool:
    """Return whether every joint state of all columns has 50 rows or more."""
    size = math.prod(cards)
    if size * PLENTY > len(codes):
        return False
    cells = joint_index(codes, tuple(range(len(cards))), tuple(cards))
    return bool(np.bincount(cells, minlength=size).min() >= PLENTY)


def _bernoulli(rewards: Array) -> Callable[[NDArray[np.int64]], tuple[float, int]]:
    def likelihood(cells: NDArray[np.int64]) -> tuple[float, int]:
        counts = np.bincount(cells)
        seen = counts > 0
        counts, hits = counts[seen], np.bincount(cells, rewards)[seen]
        parts = ((part, counts) for part in (hits, counts - hits))
        fit = sum(float(np.sum(p[p > 0] * np.log(p[p > 0] / c[p > 0]))) for p, c in parts)
        return fit, len(counts)

    return likelihood


def _normal(centred: Array) -> Callable[[NDArray[np.int64]], tuple[float, int]]:
    n_rows, total = len(centred), float(centred @ centred)

    def likelihood(cells: NDArray[np.int64]) -> tuple[float, int]:
        counts = np.bincount(cells)
        seen = counts > 0
        explained = float(np.sum(np.bincount(cells, centred)[seen] ** 2 / counts[seen]))
        residual = max(total - explained, 1e-12 * total) / n_rows
        return -n_rows / 2 * math.log(residual), int(np.count_nonzero(seen))

    return likelihood
