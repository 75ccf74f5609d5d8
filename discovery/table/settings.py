"""How a table is read: the settings that every reader of tables takes, in one value."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from numbers import Integral  # numpy's integers are of it too
from typing import Literal

from discovery.errors import TableError
from discovery.wording import quoted_list

__all__ = ["BIN_RULES", "MISSING_TEXTS", "TableSettings"]

#: The texts that count as missing values unless others are named.
MISSING_TEXTS = ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", ".")

#: The rules for intervals.
BIN_RULES = ("quantile", "width")

Missing = Literal["refuse", "drop", "state"]
BinRule = Literal["quantile", "width"]


@dataclass(frozen=True, kw_only=True)
class TableSettings:
    """How to read a table, and what to do with columns that can't be used as they stand.

    Attributes
    ----------
    ignore
        Columns to leave out: comments, what was measured after the reward or is caused by it.
    keep
        Columns to use although they look like identifiers or dates, which are left out otherwise.
    na
        Texts that count as missing values, as an empty field always does. With "" no text does.
    missing
        "refuse" missing values, "drop" their rows, or make a "state" of them, named "missing".
    bins
        Cut numeric columns into this many intervals, 3 say. Columns of more than 20 distinct numbers, or of
        more than a tenth of the rows, are cut. None: such columns are refused.
    bin_rule
        Intervals of equal counts ("quantile") or of equal "width".
    merge_rare
        Merge the states of a variable that are seen in fewer rows than this (or, below 1, in a smaller
        fraction of the rows) into one, named "other".
    weights
        The column that counts how many rows each row stands for, as in a table of counts.
    intervention_column
        The column that names the variable set in each row, or gives its column's number counted from 1; empty
        or 0 where none was set.
    separator
        The character between fields. None: found from the file.
    encoding
        The encoding of the file's text. None: UTF-8, and Windows-1252 for what isn't.
    skip_rows
        The number of lines above the header, such as a title.

    Raises
    ------
    TableError
        If a setting is out of its range.
    """

    ignore: Collection[str] = ()
    keep: Collection[str] = ()
    na: Collection[str] = MISSING_TEXTS
    missing: Missing = "refuse"
    bins: int | None = None
    bin_rule: BinRule = "quantile"
    merge_rare: float | None = None
    weights: str | None = None
    intervention_column: str | None = None
    separator: str | None = None
    encoding: str | None = None
    skip_rows: int = 0

    def __post_init__(self) -> None:
        for name in ("ignore", "keep", "na"):
            # A single text is a collection of letters to Python; it is meant as one column, or one token.
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        object.__setattr__(self, "na", tuple(text.strip() for text in self.na if text.strip()))
        if both := set(self.ignore) & set(self.keep):
            raise TableError(
                f"Expected columns to ignore or to keep but found {quoted_list(sorted(both))} among both: "
                "take them out of one (--ignore, --keep)"
            )
        if self.missing not in ("refuse", "drop", "state"):
            raise TableError(f"Expected missing to be 'refuse', 'drop' or 'state' but found {self.missing!r}")
        if self.bins is not None and (not _is_whole(self.bins) or self.bins < 2):
            raise TableError(f"Expected at least 2 bins, a whole number, but found {self.bins!r}")
        if self.bin_rule not in BIN_RULES:
            raise TableError(f"Expected bin_rule to be 'quantile' or 'width' but found {self.bin_rule!r}")
        rare = self.merge_rare
        if rare is not None and not (0 < rare < 1 or (_is_whole(rare) and rare >= 1)):
            raise TableError(
                f"Expected merge_rare to be a count of rows or a fraction below 1 but found {rare!r}"
            )
        if not _is_whole(self.skip_rows) or self.skip_rows < 0:
            raise TableError(f"Expected a number of lines to skip, 0 or more, but found {self.skip_rows!r}")
        if self.encoding is not None and not _is_encoding(self.encoding):
            raise TableError(
                "Expected an encoding that Python knows, such as cp1252 or utf-8, but found "
                f"{self.encoding!r}"
            )
        if self.separator is not None and (len(self.separator) != 1 or self.separator in '"\r\n'):
            raise TableError(
                f"Expected one character as the separator, no quote, but found {self.separator!r}"
            )


def _is_encoding(name: str) -> bool:
    try:
        "".encode(name)
    except (LookupError, ValueError):
        return False
    return True


def _is_whole(number: object) -> bool:
    return isinstance(number, Integral) and not isinstance(number, bool)
