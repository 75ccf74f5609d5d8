"""Choose the arm that best separates two explanations of the reward, from the rows observed under each arm.

An explanation is an expert of `Screening`: a set of variables and a mean reward for each of their joint
states. Under an arm, rows separate two explanations at the rate E[(difference of their predictions)²] / 2σ²
nats a row. The rows observed under the arm estimate this rate without any rewards, so a few pulls reveal an
arm under which the two predictions agree.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["RecentRows"]

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
    ) -> tuple[tuple[int, int], float]:
        """Return the arm on `variables` under which two explanations differ most for its cost, and how much.

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

        Returns
        -------
        arm
            (variable, state), both as positions; (−1, −1) if the explanations differ under no arm.
        difference
            The mean squared difference of the predictions under it, in squared units of the reward, by its
            cost.

        Notes
        -----
        Besides the rows observed under an arm, one imagined row counts: the mean over the newest rows of any
        arm with the arm's variable replaced and all others unchanged. For an arm without rows this is the
        only one. Ties are broken in the order of `variables`, then of states.
        """
        variable, state, difference = _best_arm(
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
        )
        return (variable, state), difference


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
                difference = _predicted(
                    codes, variable, state, first, first_predictions, n_states
                ) - _predicted(codes, variable, state, second, second_predictions, n_states)
                total += difference**2
                rows += 1.0
            if rows > 0.0:
                total, rows = total / rows, 1.0
            row, used = newest[variable, state], 0
            while row >= 0 and row >= oldest_kept and used < _USED:
                codes = kept[row % len(kept)]
                difference = _predicted(codes, -1, -1, first, first_predictions, n_states) - _predicted(
                    codes, -1, -1, second, second_predictions, n_states
                )
                total += difference**2
                rows += 1.0
                used += 1
                row = older[row % len(kept)]
            if rows > 0.0 and total / rows / costs[variable, state] > best:
                best_variable, best_state, best = variable, state, total / rows / costs[variable, state]
    return best_variable, best_state, best
