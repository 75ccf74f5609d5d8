"""The results of a study in one file, which only ever grows: a line of JSON for each thing that is known.

The first line describes the study, each further one is the result of a cell or says which process plays. A
cell that is played again has a second line, which counts. If the process is killed at any moment the file
holds every result that was added before; a line that is half-written is left out, and cut off by the next
process that plays. One process plays at a time: it holds a lock on the file, which ends with the process
however that ends. Readers need no lock.
"""

from __future__ import annotations

import errno
import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

try:
    import fcntl
except ImportError:  # where the system has no such locks (Windows) nothing keeps a second process out
    fcntl = None  # type: ignore[assignment]

from cb_pgm.decoding import decoded
from cb_pgm.errors import StudyError
from discovery.documents import json_content

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FILE", "Results", "ResultsFile"]

FILE = "results.jsonl"

_START = b'{"'
_CELL = ("system", "graph", "policy", "horizon", "run")


@dataclass
class Results:
    """What a file of results holds.

    Attributes
    ----------
    about
        The description of the study; empty where nothing was written yet.
    cells
        Position of the cell in the study → its result: the keys row, curve, error and seconds
        (`cb_pgm.study.cells.CellResult`).
    player
        Which process played last, in words.
    """

    about: dict[str, Any] = field(default_factory=dict)
    cells: dict[int, dict[str, Any]] = field(default_factory=dict)
    player: str = ""

    @classmethod
    def read(cls, path: Path) -> Results:
        """Read a file, which may grow meanwhile.

        Raises
        ------
        StudyError
            If it can't be read, or isn't a file of results.
        """
        results = cls()
        try:
            content = path.read_bytes()
            if not _START.startswith(content[: len(_START)]):
                raise ValueError("its first line isn't one of ours")
            for line in content.split(b"\n")[:-1]:  # without a line that is half-written
                results._take(json_content(line))
        except OSError as error:
            raise StudyError(
                f"Expected a study's results but found {error.strerror} at {path}: check it"
            ) from None
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StudyError(
                f"Expected a study's results but found {path} damaged or of another kind ({error}): --force "
                f"starts over"
            ) from None
        return results

    def unfinished(self) -> set[int]:
        """Return the positions of the cells that weren't played yet or failed."""
        played = {position for position, cell in self.cells.items() if cell["error"] is None}
        return set(range(self.about["cells"])) - played

    def counts(self) -> dict[str, int]:
        """Return the numbers of "cells", of those "done" (the others included), "failed" and "left_out"."""
        cells = self.cells.values()
        return {
            "cells": self.about["cells"],
            "done": len(cells),
            "failed": sum(cell["error"] is not None for cell in cells),
            "left_out": sum("left_out" in cell["row"] for cell in cells),
        }

    def frame(self) -> pd.DataFrame:
        """Return a data frame with one row per finished cell, in the order of the study.

        Equal studies have equal frames, however their cells were played.
        """
        import pandas as pd

        ordered = [self.cells[position] for position in sorted(self.cells)]
        return pd.DataFrame([cell["row"] | {"error": cell["error"]} for cell in ordered])

    def curves(self) -> pd.DataFrame:
        """Return the regret curves as a data frame with one row per recorded round of a cell.

        Columns system, graph, policy, horizon, run, round, regret.
        """
        import pandas as pd

        points = []
        for position in sorted(self.cells):
            row = self.cells[position]["row"]
            points += [(*(row[name] for name in _CELL), *point) for point in self.cells[position]["curve"]]
        return pd.DataFrame(points, columns=[*_CELL, "round", "regret"])

    def _take(self, line: Any) -> None:
        """Take a line; ValueError where it isn't one of ours."""
        if "cell" in line:
            cell = decoded(_Cell, line)
            self.cells[cell["cell"]] = {key: line[key] for key in ("row", "curve", "error", "seconds")}
        elif "player" in line:
            self.player = decoded(str, line["player"], "player")
        else:
            kind = _Noted if self.about else _About
            self.about |= decoded(kind, line.get("about"), "about")


class _Row(TypedDict):
    """The columns of results.csv that say which cell it is, and those that a report looks at."""

    system: str
    graph: str
    method: str | None
    rows: int | None
    policy: str
    horizon: int
    run: int
    n: NotRequired[int]
    reward_gap: NotRequired[float]
    effect_gap: NotRequired[float]
    noise_scale: NotRequired[float]
    shd: NotRequired[int | None]
    regret: NotRequired[float | None]
    correct: NotRequired[bool | None]
    interventions_to_find: NotRequired[int | None]
    left_out: NotRequired[str]


class _Cell(TypedDict):
    cell: int
    row: _Row
    curve: list[tuple[int, float]]
    error: str | None
    seconds: float


class _Part(TypedDict):
    label: str


class _Configuration(TypedDict):
    title: str
    seed: int
    runs: int
    horizons: list[int]
    failure_prob: float
    system: list[_Part]
    graph: list[_Part]
    policy: list[_Part]


class _About(TypedDict):
    title: str
    cells: int
    seed: int
    fingerprint: str
    configuration: _Configuration
    versions: dict[str, str]
    command: str | None
    commit: str | None
    data: dict[str, str]
    started: str


class _Noted(TypedDict):
    finished: str


class ResultsFile:
    """A file of results, opened by the process that plays the study (`ResultsFile.opened`)."""

    def __init__(self, path: Path, file: FileIO) -> None:
        self._path = path
        self._file = file

    @classmethod
    @contextmanager
    def opened(cls, path: Path, *, force: bool = False) -> Iterator[ResultsFile]:
        """Own the file during the block; it is made if there is none, and emptied with `force`.

        Raises
        ------
        StudyError
            If another process owns it, or it isn't a file of results.
        OSError
            If it can't be written.
        """
        if os.path.lexists(path) and (path.is_symlink() or not path.is_file()):
            raise StudyError(f"Expected a study's results but found a link or a device at {path}: remove it")
        with path.open("ab", buffering=0) as file:
            try:
                if fcntl is not None:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StudyError(
                    f"Expected {path.parent} to be free but found a study running in it"
                    f"{Results.read(path).player}: wait for it, stop it, or give another --out"
                ) from None
            if force:
                file.truncate(0)
            Results.read(path)  # a file of another kind is refused and stays as it is
            file.truncate(path.read_bytes().rfind(b"\n") + 1)
            opened = cls(path, file)
            since = datetime.now(UTC).isoformat(sep=" ", timespec="seconds")
            opened.add(player=f", process {os.getpid()} on {platform.node()} since {since}")
            yield opened

    def read(self) -> Results:
        """Return what the file holds."""
        return Results.read(self._path)

    def add(self, **line: Any) -> None:
        """Add a line: `about` the study, the `player`, or the result of a `cell`.

        Raises
        ------
        StudyError
            If it can't be written.
        """
        content = json.dumps(line).encode() + b"\n"
        try:
            if self._file.write(content) < len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file.fileno())
        except OSError as error:
            raise StudyError(
                f"Expected room on the disk for {self._path} but found {error.strerror}: mend that and "
                f"--resume; everything recorded before is kept"
            ) from None
