"""SQLite files of sessions and studies: opened for writing or reading only, and SQLite's errors in words."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cb_pgm.errors import CausalBanditError

__all__ = ["SIDE_FILES", "FileKind", "read_only", "writable"]

#: What SQLite may leave beside a file "name" after a kill: these are parts of it.
SIDE_FILES = ("-journal", "-wal", "-shm")

_WAL_MARK = slice(18, 20), b"\x02\x02"  # the header's bytes that mark write-ahead logging


@dataclass(frozen=True)
class FileKind:
    """What a file is in messages, and the errors that are raised for it.

    Attributes
    ----------
    name
        What the file should be, such as "the file of a session".
    error, busy
        Raised when the file can't be used, and when another process holds it for too long.
    restart
        What to do if the file is damaged.
    """

    name: str
    error: type[CausalBanditError]
    busy: type[CausalBanditError]
    restart: str

    @contextmanager
    def errors_in_words(self, path: Path, timeout: float) -> Iterator[None]:
        """Translate SQLite's errors in the block into one line with the path and what to do.

        Parameters
        ----------
        path
            The file in use.
        timeout
            The seconds for which SQLite waits for another process.
        """
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", None)
            kind = self.busy if code is not None and code & 0xFF in _BUSY else self.error
            raise kind(self._message(path, timeout, error, code)) from error
        except (TypeError, json.JSONDecodeError) as error:  # a damaged row
            raise self.error(self._damaged(path, error)) from error

    def _message(self, path: Path, timeout: float, error: sqlite3.Error, code: int | None) -> str:
        match None if code is None else code & 0xFF:
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                return (
                    f"Expected {path} to be free but found another process using it for {timeout:g} s: try "
                    f"again when it has finished"
                )
            case sqlite3.SQLITE_FULL:
                return (
                    f"Expected room on the disk for {path} but found it full: free some space and go on; "
                    f"everything recorded before is kept"
                )
            case sqlite3.SQLITE_READONLY:
                return (
                    f"Expected a file that can be written but found {path} read-only ({error}): change its "
                    f"permissions, or work on a copy"
                )
            case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_IOERR | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
                return (
                    f"Expected a usable file but found {path}, for which SQLite reports {error}: check the "
                    f"path, its permissions and the disk"
                )
            case _:
                return self._damaged(path, error)

    def _damaged(self, path: Path, error: Exception) -> str:
        return f"Expected {self.name} but found {path} damaged or of another kind ({error}): {self.restart}"


_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def writable(path: Path, timeout: float) -> sqlite3.Connection:
    """Open a file for reading and writing; it is created if there is none. Commits survive a power cut.

    Raises
    ------
    sqlite3.Error
        If the file can't be opened; call it within `FileKind.errors_in_words`.
    """
    connection = sqlite3.connect(path, timeout=timeout, isolation_level=None)
    try:
        # EXTRA is FULL and, after a commit, the folder too.
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA trusted_schema = OFF")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def read_only(path: Path, timeout: float) -> Iterator[sqlite3.Connection]:
    """Open a file only for reading: nothing in its folder is created or changed.

    What a killed process left beside the file (a rollback journal or a write-ahead log) would have to be
    merged into it first. This is done on a copy in a temporary folder, so that it works on read-only media.

    Raises
    ------
    sqlite3.Error
        If the file can't be opened; call it within `FileKind.errors_in_words`.
    """
    with contextlib.ExitStack() as opened:
        connection = None if _has_write_ahead_log(path) else _try_read(path, timeout)
        if connection is None:
            folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
            for side in ("", "-journal", "-wal"):
                with contextlib.suppress(FileNotFoundError):
                    shutil.copyfile(f"{path}{side}", folder / f"{path.name}{side}")
            connection = sqlite3.connect(folder / path.name, isolation_level=None)
        opened.callback(connection.close)
        connection.execute("PRAGMA trusted_schema = OFF")
        yield connection


def _has_write_ahead_log(path: Path) -> bool:
    place, mark = _WAL_MARK
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return file.read(place.stop)[place] == mark
    return False


def _try_read(path: Path, timeout: float) -> sqlite3.Connection | None:
    """Return a connection; None if a rollback is due that a reader can't do."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=timeout, isolation_level=None
    )
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        connection.close()
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN) and path.is_file():
            return None
        raise
    return connection
