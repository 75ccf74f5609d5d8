"""Output beside the result, on stderr: notes, progress bars on a terminal, else a line every half minute."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from discovery.wording import visible

__all__ = ["note", "progress", "share_read", "waiting"]

_SECONDS_BETWEEN_LINES = 30.0


def note(text: str) -> None:
    """Write one line to stderr, controls as escapes: a name in a file never steers a terminal."""
    sys.stderr.write(f"{visible(text)}\n")
    sys.stderr.flush()


@contextmanager
def progress(total: int, doing: str, unit: str = "round") -> Iterator[Callable[[int], object]]:
    """Yield a function to call with the number of steps done.

    On a terminal it moves a bar, which appears after a second. Elsewhere a line every half minute says how
    far the work is.
    """
    if not _watched():
        done = 0

        def step(size: int) -> None:
            nonlocal done
            done += size

        with _lines(lambda: f"{doing}: {done:,} of {total:,} {unit}s ({done / max(total, 1):.0%})"):
            yield step
        return
    from tqdm import tqdm

    with tqdm(
        total=total, desc=doing, unit=unit, unit_scale=True, delay=1, leave=False, file=sys.stderr
    ) as bar:
        yield bar.update


@contextmanager
def waiting(doing: str) -> Iterator[Callable[[str], object]]:
    """Show `doing` and the time it takes: on a terminal after the first second, else in lines.

    Yield a function that shows another text instead.
    """
    shown = [doing]

    def show_instead(text: str) -> None:
        shown[0] = text

    if not _watched():
        with _lines(lambda: shown[0]):
            yield show_instead
        return
    from tqdm import tqdm

    def show(done: threading.Event) -> None:
        if done.wait(1):
            return
        with tqdm(bar_format="{desc} {elapsed}", desc=doing, leave=False, file=sys.stderr) as line:
            line.start_t -= 1
            while not done.wait(0.5):
                line.set_description_str(shown[0])

    with _beside(show):
        yield show_instead


def share_read(show: Callable[[str], object]) -> Callable[[int, int], None]:
    """Return a function of the bytes read and the bytes in all, which shows their share (`waiting`)."""

    def show_share(done: int, total: int) -> None:
        show(f"Reading the table, {done / max(total, 1):.0%}")

    return show_share


@contextmanager
def _lines(text: Callable[[], str]) -> Iterator[None]:
    """Write `text()` with the time so far every half minute while the block runs."""
    start = time.monotonic()

    def write(done: threading.Event) -> None:
        while not done.wait(_SECONDS_BETWEEN_LINES):
            note(f"{text()}, {time.monotonic() - start:.0f} s so far")

    with _beside(write):
        yield


@contextmanager
def _beside(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Run `work` in a thread beside the block; the event that it gets is set at the block's end."""
    done = threading.Event()
    thread = threading.Thread(target=work, args=(done,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _watched() -> bool:
    return sys.stderr.isatty()
