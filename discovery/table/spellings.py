"""What looks the same in a table but isn't, and lines that aren't what they are taken for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from discovery.table.columns import RawTable, TextColumn
from discovery.table.number_format import as_number
from discovery.wording import listed, quoted

__all__ = ["noticed_spellings"]

# Controls, line separators, zero-width characters, directional marks and byte-order marks.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)


def noticed_spellings(table: RawTable) -> list[str]:
    """Return warnings about invisible characters, equal spellings, repeated headers and missing ones."""
    repeated = _repeated_headers(table)
    return [
        *_invisible(table),
        *_two_spellings(table),
        *([_about_repeated(table, repeated)] if repeated else _header_like_data(table)),
    ]


def _texts(table: RawTable) -> Iterator[tuple[str, Sequence[str]]]:
    yield "the header", table.names
    for name, column in table.columns.items():
        if isinstance(column, TextColumn):
            yield f"the column {quoted(name)}", column.texts


def _invisible(table: RawTable) -> Iterator[str]:
    for where, texts in _texts(table):
        odd = [text for text in texts if _INVISIBLE.search(text)]
        if odd:
            yield (
                f"{where} of {table.source} has invisible characters, which make names and states of their "
                f"own: {listed(odd)}"
            )


def _two_spellings(table: RawTable) -> Iterator[str]:
    for where, texts in _texts(table):
        for same in _groups(texts):
            codes = " and ".join(ascii(text) for text in same)
            yield (
                f"{where} of {table.source} writes {quoted(same[0])} in {len(same)} ways that look the same: "
                f"{codes} are kept apart"
            )


def _groups(texts: Iterable[str]) -> list[list[str]]:
    found: dict[str, list[str]] = {}
    for text in texts:
        if not text.isascii():
            found.setdefault(unicodedata.normalize("NFC", text), []).append(text)
    return [same for same in found.values() if len(same) > 1]


def _repeated_headers(table: RawTable) -> int:
    """Return the number of rows in which every field is its column's name."""
    rows = np.ones(table.n_rows, dtype=np.bool_)
    for name, column in table.columns.items():
        if not isinstance(column, TextColumn) or name not in column.texts:
            return 0
        rows &= column.codes == column.texts.index(name)
    return int(rows.sum())


def _about_repeated(table: RawTable, rows: int) -> str:
    return (
        f"the header of {table.source} is repeated in {rows} of its rows, where it is taken as data: remove "
        f"{'it' if rows == 1 else 'them'}"
    )


def _header_like_data(table: RawTable) -> Iterator[str]:
    """Yield a warning if every name is a number, or a value that its column has too."""
    values = 0
    for name, column in table.columns.items():
        if isinstance(column, TextColumn) and name in column.texts:
            values += 1
        elif as_number(name) is None:
            return
    if values:
        yield (
            f"the first line of {table.source} looks like data ({listed(table.names)}) but is taken as the "
            f"header: add a line of names above it"
        )
