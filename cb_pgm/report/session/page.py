"""The page of a session: the best arm so far, the search for causes, the record, and how to go on."""

from __future__ import annotations

from pathlib import Path

from cb_pgm.provenance import VERSION
from cb_pgm.report.html.page import Page, Table
from cb_pgm.report.session.folder import SessionFolder, read_session
from cb_pgm.report.session.sections import (
    INTERVALS,
    MOST_ARMS,
    arms_section,
    assumptions_section,
    causes_section,
    next_section,
    record_section,
    settings_section,
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
        settings_section(read),
        arms_section(read),
        causes_section(read),
        story_section(read),
        assumptions_section(read),
        record_section(read),
        next_section(read, folder),
    ]
    return Page(
        kind=f"Session, {'finished' if status.over else 'under way'}",
        title=f"What {'lowers' if status.minimize else 'raises'} {status.reward}",
        outcome=_outcome(status),
        table=_table(read),
        sections=[section for section in sections if section is not None],
        remarks=[status.fallback] if status.fallback else [],
        version=VERSION,
    )


def _outcome(status: Status) -> str:
    recorded = f"{status.told:,} of {counted(status.horizon, status.unit)} are recorded"
    best = status.best_arm
    if best is None:
        return f"No arm has been pulled yet: {recorded}."
    certain = (
        "is certain to be the best arm" if status.certain else "is the best arm so far, not yet certainly"
    )
    names = listed([f"“{name}”" for name in status.reward_variables])
    causes = f" The reward depends on {names}." if status.reward_variables else ""
    mean, low, high = (number(value, best.high - best.low) for value in (best.mean, best.low, best.high))
    return (
        f"Set {setting(best.intervention)}. It {certain}, with a mean of {mean} (between {low} and {high})."
        f"{causes} {recorded}."
    )


def _table(read: SessionFolder) -> Table | None:
    arms = read.arms()
    if not arms:
        return None
    rows = [
        (
            setting(arm.intervention),
            f"{arm.rows:,}",
            number(arm.mean, arm.high - arm.low),
            f"{number(arm.low, arm.high - arm.low)} to {number(arm.high, arm.high - arm.low)}",
        )
        for arm in arms[:MOST_ARMS]
    ]
    more = f", the best {len(rows)} of {len(arms)}" if len(arms) > len(rows) else ""
    caption = f"Every arm pulled{more}. {INTERVALS}"
    return Table(caption, ["arm", read.settings.unit, "mean reward", "interval"], rows, numeric=(1, 2, 3))
