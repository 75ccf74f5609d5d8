"""Code all variables of a table, and refuse columns from which no graph can be estimated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from discovery.errors import TableError
from discovery.table.coding import MAX_NUMBERS, CodedVariable, appearances, code_variable
from discovery.table.columns import Column, TextColumn, as_number
from discovery.table.rows import UsedRows
from discovery.table.settings import TableSettings
from discovery.wording import listed, quoted

__all__ = ["CodedVariables", "code_variables"]

MIN_VARIABLES = 2


@dataclass(frozen=True, eq=False)
class CodedVariables:
    """The variables of a table with their states in each row.

    Attributes
    ----------
    codes
        int16 [n_rows, n], each column contiguous: indices into the variable's `all_states`.
    states
        For each variable the states that occur where nothing was set.
    all_states
        The same, followed by the states that occur in other rows only.
    constants
        The columns with one state where nothing was set, which aren't variables, and that state.
    warnings
        What a person should know about the variables, one line each.
    """

    codes: NDArray[np.int16]
    states: dict[str, tuple[str, ...]]
    all_states: dict[str, tuple[str, ...]]
    constants: dict[str, str]
    warnings: tuple[str, ...]


def code_variables(
    used: UsedRows, observed: NDArray[np.bool_], settings: TableSettings, source: str
) -> CodedVariables:
    """Return the variables that vary, with their states and codes.

    Parameters
    ----------
    used
        The columns and rows to code. Its `variables` are emptied, so that no column is held twice.
    observed
        bool [n_rows]: the rows in which nothing was set.
    settings
        How columns that can't be used as they are become usable.
    source
        The table's name in messages.

    Raises
    ------
    TableError
        If a column has too many states, two columns are equal up to the names of their states, or fewer than
        2 variables vary where nothing was set.
    """
    coded = _coded(used, observed, settings, source)
    constants = {name: variable.states[0] for name, variable in coded.items() if variable.n_observed == 1}
    variables = {name: variable for name, variable in coded.items() if name not in constants}
    if len(variables) < MIN_VARIABLES:
        raise TableError(
            f"Expected at least {MIN_VARIABLES} variables that vary but found "
            f"{f'only {listed(variables)}' if variables else 'none'} in {source}"
            f"{f', and {listed(constants)} constant' if constants else ''}: add columns, or name the "
            "separator (--separator)"
        )
    _check_twins(variables, used.reward, observed, source)
    codes = np.empty((len(observed), len(variables)), dtype=np.int16, order="F")
    for place, variable in enumerate(variables.values()):
        codes[:, place] = variable.codes
    places: dict[str, list[str]] = {}
    for variable in variables.values():
        for what, where in variable.notes:
            places.setdefault(what, []).append(where)
    warnings = [f"{what}: {', '.join(where)}" for what, where in places.items()]
    if constants:
        warnings.append(f"columns with one state only were dropped: {listed(constants, len(constants))}")
    return CodedVariables(
        codes,
        {name: variable.states[: variable.n_observed] for name, variable in variables.items()},
        {name: variable.states for name, variable in variables.items()},
        constants,
        tuple(warnings),
    )


def _coded(
    used: UsedRows, observed: NDArray[np.bool_], settings: TableSettings, source: str
) -> dict[str, CodedVariable]:
    coded = {}
    refused: dict[str, Column] = {}
    for name in tuple(used.variables):
        column = used.variables.pop(name)
        variable = code_variable(name, column, observed, settings)
        if variable is None:
            refused[name] = column
        else:
            coded[name] = variable
    if refused:
        raise TableError(_too_many(refused, int(observed.sum()), settings, source))
    return coded


def _too_many(refused: Mapping[str, Column], n_rows: int, settings: TableSettings, source: str) -> str:
    """Return the message about columns with too many states, with advice for the first."""
    name, *others = refused
    column = refused[name]
    kind, remedy = "values", "merge rare ones (--merge-rare)"
    if column.numbers() is not None:
        kind, remedy = (
            "numbers",
            "take fewer bins (--bins)" if settings.bins else "cut them into bins (--bins)",
        )
    elif isinstance(column, TextColumn):
        odd = [text for text in column.texts if as_number(text) is None]
        if len(odd) < len(column.texts) / 2:
            kind, remedy = (
                f"numbers and texts like {quoted(odd[0])}",
                "leave fields empty where a number is missing",
            )
    return (
        f"Expected at most {MAX_NUMBERS} different numbers in a column, and at most a tenth as many values "
        f"as there are rows, but found {column.n_distinct} {kind} in {n_rows} rows of {quoted(name)} in "
        f"{source}{f' (and too many in {listed(others)})' if others else ''}: {remedy}, "
        "or leave the column out (--ignore)"
    )


def _check_twins(
    variables: dict[str, CodedVariable],
    reward: tuple[str, Column] | None,
    observed: NDArray[np.bool_],
    source: str,
) -> None:
    """Refuse two columns with the same information; each is hashed once: linear time in their number."""
    columns = [(name, variable.codes, len(variable.states)) for name, variable in variables.items()]
    if reward is not None and isinstance(reward[1], TextColumn):
        columns.append((reward[0], reward[1].codes, len(reward[1].texts)))
    seen: dict[bytes, str] = {}
    for name, codes, n_states in columns:
        key = blake2b(appearances(codes[observed], n_states).tobytes(), digest_size=16).digest()
        if key in seen:
            raise TableError(
                f"Expected columns with different information but found {quoted(seen[key])} and "
                f"{quoted(name)} of {source} alike up to the names of their states: leave one out (--ignore)"
            )
        seen[key] = name
