"""Sets of rows as bits: the rows in which a state occurs, and how many two such sets share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from discovery.estimation.contingency import Contingency

__all__ = ["packed", "shared", "state_sets"]


def state_sets(contingency: Contingency) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the rows in which each state of each column occurs.

    Returns
    -------
    tuple
        uint64 [states of all columns, ⌈N/64⌉], and int64 [n + 1]: the number of the first state of each
        column, and of all states.
    """
    first = np.concatenate([[0], np.cumsum(contingency.cardinalities)]).astype(np.int64)
    sets = np.empty((int(first[-1]), (contingency.n_rows + 63) // 64), dtype=np.uint64)
    merged = len(contingency.weights) < contingency.n_rows
    for begin, end, column in zip(first[:-1], first[1:], contingency.columns, strict=True):
        every = np.repeat(column, contingency.weights) if merged else column
        sets[begin:end] = packed(every.astype(np.int32), int(end - begin))
    return sets, first


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]  # numba carries no types
def packed(cells: NDArray[np.int32], n_cells: int) -> NDArray[np.uint64]:
    """Return for each cell the set of rows that are in it, uint64 [n_cells, words]."""
    bits = np.zeros((n_cells, (len(cells) + 63) // 64), dtype=np.uint64)
    for row in range(len(cells)):
        bits[cells[row], row >> 6] |= np.uint64(1) << np.uint64(row & 63)
    return bits


@intrinsic  # type: ignore[untyped-decorator]
def _ones(_typing: Any, _word: Any) -> Any:
    """Return the number of ones in a word; numba has no name for the processor's instruction."""

    def generated(_context: Any, builder: Any, _signature: Any, arguments: Sequence[Any]) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generated


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def shared(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> int:
    """Return how many rows two sets share."""
    found = np.uint64(0)
    for word in range(len(one)):
        found += _ones(one[word] & other[word])
    return int(found)
