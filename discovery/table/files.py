"""Open a file by its first bytes: text, compressed text, Parquet, or something that is refused by name."""

from __future__ import annotations

import contextlib
import gzip
import io
import math
import zlib
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

from discovery.errors import TableError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "MOST_TEXT",
    "MOST_UNPACKED",
    "CountedFile",
    "check_unpacked",
    "decoded",
    "file_lines",
    "is_parquet",
    "opened",
    "parquet_frame",
]

#: The most bytes of fields to which a Parquet file or a table of counts is unpacked.
MOST_UNPACKED = 1 << 30
#: The most bytes of text to which a compressed file is unpacked: its rows may take ten times as much memory.
MOST_TEXT = 1 << 28
#: The encoding of text that isn't UTF-8 and has no byte-order mark, unless another is named.
_OTHERWISE = "cp1252"

_LONGEST_LINE = 1 << 24
_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"
_OTHERS = {
    b"PK\x03\x04": "an Excel workbook or another zip archive",
    b"PK\x05\x06": "an empty zip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\xfd7zXZ\x00": "a file compressed by xz",
    b"\x28\xb5\x2f\xfd": "a file compressed by zstd",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"ARROW1": "a Feather or Arrow file",
    b"FEA1": "a Feather file",
    b"$FL2": "an SPSS file",
    b"$FL3": "an SPSS file",
    b"<stata_dta>": "a Stata file",
    b"SQLite format 3": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array",
    b"\x80\x04\x95": "a Python pickle",
    b"\x80\x05\x95": "a Python pickle",
    b"RDX2\n": "an R data file",
    b"RDX3\n": "an R data file",
    b"X\n\x00\x00": "an R data file",
    b"Obj\x01": "an Avro file",
    b"%PDF-": "a PDF file",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"<!DOCTYPE": "a web page",
    b"<!doctype": "a web page",
    b"<html": "a web page",
    b"<?xml": "an XML file",
    b'{"': "a JSON file",
    b'[{"': "a JSON file",
}


class CountedFile(io.RawIOBase):
    """A file that counts and hashes its bytes while they are read, so that a pipe needs to be read only once.

    Parameters
    ----------
    raw
        The file.
    most
        The most bytes that are read.
    source
        Its name in messages.
    """

    def __init__(self, raw: io.RawIOBase | gzip.GzipFile, source: str, most: float = math.inf) -> None:
        super().__init__()
        self._raw = raw
        self._source = source
        self._most = most
        self.digest = sha256()
        self.n_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        count = self._raw.readinto(buffer) or 0
        self.digest.update(memoryview(buffer)[:count])
        self.n_bytes += count
        if self.n_bytes > self._most:
            raise _too_large(self._most, f"more than {self._most:,} bytes", self._source)
        return count


def check_unpacked(raw: io.RawIOBase, source: str) -> None:
    """Refuse a file compressed by gzip that unpacks to too much, before any work is done on it.

    It is unpacked once for that, which takes a tenth of the time of reading it. What is wrong with it
    otherwise is said when it is read. A pipe can be read once only: its bytes are counted meanwhile.
    """
    if not raw.seekable():
        return
    if raw.read(2) == _GZIP:
        raw.seek(0)
        size, content = 0, gzip.GzipFile(fileobj=raw, mode="rb")
        with contextlib.suppress(OSError, EOFError, zlib.error):
            while size <= MOST_TEXT and (piece := content.read(1 << 20)):
                size += len(piece)
        if size > MOST_TEXT:
            raise _too_large(MOST_TEXT, f"more than {MOST_TEXT:,} bytes", source)
    raw.seek(0)


def opened(file: CountedFile, source: str) -> io.BufferedReader:
    """Return the file's content, unpacked if it was compressed by gzip.

    Raises
    ------
    TableError
        If its first bytes are those of a format that isn't read. Reading raises it if the content is too
        large.
    """
    content: io.BufferedReader = io.BufferedReader(file, buffer_size=1 << 20)
    if content.peek(2)[:2] == _GZIP:
        unpacked = CountedFile(gzip.GzipFile(fileobj=content, mode="rb"), source, MOST_TEXT)
        content = io.BufferedReader(unpacked, buffer_size=1 << 20)
    begin = content.peek(16)[:16]
    kind = next((kind for mark, kind in _OTHERS.items() if begin.startswith(mark)), None)
    if begin[:3] == b"BZh" and begin[4:10] == b"1AY&SY":
        kind = "a file compressed by bzip2"
    if kind is not None:
        raise TableError(
            f"Expected a table as CSV (also .csv.gz or .tsv) or Parquet but found {kind} in {source}: save "
            "the table as CSV in UTF-8"
        )
    return content


def is_parquet(content: io.BufferedReader) -> bool:
    """Return whether the content is in the Parquet format."""
    return content.peek(4)[:4] == _PARQUET


def parquet_frame(content: io.BufferedReader, source: str) -> pd.DataFrame:
    """Read a Parquet file with pandas; an index that has a name becomes a column.

    Raises
    ------
    TableError
        If pyarrow isn't installed, or the file is damaged or unpacks to too much.
    """
    import pandas as pd

    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise TableError(
            f"Expected the package pyarrow, which reads Parquet, but found it missing; {source} can't be "
            "read: pip install 'cb-pgm[parquet]', or save the table as CSV"
        ) from None
    packed = io.BytesIO(content.read())
    try:
        about = ParquetFile(packed).metadata
        groups = (about.row_group(place).total_byte_size for place in range(about.num_row_groups))
        unpacked = max(
            sum(groups), 8 * about.num_rows * about.num_columns
        )  # pandas has 8 bytes for each field
        if unpacked > MOST_UNPACKED:
            raise _too_large(MOST_UNPACKED, f"{unpacked:,} bytes", source)
        frame = pd.read_parquet(packed, engine="pyarrow")
    except (ArrowException, OSError, ValueError, KeyError) as error:
        if isinstance(error, TableError):
            raise
        raise TableError(
            f"Expected a whole Parquet file but found a damaged one in {source} "
            f"({' '.join(str(error).split())[:200]}): write it again"
        ) from None
    return frame.reset_index() if any(name is not None for name in frame.index.names) else frame


def file_lines(content: io.BufferedReader, source: str, encoding: str | None) -> Iterator[str]:
    """Yield the lines unchanged, in the encoding named.

    Without one, that is UTF-16 if a byte-order mark says so, or UTF-8: bytes that aren't UTF-8 become what
    `decoded` makes letters of.

    Raises
    ------
    TableError
        If there are bytes that no text file has, or a line doesn't end.
    """
    marked = content.peek(2)[:2] in (b"\xff\xfe", b"\xfe\xff")
    named = encoding or ("utf-16" if marked else "utf-8-sig")
    unknown = "strict" if encoding or marked else "surrogateescape"
    text = io.TextIOWrapper(content, encoding=named, errors=unknown, newline="")
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


def decoded(text: str) -> str:
    """Return a text that was read as UTF-8, in Windows-1252 if it isn't UTF-8.

    Raises
    ------
    UnicodeDecodeError
        If it is neither.

    Examples
    --------
    >>> decoded(b"caf\\xe9".decode("utf-8", "surrogateescape")), decoded("日本")
    ('café', '日本')
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="surrogateescape").decode(_OTHERWISE)
    return text


def _too_large(most: float, found: str, source: str) -> TableError:
    return TableError(
        f"Expected at most {most:,} bytes once it is unpacked but found {found} in {source}: unpack it, and "
        "give the unpacked file as CSV"
    )
