"""What keeps a table from being used, collected so that one message says all of it and what to type."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from discovery.errors import TableError

__all__ = ["Problem", "flags_of", "raise_problems"]

_MOST_LINES = 20


@dataclass(frozen=True)
class Problem:
    """One thing that a person has to decide.

    Attributes
    ----------
    expected, found, advice
        The parts of the message; `found` is followed by the table's name.
    flags
        What would solve it on the command line: pairs of a flag and a value.
    choices
        All flags that would, in a few words, for a message about several problems; `advice` if it is empty.
    """

    expected: str
    found: str
    advice: str
    flags: tuple[tuple[str, str], ...] = ()
    choices: str = ""


def flags_of(problems: Sequence[Problem]) -> str:
    """Return the flags that solve the problems, each once, as they are typed.

    Examples
    --------
    >>> twice = [Problem("", "", "", (("--ignore", name), ("--bins", "3"))) for name in ("a b", "c")]
    >>> flags_of(twice)
    "--ignore 'a b' c --bins 3"
    """
    values: dict[str, dict[str, None]] = {}
    for problem in problems:
        for flag, value in problem.flags:
            values.setdefault(flag, {})[value] = None
    return " ".join(f"{flag} {shlex.join(given)}" for flag, given in values.items())


def raise_problems(problems: Sequence[Problem], source: str) -> None:
    """Raise what was found, if anything: one problem in one line, several in a line each below a summary.

    Raises
    ------
    TableError
        If there are problems.
    """
    if not problems:
        return
    if len(problems) == 1:
        (only,) = problems
        raise TableError(f"Expected {only.expected} but found {only.found} in {source}: {only.advice}")
    flags = flags_of(problems)
    lines = [
        f"Expected a table that can be used as it is but found {len(problems)} problems in {source}: "
        + (f"decide on each, or add {flags}" if flags else "mend each")
    ]
    lines += [f"  {problem.found}: {problem.choices or problem.advice}" for problem in problems[:_MOST_LINES]]
    if len(problems) > _MOST_LINES:
        lines.append(f"  and {len(problems) - _MOST_LINES} more")
    raise TableError("\n".join(lines))
