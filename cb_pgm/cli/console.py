"""What the program says beside its result: notes on stderr, and progress where someone watches a terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["note", "progress", "waiting"]


def note(text: str) -> None:
    """Write one line to stderr."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


@contextmanager
def progress(total: int, doing: str, unit: str = "round") -> Iterator[Callable[[int], object] | None]:
    """Yield a function that is told of steps done, or None where nobody watches.

    On a terminal a bar is shown for what takes more than a second.
    """
    if not _watched():
        yield None
        return
    from tqdm import tqdm

    with tqdm(
        total=total, desc=doing, unit=unit, unit_scale=True, delay=1, leave=False, file=sys.stderr
    ) as bar:
        yield bar.update


@contextmanager
def waiting(doing: str) -> Iterator[None]:
    """Show on a terminal what goes on and for how long, once that is more than a second."""
    if not _watched():
        yield
        return
    from tqdm import tqdm

    done = threading.Event()

    def show() -> None:
        if done.wait(1):
            return
        with tqdm(bar_format="{desc} {elapsed}", desc=doing, leave=False, file=sys.stderr) as line:
            line.start_t -= 1
            while not done.wait(0.5):
                line.refresh()

    clock = threading.Thread(target=show, daemon=True)
    clock.start()
    try:
        yield
    finally:
        done.set()
        clock.join()


def _watched() -> bool:
    return sys.stderr.isatty()
