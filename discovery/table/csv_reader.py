"""Read a CSV file: decide its separator, check its shape, and return its columns as text.

The separator is the one given, or that of comma, semicolon, tab and pipe on which the first lines agree. Rows
are read in one pass and in blocks, each turned into indices before the next is read, so that memory holds
each distinct text of a column once and two bytes per field (four beyond 32,767 texts). A file compressed by
gzip is read as what it holds, and Parquet through pandas (`files`).

Python's csv module splits the lines (`csv_lines`), not pandas, whose Python engine does so with the same
module: on 50,000 rows of 50 columns that engine takes .8 s, ours 1.0 s with the indices made, while importing
pandas adds .4 s to every command on a small table. pandas pads short rows and takes text after a closing
quote, without a line number; here such a file is refused by line.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from discovery.errors import TableError
from discovery.table.column_names import name_problems, no_name
from discovery.table.columns import Column, ColumnBuilder, RawTable, with_decimals
from discovery.table.csv_lines import (
    SAMPLE_LINES,
    SEPARATORS,
    Records,
    commented_header,
    sampled,
    separator_line,
    sniffed,
)
from discovery.table.files import (
    CountedFile,
    check_unpacked,
    decoded,
    file_lines,
    is_parquet,
    opened,
    parquet_frame,
)
from discovery.table.frame import read_frame
from discovery.table.numbers import as_number
from discovery.table.problems import Problem, raise_problems
from discovery.wording import quoted, quoted_list

__all__ = ["Progress", "read_text"]

#: Called with the number of bytes read and that of all bytes.
Progress = Callable[[int, int], None]

_BLOCK_ROWS = 4_096


def read_text(
    path: str | os.PathLike[str],
    *,
    separator: str | None = None,
    encoding: str | None = None,
    skip_rows: int = 0,
    ignore: Collection[str] = (),
    na: Collection[str] = (),
    progress: Progress | None = None,
) -> RawTable:
    """Read a CSV file: a header, then one row per line.

    Parameters
    ----------
    path
        The file, also compressed by gzip, or a Parquet file; or a pipe, since it is read only once.
    separator
        One character. None: the one that a first line ``sep=`` names, the tab for a file named .tsv, or that
        of comma, semicolon, tab and pipe on which the first lines agree.
    encoding
        That of the text. None: UTF-16 where a byte-order mark says so, else UTF-8, and Windows-1252 for what
        isn't UTF-8.
    skip_rows
        The number of lines above the header.
    ignore
        The names of columns to leave out.
    na
        The texts that are read as missing values, as an empty field is.
    progress
        Called after every few thousand rows with the number of bytes read and that of all bytes.

    Raises
    ------
    TableError
        If the file can't be read, is neither text nor Parquet, is empty, has rows of different widths, or
        unpacks to more than a gigabyte; if a column's name is empty or occurs twice, or a column to leave out
        doesn't exist.

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
            check_unpacked(raw, source)
            file = CountedFile(raw, source)
            content = opened(file, source)
            if is_parquet(content):
                table = read_frame(parquet_frame(content, source), ignore=ignore, na=na, source=source)
                return replace(table, sha256=file.digest.hexdigest())
            if separator is None and os.fspath(path).endswith((".tsv", ".tsv.gz")):
                separator = "\t"
            told = None if progress is None else _bytes_told(progress, file, os.fstat(raw.fileno()).st_size)
            lines = _Lines(file_lines(content, source, encoding), source, separator, skip_rows)
            table = _table(lines, source, ignore, na, told)
    except UnicodeDecodeError as error:
        raise TableError(
            f"Expected text in {encoding or 'UTF-8 or Windows-1252'} but found the byte "
            f"0x{error.object[error.start]:02x} in {source}, which is binary or in another encoding: name it "
            "(--encoding), or save the table as CSV in UTF-8"
        ) from None
    except (OSError, UnicodeError, EOFError, zlib.error) as error:  # UTF-16 cut short is a UnicodeError
        raise TableError(
            f"Expected a CSV file that can be read to its end but found {source}: {error}: check that it is "
            "whole"
        ) from None
    table = replace(table, sha256=file.digest.hexdigest())
    return with_decimals(table, written=tuple(table.columns), comma_separates=lines.separator == ",")


class _Lines:
    """The lines of a CSV file: what the first of them say, and the records of all."""

    def __init__(self, lines: Iterator[str], source: str, separator: str | None, skip_rows: int) -> None:
        sample = list(islice(lines, max(SAMPLE_LINES, skip_rows + 1)))
        sample[:skip_rows] = ["\n"] * min(skip_rows, len(sample))
        named = separator_line(sample)
        self.separator = separator or named or sniffed(sample, source)
        self.n_comments = commented_header(sample, self.separator)
        self.records = Records(chain(sample, lines), self.separator, source)
        self._sample = sampled(sample, self.separator)

    def has_row_names(self, width: int) -> bool:
        """Return whether each row of the sample has one field more than the header, first a name of its own.

        R's write.table writes row names so.
        """
        rows = [fields for _, fields in self._sample[1:]]
        firsts = {row[0].strip() for row in rows if len(row) == width + 1}
        return len(rows) > 1 and len(firsts) == len(rows) and any(row[-1].strip() for row in rows)

    def title_lines(self) -> int:
        """Return the number of lines above the header: those with fewer fields than it and all rows have."""
        widths = [len(fields) for _, fields in self._sample]
        wide = max(widths, default=0)
        first = widths.index(wide) if widths else 0
        if not first or set(widths[first:]) != {wide} or len(widths) < first + 2:
            return 0
        line, header = self._sample[first]
        is_header = all(name.strip() and as_number(name) is None for name in header)
        return line - 1 if is_header else 0


def _table(
    lines: _Lines,
    source: str,
    ignore: Collection[str],
    na: Collection[str],
    told: Callable[[], None] | None,
) -> RawTable:
    """Read header and rows."""
    rows = iter(lines.records)
    _, header = next(rows, (0, []))
    names = [decoded(name.strip()) for name in header]
    letters = [name for name, as_read in zip(names, header, strict=True) if name != as_read.strip()]
    if not names:
        raise TableError(f"Expected a header and rows but found nothing in {source}: the file is empty")
    if title := lines.title_lines():
        raise TableError(
            f"Expected the header in the first line but found {quoted(', '.join(names))} there, and a line "
            f"that looks like the header below it, in {source}: skip the lines above it (--skip-rows {title})"
        )
    raise_problems(name_problems(names, ignore, source), source)
    if lines.has_row_names(len(names)):
        names.insert(0, "")
    if len(names) == 1:
        raise TableError(
            f"Expected at least 2 columns, separated by {', '.join(SEPARATORS.values())}, but found only "
            f"{quoted(names[0])} in {source}: name the separator if it is another (--separator)"
        )
    lines.records.width = len(names)
    builders = {place: ColumnBuilder(na) for place, name in enumerate(names) if name not in set(ignore)}
    begins = _fill(builders, rows, len(names), source, told)
    columns = {place: builder.column() for place, builder in builders.items()}
    letters += [text for builder in builders.values() for text in builder.letters]
    warnings = [*_unnamed(names, columns, source), *_noticed(names, lines, source)]
    if letters:
        warnings.append(
            f"{source} isn't in UTF-8: it was read as Windows-1252, as in {quoted_list(letters, 3)} "
            "(--encoding names another)"
        )
    named = {names[place]: column for place, column in columns.items() if names[place]}
    known = tuple(filter(None, names))
    return RawTable(known, named, len(begins), "", source, tuple(warnings), lines=begins)


def _fill(
    builders: Mapping[int, ColumnBuilder],
    rows: Iterator[tuple[int, list[str]]],
    width: int,
    source: str,
    told: Callable[[], None] | None,
) -> NDArray[np.int64]:
    """Give each builder the fields of its column, and return each row's first line, int64 [n_rows].

    Raises
    ------
    TableError
        If rows have more or fewer fields than the header.
    """
    begins = [np.zeros(0, dtype=np.int64)]
    ragged: dict[tuple[int, bool], list[int]] = {}
    while block := list(islice(rows, _BLOCK_ROWS)):
        for line, fields in block:
            if len(fields) != width:
                ragged.setdefault((len(fields), not fields[-1].strip()), []).append(line)
        if not ragged:
            columns = list(zip(*(fields for _, fields in block), strict=True))
            for place, builder in builders.items():
                builder.add(columns[place], len(block))
        begins.append(np.array([line for line, _ in block], dtype=np.int64))
        if told is not None:
            told()
    raise_problems([_ragged(*kind, width, lines) for kind, lines in ragged.items()], source)
    return np.concatenate(begins)


def _unnamed(names: Sequence[str], columns: Mapping[int, Column], source: str) -> list[str]:
    """Return warnings about columns without a name that hold row names or nothing, and refuse others."""
    warnings, problems = [], []
    for place in (place for place, name in enumerate(names) if not name):
        column = columns[place]
        if column.missing.all():
            warnings.append(f"column {place + 1} of {source} has neither name nor values: it is left out")
        elif place == 0 and not column.missing.any() and column.n_distinct == len(column.codes):
            warnings.append(
                f"the first column of {source} has no name and differs in every row: it is left out as the "
                "rows' names"
            )
        else:
            problems.append(no_name(place + 1, len(names)))
    raise_problems(problems, source)
    return warnings


def _noticed(names: Sequence[str], lines: _Lines, source: str) -> Iterator[str]:
    """Yield what a person should know about the file."""
    n_comments = lines.n_comments + lines.records.n_comments
    if n_comments:
        yield f"lines of {source} that begin with '#' were skipped as comments: {n_comments}"
    if all(as_number(name) is not None for name in names if name):
        yield (
            f"every column name of {source} is a number ({quoted_list(filter(None, names))}): its first line "
            "is taken as the header"
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


def _bytes_told(progress: Progress, file: CountedFile, size: int) -> Callable[[], None]:
    return lambda: progress(file.n_bytes, max(size, file.n_bytes))
