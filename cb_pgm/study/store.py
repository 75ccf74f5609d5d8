"""Where a study's results land: one SQLite file, one writer, one transaction a result."""

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
    """The file `results.sqlite` of a study's folder; killed at any moment it holds every result told to it.

    Raises
    ------
    StudyError
        If the file is of a newer version, or not a study's.
    """

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, timeout=10)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        try:
            self._set_up(path)
        except sqlite3.DatabaseError as error:
            raise StudyError(f"Expected a study's results but found {error} in {path}") from None

    def _set_up(self, path: Path) -> None:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version > _VERSION:
            raise StudyError(
                f"Expected results of version {_VERSION} at most but found {version} in {path}: update cb-pgm"
            )
        if version == 0:
            self._connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version={_VERSION}; COMMIT;")

    def begin(self, about: dict[str, Any], keys: Iterable[str]) -> None:
        """Record what the study is and the cells that it has, all still to be played."""
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
        """Return what `begin` recorded; empty for a file just made."""
        rows = self._connection.execute("SELECT name, value FROM about").fetchall()
        return {name: json.loads(value) for name, value in rows}

    def note(self, name: str, value: Any) -> None:
        """Add to what is known about the study."""
        self._connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, json.dumps(value)))

    def add(self, result: CellResult) -> None:
        """Record a result; one told twice is the same result and counts once."""
        self._connection.execute(
            "UPDATE cells SET row = ?, curve = ?, error = ?, seconds = ? WHERE key = ?",
            (json.dumps(result.row), json.dumps(result.curve), result.error, result.seconds, result.key),
        )

    def unfinished(self) -> set[str]:
        """Return the keys of cells that were not played, or failed."""
        rows = self._connection.execute("SELECT key FROM cells WHERE row IS NULL OR error IS NOT NULL")
        return {key for (key,) in rows}

    def counts(self) -> dict[str, int]:
        """Return how many cells there are, are done, and failed."""
        total, done, failed = self._connection.execute(
            "SELECT COUNT(*), COUNT(row), COUNT(error) FROM cells"
        ).fetchone()
        return {"cells": total, "done": done, "failed": failed}

    def results(self) -> pd.DataFrame:
        """Return one row a finished cell, in the study's order: tidy, and equal for equal studies."""
        import pandas as pd

        rows = self._connection.execute(
            "SELECT row, error FROM cells WHERE row IS NOT NULL ORDER BY position"
        ).fetchall()
        return pd.DataFrame([json.loads(row) | {"error": error} for row, error in rows])

    def curves(self) -> pd.DataFrame:
        """Return the regret curves: one row a recorded round of a cell, with what the cell is."""
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
        """Fold everything into the one file and let it go."""
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()

    def _transaction(self) -> sqlite3.Connection:
        self._connection.execute("BEGIN IMMEDIATE")
        return self._connection  # as a context manager it commits, or rolls back on an error
