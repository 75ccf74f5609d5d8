"""Snapshots: a long log in one block, which is read many times faster than event by event.

A snapshot holds nothing that isn't in the log. It is kept with the number and the hash of its last event, and
ignored if these don't fit the log. The policy itself can't be kept, since it has generators in the middle of
a search; it is rebuilt from the events of the snapshot.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import SessionError
from cb_pgm.model.intervention import Intervention
from cb_pgm.session.events import AddedState, Asked, Earlier, Event, Rows, Told, Withdrawn

__all__ = ["pack", "unpack"]

_KINDS = (Earlier, Asked, Told, Withdrawn, AddedState)


def pack(events: Sequence[Event], n_variables: int) -> bytes:
    """Return events as one block of bytes, without the reasons of finished pulls."""
    open_pulls = _open_pulls(events)
    arms: dict[Intervention, int] = {}
    table = np.zeros((len(events), 5), dtype=np.int32)  # kind, pull (0: none), arm, size, flag
    notes: dict[int, str] = {}
    rows: list[Rows] = []
    for number, event in enumerate(events):
        pull = 0 if isinstance(event, Earlier | AddedState) else event.pull or 0
        arm, size, flag, note = 0, 0, 0, ""
        match event:
            case Earlier(intervention, some):
                arm, size = arms.setdefault(intervention, len(arms)), len(some)
                rows.append(some)
            case Asked(_, intervention, size, note):
                arm = arms.setdefault(intervention, len(arms))
            case Told(_, some, closes, note):
                size, flag = len(some), int(closes)
                rows.append(some)
            case Withdrawn(_, _, excluded):
                flag = int(excluded)
            case AddedState(variable, state):
                arm = arms.setdefault(Intervention({variable: state}), len(arms))
        table[number] = _KINDS.index(type(event)), pull, arm, size, flag
        if pull in open_pulls or isinstance(event, Told):  # by a digest, rows told twice are noticed
            notes[number] = note
    texts = json.dumps([[dict(arm) for arm in arms], notes]).encode()
    content = io.BytesIO()
    np.savez(
        content,
        table=table,
        texts=np.frombuffer(texts, dtype=np.uint8),
        codes=np.concatenate([np.zeros((0, n_variables), dtype=np.int16), *(some.codes for some in rows)]),
        fields=np.concatenate([np.zeros(0), *(some.fields for some in rows)]),
        complied=np.concatenate([np.zeros(0, dtype=np.bool_), *(some.complied for some in rows)]),
    )
    return content.getvalue()


def unpack(content: bytes, n_states: NDArray[np.int64]) -> Iterator[Event]:
    """Yield the events of a block made by `pack`; `n_states`, int64 [n], bounds the codes.

    Raises
    ------
    SessionError
        If the block is damaged.
    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            table = arrays["table"].tolist()
            known, notes = json.loads(arrays["texts"].tobytes())
            codes = np.ascontiguousarray(arrays["codes"], dtype=np.int16)
            fields, complied = arrays["fields"], arrays["complied"]
        arms = [Intervention(arm) for arm in known]
        most = n_states + sum(kind == 4 for kind, *_ in table)  # every added state may be of any variable
        if len(codes) and not ((codes >= -1).all() and (codes < most).all()):
            raise SessionError("Expected known states in a snapshot but found unknown ones: restore the file")
        begin = 0
        for number, (kind, pull, arm, size, flag) in enumerate(table):
            note = notes.get(str(number), "")
            if kind == 1:
                yield Asked(pull or None, arms[arm], size, note)
            elif kind == 4:
                ((variable, state),) = arms[arm].items()
                yield AddedState(variable, state)
            elif kind == 3:
                yield Withdrawn(pull, note, bool(flag))
            else:
                end = begin + size
                rows = Rows(codes[begin:end], fields[begin:end], complied[begin:end])
                begin = end
                yield Told(pull, rows, bool(flag), note) if kind == 2 else Earlier(arms[arm], rows)
    except (KeyError, IndexError, ValueError, TypeError, zipfile.BadZipFile) as error:
        raise SessionError(
            f"Expected a snapshot but found a damaged one ({error}): restore the file"
        ) from error


def _open_pulls(events: Iterable[Event]) -> set[int]:
    left: dict[int, int] = {}
    for event in events:
        match event:
            case Asked(int(pull), _, size):
                left[pull] = size
            case Told(pull, rows, closes):
                left[pull] = 0 if closes else left[pull] - len(rows)
            case Withdrawn(pull):
                left[pull] = 0
    return {pull for pull, size in left.items() if size > 0}
