"""Compiled counting for scores: one variable, its parents, and each of many variables as one parent more.

A score of counts is a sum over the cells of a contingency table and over its strata, of the same function
with two weights of the prior (`log_rising`). So one kernel serves BDeu and BIC.

On tables of which most rows are distinct, every state of every column is a bit set of the rows, and a cell's
count is the number of bits that two sets share: 64 rows a step. Where a table of many cells would take more
steps than there are rows, or equal rows have been merged into few, the rows are counted one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lgamma, log
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from discovery.estimation.contingency import Contingency

__all__ = ["BatchCounts", "marginal_likelihood"]

#: Bit sets are used while the sets to be intersected for one score are no more than this.
_MOST_INTERSECTIONS = 200
#: Tables of `log_rising` are kept up to this many numbers, 64 MB.
_KEPT_NUMBERS = 8_000_000


class BatchCounts:
    """Sums of `log_rising` over the cells and strata of contingency tables.

    Parameters
    ----------
    contingency
        The counted rows.

    Notes
    -----
    Threads may call the methods at the same time.
    """

    def __init__(self, contingency: Contingency) -> None:
        self._contingency = contingency
        self._tables: dict[float, NDArray[np.float64]] = {}
        self._first_state = np.concatenate([[0], np.cumsum(contingency.cardinalities)]).astype(np.int64)
        self._state_bits: NDArray[np.uint64] | None = None
        self._merged = contingency.n_rows > 4 * len(contingency.weights)

    def single(
        self, variable: int, parents: tuple[int, ...], stratum_prior: float, cell_prior: float
    ) -> float:
        """Return Σ f(count of a cell, cell_prior) − Σ f(count of a stratum, stratum_prior), f = `log_rising`.

        A stratum is a joint state of `parents`, a cell one of `parents` and `variable`.
        """
        counts = self._contingency.counts(variable, parents)
        return float(marginal_likelihood(counts, self._table(stratum_prior), self._table(cell_prior)))

    def extended(
        self,
        variable: int,
        parents: tuple[int, ...],
        candidates: NDArray[np.int64],
        stratum_prior: float,
        cell_prior: float,
    ) -> NDArray[np.float64]:
        """Return what `single` does for `parents` and one of the `candidates` more, for each of them in turn.

        Parameters
        ----------
        candidates
            Columns with equally many states, int [number of candidates].
        """
        data = self._contingency
        cardinality, own = data.cardinalities[candidates[0]], data.cardinalities[variable]
        rows, n_strata = data.strata(parents)
        tables = self._table(stratum_prior), self._table(cell_prior)
        if self._merged or n_strata * own * (cardinality - 1) > _MOST_INTERSECTIONS:
            mine = data.columns[variable], own
            return np.asarray(
                _by_rows(rows, n_strata, *mine, data.columns, data.weights, candidates, cardinality, *tables)
            )
        cells = rows * np.int32(own) + data.columns[variable]
        if len(data.weights) < data.n_rows:
            cells = np.repeat(cells, data.weights)
        bits = _packed(cells, n_strata * own)
        first = self._first_state[candidates]
        return np.asarray(_by_bits(bits, n_strata, own, self._states(), first, cardinality, *tables))

    def _table(self, prior: float) -> NDArray[np.float64]:
        """Return `log_rising(count, prior)` for all counts, filled by the kernels where it is needed."""
        table = self._tables.get(prior)
        if table is None:
            if len(self._tables) * (self._contingency.n_rows + 2) > _KEPT_NUMBERS:
                self._tables.clear()
            table = np.full(self._contingency.n_rows + 2, np.nan)
            table[-1] = prior
            self._tables[prior] = table
        return table

    def _states(self) -> NDArray[np.uint64]:
        """Return the rows in which each state of each column occurs, uint64 [all states, ⌈N/64⌉]."""
        if self._state_bits is None:
            data, first = self._contingency, self._first_state
            found = np.empty((int(first[-1]), (data.n_rows + 63) // 64), dtype=np.uint64)
            for column, begin, end in zip(data.columns, first[:-1], first[1:], strict=True):
                every = column if len(column) == data.n_rows else np.repeat(column, data.weights)
                found[begin:end] = _packed(every.astype(np.int32), int(end - begin))
            self._state_bits = found
        return self._state_bits


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def log_rising(count: int, prior: float) -> float:
    """Return log Γ(count + prior) − log Γ(prior); with the prior 0, count · log(count)."""
    if prior == 0.0:
        return float(count * log(count)) if count > 0 else 0.0
    return float(lgamma(count + prior) - lgamma(prior))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _looked_up(table: NDArray[np.float64], count: int) -> float:
    # A table starts empty; its last entry is the weight of the prior that it is for.
    found = table[count]
    if np.isnan(found):
        found = log_rising(count, table[-1])
        table[count] = found
    return float(found)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def marginal_likelihood(
    counts: NDArray[np.int64], stratum_table: NDArray[np.float64], cell_table: NDArray[np.float64]
) -> float:
    """Return Σ cell_table[count] over all cells − Σ stratum_table[row's sum], of counts [strata, states].

    What rounding loses is added at the end (Kahan–Babuška summation), so the order of strata and states
    doesn't matter: scores are the same whatever the order of the table's columns.
    """
    score, lost = 0.0, 0.0
    for s in range(counts.shape[0]):
        total = 0
        # Add the term of each cell of the stratum; an empty cell's is 0.
        for k in range(counts.shape[1]):
            count = counts[s, k]
            if count > 0:
                total += count
                term = _looked_up(cell_table, count)
                new = score + term
                lost += (score - (new - (new - score))) + (term - (new - score))  # the rounding of this sum
                score = new
        # Subtract the term of the stratum itself.
        if total > 0:
            term = -_looked_up(stratum_table, total)
            new = score + term
            lost += (score - (new - (new - score))) + (term - (new - score))
            score = new
    return score + lost


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _by_bits(
    bits: NDArray[np.uint64],
    n_strata: int,
    own: int,
    states: NDArray[np.uint64],
    first_states: NDArray[np.int64],
    cardinality: int,
    stratum_table: NDArray[np.float64],
    cell_table: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Count by bit sets: `bits` holds the rows of each cell of the variable and its parents.

    The result has the score with each candidate as one more parent; a candidate's states begin in `states` at
    its entry of `first_states`.
    """
    sizes = np.array([_shared(one, one) for one in bits])
    counts = np.empty((n_strata * cardinality, own), dtype=np.int64)
    scores = np.empty(len(first_states))
    for c in range(len(first_states)):
        for s in range(n_strata):
            for k in range(own):
                # Split the cell by the candidate's states; its last state has the rows that are left.
                left = sizes[s * own + k]
                for state in range(cardinality - 1):
                    count = 0
                    if left > 0:
                        count = _shared(bits[s * own + k], states[first_states[c] + state])
                        left -= count
                    counts[s * cardinality + state, k] = count
                counts[s * cardinality + cardinality - 1, k] = left
        scores[c] = marginal_likelihood(counts, stratum_table, cell_table)
    return scores


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _by_rows(
    strata: NDArray[np.int32],
    n_strata: int,
    own_states: NDArray[np.int16],
    own: int,
    columns: NDArray[np.int16],
    weights: NDArray[np.int64],
    candidates: NDArray[np.int64],
    cardinality: int,
    stratum_table: NDArray[np.float64],
    cell_table: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Count row by row: `strata` holds the stratum of each row, `own_states` the variable's state in it."""
    counts = np.empty((n_strata * cardinality, own), dtype=np.int64)
    scores = np.empty(len(candidates))
    for c in range(len(candidates)):
        # A stratum of the parents and the candidate is a row of the table, a state of the variable a column.
        counts[:] = 0
        column = columns[candidates[c]]
        for row in range(len(strata)):
            counts[strata[row] * cardinality + column[row], own_states[row]] += weights[row]
        scores[c] = marginal_likelihood(counts, stratum_table, cell_table)
    return scores


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]  # numba carries no types
def _packed(cells: NDArray[np.int32], n_cells: int) -> NDArray[np.uint64]:
    """Return for each cell the set of rows that are in it, uint64 [n_cells, words]."""
    bits = np.zeros((n_cells, (len(cells) + 63) // 64), dtype=np.uint64)
    for row in range(len(cells)):  # bit row % 64 of word row // 64
        bits[cells[row], row >> 6] |= np.uint64(1) << np.uint64(row & 63)
    return bits


@intrinsic  # type: ignore[untyped-decorator]
def _ones(_typing: Any, _word: Any) -> Any:
    """Return the number of ones in a word; numba has no name for the processor's instruction."""

    def generated(_context: Any, builder: Any, _signature: Any, arguments: Sequence[Any]) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generated


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _shared(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> int:
    """Return how many rows two sets share."""
    found = np.uint64(0)
    for word in range(len(one)):  # 64 rows at a time
        found += _ones(one[word] & other[word])
    return int(found)
