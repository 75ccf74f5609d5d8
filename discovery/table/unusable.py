"""Find the columns that can't be variables whatever a person decides: identifiers, dates, and empty ones.

They are left out with a warning that names them, unless a person insists (`TableSettings.keep`). A column is
taken for identifiers if it has far too many values to be a variable, and nearly as many as there are rows:
texts, or whole numbers. Other numbers are measurements, however many.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import numpy as np

from discovery.table.coding import MAX_NUMBERS, ROWS_PER_STATE
from discovery.table.columns import Column, NumberColumn, TextColumn
from discovery.wording import listed

__all__ = ["identifiers", "left_out"]

#: Values per row from which on a column is taken for identifiers.
_NEARLY_ALL = 0.9
_KINDS = {
    "identifiers": "identifiers",
    "numbers": "whole numbers that differ in nearly every row, as identifiers do,",
    "dates": "dates",
    "empty": "no values",
}
_YEAR, _MONTH, _DAY = r"(?:1[5-9]|20)\d\d", r"(?:0?[1-9]|1[0-2])", r"(?:0?[1-9]|[12]\d|3[01])"
_NAME = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_TIME = r"\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[ap]m)?"
_DATE = re.compile(
    rf"(?:{_YEAR}([-/.]){_MONTH}(?:\1{_DAY})?"
    rf"|{_YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
    rf"|(?:{_DAY}([-/.]){_MONTH}|{_MONTH}([-/.]){_DAY})[-/.](?:{_YEAR}|\d\d)"
    rf"|{_DAY}[- .]{{1,2}}{_NAME}[- .,]{{1,2}}(?:{_YEAR}|\d\d)|{_NAME} {_DAY},? {_YEAR})"
    rf"(?:[T ]{_TIME}(?:Z| ?[+-]\d\d:?\d\d)?)?|{_TIME}",
    re.IGNORECASE,
)


def left_out(variables: Mapping[str, Column], keep: Collection[str]) -> tuple[dict[str, str], list[str]]:
    """Return the columns to leave out, each with its kind, a key of `_KINDS`, and warnings that name them.

    Parameters
    ----------
    variables
        The columns that are neither reward nor intervention column.
    keep
        Those to use whatever they look like.
    """
    kinds = {name: kind for name, column in variables.items() if name not in keep and (kind := _kind(column))}
    warnings = []
    for kind, words in _KINDS.items():
        names = [name for name, found in kinds.items() if found == kind]
        if names:
            insist = "" if kind == "empty" else " (--keep COL uses one all the same)"
            warnings.append(f"columns of {words} were left out: {listed(names, len(names))}{insist}")
    return kinds, warnings


def identifiers(column: Column) -> bool:
    """Return whether a column has nearly as many values as rows, and these are texts or whole numbers."""
    n_rows = int((~column.missing).sum())
    numbers = column.numbers()
    if isinstance(column, NumberColumn) and numbers is None:  # more texts than can be told apart
        return bool(column.odd.sum() > n_rows / 2)
    few = n_rows / ROWS_PER_STATE if numbers is None else min(MAX_NUMBERS, n_rows / ROWS_PER_STATE)
    if column.n_distinct <= few or column.n_distinct < _NEARLY_ALL * n_rows:
        return False
    if numbers is not None:
        known = numbers[~np.isnan(numbers)]
        return bool((known == np.round(known)).all())
    # Numbers with a few texts among them are for a person to decide on.
    return isinstance(column, TextColumn) and len(column.odd_texts) > column.n_distinct / 2


def _kind(column: Column) -> str:
    if column.missing.all():
        return "empty"
    if isinstance(column, TextColumn) and all(_DATE.fullmatch(text) for text in column.texts if text):
        return "dates"
    if not identifiers(column):
        return ""
    return "identifiers" if column.numbers() is None else "numbers"
