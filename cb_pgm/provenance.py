"""What results depend on beside their settings: the command and the versions of the libraries in use."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

__all__ = ["VERSION", "command", "commit", "recorded_command", "versions"]

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


def commit() -> str | None:
    """Return the git commit of this package's own repository; None if it isn't run from a checkout of it.

    git climbs: of an installed package it would find the repository in which the environment happens to be.
    So this file must be tracked, in a repository whose root is the one of this project.
    """
    git = shutil.which("git")
    root = Path(__file__).resolve().parent.parent
    if git is None:
        return None
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}

    def answer(*arguments: str) -> str:
        done = subprocess.run(
            [git, "-C", str(root), *arguments], capture_output=True, text=True, check=False, env=own
        )
        return done.stdout.strip()

    if (
        not answer("ls-files", "--", "cb_pgm/provenance.py")
        or Path(answer("rev-parse", "--show-toplevel")) != root
    ):
        return None
    return answer("rev-parse", "HEAD") or None
