"""Forward sampling of a model under any intervention, compiled.

Every free variable of every row takes one uniform u: its state is the number of its row's cumulative
probabilities that u reaches. Variables are visited in topological order, so one pass over the row draws it
from the truncated factorisation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cb_pgm.discrete_model import DiscreteModel, Reward

__all__ = ["Sampler"]

_UNIFORMS_AT_ONCE = 2**15  # 256 KB: they are drawn and used while in cache, and memory stays that of the rows


class Sampler:
    """Draws rows of `model` and rewards, given which variables are held at which states.

    Parameters
    ----------
    model, reward
        What to draw from; compiled into flat arrays once.
    """

    def __init__(self, model: DiscreteModel, reward: Reward) -> None:
        self._n = len(model.parents)
        self._noise = reward.noise
        self._order = np.array(model.order, dtype=np.int32)
        self._plan = _compile(model)
        self._reward = (
            np.array(reward.parents, dtype=np.int32),
            np.array(_strides(reward.means.shape), dtype=np.int64),
            np.ascontiguousarray(reward.means).ravel(),
        )

    def draw(
        self, held: NDArray[np.int16], size: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int16], NDArray[np.float64]]:
        """Draw rows under the intervention that holds variables at codes.

        Parameters
        ----------
        held
            int16 [n]: the code each variable is held at, -1 where it is free.
        size
            The number of rows.
        rng
            Where all randomness comes from: one uniform per row and free variable, then what the rewards'
            noise needs.

        Returns
        -------
        codes
            int16 [size, n].
        rewards
            float64 [size].
        """
        codes = np.empty((size, self._n), dtype=np.int16)
        means = np.empty(size)
        free = self._order[held[self._order] < 0]
        at_once = max(1, _UNIFORMS_AT_ONCE // max(1, len(free)))
        for first in range(0, size, at_once):
            rows = codes[first : first + at_once]
            uniforms = rng.random((len(rows), len(free)))
            _draw_rows(uniforms, held, free, *self._plan, *self._reward, rows, means[first : first + at_once])
        if self._noise is None:
            return codes, (rng.random(size) < means).astype(np.float64)
        if self._noise > 0:
            means += self._noise * rng.standard_normal(size)
        return codes, means


def _compile(model: DiscreteModel) -> tuple[NDArray[Any], ...]:
    """Flatten the tables into cumulative probabilities, one after the other; say where each begins."""
    cumulative: list[NDArray[np.float64]] = []
    parents: list[int] = []
    strides: list[int] = []
    first_parent, first_cell = [0], []
    cells = 0
    for v, table in enumerate(model.tables):
        thresholds = np.cumsum(table, axis=-1)
        # What rounding leaves below 1 after the last possible state would make an impossible one possible.
        last = table.shape[-1] - 1 - np.argmax(table[..., ::-1] > 0, axis=-1)
        thresholds[np.arange(table.shape[-1]) >= last[..., None]] = 1.0
        thresholds = thresholds[..., :-1]
        parents += model.parents[v]
        strides += _strides(thresholds.shape)[:-1]
        first_parent.append(len(parents))
        first_cell.append(cells)
        cells += thresholds.size
        cumulative.append(thresholds.ravel())
    return (
        np.array(first_parent, dtype=np.int64),
        np.array(parents, dtype=np.int64),
        np.array(strides, dtype=np.int64),
        np.array(first_cell, dtype=np.int64),
        np.array(model.cards, dtype=np.int64),
        np.concatenate(cumulative),
    )


def _strides(shape: tuple[int, ...]) -> list[int]:
    """Cells between neighbours along each axis of a contiguous array."""
    return [int(np.prod(shape[axis + 1 :], dtype=np.int64)) for axis in range(len(shape))]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]  # numba carries no types
def _draw_rows(
    uniforms: NDArray[np.float64],
    held: NDArray[np.int16],
    free: NDArray[np.int32],
    first_parent: NDArray[np.int64],
    parents: NDArray[np.int64],
    strides: NDArray[np.int64],
    first_cell: NDArray[np.int64],
    cards: NDArray[np.int64],
    cumulative: NDArray[np.float64],
    reward_parents: NDArray[np.int32],
    reward_strides: NDArray[np.int64],
    reward_means: NDArray[np.float64],
    codes: NDArray[np.int16],
    means: NDArray[np.float64],
) -> None:
    for row in range(len(codes)):
        for v in range(len(held)):
            codes[row, v] = held[v]
        for place in range(len(free)):
            v = free[place]
            cell = first_cell[v]
            for edge in range(first_parent[v], first_parent[v + 1]):
                cell += codes[row, parents[edge]] * strides[edge]
            uniform = uniforms[row, place]
            state = 0
            for threshold in range(cell, cell + cards[v] - 1):
                state += uniform >= cumulative[threshold]
            codes[row, v] = state
        cell = 0
        for edge in range(len(reward_parents)):
            cell += codes[row, reward_parents[edge]] * reward_strides[edge]
        means[row] = reward_means[cell]
