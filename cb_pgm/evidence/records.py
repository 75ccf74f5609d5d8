"""Sums over the rows observed under each intervention: row count, reward total and counts of states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cb_pgm.model.intervention import Intervention, Observations

__all__ = ["Record", "Records", "all_in_unit_interval", "total_of"]


class Record:
    """Sums over the rows observed under one intervention.

    Attributes
    ----------
    rows
        The number of rows.
    total
        The sum of their rewards.
    counts
        int64 [n, K]: ``counts[i, k]`` is the number of rows in which variable i had state k.
    """

    __slots__ = ("counts", "rows", "total")

    def __init__(self, n_variables: int, n_states: int) -> None:
        self.rows = 0
        self.total = 0.0
        self.counts: NDArray[np.int64] = np.zeros((n_variables, n_states), dtype=np.int64)

    @property
    def mean(self) -> float:
        """The mean reward; nan before the first row."""
        return self.total / self.rows if self.rows else np.nan

    def frequencies(self, variable: int) -> NDArray[np.float64]:
        """Return the share of the rows with each state of a variable, float64 [K]; needs at least one row."""
        shares: NDArray[np.float64] = self.counts[variable] / self.rows
        return shares


class Records:
    """One `Record` per intervention observed so far, in the order of first observation.

    Attributes
    ----------
    in_unit_interval
        Whether all rewards seen lie in [0, 1].
    """

    def __init__(self, states: Mapping[str, Sequence[str]]) -> None:
        self._shape = (len(states), max((len(values) for values in states.values()), default=1))
        self._records: dict[Intervention, Record] = {}
        self.in_unit_interval = True

    def __getitem__(self, intervention: Intervention) -> Record:
        """Return the record of `intervention`; an empty one if it has no rows."""
        return self._records.get(intervention) or Record(*self._shape)

    def __iter__(self) -> Iterator[tuple[Intervention, Record]]:
        return iter(self._records.items())

    def add(self, intervention: Intervention, observations: Observations) -> None:
        """Add rows observed under `intervention`."""
        record = self._records.get(intervention)
        if record is None:
            record = self._records[intervention] = Record(*self._shape)
        record.rows += len(observations.rewards)
        record.total += total_of(observations.rewards)
        if self.in_unit_interval and len(observations.rewards):
            self.in_unit_interval = all_in_unit_interval(observations.rewards)
        _count(observations.codes, record.counts)


def total_of(rewards: NDArray[np.float64]) -> float:
    """Return the sum of the rewards."""
    # Most pulls are of one row, where array methods take longer than all else.
    return float(rewards[0]) if len(rewards) == 1 else float(rewards.sum())


def all_in_unit_interval(rewards: NDArray[np.float64]) -> bool:
    """Return whether the rewards, one at least, lie in [0, 1]."""
    if len(rewards) == 1:
        return 0.0 <= float(rewards[0]) <= 1.0
    return bool(rewards.min() >= 0.0 and rewards.max() <= 1.0)


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba carries no types
def _count(codes: NDArray[np.int16], counts: NDArray[np.int64]) -> None:
    for row in range(codes.shape[0]):
        for variable in range(codes.shape[1]):
            counts[variable, codes[row, variable]] += 1
