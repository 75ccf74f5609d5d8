"""The numbers that texts are: decimal marks, separators of thousands, currencies, per cent, k and M.

A table has one convention: its decimal mark is a point or a comma, and the other one may separate thousands,
as blanks and apostrophes may. The columns that can be read in one way only settle it for those that can be
read in two: beside "24,61", "1.395" is thirteen hundred and ninety-five.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discovery.wording import quoted

__all__ = ["as_number", "decimal_marks", "numbers_of"]

#: A column of whose texts at least this share are numbers is a column of numbers.
MOST = 0.9
_FEW = 1_000

_GAP = "[ \u00a0\u2009\u202f]?"
_BETWEEN_THOUSANDS = " \u00a0\u2009\u202f'\u2019"
_CURRENCY = (
    r"(?:US|AU|A|CA|C|NZ|HK|S|R)?\$|[€£¥₹₽₩₺₪฿]|kr\.?|zł|Kč|Ft|Fr\.|AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|HUF"
    r"|INR|JPY|KRW|MXN|NOK|NZD|PLN|RUB|SEK|SGD|TRY|USD|ZAR"
)
_SCALES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6}


def _written(decimal: str, other: str) -> re.Pattern[str]:
    thousands = rf"[1-9]\d{{0,2}}(?P<mark>[{other}{_BETWEEN_THOUSANDS}])\d{{3}}(?:(?P=mark)\d{{3}})*"
    return re.compile(
        rf"(?P<sign>[+-]?)(?:(?P<before>{_CURRENCY}){_GAP})?(?P<minus>-?)"
        rf"(?P<whole>{thousands}|\d*)(?:{re.escape(decimal)}(?P<rest>\d*))?(?P<power>[eE][+-]?\d+)?"
        rf"(?:{_GAP}(?P<scale>[kKM]))?(?:{_GAP}(?P<after>{_CURRENCY}|%))?"
    )


_WRITTEN = {".": _written(".", ","), ",": _written(",", ".")}


def as_number(text: str) -> float | None:
    """Return the finite number that a text is in the plainest notation, or None.

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


def numbers_of(texts: Sequence[str], decimal: str = ".") -> NDArray[np.float64]:
    """Return the number that each text is, float64 [n]; NaN for a text that is none.

    Parameters
    ----------
    texts
        The distinct texts of a column. A currency or "%" must be the same at all numbers of a column; those
        with another one are no numbers.
    decimal
        The decimal mark, "." or ",".

    Examples
    --------
    >>> numbers_of(["1.234,5", "644", "1.395"], ",").tolist(), numbers_of(["US$ 1,090.14", "x"]).tolist()
    ([1234.5, 644.0, 1395.0], [1090.14, nan])
    >>> numbers_of(["5 %", "-7.5%"]).tolist(), numbers_of(["950", "1.2k", "3M"]).tolist()
    ([5.0, -7.5], [950.0, 1200.0, 3000000.0])
    """
    plain = _plain(texts) if decimal == "." else None
    if plain is not None:
        return plain
    found = [_parsed(text, decimal) for text in texts]
    units = Counter(unit for value, unit in found if value)
    unit = max(units, key=lambda one: units[one], default="")
    # Nothing is nothing in every unit.
    return np.array(
        [value if not value or own == unit else math.nan for value, own in found], dtype=np.float64
    )


def decimal_marks(
    columns: Mapping[str, Collection[str]], *, comma_separates: bool
) -> tuple[dict[str, str], str | None, list[str]]:
    """Find the convention of a table from its columns.

    Parameters
    ----------
    columns
        The distinct texts of each column without missing values.
    comma_separates
        Whether the comma separates fields, so that it is unlikely to be the decimal mark.

    Returns
    -------
    decimals
        Each column's decimal mark: the table's, unless the column can only be read with the other.
    settled
        The mark on which the columns that settle it agree; None if none does, or they don't agree.
    warnings
        The columns that can be read in two ways where nothing settles it, one line each.

    Examples
    --------
    >>> decimal_marks({"a": ["24,61", "3"], "b": ["1.395", "644"]}, comma_separates=False)
    ({'a': ',', 'b': ','}, ',', [])
    >>> decimal_marks({"b": ["1,234", "950"]}, comma_separates=True)[2]
    ["'b' is taken to have separators of thousands ('1,234' as 1234), not decimals: no column settles it"]
    """
    settling: dict[str, str] = {}
    open_ones: dict[str, str] = {}
    for name, given in columns.items():
        texts = [*given]
        if not any("," in text or "." in text for text in texts):
            continue
        found = _told_by(texts[:_FEW])  # a few settle it nearly always
        if found is not None and not found[0]:
            found = _told_by(texts)
        mark, text = found or ("", "")
        if mark:
            settling[name] = mark
        elif text:
            open_ones[name] = text
    agreed = set(settling.values())
    settled = agreed.pop() if len(agreed) == 1 else None
    by_comma = any("," in text for text in open_ones.values())
    decimal = settled or ("," if by_comma and not comma_separates else ".")
    warnings = []
    for name, text in {} if settled else open_ones.items():
        if "," not in text and comma_separates:
            continue  # between separators that are commas, a point is the decimal mark
        value = f"{numbers_of([text], decimal)[0]:.15g}"
        kinds = ("decimals", "separators of thousands")
        taken, other = kinds if decimal in text else kinds[::-1]
        warnings.append(
            f"{quoted(name)} is taken to have {taken} ({quoted(text)} as {value}), not {other}: no column "
            "settles it"
        )
    return {name: settling.get(name, decimal) for name in columns}, settled, warnings


def _told_by(texts: list[str]) -> tuple[str, str] | None:
    """Return the decimal mark that texts settle, and a text that is another number with either mark.

    Either is empty where there is none; None if the texts aren't numbers at all.
    """
    point, comma = numbers_of(texts, "."), numbers_of(texts, ",")
    with_point, with_comma = (int(np.isfinite(values).sum()) for values in (point, comma))
    if max(with_point, with_comma) < MOST * len(texts):
        return None
    if with_point != with_comma:
        return "." if with_point > with_comma else ",", ""
    differ = np.flatnonzero(np.isfinite(point) & (point != comma))
    return "", texts[differ[0]] if len(differ) else ""


def _plain(texts: Sequence[str]) -> NDArray[np.float64] | None:
    """Return the numbers of texts that are all plain, or empty; many times as fast as text by text."""
    try:
        values = np.array([float(text or "nan") for text in texts], dtype=np.float64)
    except ValueError:
        return None
    all_finite = np.isfinite(values).sum() == len(texts) - texts.count("")
    return values if all_finite and "_" not in "".join(texts) else None


def _parsed(text: str, decimal: str) -> tuple[float, str]:
    """Return the number that a text is, NaN if it is none, and its currency or "%"."""
    if decimal == "." or "." not in text:
        number = as_number(text)
        if number is not None:
            return number, ""
    match = _WRITTEN[decimal].fullmatch(text)
    if match is None or (match["before"] and match["after"]) or (match["sign"] and match["minus"]):
        return math.nan, ""
    whole = match["whole"].replace(match["mark"], "") if match["mark"] else match["whole"]
    digits = f"{match['sign']}{match['minus']}{whole}.{match['rest'] or ''}{match['power'] or ''}"
    number = as_number(digits)
    if number is None:
        return math.nan, ""
    return number * _SCALES[match["scale"] or ""], match["before"] or match["after"] or ""
