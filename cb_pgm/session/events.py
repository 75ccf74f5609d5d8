"""The events of a session, and the records of plain values and bytes in which its file keeps them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cb_pgm.decoding import decoded
from cb_pgm.model.intervention import Intervention, States
from discovery.documents import json_content

__all__ = [
    "AddedState",
    "Asked",
    "Earlier",
    "Event",
    "Rows",
    "Told",
    "Withdrawn",
    "from_record",
    "to_record",
]

_OBSERVATION = Intervention()


@dataclass(frozen=True, eq=False)
class Rows:
    """Measured rows: m rows of n variables.

    Attributes
    ----------
    codes
        int16 [m, n]: the index of each variable's state; −1 where it is unknown.
    fields
        float64 [m]: the fields of the reward column (`RewardColumn`).
    complied
        Bool [m]: whether the row has the states that were asked for.
    """

    codes: NDArray[np.int16]
    fields: NDArray[np.float64]
    complied: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.fields)


@dataclass(frozen=True, eq=False)
class Earlier:
    """Rows from before the session, measured under one intervention."""

    intervention: Intervention
    rows: Rows


@dataclass(frozen=True)
class Asked:
    """The policy was asked, and wants pull number `pull`: `size` rows, for the reason `why`.

    `pull` is None if the policy waits for rows of the open pulls.
    """

    pull: int | None
    intervention: Intervention = _OBSERVATION
    size: int = 0
    why: str = ""


@dataclass(frozen=True, eq=False)
class Told:
    """Rows of a pull were told; `closes` ends the pull, and `digest` is the hash of a file's rows."""

    pull: int
    rows: Rows
    closes: bool
    digest: str


@dataclass(frozen=True)
class Withdrawn:
    """The rest of a pull is not measured; with `excluded` its arm can't be carried out at all."""

    pull: int
    reason: str
    excluded: bool


@dataclass(frozen=True)
class AddedState:
    """A variable has a further state, which nature produced and nobody can set."""

    variable: str
    state: str


@dataclass(frozen=True)
class Changed:
    """A setting has another value from now on: the horizon, the range of a numeric reward, or both."""

    horizon: int | None = None
    reward_range: tuple[float, float] | None = None


Event = Earlier | Asked | Told | Withdrawn | AddedState | Changed


#: An event as a row of a table: kind, pull, intervention, size, note, flag, codes, fields, complied.
Record = tuple[Any, ...]


def to_record(event: Event) -> Record:
    """Return the record of an event."""
    match event:
        case Earlier(intervention, rows):
            return "earlier", None, _text(intervention), len(rows), None, None, *_blobs(rows)
        case Asked(pull, intervention, size, why):
            return "asked", pull, _text(intervention), size, why, None, None, None, None
        case Told(pull, rows, closes, digest):
            return "told", pull, None, len(rows), digest, int(closes), *_blobs(rows)
        case Withdrawn(pull, reason, excluded):
            return "withdrawn", pull, None, None, reason, int(excluded), None, None, None
        case AddedState(variable, state):
            return "state", None, _text(Intervention({variable: state})), None, None, None, None, None, None
        case Changed():
            return "changed", None, None, None, json.dumps(vars(event)), None, None, None, None


def from_record(record: Record, states: States) -> Event:
    """Return the event of a record.

    Parameters
    ----------
    record
        A record made by `to_record`.
    states
        The states of each variable, to which everything in the record must keep.

    Raises
    ------
    ValueError
        If the record is damaged.
    """
    match record:
        case "earlier", _, str(arm), _, _, _, *blobs:
            return Earlier(_intervention(arm, states), _rows(blobs, states))
        case "asked", None, *_:
            return Asked(None)
        case "asked", int(pull), str(arm), int(size), str(why), *_:
            return Asked(pull, _intervention(arm, states), size, why)
        case "told", int(pull), _, _, str(digest), int(closes), *blobs:
            return Told(pull, _rows(blobs, states), bool(closes), digest)
        case "withdrawn", int(pull), _, _, str(reason), int(excluded), *_:
            return Withdrawn(pull, reason, bool(excluded))
        case "state", _, str(arm), *_:
            ((variable, state),) = decoded(dict[str, str], json_content(arm)).items()
            if variable not in states or state in states[variable]:
                raise ValueError(f"{state!r} can't be a new state of {variable!r}")
            return AddedState(variable, state)
        case "changed", _, _, _, str(changes), *_:
            return decoded(Changed, json_content(changes))
    raise ValueError(f"no event is {str(record[:6])[:60]}")


def _text(intervention: Intervention) -> str:
    return json.dumps(dict(intervention), ensure_ascii=False)


def _intervention(text: str, states: States) -> Intervention:
    content = decoded(dict[str, str], json_content(text))
    for variable, state in content.items():
        if state not in states.get(variable, ()):
            raise ValueError(f"{variable!r} has no state {state!r}")
    return Intervention(content)


def _blobs(rows: Rows) -> tuple[bytes, bytes, bytes]:
    codes = np.ascontiguousarray(rows.codes, dtype="<i2").tobytes()
    # Nothing is kept if all rows complied, which is the rule.
    complied = b"" if rows.complied.all() else rows.complied.astype(np.uint8).tobytes()
    return codes, rows.fields.astype("<f8").tobytes(), complied


def _rows(blobs: Sequence[Any], states: States) -> Rows:
    """Return rows from their bytes, whose number alone says how many they are."""
    if not all(isinstance(blob, bytes) for blob in blobs):
        raise ValueError("rows that aren't bytes")
    fields = np.frombuffer(blobs[1], dtype="<f8").astype(np.float64)
    codes = np.frombuffer(blobs[0], dtype="<i2").astype(np.int16).reshape(len(fields), len(states))
    complied = np.frombuffer(blobs[2], dtype=np.uint8).astype(np.bool_)
    if not len(complied):
        complied = np.ones(len(fields), dtype=np.bool_)
    if len(complied) != len(fields) or not np.isfinite(fields).all():
        raise ValueError("rewards that don't fit")
    if not ((codes >= -1).all() and (codes < [len(values) for values in states.values()]).all()):
        raise ValueError("states that don't exist")
    return Rows(codes, fields, complied)
