"""Columns that aren't variables: the reward, and the one that says what was set in each row."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from discovery.errors import TableError
from discovery.table.columns import Column, NumberColumn, TextColumn, as_number, listed, quoted
from discovery.table.csv_reader import no_column

__all__ = ["find_reward", "reward_values", "row_targets"]

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


def find_reward(reward: str, names: Collection[str], source: str) -> tuple[str, str | None]:
    """Take "col" or "col=state" apart, by the longest column name that fits: names may contain "=".

    Returns
    -------
    column, state
        The state is None where the column's numbers are the reward.

    Raises
    ------
    TableError
        If there is no such column.

    Examples
    --------
    >>> find_reward("a=b=c", ("a", "a=b"), "it"), find_reward(" a ", ("a", "a=b"), "it")
    (('a=b', 'c'), ('a', None))
    """
    if reward.strip() in names:
        return reward.strip(), None
    ends = [position for position, character in enumerate(reward) if character == "="]
    for end in reversed(ends):
        if reward[:end].strip() in names:
            return reward[:end].strip(), reward[end + 1 :].strip()
    wanted = reward[: ends[0]] if ends else reward
    raise TableError(f"Expected a reward column but found {no_column(wanted.strip(), names, source)}")


def reward_values(column: Column, name: str, state: str | None, source: str) -> NDArray[np.float64]:
    """Return the rewards, float64 [n_rows]: the column's numbers, or 1 where it has the state; NaN where
    missing.

    Raises
    ------
    TableError
        If no row has the state; without one, if some value isn't a finite number.
    """
    if state is not None:
        return _where_state(column, name, state, source)
    values = column.numbers()
    if values is not None:
        return values
    texts = column.texts if isinstance(column, TextColumn) else ()
    odd = next((text for text in texts if text and as_number(text) is None), "")
    advice = f"name the rewarded state, as in {name}=STATE with one of {listed(sorted(filter(None, texts)))}"
    if _DECIMAL_COMMA.fullmatch(odd):
        advice = "write decimals with a point"
    elif not odd:
        advice = "choose another column"
    raise TableError(
        f"Expected finite numbers in the reward column {quoted(name)} of {source} but found "
        f"{quoted(odd) if odd else 'only empty fields'}: {advice}"
    )


def row_targets(
    column: Column, names: Sequence[str], taken: Collection[str], source: str
) -> NDArray[np.int32]:
    """Return which column was set in each row.

    Parameters
    ----------
    column
        Each row's entry: a column's name or its number, counted from 1; empty or 0 where nothing was set.
    names
        Every column of the table, in order.
    taken
        Those that can't have been set: the reward and this column itself.

    Returns
    -------
    int32 [n_rows], indices into `names`; -1 where nothing was set.

    Raises
    ------
    TableError
        If an entry is no column, or one of `taken`, or could be two columns.
    """
    if isinstance(column, NumberColumn):
        raise TableError(
            f"Expected names of columns in the intervention column of {source} but found more than "
            f"{len(names)} different numbers: choose another column"
        )
    targets = []
    for code, text in enumerate(column.texts):
        target, problem = _target(text, names, taken, source)
        if problem:
            row = int(np.argmax(column.codes == code)) + 1
            raise TableError(
                f"Expected the column that was set, by name or number, or nothing but found {problem}, in "
                f"data row {row} of the intervention column"
            )
        targets.append(target)
    return np.array(targets, dtype=np.int32)[column.codes]


def _target(text: str, names: Sequence[str], taken: Collection[str], source: str) -> tuple[int, str]:
    """Return the index that an entry stands for, or -1, and what is wrong with it."""
    number = as_number(text)
    if text == "0" and "0" in names:
        return -1, "'0', which is also a column's name: rename it"
    if text == "" or (number == 0 and text not in names):
        return -1, ""
    if text in names:
        target = names.index(text)
    elif number is None:
        return -1, no_column(text, names, source)
    elif number == int(number) and 1 <= number <= len(names):
        target = int(number) - 1
    else:
        return -1, f"{quoted(text)} where {source} has columns 1 to {len(names)}"
    if names[target] in taken:
        return -1, f"{quoted(text)}, which is the reward or this column itself"
    return target, ""


def _where_state(column: Column, name: str, state: str, source: str) -> NDArray[np.float64]:
    texts = column.texts if isinstance(column, TextColumn) else ()
    if not state or state not in texts:
        has = f"one of {listed(sorted(filter(None, texts)))}" if texts else "numbers"
        raise TableError(
            f"Expected a state of the reward column {quoted(name)} of {source} but found {quoted(state)}, "
            f"which no row has: give {has}"
        )
    values = np.array([np.nan if text == "" else float(text == state) for text in texts])
    return values[column.codes] if isinstance(column, TextColumn) else values
