"""What results depend on beside their settings: the command and the versions of the libraries in use."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["VERSION", "command", "recorded_command", "versions"]

VERSION = "0.2.0"

_LIBRARIES = (
    "causal-learn",
    "matplotlib",
    "networkx",
    "numba",
    "numpy",
    "pandas",
    "pgmpy",
    "scikit-learn",
    "scipy",
)

_arguments: ContextVar[tuple[str, ...] | None] = ContextVar("arguments", default=None)


@contextmanager
def recorded_command(arguments: Sequence[str]) -> Iterator[None]:
    """Record the arguments of ``cb-pgm`` while the program runs, for `command`."""
    before = _arguments.set(tuple(arguments))
    try:
        yield
    finally:
        _arguments.reset(before)


def command() -> str | None:
    """Return the ``cb-pgm`` command under way as one shell line; None when called from Python.

    The process's own arguments wouldn't do: they are those of any program that calls this package.
    """
    arguments = _arguments.get()
    return None if arguments is None else shlex.join(["cb-pgm", *arguments])


def versions() -> dict[str, str]:
    """Return the versions of Python, of this package and of the libraries in use."""
    from importlib.metadata import version  # late: a fifth of the time that `import cb_pgm` would take

    libraries = {library: version(library) for library in _LIBRARIES}
    return {"python": platform.python_version(), "cb-pgm": VERSION, **libraries}
