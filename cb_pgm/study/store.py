"""Store the results of a study in one SQLite file, with one writer and one transaction per result."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cb_pgm.databases import FileKind, read_only, writable
from cb_pgm.errors import StudyError
from cb_pgm.study.cells import CellResult

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["StudyStore"]

_VERSION = 1
_SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE cells (
    key TEXT PRIMARY KEY, position INTEGER NOT NULL UNIQUE, row TEXT, curve TEXT, error TEXT, seconds REAL
);
PRAGMA user_version = 1
"""
_TIMEOUT = 10.0  # seconds for a reader to finish
_KIND = FileKind("a study's results", StudyError, StudyError, "--force starts over")


class StudyStore:
    """The file `results.sqlite` in the folder of a study.

    If the process is killed at any moment, the file holds every result that was added before.

    Parameters
    ----------
    path
        The file.
    connection
        An open connection to it. Use `opened` or `read` instead of the constructor.

    Raises
    ------
    StudyError
        From every method: if the file is damaged or can't be used.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Iterator[StudyStore]:
        """Open the file for writing; it is created if there is none. Only the owner of the folder does.

        Raises
        ------
        StudyError
            If the file can't be used, has a newer version or isn't the database of a study.
        """
        with _KIND.errors_in_words(path, _TIMEOUT):
            connection = writable(path, _TIMEOUT)
        with closing(connection):
            store = cls(path, connection)
            with store._in_words():
                connection.execute("PRAGMA journal_mode = DELETE")  # merges what an earlier version left
            store._check_version()
            yield store

    @classmethod
    @contextmanager
    def read(cls, path: Path) -> Iterator[StudyStore]:
        """Open the file only for reading; the block sees one unchanged state of it.

        Raises
        ------
        StudyError
            If the file can't be used, has a newer version or isn't the database of a study.
        """
        with _KIND.errors_in_words(path, _TIMEOUT), read_only(path, _TIMEOUT) as connection:
            connection.execute("BEGIN")
            store = cls(path, connection)
            store._check_version()
            yield store

    def _check_version(self) -> None:
        with self._in_words():
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if version > _VERSION:
            raise StudyError(
                f"Expected results of version {_VERSION} at most but found {version} in {self._path}: update "
                f"cb-pgm"
            )
        if version == 0 and tables:
            raise StudyError(
                f"Expected a study's results but found another kind of data in {self._path}: {_KIND.restart}"
            )

    def begin(self, about: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
        """Record the description of a study and its unfinished cells, in one transaction.

        Returns
        -------
        dict
            The description in the file: the one given, or that of the study which the file holds already.
        """
        with self._in_words():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                if not self._connection.execute("PRAGMA user_version").fetchone()[0]:
                    for statement in _SCHEMA.split(";"):
                        self._connection.execute(statement)
                if not self.about():
                    self._connection.executemany(
                        "INSERT INTO about VALUES (?, ?)",
                        [(name, json.dumps(value)) for name, value in about.items()],
                    )
                    self._connection.executemany(
                        "INSERT INTO cells (key, position) VALUES (?, ?)",
                        ((key, position) for position, key in enumerate(keys)),
                    )
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            return self.about()

    def about(self) -> dict[str, Any]:
        """Return the description recorded by `begin` and `note`; empty for a new file."""
        with self._in_words():
            if not self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'about'").fetchone():
                return {}
            rows = self._connection.execute("SELECT name, value FROM about").fetchall()
            return {name: json.loads(value) for name, value in rows}

    def note(self, name: str, value: Any) -> None:
        """Add one entry to the description of the study."""
        with self._in_words():
            self._connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, json.dumps(value)))

    def add(self, result: CellResult) -> None:
        """Record a result; adding the result of a cell again replaces it."""
        with self._in_words():
            self._connection.execute(
                "UPDATE cells SET row = ?, curve = ?, error = ?, seconds = ? WHERE key = ?",
                (json.dumps(result.row), json.dumps(result.curve), result.error, result.seconds, result.key),
            )

    def unfinished(self) -> set[int]:
        """Return the positions of the cells that weren't played yet or failed."""
        with self._in_words():
            rows = self._connection.execute(
                "SELECT position FROM cells WHERE row IS NULL OR error IS NOT NULL"
            )
            return {position for (position,) in rows}

    def counts(self) -> dict[str, int]:
        """Return the numbers of "cells", of those "done" (the others included), "failed" and "left_out"."""
        with self._in_words():
            counted = "COUNT(*), COUNT(row), COUNT(error), COUNT(json_extract(row, '$.left_out'))"
            total, done, failed, left_out = self._connection.execute(
                f"SELECT {counted} FROM cells"
            ).fetchone()
            return {"cells": total, "done": done, "failed": failed, "left_out": left_out}

    def results(self) -> pd.DataFrame:
        """Return a data frame with one row per finished cell, in the order of the study.

        Equal studies have equal frames, however their cells were played.
        """
        import pandas as pd

        with self._in_words():
            rows = self._connection.execute(
                "SELECT row, error FROM cells WHERE row IS NOT NULL ORDER BY position"
            ).fetchall()
            return pd.DataFrame([json.loads(row) | {"error": error} for row, error in rows])

    def curves(self) -> pd.DataFrame:
        """Return the regret curves as a data frame with one row per recorded round of a cell.

        Columns system, graph, policy, horizon, run, round, regret.
        """
        import pandas as pd

        with self._in_words():
            what = ("system", "graph", "policy", "horizon", "run")
            found = []
            for row, curve in self._connection.execute(
                "SELECT row, curve FROM cells WHERE error IS NULL AND row IS NOT NULL ORDER BY position"
            ):
                described = json.loads(row)
                cell = [described[name] for name in what]
                found += [(*cell, *point) for point in json.loads(curve)]
            return pd.DataFrame(found, columns=[*what, "round", "regret"])

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        with _KIND.errors_in_words(self._path, _TIMEOUT):
            yield
