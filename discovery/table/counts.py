"""Tables of counts: each row stands for as many rows as its column of counts says."""

from __future__ import annotations

import math
import re
import shlex
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discovery.errors import TableError
from discovery.table.coding import MAX_NUMBERS
from discovery.table.columns import RawTable
from discovery.table.files import MOST_UNPACKED
from discovery.table.numbers import numbers_of
from discovery.table.problems import Problem
from discovery.table.roles import find_reward, taken_out
from discovery.table.settings import TableSettings
from discovery.wording import quoted

__all__ = ["counted_rows"]

_COUNTS = re.compile(
    r"(?i:freq|freqs|frequency|count|counts|n|weight|weights|cases|obs)|.*[\W_](?i:freq|count)"
)


def counted_rows(
    raw: RawTable, reward: str | None, settings: TableSettings
) -> tuple[RawTable, list[Problem]]:
    """Return the table with each row as often as it counts, without the column of counts.

    That is the column named in the settings. Without one, a column that looks like it is used, and said to be
    a problem whose solution is to name it, so that other problems are those of the rows that are meant.

    Raises
    ------
    TableError
        If the column doesn't exist, isn't of whole numbers of at least 0, or counts more rows than memory can
        hold.
    """
    name = settings.weights
    problems = []
    if name is None:
        name = _column_of_counts(raw, reward, settings)
        if name is None:
            return raw, []
        problems.append(
            Problem(
                "a row for each observation",
                f"counts of rows in {quoted(name)}, and no two rows alike in the other columns,",
                f"count each row so often (--weights {shlex.quote(name)}), or use the column as a variable "
                f"(--keep {shlex.quote(name)})",
                (("--weights", name),),
                f"--weights {shlex.quote(name)}, or --keep {shlex.quote(name)} if it is a variable",
            )
        )
    columns = dict(raw.columns)
    column = taken_out(columns, name, "weights", raw)
    counts = _whole(column.numbers())
    if counts is None:
        raise TableError(
            f"Expected whole numbers of at least 0 in the column of weights {quoted(name)} of {raw.source} "
            "but found "
            f"{quoted(next((text for text in column.texts if not _is_count(text, column.decimal)), ''))}: "
            "name the "
            "column that counts rows (--weights)"
        )
    size = 2 * int(counts.sum()) * len(columns)
    if size > MOST_UNPACKED:
        raise TableError(
            f"Expected counts of at most {MOST_UNPACKED // (2 * len(columns)):,} rows in all but found "
            f"{int(counts.sum()):,} in {quoted(name)} of {raw.source}: divide them, or name another column "
            "(--weights)"
        )
    rows = np.repeat(np.arange(raw.n_rows), counts)
    return replace(
        raw,
        columns={other: values.take(rows) for other, values in columns.items()},
        n_rows=len(rows),
        warnings=(*raw.warnings, f"{quoted(name)} counts the rows: {raw.n_rows} stand for {len(rows):,}"),
    ), problems


def _column_of_counts(raw: RawTable, reward: str | None, settings: TableSettings) -> str | None:
    """Return the one column that looks like counts: whole numbers beside rows that are all different.

    The other columns have few values each. The column's name says what it is, or the rows are most of those
    that there can be, as in a table that was made by counting.
    """
    taken = {settings.intervention_column, *settings.keep}
    if reward is not None:
        taken.add(find_reward(reward, raw.names, raw.source)[0])
    found = [
        name
        for name, column in raw.columns.items()
        if name not in taken
        and column.n_distinct > 2
        and (counts := _whole(column.numbers())) is not None
        and counts.sum() > raw.n_rows
        and _others_differ(raw, name)
    ]
    return found[0] if len(found) == 1 else None


def _others_differ(raw: RawTable, name: str) -> bool:
    others = [column for other, column in raw.columns.items() if other != name]
    sizes = [len(column.texts) for column in others]
    named = _COUNTS.fullmatch(name) is not None
    few = MAX_NUMBERS if named else MAX_NUMBERS // 2
    if len(others) < 2 or max(sizes) > few or not (named or math.prod(sizes) <= 2 * raw.n_rows):
        return False
    rows = np.stack([column.codes for column in others], axis=1)
    return len(np.unique(rows, axis=0)) == raw.n_rows


def _whole(numbers: NDArray[np.float64] | None) -> NDArray[np.int64] | None:
    """Return numbers as counts; None if they aren't all whole and at least 0."""
    if numbers is None or not (numbers >= 0).all() or (numbers != np.round(numbers)).any():
        return None
    return numbers.astype(np.int64) if numbers.sum() < 2**62 else None


def _is_count(text: str, decimal: str) -> bool:
    return _whole(numbers_of([text], decimal)) is not None
