"""Read a pandas data frame into columns of text, as `csv_reader` reads a file."""

from __future__ import annotations

from collections.abc import Collection
from hashlib import sha256
from typing import TYPE_CHECKING

from discovery.table.column_names import check_names
from discovery.table.columns import Column, ColumnBuilder, RawTable, with_decimals

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_frame"]


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
    from pandas.api.types import is_numeric_dtype

    names = tuple(str(name).strip() for name in frame.columns)
    check_names(names, ignore, source)
    series = {name: frame.iloc[:, place] for place, name in enumerate(names) if name not in set(ignore)}
    columns = {name: _column(values, na) for name, values in series.items()}
    digest = sha256()
    for name, column in columns.items():
        digest.update(repr((name, column.texts)).encode())
        digest.update(column.codes.tobytes())
    return with_decimals(
        RawTable(names, columns, len(frame), digest.hexdigest(), source),
        written=[name for name, values in series.items() if not is_numeric_dtype(values)],
        comma_separates=True,
    )


def _column(series: pd.Series, na: Collection[str]) -> Column:
    import pandas as pd

    if series.dtype == object:  # 1 and True are equal, but not as text
        series = series.map(str).where(series.notna())
    indices, values = pd.factorize(series)
    texts = [*map(str, values), ""]
    builder = ColumnBuilder(na)
    builder.add((texts[index] for index in indices), len(indices))  # index −1, missing, is the last
    return builder.column()
