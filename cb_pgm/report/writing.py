"""The report of a folder: finds out which kind of folder it is and writes the file."""

from __future__ import annotations

import os
from pathlib import Path

from cb_pgm.errors import ReportError
from cb_pgm.files import check_not_among, replaced
from cb_pgm.report.page import Page, render

__all__ = ["write_report"]


def write_report(folder: str | Path, out: str | Path | None = None) -> Path:
    """Write the report of a folder of `cb-pgm run`, `cb-pgm study` or `cb-pgm session`.

    Parameters
    ----------
    folder
        A run's or a study's --out, or a session's folder.
    out
        The file to write; None: report.html in `folder`.

    Returns
    -------
    The path of the file: HTML that needs no other file. An older one is replaced as a whole or not at all.

    Raises
    ------
    ReportError
        If the folder holds no results, or lacks something that the report needs.
    OSError
        If a file can't be read or written.
    """
    folder = Path(folder)
    target = folder / "report.html" if out is None else Path(out)
    own = [folder / name for name in os.listdir(folder) if name != "report.html"] if folder.is_dir() else []
    check_not_among(target, own, f"a file of {folder} itself")
    html = render(_page(folder))
    with replaced(target) as partial:
        partial.write_text(html, encoding="utf-8", errors="backslashreplace")
    return target


def _page(folder: Path) -> Page:
    # Late imports: pages load pandas and matplotlib, about a second; a folder without results needs neither.
    if (folder / "result.json").is_file():
        from cb_pgm.report.run_page import run_page

        return run_page(folder)
    if (folder / "results.jsonl").is_file():
        from cb_pgm.report.study_page import study_page

        return study_page(folder)
    if (folder / "session.sqlite").is_file():
        from cb_pgm.report.session_page import session_page

        return session_page(folder)
    raise ReportError(
        f"Expected the results of a run, a study or a session but found none in {folder}: give the folder "
        f"of run --out, of study --out or of a session"
    )
