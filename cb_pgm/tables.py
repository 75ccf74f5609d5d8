"""Read a table as `discovery` does, and a session's export as the log that it is.

A log that a session exported has four columns before its variables: "pull", the number of the request;
"asked", the intervention that was asked for; "set", the variable that was set; "told_at", the time of the
record. Only "set" is about the rows themselves. A fifth one, "session", keeps what flags said of the session
(`cb_pgm.session.exported`). A name that a variable has too carries a "_" at its end.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from discovery.table.columns import RawTable
from discovery.table.csv_reader import Progress
from discovery.table.discrete_table import DiscreteTable, Source, coded_table, read_columns
from discovery.table.settings import TableSettings
from discovery.wording import quoted

__all__ = ["EXPORT_COLUMNS", "SETTINGS_COLUMN", "read_table"]

EXPORT_COLUMNS = ("pull", "asked", "set", "told_at")
SETTINGS_COLUMN = "session"
#: The text of "asked" in rows in which nothing was to be set.
_NOTHING_ASKED = "nothing"


def read_table(
    source: Source,
    reward: str | None = None,
    settings: TableSettings | None = None,
    progress: Progress | None = None,
    trial: Collection[str] = (),
) -> DiscreteTable:
    """Read a table of observations, or a session's export, from a file or a data frame.

    Parameters and errors are those of `discovery.read`.
    """
    settings = TableSettings() if settings is None else settings
    raw, settings = _as_log(read_columns(source, settings, progress), settings)
    return coded_table(raw, reward, settings, trial)


def _as_log(raw: RawTable, settings: TableSettings) -> tuple[RawTable, TableSettings]:
    """Return an exported log without the columns that aren't about its rows, and how to read it.

    Rows in which another intervention was made than asked for, or several at once, say neither what happens
    when one variable is set nor what happens when none is: they are left out. Any other table is returned as
    it is.
    """
    begin = raw.names[: len(EXPORT_COLUMNS)]
    if tuple(name.removesuffix("_") for name in begin) != EXPORT_COLUMNS:
        return raw, settings
    pull, asked, target, told_at = begin
    more = [name for name in raw.names[len(begin) :][:1] if name.removesuffix("_") == SETTINGS_COLUMN]
    about = {name for name in (pull, asked, told_at, *more) if name not in settings.keep}
    warnings = [f"a session's export: {quoted(target)} names the variable set in each row"]
    columns = {name: column for name, column in raw.columns.items() if name not in about}
    n_rows = raw.n_rows
    was_asked, was_set = raw.columns.get(asked), raw.columns.get(target)
    if was_asked is not None and was_set is not None:
        nothing = was_asked.texts.index(_NOTHING_ASKED) if _NOTHING_ASKED in was_asked.texts else -1
        keep = ~(was_set.missing & (was_asked.codes != nothing))
        if not keep.all():
            columns = {name: column.take(keep) for name, column in columns.items()}
            n_rows = int(keep.sum())
            warnings.append(
                f"{raw.n_rows - n_rows} rows with another intervention than asked for, or with several "
                "variables "
                f"set at once, were left out"
            )
    read = replace(raw, columns=columns, n_rows=n_rows, warnings=(*raw.warnings, *warnings))
    return read, replace(settings, intervention_column=settings.intervention_column or target)
