"""The page of a session: what is known so far, how it came to be known, and what is under way."""

from __future__ import annotations

from pathlib import Path

from cb_pgm.provenance import VERSION
from cb_pgm.report.html.page import Page, Table
from cb_pgm.report.session.folder import SessionFolder, read_session
from cb_pgm.report.session.sections import (
    MOST_ARMS,
    arms_section,
    asked_section,
    assumptions_section,
    causes_section,
    next_section,
    record_section,
    story_section,
)
from cb_pgm.session.status import Status, counted
from cb_pgm.wording import listed, number, setting

__all__ = ["session_page"]


def session_page(folder: Path) -> Page:
    """Return the page of a session's folder.

    Raises
    ------
    ReportError
        If the session can't be read.
    """
    read = read_session(folder)
    status = read.status
    sections = [
        asked_section(read),
        arms_section(read),
        causes_section(read),
        story_section(read),
        assumptions_section(read),
        record_section(read),
        next_section(read, folder),
    ]
    return Page(
        kind=f"Session, {'over' if status.over else 'under way'}",
        title=f"What {'lowers' if status.minimize else 'raises'} {status.reward}",
        outcome=_outcome(status),
        table=_table(read),
        sections=[section for section in sections if section is not None],
        remarks=[status.fallback] if status.fallback else [],
        version=VERSION,
    )


def _outcome(status: Status) -> str:
    told = f"{status.told:,} of {counted(status.horizon, status.unit)} told"
    best = status.best_arm
    if best is None:
        return f"Nothing can be said yet: {told}, and no arm has been pulled."
    sure = "certain to be the best" if status.certain else "the best so far, not yet for certain"
    causes = listed([f"“{name}”" for name in status.reward_variables])
    cause = f" What it depends on: {causes}." if status.reward_variables else ""
    return (
        f"Set {setting(best.intervention)}: a mean of {number(best.mean)}, between {number(best.low)} and "
        f"{number(best.high)}; {sure}. {told[:1].upper()}{told[1:]}.{cause}"
    )


def _table(read: SessionFolder) -> Table | None:
    arms = read.arms()
    if not arms:
        return None
    rows = [
        (
            setting(arm.intervention),
            f"{arm.rows:,}",
            number(arm.mean),
            f"{number(arm.low)} to {number(arm.high)}",
        )
        for arm in arms[:MOST_ARMS]
    ]
    more = f", the best {len(rows)} of {len(arms)}" if len(arms) > len(rows) else ""
    caption = f"What is known of each arm{more}; the intervals hold for all arms at all times at once"
    return Table(caption, ["arm", read.settings.unit, "mean", "between"], rows, numeric=(1, 2, 3))
