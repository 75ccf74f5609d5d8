"""What an export says of its session, so that it comes back without flags.

It stands as JSON in the export's column "session", in the first row alone, wherever that is sorted to.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cb_pgm.decoding import decoded
from cb_pgm.errors import SessionError
from cb_pgm.tables import EXPORT_COLUMNS, SETTINGS_COLUMN
from discovery.documents import json_content

__all__ = ["Exported", "exported"]

_HEADER = (*EXPORT_COLUMNS, SETTINGS_COLUMN)
_SEPARATORS = ",;\t"


@dataclass(frozen=True)
class Exported:
    """The settings of a session that its export keeps.

    Attributes
    ----------
    reward, minimize, reward_range, unit
        As in `Setup`; the range is None where there is no limit.
    states, settable
        The states of each variable, and those that can be set: also ones that no row shows.
    """

    reward: str
    minimize: bool = False
    reward_range: tuple[float, float] | None = None
    unit: str = "rows"
    states: dict[str, tuple[str, ...]] = field(default_factory=dict)
    settable: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def not_settable(self) -> tuple[str, ...]:
        """The variables that can't be set."""
        return tuple(name for name in self.states if name not in self.settable)


def exported(source: Any) -> Exported | None:
    """Return what an export says of its session; None for any other table, and where that row was taken out.

    Raises
    ------
    SessionError
        If it says something else.
    """
    if not isinstance(source, str | os.PathLike) or not os.path.isfile(source):
        return None
    with open(source, newline="", encoding="utf-8-sig", errors="replace") as file:
        header = file.readline()
        marks = [mark for mark in _SEPARATORS if mark in header]
        names = next(csv.reader([header], delimiter=marks[0] if marks else ","), [])
        if tuple(name.removesuffix("_") for name in names[: len(_HEADER)]) != _HEADER:
            return None
        place = len(EXPORT_COLUMNS)
        rows = csv.reader(file, delimiter=marks[0])
        text = next((row[place] for row in rows if len(row) > place and row[place].strip()), None)
    try:
        return None if text is None else decoded(Exported, json_content(text))
    except ValueError as error:
        raise SessionError(
            f"Expected what a session's export says of it in the column {names[place]!r} of "
            f"{os.fspath(source)!r} but found something else ({error}): restore it, or empty the column and "
            f"give flags"
        ) from None
