"""Store the results of a study in one SQLite file, with one writer and one transaction per result."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
"""


class StudyStore:
    """The file `results.sqlite` in the folder of a study.

    If the process is killed at any moment, the file holds every result that was added before.

    Parameters
    ----------
    path
        The file; it is created if there is none.

    Raises
    ------
    StudyError
        If the file has a newer version or isn't the database of a study.
    """

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, timeout=10)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        try:
            self._set_up(path)
        except sqlite3.DatabaseError as error:
            raise StudyError(
                f"Expected a study's results in {path} but found an error ({error}): --force starts over"
            ) from None

    def _set_up(self, path: Path) -> None:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version > _VERSION:
            raise StudyError(
                f"Expected results of version {_VERSION} at most but found {version} in {path}: update cb-pgm"
            )
        if version == 0:
            self._connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version={_VERSION}; COMMIT;")

    def begin(self, about: dict[str, Any], keys: Iterable[str]) -> None:
        """Record the description of the study and the keys of its cells, all of them unfinished."""
        with self._transaction():
            self._connection.executemany(
                "INSERT OR REPLACE INTO about VALUES (?, ?)",
                [(name, json.dumps(value)) for name, value in about.items()],
            )
            self._connection.executemany(
                "INSERT INTO cells (key, position) VALUES (?, ?)",
                [(key, position) for position, key in enumerate(keys)],
            )

    def about(self) -> dict[str, Any]:
        """Return the description recorded by `begin` and `note`; empty for a new file."""
        rows = self._connection.execute("SELECT name, value FROM about").fetchall()
        return {name: json.loads(value) for name, value in rows}

    def note(self, name: str, value: Any) -> None:
        """Add one entry to the description of the study."""
        self._connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, json.dumps(value)))

    def add(self, result: CellResult) -> None:
        """Record a result; adding the result of a cell again replaces it."""
        self._connection.execute(
            "UPDATE cells SET row = ?, curve = ?, error = ?, seconds = ? WHERE key = ?",
            (json.dumps(result.row), json.dumps(result.curve), result.error, result.seconds, result.key),
        )

    def unfinished(self) -> set[str]:
        """Return the keys of the cells that weren't played yet or failed."""
        rows = self._connection.execute("SELECT key FROM cells WHERE row IS NULL OR error IS NOT NULL")
        return {key for (key,) in rows}

    def counts(self) -> dict[str, int]:
        """Return the numbers of "cells", of those "done" (the others included), "failed" and "left_out"."""
        counted = "COUNT(*), COUNT(row), COUNT(error), COUNT(json_extract(row, '$.left_out'))"
        total, done, failed, left_out = self._connection.execute(f"SELECT {counted} FROM cells").fetchone()
        return {"cells": total, "done": done, "failed": failed, "left_out": left_out}

    def results(self) -> pd.DataFrame:
        """Return a data frame with one row per finished cell, in the order of the study.

        Equal studies have equal frames, however their cells were played.
        """
        import pandas as pd

        rows = self._connection.execute(
            "SELECT row, error FROM cells WHERE row IS NOT NULL ORDER BY position"
        ).fetchall()
        return pd.DataFrame([json.loads(row) | {"error": error} for row, error in rows])

    def curves(self) -> pd.DataFrame:
        """Return the regret curves as a data frame with one row per recorded round of a cell.

        Columns system, graph, policy, horizon, run, round, regret.
        """
        import pandas as pd

        what = ("system", "graph", "policy", "horizon", "run")
        found = []
        for row, curve in self._connection.execute(
            "SELECT row, curve FROM cells WHERE error IS NULL AND row IS NOT NULL ORDER BY position"
        ):
            described = json.loads(row)
            cell = [described[name] for name in what]
            found += [(*cell, *point) for point in json.loads(curve)]
        return pd.DataFrame(found, columns=[*what, "round", "regret"])

    def close(self) -> None:
        """Merge the write-ahead log into the file and close it."""
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()

    def _transaction(self) -> sqlite3.Connection:
        self._connection.execute("BEGIN IMMEDIATE")
        return self._connection  # as a context manager it commits, or rolls back on an error
