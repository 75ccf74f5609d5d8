"""Find the columns that can't be variables whatever a person decides: identifiers, dates, and empty ones.

They are left out with a warning that names them, unless a person insists (`TableSettings.keep`). A column of
too many values for a variable holds identifiers if its name says so ("Patient ID", "Sample Number"), whether
they repeat or not; if it holds texts that differ in nearly every row; or if its numbers run on from row to
row, as 1, 2, 3 … do. Other numbers are sums, amounts and measurements, however many.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import numpy as np

from discovery.table.coding import MAX_NUMBERS, ROWS_PER_STATE
from discovery.table.columns import Column
from discovery.wording import quoted_list

__all__ = ["left_out"]

#: Values per row from which on texts are taken for identifiers.
_NEARLY_ALL = 0.9
_KINDS = {"identifiers": "identifiers", "dates": "dates", "empty": "no values"}
_SAYS_SO = re.compile(
    r"(?i:(?:.*[\W_])?(?:id|ids|identifier|uuid|guid|number|nr|no|num|serial)\.?)|.*[a-z]I[dD]"
)
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
    kinds = {
        name: kind for name, column in variables.items() if name not in keep and (kind := _kind(name, column))
    }
    warnings = []
    for kind, words in _KINDS.items():
        names = [name for name, found in kinds.items() if found == kind]
        if names:
            insist = "" if kind == "empty" else " (--keep COL uses one all the same)"
            warnings.append(f"columns of {words} were left out: {quoted_list(names, len(names))}{insist}")
    return kinds, warnings


def _kind(name: str, column: Column) -> str:
    if column.missing.all():
        return "empty"
    if all(_DATE.fullmatch(text) for text in column.texts if text):
        return "dates"
    return "identifiers" if _identifies(name, column) else ""


def _identifies(name: str, column: Column) -> bool:
    n_rows = int((~column.missing).sum())
    numbers = column.numbers()
    few = n_rows / ROWS_PER_STATE if numbers is None else min(MAX_NUMBERS, n_rows / ROWS_PER_STATE)
    if column.n_distinct <= few:
        return False
    if numbers is None:
        says_so = _SAYS_SO.fullmatch(name) or column.n_distinct >= _NEARLY_ALL * n_rows
        # Numbers with a few texts among them are for a person to decide on.
        return bool(says_so and len(column.odd_texts) > column.n_distinct / 2)
    known = numbers[~np.isnan(numbers)]
    if (known != np.round(known)).any():
        return False
    return bool(
        _SAYS_SO.fullmatch(name) or (column.n_distinct == n_rows and np.ptp(known) < n_rows / _NEARLY_ALL)
    )
