"""Output beside the result: notes on stderr, and progress bars if stderr is a terminal."""

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
    """Yield a function to call with the number of steps done; None if stderr is no terminal.

    The bar appears after a second.
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
def waiting(doing: str) -> Iterator[Callable[[str], object]]:
    """Show `doing` and the time it takes on a terminal, after the first second.

    Yield a function that shows another text instead.
    """
    shown = [doing]

    def show_instead(text: str) -> None:
        shown[0] = text

    if not _watched():
        yield show_instead
        return
    from tqdm import tqdm

    done = threading.Event()

    def show() -> None:
        if done.wait(1):
            return
        with tqdm(bar_format="{desc} {elapsed}", desc=doing, leave=False, file=sys.stderr) as line:
            line.start_t -= 1
            while not done.wait(0.5):
                line.set_description_str(shown[0])

    clock = threading.Thread(target=show, daemon=True)
    clock.start()
    try:
        yield show_instead
    finally:
        done.set()
        clock.join()


def _watched() -> bool:
    return sys.stderr.isatty()
