"""`Session`: a policy against the real world, that can be stopped and gone on with at any time."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from cb_pgm.errors import SessionError
from cb_pgm.model.intervention import Intervention
from cb_pgm.session.events import Told, Withdrawn, to_record
from cb_pgm.session.rows import RowSource, check_rows, exported_rows, read_rows
from cb_pgm.session.settings import SessionSettings
from cb_pgm.session.state import OpenPull, SessionState
from cb_pgm.session.status import Status, status_of
from cb_pgm.session.storage.log import Log
from cb_pgm.session.storage.store import FILE_NAME, Store
from cb_pgm.wording import listed

if TYPE_CHECKING:
    from cb_pgm.session.setup import Beginning

__all__ = ["Receipt", "Session"]


@dataclass(frozen=True)
class Receipt:
    """What was recorded of rows told.

    Attributes
    ----------
    pull
        Its number.
    rows, noncompliant
        Rows taken in; those among them in which something else was done than asked.
    left
        Rows of the pull that are still to be told; 0 when it is finished.
    """

    pull: int
    rows: int
    noncompliant: int
    left: int


class Session:
    """A session: `start` it or `open` it, then `ask`, do what it says, and `tell` what came of it.

    Each verb is one transaction, refused as a whole or kept for good. Several processes may have the same
    session open; one that finds it in use waits, then is refused with `SessionBusyError`.

    Parameters
    ----------
    folder, timeout
        Its folder; seconds to wait for another process. Use `start` or `open`.

    Examples
    --------
    >>> import tempfile
    >>> states = {"drug": ["low", "high"], "diet": ["none", "strict"], "recovered": ["no", "yes"]}
    >>> folder = tempfile.mkdtemp()
    >>> with Session.start(folder, states=states, reward="recovered=yes", horizon=100, seed=1) as session:
    ...     (pull,) = session.ask(batch=2)
    ...     rows = [{**pull.intervention, "diet": "none", "recovered": answer} for answer in ("yes", "no")]
    ...     receipt = session.tell(rows)
    >>> str(pull.intervention), receipt.rows, receipt.left
    ('do(drug = low)', 2, 0)
    """

    def __init__(self, folder: str | os.PathLike[str], timeout: float = 10.0) -> None:
        self.folder = Path(folder)
        self._store = Store(self.folder, timeout)
        self._log = Log(self._store)

    @classmethod
    def start(cls, folder: str | os.PathLike[str], *, timeout: float = 10.0, **setup: Any) -> Self:
        """Start a session in a folder, which is made if need be; keywords as in `Setup`.

        Raises
        ------
        SessionError
            If the folder holds a session already, or a setting isn't what it must be.
        DiscoveryError
            If the table isn't what it must be, or its graph can't be estimated.
        OSError
            If the folder can't be made.
        """
        # Reading tables brings pandas and the searches, which a session under way does without.
        from cb_pgm.session.beginning import prepare
        from cb_pgm.session.setup import Setup

        cls.check_new(folder)  # before what may take a while
        return cls.begin(folder, prepare(Setup(**setup)), timeout=timeout)

    @classmethod
    def begin(cls, folder: str | os.PathLike[str], beginning: Beginning, *, timeout: float = 10.0) -> Self:
        """Start a session from what `prepare` returned."""
        cls.check_new(folder)
        Path(folder).mkdir(parents=True, exist_ok=True)
        session = cls(folder, timeout)
        with session._store.writing():
            position = session._store.create(beginning.settings.to_json())
            for earlier in beginning.earlier:
                position = session._store.append(to_record(earlier), position)
        return session

    @staticmethod
    def check_new(folder: str | os.PathLike[str]) -> None:
        """Refuse a folder with SessionError where a session can't be started."""
        if (Path(folder) / FILE_NAME).exists():
            store = Store(Path(folder))
            with store.reading():
                store.check_new()
            store.close()

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, timeout: float = 10.0) -> Self:
        """Go on with a session.

        Raises
        ------
        SessionError
            If the folder holds none, or one that a newer version wrote or that is damaged.
        """
        if not (Path(folder) / FILE_NAME).is_file():
            raise SessionError(f"Expected a session but found none in {os.fspath(folder)!r}: start one there")
        session = cls(folder, timeout)
        with session._log.reading():  # refuses here what can't be gone on with
            return session

    def close(self) -> None:
        """Let go of the file; nothing is lost without it."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def settings(self) -> SessionSettings:
        """What the session was started with."""
        with self._log.reading() as state:
            return state.settings

    # -- the verbs -------------------------------------------------------------------------------------------

    def ask(self, *, batch: int = 1, pending: int = 1) -> tuple[OpenPull, ...]:
        """Return the open pulls, oldest first, after asking for more until `pending` are open.

        Until one of them is told or withdrawn the answer stays the same.

        Parameters
        ----------
        batch
            The fewest rows of a pull.
        pending
            How many pulls may be open at once. There may be fewer: where what comes next depends on those
            that are open, and at the end.

        Returns
        -------
        tuple of OpenPull
            Empty when the session is over (`Status.over`).
        """
        if batch < 1 or pending < 1:
            raise SessionError(f"Expected batch and pending of at least 1 but found {batch} and {pending}")
        with self._log.writing() as state:
            while len(state.open) < pending and state.can_ask:
                self._log.ask(state, batch)
            return tuple(state.open.values())

    def tell(
        self,
        rows: RowSource,
        pull: int | None = None,
        *,
        close: bool = False,
        allow_noncompliance: bool = False,
        again: bool = False,
    ) -> Receipt:
        """Take in rows of an open pull: all that are left of it, or fewer.

        Parameters
        ----------
        rows
            A CSV file, or mappings from column to value: every variable and the reward column as it is.
            Other columns are not looked at. A state may be named, or be a number that lies in an interval.
        pull
            Its number; None where only one is open.
        close
            No more rows of this pull will come, though some are left. Without it the rest stays open.
        allow_noncompliance
            Take rows in which the variables that were to be set have other states. They count for ruling
            out variables, and not for the arm, whose mean then speaks of those who complied. Only policies
            whose test stays valid take them.
        again
            Take the very rows that were told of this pull before: others that look the same.

        Raises
        ------
        SessionError
            If the pull isn't open, or a row doesn't fit: by line and column. Nothing is recorded then.
        DiscoveryError
            If the file isn't a table.
        """
        given = read_rows(rows)
        with self._log.writing() as state:
            chosen = _chosen(state, pull)
            if allow_noncompliance and not state.policy.learns_from_any_row:
                raise SessionError(
                    f"Expected a policy that can use rows in which something else was done than asked, as "
                    f"screening can, but found {state.settings.policy}: withdraw or close the pull instead"
                )
            checked = check_rows(given, state.settings, chosen, allow_noncompliance=allow_noncompliance)
            digest = given.table.sha256
            if digest in chosen.digests and not again:
                raise SessionError(
                    f"Expected rows of {chosen} not told yet but found those of {given.table.source} told "
                    f"before: if they are others that look the same, say so (again)"
                )
            self._log.record(state, Told(chosen.number, checked, close, digest))
            still = state.open.get(chosen.number)
            noncompliant = int((~checked.complied).sum())
            return Receipt(chosen.number, len(checked), noncompliant, 0 if still is None else still.left)

    def withdraw(self, pull: int | None = None, *, reason: str = "", exclude: bool = False) -> OpenPull:
        """Close an open pull, the rest of which couldn't be done.

        Parameters
        ----------
        pull
            Its number; None where only one is open.
        reason
            For the record.
        exclude
            It can't be done at all: its arm isn't asked for again, and the policy begins anew with the
            others, told all rows so far. Without it the policy may well ask for the same again.

        Raises
        ------
        SessionError
            If the pull isn't open, or no arm would be left.
        """
        with self._log.writing() as state:
            chosen = _chosen(state, pull)
            if exclude:
                _check_excludable(state, chosen.intervention)
            self._log.record(state, Withdrawn(chosen.number, reason, exclude))
            return chosen

    def status(self) -> Status:
        """Return what is known so far."""
        with self._log.reading() as state:
            return status_of(state)

    def export(self, path: str | os.PathLike[str], *, force: bool = False) -> int:
        """Write all rows told as CSV, in the columns of `exported_rows`, and return their number.

        Raises
        ------
        SessionError
            If there is a file and `force` isn't given.
        OSError
            If it can't be written.
        """
        if os.path.exists(path) and not force:
            raise SessionError(
                f"Expected a new file but found {os.fspath(path)!r}: choose another, or write over it (force)"
            )
        with self._log.reading() as state:
            lines = list(exported_rows(state.settings, self._log.events()))
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(lines)
        return len(lines) - 1


def _chosen(state: SessionState, number: int | None) -> OpenPull:
    """Return the open pull of that number, or the only one."""
    if number in state.open:
        return state.open[number]
    numbers = listed(map(str, state.open))
    are = (
        f"{numbers} {'is' if len(state.open) == 1 else 'are'} open"
        if state.open
        else "none is open: ask first"
    )
    if number is not None:
        found = "is finished" if number in state else "was never asked for"
        raise SessionError(f"Expected an open pull but found that pull {number} {found}; {are}")
    if len(state.open) != 1:
        raise SessionError(f"Expected the number of the pull but found none given; {are}")
    return next(iter(state.open.values()))


def _check_excludable(state: SessionState, intervention: Intervention) -> None:
    if len(intervention) != 1:
        raise SessionError(
            f"Expected a pull of one variable to exclude but found {intervention}: withdraw it without that"
        )
    left = sum(map(len, state.policy.settable.values()))
    if left <= 1:
        raise SessionError(f"Expected other arms to go on with but found {intervention} to be the last one")
