"""How a column writes its numbers: the decimal mark, and the separator between thousands.

A column is of numbers if one format reads all of its texts. Most need none. "1,5" has a decimal comma; in
"1,234.50" and "1,234,567" commas separate thousands. "1,234" alone may be either: other columns of the table
decide, and where none does, a comma that also separates fields is taken to separate thousands.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = ["PLAIN", "NumberFormat", "as_number", "formats_of"]

_BLANKS = " \u00a0\u2009\u202f'\u2019"
_THREE = re.compile("[0-9]{3}")
_MARKED = re.compile(rf"[+-]?[\d.,{_BLANKS}]*\d[\d.,{_BLANKS}]*(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class NumberFormat:
    """The decimal mark, "." or ",", and the characters that may separate thousands."""

    decimal: str = "."
    thousands: str = ""

    def number(self, text: str) -> float | None:
        """Return the finite number that a text is in this format, or None.

        Examples
        --------
        >>> NumberFormat(",", ".").number("1.234,5"), NumberFormat(".", ",").number("1,234,567")
        (1234.5, 1234567.0)
        >>> NumberFormat(".", ",").number("1,5"), NumberFormat(",").number("0,5")
        (None, 0.5)
        """
        if self == PLAIN:
            return as_number(text)
        whole, mark, rest = text.partition(self.decimal)
        digits, *groups = re.split(f"[{re.escape(self.thousands)}]", whole) if self.thousands else [whole]
        first = digits.lstrip("+-")
        if groups and not (0 < len(first) <= 3 and first != "0" and all(map(_THREE.fullmatch, groups))):
            return None
        if not {".", ","}.isdisjoint(digits + rest):
            return None
        return as_number(digits + "".join(groups) + ("." if mark else "") + rest)


#: The format of most columns: a decimal point, and nothing between thousands.
PLAIN = NumberFormat()

_COMMA = NumberFormat(",")
_COMMA_POINTS = NumberFormat(",", ".")
_COMMA_BLANKS = NumberFormat(",", _BLANKS)
_POINT_COMMAS = NumberFormat(".", ",")
_POINT_BLANKS = NumberFormat(".", _BLANKS)


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


def formats_of(columns: Mapping[str, Iterable[str]], *, comma_separates: bool) -> dict[str, NumberFormat]:
    """Return the format of each column that holds numbers, all in one, and isn't plain.

    Parameters
    ----------
    columns
        The distinct texts of each column without missing values.
    comma_separates
        Whether the comma separates fields, so that it is unlikely to be the decimal mark.

    Examples
    --------
    >>> formats_of({"a": ["1,5", "2"], "b": ["1,234", "2,500"]}, comma_separates=False)
    {'a': NumberFormat(decimal=',', thousands=''), 'b': NumberFormat(decimal=',', thousands='')}
    >>> formats_of({"b": ["1,234", "950"], "c": ["x", "1,5"]}, comma_separates=True)
    {'b': NumberFormat(decimal='.', thousands=',')}
    """
    possible = {name: found for name, texts in columns.items() if (found := _possible(texts))}
    sure = {name: found[0] for name, found in possible.items() if len(found) == 1}
    decimals = {one.decimal for one in sure.values()}
    decimal = decimals.pop() if len(decimals) == 1 else "." if comma_separates else ","
    return {
        name: next((one for one in found if one.decimal == decimal), found[0])
        for name, found in possible.items()
    }


def _possible(texts: Iterable[str]) -> list[NumberFormat]:
    """Return the formats in which all texts are numbers; none if they are plain ones, or no numbers."""
    every, odd = list(texts), False
    for text in every:
        if as_number(text) is None:
            if not _MARKED.fullmatch(text):
                return []
            odd = True
    if not odd:
        return []
    fitting = [
        one
        for one in (_COMMA, _POINT_COMMAS, _COMMA_POINTS, _POINT_BLANKS, _COMMA_BLANKS)
        if all(one.number(text) is not None for text in every)
    ]
    # A format with separators of thousands that no text needs is no other reading than the one without.
    if _COMMA in fitting:
        fitting = [one for one in fitting if one not in (_COMMA_POINTS, _COMMA_BLANKS)]
    if _POINT_BLANKS in fitting:
        fitting = [one for one in fitting if one is not _COMMA_BLANKS]
    return fitting
