"""Read a CSV file: decide its separator, check its shape, and return its columns as text.

The separator is the one given, or that of comma, semicolon, tab and pipe on which the header and the first
lines agree (`_sniff`). Python's own csv module splits the lines. pandas isn't used, because it pads short
rows with missing values and by default reads texts such as "NA" as missing: here a ragged file is refused,
and nothing is guessed about a field's meaning. Rows are read in one pass and in blocks, each turned into
indices before the next is read, so that memory holds each distinct text of a column once and two bytes per
field.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from hashlib import sha256
from itertools import chain, islice

from discovery.errors import TableError
from discovery.table.columns import ColumnBuilder, RawTable, as_number
from discovery.wording import listed, no_column, quoted

__all__ = ["Progress", "check_names", "read_text"]

#: Called with the number of bytes read and that of all bytes.
Progress = Callable[[int, int], None]

_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
_SAMPLE_LINES = 200
_BLOCK_ROWS = 4_096
_LONGEST_LINE = 1 << 24


def read_text(
    path: str | os.PathLike[str],
    *,
    separator: str | None = None,
    ignore: Collection[str] = (),
    progress: Progress | None = None,
) -> RawTable:
    """Read a CSV file: a header, then one row per line, in UTF-8 (or UTF-16 with a byte-order mark).

    Parameters
    ----------
    path
        The file, or a pipe, since it is read only once.
    separator
        One character. None: that of comma, semicolon, tab and pipe on which header and first rows agree.
    ignore
        The names of columns to leave out.
    progress
        Called after every few thousand rows with the number of bytes read and that of all bytes.

    Raises
    ------
    TableError
        If the file can't be read, isn't text, is empty, or has rows of different widths; if a column's name
        is empty or occurs twice, or a column to leave out doesn't exist; if a column has more than
        `MAX_STATES` distinct values that aren't all numbers.

    Notes
    -----
    Blanks around a field are dropped, inside quotes too, and blank lines are skipped. Takes linear time in
    the number of fields.
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
            return _read(_HashingFile(raw), source, separator, ignore, progress)
    except UnicodeDecodeError as error:
        raise TableError(
            f"Expected UTF-8 text but found the byte 0x{error.object[error.start]:02x} in {source}, which is "
            "binary or in another encoding: save it as CSV in UTF-8"
        ) from None
    except (OSError, UnicodeError) as error:  # UTF-16 that ends within a character is a UnicodeError
        raise TableError(
            f"Expected a CSV file that can be read to its end but found {source}: {error}"
        ) from error


def check_names(names: Collection[str], ignore: Collection[str], source: str) -> None:
    """Check that column names are there and differ, and that the columns to leave out exist.

    Raises
    ------
    TableError
        If they don't; the message names the first column at fault.
    """
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if not name:
            raise TableError(
                f"Expected a name for every column but found none for column {position} of {len(names)} in "
                f"the header of {source}: name it, or remove it if it holds row numbers or nothing"
            )
        if name in seen:
            raise TableError(
                f"Expected each column name once but found {quoted(name)} for columns {seen[name]} and "
                f"{position} in the header of {source}: rename one"
            )
        seen[name] = position
    for name in ignore:
        if name not in seen:
            raise TableError(
                f"Expected columns to ignore that exist but found {no_column(name, names, source)}"
            )


class _HashingFile(io.RawIOBase):
    """A file that hashes its bytes while they are read, so that a pipe needs to be read only once."""

    def __init__(self, raw: io.FileIO) -> None:
        super().__init__()
        self._raw = raw
        self.digest = sha256()
        self.n_bytes = 0
        self.size = os.fstat(raw.fileno()).st_size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        count = self._raw.readinto(buffer) or 0
        self.digest.update(memoryview(buffer)[:count])
        self.n_bytes += count
        return count


def _read(
    file: _HashingFile, source: str, separator: str | None, ignore: Collection[str], progress: Progress | None
) -> RawTable:
    lines = _lines(file, source)
    sample = list(islice(lines, _SAMPLE_LINES))
    rows = _rows(chain(sample, lines), separator or _sniff(sample, source), source)
    _, header = next(rows, (0, []))
    names = tuple(name.strip() for name in header)
    if not names:
        raise TableError(f"Expected a header and rows but found nothing in {source}: the file is empty")
    check_names(names, ignore, source)
    if len(names) == 1:
        raise TableError(
            f"Expected at least 2 columns, separated by {', '.join(_SEPARATORS.values())}, but found only "
            f"{quoted(names[0])} in {source}: name the separator if it is another (--separator)"
        )
    ignored = set(ignore)
    builders = {
        name: ColumnBuilder(f"column {quoted(name)} of {source}") for name in names if name not in ignored
    }
    n_rows = 0
    while block := list(islice(rows, _BLOCK_ROWS)):
        _check_widths(block, len(names), source)
        for name, fields in zip(names, zip(*(fields for _, fields in block), strict=True), strict=True):
            if name in builders:
                builders[name].add(fields)
        n_rows += len(block)
        if progress is not None:
            progress(file.n_bytes, max(file.size, file.n_bytes))
    columns = {name: builder.column() for name, builder in builders.items()}
    odd = all(as_number(name) is not None for name in names)
    warning = (
        f"every column name of {source} is a number ({listed(names)}): its first line is taken as the header"
    )
    return RawTable(names, columns, n_rows, file.digest.hexdigest(), source, (warning,) if odd else ())


def _lines(file: _HashingFile, source: str) -> Iterator[str]:
    """Yield the lines unchanged; refuse bytes that no text file has, and lines that never end."""
    buffered = io.BufferedReader(file, buffer_size=1 << 20)
    marked = buffered.peek(2)[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = io.TextIOWrapper(buffered, encoding="utf-16" if marked else "utf-8-sig", newline="")
    for number, line in enumerate(iter(partial(text.readline, _LONGEST_LINE), ""), start=1):
        if len(line) == _LONGEST_LINE:
            raise TableError(
                f"Expected lines of fewer than {_LONGEST_LINE} characters but found a longer one, line "
                f"{number} of {source}: end every row with a line break"
            )
        if "\0" in line:
            raise TableError(
                f"Expected text but found a NUL byte in line {number} of {source}, which is binary: save it "
                "as CSV in UTF-8"
            )
        yield line


def _sniff(sample: list[str], source: str) -> str:
    """Decide the separator: the one that splits the header and the sample's rows into equally many fields.

    There must be at least 2 fields. If no separator does so, it is the one with the widest header, so that
    the error is about the row at fault; if the header contains no separator, it is the comma, so that the
    error is about a single column.

    Raises
    ------
    TableError
        If several separators do so.
    """
    widths = {separator: _widths(sample, separator) for separator in _SEPARATORS}
    splitting = [separator for separator, found in widths.items() if found and found[0] > 1]
    even = [separator for separator in splitting if len(set(widths[separator])) == 1]
    if len(even) > 1:
        raise TableError(
            f"Expected one separator but found that {' and '.join(_SEPARATORS[one] for one in even)} each "
            f"split {source} into rows of one width: name the right one (--separator)"
        )
    return even[0] if even else max(splitting, key=lambda separator: widths[separator][0], default=",")


def _widths(sample: list[str], separator: str) -> list[int]:
    """Return the numbers of fields of the sample's records, up to the first that can't be read."""
    widths = []
    try:
        for fields in csv.reader(sample, delimiter=separator, skipinitialspace=True):
            if not _is_blank(fields):
                widths.append(len(fields))  # noqa: PERF401 - what was read before an error is wanted
    except csv.Error:
        pass  # reported with its place when the rows are read
    return widths[:-1] if len(sample) == _SAMPLE_LINES else widths  # the last record may be cut


def _rows(lines: Iterable[str], separator: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each record that isn't blank, with the number of the line on which it begins."""
    tidy = _without_blanks_after_quotes(lines, separator)
    begin = 1
    try:
        reader = csv.reader(tidy, delimiter=separator, skipinitialspace=separator != " ", strict=True)
        for fields in reader:
            if len(fields) > 1 or not _is_blank(fields):
                yield begin, fields
            begin = reader.line_num + 1
    except csv.Error as error:
        raise TableError(
            "Expected quotes that open and close around a whole field but found others in the record that "
            f'begins in line {begin} of {source} ({error}): close them, and write a quote within quotes as ""'
        ) from None


def _is_blank(fields: list[str]) -> bool:
    return len(fields) < 2 and not any(field.strip() for field in fields)


def _without_blanks_after_quotes(lines: Iterable[str], separator: str) -> Iterator[str]:
    """Drop blanks after a closing quote, which the csv module refuses."""
    blanks = re.compile(rf'" +(?={re.escape(separator)}|[\r\n]|$)') if separator != " " else None
    inside = False

    def tidy(match: re.Match[str]) -> str:
        closes = (inside + match.string.count('"', 0, match.start() + 1)) % 2 == 0
        return '"' if closes else match.group()

    for line in lines:
        if '"' not in line:
            yield line
            continue
        yield blanks.sub(tidy, line) if blanks is not None else line
        inside ^= line.count('"') % 2 == 1


def _check_widths(block: list[tuple[int, list[str]]], width: int, source: str) -> None:
    for line, fields in block:
        if len(fields) != width:
            advice = "complete the row"
            if len(fields) > width:
                at_end = not fields[-1].strip()
                advice = (
                    "remove the separator at its end"
                    if at_end
                    else "name every column in the header, that of row names too"
                )
            raise TableError(
                f"Expected {width} fields, as in the header, but found {len(fields)} in line {line} of "
                f"{source}: {advice}, and quote fields that contain the separator"
            )
