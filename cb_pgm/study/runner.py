"""Play the cells of a study in this process, in several or on a Dask cluster, with the same numbers."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cb_pgm.databases import SIDE_FILES
from cb_pgm.errors import StudyError
from cb_pgm.files import replaced
from cb_pgm.provenance import command, commit, versions
from cb_pgm.study.cells import CellResult, play_cell
from cb_pgm.study.config import Cell, Study
from cb_pgm.study.owner import OWNER_FILES, owned
from cb_pgm.study.store import StudyStore
from cb_pgm.wording import listed

__all__ = ["run_study"]

_FILE = "results.sqlite"
_OWN_FILES = (*(f"{_FILE}{side}" for side in ("", *SIDE_FILES)), "results.csv", "curves.csv")


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
    out = Path(out)
    if out.exists() and not out.is_dir():
        raise StudyError(f"Expected a folder for the study but found a file at {out}: give another --out")
    out.mkdir(parents=True, exist_ok=True)
    _check_contents(out, resume=resume, force=force)  # before anything is written there
    with owned(out):
        if force:
            for name in _OWN_FILES:
                (out / name).unlink(missing_ok=True)
        else:
            _check_contents(out, resume=resume, force=force)
        with StudyStore.opened(out / _FILE) as store:
            _check_same(study, store.begin(_about(study), (cell.key for cell in study.cells())), out)
            left = store.unfinished()
            cells = (cell for position, cell in enumerate(study.cells()) if position in left)
            for result in _played(cells, len(left), study.seed, jobs, dask):
                store.add(result)
                if progress is not None:
                    progress(1)
            store.note("finished", time.strftime("%Y-%m-%dT%H:%M:%S%z"))
            for name, table in (("results.csv", store.results()), ("curves.csv", store.curves())):
                with replaced(out / name) as partial:
                    table.to_csv(partial, index=False, float_format="%.12g")
            return store.counts()


def _check_contents(out: Path, *, resume: bool, force: bool) -> None:
    """Check that the folder has no files of others: it is empty, or holds a study to go on with."""
    if force or (resume and (out / _FILE).exists()):
        return
    if any(path.name not in OWNER_FILES for path in out.iterdir()):
        raise StudyError(
            f"Expected an empty or new folder but found files in {out}: --resume goes on with an unfinished "
            f"study there, --force starts over"
        )


def _check_same(study: Study, known: dict[str, Any], out: Path) -> None:
    """Check that the study in the file is the one to play, down to the contents of its files."""
    if known.get("fingerprint") == study.fingerprint():
        return
    before = set(dict(known.get("data", {})).values())
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


def _played(
    cells: Iterator[Cell], count: int, seed: int, jobs: int, dask: str | None
) -> Iterator[CellResult]:
    if dask is not None:
        yield from _on_dask(cells, seed, dask)
    elif jobs == 1 or count < 2:
        for cell in cells:
            yield play_cell(cell, seed)
    else:
        from joblib import Parallel, delayed, parallel_config
        from joblib.externals.loky import get_reusable_executor

        try:
            with parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1):
                yield from Parallel(return_as="generator_unordered")(
                    delayed(play_cell)(cell, seed) for cell in cells
                )
        except BaseException:  # also a signal: else the workers would play on for nobody
            get_reusable_executor().shutdown(wait=False, kill_workers=True)
            raise


def _on_dask(cells: Iterator[Cell], seed: int, address: str) -> Iterator[CellResult]:
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
        futures = client.map(play_cell, list(cells), seed=seed, pure=False)
        for future in as_completed(futures):
            yield future.result()
            future.release()
