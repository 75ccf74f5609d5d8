"""The rows so far, kept to be replayed when something new is to be tested on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["KeptRows"]

_MOST_CODES = 2**24  # of all rows: bounds memory


class KeptRows:
    """Rows in their order, as long as they have at most 2²⁴ codes.

    Attributes
    ----------
    size
        m, the number of rows kept.
    complete
        Whether these are all rows.
    codes
        int16 [capacity, n]: each row's states, −1 where unknown.
    values
        float64 [capacity, 2]: its reward, and log of the probability that the mixture gave to it.
    places
        int64 [capacity, 2]: the number of its arm, −1 for none, and its place in `set_variables`.
    """

    def __init__(self, n: int) -> None:
        self.size, self.complete = 0, True
        self.codes: NDArray[np.int16] = np.empty((256, n), dtype=np.int16)
        self.values: NDArray[np.float64] = np.empty((256, 2))
        self.places: NDArray[np.int64] = np.empty((256, 2), dtype=np.int64)
        self._marks: dict[tuple[int, ...], tuple[int, NDArray[np.bool_]]] = {}

    def setting(self, set_variables: tuple[int, ...]) -> tuple[int, NDArray[np.bool_]]:
        """Return the place of a combination of set variables, and which those are, bool [1, n]."""
        known = self._marks.get(set_variables)
        if known is None:
            marks = np.zeros((1, self.codes.shape[1]), dtype=np.bool_)
            marks[0, list(set_variables)] = True
            known = self._marks[set_variables] = len(self._marks), marks
        return known

    def number(self, set_variables: tuple[int, ...]) -> int:
        """Return the place of a combination of set variables; −1 if it wasn't met."""
        known = self._marks.get(set_variables)
        return -1 if known is None else known[0]

    @property
    def set_variables(self) -> tuple[tuple[int, ...], ...]:
        """The positions of the variables set, for each combination met."""
        return tuple(self._marks)

    def was_set(self, start: int = 0) -> NDArray[np.bool_]:
        """Return which variables were set in each row from `start` on, bool [m, n]."""
        marks = np.concatenate([marks for _, marks in self._marks.values()])
        chosen: NDArray[np.bool_] = marks[self.places[start : self.size, 1]]
        return chosen

    def make_room(self, rows: int) -> bool:
        """Make room for further rows; return False if they aren't to be kept."""
        wanted = self.size + rows
        self.complete &= wanted * self.codes.shape[1] <= _MOST_CODES
        while self.complete and wanted > len(self.values):
            self.codes, self.values, self.places = (
                np.concatenate([kept, np.empty_like(kept)]) for kept in (self.codes, self.values, self.places)
            )
        return self.complete

    def blocks(self) -> list[tuple[slice, int, tuple[int, ...]]]:
        """Return runs of rows under one intervention: their places, arm and variables set."""
        places, known = self.places[: self.size], self.set_variables
        ends = [*(np.flatnonzero((places[1:] != places[:-1]).any(axis=1)) + 1), self.size]
        starts = [0, *ends[:-1]]
        return [
            (slice(start, end), int(places[start, 0]), known[places[start, 1]])
            for start, end in zip(starts, ends, strict=True)
            if end > start
        ]
