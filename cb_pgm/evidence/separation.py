"""Choose the pull that best separates two explanations of the reward.

An explanation is a set of variables and a mean reward for each of their joint states, such as an expert of
`Screening`. If a pull sets all variables of both, the two predictions are known (`best_cell`). Otherwise the
rows observed under each arm decide (`RecentRows`): a row separates two explanations by the mean divergence of
their predictions, in nats (`cb_pgm.evidence.losses`). The rows observed under the arm estimate this rate
without any rewards, so a few pulls reveal an arm under which the two predictions agree.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cb_pgm.evidence.losses import divergence

__all__ = ["RecentRows", "best_cell"]

_KEPT = 2048  # rows kept over all arms
_USED = 16  # rows of an arm that are used, newest first
_IMAGINED = 4  # newest rows of any arm that stand for one row of this arm, its variable's state replaced


class RecentRows:
    """The newest 2,048 rows, linked by the arm under which they were observed.

    Parameters
    ----------
    n_states
        The number of states of each variable. An arm is (variable, state), both as positions.
    """

    def __init__(self, n_states: Sequence[int]) -> None:
        n, largest = len(n_states), max(n_states, default=1)
        self._codes: NDArray[np.int16] = np.zeros((_KEPT, n), dtype=np.int16)
        self._older: NDArray[np.int64] = np.full(_KEPT, -1, dtype=np.int64)
        self._newest: NDArray[np.int64] = np.full((n, largest), -1, dtype=np.int64)
        self._seen = 0
        self._n_states = largest

    def add(self, codes: NDArray[np.int16], arm: tuple[int, int] | None) -> None:
        """Add rows, int16 [m, n], observed under `arm`; None for any other intervention."""
        variable, state = arm if arm is not None else (-1, -1)
        _add(codes, variable, state, self._codes, self._older, self._newest, self._seen)
        self._seen += len(codes)

    def best_arm(
        self,
        variables: Sequence[int],
        settable: NDArray[np.bool_],
        first: tuple[Sequence[int], NDArray[np.float64]],
        second: tuple[Sequence[int], NDArray[np.float64]],
        costs: NDArray[np.float64],
        scale: float,
    ) -> tuple[tuple[int, int], float]:
        """Return the arm on `variables` that best separates two explanations for its cost, and how well.

        Parameters
        ----------
        variables
            The positions of the variables whose arms to compare.
        settable
            bool [n, K]: the arms that may be pulled.
        first, second
            Each an expert's variables and its predictions, float64 [cells] (`Screening.predictions`).
        costs
            What a round of each arm costs, float64 [n, K], positive.
        scale
            That of the loss.

        Returns
        -------
        arm
            (variable, state), both as positions; (−1, −1) if the explanations differ under no arm.
        separation
            The mean divergence of the predictions under it if the first explanation is right, in nats a row,
            by its cost.

        Notes
        -----
        Besides the rows observed under an arm, one imagined row counts: the mean over the newest rows of any
        arm with the arm's variable replaced and all others unchanged. For an arm without rows this is the
        only one. Ties are broken in the order of `variables`, then of states.
        """
        variable, state, separation = _best_arm(
            np.asarray(variables, dtype=np.int64),
            settable,
            np.asarray(first[0], dtype=np.int64),
            first[1],
            np.asarray(second[0], dtype=np.int64),
            second[1],
            costs,
            self._codes,
            self._older,
            self._newest,
            self._seen,
            self._n_states,
            scale,
        )
        return (variable, state), separation


def best_cell(
    variables: Sequence[int],
    settable: NDArray[np.bool_],
    first: tuple[Sequence[int], NDArray[np.float64]],
    second: tuple[Sequence[int], NDArray[np.float64]],
    least_cost: float,
    scale: float,
) -> tuple[tuple[int, ...], float]:
    """Return the states of `variables` that best separate two explanations for their cost.

    The value of a joint state is d(m₁, m₂)/(max m₁ − m₁ + least_cost), where m₁ and m₂ are the predictions of
    the first and the second explanation and d their divergence: what a row separates by what it costs, if the
    first is right.

    Parameters
    ----------
    variables
        The positions of all variables of both explanations.
    settable
        bool [n, K]: the states that may be set.
    first, second
        Each an explanation's variables and its predictions, float64 [cells].
    least_cost
        Positive, in units of the reward.
    scale
        That of the loss.

    Returns
    -------
    states
        The state of each of `variables`.
    separation
        d(m₁, m₂), in nats a row; 0 if the explanations agree on all joint states.

    Notes
    -----
    O(K^variables). Ties are broken in favour of the lower states.
    """
    together = np.asarray(variables, dtype=np.int64)
    cell, separation = _best_cell(
        together,
        settable,
        np.asarray(first[0], dtype=np.int64),
        first[1],
        np.asarray(second[0], dtype=np.int64),
        second[1],
        least_cost,
        scale,
    )
    n_states = settable.shape[1]
    return tuple(cell // n_states**place % n_states for place in range(len(together))), separation


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba carries no types
def _add(
    codes: NDArray[np.int16],
    variable: int,
    state: int,
    kept: NDArray[np.int16],
    older: NDArray[np.int64],
    newest: NDArray[np.int64],
    seen: int,
) -> None:
    for row in range(max(0, len(codes) - len(kept)), len(codes)):
        slot = (seen + row) % len(kept)
        kept[slot] = codes[row]
        if variable >= 0:
            older[slot] = newest[variable, state]
            newest[variable, state] = seen + row


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]
def _predicted(
    codes: NDArray[np.int16],
    replaced: int,
    state: int,
    variables: NDArray[np.int64],
    predictions: NDArray[np.float64],
    n_states: int,
) -> float:
    cell, stride = 0, 1
    for position in range(len(variables)):
        variable = variables[position]
        cell += stride * (state if variable == replaced else codes[variable])
        stride *= n_states
    prediction: float = predictions[cell]
    return prediction


@njit(cache=True)  # type: ignore[untyped-decorator]
def _best_arm(
    variables: NDArray[np.int64],
    settable: NDArray[np.bool_],
    first: NDArray[np.int64],
    first_predictions: NDArray[np.float64],
    second: NDArray[np.int64],
    second_predictions: NDArray[np.float64],
    costs: NDArray[np.float64],
    kept: NDArray[np.int16],
    older: NDArray[np.int64],
    newest: NDArray[np.int64],
    seen: int,
    n_states: int,
    scale: float,
) -> tuple[int, int, float]:
    best_variable, best_state, best = -1, -1, 0.0
    oldest_kept = seen - len(kept)
    for variable in variables:
        for state in range(n_states):
            if not settable[variable, state]:
                continue
            total, rows = 0.0, 0.0
            for row in range(max(0, seen - _IMAGINED), seen):
                codes = kept[row % len(kept)]
                total += divergence(
                    _predicted(codes, variable, state, first, first_predictions, n_states),
                    _predicted(codes, variable, state, second, second_predictions, n_states),
                    scale,
                )
                rows += 1.0
            if rows > 0.0:
                total, rows = total / rows, 1.0
            row, used = newest[variable, state], 0
            while row >= 0 and row >= oldest_kept and used < _USED:
                codes = kept[row % len(kept)]
                total += divergence(
                    _predicted(codes, -1, -1, first, first_predictions, n_states),
                    _predicted(codes, -1, -1, second, second_predictions, n_states),
                    scale,
                )
                rows += 1.0
                used += 1
                row = older[row % len(kept)]
            if rows > 0.0 and total / rows / costs[variable, state] > best:
                best_variable, best_state, best = variable, state, total / rows / costs[variable, state]
    return best_variable, best_state, best


@njit(cache=True)  # type: ignore[untyped-decorator]
def _best_cell(
    variables: NDArray[np.int64],
    settable: NDArray[np.bool_],
    first: NDArray[np.int64],
    first_predictions: NDArray[np.float64],
    second: NDArray[np.int64],
    second_predictions: NDArray[np.float64],
    least_cost: float,
    scale: float,
) -> tuple[int, float]:
    n_states = settable.shape[1]
    codes = np.zeros(settable.shape[0], dtype=np.int64)
    highest = -np.inf
    best, best_value, best_separation = 0, 0.0, 0.0
    for comparing in (False, True):  # the highest prediction is needed first
        for cell in range(n_states ** len(variables)):
            left, allowed = cell, True
            for variable in variables:
                codes[variable] = left % n_states
                allowed &= settable[variable, codes[variable]]
                left //= n_states
            if not allowed:
                continue
            predicted = _predicted(codes, -1, -1, first, first_predictions, n_states)
            if not comparing:
                highest = max(highest, predicted)
                continue
            other = _predicted(codes, -1, -1, second, second_predictions, n_states)
            separation = divergence(predicted, other, scale)
            value = separation / (highest - predicted + least_cost)
            if value > best_value:
                best, best_value, best_separation = cell, value, separation
    return best, best_separation
