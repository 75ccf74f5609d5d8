"""The lock of a study's folder: one process plays in it at a time, and the others hear which."""

from __future__ import annotations

import contextlib
import os
import platform
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from cb_pgm.databases import SIDE_FILES, FileKind, writable
from cb_pgm.errors import StudyError

__all__ = ["OWNER_FILES", "owned"]

_NAME = "owner.sqlite"
#: Seconds to wait for those who read or write the owner's name, which takes an instant.
_PATIENCE = 1
#: What a lock leaves in the folder; it says nothing of results.
OWNER_FILES = frozenset(f"{_NAME}{side}" for side in ("", *SIDE_FILES))
_KIND = FileKind(
    "the lock of a study", StudyError, StudyError, "delete it if no study is running in its folder"
)


@contextmanager
def owned(folder: Path) -> Iterator[None]:
    """Own the folder during the block.

    SQLite's lock on a file in the folder is held, which ends with the process however that ends. The file
    says who holds it, and since when.

    Raises
    ------
    StudyError
        If another process owns the folder, or the lock can't be written.
    """
    path = folder / _NAME
    with contextlib.ExitStack() as opened:
        with _KIND.errors_in_words(path, _PATIENCE):
            connection = opened.enter_context(closing(writable(path, _PATIENCE)))
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                raise StudyError(
                    f"Expected {folder} to be free but found a study running in it{_holder(connection)}: "
                    f"wait for it, stop it, or give another --out"
                ) from None
            connection.execute("CREATE TABLE IF NOT EXISTS owner (process INTEGER, host TEXT, since TEXT)")
            connection.execute("DELETE FROM owner")
            since = datetime.now(UTC).isoformat(sep=" ", timespec="seconds")
            connection.execute("INSERT INTO owner VALUES (?, ?, ?)", (os.getpid(), platform.node(), since))
            connection.execute("COMMIT")
            connection.execute("BEGIN IMMEDIATE")  # written for others to read, and locked again
        yield


def _holder(connection: sqlite3.Connection) -> str:
    try:
        process, host, since = connection.execute("SELECT * FROM owner").fetchone()
    except (sqlite3.Error, TypeError):  # it is just writing its name
        return ""
    return f", process {process} on {host} since {since}"
