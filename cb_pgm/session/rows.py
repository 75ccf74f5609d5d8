"""Check incoming rows field by field before any is recorded, and write recorded rows out again.

An error names the line and the column of the first field at fault.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import SessionError
from cb_pgm.session.events import Asked, Event, Rows, Told
from cb_pgm.session.settings import SessionSettings
from cb_pgm.session.state import OpenPull
from cb_pgm.session.texts import setting_text
from cb_pgm.tables import EXPORT_COLUMNS, SETTINGS_COLUMN
from discovery.table.column_names import check_names
from discovery.table.columns import ColumnBuilder, RawTable
from discovery.table.csv_reader import read_text
from discovery.table.numbers import as_number
from discovery.wording import listed, nearest, quoted

__all__ = ["RowSource", "check_rows", "digest_of", "exported_rows", "read_rows"]

#: A CSV file, or rows as mappings from column to value.
RowSource = str | os.PathLike[str] | Iterable[Mapping[str, object]]

_MISSING = "missing"  # the state of empty fields in a table read with missing="state"
_INTERVAL = re.compile(r"(?:below (?P<below>\S+)|(?P<low>\S+) to (?P<high>\S+)|(?P<above>\S+) and above)")


@dataclass(frozen=True, eq=False)
class GivenRows:
    """Rows as given: their columns, and the function that names the place of a row in the source."""

    table: RawTable
    place: Callable[[int], str]


@dataclass(frozen=True)
class _Fault:
    """An invalid field: its row, counted from 0, its column, and the parts of the error message."""

    row: int
    column: str
    expected: str
    found: str
    advice: str


def read_rows(source: RowSource) -> GivenRows:
    """Read a CSV file, or take rows as mappings.

    Raises
    ------
    SessionError
        If rows aren't mappings, or don't have the same keys in one order.
    TableError
        If a file isn't a table: it is unreadable, binary or ragged, or names a column twice.
    """
    if isinstance(source, str | os.PathLike):
        table = read_text(source)
        lines = table.lines
        return GivenRows(table, lambda row: f"data row {row + 1}" if lines is None else f"line {lines[row]}")
    return GivenRows(_from_mappings(source), lambda row: f"row {row + 1}")


def check_rows(
    given: GivenRows,
    settings: SessionSettings,
    pull: OpenPull,
    *,
    allow_noncompliance: bool = False,
    allow_unknown: bool = False,
) -> Rows:
    """Return the rows as codes, or refuse them at the first field that doesn't fit.

    Parameters
    ----------
    given
        At least one row, and at most as many as are left of the pull. Columns besides the variables and the
        reward are ignored.
    settings, pull
        The settings and the open pull that the rows must fit.
    allow_noncompliance
        Whether rows may have other states than the pull asked to set.
    allow_unknown
        Whether fields of variables that weren't set may be empty or hold an unknown state, with code −1.

    Raises
    ------
    SessionError
        If a column is missing, there are too many rows, or a field doesn't fit; the error names its line and
        column.
    """
    table = given.table if settings.decimal is None else given.table.with_mark(settings.decimal)
    _check_columns(table, settings)
    if not 1 <= table.n_rows <= pull.left:
        raise SessionError(
            f"Expected 1 to {pull.left} rows, as many as are left of {pull}, but found {table.n_rows} in "
            f"{table.source}: tell the rows of each pull separately"
        )
    faults: list[_Fault] = []
    codes = np.empty((table.n_rows, len(settings.states)), dtype=np.int16)
    complied = np.ones(table.n_rows, dtype=np.bool_)
    for position, (variable, states) in enumerate(settings.states.items()):
        wanted = pull.intervention.get(variable)
        unknown_is_fault = not allow_unknown or wanted is not None
        reader = _StateReader.of(settings, variable)
        codes[:, position] = _codes(table, variable, reader, faults if unknown_is_fault else None)
        if wanted is not None:
            held = codes[:, position] == states.index(wanted)
            complied &= held
            if not allow_noncompliance and not held.all():
                row = int(np.argmin(held))
                found = quoted(_text(table, variable, row))
                expected = f"{variable} = {wanted}, as {pull} asked"
                faults.append(_Fault(row, variable, expected, found, _NONCOMPLIANCE))
    fields = _fields(table, settings, faults)
    if faults:
        fault = min(faults, key=lambda fault: fault.row)
        raise SessionError(
            f"Expected {fault.expected} but found {fault.found} in {given.place(fault.row)}, column "
            f"{quoted(fault.column)} of {table.source}: {fault.advice}"
        )
    return Rows(codes, fields, complied)


def digest_of(given: GivenRows, checked: Rows, settings: SessionSettings) -> str:
    """Return the SHA-256 hash of rows, in hexadecimal.

    It is the same for a CSV file and for mappings, and whichever way a state or a reward is written. Columns
    that a session ignores count, since a patient's number tells equal rows apart.
    """
    table = given.table
    ignored = sorted(set(table.columns) - {*settings.states, settings.reward.column})
    others = [(name, [_text(table, name, row) for row in range(table.n_rows)]) for name in ignored]
    parts = checked.codes.tobytes(), checked.fields.tobytes(), repr(others).encode("utf-8", "surrogatepass")
    return sha256(b"".join(parts)).hexdigest()


def exported_rows(settings: SessionSettings, events: Iterable[tuple[Event, str]]) -> Iterator[list[str]]:
    """Yield a header, then each recorded row, in the order in which the rows were told.

    The columns are: pull, the number of the pull; asked, the intervention asked for; set, the variable that
    was set (empty if none or several were, or if another intervention was made than asked for); told_at, the
    time in UTC at which the row was told; session, in the first row, what `Exported` has; every variable; the
    reward column. If a variable is called like one of the first five columns, that column gets a "_" at its
    end.
    """
    columns = [*settings.states, settings.reward.column]
    names = (*EXPORT_COLUMNS, SETTINGS_COLUMN)
    yield [*(f"{name}_" if name in columns else name for name in names), *columns]
    about = json.dumps(vars(settings.exported), ensure_ascii=False)
    every = list(settings.states.values())
    asked: dict[int, Asked] = {}
    for event, at in events:
        match event:
            case Asked(int(number)):
                asked[number] = event
            case Told(pull, rows):
                intervention = asked[pull].intervention
                setting = setting_text(intervention)
                for codes, field, complied in zip(rows.codes, rows.fields, rows.complied, strict=True):
                    done = next(iter(intervention), "") if complied and len(intervention) == 1 else ""
                    values = [
                        states[code] if code >= 0 else "" for states, code in zip(every, codes, strict=True)
                    ]
                    yield [str(pull), setting, done, at, about, *values, settings.reward.text(float(field))]
                    about = ""


_CORRECT = "correct the field"
_LATER = "leave the row out until its reward is known: it can be told later"
_UNKNOWN = (
    "correct the field; or add the state, if nature has produced a new one (session add-state), or tell "
    "the row with the field unknown (--allow-unknown), if the policy can use such rows"
)
_NONCOMPLIANCE = "correct the row, or add --allow-noncompliance if the policy can use such rows"


def _check_columns(table: RawTable, settings: SessionSettings) -> None:
    for name in (*settings.states, settings.reward.column):
        if name not in table.columns:
            near = nearest(name, table.names)
            advice = "add it" if near is None else f"did you mean {quoted(near)}?"
            raise SessionError(
                f"Expected every variable and the reward as columns but found no {quoted(name)} in the "
                f"header of {table.source}: {advice}"
            )


@dataclass(frozen=True)
class _StateReader:
    """The states of a column, and the other names by which its fields may mean them."""

    states: tuple[str, ...]
    merged: Mapping[str, str]
    na: tuple[str, ...]

    @classmethod
    def of(cls, settings: SessionSettings, variable: str) -> _StateReader:
        return cls(settings.states[variable], settings.merged.get(variable, {}), settings.na)

    def code(self, text: str, number: float) -> int:
        """Return the index of a state by its name, of an interval by a number in it; −1 if there is none.

        A state that was merged into another means that one.
        """
        if text in self.states:
            return self.states.index(text)
        if text == "" or text in self.na:
            return self.states.index(_MISSING) if _MISSING in self.states else -1
        for name in (*self.states, *self.merged):
            low, high = _interval(name)
            if text == name or low <= number < high or number == as_number(name):
                return self.states.index(self.merged.get(name, name))
        return -1


def _codes(
    table: RawTable,
    variable: str,
    reader: _StateReader,
    faults: list[_Fault] | None,
) -> NDArray[np.int16]:
    """Return the codes of a column; −1 for an unknown state, of which the first is a fault."""
    column = table.columns[variable]
    code_of = [reader.code(text, number) for text, number in zip(column.texts, column.values, strict=True)]
    codes = np.array(code_of, dtype=np.int16)[column.codes]
    if faults is not None and (codes < 0).any():
        row = int(np.argmax(codes < 0))
        text = column.texts[column.codes[row]]
        expected = f"the state {listed(reader.states, last='or')}"
        faults.append(_Fault(row, variable, expected, quoted(text) if text else "nothing", _UNKNOWN))
    return codes


def _interval(state: str) -> tuple[float, float]:
    """Return the ends of "below 2", "2 to 3.5" or "3.5 and above"; for other states an empty interval."""
    match = _INTERVAL.fullmatch(state)
    ends = {} if match is None else match.groupdict()
    numbers = {end: as_number(text) for end, text in ends.items() if text is not None}
    if not numbers or None in numbers.values():
        return math.inf, -math.inf
    low = numbers.get("low", numbers.get("above"))
    high = numbers.get("high", numbers.get("below"))
    return -math.inf if low is None else low, math.inf if high is None else high


def _fields(table: RawTable, settings: SessionSettings, faults: list[_Fault]) -> NDArray[np.float64]:
    reward = settings.reward
    if reward.state is not None:
        found: list[_Fault] = []
        codes = _codes(table, reward.column, _StateReader(reward.states, {}, ()), found)
        for fault in found:
            text = _text(table, reward.column, fault.row)
            faults.append(replace(fault, advice=_reward_advice(text, settings.na)))
        return codes.astype(np.float64)
    fields = np.zeros(table.n_rows)
    low, high = reward.limits
    column = table.columns[reward.column]
    for row in range(table.n_rows):
        text = _text(table, reward.column, row)
        number = float(column.values[column.codes[row]])
        if math.isnan(number):
            advice = _reward_advice(text, settings.na)
            faults.append(
                _Fault(
                    row, reward.column, "a number as the reward", quoted(text) if text else "nothing", advice
                )
            )
            break
        if not low <= number <= high:
            expected = f"a reward from {low:g} to {high:g}, the reward range of the session"
            faults.append(_Fault(row, reward.column, expected, text, _CORRECT))
            break
        fields[row] = number
    return fields


def _reward_advice(text: str, na: Collection[str]) -> str:
    return _LATER if text == "" or text in na else _CORRECT


def _text(table: RawTable, name: str, row: int) -> str:
    column = table.columns[name]
    return column.texts[int(column.codes[row])]


def _from_mappings(rows: Iterable[Mapping[str, object]]) -> RawTable:
    """Return a table of the rows' values as text; None is an empty field."""
    given = list(rows)
    if not all(isinstance(row, Mapping) for row in given):
        raise SessionError(
            "Expected a CSV file or rows as mappings from column to value but found rows of another type: "
            "pass dictionaries"
        )
    names = tuple(str(name) for name in given[0]) if given else ()
    source = "the rows given"
    check_names(names, (), source)
    builders = {name: ColumnBuilder() for name in names}
    for number, row in enumerate(given, start=1):
        if tuple(map(str, row)) != names:
            raise SessionError(
                f"Expected the same columns in every row but found {', '.join(map(str, row))} in row "
                f"{number} of {source}: give all columns in one order"
            )
    for name in names:
        builders[name].add(("" if row[name] is None else str(row[name]) for row in given), len(given))
    columns = {name: builder.column() for name, builder in builders.items()}
    return RawTable(names, columns, len(given), "", source, decimal=".")
