"""Play the cells of a study in this process, in several or on a Dask cluster, with the same numbers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cb_pgm.errors import StudyError
from cb_pgm.files import replaced
from cb_pgm.processes import mapped
from cb_pgm.provenance import command, commit, versions
from cb_pgm.study.cells import play_cell
from cb_pgm.study.config import Cell, Study
from cb_pgm.study.results import FILE, Results, ResultsFile
from discovery.wording import listed

__all__ = ["run_study"]


def run_study(
    study: Study,
    out: str | Path,
    *,
    jobs: int = 1,
    dask: str | None = None,
    resume: bool = False,
    force: bool = False,
    progress: Callable[[int], object] | None = None,
) -> dict[str, int]:
    """Play all cells whose results aren't in `out` yet, and write the tables of results.

    Parameters
    ----------
    study
        The study to play.
    out
        The folder for `results.jsonl`, which grows while the study runs, and for `results.csv` and
        `curves.csv`, which are written at the end.
    jobs
        The number of processes on this machine (joblib).
    dask
        Used instead of `jobs`: the address of a Dask scheduler, "tcp://…", or "local" for a cluster of two
        workers on this machine.
    resume
        Continue the unfinished study in `out`, which must be the same study. Cells that failed are played
        again.
    force
        Delete the results in `out` and start over.
    progress
        Called with 1 after each cell that finishes.

    Returns
    -------
    dict
        The number of all "cells", of those "done" (the others included), of those that "failed", and of those
        "left_out" because hidden causes leave no true graph to play on.

    Raises
    ------
    StudyError
        If `out` isn't empty and neither `resume` nor `force` is given, if it holds a different study, or if
        Dask is missing or not reachable.
    """
    out = Path(out)
    if out.exists() and not out.is_dir():
        raise StudyError(f"Expected a folder for the study but found a file at {out}: give another --out")
    out.mkdir(parents=True, exist_ok=True)
    _check_contents(out, resume=resume, force=force)  # before anything is written there
    with ResultsFile.opened(out / FILE, force=force) as file:
        known = file.read()
        if not known.about:
            file.add(about=_about(study))
            known = file.read()
        _check_same(study, known, out)
        left = known.unfinished()
        cells = ((place, cell) for place, cell in enumerate(study.cells()) if place in left)
        for line in mapped(_played, study.seed, cells, jobs=jobs, dask=dask, ordered=False):
            file.add(**line)
            if progress is not None:
                progress(1)
        file.add(about={"finished": time.strftime("%Y-%m-%dT%H:%M:%S%z")})
        found = file.read()
        for name, table in (("results.csv", found.frame()), ("curves.csv", found.curves())):
            with replaced(out / name) as partial:
                table.to_csv(partial, index=False, float_format="%.12g")
    return found.counts()


def _played(seed: int, numbered: tuple[int, Cell]) -> dict[str, Any]:
    """Play a cell, and return the line with its result."""
    place, cell = numbered
    return {"cell": place} | asdict(play_cell(cell, seed))


def _check_contents(out: Path, *, resume: bool, force: bool) -> None:
    """Check that the folder has no files of others: it is empty, or holds a study to go on with."""
    if not force and not (resume and (out / FILE).exists()) and any(out.iterdir()):
        raise StudyError(
            f"Expected an empty or new folder but found files in {out}: --resume goes on with an unfinished "
            f"study there, --force starts over"
        )


def _check_same(study: Study, known: Results, out: Path) -> None:
    """Check that the study in the file is the one to play, down to the contents of its files."""
    if known.about.get("fingerprint") == study.fingerprint():
        return
    before = set(dict(known.about.get("data", {})).values())
    changed = [
        str(part.get("network", part.get("table")))
        for part in study.systems
        if part.content and part.content not in before
    ]
    found = f"another content of {listed(changed)}" if changed else "a changed one"
    raise StudyError(
        f"Expected the study whose results are in {out} but found {found}: undo the changes, or use --force "
        f"to start over"
    )


def _about(study: Study) -> dict[str, Any]:
    return {
        "title": study.title,
        "cells": study.n_cells(),
        "seed": study.seed,
        "fingerprint": study.fingerprint(),
        "configuration": study.to_dict(),
        "versions": versions(),
        "command": command(),
        "commit": commit(),
        "data": {
            part.get("network", part.get("table")): part.content for part in study.systems if part.content
        },
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
    }
