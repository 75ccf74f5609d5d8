"""The number of a row's joint state of several variables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["joint_index"]


def joint_index(
    codes: NDArray[np.integer], columns: Sequence[int], cards: Sequence[int]
) -> NDArray[np.int64]:
    """Return for each row the number of its joint state of `columns`, the last one changing fastest.

    Parameters
    ----------
    codes
        [rows, variables]: each variable's state.
    columns, cards
        The variables, and the number of states of each of them.

    Examples
    --------
    >>> joint_index(np.array([[1, 0, 2], [0, 1, 1]]), (0, 2), (2, 3)).tolist()
    [5, 1]
    """
    numbers = np.zeros(len(codes), dtype=np.int64)
    for column, card in zip(columns, cards, strict=True):
        numbers = numbers * card + codes[:, column]
    return numbers
