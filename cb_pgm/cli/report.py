"""`cb-pgm report`: the outcome of a run, a study or a session as one HTML file."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from cb_pgm.cli.console import waiting
from cb_pgm.cli.options import add_result
from cb_pgm.cli.usage import Parser
from cb_pgm.errors import ReportError
from cb_pgm.files import json_text, print_text

__all__ = ["add_arguments", "execute"]


def add_arguments(parser: Parser) -> None:
    """Add the flags of `report`."""
    parser.epilog = "example: cb-pgm report runs/mine"
    parser.add_argument(
        "folder", type=Path, metavar="DIR", help="folder of run --out, of study --out or of a session"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE.html", help="the file to write (default: report.html in DIR)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite FILE.html")
    add_result(parser)


def execute(options: Namespace) -> None:
    """Write the report and print its path."""
    # Late imports, here and below: --help loads no other room.
    from cb_pgm.report import write_report

    if options.out is not None and options.out.exists() and not options.force:
        raise ReportError(
            f"Expected a new file for --out but found one at {options.out}: add --force to overwrite it"
        )
    with waiting("Writing the report"):
        written = write_report(options.folder, options.out)
    size = written.stat().st_size
    if options.json:
        print_text(json_text({"report": str(written), "bytes": size}))
    else:
        print_text(f"Report: {written} ({size / 1024:,.0f} KB, one file)")
