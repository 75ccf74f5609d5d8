"""What looks the same in a table but isn't, and lines that aren't what they are taken for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from discovery.table.columns import RawTable
from discovery.table.numbers import as_number
from discovery.wording import quoted, quoted_list, visible

__all__ = ["noticed_spellings"]

# Controls, line separators, zero-width characters, directional marks, byte-order marks, fillers, variation
# selectors and tags.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
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
        yield f"the column {quoted(name)}", column.texts


def _invisible(table: RawTable) -> Iterator[str]:
    for where, texts in _texts(table):
        odd = [text for text in texts if _INVISIBLE.search(text)]
        if odd:
            yield (
                f"{where} of {table.source} has invisible characters, which make names and states of their "
                f"own: {visible(quoted_list(odd), _INVISIBLE)}"
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
    """Return the number of rows in which every field is its column's name.

    It is 0 if every column has its name in other rows too: then the first line is data.
    """
    rows, anywhere = np.ones(table.n_rows, dtype=np.bool_), np.zeros(0, dtype=np.int64)
    for name, column in table.columns.items():
        if name not in column.texts:
            return 0
        named = column.codes == column.texts.index(name)
        rows &= named
        anywhere = np.append(anywhere, named.sum())
    repeated = int(rows.sum())
    return 0 if repeated < anywhere.min(initial=table.n_rows) else repeated


def _about_repeated(table: RawTable, rows: int) -> str:
    return (
        f"the header of {table.source} is repeated in {rows} of its rows, where it is taken as data: remove "
        f"{'it' if rows == 1 else 'them'}"
    )


def _header_like_data(table: RawTable) -> Iterator[str]:
    """Yield a warning if every name is a number, or a value that its column has too."""
    values = 0
    for name, column in table.columns.items():
        if name in column.texts:
            values += 1
        elif as_number(name) is None:
            return
    if values:
        yield (
            f"the first line of {table.source} looks like data ({quoted_list(table.names)}) but is taken as "
            f"the header: add a line of names above it"
        )
