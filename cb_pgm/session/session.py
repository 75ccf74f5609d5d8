"""`Session`: a real experiment that can be interrupted and resumed at any time."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from cb_pgm.errors import SessionError
from cb_pgm.files import check_not_among, replaced
from cb_pgm.model.intervention import Intervention
from cb_pgm.session.events import AddedState, Changed, Told, Withdrawn
from cb_pgm.session.log import FILE_NAME, OWN_FILES, Log
from cb_pgm.session.rows import RowSource, check_rows, digest_of, exported_rows, read_rows
from cb_pgm.session.settings import SessionSettings
from cb_pgm.session.state import OpenPull, SessionState
from cb_pgm.session.status import Status, status_of
from discovery.wording import did_you_mean, listed

if TYPE_CHECKING:
    from cb_pgm.session.setup import Beginning

__all__ = ["Receipt", "Session"]


@dataclass(frozen=True)
class Receipt:
    """What one call of `tell` recorded.

    Attributes
    ----------
    pull
        The number of the pull.
    rows
        The number of rows recorded.
    noncompliant
        The number of those rows with another intervention than asked for.
    left
        The number of rows of the pull that are still to come; 0 when it is finished.
    """

    pull: int
    rows: int
    noncompliant: int
    left: int


class Session:
    """A session: `start` or `open` it, `ask` for a pull, carry it out, and `tell` the rows measured.

    Each verb is one transaction: either it is refused as a whole, or it is on disk when the call returns.
    Several processes may have the same session open. One that finds it in use waits, and raises
    `SessionBusyError` if it waits for too long.

    Parameters
    ----------
    folder
        The folder of the session. Use `start` or `open` instead of the constructor.
    timeout
        Seconds to wait for another process.
    policy
        The session's policy, where it is one of your own (module:attribute), so that it may be imported. A
        file's word alone imports nothing.
    create
        Whether to make the file if there is none.

    Examples
    --------
    >>> import tempfile
    >>> states = {"drug": ["low", "high"], "diet": ["none", "strict"], "recovered": ["no", "yes"]}
    >>> folder = tempfile.mkdtemp()
    >>> with Session.start(folder, states=states, reward="recovered=yes", horizon=100, seed=1) as session:
    ...     (pull,) = session.ask(batch=2)
    ...     row = {"drug": "low", "diet": "none"} | dict(pull.intervention)
    ...     receipt = session.tell([row | {"recovered": answer} for answer in ("yes", "no")])
    >>> receipt.rows, receipt.left
    (2, 0)
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        timeout: float = 10.0,
        policy: str | None = None,
        *,
        create: bool = False,
    ) -> None:
        self.folder = Path(folder)
        self._log = Log(self.folder, timeout, policy, create=create)

    @classmethod
    def start(cls, folder: str | os.PathLike[str], *, timeout: float = 10.0, **setup: Any) -> Self:
        """Start a session.

        Parameters
        ----------
        folder
            The folder of the session, created if it isn't there.
        timeout
            Seconds to wait for another process.
        **setup
            The parameters of `Setup`.

        Raises
        ------
        SessionError
            If the folder holds a session already, or a setting isn't valid.
        DiscoveryError
            If the table isn't valid, or its graph can't be estimated.
        OSError
            If the folder can't be created.
        """
        # Imported late to save start-up time: only a start needs pandas and the searches.
        from cb_pgm.session.beginning import prepare
        from cb_pgm.session.setup import Setup

        cls.check_new(folder)  # before the estimate, which may take a while
        return cls.begin(folder, prepare(Setup(**setup)), timeout=timeout)

    @classmethod
    def begin(cls, folder: str | os.PathLike[str], beginning: Beginning, *, timeout: float = 10.0) -> Self:
        """Start a session from what `cb_pgm.session.beginning.prepare` returned.

        Raises
        ------
        SessionError
            If the folder holds a session already.
        OSError
            If the folder can't be created.
        """
        cls.check_new(folder)
        Path(folder).mkdir(parents=True, exist_ok=True)
        session = cls(folder, timeout, beginning.settings.policy, create=True)
        session._log.start(beginning.settings, beginning.earlier)
        return session

    @staticmethod
    def check_new(folder: str | os.PathLike[str]) -> None:
        """Check that a session can be started in the folder.

        Raises
        ------
        SessionError
            If the folder holds a session already.
        """
        if (Path(folder) / FILE_NAME).exists():
            log = Log(Path(folder))
            log.check_new()
            log.close()

    @classmethod
    def open(
        cls, folder: str | os.PathLike[str], *, timeout: float = 10.0, policy: str | None = None
    ) -> Self:
        """Open a session that was started before.

        Parameters
        ----------
        folder, timeout, policy
            As of the class. Without its policy a session can be looked at and exported but not go on.

        Raises
        ------
        SessionError
            If the folder holds no session, a damaged one, or one that a newer version wrote.
        """
        if not (Path(folder) / FILE_NAME).is_file():
            raise SessionError(f"Expected a session but found none in {os.fspath(folder)!r}: start one there")
        session = cls(folder, timeout, policy)
        with session._log.reading():  # raises for a damaged session
            return session

    def close(self) -> None:
        """Close the file; every verb is on disk without it as well."""
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def settings(self) -> SessionSettings:
        """The settings of the session."""
        with self._log.reading() as state:
            return state.settings

    # -- the verbs -------------------------------------------------------------------------------------------

    def ask(self, *, batch: int = 1, pending: int = 1) -> tuple[OpenPull, ...]:
        """Ask the policy for pulls until `pending` are open, and return the open pulls, oldest first.

        The answer stays the same until rows are told or a pull is withdrawn.

        Parameters
        ----------
        batch
            The smallest number of rows of a new pull.
        pending
            The number of pulls to keep open. There are fewer if the next pull depends on the outcome of those
            that are open, and near the horizon.

        Returns
        -------
        tuple of OpenPull
            Empty when the session is over (`Status.over`).

        Raises
        ------
        SessionError
            If `batch` or `pending` is below 1.
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
        allow_unknown: bool = False,
        again: bool = False,
    ) -> Receipt:
        """Record rows of an open pull: all that are still to come, or some of them.

        Parameters
        ----------
        rows
            A CSV file, or mappings from column to value, with every variable and the reward column. Other
            columns are ignored. A field is the name of a state, of one that was merged into another, or a
            number that lies in an interval state.
        pull
            The number of the pull; None if only one is open.
        close
            Close the pull, although some of its rows may never come. Otherwise the rest stays open.
        allow_noncompliance
            Accept rows in which the variables to set have other states. They count for ruling out variables
            but not for the arm, whose mean then describes those who complied. Only policies whose test stays
            valid accept them.
        allow_unknown
            Accept rows in which fields of variables that weren't set are empty or hold an unknown state.
            Index policies lose nothing by that; screening counts such rows for their arm, but doesn't test
            variables with them; other policies refuse them.
        again
            Accept a file whose rows are equal, in every column, to those of a file told before: these are
            other rows. Mappings are always taken.

        Raises
        ------
        SessionError
            If the pull isn't open, or a row doesn't fit; the error names its line and column. Nothing is
            recorded then.
        DiscoveryError
            If the file isn't a table.
        """
        given = read_rows(rows)
        with self._log.writing() as state:
            chosen = _chosen(state, pull)
            if allow_noncompliance and not state.policy.learns_from_any_row:
                raise SessionError(
                    f"Expected a policy that can use rows with another intervention than asked for, as "
                    f"screening can, but found {state.settings.policy}: withdraw or close the pull instead"
                )
            if allow_unknown and not state.policy.takes_unknown_fields:
                raise SessionError(
                    f"Expected a policy that can use rows with unknown fields, as screening, moss and ucb "
                    f"can, but found {state.settings.policy}, which learns from every field: add the state "
                    f"(session add-state)"
                )
            checked = check_rows(
                given,
                state.settings,
                chosen,
                allow_noncompliance=allow_noncompliance,
                allow_unknown=allow_unknown,
            )
            from_file = isinstance(rows, str | os.PathLike)
            digest = digest_of(given, checked, state.settings) if from_file else ""
            if digest in state.digests and not again:
                raise SessionError(
                    f"Expected new rows of {chosen} but found the rows of {given.table.source}, which were "
                    f"told already: add --again (again=True in Python) if they are other rows with the same "
                    f"content"
                )
            self._log.record(state, Told(chosen.number, checked, close, digest))
            still = state.open.get(chosen.number)
            noncompliant = int((~checked.complied).sum())
            return Receipt(chosen.number, len(checked), noncompliant, 0 if still is None else still.left)

    def add_state(self, variable: str, state: str) -> None:
        """Add a state that nature has produced, so that rows with it can be told; it can't be set.

        The policy starts anew with the new state and learns from all recorded rows.

        Raises
        ------
        SessionError
            If there is no such variable, or it has this state already.
        """
        with self._log.writing() as current:
            known = current.settings.states
            if variable not in known:
                raise SessionError(
                    f"Expected a variable of the session but found {variable!r}: "
                    f"{did_you_mean(variable, known)}"
                )
            if not state.strip() or state.strip() in known[variable]:
                raise SessionError(
                    f"Expected a state beside those of {variable}, {listed(known[variable])}, but found "
                    f"{state!r}: tell its rows as they are"
                )
            self._log.record(current, AddedState(variable, state.strip()))

    def extend(self, horizon: int) -> None:
        """Move the horizon: the number of rows to ask for in all, with those told before.

        Raises
        ------
        SessionError
            If fewer rows are left than were recorded or are pending.
        """
        with self._log.writing() as state:
            settled = state.settings.horizon - state.rows_left
            if horizon < max(settled, 1):
                raise SessionError(
                    f"Expected a horizon of at least {settled:,} {state.settings.unit}, as many as are "
                    f"recorded or pending, but found {horizon:,}: give a larger one"
                )
            self._log.record(state, Changed(horizon=horizon))

    def set(self, *, reward_range: tuple[float, float]) -> None:
        """Change the lowest and the highest reward possible; the noise scale becomes half the difference.

        The policy starts anew and learns from all recorded rows.

        Raises
        ------
        SessionError
            If the reward isn't numeric, or a recorded one lies outside the range.
        """
        low, high = map(float, reward_range)
        with self._log.writing() as state:
            state.settings.with_range(low, high)  # checks the range
            seen = state.rewards
            if len(seen) and not low <= seen.min() <= seen.max() <= high:
                raise SessionError(
                    f"Expected a range with all recorded rewards, {seen.min():g} to {seen.max():g}, but "
                    f"found {low:g} to {high:g}: widen --reward-range"
                )
            self._log.record(state, Changed(reward_range=(low, high)))

    def withdraw(self, pull: int | None = None, *, reason: str = "", exclude: bool = False) -> OpenPull:
        """Close an open pull whose remaining rows could not be measured.

        Parameters
        ----------
        pull
            The number of the pull; None if only one is open.
        reason
            The reason, for the record.
        exclude
            Never ask for its arm again, since it can't be carried out. The policy starts anew with the other
            arms and learns from all recorded rows. Otherwise the policy may ask for the same arm again.

        Returns
        -------
        OpenPull
            The pull as it was before.

        Raises
        ------
        SessionError
            If the pull isn't open, or with `exclude` if it isn't a pull of one variable or no arm would be
            left.
        """
        with self._log.writing() as state:
            chosen = _chosen(state, pull)
            if exclude:
                _check_excludable(state, chosen.intervention)
            self._log.record(state, Withdrawn(chosen.number, reason, exclude))
            return chosen

    def status(self, *, checks: bool = True) -> Status:
        """Return the status of the session: open pulls, identified causes, the best arm.

        Without `checks`, which take up to a second, nothing is said of irregularities.
        """
        with self._log.reading() as state:
            return status_of(state, checks=checks)

    def export(self, path: str | os.PathLike[str], *, force: bool = False) -> int:
        """Write all recorded rows as CSV, in the columns of `exported_rows`, and return their number.

        Raises
        ------
        SessionError
            If the file exists and `force` isn't given.
        OSError
            If the file can't be written.
        """
        check_not_among(
            Path(path), [self.folder / name for name in OWN_FILES], "the file of the session itself"
        )
        if os.path.exists(path) and not force:
            raise SessionError(
                f"Expected a new file but found {os.fspath(path)!r}: choose another one, or add --force to "
                f"overwrite it"
            )
        with self._log.reading() as state:
            lines = list(exported_rows(state.settings, self._log.events()))
        with replaced(Path(path)) as partial, open(partial, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(lines)
        return len(lines) - 1


def _chosen(state: SessionState, number: int | None) -> OpenPull:
    """Return the open pull of that number, or the only open one."""
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
        raise SessionError(f"Expected the number of the pull (--pull) but found none given; {are}")
    return next(iter(state.open.values()))


def _check_excludable(state: SessionState, intervention: Intervention) -> None:
    if len(intervention) != 1:
        raise SessionError(
            f"Expected a pull of one variable to exclude but found {intervention}: withdraw it without "
            f"--exclude"
        )
    left = sum(map(len, state.policy.settable.values()))
    if left <= 1:
        raise SessionError(
            f"Expected other arms beside the excluded one but found {intervention} to be the last one: "
            f"withdraw it without --exclude"
        )
