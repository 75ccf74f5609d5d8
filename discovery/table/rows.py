"""Separate reward, interventions and variables, and choose the rows without missing values.

The *reward column* and the *intervention column*, which names the column that was set in each row, aren't
variables. Both may hold what only a person can interpret, so a message about them says what to write.
"""

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
    """The columns of a table by their roles, at the rows that are kept.

    Attributes
    ----------
    variables
        The columns that are neither reward nor intervention column.
    rewards
        float64 [n_rows], finite; None without a reward column.
    reward
        The reward column's name and the column; None without one.
    targets
        int32 [n_rows]: the position among the table's columns of the one that was set; −1 for none.
    warnings
        The rows and values that aren't used as they are, one line each.
    """

    variables: dict[str, Column]
    rewards: NDArray[np.float64] | None
    reward: tuple[str, Column] | None
    targets: NDArray[np.int32]
    warnings: tuple[str, ...]


def select_rows(raw: RawTable, reward: str | None, intervention_column: str | None, missing: str) -> UsedRows:
    """Separate reward, interventions and variables, and leave out rows that can't be used.

    Parameters
    ----------
    raw
        The table as read.
    reward
        "col", "col=state", or None.
    intervention_column
        The name of the intervention column, or None.
    missing
        "refuse" empty fields, "drop" the rows that have one, or make a "state" of them. A row without a
        reward is dropped in the last case too.

    Raises
    ------
    TableError
        If there is no such column, a reward or an intervention can't be interpreted, or a field is empty and
        `missing` is "refuse".
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
    """Split "col=state" after the longest column name that fits, since names may contain "="; "col" as it is.

    Returns
    -------
    column, state
        The state is None if the column's numbers are the reward.

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
    """Return the rewards, float64 [n_rows], NaN where they are missing.

    A reward is the column's number; or, with a `state`, 1 where the column has it and 0 where it doesn't.

    Raises
    ------
    TableError
        If no row has the state; without a state, if some value isn't a finite number.
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
        advice = "write decimals with a point instead of a comma"
    elif not odd:
        advice = "name another column (--reward)"
    raise TableError(
        f"Expected finite numbers in the reward column {quoted(name)} of {source} but found "
        f"{quoted(odd) if odd else 'only empty fields'}: {advice}"
    )


def row_targets(
    column: Column, names: Sequence[str], taken: Collection[str], source: str
) -> NDArray[np.int32]:
    """Return the column that was set in each row.

    Parameters
    ----------
    column
        The intervention column. An entry is a column's name or its number, counted from 1; it is empty or 0
        where nothing was set.
    names
        Every column of the table, in order.
    taken
        The columns that can't have been set: the reward and the intervention column itself.

    Returns
    -------
    array
        int32 [n_rows], positions in `names`; −1 where nothing was set.

    Raises
    ------
    TableError
        If an entry isn't a column, is one of `taken`, or could mean two columns.
    """
    if isinstance(column, NumberColumn):
        raise TableError(
            f"Expected names of columns in the intervention column of {source} but found more than "
            f"{len(names)} different numbers: name another column (--intervention-column)"
        )
    targets = []
    for code, text in enumerate(column.texts):
        target, problem = _target(text, names, taken, source)
        if problem:
            row = int(np.argmax(column.codes == code)) + 1
            raise TableError(
                f"Expected the name or number of the column that was set, or nothing, but found {problem}, "
                f"in data row {row} of the intervention column: correct it"
            )
        targets.append(target)
    return np.array(targets, dtype=np.int32)[column.codes]


def _taken_out(variables: dict[str, Column], name: str, role: str, raw: RawTable) -> Column:
    if name not in raw.names:
        raise TableError(f"Expected the {role} column but found {no_column(name, raw.names, raw.source)}")
    if name not in raw.columns:
        raise TableError(
            f"Expected to read the {role} column {quoted(name)} but found it ignored: don't ignore it "
            "(--ignore)"
        )
    if name not in variables:
        raise TableError(
            f"Expected two columns but found {quoted(name)} for reward and interventions: name another "
            "column for one of them"
        )
    return variables.pop(name)


def _complete_rows(
    variables: Mapping[str, Column], reward: tuple[str, Column] | None, missing: str, raw: RawTable
) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which rows to keep, bool [n_rows], and warnings about the others."""
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
            f"{listed(incomplete)}): fill them in, drop their rows (--missing drop), make them a state "
            "(--missing state), or leave the columns out (--ignore)"
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
    """Return the position of the column that an entry means, or −1, and what is wrong with the entry."""
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
        return -1, f"{quoted(text)}, which is the reward or the intervention column itself"
    return target, ""


def _where_state(column: Column, name: str, state: str, source: str) -> NDArray[np.float64]:
    texts = column.texts if isinstance(column, TextColumn) else ()
    if not state or state not in texts:
        has = (
            f"one of {listed(sorted(filter(None, texts)))}"
            if texts
            else "the column alone, since it holds numbers"
        )
        raise TableError(
            f"Expected a state of the reward column {quoted(name)} of {source} but found {quoted(state)}, "
            f"which no row has: name {has}"
        )
    values = np.array([np.nan if text == "" else float(text == state) for text in texts])
    return values[column.codes] if isinstance(column, TextColumn) else values
