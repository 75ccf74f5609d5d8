"""What a script that makes a table is given: its settings, its folder, and work that can stop and go on.

A script defines ``make(run)``, which returns the text of each section of the page by name and may leave files
in `Run.folder`. Where a figure of that name stands on the page it is replaced by the one in the folder.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from cb_pgm.cli.console import progress
from cb_pgm.processes import mapped
from cb_pgm.study import Study, run_study

__all__ = ["Run", "keep", "kept"]

SCRIPTS = Path(__file__).parent


@dataclass(frozen=True)
class Run:
    """One run of a script.

    Attributes
    ----------
    name
        The name of the table.
    folder
        Where its files go.
    seed
        Everything random comes from it.
    quick
        Whether a small part is enough, to see that the script works.
    jobs
        The number of processes, which changes no number.
    given
        What else was given on the command line, if the script has settings of its own (``add_options``).
    """

    name: str
    folder: Path
    seed: int = 0
    quick: bool = False
    jobs: int = 2
    given: argparse.Namespace = field(default_factory=argparse.Namespace)

    def each(
        self,
        play: Callable[..., Any],
        units: Iterable[tuple[Any, ...]],
        *,
        name: Callable[..., str] = lambda *unit: repr(unit),
        first: Callable[..., Any] = lambda *unit: 0,
    ) -> list[Any]:
        """Return ``play(*unit)`` for each unit, in their order; what was played before isn't played again.

        Parameters
        ----------
        play
            A function of a module, which returns what JSON can hold.
        units
            What it is called with.
        name
            Returns the name of a unit, by which it is known again.
        first
            Returns what units are sorted by before they are played: the longest first leaves no core idle.
        """
        units = list(units)
        file = self.folder / "records.jsonl"
        done = {known for known, _ in kept(file)}
        left = sorted((unit for unit in units if name(*unit) not in done), key=lambda unit: first(*unit))
        calls = [(name(*unit), unit) for unit in left]
        with progress(len(left), "Playing", unit="unit") as step:
            for named in mapped(_played, play, calls, jobs=self.jobs, ordered=False):
                keep(file, named)
                if step is not None:
                    step(1)
        records = dict(kept(file))
        return [records[name(*unit)] for unit in units]

    def study(self, quick: Mapping[str, Any] | None = None) -> tuple[pd.DataFrame, Study]:
        """Play the study in the TOML file of the script's name; return its results.csv and the study.

        `quick` has the keys that differ in a quick run.
        """
        content = tomllib.loads((SCRIPTS / f"{self.name}.toml").read_text(encoding="utf-8"))
        content["seed"] = content.get("seed", 0) + self.seed
        study = Study.from_dict(content | dict(quick or {} if self.quick else {}), where=self.name)
        out = self.folder / "study"
        with progress(study.n_cells(), "Playing", unit="cell") as step:
            counts = run_study(study, out, jobs=self.jobs, resume=True, progress=step)
        if counts["failed"]:
            raise SystemExit(f"Expected every cell to succeed but {counts['failed']} failed: see {out}")
        return pd.read_csv(out / "results.csv"), study


def _played(play: Callable[..., Any], call: tuple[str, tuple[Any, ...]]) -> tuple[str, Any]:
    name, unit = call
    return name, play(*unit)


def kept(path: Path) -> list[Any]:
    """Return the records in a file, none without one; a last line that is half-written is cut off."""
    if not path.exists():
        return []
    whole = path.read_text(encoding="utf-8").rpartition("\n")[0]
    path.write_text(f"{whole}\n" if whole else "", encoding="utf-8")
    return [json.loads(line) for line in whole.split("\n") if line]


def keep(path: Path, record: object) -> None:
    """Add a record to a file, as a line of JSON."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record, default=lambda value: value.item()) + "\n")
