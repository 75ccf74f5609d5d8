"""`cb-pgm report`: one HTML file for people, of what a run, a study or a session left."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

__all__ = ["add_arguments", "execute"]


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of `report`."""
    parser.add_argument(
        "folder", type=Path, metavar="DIR", help="what run --out, study --out or a session wrote"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE.html", help="the file to write (default: report.html in DIR)"
    )
    parser.add_argument("--force", action="store_true", help="write over an --out that is there")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")


def execute(options: Namespace) -> None:
    """Write the report and say where it is."""
    from cb_pgm.cli.console import waiting
    from cb_pgm.files import json_text, print_text
    from cb_pgm.report import ReportError, write_report

    if options.out is not None and options.out.exists() and not options.force:
        raise ReportError(
            f"Expected a new file for --out but found one at {options.out}: add --force to write over it"
        )
    with waiting("Writing the report"):
        written = write_report(options.folder, options.out)
    size = written.stat().st_size
    if options.json:
        print_text(json_text({"report": str(written), "bytes": size}))
    else:
        print_text(f"Report: {written} ({size / 1024:,.0f} KB, one file)")
