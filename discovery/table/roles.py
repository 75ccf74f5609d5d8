"""The roles of columns that aren't variables: the reward, and the column that names what was set in each row.

Both may hold what only a person can interpret, so a message about them says what to write.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from discovery.errors import TableError
from discovery.table.columns import Column, RawTable
from discovery.table.numbers import as_number
from discovery.table.problems import Problem
from discovery.table.reward_scale import unfit
from discovery.wording import no_column, quoted, quoted_list

__all__ = ["find_reward", "odd_rewards", "reward_values", "row_targets", "taken_out"]


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


def odd_rewards(column: Column, name: str, marks: Sequence[str]) -> Problem | None:
    """Return the problem that some cells of a column of rewards aren't numbers; None if most of them aren't.

    Parameters
    ----------
    column, name
        The reward column.
    marks
        The texts that count as missing in the table, to be named again beside others.
    """
    odd = column.odd_texts
    rows = np.isin(column.codes, [column.texts.index(text) for text in odd])
    known = int((~column.missing).sum())
    if not odd or rows.sum() > known / 2:
        return None
    tokens = [*marks, *odd]
    return Problem(
        "finite numbers in the reward column",
        f"{rows.sum():,} of {known:,} cells that are none, {quoted_list(odd)} in {quoted(name)}",
        f"count them as missing (--na {shlex.join(tokens)})",
        tuple(("--na", text) for text in tokens),
    )


def reward_values(
    column: Column, name: str, state: str | None
) -> tuple[NDArray[np.float64] | None, Problem | None]:
    """Return the rewards, float64 [n_rows], NaN where they are missing; or why there are none.

    A reward is the column's number; or, with a `state`, 1 where the column has it and 0 where it doesn't.
    """
    named = sorted(filter(None, column.texts))
    if state is not None:
        if state and state in column.texts:
            values = np.array([np.nan if text == "" else float(text == state) for text in column.texts])
            return values[column.codes], None
        return None, Problem(
            "a state of the reward column",
            f"{quoted(state)}, which no row has in {quoted(name)},",
            f"name one of {quoted_list(named)} (--reward)",
        )
    numbers = column.numbers()
    if numbers is not None:
        problem = unfit(numbers, name)
        return (numbers, None) if problem is None else (None, problem)
    odd = sorted(column.odd_texts)
    if not odd:
        return None, Problem(
            "finite numbers in the reward column",
            f"only empty fields in {quoted(name)}",
            "name another column (--reward)",
        )
    return None, Problem(
        "finite numbers in the reward column",
        f"{quoted(odd[0])} in {quoted(name)}",
        f"name the rewarded state, as in {name}=STATE with one of {quoted_list(named)}, and try "
        f"--reward {shlex.quote(f'{name}={named[-1]}')}",
        (("--reward", f"{name}={named[-1]}"),),
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


def taken_out(columns: dict[str, Column], name: str, role: str, raw: RawTable) -> Column:
    """Take the column of a role out of the columns that are left of a table, and return it.

    Raises
    ------
    TableError
        If the table has no such column, it is ignored, or it has another role already.
    """
    if name not in raw.names:
        raise TableError(f"Expected the {role} column but found {no_column(name, raw.names, raw.source)}")
    if name not in raw.columns:
        raise TableError(
            f"Expected to read the {role} column {quoted(name)} but found it ignored: don't ignore it "
            "(--ignore)"
        )
    if name not in columns:
        raise TableError(
            f"Expected one role for each column but found {quoted(name)} as the {role} column and in another "
            "role: name another column for one of them"
        )
    return columns.pop(name)


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
