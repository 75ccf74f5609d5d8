"""`SessionState`: the state of a session after some events, and the pull that comes next.

The same events in the same order always lead to the same state.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from cb_pgm.errors import SessionError
from cb_pgm.model.intervention import ArmEstimate, Intervention, Observations, Pull
from cb_pgm.session.events import AddedState, Asked, Earlier, Event, Told, Withdrawn
from cb_pgm.session.settings import SessionSettings

__all__ = ["OpenPull", "SessionState"]


@dataclass(frozen=True)
class OpenPull:
    """A pull that was asked for and isn't finished.

    Attributes
    ----------
    number
        The number of the pull, counted from 1.
    intervention, why
        The intervention to make, and the policy's reason for it in a few words.
    size, left
        The number of rows asked for, and of those still to come.
    """

    number: int
    intervention: Intervention
    why: str
    size: int
    left: int

    def __str__(self) -> str:
        return f"pull {self.number}"


class SessionState:
    """The state of a session. It applies events one by one, and proposes the next pull.

    Parameters
    ----------
    settings
        The settings of the session. The attribute has the states that were added, too.
    excluded
        Arms that can't be carried out from the beginning.

    Attributes
    ----------
    policy
        The policy, which has learned from all rows so far.
    open
        The open pulls, by number.
    told, earlier
        The number of rows told so far, and of rows from before the session.
    excluded
        The arms that can't be carried out.
    digests
        The hashes of the files whose rows were told.
    added
        The number of states that were added since the session began.
    """

    def __init__(self, settings: SessionSettings, excluded: Iterable[Intervention] = ()) -> None:
        self.settings = settings
        self.excluded = list(excluded)
        self.policy = settings.new_policy(self.excluded)
        self.open: dict[int, OpenPull] = {}
        self.told = 0
        self.earlier = 0
        self.added = 0
        self._pulls = 0
        self._nothing_to_ask = False
        self.digests: set[str] = set()
        self._earlier_rows: list[tuple[Intervention, Observations]] = []
        self._told_rows: list[tuple[Intervention, Observations]] = []

    def __contains__(self, pull: int) -> bool:
        """Return whether a pull of that number has been asked for."""
        return 1 <= pull <= self._pulls

    # -- asking ----------------------------------------------------------------------------------------------

    @property
    def rows_left(self) -> int:
        """The number of rows of the horizon that are neither recorded nor asked for."""
        return self.settings.horizon - self.told - sum(pull.left for pull in self.open.values())

    @property
    def can_ask(self) -> bool:
        """Whether the policy can be asked: rows are left, and it waits for no open pull."""
        return self.rows_left > 0 and not self._nothing_to_ask and self.over is None

    @property
    def over(self) -> str | None:
        """Why the session is over, as a sentence; None while it goes on."""
        if self.told >= self.settings.horizon:
            return f"all {self.settings.horizon:,} {self.settings.unit} of the horizon are recorded"
        best = self.certain_best() if self.settings.stop == "best-arm" else None
        if best is not None:
            return f"{best.intervention} is certain to be the best arm"
        return None

    def certain_best(self) -> ArmEstimate | None:
        """Return the arm whose interval lies above those of all other arms that can be set, if there is one.

        Only rows in which an arm was set count, and an arm that was never set may be better than all others,
        so that this needs no assumption about causes.
        """
        measured = {known.intervention: known for known in self.policy.estimates()}
        if not all(arm in measured for arm in self.policy.possible_arms):
            return None
        best = max(measured.values(), key=lambda known: known.low)
        return best if all(known is best or known.high < best.low for known in measured.values()) else None

    def propose(self, batch: int) -> Asked:
        """Ask the policy for a pull of at least `batch` rows, or as many as are left.

        The returned event must be the next to be applied.
        """
        pull = self._ask()
        if pull is None:
            return Asked(None)
        size = min(max(pull.size, batch), self.rows_left)
        return Asked(self._pulls + 1, pull.intervention, size, self.policy.why(pull))

    def _ask(self) -> Pull | None:
        return self.policy.ask_beside(Pull(pull.intervention, pull.left) for pull in self.open.values())

    # -- what happens ----------------------------------------------------------------------------------------

    def apply(self, event: Event, *, asked: bool = False) -> None:
        """Apply the next event.

        Parameters
        ----------
        event
            The event.
        asked
            Whether the event comes from `propose`, so that the policy has been asked already.

        Raises
        ------
        SessionError
            If the policy asks for another pull than the recorded one.
        """
        match event:
            case Asked():
                self._add_pull(event, asked)
            case Told():
                self._take_rows(event)
            case Withdrawn():
                self._drop(event)
            case AddedState(variable, state):
                self.settings = self.settings.with_state(variable, state)
                self.added += 1
                self._start_anew()
            case Earlier():
                observations = self.settings.observations(event.rows)
                self._earlier_rows.append((event.intervention, observations))
                self.policy.warm_start(event.intervention, observations)
                self.earlier += len(observations)

    def _add_pull(self, event: Asked, asked: bool) -> None:
        if not asked:
            pull = self._ask()
            same = (None if pull is None else pull.intervention) == (event.pull and event.intervention)
            # A later version may choose otherwise: then the policy goes on from the rows recorded.
            if not same and self.settings.is_of_this_version and self.settings.loads_policy:
                raise SessionError(
                    f"Expected the policy to ask for {event.intervention}, as recorded, but found "
                    f"{pull and pull.intervention}: use the versions of cb-pgm and numpy with which the "
                    f"session was started"
                )
        if event.pull is None:
            self._nothing_to_ask = True
            return
        self._pulls = event.pull
        self.open[event.pull] = OpenPull(event.pull, event.intervention, event.why, event.size, event.size)

    def _take_rows(self, event: Told) -> None:
        pull = self._opened(event.pull)
        rows, complied = self.settings.observations(event.rows), event.rows.complied
        if complied.all():
            self._tell(pull.intervention, rows)
        else:
            # Rows with another intervention than asked for say nothing about the arm: they count as do().
            for intervention, chosen in ((pull.intervention, complied), (Intervention(), ~complied)):
                self._tell(intervention, Observations(rows.codes[chosen], rows.rewards[chosen]))
        self.told += len(rows)
        if event.digest:
            self.digests.add(event.digest)
        left = pull.left - len(rows)
        if event.closes or left <= 0:
            del self.open[event.pull]
        else:
            self.open[event.pull] = replace(pull, left=left)

    def _tell(self, intervention: Intervention, rows: Observations) -> None:
        self._nothing_to_ask = False
        self._told_rows.append((intervention, rows))
        self._report(intervention, rows)

    def _drop(self, event: Withdrawn) -> None:
        pull = self._opened(event.pull)
        del self.open[event.pull]
        if event.excluded:
            self.excluded.append(pull.intervention)
            self._start_anew()
        else:
            none = np.zeros((0, len(self.settings.states)), dtype=np.int16), np.zeros(0)
            self._tell(pull.intervention, Observations(*none))

    def _start_anew(self) -> None:
        """Go on with a new policy that knows the arms left and all states, and has learned from all rows."""
        self._nothing_to_ask = False
        self.policy = self.settings.new_policy(self.excluded, self.added)
        for earlier, rows in self._earlier_rows:
            self.policy.warm_start(earlier, rows)
        for done, rows in self._told_rows:
            self._report(done, rows)

    def _report(self, intervention: Intervention, rows: Observations) -> None:
        """Tell the policy rows; of those with an unknown state only the rewards."""
        known = (rows.codes >= 0).all(axis=1)
        whole = rows if known.all() else Observations(rows.codes[known], rows.rewards[known])
        self.policy.tell(Pull(intervention, len(whole)), whole)
        if not known.all():
            self.policy.tell_rewards(intervention, rows.rewards[~known])

    def _opened(self, number: int) -> OpenPull:
        if number not in self.open:
            raise SessionError(f"Expected an open pull but found {number} in the log: restore the file")
        return self.open[number]
