"""Whether rows that a program tells for the second time are the same rows, or equal by chance."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from cb_pgm.model.intervention import Observations

__all__ = ["equal_by_chance"]

_BITS = 7.0  # sessions in which chance passes for a repetition: about one in 2⁸ for each arm
_NEWEST = 512  # rows of the arm's past that are looked at


def equal_by_chance(rows: Observations, past: Iterable[Observations], tells: int) -> bool:
    """Return whether rows may well be equal to earlier ones of the same arm by chance.

    Each row has the probability with which its content occurred among the newest past rows. One binary row
    equals an earlier one all the time, ten rows with five variables never do.

    Parameters
    ----------
    rows
        The rows, in the order in which they were told.
    past
        What the same arm was told before, the newest first.
    tells
        How many calls told it: with k of these there are k²/2 pairs of calls to be equal.
    """
    needed = _BITS + 2.0 * math.log2(max(tells, 1))
    if len(rows) * math.log2(_NEWEST) < needed:
        return True
    known: list[NDArray[np.float64]] = []
    for told in past:
        known.append(_contents(told))
        if sum(map(len, known)) >= _NEWEST:
            break
    if not known:
        return True  # nobody complied
    before = np.concatenate(known)
    contents, counts = np.unique(_contents(rows), axis=0, return_counts=True)
    occurred = np.array([(before == content).all(axis=1).sum() for content in contents])
    bits = float(counts @ np.log2(len(before) / np.maximum(occurred, 1)))
    return bits < needed


def _contents(rows: Observations) -> NDArray[np.float64]:
    return np.column_stack([rows.codes, rows.rewards])
