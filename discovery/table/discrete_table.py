"""From a CSV file or a data frame to coded observations of discrete variables.

What can't be used as it stands is refused with one line that says what to do; nothing is guessed. What is
changed, on request or because it can't matter, is told in `DiscreteTable.warnings`.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discovery.errors import TableError
from discovery.table.columns import RawTable
from discovery.table.csv_reader import Progress, read_text
from discovery.table.rows import UsedRows, select_rows
from discovery.table.settings import TableSettings
from discovery.table.variables import CodedVariables, code_variables

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DiscreteTable", "InterventionalRows", "read_csv", "read_table"]

MIN_ROWS = 20


@dataclass(frozen=True, eq=False)
class InterventionalRows:
    """Rows in which a variable was set.

    Attributes
    ----------
    codes
        int16 [m, n], the index of the variable's state in ``states[variable]``; the set variable's own
        included.
    states
        The states of the table that they belong to, each variable's followed by those that only these rows
        show.
    rewards
        float64 [m]; None without a reward column.
    targets
        int16 [m], the index of the variable that was set.
    """

    codes: NDArray[np.int16] = field(repr=False)
    states: dict[str, tuple[str, ...]]
    rewards: NDArray[np.float64] | None = field(repr=False)
    targets: NDArray[np.int16] = field(repr=False)

    def __len__(self) -> int:
        return len(self.targets)


@dataclass(frozen=True, eq=False)
class DiscreteTable:
    """Observations of discrete variables, and of a reward.

    Attributes
    ----------
    codes
        int16 [n_rows, n], each column contiguous: the index of the variable's state in ``states[variable]``.
        Only rows in which nothing was set.
    states
        Every variable's states, in the order of columns; as numbers in their order where all are numbers,
        else as text in that of text. The reward isn't a variable.
    rewards
        float64 [n_rows], finite; None without a reward column.
    reward
        The reward as it was asked for: "col" or "col=state".
    warnings
        What a person should know about the table, one line each.
    sha256
        Of the file's bytes (of a data frame: of its contents), in hexadecimal.
    interventional
        The rows in which a variable was set; None without an intervention column.
    constants
        The columns that were dropped because they have one state only, with that state.
    """

    codes: NDArray[np.int16] = field(repr=False)
    states: dict[str, tuple[str, ...]]
    rewards: NDArray[np.float64] | None = field(default=None, repr=False)
    reward: str | None = None
    warnings: tuple[str, ...] = ()
    sha256: str = ""
    interventional: InterventionalRows | None = None
    constants: dict[str, str] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """The number of observational rows."""
        return len(self.codes)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables, in the order of the columns."""
        return tuple(self.states)

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        reward: str | None = None,
        *,
        ignore: Collection[str] = (),
        missing: str = "refuse",
        bins: int | None = None,
        bin_rule: str = "quantile",
        merge_rare: float | None = None,
        intervention_column: str | None = None,
    ) -> DiscreteTable:
        """Take a data frame as `read_csv` takes a file: the same settings, the same refusals.

        Examples
        --------
        >>> import pandas as pd
        >>> days = pd.DataFrame({"rain": [0, 1] * 10, "wind": list("aabb") * 5, "sales": [9, 4, 8, 3] * 5})
        >>> table = DiscreteTable.from_frame(days, reward="sales")
        >>> table.states, table.rewards[:4].tolist()
        ({'rain': ('0', '1'), 'wind': ('a', 'b')}, [9.0, 4.0, 8.0, 3.0])
        """
        from discovery.table.frame import read_frame

        settings = TableSettings(
            ignore=ignore,
            missing=missing,
            bins=bins,
            bin_rule=bin_rule,
            merge_rare=merge_rare,
            intervention_column=intervention_column,
        )
        return _table(read_frame(frame, ignore=settings.ignore), reward, settings)


def read_csv(
    path: str | os.PathLike[str],
    reward: str | None = None,
    *,
    ignore: Collection[str] = (),
    missing: str = "refuse",
    bins: int | None = None,
    bin_rule: str = "quantile",
    merge_rare: float | None = None,
    intervention_column: str | None = None,
    separator: str | None = None,
    progress: Progress | None = None,
) -> DiscreteTable:
    """Read a table of observations: a header with the columns' names, then a row per observation.

    Fields are text and stay text ("NA", "None", "True" and "01" are states); an empty one is a missing value.
    Separators (comma, semicolon, tab, pipe), quotes, a byte-order mark, any line ends and blanks around
    fields are dealt with.

    Parameters
    ----------
    path
        The file, in UTF-8.
    reward
        "col": that column's numbers; "col=state": 1 where the column has the state, else 0. The column isn't
        a variable then.
    ignore
        Columns to leave out.
    missing
        "refuse" empty fields, "drop" the rows that have one, or make "state" of them (named "missing").
    bins, bin_rule
        Cut columns of more than 20 distinct numbers, or more than a tenth of the rows, into so many
        intervals, of equal counts ("quantile") or "width". Without `bins` such columns are refused.
    merge_rare
        Merge the states of a variable that are seen in fewer rows than this (or than this fraction of the
        rows, below 1) into one, named "other".
    intervention_column
        The column that says which variable was set in each row, by name or by its column's number from 1;
        empty or 0 where none was. Such rows go to ``.interventional``.
    separator
        One character, where it can't be told.
    progress
        Called with the bytes read and the bytes in all, now and then.

    Raises
    ------
    TableError
        In one line, if the file can't be read, is empty, binary or ragged; a column's name is empty or occurs
        twice; a column named here doesn't exist; the reward is neither numbers nor a known state; fields are
        empty; a column has too many states; two columns are alike up to the names of their states; fewer than
        2 variables or 20 rows are left. Columns with one state only are dropped with a warning instead.

    Examples
    --------
    >>> table = read_csv("data/asia.csv", reward="xray=yes", ignore=["dysp"])
    >>> table.n_rows, table.variables, table.states["asia"]
    (10000, ('asia', 'tub', 'smoke', 'lung', 'bronc', 'either'), ('no', 'yes'))
    >>> float(table.rewards.mean())
    0.1065
    """
    settings = TableSettings(
        ignore=ignore,
        missing=missing,
        bins=bins,
        bin_rule=bin_rule,
        merge_rare=merge_rare,
        intervention_column=intervention_column,
        separator=separator,
    )
    return read_table(path, reward, settings, progress)


def read_table(
    path: str | os.PathLike[str],
    reward: str | None,
    settings: TableSettings,
    progress: Progress | None = None,
) -> DiscreteTable:
    """Read a table as `read_csv` does, with its settings in one value."""
    raw = read_text(path, separator=settings.separator, ignore=settings.ignore, progress=progress)
    return _table(raw, reward, settings)


def _table(raw: RawTable, reward: str | None, settings: TableSettings) -> DiscreteTable:
    """Code the variables of a table that was read, or refuse it."""
    used = select_rows(raw, reward, settings.intervention_column, settings.missing)
    observed = used.targets < 0
    _check_rows(int(observed.sum()), used, raw)
    coded = code_variables(used, observed, settings, raw.source)
    warnings = [*raw.warnings, *used.warnings, *coded.warnings]
    rewards = None if used.rewards is None else used.rewards[observed]
    if rewards is not None and np.ptp(rewards) == 0:
        warnings.append(f"every reward is {rewards[0]:g}: no intervention can look better than another")
    interventional = None
    if settings.intervention_column is not None:
        interventional = _interventional(coded, used, raw)
        lost = int((~observed).sum()) - len(interventional)
        if lost:
            warnings.append(f"{lost} rows in which a dropped column was set were left out")
    return DiscreteTable(
        codes=coded.codes if observed.all() else np.asfortranarray(coded.codes[observed]),
        states=coded.states,
        rewards=rewards,
        reward=reward,
        warnings=tuple(warnings),
        sha256=raw.sha256,
        interventional=interventional,
        constants=coded.constants,
    )


def _check_rows(n_rows: int, used: UsedRows, raw: RawTable) -> None:
    if n_rows < MIN_ROWS:
        why = f" ({'; '.join(used.warnings)})" if used.warnings else ""
        remedy = "ignore columns that are often empty" if used.warnings else "add observations"
        kind = "rows in which nothing was set" if (used.targets >= 0).any() else "rows"
        raise TableError(
            f"Expected at least {MIN_ROWS} {kind} but found {n_rows} in {raw.source}{why}: {remedy}"
        )


def _interventional(coded: CodedVariables, used: UsedRows, raw: RawTable) -> InterventionalRows:
    """Return the rows in which a variable was set that is still there."""
    place = {name: index for index, name in enumerate(coded.states)}
    targets = np.array([*(place.get(name, -1) for name in raw.names), -1], dtype=np.int16)[used.targets]
    rows = targets >= 0
    rewards = None if used.rewards is None else used.rewards[rows]
    return InterventionalRows(np.asfortranarray(coded.codes[rows]), coded.all_states, rewards, targets[rows])
