"""`Log`: the file of a session in SQLite, its settings and one table of events, one transaction a verb."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from cb_pgm.errors import SessionBusyError, SessionError
from cb_pgm.session.events import AddedState, Event, from_record, to_record
from cb_pgm.session.settings import SessionSettings
from cb_pgm.session.state import SessionState

__all__ = ["FILE_NAME", "OWN_FILES", "Log"]

FILE_NAME = "session.sqlite"
#: The file of a session, and what SQLite may leave beside it after a kill: these are parts of it.
OWN_FILES = tuple(f"{FILE_NAME}{side}" for side in ("", "-journal", "-wal", "-shm"))

_VERSION = 3
_WITHOUT_CHAIN = 2  # the version from which on events have no hash
_APPLICATION = 0x6362_7067  # "cbpg": marks a session among SQLite files
_COLUMNS = "at, kind, pull, intervention, size, note, flag, codes, fields, complied"
_SCHEMA = """
    CREATE TABLE settings (content TEXT NOT NULL);
    CREATE TABLE events (
        number INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, pull INTEGER, intervention TEXT,
        size INTEGER, note TEXT, flag INTEGER, codes BLOB, fields BLOB, complied BLOB
    );
"""
# What files of version 1 had besides: a hash for each event, and snapshots of the state.
_CHAIN = ", chain BLOB NOT NULL"
_SNAPSHOT = "CREATE TABLE snapshot (number INTEGER, chain BLOB, content BLOB, digest BLOB)"


class Log:
    """The open file of a session, and the state that its events lead to.

    Every verb is one transaction. What other processes have added is read first, so that the state is always
    that of the file. Every method raises `SessionBusyError` if another process uses the file for longer than
    the timeout, and `SessionError` if the file is damaged or can't be used.

    Parameters
    ----------
    folder
        The folder of the session; the file in it is called `FILE_NAME`.
    timeout
        Seconds to wait while another process works on the session.
    policy
        A policy's name that a person gave, which may import code; None: that of the file, if it is installed.
    create
        Whether to make the file if there is none.
    """

    def __init__(
        self, folder: Path, timeout: float = 10.0, policy: str | None = None, *, create: bool = False
    ) -> None:
        self.path = folder / FILE_NAME
        self._timeout = timeout
        self._policy = policy
        self._state: SessionState | None = None
        self._read = 0  # the number of the last event that the state has applied
        with self._errors_in_words():
            # Of a file that can't be written SQLite takes what it can get: it reads.
            uri = f"{self.path.absolute().as_uri()}?mode={'rwc' if create else 'rw'}"
            self._connection = sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None)
            # EXTRA is FULL and, after a commit, the folder too: commits survive a power cut.
            self._connection.execute("PRAGMA synchronous = EXTRA")
            self._connection.execute("PRAGMA trusted_schema = OFF")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    # -- transactions ----------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[SessionState]:
        """Yield the current state; the file doesn't change during the block."""
        with self._transaction("BEGIN"):
            yield self._caught_up()

    @contextmanager
    def writing(self) -> Iterator[SessionState]:
        """Yield the current state. All events recorded in the block are kept, or none on an error."""
        try:
            with self._transaction("BEGIN IMMEDIATE"):
                state = self._caught_up()
                if not state.settings.loads_policy:
                    raise SessionError(
                        f"Expected an installed policy but found {state.settings.policy!r} in the file, "
                        f"which could run any code: name it yourself if you trust it (--policy, or policy=)"
                    )
                version = self._pragma("user_version")
                if version < _WITHOUT_CHAIN:
                    self._connection.execute("ALTER TABLE events DROP COLUMN chain")
                    self._connection.execute("DROP TABLE snapshot")
                if version < _VERSION:
                    self._connection.execute(f"PRAGMA user_version = {_VERSION}")
                yield state
        except BaseException:
            self._state = None  # it may have applied events that aren't in the file
            raise

    def start(self, settings: SessionSettings, events: tuple[Event, ...]) -> None:
        """Write the settings of a new session, and its first events.

        Raises
        ------
        SessionError
            If the file holds a session already.
        """
        with self._transaction("BEGIN IMMEDIATE"):
            self.check_new()
            for statement in _SCHEMA.split(";"):
                self._connection.execute(statement)
            self._connection.execute("INSERT INTO settings VALUES (?)", (settings.to_json(),))
            self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            self._connection.execute(f"PRAGMA user_version = {_VERSION}")
            for event in events:
                self._append(event)

    def check_new(self) -> None:
        """Check that the file is empty, as it also is after a start that was killed.

        Raises
        ------
        SessionError
            If the file holds a session already.
        """
        with self._errors_in_words():
            (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables:
            raise SessionError(
                f"Expected a new folder but found a session in {self.path}: choose another one, or continue "
                f"that session"
            )

    # -- events, within a transaction ------------------------------------------------------------------------

    def record(self, state: SessionState, event: Event) -> None:
        """Record an event and apply it to the state; only within `writing`."""
        self._append(event)
        self._read += 1
        state.apply(event)

    def ask(self, state: SessionState, batch: int) -> None:
        """Ask the policy for a pull of at least `batch` rows and record it; only within `writing`."""
        asked = state.propose(batch)
        self._append(asked)
        self._read += 1
        state.apply(asked, asked=True)

    def events(self) -> Iterator[tuple[Event, str]]:
        """Yield every event with its time, from the first on; only within `reading`."""
        settings = self._settings()
        for number, (at, *record) in enumerate(self._records(0), start=1):
            event = self._event(number, at, record, settings)
            if isinstance(event, AddedState):
                settings = settings.with_state(event.variable, event.state)
            yield event, at

    def _append(self, event: Event) -> None:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        self._connection.execute(
            f"INSERT INTO events ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (at, *to_record(event))
        )

    def _records(self, after: int) -> sqlite3.Cursor:
        return self._connection.execute(
            f"SELECT {_COLUMNS} FROM events WHERE number > ? ORDER BY number", (after,)
        )

    def _event(self, number: int, at: object, record: list[object], settings: SessionSettings) -> Event:
        try:
            datetime.fromisoformat(at if isinstance(at, str) else "")
            return from_record(tuple(record), settings.states)
        except ValueError as error:
            raise SessionError(
                f"Expected an event but found a damaged one, number {number} of {self.path} ({error}): "
                f"restore the file from a copy"
            ) from None

    def _caught_up(self) -> SessionState:
        state = self._state
        if state is None:
            state, self._read = SessionState(self._settings()), 0
        self._state = None  # until all new events have been applied
        for at, *record in self._records(self._read):
            self._read += 1
            state.apply(self._event(self._read, at, record, state.settings))
        self._state = state
        return state

    def _settings(self) -> SessionSettings:
        application, version = self._pragma("application_id"), self._pragma("user_version")
        if application != _APPLICATION:
            found = "nothing" if not application and not version else "another kind of data"
            raise SessionError(
                f"Expected a session but found {found} in {self.path}: start one in another folder"
            )
        tables = self._connection.execute("SELECT sql FROM sqlite_master").fetchall()
        own = {_spaceless(sql).replace(_spaceless(_CHAIN), "") for (sql,) in tables}
        if not own <= set(_spaceless(f"{_SCHEMA}{_SNAPSHOT}").split(";")):
            # Views, triggers or computed columns: SQL of somebody else, which could go on for ever.
            raise SessionError(
                f"Expected the tables of a session but found others in {self.path}: restore it from a copy"
            )
        if version > _VERSION:
            raise SessionError(
                f"Expected a session of version {_VERSION} at most but found {version} in {self.path}: use "
                f"the newer cb-pgm that wrote it"
            )
        (text,) = self._connection.execute("SELECT content FROM settings").fetchone() or ("",)
        settings = SessionSettings.from_json(str(text))
        if self._policy not in (None, settings.policy):
            raise SessionError(
                f"Expected the session's policy, {settings.policy!r}, but found {self._policy!r}: name "
                f"that one"
            )
        return replace(settings, trusted=self._policy is not None)

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    # -- SQLite's errors -------------------------------------------------------------------------------------

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self._errors_in_words(), self._connection:
            self._connection.execute(begin)
            yield

    @contextmanager
    def _errors_in_words(self) -> Iterator[None]:
        """Turn an error of SQLite into one line with the path and what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._in_words(error) from error

    def _in_words(self, error: sqlite3.Error) -> SessionError:
        expected, found, advice = (
            "the file of a session",
            f"{self.path} damaged or of another kind ({error})",
            "restore it from a copy",
        )
        match (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF:
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                return SessionBusyError(
                    f"Expected {self.path} to be free but found another process using it for "
                    f"{self._timeout:g} s: try again when it has finished"
                )
            case sqlite3.SQLITE_FULL:
                expected, found = f"room on the disk for {self.path}", "it full"
                advice = "free some space and go on; everything recorded before is kept"
            case sqlite3.SQLITE_READONLY:
                expected, found = "a file that can be written", f"{self.path} read-only ({error})"
                advice = "change its permissions, or work on a copy"
            case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_IOERR | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
                expected, found = "a usable file", f"{self.path}, for which SQLite reports {error}"
                advice = "check the path, its permissions and the disk"
        return SessionError(f"Expected {expected} but found {found}: {advice}")


def _spaceless(sql: str | None) -> str:
    """Return SQL without white space, which SQLite changes when it changes a table."""
    return "".join((sql or "?").split())
