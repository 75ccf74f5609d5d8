"""Choose the columns and rows of a table that can be used, and say what keeps others from it."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discovery.errors import TableError
from discovery.table.coding import MAX_NUMBERS, ROWS_PER_STATE
from discovery.table.columns import Column, RawTable
from discovery.table.problems import Problem
from discovery.table.reward_scale import far_off
from discovery.table.roles import find_reward, odd_rewards, reward_values, row_targets, taken_out
from discovery.table.settings import TableSettings
from discovery.table.unusable import left_out
from discovery.wording import no_column, quoted, quoted_list

__all__ = ["MIN_ROWS", "UsedRows", "fewest_variables", "select_rows"]

#: The fewest rows from which a graph is estimated.
MIN_ROWS = 20
#: A column that misses more than this share of the rows may be left out rather than they.
_COSTLY = 0.25
#: So many texts among the numbers of a variable are taken for marks of missing values.
_FEW_ODD = 3
#: Columns of more states aren't held against missing rewards, nor differences of fewer standard errors.
_FEW_STATES, _APART = 20, 4.0


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
    rewarded_state
        The state of that column that is rewarded; None where its numbers are the reward.
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
    rewarded_state: str | None
    reward_states: tuple[str, ...]
    targets: NDArray[np.int32]
    warnings: tuple[str, ...]
    about_rows: tuple[str, ...]
    problems: tuple[Problem, ...]
    kinds: dict[str, str]


def fewest_variables(reward: object) -> int:
    """Return how many variables a table must have: one beside a reward, two without."""
    return 2 if reward is None else 1


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
    problems: list[Problem] = []
    marks = tuple(dict.fromkeys(text for column in raw.columns.values() for text in column.missing_texts))
    rewards: NDArray[np.float64] | None = None
    found: tuple[str, Column] | None = None
    state: str | None = None
    about_rewards: list[str] = []
    if reward is not None:
        name, state = find_reward(reward, raw.names, raw.source)
        column = taken_out(variables, name, "reward", raw)
        if state is None and (problem := odd_rewards(column, name, marks)):
            problems.append(problem)
            column = column.without(column.odd_texts)
        rewards, problem = reward_values(column, name, state)
        problems += [problem] if problem else []
        about_rewards = [] if rewards is None else far_off(rewards, name)
        found = name, column
    targets = np.full(raw.n_rows, -1, dtype=np.int32)
    if settings.intervention_column is not None:
        column = taken_out(variables, settings.intervention_column, "intervention", raw)
        targets, problem = row_targets(column, raw.names, {settings.intervention_column}, raw.source)
        problems += [problem] if problem else []
    for name in settings.keep:
        if name not in raw.names:
            raise TableError(
                f"Expected columns to keep but found {no_column(name, raw.names, raw.source)} (--keep)"
            )
    kinds, warnings = left_out(variables, settings.keep)
    variables = {name: column for name, column in variables.items() if name not in kinds}
    for name, column in variables.items():
        if problem := _odd_cells(name, column, marks):
            problems.append(problem)
            variables[name] = column.without(column.odd_texts)
    columns = {**variables, **(dict([found]) if found else {})}
    warnings += [*about_rewards, *_missing_texts(columns)]
    if settings.missing == "refuse":
        keep, about_missing = _decided(columns, found, raw.n_rows)
        about_rows: list[str] = []
    else:
        keep, about_rows = _complete_rows(columns, found, settings, raw.n_rows)
        about_missing = []
    advised = {name for problem in about_missing for flag, name in problem.flags if flag == "--ignore"}
    beyond = np.array([name not in variables for name in raw.names] + [False])[targets]
    on_reward = beyond & (targets == (raw.names.index(found[0]) if found else -1))
    for odd, what in ((on_reward, "the reward"), (beyond & ~on_reward, "an ignored column")):
        if (odd & keep).any():
            about_rows.append(f"{(odd & keep).sum()} rows in which {what} was set were left out")
            keep &= ~odd
    return UsedRows(
        {name: column.take(keep) for name, column in variables.items() if name not in advised},
        None if rewards is None else rewards[keep],
        None if found is None else (found[0], found[1].take(keep)),
        state,
        () if found is None else tuple(sorted(filter(None, found[1].texts))),
        targets[keep],
        (*warnings, *about_rows),
        tuple(about_rows),
        (*problems, *about_missing),
        kinds,
    )


def _odd_cells(name: str, column: Column, marks: Sequence[str]) -> Problem | None:
    """Return the problem that a few texts stand among many numbers."""
    odd = column.odd_texts
    many = column.n_distinct > min(MAX_NUMBERS, len(column.codes) / ROWS_PER_STATE)
    if not odd or not many or len(odd) > _FEW_ODD or 2 * len(odd) >= column.n_distinct:
        return None
    tokens = [*marks, *odd]
    return Problem(
        "numbers or states in a column",
        f"{column.n_distinct} numbers and texts like {quoted(odd[0])} in {len(column.codes)} rows of "
        f"{quoted(name)}",
        f"count such texts as missing (--na {shlex.join(tokens)}) or leave the column out (--ignore "
        f"{shlex.quote(name)})",
        tuple(("--na", text) for text in tokens),
    )


def _missing_texts(columns: Mapping[str, Column]) -> list[str]:
    """Return the warning about texts that count as missing values."""
    found = {name: column.missing_texts for name, column in columns.items() if column.missing_texts}
    if not found:
        return []
    texts = sorted({text for texts in found.values() for text in texts})
    return [
        f"{quoted_list(texts, len(texts))} of {quoted_list(found)} counted as missing "
        '(--na TOKEN … names other texts, --na "" none)'
    ]


def _complete_rows(
    columns: Mapping[str, Column], reward: tuple[str, Column] | None, settings: TableSettings, n_rows: int
) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which rows to keep, bool [n_rows], and warnings about the others and about missing values."""
    name_of_reward = reward[0] if reward else None
    empty = _gaps(columns)
    # A column that has one value, or none, is no variable once the rows without are gone: it costs no rows.
    costs = [
        name
        for name in empty
        if name == name_of_reward or (settings.missing == "drop" and columns[name].n_distinct > 1)
    ]
    keep = _complete(empty, costs, n_rows)
    warnings = []
    if costs:
        worst = max(costs, key=lambda name: empty[name].sum())
        without = int(_complete(empty, [name for name in costs if name != worst], n_rows).sum())
        saves = worst != name_of_reward and without - keep.sum() > _COSTLY * n_rows
        warnings.append(
            f"{(~keep).sum()} of {n_rows} rows were left out for missing values, most in {quoted(worst)} "
            f"({empty[worst].sum()})"
            + (f": --ignore {shlex.quote(worst)} keeps {without:,}" if saves else "")
        )
    if name_of_reward in empty:
        warnings += _lost_rewards(columns, name_of_reward, empty[name_of_reward])
    if settings.missing == "state" and (own := [name for name in empty if name != name_of_reward]):
        warnings.append(f"missing values were made a state of {quoted_list(own)}")
    return keep, warnings


def _lost_rewards(columns: Mapping[str, Column], reward: str, lost: NDArray[np.bool_]) -> list[str]:
    """Return a warning of each column with a state in whose rows the reward is missing more often, or less.

    The shares of rows with and without the state differ by four standard errors.
    """
    found = []
    for name, column in columns.items():
        if name == reward or not 1 < column.n_distinct <= _FEW_STATES:
            continue
        rows = np.bincount(column.codes)
        missing = np.bincount(column.codes, lost)
        own, others = missing / rows, (missing.sum() - missing) / (rows.sum() - rows)
        variance = lost.mean() * (1 - lost.mean()) * (1 / rows + 1 / (rows.sum() - rows))
        apart = np.abs(own - others) / np.sqrt(np.maximum(variance, 1e-12))
        apart *= np.array(column.texts) != ""  # rows that lack both say nothing of a state
        state = int(apart.argmax())
        if apart[state] > _APART:
            found.append(
                f"{reward} is missing in {own[state]:.0%} of the rows with {name} = {column.texts[state]}, "
                f"in {others[state]:.0%} of the others: these rows aren't left out at random"
            )
    return found


def _decided(
    columns: Mapping[str, Column], reward: tuple[str, Column] | None, n_rows: int
) -> tuple[NDArray[np.bool_], list[Problem]]:
    """Return the rows that the advice would keep, and a problem for each column with missing values.

    The advice: leave out the columns that would cost many rows; then drop the incomplete rows, or, where
    these are more than half, make a state of missing values.
    """
    empty = _gaps(columns)
    name_of_reward = reward[0] if reward else None
    gaps = sum((rows.astype(np.int32) for rows in empty.values()), np.zeros(n_rows, dtype=np.int32))
    costly = _rather_left_out(empty, gaps, len(columns), name_of_reward)
    keep = _complete(empty, set(empty) - set(costly), n_rows)
    way = "drop" if keep.sum() >= max(MIN_ROWS, n_rows / 2) else "state"
    if way == "state":
        keep = _complete(empty, set(empty) & {name_of_reward}, n_rows)
    worst = max(empty, key=lambda name: int(empty[name].sum()), default=None)
    problems = []
    for name, rows in empty.items():
        texts = columns[name].missing_texts
        written = f" ({quoted_list(texts)} counted as missing)" if texts else ""
        ways = [("leave out their rows", "--missing drop"), ("make them a state", "--missing state")]
        if name != name_of_reward:
            cheap = name in costly
            ways.insert(0 if cheap else 2, ("leave the column out", f"--ignore {shlex.quote(name)}"))
        if texts:
            ways.append(("count no text as missing", '--na ""'))
        full = [f"{what} ({flag})" for what, flag in ways]
        short = [flag for _, flag in ways]
        left = ""
        if name == worst:
            left = f"; --missing drop leaves {(gaps == 0).sum():,} of {n_rows:,} rows"
            without = int((gaps == rows).sum())
            if name != name_of_reward and without > (gaps == 0).sum():
                left += f", and {without:,} with --ignore {shlex.quote(name)}"
        problems.append(
            Problem(
                "a value in every field",
                f"{rows.sum()} of {n_rows} missing{written}, the first in data row {np.argmax(rows) + 1} of "
                f"column {quoted(name)}",
                f"{', '.join(full[:-1])} or {full[-1]}{left}",
                (("--ignore", name) if name in costly else ("--missing", way),),
                f"{', '.join(short[:-1])} or {short[-1]}{left}",
            )
        )
    return keep, problems


def _rather_left_out(
    empty: Mapping[str, NDArray[np.bool_]], gaps: NDArray[np.int32], n_columns: int, reward: str | None
) -> list[str]:
    """Return the columns without which most fields are left in complete rows, of those that cost many rows.

    `gaps`, int32 [n_rows], counts the empty fields of each row.
    """
    costly = [name for name, rows in empty.items() if rows.mean() > _COSTLY and name != reward]
    costly.sort(key=lambda name: -int(empty[name].sum()))
    fields = [int((gaps == 0).sum()) * n_columns]
    for n_out, name in enumerate(costly[: n_columns - fewest_variables(reward) - (reward is not None)], 1):
        gaps = gaps - empty[name]
        fields.append(int((gaps == 0).sum()) * (n_columns - n_out))
    return costly[: int(np.argmax(fields))]


def _gaps(columns: Mapping[str, Column]) -> dict[str, NDArray[np.bool_]]:
    """Return the columns with missing values, and where they are, bool [n_rows]."""
    missing = ((name, column.missing) for name, column in columns.items())
    return {name: rows for name, rows in missing if rows.any()}


def _complete(
    empty: Mapping[str, NDArray[np.bool_]], names: Collection[str], n_rows: int
) -> NDArray[np.bool_]:
    """Return the rows in which none of these columns is empty, bool [n_rows]."""
    keep = np.ones(n_rows, dtype=np.bool_)
    for name in names:
        keep &= ~empty[name]
    return keep
