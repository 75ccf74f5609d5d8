"""Separate reward, interventions and variables, and choose the rows without missing values.

The *reward column* and the *intervention column*, which names the column that was set in each row, aren't
variables. Both may hold what only a person can interpret, so a message about them says what to write.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discovery.errors import TableError
from discovery.table.columns import Column, NumberColumn, RawTable, TextColumn
from discovery.table.number_format import as_number
from discovery.table.problems import Problem
from discovery.table.reward_scale import far_off, unfit
from discovery.table.settings import TableSettings
from discovery.table.unusable import left_out
from discovery.wording import listed, no_column, quoted

__all__ = ["MIN_ROWS", "UsedRows", "find_reward", "reward_values", "row_targets", "select_rows"]

#: The fewest rows from which a graph is estimated.
MIN_ROWS = 20
#: So many texts among numbers are taken for marks of missing values.
_FEW_ODD = 2


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
    reward_states
        The values of the reward column in all rows, in the order of text.
    targets
        int32 [n_rows]: the position among the table's columns of the one that was set; −1 for none.
    warnings
        The columns, rows and values that aren't used as they are, one line each.
    about_rows
        Those of them that are about rows.
    problems
        What keeps the table from being used. The rows are then those that would be left if a person decided
        on missing values as the problems advise.
    kinds
        The columns that were left out as no variables, each with its kind.
    """

    variables: dict[str, Column]
    rewards: NDArray[np.float64] | None
    reward: tuple[str, Column] | None
    reward_states: tuple[str, ...]
    targets: NDArray[np.int32]
    warnings: tuple[str, ...]
    about_rows: tuple[str, ...]
    problems: tuple[Problem, ...]
    kinds: dict[str, str]


def select_rows(raw: RawTable, reward: str | None, settings: TableSettings) -> UsedRows:
    """Separate reward, interventions and variables, and leave out columns and rows that can't be used.

    Parameters
    ----------
    raw
        The table as read.
    reward
        "col", "col=state", or None.
    settings
        A row without a reward is left out wherever rows with missing values aren't refused.

    Raises
    ------
    TableError
        If a column named in the settings doesn't exist, or has two roles.
    """
    variables = dict(raw.columns)
    rewards: NDArray[np.float64] | None = None
    found: tuple[str, Column] | None = None
    problems: list[Problem] = []
    if reward is not None:
        name, state = find_reward(reward, raw.names, raw.source)
        found = name, _taken_out(variables, name, "reward", raw)
    targets = np.full(raw.n_rows, -1, dtype=np.int32)
    column = None
    if settings.intervention_column is not None:
        column = _taken_out(variables, settings.intervention_column, "intervention", raw)
    for name_kept in settings.keep:
        if name_kept not in raw.names:
            raise TableError(
                f"Expected columns to keep but found {no_column(name_kept, raw.names, raw.source)} (--keep)"
            )
    if found is not None:
        rewards, problem = reward_values(found[1], name, state)
        problems += [problem] if problem else []
    if column is not None and settings.intervention_column is not None:
        targets, problem = row_targets(column, raw.names, {settings.intervention_column}, raw.source)
        problems += [problem] if problem else []
    kinds, warnings = left_out(variables, settings.keep)
    variables = {name: column for name, column in variables.items() if name not in kinds}
    warnings += [] if rewards is None else far_off(rewards, name)
    warnings += _missing_texts({**variables, **(dict([found]) if found else {})})
    keep, about_rows, about_missing = _complete_rows(variables, found, settings, raw)
    advised = {name for problem in about_missing for flag, name in problem.flags if flag == "--ignore"}
    beyond = np.array([name not in variables for name in raw.names] + [False])[targets]
    on_reward = beyond & (targets == (raw.names.index(found[0]) if found else -1))
    for odd, what in ((on_reward, "the reward"), (beyond & ~on_reward, "an ignored column")):
        if (odd & keep).any():
            about_rows.append(f"{(odd & keep).sum()} rows in which {what} was set were left out")
            keep &= ~odd
    states: tuple[str, ...] = ()
    if found is not None:
        if isinstance(found[1], TextColumn):
            states = tuple(sorted(filter(None, found[1].texts)))
        found = found[0], found[1].take(keep)
    return UsedRows(
        {name: column.take(keep) for name, column in variables.items() if name not in advised},
        None if rewards is None else rewards[keep],
        found,
        states,
        targets[keep],
        (*warnings, *about_rows),
        tuple(about_rows),
        (*problems, *about_missing),
        kinds,
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


def reward_values(
    column: Column, name: str, state: str | None
) -> tuple[NDArray[np.float64] | None, Problem | None]:
    """Return the rewards, float64 [n_rows], NaN where they are missing; or why there are none.

    A reward is the column's number; or, with a `state`, 1 where the column has it and 0 where it doesn't.
    """
    texts = column.texts if isinstance(column, TextColumn) else column.odd_texts
    named = sorted(filter(None, texts))
    if state is not None:
        if isinstance(column, TextColumn) and state and state in texts:
            values = np.array([np.nan if text == "" else float(text == state) for text in texts])
            return values[column.codes], None
        has = f"one of {listed(named)}" if named else "the column alone, since it holds numbers"
        return None, Problem(
            "a state of the reward column",
            f"{quoted(state)}, which no row has in {quoted(name)},",
            f"name {has} (--reward)",
        )
    numbers = column.numbers()
    if numbers is not None:
        problem = unfit(numbers, name)
        return (numbers, None) if problem is None else (None, problem)
    odd = sorted(column.odd_texts)
    flags: tuple[tuple[str, str], ...] = ()
    if not odd:
        advice = "name another column (--reward)"
    elif len(odd) <= _FEW_ODD < len(named):
        tokens = shlex.join([*column.missing_texts, *odd])
        advice = (
            f"count what is no number as missing (--na {tokens}), or name a "
            f"state to reward, as in --reward {shlex.quote(f'{name}={odd[0]}')}"
        )
    else:
        advice = (
            f"name the rewarded state, as in {name}=STATE with one of {listed(named)}, and try "
            f"--reward {shlex.quote(f'{name}={named[-1]}')}"
        )
        flags = (("--reward", f"{name}={named[-1]}"),)
    return None, Problem(
        "finite numbers in the reward column",
        f"{quoted(odd[0]) if odd else 'only empty fields'} in {quoted(name)}",
        advice,
        flags,
    )


def row_targets(
    column: Column, names: Sequence[str], taken: Collection[str], source: str
) -> tuple[NDArray[np.int32], Problem | None]:
    """Return the column that was set in each row, and what is wrong with the first entry that is none.

    Parameters
    ----------
    column
        The intervention column. An entry is a column's name or its number, counted from 1; it is empty or 0
        where nothing was set.
    names
        Every column of the table, in order.
    taken
        The columns that can't have been set: the intervention column itself.
    source
        The name of the table in messages.

    Returns
    -------
    targets
        int32 [n_rows], positions in `names`; −1 where nothing was set.
    problem
        Of an entry that isn't a column, is one of `taken`, or could mean two columns.
    """
    nothing = np.full(len(column.missing), -1, dtype=np.int32)
    if isinstance(column, NumberColumn):
        return nothing, Problem(
            "names of columns in the intervention column",
            f"more than {len(names)} different entries",
            "name another column (--intervention-column)",
        )
    targets = []
    for code, text in enumerate(column.texts):
        target, wrong = _target(text, names, taken, source)
        if wrong:
            row = int(np.argmax(column.codes == code)) + 1
            return nothing, Problem(
                "the name or number of the column that was set, or nothing,",
                f"{wrong}, in data row {row} of the intervention column",
                "correct it",
            )
        targets.append(target)
    return np.array(targets, dtype=np.int32)[column.codes], None


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


def _missing_texts(columns: Mapping[str, Column]) -> list[str]:
    """Return the warning about texts that count as missing values."""
    found = {name: column.missing_texts for name, column in columns.items() if column.missing_texts}
    if not found:
        return []
    texts = sorted({text for texts in found.values() for text in texts})
    return [
        f"{listed(texts, len(texts))} of {listed(found)} counted as missing "
        '(--na TOKEN … names other texts, --na "" none)'
    ]


def _complete_rows(
    variables: Mapping[str, Column],
    reward: tuple[str, Column] | None,
    settings: TableSettings,
    raw: RawTable,
) -> tuple[NDArray[np.bool_], list[str], list[Problem]]:
    """Return which rows to keep, bool [n_rows], warnings about the others, and values to decide on."""
    everything = {**variables, **(dict([reward]) if reward else {})}
    empty = {name: column.missing for name, column in everything.items()}
    incomplete = {name: int(rows.sum()) for name, rows in empty.items() if rows.any()}
    if incomplete and settings.missing == "refuse":
        return _decide_on_missing(empty, incomplete, reward, everything)
    keep = np.ones(raw.n_rows, dtype=np.bool_)
    blamed = {
        name: count
        for name, count in incomplete.items()
        if settings.missing == "drop" or (reward and name == reward[0])
    }
    for name in blamed:
        keep &= ~empty[name]
    warnings = []
    if blamed:
        worst = max(blamed, key=lambda name: blamed[name])
        warnings.append(
            f"{(~keep).sum()} of {raw.n_rows} rows were left out for missing values, most in {quoted(worst)} "
            f"({blamed[worst]})"
        )
    if settings.missing == "state" and (own := [name for name in incomplete if name in variables]):
        warnings.append(f"missing values were made a state of {listed(own)}")
    return keep, warnings, []


def _decide_on_missing(
    empty: Mapping[str, NDArray[np.bool_]],
    incomplete: Mapping[str, int],
    reward: tuple[str, Column] | None,
    columns: Mapping[str, Column],
) -> tuple[NDArray[np.bool_], list[str], list[Problem]]:
    """Return the rows that the advice would keep, and a problem for each column with missing values.

    The advice: leave out the columns that are mostly empty; then drop the incomplete rows, or, where these
    are more than half, make a state of missing values.
    """
    n_rows = len(next(iter(empty.values())))
    name_of_reward = reward[0] if reward else None
    mostly = [name for name, n in incomplete.items() if n > n_rows / 2 and name != name_of_reward]
    if len(empty) - len(mostly) - bool(reward) < 2:
        mostly = []
    complete = np.ones(n_rows, dtype=np.bool_)
    for name in incomplete:
        if name not in mostly:
            complete &= ~empty[name]
    way = "drop" if complete.sum() >= max(MIN_ROWS, n_rows / 2) else "state"
    problems = []
    for name, count in incomplete.items():
        row = int(np.argmax(empty[name])) + 1
        texts = columns[name].missing_texts
        written = f" ({listed(texts)} counted as missing)" if texts else ""
        out = f"leave the column out (--ignore {shlex.quote(name)})"
        ways = [
            "leave out their rows (--missing drop)",
            "make them a state (--missing state)",
            *([] if name == name_of_reward else [out]),
            *(['count no text as missing (--na "")'] if texts else []),
        ]
        problems.append(
            Problem(
                "a value in every field",
                f"{count} of {n_rows} missing{written}, the first in data row {row} of column {quoted(name)}",
                f"{', '.join(ways[:-1])} or {ways[-1]}",
                (("--ignore", name) if name in mostly else ("--missing", way),),
                "--missing drop, --missing state"
                + ("" if name == name_of_reward else f" or --ignore {shlex.quote(name)}"),
            )
        )
    keep = complete if way == "drop" else np.ones(n_rows, dtype=np.bool_)
    if way == "state" and name_of_reward is not None:
        keep = ~empty[name_of_reward]
    return keep, [], problems


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
        return -1, f"{quoted(text)}, which is the intervention column itself"
    return target, ""
