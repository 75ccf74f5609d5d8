"""Check the names of a table's columns, and that the columns named in settings exist."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from discovery.table.problems import Problem, raise_problems
from discovery.wording import no_column, quoted

__all__ = ["check_names", "name_problems", "no_name"]


def check_names(names: Sequence[str], ignore: Collection[str], source: str) -> None:
    """Check that every column has a name, that names differ, and that the columns to leave out exist.

    Raises
    ------
    TableError
        If they don't; the message names the columns at fault.
    """
    unnamed = [no_name(position, len(names)) for position, name in enumerate(names, 1) if not name]
    raise_problems([*unnamed, *name_problems(names, ignore, source)], source)


def name_problems(names: Sequence[str], ignore: Collection[str], source: str) -> list[Problem]:
    """Return the names that occur twice, and the columns to leave out that don't exist."""
    problems = []
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if name and name in seen:
            problems.append(
                Problem(
                    "each column name once",
                    f"{quoted(name)} for columns {seen[name]} and {position} in the header",
                    "rename one",
                )
            )
        seen.setdefault(name, position)
    for name in ignore:
        if name not in seen or not name:
            found, _, hint = no_column(name, names, source).rpartition(f" in {source}: ")
            problems.append(Problem("columns to ignore that exist", found, f"{hint} (--ignore)"))
    return problems


def no_name(position: int, n_columns: int) -> Problem:
    """Return the problem of a column without a name, the position counted from 1."""
    return Problem(
        "a name for every column",
        f"none for column {position} of {n_columns} in the header",
        "name it, or remove it if it holds row numbers or nothing",
    )
