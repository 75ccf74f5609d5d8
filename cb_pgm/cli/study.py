"""`cb-pgm study`: play the study that a TOML file describes, or continue one."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from cb_pgm.cli.console import note, progress
from cb_pgm.cli.flags import count
from cb_pgm.cli.options import add_result, add_toml_help
from cb_pgm.cli.usage import Parser, UsageError
from cb_pgm.errors import CausalBanditError
from cb_pgm.files import json_text, print_text

__all__ = ["add_arguments", "execute"]

_MANY_CELLS = 100_000  # worth saying before they are made


def add_arguments(parser: Parser) -> None:
    """Add the flags of `study`."""
    parser.epilog = "example: cb-pgm study scripts/trees.toml --out runs/trees --jobs 2"
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE.toml",
        help="the study: systems, graphs, policies, horizons, runs (--help-toml). A policy of your "
        "own in it runs its code",
    )
    add_toml_help(parser, "cb_pgm.study.config", "FILE.toml")
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder for results.jsonl, results.csv and curves.csv",
    )
    parser.add_argument("--jobs", type=count, default=1, metavar="N", help="number of processes (default: 1)")
    parser.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="address of a Dask scheduler, tcp://HOST:PORT, or local to start two workers",
    )
    parser.add_argument(
        "--cold", action="store_true", help="let policies start without rows, whatever FILE.toml says of them"
    )
    parser.add_argument("--resume", action="store_true", help="continue the unfinished study in DIR")
    parser.add_argument("--force", action="store_true", help="start over and delete the results in DIR")
    add_result(parser)


def execute(options: Namespace) -> None:
    """Play the cells that are left and print the counts; failed cells make the exit status 1."""
    if options.resume and options.force:
        raise UsageError("--resume continues a study and --force starts over: give one of them")
    if options.dask is not None and options.jobs != 1:
        raise UsageError("--jobs and --dask both decide where cells are played: give one of them")

    # Late imports, here and below: --help loads no other room.
    from cb_pgm.study import Study, run_study

    study = Study.from_toml(options.file)
    if options.cold:
        study = study.cold()
    total = study.n_cells()
    if total >= _MANY_CELLS:
        note(f"The study has {total:,} cells")
    with progress(total, "Playing", unit="cell") as step:
        counts = run_study(
            study,
            options.out,
            jobs=options.jobs,
            dask=options.dask,
            resume=options.resume,
            force=options.force,
            progress=step,
        )
    if options.json:
        print_text(json_text({"title": study.title, "out": str(options.out), **counts}))
    else:
        print_text(f"{counts['done']:,} of {counts['cells']:,} cells done: {options.out / 'results.csv'}")
    if counts["left_out"]:
        note(
            f"{counts['left_out']:,} cells were left out: hidden common causes leave no true graph to play on"
        )
    if counts["failed"]:
        raise CausalBanditError(
            f"Expected every cell to succeed but {counts['failed']} of {counts['cells']} failed: see the "
            f"error column of {options.out / 'results.csv'}, fix the cause and --resume"
        )
