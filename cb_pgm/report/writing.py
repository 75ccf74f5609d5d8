"""From a folder to its report: which kind of folder it is, and the file."""

from __future__ import annotations

import os
from pathlib import Path

from cb_pgm.errors import ReportError
from cb_pgm.report.html.page import Page, render

__all__ = ["write_report"]


def write_report(folder: str | Path, out: str | Path | None = None) -> Path:
    """Write the report of what `cb-pgm run`, `study` or `session` left in a folder.

    Parameters
    ----------
    folder
        What was given to --out.
    out
        The file to write; None: report.html in the folder.

    Returns
    -------
    The file: HTML that needs no other file. One that was there is replaced at once or not at all.

    Raises
    ------
    ReportError
        If the folder holds no results, or not all of what a report needs.
    OSError
        If a file can't be read or written.
    """
    folder = Path(folder)
    target = folder / "report.html" if out is None else Path(out)
    html = render(_page(folder))
    unfinished = target.with_name(f"{target.name}.part")
    unfinished.write_text(html, encoding="utf-8")
    os.replace(unfinished, target)
    return target


def _page(folder: Path) -> Page:
    # Late imports: pages load pandas and matplotlib, about a second; a folder without results needs neither.
    if (folder / "result.json").exists():
        from cb_pgm.report.run.page import run_page

        return run_page(folder)
    if (folder / "results.sqlite").exists():
        from cb_pgm.report.study.page import study_page

        return study_page(folder)
    if (folder / "session.sqlite").exists():
        from cb_pgm.report.session.page import session_page

        return session_page(folder)
    raise ReportError(
        f"Expected the results of a run, a study or a session but found none in {folder}: give the folder "
        f"that --out named"
    )
