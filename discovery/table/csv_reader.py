"""Read a CSV file: decide its separator, check its shape, and return its columns as text.

The separator is the one given, or that of comma, semicolon, tab and pipe on which the header and the first
lines agree. Python's own csv module splits the lines (`csv_lines`). pandas isn't used, because it pads short
rows with missing values: here a ragged file is refused. Rows are read in one pass and in blocks, each turned
into indices before the next is read, so that memory holds each distinct text of a column once and two bytes
per field. A file compressed by gzip is read as what it holds, and Parquet through pandas (`file_kinds`).
"""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice

from discovery.errors import TableError
from discovery.table.column_names import name_problems, no_name
from discovery.table.columns import Column, ColumnBuilder, RawTable, with_formats
from discovery.table.csv_lines import (
    SAMPLE_LINES,
    SEPARATORS,
    Records,
    commented_header,
    sample_records,
    separator_line,
    sniffed,
)
from discovery.table.file_kinds import HashingFile, file_lines, is_parquet, opened, parquet_frame
from discovery.table.frame import read_frame
from discovery.table.number_format import as_number
from discovery.table.problems import Problem, raise_problems
from discovery.wording import listed, quoted

__all__ = ["Progress", "read_text"]

#: Called with the number of bytes read and that of all bytes.
Progress = Callable[[int, int], None]

_BLOCK_ROWS = 4_096


def read_text(
    path: str | os.PathLike[str],
    *,
    separator: str | None = None,
    ignore: Collection[str] = (),
    na: Collection[str] = (),
    progress: Progress | None = None,
) -> RawTable:
    """Read a CSV file: a header, then one row per line, in UTF-8 (or UTF-16 with a byte-order mark).

    Parameters
    ----------
    path
        The file, also compressed by gzip, or a Parquet file; or a pipe, since it is read only once.
    separator
        One character. None: the one that a first line ``sep=`` names, the tab for a file named .tsv, or that
        of comma, semicolon, tab and pipe on which header and first rows agree.
    ignore
        The names of columns to leave out.
    na
        The texts that are read as missing values, as an empty field is.
    progress
        Called after every few thousand rows with the number of bytes read and that of all bytes.

    Raises
    ------
    TableError
        If the file can't be read, is neither text nor Parquet, is empty, or has rows of different widths; if
        a column's name is empty or occurs twice, or a column to leave out doesn't exist.

    Notes
    -----
    Blanks around a field are dropped, inside quotes too; blank lines and comments are skipped. A first
    column without a name that differs in every row, as R writes its row names, is left out with a warning,
    and so is a column without a name in which nothing is. Takes linear time in the number of fields.
    """
    source = repr(os.fspath(path))
    try:
        raw = open(path, "rb", buffering=0)  # noqa: SIM115 - closed below; only opening is tried here
    except (OSError, ValueError) as error:  # a ValueError for a NUL in the path
        raise TableError(
            f"Expected a CSV file that can be read but found {source}: "
            f"{getattr(error, 'strerror', None) or error}: check the path"
        ) from None
    try:
        with raw:
            file = HashingFile(raw)
            content = opened(file, source)
            if is_parquet(content):
                table = read_frame(parquet_frame(content, source), ignore=ignore, na=na, source=source)
                return replace(table, sha256=file.digest.hexdigest())
            if separator is None and os.fspath(path).endswith((".tsv", ".tsv.gz")):
                separator = "\t"
            return _CsvTable(file, content, source, separator, na).read(ignore, progress)
    except UnicodeDecodeError as error:
        raise TableError(
            f"Expected UTF-8 text but found the byte 0x{error.object[error.start]:02x} in {source}, which is "
            "binary or in another encoding: save it as CSV in UTF-8"
        ) from None
    except (OSError, UnicodeError, EOFError, zlib.error) as error:  # UTF-16 cut short is a UnicodeError
        raise TableError(
            f"Expected a CSV file that can be read to its end but found {source}: {error}: check that it is "
            "whole"
        ) from None


class _CsvTable:
    """A CSV file that is being read."""

    def __init__(
        self,
        file: HashingFile,
        content: io.BufferedReader,
        source: str,
        separator: str | None,
        na: Collection[str],
    ) -> None:
        self._file = file
        self._source = source
        self._na = na
        self._warnings: list[str] = []
        lines = file_lines(content, source)
        sample = list(islice(lines, SAMPLE_LINES))
        named = separator_line(sample)
        self._separator = separator or named or sniffed(sample, source)
        self._n_comments = commented_header(sample, self._separator)
        self._sample = sample
        self._records = Records(chain(sample, lines), self._separator, source)

    def read(self, ignore: Collection[str], progress: Progress | None) -> RawTable:
        """Read header and rows."""
        rows = iter(self._records)
        _, header = next(rows, (0, []))
        names = [name.strip() for name in header]
        if not names:
            raise TableError(
                f"Expected a header and rows but found nothing in {self._source}: the file is empty"
            )
        raise_problems(name_problems(names, ignore, self._source), self._source)
        if self._has_row_names(len(names)):
            names.insert(0, "")
        if len(names) == 1:
            raise TableError(
                f"Expected at least 2 columns, separated by {', '.join(SEPARATORS.values())}, but found only "
                f"{quoted(names[0])} in {self._source}: name the separator if it is another (--separator)"
            )
        self._records.width = len(names)
        ignored = set(ignore)
        builders = {
            place: ColumnBuilder(self._na, comma_separates=self._separator == ",")
            for place, name in enumerate(names)
            if name not in ignored
        }
        n_rows = self._fill(builders, rows, len(names), progress)
        columns = {place: builder.column() for place, builder in builders.items()}
        self._check_unnamed(names, columns)
        named = {names[place]: column for place, column in columns.items() if names[place]}
        return RawTable(
            tuple(filter(None, names)),
            with_formats(named, comma_separates=self._separator == ","),
            n_rows,
            self._file.digest.hexdigest(),
            self._source,
            (*self._warnings, *self._noticed(names)),
        )

    def _has_row_names(self, width: int) -> bool:
        """Return whether each row of the sample has one field more than the header, first a name of its own.

        R's write.table writes row names so.
        """
        _, *rows = sample_records(self._sample, self._separator) or [[]]
        rows = rows[:-1] if len(self._sample) == SAMPLE_LINES else rows
        firsts = {row[0].strip() for row in rows if len(row) == width + 1}
        return len(rows) > 1 and len(firsts) == len(rows) and any(row[-1].strip() for row in rows)

    def _fill(
        self,
        builders: Mapping[int, ColumnBuilder],
        rows: Iterator[tuple[int, list[str]]],
        width: int,
        progress: Progress | None,
    ) -> int:
        """Give each builder the fields of its column and return the number of rows.

        Raises
        ------
        TableError
            If rows have more or fewer fields than the header.
        """
        n_rows = 0
        ragged: dict[tuple[int, bool], list[int]] = {}
        while block := list(islice(rows, _BLOCK_ROWS)):
            for line, fields in block:
                if len(fields) != width:
                    ragged.setdefault((len(fields), not fields[-1].strip()), []).append(line)
            if not ragged:
                columns = list(zip(*(fields for _, fields in block), strict=True))
                for place, builder in builders.items():
                    builder.add(columns[place])
            n_rows += len(block)
            if progress is not None:
                progress(self._file.n_bytes, max(self._file.size, self._file.n_bytes))
        raise_problems([_ragged(*kind, width, lines) for kind, lines in ragged.items()], self._source)
        return n_rows

    def _check_unnamed(self, names: list[str], columns: Mapping[int, Column]) -> None:
        """Leave out columns without a name that hold row names or nothing, and refuse others."""
        problems = []
        for place in (place for place, name in enumerate(names) if not name):
            column = columns[place]
            if column.missing.all():
                self._warnings.append(
                    f"column {place + 1} of {self._source} has neither name nor values: it is left out"
                )
            elif place == 0 and not column.missing.any() and column.n_distinct == len(column.missing):
                self._warnings.append(
                    f"the first column of {self._source} has no name and differs in every row: it is left "
                    "out as the rows' names"
                )
            else:
                problems.append(no_name(place + 1, len(names)))
        raise_problems(problems, self._source)

    def _noticed(self, names: list[str]) -> Iterator[str]:
        """Yield what a person should know about the file."""
        n_comments = self._n_comments + self._records.n_comments
        if n_comments:
            yield f"lines of {self._source} that begin with '#' were skipped as comments: {n_comments}"
        if all(as_number(name) is not None for name in names if name):
            yield (
                f"every column name of {self._source} is a number ({listed(filter(None, names))}): its first "
                "line is taken as the header"
            )


def _ragged(found: int, ends_blank: bool, width: int, lines: list[int]) -> Problem:
    """Return the problem of lines with `found` fields instead of `width`."""
    advice = "complete the row"
    if found > width:
        advice = (
            "remove the separator at its end"
            if ends_blank
            else "name every column in the header, that of row names too"
        )
    others = f" and {len(lines) - 1} others" if len(lines) > 1 else ""
    return Problem(
        f"{width} fields, as in the header,",
        f"{found} in line {lines[0]}{others}",
        f"{advice}, and quote fields that contain the separator",
    )
