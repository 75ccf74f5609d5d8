"""Names, numbers and lists as the sentences of messages and reports put them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

__all__ = [
    "count",
    "decimal",
    "did_you_mean",
    "listed",
    "nearest",
    "no_column",
    "number",
    "quoted",
    "quoted_list",
    "setting",
    "share",
    "visible",
]

# Controls, directional marks and invisible characters; not tab and line ends, nor the joiners of scripts.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)


def quoted(text: str) -> str:
    """Return the text in quotes, on one line, shortened to 40 characters.

    Examples
    --------
    >>> print(quoted("a\\nb"), quoted("x" * 100))
    'a\\nb' 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'
    """
    return repr(text if len(text) <= 40 else f"{text[:40]}…")


def quoted_list(texts: Iterable[str], most: int = 5) -> str:
    """Return the first `most` texts in quotes, and the number of the others.

    Examples
    --------
    >>> quoted_list("abcdefg"), quoted_list("ab")
    ("'a', 'b', 'c', 'd', 'e' and 2 more", "'a', 'b'")
    """
    every = list(texts)
    rest = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(quoted(text) for text in every[:most]) + rest


def listed(names: Iterable[str], most: int = 8, none: str = "none", last: str = "and") -> str:
    """Return names as in a sentence: the first `most` of them, `last` before the last one.

    Examples
    --------
    >>> listed(["A"]), listed(["A", "B", "C"]), listed(["A", "B", "C"], most=2)
    ('A', 'A, B and C', 'A, B and 1 other')
    >>> listed(["A", "B"], last="or"), listed([])
    ('A or B', 'none')
    """
    names = list(names)
    if not names:
        return none
    shown = names[:most]
    if len(names) > most:
        shown.append(count(len(names) - most, "other"))
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {last} {shown[-1]}"


def number(value: float | None, spread: float | None = None) -> str:
    """Return a number with four significant digits; "none" for None, "no number" for nan and infinities.

    Numbers that are large beside their `spread`, by which they differ, have four digits of that.

    Examples
    --------
    >>> [number(value) for value in (0.123456, 1234.56, 3.0, 1e160, None)]
    ['0.1235', '1,235', '3', '1e+160', 'none']
    >>> number(1e9 + 1.23456, spread=2.0), number(12.3456, spread=2.0)
    ('1,000,000,001.235', '12.35')
    """
    if value is None:
        return "none"
    if not math.isfinite(value):
        return "no number"
    if spread and math.isfinite(spread) and spread * 1000 <= abs(value):
        if 1e-3 <= abs(value) < 1e15:
            return f"{value:,.{max(0, 3 - math.floor(math.log10(spread)))}f}"
        return f"{value:.{min(17, 4 + math.ceil(math.log10(abs(value) / spread)))}g}"
    return f"{round(value):,}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"


def decimal(value: float, decimals: int = 0) -> str:
    """Return a number with so many decimals, or with four digits where these say nothing.

    Examples
    --------
    >>> [decimal(value, 1) for value in (1234.56, 0.0123, 0.0, 1e160)]
    ['1,234.6', '0.0123', '0.0', '1e+160']
    """
    plain = value == 0 or 10.0**-decimals <= abs(value) < 1e15
    return f"{value:,.{decimals}f}" if plain else f"{value:.4g}"


def count(number_of: int, thing: str, things: str | None = None) -> str:
    """Return "1 run", "3 runs", or "3 copies" with ``things="copies"``."""
    return f"{number_of:,} {thing if number_of == 1 else things or thing + 's'}"


def share(part: int, whole: int) -> str:
    """Return "3 of 4", or "all 4" where `part` is the whole of several."""
    return f"all {whole:,}" if part == whole > 1 else f"{part:,} of {whole:,}"


def setting(intervention: Mapping[str, Any]) -> str:
    """Return "A = 1 and B = 2", or "nothing" for the empty intervention."""
    return " and ".join(f"{variable} = {state}" for variable, state in intervention.items()) or "nothing"


def nearest(name: object, known: Iterable[str]) -> str | None:
    """Return the known name that `name` is probably a slip of, if any; upper and lower case count as equal.

    Examples
    --------
    >>> nearest("grass", ["Rain", "Grass"]), nearest("blue", ["dry", "wet"])
    ('Grass', None)
    """
    text, names = str(name), list(known)
    same = [other for other in names if other.casefold() == text.casefold()]
    close = same or get_close_matches(text, names, n=1)
    return close[0] if close else None


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return the end of an error about an unknown name: the nearest known one, or a choice of them.

    Examples
    --------
    >>> did_you_mean("Gras", ["Rain", "Grass"]), did_you_mean("blue", ["dry", "wet"])
    ("did you mean 'Grass'?", 'choose dry or wet')
    """
    names = list(known)
    close = nearest(name, names)
    return f"did you mean {quoted(close)}?" if close is not None else f"choose {listed(names, last='or')}"


def no_column(name: str, names: Iterable[str], source: str) -> str:
    """Return the statement that `source` has no such column, with the nearest one or those that it has.

    Examples
    --------
    >>> no_column("Rain", ["rain", "wind"], "the data frame")
    "no column 'Rain' in the data frame: did you mean 'rain'?"
    """
    return f"no column {quoted(name)} in {source}: {did_you_mean(name, names)}"


def visible(text: str, unseen: re.Pattern[str] = _UNSEEN) -> str:
    r"""Return text with escapes for the characters that are not seen, or that turn the text around them.

    Line ends and tabs stay, unless another pattern says what is not seen.

    Examples
    --------
    >>> print(visible("a\x1b[2Jb\u202ec"))
    a\x1b[2Jb\u202ec
    """
    return unseen.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


_FLAG = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)")
_VALUE = re.compile(r""" (?!--)("[^"]*"|'[^']*'|[^\s,;:()]+)""")
#: Words that go on with the sentence after a flag.
_WORDS = ("or", "and", "if", "to", "uses", "names", "for", "in", "as", "with", "it", "keeps", "first")
_SINGLE = (
    "missing",
    "bins",
    "bin-rule",
    "merge-rare",
    "weights",
    "separator",
    "encoding",
    "skip-rows",
    "reward",
)
_SEVERAL = ("ignore", "keep", "na")


def in_python(text: str) -> str:
    """Return advice that names flags of the command line in terms of Python's keywords.

    Examples
    --------
    >>> in_python("add --missing drop --ignore 'the notes' when --bins 3")
    'add missing="drop", ignore=["the notes", "when"], bins=3'
    >>> in_python("tell them with --allow-unknown")
    'tell them with allow_unknown=True'
    """
    found, at = [], 0
    while flag := _FLAG.search(text, at):
        name, end, values = flag[1], flag.end(), list[str]()
        most = {True: 1}.get(name in _SINGLE, 99 if name in _SEVERAL else 0)
        while len(values) < most and (value := _VALUE.match(text, end)) and value[1] not in _WORDS:
            values.append(value[1].strip("\"'"))
            end = value.end()
        shown = [one if one.replace(".", "", 1).isdigit() else f'"{one}"' for one in values]
        keyword = name.replace("-", "_")
        content = f"[{', '.join(shown)}]" if name in _SEVERAL else "".join(shown)
        between = text[at : flag.start()]
        found += [", " if at and between == " " else between, f"{keyword}={content if values else '…'}"]
        if not values and not most:
            found[-1] = f"{keyword}=True"
        at = end
    return "".join(found) + text[at:]
