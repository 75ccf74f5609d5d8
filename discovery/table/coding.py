"""From a column as read to a variable with states: their order, their number, and what is done on request."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discovery.table.binning import bin_numbers, merge_rare_states
from discovery.table.columns import Codes, Column
from discovery.table.problems import Problem
from discovery.table.settings import TableSettings
from discovery.wording import quoted, quoted_list

__all__ = ["CodedVariable", "appearances", "code_variable", "look_alikes"]

#: A column of more distinct numbers than this is taken for a measurement.
MAX_NUMBERS = 20
#: At least so many rows per state there must be, on average.
ROWS_PER_STATE = 10
#: The same of what was set, or of blocks: pairs of rows are enough, and some may have lost one.
_ROWS_PER_ARM = 1.5
#: The most states of a variable: tables of probabilities grow as their product.
MOST_STATES = 100

_MARKERS = frozenset(
    {"na", "nan", "n/a", "#n/a", "null", "none", "nil", "missing", "?", "-", "--", ".", "inf"}
)
_FEW_BINS = 3
_MOST_OF_ARMS = "at most two values for three rows in a column that was set, or of blocks,"


@dataclass(frozen=True, eq=False)
class CodedVariable:
    """A variable's states in each row.

    Attributes
    ----------
    codes
        int16 [n_rows], indices into `states`.
    states
        Their names: those that observational rows show, in order, then those that only others do.
    n_observed
        The number of the former.
    notes
        What to tell of it: pairs of what was noticed or done, and where; variables share a warning.
    merged
        The rare states that were merged into one, and the name of that one.
    """

    codes: NDArray[np.int16]
    states: tuple[str, ...]
    n_observed: int
    notes: tuple[tuple[str, str], ...] = ()
    merged: dict[str, str] = field(default_factory=dict)


def code_variable(
    name: str,
    column: Column,
    observed: NDArray[np.bool_],
    settings: TableSettings,
    *,
    any_number: bool = False,
) -> CodedVariable | Problem:
    """Give a column's values codes: in the order of numbers where all are, else in that of text.

    Parameters
    ----------
    name
        For warnings.
    column
        Its missing values become a state.
    observed
        Bool [n_rows]: rows in which nothing was set; only they decide about intervals and rare states.
    settings
        What is done on request.
    any_number
        Whether it was set, or is a block: then a state needs no ten rows, but most have two or more.

    Returns
    -------
    The coded variable, or the problem that there are too many states.
    """
    n_rows = len(observed)
    seen = column.take(observed)
    codes: Codes
    notes: list[tuple[str, str]] = []
    merged: dict[str, str] = {}
    rows_per_state = _ROWS_PER_ARM if any_number else ROWS_PER_STATE
    most = n_rows / rows_per_state
    numbers = column.numbers()
    few = any_number and settings.bins is None
    binned = numbers is not None and seen.n_distinct > (most if few else min(MAX_NUMBERS, most))
    if numbers is not None and binned:
        if settings.bins is None:
            return _too_many_numbers(name, seen, n_rows, any_number)
        codes, states = _binned(numbers, settings.bins, settings.bin_rule, observed)
        notes.append(
            (
                f"columns of many numbers were cut into intervals by {settings.bin_rule}",
                f"{quoted(name)} ({seen.n_distinct} into {len(states)})",
            )
        )
    else:
        codes, states = _ordered(column)
        notes += look_alikes(name, column)
    if settings.merge_rare is not None:
        share = settings.merge_rare if settings.merge_rare >= 1 else settings.merge_rare * observed.sum()
        label = _free_label("other", states)
        codes, states, gone = merge_rare_states(codes, states, share, label, count=observed)
        if gone:
            merged = dict.fromkeys(gone, label)
            notes.append(
                ("rare states were merged into one", f"{quoted(name)} ({quoted_list(gone)} into {label!r})")
            )
    counts = np.bincount(codes[observed], minlength=len(states))
    shown = np.flatnonzero(counts)
    if len(shown) > max(most, 1) or (len(states) > MOST_STATES and not any_number):
        if binned:
            return _too_many_numbers(name, seen, n_rows, any_number, len(shown))
        return _too_many_texts(name, seen, n_rows, settings, any_number)
    if len(shown) < len(states):
        order = [*shown, *np.flatnonzero(counts == 0)]
        codes = np.argsort(order)[codes]
        states = tuple(states[code] for code in order)
        hidden = f"{quoted_list(states[len(shown) :])} of {quoted(name)}"
        notes.append(("states that only interventional rows show are not among the table's", hidden))
    return CodedVariable(codes.astype(np.int16), states, len(shown), tuple(notes), merged)


def appearances(codes: Codes, n_states: int) -> NDArray[np.int16]:
    """Renumber codes by first appearance, so that columns alike up to renaming of states become equal.

    Examples
    --------
    >>> appearances(np.array([2, 0, 2, 1], dtype=np.int16), 3)
    array([0, 1, 0, 2], dtype=int16)
    """
    seen, first = np.unique(codes, return_index=True)
    place = np.zeros(n_states, dtype=np.int16)
    place[seen[np.argsort(first)]] = np.arange(len(seen))
    return place[codes]


def _free_label(label: str, states: tuple[str, ...]) -> str:
    while label in states:
        label += "_"
    return label


def _ordered(column: Column) -> tuple[Codes, tuple[str, ...]]:
    """Sort the states; missing values, where there are any, come last under a name of their own."""
    numeric = not column.odd_texts
    value = dict(zip(column.texts, column.values, strict=True))
    texts = sorted(filter(None, column.texts), key=lambda text: (value[text] if numeric else 0.0, text))
    place = {text: code for code, text in enumerate([*texts, ""])}
    codes = np.array([place[text] for text in column.texts], dtype=np.int32)[column.codes]
    states = tuple(texts)
    return codes, (*states, _free_label("missing", states)) if "" in column.texts else states


def _binned(
    numbers: NDArray[np.float64], bins: int, rule: str, observed: NDArray[np.bool_]
) -> tuple[NDArray[np.int16], tuple[str, ...]]:
    known = ~np.isnan(numbers)
    fit = observed[known] if (observed & known).any() else None
    cut, states = bin_numbers(numbers[known], bins, rule, fit=fit)
    codes = np.full(len(numbers), len(states), dtype=np.int16)
    codes[known] = cut
    return codes, states if known.all() else (*states, "missing")


def look_alikes(name: str, column: Column) -> Iterator[tuple[str, str]]:
    """Note states that may be meant as one, or as none; they are kept as they are."""
    states = sorted(filter(None, column.texts))
    value = dict(zip(column.texts, column.values, strict=True))
    alike: dict[object, str] = {}
    for state in states:
        key = state.casefold() if np.isnan(value[state]) else float(value[state])
        if key in alike:
            twins = f"{quoted(alike[key])} and {quoted(state)} of {quoted(name)}"
            yield "states that look like one are kept apart", twins
        alike.setdefault(key, state)
    texts = column.odd_texts
    if len(texts) == 1 and len(states) > 2 and texts[0].casefold() in _MARKERS:
        marker = f"{quoted(texts[0])} of {quoted(name)}"
        yield "texts among numbers are kept as states (--na TOKEN … counts them as missing)", marker


def _too_many_numbers(
    name: str, column: Column, n_rows: int, any_number: bool, n_states: int | None = None
) -> Problem:
    """Return the problem of a column of numbers that isn't binned, or is into too many intervals."""
    fits = max(2, min(_FEW_BINS, int(n_rows / ROWS_PER_STATE) - bool(column.missing.any())))
    found = f"{column.n_distinct} numbers in {n_rows} rows of {quoted(name)}"
    advice = f"cut them into bins (--bins {fits})"
    if n_states is not None:
        found, advice = f"{n_states} bins of {found}", f"take fewer bins (--bins {fits})"
    few = f"at most {MAX_NUMBERS} different numbers in a column, and at most a tenth as many values as there"
    return Problem(
        _MOST_OF_ARMS if any_number else f"{few} are rows,",
        found,
        f"{advice} or leave the column out (--ignore {shlex.quote(name)})",
        (("--bins", str(fits)),),
        f"--bins {fits} or --ignore {shlex.quote(name)}",
    )


def _too_many_texts(
    name: str, column: Column, n_rows: int, settings: TableSettings, any_number: bool
) -> Problem:
    """Return the problem of a column with too many states, or with texts among many numbers."""
    quoted_name = shlex.quote(name)
    expected = f"at most a tenth as many values as there are rows, and at most {MOST_STATES},"
    insists = name in settings.keep
    leave_out = "don't keep the column" if insists else f"leave the column out (--ignore {quoted_name})"
    ignore = () if insists else (("--ignore", name),)
    found = f"{column.n_distinct} values in {n_rows} rows of {quoted(name)}"
    if any_number:
        return Problem(_MOST_OF_ARMS, found, f"add rows or {leave_out}", ignore)
    counts = np.bincount(column.codes)
    rare = counts < ROWS_PER_STATE
    if 2 <= (~rare).sum() < min(MOST_STATES, n_rows / ROWS_PER_STATE) and counts[rare].sum() <= n_rows / 2:
        return Problem(
            expected, found, f"{leave_out} or merge the rare ones (--merge-rare {ROWS_PER_STATE})", ignore
        )
    return Problem(expected, found, leave_out, ignore)
