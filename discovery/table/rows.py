"""Which columns are variables and which rows are used: the reward, missing values and what was set in a "
"row."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discovery.errors import TableError
from discovery.table.columns import Column, NumberColumn, RawTable, TextColumn, as_number
from discovery.wording import listed, no_column, quoted

__all__ = ["UsedRows", "find_reward", "reward_values", "row_targets", "select_rows"]

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


@dataclass(frozen=True, eq=False)
class UsedRows:
    """The part of a table that is used.

    Attributes
    ----------
    variables
        The columns that are neither reward nor intervention column, at the rows kept.
    rewards
        Float64 [n_rows], finite; None without a reward column.
    reward
        The reward's column; None without one.
    targets
        int32 [n_rows]: which column of the table was set in the row; -1 for none.
    warnings
        What was left out.
    """

    variables: dict[str, Column]
    rewards: NDArray[np.float64] | None
    reward: tuple[str, Column] | None
    targets: NDArray[np.int32]
    warnings: tuple[str, ...]


def select_rows(raw: RawTable, reward: str | None, intervention_column: str | None, missing: str) -> UsedRows:
    """Tell reward, interventions and variables apart and leave out what can't be used.

    Parameters
    ----------
    reward
        "col", "col=state", or None.
    intervention_column
        The column that says which one was set in each row, or None.
    missing
        "refuse" empty fields, "drop" their rows, or let them be a "state". A row without a reward is dropped
        in the last case too: what its reward was can't be known.

    Raises
    ------
    TableError
        If there is no such column, a reward or intervention can't be read, or there are empty fields to
        refuse.
    """
    variables = dict(raw.columns)
    rewards: NDArray[np.float64] | None = None
    found: tuple[str, Column] | None = None
    if reward is not None:
        name, state = find_reward(reward, raw.names, raw.source)
        found = name, _taken_out(variables, name, "reward", raw)
        rewards = reward_values(found[1], name, state, raw.source)
    targets = np.full(raw.n_rows, -1, dtype=np.int32)
    if intervention_column is not None:
        taken = {intervention_column} | ({found[0]} if found else set())
        column = _taken_out(variables, intervention_column, "intervention", raw)
        targets = row_targets(column, raw.names, taken, raw.source)
    keep, warnings = _complete_rows(variables, found, missing, raw)
    beyond = np.array([name not in variables for name in raw.names] + [False])[targets]
    if (beyond & keep).any():
        warnings.append(f"{(beyond & keep).sum()} rows in which an ignored column was set were left out")
        keep &= ~beyond
    if found is not None:
        found = found[0], found[1].take(keep)
    return UsedRows(
        {name: column.take(keep) for name, column in variables.items()},
        None if rewards is None else rewards[keep],
        found,
        targets[keep],
        tuple(warnings),
    )


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


def _taken_out(variables: dict[str, Column], name: str, role: str, raw: RawTable) -> Column:
    if name not in raw.names:
        raise TableError(f"Expected the {role} column but found {no_column(name, raw.names, raw.source)}")
    if name not in raw.columns:
        raise TableError(
            f"Expected to read the {role} column {quoted(name)} but found it ignored: leave it in"
        )
    if name not in variables:
        raise TableError(
            f"Expected two columns but found {quoted(name)} for reward and interventions: name another"
        )
    return variables.pop(name)


def _complete_rows(
    variables: Mapping[str, Column], reward: tuple[str, Column] | None, missing: str, raw: RawTable
) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which rows to keep, bool [n_rows], and what to say of the others."""
    incomplete: dict[str, int] = {}
    keep = np.ones(raw.n_rows, dtype=np.bool_)
    first = None
    for name, column in [*variables.items(), *([reward] if reward else [])]:
        empty = column.missing
        if not empty.any():
            continue
        incomplete[name] = int(empty.sum())
        first = first or (name, int(np.argmax(empty)) + 1)
        if missing == "drop" or (reward and name == reward[0]):
            keep &= ~empty
    if first and missing == "refuse":
        raise TableError(
            f"Expected a value in every field but found {sum(incomplete.values())} empty in "
            f"{raw.source}, the first in data row {first[1]} of column {quoted(first[0])} (columns: "
            f"{listed(incomplete)}): fill them in, drop their rows (missing drop), make them a state "
            "(missing state), or ignore the columns"
        )
    warnings = []
    if not keep.all():
        worst = max(incomplete, key=lambda name: incomplete[name])
        warnings.append(
            f"{(~keep).sum()} of {raw.n_rows} rows were left out for missing values, most in {quoted(worst)} "
            f"({incomplete[worst]})"
        )
    if missing == "state" and (own := [name for name in incomplete if name in variables]):
        warnings.append(f"missing values were made a state of {listed(own)}")
    return keep, warnings


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
