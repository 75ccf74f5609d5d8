"""Play the cells of a study in this process, in several or on a Dask cluster, with the same numbers."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from cb_pgm.errors import StudyError
from cb_pgm.provenance import command, versions
from cb_pgm.study.cells import CellResult, play_cell
from cb_pgm.study.config import Cell, Study
from cb_pgm.study.store import StudyStore

__all__ = ["run_study"]

_FILE = "results.sqlite"


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
        The folder for `results.sqlite`, which grows while the study runs, and for `results.csv` and
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
    store = _opened(study, Path(out), resume=resume, force=force)
    try:
        left = store.unfinished()
        cells = [cell for cell in study.cells() if cell.key in left]
        for result in _played(cells, study.seed, jobs, dask):
            store.add(result)
            if progress is not None:
                progress(1)
        store.note("finished", time.strftime("%Y-%m-%dT%H:%M:%S%z"))
        store.results().to_csv(Path(out) / "results.csv", index=False, float_format="%.12g")
        store.curves().to_csv(Path(out) / "curves.csv", index=False, float_format="%.12g")
        return store.counts()
    finally:
        store.close()


def _opened(study: Study, out: Path, *, resume: bool, force: bool) -> StudyStore:
    if out.exists() and not out.is_dir():
        raise StudyError(f"Expected a folder for the study but found a file at {out}: give another --out")
    if force and (out / _FILE).exists():
        for file in out.glob(f"{_FILE}*"):
            file.unlink()
    elif out.is_dir() and any(out.iterdir()) and not (resume and (out / _FILE).exists()):
        raise StudyError(
            f"Expected an empty or new folder but found files in {out}: --resume goes on with an unfinished "
            f"study there, --force starts over"
        )
    out.mkdir(parents=True, exist_ok=True)
    store = StudyStore(out / _FILE)
    known = store.about()
    if not known:
        store.begin(_about(study), (cell.key for cell in study.cells()))
    elif known["fingerprint"] != study.fingerprint():
        store.close()
        raise StudyError(
            f"Expected the study whose results are in {out} but found a changed one: undo the changes, or "
            f"use --force to start over"
        )
    return store


def _about(study: Study) -> dict[str, Any]:
    networks = {part.get("network") for part in study.systems} - {None}
    return {
        "title": study.title,
        "seed": study.seed,
        "fingerprint": study.fingerprint(),
        "configuration": study.to_dict(),
        "versions": versions(),
        "command": command(),
        "commit": _commit(),
        "data": {path: hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in sorted(networks)},
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
    }


def _commit() -> str | None:
    """Return the git commit of the source in use; None if the source isn't in a repository."""
    git = shutil.which("git")
    if git is None:
        return None
    command = [git, "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def _played(cells: Sequence[Cell], seed: int, jobs: int, dask: str | None) -> Iterator[CellResult]:
    if dask is not None:
        yield from _on_dask(cells, seed, dask)
    elif jobs == 1 or len(cells) < 2:
        for cell in cells:
            yield play_cell(cell, seed)
    else:
        from joblib import Parallel, delayed, parallel_config

        with parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1):
            yield from Parallel(return_as="generator_unordered")(
                delayed(play_cell)(cell, seed) for cell in cells
            )


def _on_dask(cells: Sequence[Cell], seed: int, address: str) -> Iterator[CellResult]:
    try:
        from distributed import Client, LocalCluster, as_completed
    except ImportError:
        raise StudyError('Expected Dask for --dask but found none: install "cb-pgm[dask]"') from None
    with contextlib.ExitStack() as opened:
        if address == "local":
            cluster = opened.enter_context(
                LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
            )
            client = opened.enter_context(Client(cluster))
        else:
            try:
                client = opened.enter_context(Client(address, timeout=10))
            except OSError as error:
                raise StudyError(
                    f"Expected a Dask scheduler at {address} but found {error}: start it or mend --dask"
                ) from None
        futures = client.map(play_cell, cells, seed=seed, pure=False)
        for future in as_completed(futures):
            yield future.result()
            future.release()
