"""From a CSV file or a data frame to coded observations of discrete variables.

What only a person can decide is refused, all of it in one message that says what to do. What is changed, on
request or because the column can't be a variable, is reported in `DiscreteTable.warnings`.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discovery.errors import TableError
from discovery.table.columns import RawTable
from discovery.table.computed import computed_columns
from discovery.table.counts import counted_rows
from discovery.table.csv_reader import Progress, read_text
from discovery.table.frame import read_frame
from discovery.table.roles import find_reward
from discovery.table.rows import MIN_ROWS, UsedRows, select_rows
from discovery.table.settings import TableSettings
from discovery.table.spellings import noticed_spellings
from discovery.table.variables import CodedVariables, code_variables
from discovery.wording import in_python, no_column

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "DiscreteTable",
    "InterventionalRows",
    "Source",
    "coded_table",
    "read",
    "read_columns",
    "read_csv",
    "source_name",
]

#: A CSV or Parquet file, or a pandas data frame.
Source: TypeAlias = "str | os.PathLike[str] | pd.DataFrame"


#: A table with more columns than this for each row is refused.
COLUMNS_PER_ROW = 10


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
    reward_column, reward_states
        The column that the reward was taken from, and the values that it shows, in the order of text.
    merged
        For each variable with rare states merged into one, those states and the name of the one.
    decimal
        The decimal mark on which the columns agree, "." or ","; None where none settles it.
    computed
        The variables that are a function of the reward, or that it is computed from: its logarithm, say, or
        the parts of a sum.
    """

    codes: NDArray[np.int16] = field(repr=False)
    states: dict[str, tuple[str, ...]]
    rewards: NDArray[np.float64] | None = field(default=None, repr=False)
    reward: str | None = None
    warnings: tuple[str, ...] = ()
    sha256: str = ""
    interventional: InterventionalRows | None = None
    constants: dict[str, str] = field(default_factory=dict)
    reward_column: str | None = None
    reward_states: tuple[str, ...] = ()
    merged: dict[str, dict[str, str]] = field(default_factory=dict)
    decimal: str | None = None
    computed: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """The number of observational rows."""
        return len(self.codes)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables, in the order of the columns."""
        return tuple(self.states)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, reward: str | None = None, **settings: Any) -> DiscreteTable:
        """Take a data frame as `read_csv` takes a file: the same settings, the same refusals.

        Examples
        --------
        >>> import pandas as pd
        >>> days = pd.DataFrame({"rain": [0, 1] * 10, "wind": list("aabb") * 5, "sales": [9, 4, 8, 3] * 5})
        >>> table = DiscreteTable.from_frame(days, reward="sales")
        >>> table.states, table.rewards[:4].tolist()
        ({'rain': ('0', '1'), 'wind': ('a', 'b')}, [9.0, 4.0, 8.0, 3.0])
        """
        try:
            return read(frame, reward, TableSettings(**settings))
        except TableError as error:
            raise TableError(in_python(str(error))) from None


def read_csv(
    path: str | os.PathLike[str],
    reward: str | None = None,
    *,
    progress: Progress | None = None,
    **settings: Any,
) -> DiscreteTable:
    """Read a table of observations: a header with the columns' names, then a row per observation.

    Fields are text and stay text ("True" and "01" are states); an empty one is a missing value, and so are
    the usual marks. Separators (comma, semicolon, tab, pipe), quotes, a byte-order mark, any line ends,
    blanks around fields, a first line ``sep=;``, comments that begin with "#", R's row names, decimal
    commas, separators of thousands, currencies, per cent, k and M are dealt with.

    Parameters
    ----------
    path
        The file, also compressed by gzip; or a Parquet file, for which pyarrow must be installed.
    reward
        "col": that column's numbers; "col=state": 1 where the column has the state, else 0. The column isn't
        a variable then.
    progress
        Called with the bytes read and the bytes in all, now and then.
    **settings
        The fields of `TableSettings`. Rows in which a variable was set go to ``.interventional``.

    Raises
    ------
    TableError
        In one line, if the file can't be read, is empty, binary or ragged; a column's name is empty or occurs
        twice; a column named here doesn't exist; fewer than 2 variables (one beside a reward) or 20 rows are
        left (rows in which a variable was set count where all are such), or 10 times as many columns as rows.
        In a line each, if the reward is neither numbers nor a known state, values are missing, or columns
        have too many states. Columns that can't be variables (with one state only, of identifiers, of dates,
        without any value, equal to another) are left out with a warning instead.

    Examples
    --------
    >>> table = read_csv("data/asia.csv", reward="xray=yes", ignore=["dysp"])
    >>> table.n_rows, table.variables, table.states["asia"]
    (10000, ('asia', 'tub', 'smoke', 'lung', 'bronc', 'either'), ('no', 'yes'))
    >>> float(table.rewards.mean())
    0.1065
    """
    return read(path, reward, TableSettings(**settings), progress)


def read(
    source: Source,
    reward: str | None = None,
    settings: TableSettings | None = None,
    progress: Progress | None = None,
    trial: Collection[str] = (),
) -> DiscreteTable:
    """Read a file as `read_csv` does, or take a data frame as it would be read from one.

    Parameters
    ----------
    source
        The file or the frame.
    reward
        "col", "col=state" or None.
    settings
        How to read the table; `TableSettings()` by default.
    progress
        Called with the bytes read and the bytes in all, now and then; not for a frame.
    trial
        The columns of a trial: what was set at random, and blocks. Only these are read, beside the reward:
        every row that has them all, however few there are and however many states they have.

    Raises
    ------
    TableError
        As in `read_csv`.
    """
    settings = TableSettings() if settings is None else settings
    return coded_table(read_columns(source, settings, progress), reward, settings, trial)


def read_columns(source: Source, settings: TableSettings, progress: Progress | None = None) -> RawTable:
    """Return the columns of a file or a frame as text, as `read` does before it gives them states.

    Raises
    ------
    TableError
        If the file can't be read, or isn't a table.
    """
    if not isinstance(source, str | os.PathLike):
        return read_frame(source, ignore=settings.ignore, na=settings.na)
    return read_text(
        source,
        separator=settings.separator,
        encoding=settings.encoding,
        skip_rows=settings.skip_rows,
        ignore=settings.ignore,
        na=settings.na,
        progress=progress,
    )


def source_name(source: Source) -> str:
    """Return the path of a file; of a data frame, that it is one."""
    return str(source) if isinstance(source, str | os.PathLike) else "the data frame"


def coded_table(
    raw: RawTable, reward: str | None, settings: TableSettings, trial: Collection[str] = ()
) -> DiscreteTable:
    """Give the columns of a table states, or refuse it.

    Raises
    ------
    TableError
        As in `read_csv`.
    """
    if not raw.n_rows:
        raise TableError(
            f"Expected rows below the header but found none in {raw.source}: give a table with rows"
        )
    raw, problems = counted_rows(raw, reward, settings)
    if trial:
        raw, settings = _of_trial(raw, reward, settings, trial)
    _check_shape(raw)
    used = select_rows(raw, reward, settings)
    used = replace(used, problems=(*problems, *used.problems))
    observed = used.targets < 0
    # With too few rows in which nothing was set, all rows decide about states, and no graph is estimated.
    deciding = observed if observed.sum() >= MIN_ROWS else np.ones_like(observed)
    if used.rewards is not None and not observed.all():
        trial = {raw.names[target] for target in used.targets[~observed]}  # a log is an experiment too
    if not trial:
        _check_rows(int(deciding.sum()), used, raw)
    computed = () if used.rewards is None else computed_columns(used.rewards, used.variables)
    coded = code_variables(used, deciding, settings, raw.source, trial=trial, computed=computed)
    warnings = [*raw.warnings, *noticed_spellings(raw), *used.warnings, *coded.warnings]
    rewards = None if used.rewards is None else used.rewards[observed]
    if rewards is not None and len(rewards) and np.ptp(rewards) == 0:
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
        reward_column=None if used.reward is None else used.reward[0],
        reward_states=used.reward_states,
        merged=coded.merged,
        decimal=raw.decimal,
        computed=tuple(name for name in computed if name in coded.states),
    )


def _of_trial(
    raw: RawTable, reward: str | None, settings: TableSettings, trial: Collection[str]
) -> tuple[RawTable, TableSettings]:
    """Return the columns of a trial alone, and the settings that keep every row that has them all."""
    for name in trial:
        if name not in raw.columns:
            raise TableError(f"Expected a trial's columns but found {no_column(name, raw.names, raw.source)}")
    needed = {*trial, *([] if reward is None else [find_reward(reward, raw.names, raw.source)[0]])}
    columns = {name: column for name, column in raw.columns.items() if name in needed}
    ignore = [name for name in raw.names if name not in needed]
    missing = "drop" if settings.missing == "refuse" else settings.missing
    return replace(raw, columns=columns), replace(
        settings, ignore=ignore, keep=trial, missing=missing, intervention_column=None
    )


def _check_shape(raw: RawTable) -> None:
    """Refuse tables so wide that no graph can be told from chance: the search would have no end either."""
    if len(raw.columns) > COLUMNS_PER_ROW * raw.n_rows:
        raise TableError(
            f"Expected at most {COLUMNS_PER_ROW} columns for each row but found {len(raw.columns):,} columns "
            f"and {raw.n_rows:,} rows in {raw.source}: leave columns out (--ignore), or turn the table "
            "if its rows are the variables"
        )


def _check_rows(n_rows: int, used: UsedRows, raw: RawTable) -> None:
    if n_rows < MIN_ROWS:
        why = f" ({'; '.join(used.about_rows)})" if used.about_rows else ""
        remedy = "ignore columns that are often empty" if used.about_rows else "add observations"
        raise TableError(
            f"Expected at least {MIN_ROWS} rows but found {n_rows} in {raw.source}{why}: {remedy}"
        )


def _interventional(coded: CodedVariables, used: UsedRows, raw: RawTable) -> InterventionalRows:
    """Return the rows in which a variable was set that is still there."""
    place = {name: index for index, name in enumerate(coded.states)}
    targets = np.array([*(place.get(name, -1) for name in raw.names), -1], dtype=np.int16)[used.targets]
    rows = targets >= 0
    rewards = None if used.rewards is None else used.rewards[rows]
    return InterventionalRows(np.asfortranarray(coded.codes[rows]), coded.all_states, rewards, targets[rows])
