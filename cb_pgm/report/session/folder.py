"""A session's folder read back: its state, and the events that led to it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from cb_pgm.errors import ReportError, SessionError
from cb_pgm.model.intervention import ArmEstimate
from cb_pgm.session.events import Event
from cb_pgm.session.log import Log
from cb_pgm.session.settings import SessionSettings
from cb_pgm.session.state import SessionState
from cb_pgm.session.status import Status, as_asked, status_of

__all__ = ["SessionFolder", "read_session"]


@dataclass(frozen=True)
class SessionFolder:
    """A session.

    Attributes
    ----------
    state, status
        Where it stands.
    events
        All that happened, and when.
    identified_after
        The number of recorded rows after which the policy identified the causes that it names now; None while
        it names none.
    """

    state: SessionState
    status: Status
    events: tuple[tuple[Event, str], ...]
    identified_after: int | None

    @property
    def settings(self) -> SessionSettings:
        """What was decided at the start."""
        return self.state.settings

    def arms(self) -> list[ArmEstimate]:
        """Return every arm's estimate on the scale of the data, highest lower bound first."""
        estimates = sorted(self.state.policy.estimates(), key=lambda arm: arm.low, reverse=True)
        return [as_asked(self.settings, arm) for arm in estimates]


def read_session(folder: Path) -> SessionFolder:
    """Read a session's folder.

    Raises
    ------
    ReportError
        If the session can't be read.
    """
    try:
        with closing(Log(folder)) as log, log.reading() as state:
            events = tuple(log.events())
    except SessionError as error:
        raise ReportError(str(error)) from None
    return SessionFolder(state, status_of(state), events, _identified_after(state.settings, events))


def _identified_after(settings: SessionSettings, events: Sequence[tuple[Event, str]]) -> int | None:
    """Return the number of rows recorded when the policy identified the causes that it names now, if any."""
    state = SessionState(settings)
    named, after = state.policy.reward_variables, 0
    for event, _ in events:
        state.apply(event)
        if state.policy.reward_variables != named:
            named, after = state.policy.reward_variables, state.told
    return after if named else None
