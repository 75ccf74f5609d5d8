"""`Store`: the file of a session, with its settings and a log of events in SQLite, one transaction a verb.

Every event carries a hash of its own content and of everything before it, beginning with the settings. So a
log that was cut, changed or damaged is detected when it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from cb_pgm.databases import FileKind, read_only, writable
from cb_pgm.errors import SessionBusyError, SessionError
from cb_pgm.session.events import Record

__all__ = ["FILE_NAME", "Position", "Store"]

FILE_NAME = "session.sqlite"

_KIND = FileKind("the file of a session", SessionError, SessionBusyError, "restore it from a copy")
_VERSION = 1
_APPLICATION = 0x6362_7067  # "cbpg": marks a session among SQLite files
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

    Every method raises `SessionBusyError` if another process uses the file for longer than the timeout, and
    `SessionError` if the file is damaged or can't be used.

    Parameters
    ----------
    folder
        The folder of the session; the file in it is called `FILE_NAME`.
    timeout
        Seconds to wait while another process works on the session.
    only_read
        Never write, not even beside the file: for reports, which may be made from read-only media.

    Raises
    ------
    SessionError
        If the file can't be opened, or isn't a SQLite database.
    """

    def __init__(self, folder: Path, timeout: float = 10.0, *, only_read: bool = False) -> None:
        self.path = folder / FILE_NAME
        self._timeout = timeout
        self._opened = ExitStack()
        with self._translated_errors():
            if only_read:
                self._connection = self._opened.enter_context(read_only(self.path, timeout))
            else:
                self._connection = writable(self.path, timeout)
                self._opened.callback(self._connection.close)

    def close(self) -> None:
        """Close the file."""
        self._opened.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Run the block as one exclusive transaction: everything is kept, or nothing if it raises.

        Raises
        ------
        SessionBusyError
            If another process doesn't finish in time.
        """
        with self._transaction("BEGIN IMMEDIATE"):
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Run the block as a transaction that sees one unchanged state of the file."""
        with self._transaction("BEGIN"):
            yield

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self._translated_errors():
            self._connection.execute(begin)
        try:
            yield
            with self._translated_errors():
                self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    # -- settings ------------------------------------------------------------------------------------------

    def create(self, settings: str) -> Position:
        """Write the settings of a new session, and return the position before the first event.

        Call it only within `writing`.

        Raises
        ------
        SessionError
            If the file holds a session already.
        """
        self.check_new()
        with self._translated_errors():
            for statement in _SCHEMA.split(";"):
                self._connection.execute(statement)
            self._connection.execute("INSERT INTO settings VALUES (?)", (settings,))
            self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            self._connection.execute(f"PRAGMA user_version = {_VERSION}")
        return _beginning(settings)

    def check_new(self) -> None:
        """Check that the file is empty, as it also is after a killed `create`.

        Raises
        ------
        SessionError
            If the file holds a session already.
        """
        with self._translated_errors():
            (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables:
            raise SessionError(
                f"Expected a new folder but found a session in {self.path}: choose another one, or "
                f"continue that session"
            )

    def settings(self) -> tuple[str, Position]:
        """Return the settings and the position before the first event; only within a transaction.

        Raises
        ------
        SessionError
            If the file holds no session, or one of an unknown version.
        """
        with self._translated_errors():
            application = self._pragma("application_id")
            version = self._pragma("user_version")
            if application != _APPLICATION:
                found = "nothing" if not application and not version else "another kind of data"
                raise SessionError(
                    f"Expected a session but found {found} in {self.path}: start one in another folder"
                )
            if version != _VERSION:
                raise SessionError(
                    f"Expected a session of version {_VERSION} but found {version} in {self.path}: use the "
                    f"newer cb-pgm that wrote it"
                )
            (settings,) = self._connection.execute("SELECT content FROM settings").fetchone()
        return settings, _beginning(settings)

    # -- events --------------------------------------------------------------------------------------------

    def append(self, record: Record, position: Position) -> Position:
        """Add an event after `position`, which must be the last one, and return its own position.

        Call it only within `writing`.
        """
        at = datetime.now(UTC).isoformat(timespec="seconds")
        after = Position(position.number + 1, record.chained(position.chain, at))
        with self._translated_errors():
            self._connection.execute(
                f"INSERT INTO events ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (after.number, at, *record, after.chain),
            )
        return after

    def events(self, after: Position) -> Iterator[tuple[Record, str, Position]]:
        """Yield each event after a position with its time and its own position; only within a transaction.

        Raises
        ------
        SessionError
            If the hash of an event doesn't fit the events before it.
        """
        number, chain = after.number, after.chain
        with self._translated_errors():
            cursor = self._connection.execute(
                f"SELECT {_COLUMNS} FROM events WHERE number > ? ORDER BY number", (number,)
            )
            for row in cursor:
                record = Record(*row[2:11])
                number, chain = number + 1, record.chained(chain, row[1])
                if (number, chain) != (row[0], row[11]):
                    raise SessionError(
                        f"Expected an unchanged log but found event {row[0]} of {self.path} changed: restore "
                        f"the file from a copy"
                    )
                yield record, row[1], Position(number, chain)

    # -- snapshot ------------------------------------------------------------------------------------------

    def save_snapshot(self, content: bytes, position: Position) -> None:
        """Replace the snapshot by one of all events up to `position`; only within `writing`."""
        digest = sha256(position.chain + content).digest()
        with self._translated_errors():
            self._connection.execute("DELETE FROM snapshot")
            self._connection.execute(
                "INSERT INTO snapshot VALUES (?, ?, ?, ?)", (position.number, position.chain, content, digest)
            )

    def snapshot(self) -> tuple[bytes, Position] | None:
        """Return the snapshot and the position of its last event; None if there is none that fits the log."""
        with self._translated_errors():
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
    def _translated_errors(self) -> Iterator[None]:
        with _KIND.errors_in_words(self.path, self._timeout):
            yield


def _beginning(settings: str) -> Position:
    return Position(0, sha256(settings.encode("utf-8", "surrogatepass")).digest())
