"""How a column writes its numbers: the decimal mark, and the separator between thousands.

A column is of numbers if one format reads all of its texts. Most need none. "1,5" has a decimal comma; in
"1,234.50" and "1,234,567" commas separate thousands. "1,234" alone may be either: other columns of the table
decide, and where none does, a comma that also separates fields is taken to separate thousands.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

__all__ = ["PLAIN", "NumberFormat", "as_number", "formats_of"]

_BLANKS = " \u00a0\u2009\u202f'\u2019"
_SIGNS = ("%", "$", "€", "£", "¥")
_THREE = re.compile("[0-9]{3}")
_MARKED = re.compile(rf"[+-]?[\d.,{_BLANKS}]*\d[\d.,{_BLANKS}]*(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class NumberFormat:
    """The decimal mark, "." or ",", the characters that may separate thousands, and a sign at every number.

    The sign, such as "%" or "$", stands before or after each number.
    """

    decimal: str = "."
    thousands: str = ""
    sign: str = ""

    def number(self, text: str) -> float | None:
        """Return the finite number that a text is in this format, or None.

        Examples
        --------
        >>> NumberFormat(",", ".").number("1.234,5"), NumberFormat(".", ",").number("1,234,567")
        (1234.5, 1234567.0)
        >>> NumberFormat(".", ",").number("1,5"), NumberFormat(",").number("0,5")
        (None, 0.5)
        >>> NumberFormat(sign="$").number("-$5.50"), NumberFormat(sign="%").number("5")
        (-5.5, None)
        """
        if self.sign:
            bare = _without_sign(text, self.sign)
            return None if bare is None else replace(self, sign="").number(bare)
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
    >>> formats_of({"a": ["1,5", "2"], "b": ["1,234", "2,500"]}, comma_separates=False)["b"]
    NumberFormat(decimal=',', thousands='', sign='')
    >>> formats_of({"b": ["1,234", "950"], "c": ["x", "1,5"]}, comma_separates=True)
    {'b': NumberFormat(decimal='.', thousands=',', sign='')}
    >>> formats_of({"a": ["5 %", "7.5 %"]}, comma_separates=True)
    {'a': NumberFormat(decimal='.', thousands='', sign='%')}
    """
    every = {name: list(texts) for name, texts in columns.items()}
    signs = {name: sign for name, texts in every.items() if (sign := _common_sign(texts))}
    for name, sign in signs.items():
        every[name] = [_without_sign(text, sign) or "" for text in every[name]]
    possible = {name: found for name, texts in every.items() if (found := _possible(texts))}
    sure = {name: found[0] for name, found in possible.items() if len(found) == 1}
    decimals = {one.decimal for one in sure.values()}
    decimal = decimals.pop() if len(decimals) == 1 else "." if comma_separates else ","
    plain = {name: PLAIN for name in signs if all(as_number(text) is not None for text in every[name])}
    chosen = plain | {
        name: next((one for one in found if one.decimal == decimal), found[0])
        for name, found in possible.items()
    }
    return {name: replace(one, sign=signs.get(name, "")) for name, one in chosen.items()}


def _common_sign(texts: list[str]) -> str:
    """Return the sign that stands at every number; none if there is no such sign."""
    if not texts:
        return ""
    signs = [sign for sign in _SIGNS if sign in texts[0]]
    return next((sign for sign in signs if all(_without_sign(text, sign) for text in texts)), "")


def _without_sign(text: str, sign: str) -> str | None:
    """Return a number without the sign before or after it, or None where there is none."""
    minus = text[:1] if text[:1] in ("+", "-") else ""
    rest = text.removeprefix(minus)
    bare = rest.removeprefix(sign) if rest.startswith(sign) else rest.removesuffix(sign)
    return None if bare == rest else minus + bare.strip()


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
