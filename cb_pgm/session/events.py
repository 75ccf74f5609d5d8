"""The events of a session, and the records of plain values and bytes in which they are kept."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import SessionError
from cb_pgm.model.intervention import Intervention

__all__ = [
    "AddedState",
    "Asked",
    "Earlier",
    "Event",
    "Record",
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
    """Rows of a pull were told; `closes` ends the pull, and `digest` is the hash of the rows' source."""

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


Event = Earlier | Asked | Told | Withdrawn | AddedState


class Record(NamedTuple):
    """An event as the file keeps it: the columns of its table, except number, time and chain."""

    kind: str
    pull: int | None = None
    intervention: str | None = None
    size: int | None = None
    note: str | None = None
    flag: int | None = None
    codes: bytes | None = None
    fields: bytes | None = None
    complied: bytes | None = None

    def chained(self, previous: bytes, at: str) -> bytes:
        """Return the hash of this record, its time `at`, and the hash of all records before it."""
        blobs = [blob or b"" for blob in self[6:]]
        head = repr((self[:6], at, [len(blob) for blob in blobs])).encode("utf-8", "surrogatepass")
        return sha256(b"".join((previous, head, *blobs))).digest()


def to_record(event: Event) -> Record:
    """Return the record of an event."""
    match event:
        case Earlier(intervention, rows):
            return Record("earlier", None, _text(intervention), len(rows), None, None, *_blobs(rows))
        case Asked(pull, intervention, size, why):
            return Record("asked", pull, _text(intervention), size, why)
        case Told(pull, rows, closes, digest):
            return Record("told", pull, None, len(rows), digest, int(closes), *_blobs(rows))
        case Withdrawn(pull, reason, excluded):
            return Record("withdrawn", pull, note=reason, flag=int(excluded))
        case AddedState(variable, state):
            return Record("state", intervention=_text(Intervention({variable: state})))


def from_record(record: Record, n_states: NDArray[np.int64]) -> Event:
    """Return the event of a record.

    Parameters
    ----------
    record
        A record made by `to_record`.
    n_states
        int64 [n]: the number of states of each variable, which bounds the codes.

    Raises
    ------
    SessionError
        If the record is damaged.
    """
    try:
        match record.kind:
            case "earlier":
                return Earlier(_intervention(record), _rows(record, n_states))
            case "asked":
                return Asked(record.pull, _intervention(record), int(record.size or 0), record.note or "")
            case "told" if record.pull is not None:
                rows = _rows(record, n_states)
                return Told(record.pull, rows, bool(record.flag), record.note or "")
            case "withdrawn" if record.pull is not None:
                return Withdrawn(record.pull, record.note or "", bool(record.flag))
            case "state":
                ((variable, state),) = _intervention(record).items()
                return AddedState(variable, state)
    except (TypeError, ValueError, AttributeError) as error:
        raise SessionError(f"Expected an event but found a damaged one ({error}): restore the file") from None
    raise SessionError(f"Expected an event but found one of kind {record.kind!r}: restore the file")


def _text(intervention: Intervention) -> str:
    return json.dumps(dict(intervention), ensure_ascii=False)


def _intervention(record: Record) -> Intervention:
    return Intervention(json.loads(record.intervention or "{}"))


def _blobs(rows: Rows) -> tuple[bytes, bytes, bytes]:
    codes = np.ascontiguousarray(rows.codes, dtype="<i2").tobytes()
    # Nothing is kept if all rows complied, which is the rule.
    complied = b"" if rows.complied.all() else rows.complied.astype(np.uint8).tobytes()
    return codes, rows.fields.astype("<f8").tobytes(), complied


def _rows(record: Record, n_states: NDArray[np.int64]) -> Rows:
    size = int(record.size or 0)
    codes = np.frombuffer(record.codes or b"", dtype="<i2").astype(np.int16).reshape(size, len(n_states))
    fields = np.frombuffer(record.fields or b"", dtype="<f8").astype(np.float64)
    complied = np.frombuffer(record.complied or b"\1" * size, dtype=np.uint8).astype(np.bool_)
    if len(fields) != size or len(complied) != size or not np.isfinite(fields).all():
        raise ValueError("rewards that don't fit")
    if size and not ((codes >= -1).all() and (codes < n_states).all()):
        raise ValueError("states that don't exist")
    return Rows(codes, fields, complied)
