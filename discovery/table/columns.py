"""The columns of a table as read, before any of them is interpreted.

A `TextColumn` keeps each distinct text once and an index per row. A column with more distinct texts than an
index can distinguish is a `NumberColumn`, which can only be binned, be a reward, or be refused. An empty text
or NaN is a missing value; texts that count as missing ("NA", if a person doesn't say otherwise) have become
empty. A `ColumnBuilder` makes a column of either kind from fields that come block by block.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from discovery.table.number_format import PLAIN, NumberFormat, formats_of

__all__ = [
    "MAX_STATES",
    "Column",
    "ColumnBuilder",
    "NumberColumn",
    "RawTable",
    "TextColumn",
    "with_formats",
]

#: The largest number of texts that int16 codes can distinguish.
MAX_STATES = 32_767
_ODD_TEXTS = 5


@dataclass(frozen=True, eq=False)
class TextColumn:
    """A column as its distinct texts and, for each row, the index of its text.

    Attributes
    ----------
    codes
        int16 [n_rows], indices into `texts`.
    texts
        In order of first appearance, without surrounding blanks; each occurs in some row.
    format
        How numbers are written among the texts.
    missing_texts
        The texts that were read as missing values.
    """

    codes: NDArray[np.int16]
    texts: tuple[str, ...]
    format: NumberFormat = PLAIN
    missing_texts: tuple[str, ...] = ()

    @property
    def missing(self) -> NDArray[np.bool_]:
        """bool [n_rows]: the rows in which the field is empty."""
        return np.array([text == "" for text in self.texts], dtype=np.bool_)[self.codes]

    @property
    def n_distinct(self) -> int:
        """The number of distinct values that aren't missing."""
        return len(self.texts) - ("" in self.texts)

    @property
    def odd_texts(self) -> tuple[str, ...]:
        """The texts that aren't finite numbers."""
        return tuple(text for text in self.texts if text and self.format.number(text) is None)

    def numbers(self) -> NDArray[np.float64] | None:
        """float64 [n_rows], NaN where missing; None if a text isn't a finite number, or all are missing."""
        values = [math.nan if text == "" else self.format.number(text) for text in self.texts]
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
        return replace(self, codes=place[codes], texts=tuple(self.texts[index] for index in used))


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A column with more than `MAX_STATES` distinct texts, as numbers.

    Attributes
    ----------
    values
        float64 [n_rows], NaN where a field is empty or isn't a finite number.
    odd
        bool [n_rows]: where a field is neither empty nor a finite number.
    odd_texts
        Some of those fields.
    missing_texts
        The texts that were read as missing values.
    """

    values: NDArray[np.float64]
    odd: NDArray[np.bool_]
    odd_texts: tuple[str, ...] = ()
    missing_texts: tuple[str, ...] = ()

    @property
    def missing(self) -> NDArray[np.bool_]:
        """bool [n_rows]: the rows in which the field is empty."""
        return np.isnan(self.values) & ~self.odd

    @property
    def n_distinct(self) -> int:
        """The number of distinct values that aren't missing; each field that is no number counts as one."""
        return len(np.unique(self.values[~np.isnan(self.values)])) + int(self.odd.sum())

    def numbers(self) -> NDArray[np.float64] | None:
        """float64 [n_rows], NaN where missing; None if a field isn't a finite number."""
        return None if self.odd.any() else self.values

    def take(self, rows: NDArray[np.bool_]) -> NumberColumn:
        """Return the column at the rows chosen by `rows`, bool [n_rows]."""
        return self if rows.all() else replace(self, values=self.values[rows], odd=self.odd[rows])


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


def with_formats(columns: Mapping[str, Column], *, comma_separates: bool) -> dict[str, Column]:
    """Return the columns with the formats in which they write numbers, found from all of them."""
    texts = {
        name: [text for text in column.texts if text]
        for name, column in columns.items()
        if isinstance(column, TextColumn)
    }
    found = formats_of(texts, comma_separates=comma_separates)
    return {
        name: replace(column, format=found[name])
        if name in found and isinstance(column, TextColumn)
        else column
        for name, column in columns.items()
    }


class ColumnBuilder:
    """Build a column from fields that come block by block, keeping each distinct text once.

    Parameters
    ----------
    missing_texts
        The texts that count as missing values, besides the empty one.
    comma_separates
        Whether the comma separates fields, as `formats_of` needs to know.
    """

    def __init__(self, missing_texts: Collection[str] = (), *, comma_separates: bool = True) -> None:
        self._indices = _Indices(missing_texts)
        self._comma_separates = comma_separates
        self._codes: list[NDArray[np.int16]] = []
        self._format: NumberFormat | None = None
        self._values: list[NDArray[np.float64]] = []
        self._odd: list[NDArray[np.bool_]] = []
        self._odd_texts: dict[str, None] = {}

    def add(self, fields: tuple[str, ...]) -> None:
        """Add the fields of the next rows; blanks around them are dropped."""
        if self._format is not None:
            values, odd = self._numbers(fields, self._format)
            self._values.append(values)
            self._odd.append(odd)
            return
        codes = np.fromiter(map(self._indices.__getitem__, fields), dtype=np.int32, count=len(fields))
        self._codes.append(codes.astype(np.int16))
        if len(self._indices.distinct) > MAX_STATES:
            self._become_numbers(codes)
        elif len(self._indices) > 4 * MAX_STATES:  # the same texts with ever other blanks around them
            self._indices.clear()

    def column(self) -> Column:
        """Return the column of all fields added."""
        missing_texts = tuple(self._indices.missing_found)
        if self._format is not None:
            values, odd = np.concatenate(self._values), np.concatenate(self._odd)
            return NumberColumn(values, odd, tuple(self._odd_texts), missing_texts)
        codes = np.concatenate(self._codes) if self._codes else np.zeros(0, dtype=np.int16)
        return TextColumn(codes, tuple(self._indices.distinct), missing_texts=missing_texts)

    def _become_numbers(self, last: NDArray[np.int32]) -> None:
        """Turn the texts read so far into numbers; `last` are the codes of the last block."""
        texts = tuple(self._indices.distinct)
        found = formats_of({"": [text for text in texts if text]}, comma_separates=self._comma_separates)
        self._format = found.get("", PLAIN)
        values, odd = self._numbers(texts, self._format)
        for codes in [*(block.astype(np.int32) for block in self._codes[:-1]), last]:
            self._values.append(values[codes])
            self._odd.append(odd[codes])
        self._codes = []
        self._indices.distinct.clear()
        self._indices.clear()

    def _numbers(
        self, fields: tuple[str, ...], written: NumberFormat
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        if written == PLAIN:
            try:  # four times as fast where, as mostly, every field is a number
                quick = np.fromiter(map(float, fields), dtype=np.float64, count=len(fields))
            except ValueError:
                quick = np.full(1, np.nan)
            if np.isfinite(quick).all() and "_" not in "".join(fields):
                return quick, np.zeros(len(fields), dtype=np.bool_)
        texts = [self._indices.text(field) for field in fields]
        values = [math.nan if text == "" else written.number(text) for text in texts]
        for text, value in zip(texts, values, strict=True):
            if value is None and len(self._odd_texts) < _ODD_TEXTS:
                self._odd_texts[text] = None
        odd = np.array([value is None for value in values], dtype=np.bool_)
        return np.array([math.nan if value is None else value for value in values]), odd


class _Indices(dict[str, int]):
    """Map a field as in the file to the index of its text; known fields are found at C speed."""

    def __init__(self, missing_texts: Collection[str]) -> None:
        super().__init__()
        self._missing_texts = frozenset(missing_texts)
        self.missing_found: dict[str, None] = {}
        self.distinct: dict[str, int] = {}

    def __missing__(self, field: str) -> int:
        index = self.distinct.setdefault(self.text(field), len(self.distinct))
        self[field] = index
        return index

    def text(self, field: str) -> str:
        """Return the field without blanks around it, or the empty text if it counts as missing."""
        text = field.strip()
        if text in self._missing_texts:
            self.missing_found[text] = None
            return ""
        return text
