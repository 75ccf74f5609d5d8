"""`Log`: the events of a session as far as they were read, and the state that they lead to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from cb_pgm.errors import SessionError
from cb_pgm.session.events import AddedState, Event, from_record, to_record
from cb_pgm.session.settings import SessionSettings
from cb_pgm.session.state import SessionState
from cb_pgm.session.storage.snapshot import pack, unpack
from cb_pgm.session.storage.store import Position, Store

__all__ = ["Log"]

_FEW = 2_000  # events that are read one by one in an unnoticeable time
_GROWTH = 1.25  # a snapshot is renewed when the log has grown by this factor


class Log:
    """The log of a session: it reads the events that any process has added, and adds events.

    Parameters
    ----------
    store
        The file of the session.
    policy
        A policy's name that a person gave, which may import code; None: that of the file, if it is installed.
    """

    def __init__(self, store: Store, policy: str | None = None) -> None:
        self._store = store
        self._policy = policy
        self._state: SessionState | None = None
        self._position = Position(0, b"")
        self._packed = 0  # events in the snapshot
        self._changed = False

    @contextmanager
    def reading(self) -> Iterator[SessionState]:
        """Yield the current state; the file doesn't change during the block."""
        with self._store.reading():
            yield self._caught_up()

    @contextmanager
    def writing(self) -> Iterator[SessionState]:
        """Yield the current state. All events recorded in the block are kept, or none on an error."""
        try:
            with self._store.writing():
                state = self._caught_up()
                if not state.settings.loads_policy:
                    raise SessionError(
                        f"Expected an installed policy but found {state.settings.policy!r} in the file, "
                        f"which could run any code: name it yourself if you trust it (--policy, or policy=)"
                    )
                yield state
                if self._changed and self._position.number >= max(_FEW, _GROWTH * self._packed):
                    self._pack(state)
        except BaseException:
            if self._changed:  # the state has applied events that aren't in the file: it must be rebuilt
                self._state = None
            raise
        finally:
            self._changed = False

    def record(self, state: SessionState, event: Event) -> None:
        """Record an event and apply it to the state; only within `writing`."""
        self._changed = True
        self._position = self._store.append(to_record(event), self._position)
        state.apply(event)

    def ask(self, state: SessionState, batch: int) -> None:
        """Ask the policy for a pull of at least `batch` rows and record it; only within `writing`."""
        self._changed = True  # a policy may draw a number when it is asked
        asked = state.propose(batch)
        self._position = self._store.append(to_record(asked), self._position)
        state.apply(asked, asked=True)

    def events(self) -> Iterator[tuple[Event, str]]:
        """Yield every event with its time, from the first on; only within `reading`."""
        text, beginning = self._store.settings()
        settings = SessionSettings.from_json(text)
        n_states = _n_states(settings)
        for record, at, _ in self._store.events(beginning):
            event = from_record(record, n_states)
            if isinstance(event, AddedState):
                settings = settings.with_state(event.variable, event.state)
                n_states = _n_states(settings)
            yield event, at

    def _caught_up(self) -> SessionState:
        state = self._state
        if state is None:
            text, self._position = self._store.settings()
            settings = SessionSettings.from_json(text)
            if self._policy not in (None, settings.policy):
                raise SessionError(
                    f"Expected the session's policy, {settings.policy!r}, but found {self._policy!r}: name "
                    f"that one"
                )
            state = SessionState(replace(settings, trusted=self._policy is not None))
        self._state = None  # until all new events have been applied
        snapshot = self._store.snapshot() if self._position.number == 0 else None
        if snapshot is not None:
            for event in unpack(snapshot[0], _n_states(state.settings)):
                state.apply(event)
            self._position = snapshot[1]
            self._packed = self._position.number
        n_states = _n_states(state.settings)
        for record, _, position in self._store.events(self._position):
            event = from_record(record, n_states)
            state.apply(event)
            if isinstance(event, AddedState):
                n_states = _n_states(state.settings)
            self._position = position
        self._state = state
        return state

    def _pack(self, state: SessionState) -> None:
        events = [event for event, _ in self.events()]
        self._store.save_snapshot(pack(events, len(state.settings.states)), self._position)
        self._packed = self._position.number


def _n_states(settings: SessionSettings) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([len(states) for states in settings.states.values()], dtype=np.int64)
