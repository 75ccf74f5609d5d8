"""Names in the sentences of messages: in quotes, in lists, and with the nearest name where one is unknown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches

__all__ = ["did_you_mean", "listed", "no_column", "quoted", "visible"]

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


def listed(texts: Iterable[str], most: int = 5) -> str:
    """Return the first `most` texts in quotes, and the number of the others.

    Examples
    --------
    >>> listed("abcdefg"), listed("ab")
    ("'a', 'b', 'c', 'd', 'e' and 2 more", "'a', 'b'")
    """
    every = list(texts)
    rest = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(quoted(text) for text in every[:most]) + rest


def did_you_mean(name: str, known: Collection[str]) -> str:
    """Return the question that suggests the known name nearest to `name`; empty if none is near.

    A name that differs in upper and lower case only is the nearest.

    Examples
    --------
    >>> did_you_mean("lunge", ["tub", "lung"]), did_you_mean("lunge", ["tub"])
    ("did you mean 'lung'?", '')
    """
    same = [other for other in known if other.casefold() == name.casefold()]
    near = same or get_close_matches(name, known, n=1)
    return f"did you mean {quoted(near[0])}?" if near else ""


def no_column(name: str, names: Collection[str], source: str) -> str:
    """Return the statement that `source` has no such column, with the nearest one or those that it has.

    Examples
    --------
    >>> no_column("Rain", ["rain", "wind"], "the data frame")
    "no column 'Rain' in the data frame: did you mean 'rain'?"
    """
    hint = did_you_mean(name, names) or f"its columns are {listed(names)}"
    return f"no column {quoted(name)} in {source}: {hint}"


def visible(text: str, unseen: re.Pattern[str] = _UNSEEN) -> str:
    r"""Return text with escapes for the characters that are not seen, or that turn the text around them.

    Line ends and tabs stay, unless another pattern says what is not seen.

    Examples
    --------
    >>> print(visible("a\x1b[2Jb\u202ec"))
    a\x1b[2Jb\u202ec
    """
    return unseen.sub(lambda found: found.group().encode("unicode_escape").decode(), text)
