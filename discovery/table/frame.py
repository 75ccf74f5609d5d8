"""Read a pandas data frame into columns of text, as `csv_reader` reads a file."""

from __future__ import annotations

from collections.abc import Collection
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from discovery.errors import TableError
from discovery.table.columns import MAX_STATES, Column, NumberColumn, RawTable, TextColumn, as_number
from discovery.table.csv_reader import check_names
from discovery.wording import quoted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_frame"]

_SOURCE = "the data frame"


def read_frame(frame: pd.DataFrame, *, ignore: Collection[str] = ()) -> RawTable:
    """Return the columns of a data frame, with values as the text that ``str`` gives.

    Values that pandas considers missing are missing.

    Parameters
    ----------
    frame
        One row per observation; the index is ignored.
    ignore
        The names of columns to leave out.

    Raises
    ------
    TableError
        If a column's name is empty or occurs twice, a column to leave out doesn't exist, or a column has more
        than `MAX_STATES` distinct values that aren't all numbers.
    """
    names = tuple(str(name).strip() for name in frame.columns)
    check_names(names, ignore, _SOURCE)
    ignored = set(ignore)
    columns = {
        name: _column(frame.iloc[:, position], name)
        for position, name in enumerate(names)
        if name not in ignored
    }
    digest = sha256()
    for name, column in columns.items():
        digest.update(repr((name, column.texts if isinstance(column, TextColumn) else None)).encode())
        digest.update((column.codes if isinstance(column, TextColumn) else column.values).tobytes())
    return RawTable(names, columns, len(frame), digest.hexdigest(), _SOURCE)


def _column(series: pd.Series, name: str) -> Column:
    import pandas as pd

    if series.dtype == object:  # 1 and True are equal, but not as text
        series = series.map(str).where(series.notna())
    indices, values = pd.factorize(series)
    distinct: dict[str, int] = {}
    merged = [distinct.setdefault(str(value).strip(), len(distinct)) for value in values]
    place = np.array([*merged, distinct.setdefault("", len(distinct)) if (indices < 0).any() else -1])
    if len(distinct) <= MAX_STATES:
        return TextColumn(place[indices].astype(np.int16), tuple(distinct))
    numbers = [np.nan if text == "" else as_number(text) for text in distinct]
    if None in numbers:
        raise TableError(
            f"Expected numbers or at most {MAX_STATES} distinct values but found {len(distinct)} in column "
            f"{quoted(name)} of {_SOURCE}: leave it out (--ignore)"
        )
    return NumberColumn(np.array(numbers, dtype=np.float64)[place[indices]])
