"""The columns of a table as read, before any of them is interpreted.

A column keeps each distinct text once, and for each row the index of its text. An empty text is a missing
value; texts that count as missing ("NA", if a person doesn't say otherwise) have become empty.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discovery.table.files import decoded
from discovery.table.numbers import decimal_marks, numbers_of

__all__ = ["Codes", "Column", "ColumnBuilder", "RawTable", "with_decimals"]

#: Indices of texts, int16 or int32.
Codes: TypeAlias = NDArray[np.signedinteger[Any]]

#: The largest number of texts that int16 can tell apart.
_MOST_INT16 = 32_767


@dataclass(frozen=True, eq=False)
class Column:
    """A column as its distinct texts and, for each row, the index of its text.

    Attributes
    ----------
    codes
        int16 or int32 [n_rows], indices into `texts`.
    texts
        In order of first appearance, without surrounding blanks; each occurs in some row.
    decimal
        The decimal mark of its numbers, "." or ",".
    missing_texts
        The texts that were read as missing values.
    """

    codes: Codes
    texts: tuple[str, ...]
    decimal: str = "."
    missing_texts: tuple[str, ...] = ()

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """float64 [n_texts]: the number that each text is; NaN for those that are none, or missing."""
        return numbers_of(self.texts, self.decimal)

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """bool [n_rows]: the rows in which the field is empty."""
        if "" not in self.texts:
            return np.zeros(len(self.codes), dtype=np.bool_)
        return np.equal(self.codes, self.texts.index(""))

    @cached_property
    def n_distinct(self) -> int:
        """The number of distinct values that aren't missing."""
        return len(self.texts) - ("" in self.texts)

    @cached_property
    def odd_texts(self) -> tuple[str, ...]:
        """The texts that aren't finite numbers."""
        return tuple(text for index in np.flatnonzero(np.isnan(self.values)) if (text := self.texts[index]))

    def numbers(self) -> NDArray[np.float64] | None:
        """float64 [n_rows], NaN where missing; None if a text isn't a finite number, or all are missing."""
        return None if self.odd_texts or not self.n_distinct else self.values[self.codes]

    def take(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Column:
        """Return the column at the rows chosen, bool [n_rows] or indices, with the texts that occur there."""
        if rows.dtype == np.bool_ and rows.all():
            return self
        return self._recoded(self.codes[rows], self.texts)

    def without(self, texts: Collection[str]) -> Column:
        """Return the column with these texts as missing values."""
        emptied = ["" if text in texts else text for text in self.texts]
        index = {text: place for place, text in enumerate(dict.fromkeys(emptied))}
        place = np.array([index[text] for text in emptied], dtype=np.int32)
        return self._recoded(place[self.codes], tuple(index))

    def _recoded(self, codes: Codes, texts: tuple[str, ...]) -> Column:
        used = np.flatnonzero(np.bincount(codes, minlength=len(texts)))
        place = np.zeros(len(texts), dtype=_code_type(len(used)))
        place[used] = np.arange(len(used))
        return replace(self, codes=place[codes], texts=tuple(texts[index] for index in used))


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
    decimal
        The decimal mark on which its columns agree; None where none settles it.
    lines
        int64 [n_rows]: the line of the file on which each row begins; None where it was no text file.
    """

    names: tuple[str, ...]
    columns: dict[str, Column]
    n_rows: int
    sha256: str
    source: str
    warnings: tuple[str, ...] = ()
    decimal: str | None = None
    lines: NDArray[np.int64] | None = None

    def with_mark(self, decimal: str) -> RawTable:
        """Return the table with this decimal mark where its own columns don't settle it."""
        if self.decimal is not None:
            return self
        columns = {name: replace(column, decimal=decimal) for name, column in self.columns.items()}
        return replace(self, columns=columns, decimal=decimal)


def with_decimals(table: RawTable, *, written: Collection[str], comma_separates: bool) -> RawTable:
    """Return the table with the decimal marks of its columns, and a warning where nothing settles them.

    Parameters
    ----------
    table
        The table as read.
    written
        The columns that people or programs wrote as text; the others have decimal points.
    comma_separates
        As in `decimal_marks`.
    """
    texts = {name: [text for text in table.columns[name].texts if text] for name in written}
    marks, decimal, warnings = decimal_marks(texts, comma_separates=comma_separates)
    columns = {name: replace(column, decimal=marks.get(name, ".")) for name, column in table.columns.items()}
    return replace(table, columns=columns, decimal=decimal, warnings=(*table.warnings, *warnings))


class ColumnBuilder:
    """Build a column from fields that come block by block, keeping each distinct text once.

    Parameters
    ----------
    missing_texts
        The texts that count as missing values, besides the empty one.
    """

    def __init__(self, missing_texts: Collection[str] = ()) -> None:
        self._indices = _Indices(missing_texts)
        self._blocks: list[Codes] = []

    def add(self, fields: Iterable[str], count: int) -> None:
        """Add the `count` fields of the next rows; blanks around them are dropped."""
        codes = np.fromiter(map(self._indices.__getitem__, fields), dtype=np.int32, count=count)
        self._blocks.append(codes.astype(_code_type(len(self._indices.distinct)), copy=False))
        if len(self._indices.distinct) > _MOST_INT16:  # most of so many texts aren't met again
            self._indices.clear()

    @property
    def letters(self) -> list[str]:
        """The texts that weren't UTF-8."""
        return self._indices.letters

    def column(self) -> Column:
        """Return the column of all fields added."""
        codes = np.concatenate(self._blocks) if self._blocks else np.zeros(0, dtype=np.int16)
        return Column(codes, tuple(self._indices.distinct), missing_texts=tuple(self._indices.missing_found))


class _Indices(dict[str, int]):
    """Map a field as in the file to the index of its text; known fields are found at C speed."""

    def __init__(self, missing_texts: Collection[str]) -> None:
        super().__init__()
        self._missing_texts = frozenset(missing_texts)
        self.missing_found: dict[str, None] = {}
        self.distinct: dict[str, int] = {}
        self.letters: list[str] = []

    def __missing__(self, field: str) -> int:
        as_read = field.strip()
        text = decoded(as_read)
        if text != as_read:
            self.letters.append(text)
        if text in self._missing_texts:
            self.missing_found[text] = None
            text = ""
        index = self.distinct.setdefault(text, len(self.distinct))
        self[field] = index
        return index


def _code_type(n_texts: int) -> type[np.int16] | type[np.int32]:
    return np.int16 if n_texts <= _MOST_INT16 else np.int32
