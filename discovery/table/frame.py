"""Read a pandas data frame into columns of text, as `csv_reader` reads a file."""

from __future__ import annotations

from collections.abc import Collection
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from discovery.table.column_names import check_names
from discovery.table.columns import Column, ColumnBuilder, RawTable, TextColumn, with_formats

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_frame"]

_BLOCK_ROWS = 4_096


def read_frame(
    frame: pd.DataFrame,
    *,
    ignore: Collection[str] = (),
    na: Collection[str] = (),
    source: str = "the data frame",
) -> RawTable:
    """Return the columns of a data frame, with values as the text that ``str`` gives.

    Values that pandas considers missing are missing.

    Parameters
    ----------
    frame
        One row per observation; the index is ignored.
    ignore
        The names of columns to leave out.
    na
        The texts that are missing values too.
    source
        The name of the table in messages.

    Raises
    ------
    TableError
        If a column's name is empty or occurs twice, or a column to leave out doesn't exist.
    """
    names = tuple(str(name).strip() for name in frame.columns)
    check_names(names, ignore, source)
    ignored = set(ignore)
    columns = with_formats(
        {
            name: _column(frame.iloc[:, position], na)
            for position, name in enumerate(names)
            if name not in ignored
        },
        comma_separates=True,
    )
    digest = sha256()
    for name, column in columns.items():
        digest.update(repr((name, column.texts if isinstance(column, TextColumn) else None)).encode())
        digest.update((column.codes if isinstance(column, TextColumn) else column.values).tobytes())
    return RawTable(names, columns, len(frame), digest.hexdigest(), source)


def _column(series: pd.Series, na: Collection[str]) -> Column:
    import pandas as pd

    if series.dtype == object:  # 1 and True are equal, but not as text
        series = series.map(str).where(series.notna())
    indices, values = pd.factorize(series)
    texts = np.array([*map(str, values), ""], dtype=object)
    builder = ColumnBuilder(na)
    for begin in range(0, len(indices), _BLOCK_ROWS):
        builder.add(tuple(texts[indices[begin : begin + _BLOCK_ROWS]]))  # index −1, missing, is the last
    return builder.column()
