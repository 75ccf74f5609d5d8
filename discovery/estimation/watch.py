"""When a search has to end with the best graph so far, and whom it tells how far it is.

A search calls `Watch.tick` between its steps, where its graph is complete. At the end of its time, or after
Ctrl-C, that raises `SearchStopped`; the search then returns the graph it has.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType

from discovery.errors import EstimationError

__all__ = ["Deadline", "SearchStopped", "Watch"]

_SECONDS_BETWEEN_REPORTS = 0.2


class SearchStopped(Exception):
    """The search is to end with the best graph so far."""


@dataclass(frozen=True)
class Deadline:
    """The moment at which all searches of a command end, in whatever process or on whatever machine.

    Attributes
    ----------
    seconds
        The limit that was given, for messages.
    end
        The moment, as `time.time` counts.
    """

    seconds: float
    end: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """Return the moment in so many seconds from now.

        Raises
        ------
        EstimationError
            If they aren't above 0.
        """
        if not seconds > 0:
            raise EstimationError(f"Expected a time_limit above 0 seconds but found {seconds}")
        return cls(seconds, time.time() + seconds)

    @property
    def has_passed(self) -> bool:
        """Whether the time is over."""
        return time.time() > self.end

    def part(self, searches: float) -> Deadline:
        """Return the moment at which the next of so many searches ends, so that all of them have as long."""
        now = time.time()
        return replace(self, end=now + (self.end - now) / searches)


class Watch:
    """A limit of time, a way to be interrupted, and a listener for a search.

    Parameters
    ----------
    time_limit
        Seconds from now, above 0, or a moment; None: no limit.
    progress
        Called with a text that says how far the search is, up to five times a second.

    Raises
    ------
    EstimationError
        If the limit isn't above 0.

    Examples
    --------
    >>> watch = Watch(time_limit=1e-9)
    >>> try:
    ...     watch.tick("searching")
    ... except SearchStopped:
    ...     print(watch.reason)
    the time limit of 1e-09 s
    """

    def __init__(
        self,
        time_limit: float | Deadline | None = None,
        progress: Callable[[str], object] | None = None,
    ) -> None:
        self._deadline = Deadline.after(time_limit) if isinstance(time_limit, float | int) else time_limit
        self._progress = progress
        self._reported = time.monotonic()
        self._interrupted = False
        self._reason: str | None = None

    @property
    def reason(self) -> str | None:
        """What ended the search; None if nothing has."""
        return self._reason

    def tick(self, text: str = "") -> None:
        """Raise `SearchStopped` if the search is to end; otherwise report `text`, if there is one."""
        if self._interrupted:
            self._reason = "an interrupt"
        elif self._deadline is not None and self._deadline.has_passed:
            self._reason = f"the time limit of {self._deadline.seconds:g} s"
        if self._reason is not None:
            raise SearchStopped
        now = time.monotonic()
        if text and self._progress is not None and now - self._reported > _SECONDS_BETWEEN_REPORTS:
            self._reported = now
            self._progress(text)

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Let the first Ctrl-C end the search with the best graph so far; the second one ends the program.

        Only the main thread receives signals: elsewhere nothing changes.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGINT)

        def interrupt(number: int, frame: FrameType | None) -> None:
            self._interrupted = True
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
