"""The columns of a table as read, before any of them is interpreted.

A `TextColumn` keeps each distinct text once and an index per row. A column with more distinct numbers than an
index can distinguish is a `NumberColumn`, which can only be binned, be a reward, or be refused. An empty text
or NaN is a missing value; all else is a value ("NA" and "None" too). A `ColumnBuilder` makes a column of
either kind from fields that come block by block.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discovery.errors import TableError
from discovery.wording import quoted

__all__ = [
    "MAX_STATES",
    "Column",
    "ColumnBuilder",
    "NumberColumn",
    "RawTable",
    "TextColumn",
    "as_number",
]

#: The largest number of states that int16 codes can distinguish.
MAX_STATES = 32_767


@dataclass(frozen=True, eq=False)
class TextColumn:
    """A column as its distinct texts and, for each row, the index of its text.

    Attributes
    ----------
    codes
        int16 [n_rows], indices into `texts`.
    texts
        In order of first appearance, without surrounding blanks; each occurs in some row.
    """

    codes: NDArray[np.int16]
    texts: tuple[str, ...]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """bool [n_rows]: the rows in which the field is empty."""
        return np.array([text == "" for text in self.texts], dtype=np.bool_)[self.codes]

    @property
    def n_distinct(self) -> int:
        """The number of distinct values that aren't missing."""
        return len(self.texts) - ("" in self.texts)

    def numbers(self) -> NDArray[np.float64] | None:
        """float64 [n_rows], NaN where missing; None if a text isn't a finite number, or all are missing."""
        values = [math.nan if text == "" else as_number(text) for text in self.texts]
        if any(value is None for value in values) or not self.n_distinct:
            return None
        return np.array(values, dtype=np.float64)[self.codes]

    def take(self, rows: NDArray[np.bool_]) -> TextColumn:
        """Return the column at the rows chosen by `rows`, bool [n_rows], with the texts that occur there."""
        if rows.all():
            return self
        codes = self.codes[rows]
        used = np.flatnonzero(np.bincount(codes, minlength=len(self.texts)))
        place = np.zeros(len(self.texts), dtype=np.int16)
        place[used] = np.arange(len(used))
        return TextColumn(place[codes], tuple(self.texts[index] for index in used))


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A column with more than `MAX_STATES` distinct finite numbers, float64 [n_rows], NaN where missing."""

    values: NDArray[np.float64]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """bool [n_rows]: the rows in which the field is empty."""
        return np.isnan(self.values)

    @property
    def n_distinct(self) -> int:
        """The number of distinct values that aren't missing."""
        return len(np.unique(self.values[~self.missing]))

    def numbers(self) -> NDArray[np.float64]:
        """float64 [n_rows], NaN where missing."""
        return self.values

    def take(self, rows: NDArray[np.bool_]) -> NumberColumn:
        """Return the column at the rows chosen by `rows`, bool [n_rows]."""
        return self if rows.all() else NumberColumn(self.values[rows])


Column = TextColumn | NumberColumn


@dataclass(frozen=True, eq=False)
class RawTable:
    """A table as read.

    Attributes
    ----------
    names
        The names of all columns in order, ignored ones included.
    columns
        The columns that aren't ignored, by name and in order.
    n_rows
        The number of rows.
    sha256
        The SHA-256 hash of what was read, in hexadecimal.
    source
        The table's name in messages.
    warnings
        What a person should know about it, one line each.
    """

    names: tuple[str, ...]
    columns: dict[str, Column]
    n_rows: int
    sha256: str
    source: str
    warnings: tuple[str, ...] = field(default=())


def as_number(text: str) -> float | None:
    """Return the finite number that a text is, or None.

    Examples
    --------
    >>> as_number("01"), as_number(" -2.5e3 "), as_number("nan"), as_number("1_000"), as_number("1,5")
    (1.0, -2500.0, None, None, None)
    """
    if "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


class ColumnBuilder:
    """Build a column from fields that come block by block, keeping each distinct text once.

    Parameters
    ----------
    where
        The column's name in messages.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._indices = _Indices()
        self._codes: list[NDArray[np.int16]] = []
        self._values: list[NDArray[np.float64]] | None = None
        self._n_rows = 0

    def add(self, fields: tuple[str, ...]) -> None:
        """Add the fields of the next rows; blanks around them are dropped.

        Raises
        ------
        TableError
            If there are more than `MAX_STATES` distinct texts that aren't all numbers.
        """
        self._n_rows += len(fields)
        if self._values is not None:
            self._values.append(self._numbers(fields))
            return
        codes = np.fromiter(map(self._indices.__getitem__, fields), dtype=np.int32, count=len(fields))
        if len(self._indices.distinct) > MAX_STATES:
            numbers = self._numbers(tuple(self._indices.distinct))
            self._values = [*(numbers[earlier] for earlier in self._codes), numbers[codes]]
            self._codes, self._indices = [], _Indices()
            return
        self._codes.append(codes.astype(np.int16))
        if len(self._indices) > 4 * MAX_STATES:  # the same texts with ever other blanks around them
            self._indices.clear()

    def column(self) -> Column:
        """Return the column of all fields added."""
        if self._values is not None:
            return NumberColumn(np.concatenate(self._values))
        codes = np.concatenate(self._codes) if self._codes else np.zeros(0, dtype=np.int16)
        return TextColumn(codes, tuple(self._indices.distinct))

    def _numbers(self, fields: tuple[str, ...]) -> NDArray[np.float64]:
        try:  # four times as fast where, as mostly, every field is a number
            quick = np.fromiter(map(float, fields), dtype=np.float64, count=len(fields))
        except ValueError:
            quick = np.full(1, np.nan)
        if np.isfinite(quick).all() and "_" not in "".join(fields):
            return quick
        values = [math.nan if not field or field.isspace() else as_number(field) for field in fields]
        if None in values:
            raise TableError(
                f"Expected numbers or at most {MAX_STATES} distinct values but found more in {self._where}, "
                f"among them {quoted(fields[values.index(None)].strip())}, by data row {self._n_rows}: "
                "leave the column out (--ignore)"
            )
        return np.array(values, dtype=np.float64)


class _Indices(dict[str, int]):
    """Map a field as in the file to the index of its text; known fields are found at C speed."""

    def __init__(self) -> None:
        super().__init__()
        self.distinct: dict[str, int] = {}

    def __missing__(self, field: str) -> int:
        index = self.distinct.setdefault(field.strip(), len(self.distinct))
        self[field] = index
        return index
