"""Runs the commands of README.md and compares what they print with what it shows.

    python scripts/readme_examples.py            name what differs
    python scripts/readme_examples.py --write    put what is printed into README.md, where it differs

An example is an indented line that begins with "$ ", with what it prints below it, up to the end of the block
or to the next "$ ". A command that ends in a backslash goes on in the next line. "…" in what is shown stands
for any text within a line, and a line of nothing else for any lines. `cat FILE` writes the file. Commands run
in a new folder that has `data` in it. The section on sessions is left to the test of its own
(tests/cb_pgm/session/test_walkthrough.py), since its rows come from outside.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from cb_pgm.cli import main as cb_pgm

__all__ = ["Example", "agrees", "examples", "prepare", "printed", "rewritten"]

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
SESSION = "## A real experiment"
INDENT = "    "


@dataclass(frozen=True)
class Example:
    """A command, what README shows below it, and where: the lines from `start` up to `end`."""

    command: str
    shown: tuple[str, ...]
    start: int
    end: int


def examples(text: str) -> Iterator[Example]:
    """Yield all examples outside the section of the session, in their order."""
    lines = text.splitlines()
    inside = True
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if line.startswith("## "):
            inside = line != SESSION
        if not (inside and line.startswith(f"{INDENT}$ ")):
            continue
        command = line.removeprefix(f"{INDENT}$ ")
        while command.endswith("\\"):
            command = f"{command[:-1].rstrip()} {lines[number].strip()}"
            number += 1
        start = number
        while number < len(lines) and _is_shown(lines[number]):
            number += 1
        end = number
        while end > start and not lines[end - 1]:
            end -= 1
        shown = tuple(line.removeprefix(INDENT) for line in lines[start:end])
        yield Example(command, shown, start, end)


def printed(example: Example) -> tuple[str, ...]:
    """Run the command where we are, and return the lines that it prints, errors and warnings among them."""
    program, *arguments = shlex.split(example.command)
    if program == "cat":
        Path(arguments[0]).write_text("\n".join(example.shown) + "\n", encoding="utf-8")
        return example.shown
    if program != "cb-pgm":
        raise ValueError(f"Expected cb-pgm or cat in README.md but found {example.command!r}")
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        cb_pgm(arguments)
    return tuple(line.rstrip() for line in output.getvalue().rstrip().splitlines())


def agrees(shown: tuple[str, ...], found: tuple[str, ...]) -> bool:
    """Return whether what is shown is what was found, its "…" standing for anything."""
    pattern = "\n".join(r"(?s:.*)" if line == "…" else re.escape(line) for line in shown)
    return re.fullmatch(pattern.replace("…", ".*"), "\n".join(found)) is not None


def prepare(folder: Path) -> None:
    """Put the bundled tables where the commands look for them."""
    os.symlink(ROOT / "data", folder / "data")


def rewritten(text: str) -> str:
    """Return README's text with what its commands print; examples that agree stay as they are."""
    lines = text.splitlines()
    outputs = [(example, printed(example)) for example in examples(text)]
    for example, found in reversed(outputs):
        if not agrees(example.shown, found):
            lines[example.start : example.end] = [f"{INDENT}{line}".rstrip() for line in found]
    return "\n".join(lines) + "\n"


def _is_shown(line: str) -> bool:
    return not line or (line.startswith(INDENT) and not line.startswith(f"{INDENT}$ "))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write what is printed into README.md")
    options = parser.parse_args()
    text = README.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        prepare(Path(folder))
        if options.write:
            README.write_text(rewritten(text), encoding="utf-8")
            return 0
        outputs = [(example, printed(example)) for example in examples(text)]
    different = [(example, found) for example, found in outputs if not agrees(example.shown, found)]
    for example, found in different:
        sys.stdout.write("\n".join((f"README.md:{example.start}: {example.command}", *found, "")))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
