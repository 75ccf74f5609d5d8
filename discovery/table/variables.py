"""Code all variables of a table, and refuse columns from which no graph can be estimated."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from discovery.errors import TableError
from discovery.table.coding import CodedVariable, appearances, code_variable, look_alikes
from discovery.table.columns import Codes, Column
from discovery.table.problems import Problem, raise_problems
from discovery.table.rows import UsedRows, fewest_variables
from discovery.table.settings import TableSettings
from discovery.wording import quoted, quoted_list

__all__ = ["CodedVariables", "code_variables"]


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
    merged
        For each variable with rare states merged into one, those states and the name of the one.
    """

    codes: NDArray[np.int16]
    states: dict[str, tuple[str, ...]]
    all_states: dict[str, tuple[str, ...]]
    constants: dict[str, str]
    warnings: tuple[str, ...]
    merged: dict[str, dict[str, str]]


def code_variables(
    used: UsedRows,
    observed: NDArray[np.bool_],
    settings: TableSettings,
    source: str,
    *,
    trial: Collection[str] = (),
    computed: Collection[str] = (),
) -> CodedVariables:
    """Return the variables that vary, with their states and codes.

    Of columns that are equal up to the names of their states, only the first is a variable.

    Parameters
    ----------
    used
        The columns and rows to code. Its `variables` are emptied, so that no column is held twice.
    observed
        bool [n_rows]: the rows in which nothing was set, or all rows of a log without any.
    settings
        How columns that can't be used as they are become usable.
    source
        The table's name in messages.
    trial
        The columns of a trial, which may have any number of states, and one of which is enough.
    computed
        The columns that are computed from the reward. If there is a message, it advises to leave them out.

    Raises
    ------
    TableError
        If the rows have problems, a column has too many states, or too few variables vary where nothing was
        set: at least one beside a reward, or two.
    """
    coded, problems = _coded(used, observed, settings, trial)
    computed = [name for name in computed if name not in settings.keep]
    if used.problems or problems:
        others = [problem for name, problem in problems.items() if name not in computed]
        raise_problems([*used.problems, *map(_computed, computed), *others], source)
    constants = {name: variable.states[0] for name, variable in coded.items() if variable.n_observed == 1}
    variables = {name: variable for name, variable in coded.items() if name not in constants}
    twins = _twins(variables, observed, settings.keep)
    variables = {name: variable for name, variable in variables.items() if name not in twins}
    fewest = 1 if trial else fewest_variables(used.reward)
    if len(variables) < fewest:
        raise TableError(_too_few(fewest, variables, constants, twins, used.kinds, source))
    codes = np.empty((len(observed), len(variables)), dtype=np.int16, order="F")
    for place, variable in enumerate(variables.values()):
        codes[:, place] = variable.codes
    places: dict[str, list[str]] = {}
    notes = [note for variable in variables.values() for note in variable.notes]
    if used.reward is not None and used.rewarded_state is not None:
        notes += look_alikes(*used.reward)
    for what, where in notes:
        places.setdefault(what, []).append(where)
    warnings = [f"{what}: {', '.join(where)}" for what, where in places.items()]
    if constants:
        warnings.append(f"columns with one state only were dropped: {quoted_list(constants, len(constants))}")
    if twins:
        like = ", ".join(f"{quoted(name)} (as {quoted(other)})" for name, other in twins.items())
        warnings.append(f"columns equal to another up to the names of their states were left out: {like}")
    known = {name: variable for name, variable in variables.items() if name not in settings.keep}
    warnings += _reward_warnings(known, used.reward, observed)
    return CodedVariables(
        codes,
        {name: variable.states[: variable.n_observed] for name, variable in variables.items()},
        {name: variable.states for name, variable in variables.items()},
        constants,
        tuple(warnings),
        {name: variable.merged for name, variable in variables.items() if variable.merged},
    )


def _coded(
    used: UsedRows, observed: NDArray[np.bool_], settings: TableSettings, trial: Collection[str]
) -> tuple[dict[str, CodedVariable], dict[str, Problem]]:
    coded = {}
    problems = {}
    for name in tuple(used.variables):
        column = used.variables.pop(name)
        variable = code_variable(name, column, observed, settings, any_number=name in trial)
        if isinstance(variable, Problem):
            problems[name] = variable
        else:
            coded[name] = variable
    return coded, problems


def _computed(name: str) -> Problem:
    """Return the problem of a column that is computed from the reward."""
    short = f"--ignore {shlex.quote(name)} or --keep {shlex.quote(name)}"
    found = f"{quoted(name)}, which is computed from the reward"
    return Problem("columns that don't come from the reward", found, short, (("--ignore", name),), short)


def _too_few(
    fewest: int,
    variables: Collection[str],
    constants: Collection[str],
    twins: Collection[str],
    kinds: Collection[str],
    source: str,
) -> str:
    """Return the message that fewer than two columns vary, with what became of the others."""
    others = [
        *([f"{quoted_list(constants)} constant"] if constants else []),
        *([f"{quoted_list(twins)} equal to another"] if twins else []),
        *(
            [f"{quoted_list(kinds)} left out as identifiers or dates (--keep {shlex.join(kinds)})"]
            if kinds
            else []
        ),
    ]
    return (
        f"Expected at least {'one variable that varies' if fewest == 1 else '2 variables that vary'} but "
        "found "
        f"{f'only {quoted_list(variables)}' if variables else 'none'} in {source}"
        f"{', and ' if others else ''}{', '.join(others)}: add columns, or name the separator (--separator)"
    )


def _twins(
    variables: dict[str, CodedVariable], observed: NDArray[np.bool_], keep: Collection[str]
) -> dict[str, str]:
    """Return columns with the same information as another, and that other: the first, unless one is kept.

    Each column is hashed once: linear time in their number.
    """
    groups: dict[bytes, list[str]] = {}
    for name, variable in variables.items():
        groups.setdefault(_content(variable.codes[observed], len(variable.states)), []).append(name)
    twins = {}
    for group in groups.values():
        stays = next((name for name in group if name in keep), group[0])
        twins.update({name: stays for name in group if name != stays and name not in keep})
    return twins


def _reward_warnings(
    variables: dict[str, CodedVariable], reward: tuple[str, Column] | None, observed: NDArray[np.bool_]
) -> list[str]:
    """Return the warning about variables that are the reward under other names."""
    if reward is None:
        return []
    content = _content(reward[1].codes[observed], len(reward[1].texts))
    same = [
        name
        for name, variable in variables.items()
        if _content(variable.codes[observed], len(variable.states)) == content
    ]
    if not same:
        return []
    return [
        f"the reward {quoted(reward[0])} is an exact function of {quoted_list(same)}: leave it out "
        "(--ignore) if it is the reward by another name"
    ]


def _content(codes: Codes, n_states: int) -> bytes:
    return blake2b(appearances(codes, n_states).tobytes(), digest_size=16).digest()
