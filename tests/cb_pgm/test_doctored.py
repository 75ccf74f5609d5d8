"""Folders that somebody has doctored are read, or refused in one line; they run no code."""

import subprocess
import sys

import doctored
import pytest


@pytest.mark.parametrize("kind", ["session", "study", "run"])
@pytest.mark.parametrize("ways", [4, pytest.param(200, marks=pytest.mark.slow)])
def test_each_way_ends_in_one_line(kind: str, ways: int) -> None:
    # In a process of its own: the script forks, and this process may have threads that hold locks.
    arguments = ["--only", kind, "--ways", str(ways)]
    done = subprocess.run([sys.executable, doctored.__file__, *arguments], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{kind}: 0 of {ways} ways with a fault\n"), done.stderr
