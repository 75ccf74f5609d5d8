"""Which columns are variables and which rows are used: the reward, missing values and what was set in a "
"row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discovery.errors import TableError
from discovery.table.columns import Column, RawTable, listed, quoted
from discovery.table.csv_reader import no_column
from discovery.table.roles import find_reward, reward_values, row_targets

__all__ = ["UsedRows", "select_rows"]


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
