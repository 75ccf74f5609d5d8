"""Forward sampling of a model under any intervention, compiled.

Each free variable of each row takes one uniform u. Its state is the number of cumulative probabilities, in
the row of its table that its parents' states select, that u reaches. Variables are visited in topological
order, so a row follows the truncated factorisation. A block of rows is drawn one variable at a time, in
arrays that stay in the processor's cache.

pgmpy's interventional sampling is rejection sampling. It is right where it ends, takes 200 times as long with
one variable set (10,000 rows of sachs or alarm), 7 ms for a single row against 4 µs, and never ends for a
state of probability zero; so rows for a bandit are drawn here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cb_pgm.model.discrete_model import DiscreteModel, Reward

__all__ = ["Sampler"]

# The number of uniforms drawn at once, half a megabyte. They are used while they are in the cache, and memory
# stays little above what the rows take.
_UNIFORMS_AT_ONCE = 2**16


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
        self._bernoulli = reward.noise is None
        self._plan = _compile(model, reward)

    def draw(
        self, held: NDArray[np.int16], n_held: int, size: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int16], NDArray[np.float64]]:
        """Draw rows under the intervention that holds `n_held` variables.

        Parameters
        ----------
        held
            int16 [n]: the code that each variable is held at, −1 where it is free.
        n_held
            The number of variables held.
        size
            The number of rows.
        rng
            The source of all randomness. It gives one uniform of 53 bits for each row and free variable, and
            another, or a normal variate, for each row's reward.

        Returns
        -------
        codes
            int16 [size, n].
        rewards
            float64 [size].
        """
        codes = np.empty((size, self._n), np.int16)
        rewards = np.empty(size)
        draws = self._n - n_held + self._bernoulli
        at_once = max(1, _UNIFORMS_AT_ONCE // max(1, draws))
        for first in range(0, size, at_once):
            last = min(first + at_once, size)
            uniforms = rng.random((draws, last - first))
            _draw_rows(uniforms, held, *self._plan, self._bernoulli, codes[first:last], rewards[first:last])
        if self._noise:
            rewards += self._noise * rng.standard_normal(size)
        return codes, rewards


def _compile(model: DiscreteModel, reward: Reward) -> tuple[NDArray[Any], ...]:
    """Flatten the model and the reward into arrays for `_draw_rows`.

    Returns
    -------
    steps
        int32 [n + 1, 4]: in topological order, then for the reward: variable, its first edge, its first cell,
        and one less than its number of states. Its edges end where the next step's begin.
    edges
        int32 [edges, 2]: parent, and the cells between neighbouring states of it.
    cells
        float64: the cumulative probabilities, one less than states for each row of each table; the reward's
        means.
    """
    steps: list[tuple[int, int, int, int]] = []
    edges: list[tuple[int, int]] = []
    cells: list[NDArray[np.float64]] = []
    n_cells = 0
    thresholds = {
        id(table): _thresholds(table) for table in model.tables
    }  # one for many variables in instances
    tables = [(v, model.parents[v], thresholds[id(model.tables[v])]) for v in model.order]
    tables.append((-1, reward.parents, reward.means[..., None]))
    first_cells: dict[int, int] = {}
    for v, parents, table in tables:
        shared = first_cells.setdefault(id(table), n_cells)
        steps.append((v, len(edges), shared, table.shape[-1]))
        edges += zip(
            parents, (int(np.prod(table.shape[axis + 1 :])) for axis in range(len(parents))), strict=True
        )
        if shared == n_cells:
            cells.append(table.ravel())
            n_cells += table.size
    steps.append((-1, len(edges), n_cells, 0))
    return np.array(steps, np.int32), np.array(edges, np.int32).reshape(-1, 2), np.concatenate(cells)


def _thresholds(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cumulative probabilities of all states but the last [..., states - 1]."""
    thresholds = np.cumsum(table, axis=-1)
    # What rounding leaves below 1 after the last possible state would make an impossible one possible.
    last = table.shape[-1] - 1 - np.argmax(table[..., ::-1] > 0, axis=-1)
    thresholds[np.arange(table.shape[-1]) >= last[..., None]] = 1.0
    return thresholds[..., :-1]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]  # numba carries no types
def _draw_rows(
    uniforms: NDArray[np.float64],
    held: NDArray[np.int16],
    steps: NDArray[np.int32],
    edges: NDArray[np.int32],
    cells: NDArray[np.float64],
    bernoulli: bool,
    codes: NDArray[np.int16],
    rewards: NDArray[np.float64],
) -> None:
    """Fill `codes` [rows, n] and `rewards` [rows]; `uniforms` [free variables (and the reward), rows]."""
    size, n = codes.shape
    columns = np.empty((n, size), np.int16)
    cell = np.empty(size, np.uint32)
    place = 0
    for step in range(n + 1):
        v, first_edge, first_cell, thresholds = steps[step]
        if step < n and held[v] >= 0:
            columns[v] = held[v]
            continue
        cell[:] = first_cell
        for edge in range(first_edge, steps[step + 1, 1]):
            parent = columns[edges[edge, 0]]
            stride = np.uint32(edges[edge, 1])
            for row in range(size):
                cell[row] += np.uint32(parent[row]) * stride
        if step == n:
            break
        column, uniform = columns[v], uniforms[place]
        place += 1
        column[:] = 0
        for threshold in range(thresholds):
            for row in range(size):
                column[row] += uniform[row] >= cells[cell[row] + np.uint32(threshold)]
    for row in range(size):
        mean = cells[cell[row]]
        rewards[row] = (1.0 if uniforms[place, row] < mean else 0.0) if bernoulli else mean
        for v in range(n):
            codes[row, v] = columns[v, row]
