"""A session's file: settings and a log of events in SQLite, one transaction a verb.

Every event carries the hash of all before it and its own content, the settings first, so a log that was cut,
changed or damaged is noticed when it is read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from cb_pgm.errors import SessionBusyError, SessionError
from cb_pgm.session.events import Record

__all__ = ["FILE_NAME", "Position", "Store"]

FILE_NAME = "session.sqlite"

_VERSION = 1
_APPLICATION = 0x6362_7067  # "cbpg": tells a session from any other SQLite file
_COLUMNS = "number, at, kind, pull, intervention, size, note, flag, codes, fields, complied, chain"
_SCHEMA = """
    CREATE TABLE settings (content TEXT NOT NULL);
    CREATE TABLE events (
        number INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, pull INTEGER, intervention TEXT,
        size INTEGER, note TEXT, flag INTEGER, codes BLOB, fields BLOB, complied BLOB, chain BLOB NOT NULL
    );
    CREATE TABLE snapshot (number INTEGER, chain BLOB, content BLOB, digest BLOB);
"""


@dataclass(frozen=True)
class Position:
    """A place in the log: the number of the last event, and its hash."""

    number: int
    chain: bytes


class Store:
    """The open file of a session.

    Parameters
    ----------
    folder
        The session's folder; the file in it has a fixed name.
    timeout
        Seconds to wait while another process works on the session.

    Raises
    ------
    SessionError
        If the file is no SQLite database.
    """

    def __init__(self, folder: Path, timeout: float = 10.0) -> None:
        self.path = folder / FILE_NAME
        self._timeout = timeout
        with self._told_apart():
            self._connection = sqlite3.connect(self.path, timeout=timeout, isolation_level=None)
            # EXTRA is FULL and, after a commit, the folder too: what a verb reported survives a power cut.
            self._connection.execute("PRAGMA synchronous = EXTRA")
            self._connection.execute("PRAGMA trusted_schema = OFF")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Do what is in the block as one transaction, alone: all of it is kept, or with an error nothing.

        Raises
        ------
        SessionBusyError
            If another process doesn't finish in time.
        """
        with self._transaction("BEGIN IMMEDIATE"):
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """See one state of the file throughout the block."""
        with self._transaction("BEGIN"):
            yield

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self._told_apart():
            self._connection.execute(begin)
        try:
            yield
            with self._told_apart():
                self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    # -- settings ------------------------------------------------------------------------------------------

    def create(self, settings: str) -> Position:
        """Write a new session's settings; to be called while `writing`.

        Raises
        ------
        SessionError
            If there is something in the file already.
        """
        self.check_new()
        with self._told_apart():
            for statement in _SCHEMA.split(";"):
                self._connection.execute(statement)
            self._connection.execute("INSERT INTO settings VALUES (?)", (settings,))
            self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            self._connection.execute(f"PRAGMA user_version = {_VERSION}")
        return _beginning(settings)

    def check_new(self) -> None:
        """Refuse a file with something in it; what a killed `create` left behind is empty."""
        with self._told_apart():
            (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables:
            raise SessionError(
                f"Expected a new folder but found a session in {self.path}: choose another one, or go on "
                f"with that one"
            )

    def settings(self) -> tuple[str, Position]:
        """Return the settings and the place before the first event; to be called within a transaction.

        Raises
        ------
        SessionError
            If the file holds no session, or one of a version that isn't known.
        """
        with self._told_apart():
            application = self._pragma("application_id")
            version = self._pragma("user_version")
            if application != _APPLICATION:
                found = "nothing" if not application and not version else "another kind of data"
                raise SessionError(
                    f"Expected a session but found {found} in {self.path}: start one in another folder"
                )
            if version != _VERSION:
                raise SessionError(
                    f"Expected a session of version {_VERSION} but found {version} in {self.path}: a newer "
                    f"cb-pgm wrote it, use that one"
                )
            (settings,) = self._connection.execute("SELECT content FROM settings").fetchone()
        return settings, _beginning(settings)

    # -- events --------------------------------------------------------------------------------------------

    def append(self, record: Record, position: Position) -> Position:
        """Add an event after `position`, which must be the last; to be called while `writing`."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        after = Position(position.number + 1, record.chained(position.chain, at))
        with self._told_apart():
            self._connection.execute(
                f"INSERT INTO events ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (after.number, at, *record, after.chain),
            )
        return after

    def events(self, after: Position) -> Iterator[tuple[Record, str, Position]]:
        """Yield each event after a place: it, its time, and the place; within a transaction.

        Raises
        ------
        SessionError
            If an event doesn't fit those before it.
        """
        number, chain = after.number, after.chain
        with self._told_apart():
            cursor = self._connection.execute(
                f"SELECT {_COLUMNS} FROM events WHERE number > ? ORDER BY number", (number,)
            )
            for row in cursor:
                record = Record(*row[2:11])
                number, chain = number + 1, record.chained(chain, row[1])
                if (number, chain) != (row[0], row[11]):
                    raise SessionError(
                        f"Expected a log as it was written but found event {row[0]} of {self.path} changed: "
                        f"restore the file from a copy"
                    )
                yield record, row[1], Position(number, chain)

    # -- snapshot ------------------------------------------------------------------------------------------

    def save_snapshot(self, content: bytes, position: Position) -> None:
        """Keep all events up to `position` in one piece, instead of what was kept before; while `writing`."""
        digest = sha256(position.chain + content).digest()
        with self._told_apart():
            self._connection.execute("DELETE FROM snapshot")
            self._connection.execute(
                "INSERT INTO snapshot VALUES (?, ?, ?, ?)", (position.number, position.chain, content, digest)
            )

    def snapshot(self) -> tuple[bytes, Position] | None:
        """Return what `save_snapshot` kept, or None if there is none that fits the log."""
        with self._told_apart():
            kept = self._connection.execute(
                "SELECT snapshot.* FROM snapshot JOIN events USING (number, chain)"
            ).fetchone()
        if kept is None:
            return None
        number, chain, content, digest = kept
        if not isinstance(content, bytes) or sha256(chain + content).digest() != digest:
            return None
        return content, Position(number, chain)

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    @contextmanager
    def _told_apart(self) -> Iterator[None]:
        """Turn SQLite's errors into this package's: busy, not a database, or a disk that can't be used."""
        try:
            yield
        except sqlite3.OperationalError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise SessionBusyError(
                    f"Expected {self.path} to be free but found another process at work on it for "
                    f"{self._timeout:g} s: try again when it is done"
                ) from None
            raise SessionError(f"Expected to use {self.path} but found: {error}") from error
        except (sqlite3.DatabaseError, TypeError) as error:
            raise SessionError(
                f"Expected a session's file but found {self.path} damaged or another kind of file ({error}): "
                f"restore it from a copy"
            ) from error


def _beginning(settings: str) -> Position:
    return Position(0, sha256(settings.encode("utf-8", "surrogatepass")).digest())
