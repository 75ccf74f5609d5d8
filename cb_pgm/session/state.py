"""`SessionState`: the state of a session after some events, and the pull that comes next.

The same events in the same order always lead to the same state.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import SessionError
from cb_pgm.model.intervention import ArmEstimate, Intervention, Observations, Pull
from cb_pgm.session.events import AddedState, Asked, Changed, Earlier, Event, Rows, Told, Withdrawn
from cb_pgm.session.settings import SessionSettings
from cb_pgm.session.stop import Stop
from cb_pgm.session.texts import counted, setting_text

__all__ = ["OpenPull", "SessionState", "ToldRows"]


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

    def instruction(self, unit: str) -> str:
        """Return what to do for the rows that are still to come, `unit` in the plural."""
        more = "" if self.left == self.size else f" more (of {self.size:,})"
        setting = setting_text(self.intervention) if self.intervention else "nothing, only observe,"
        return f"→ set {setting} for the next {counted(self.left, unit)}{more}"


@dataclass(frozen=True, eq=False)
class ToldRows:
    """Rows that were told together: all as asked for, or all with another intervention.

    Attributes
    ----------
    pull, intervention
        The number of their pull, and what it asked for.
    rows
        The rows.
    """

    pull: int
    intervention: Intervention
    rows: Rows


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
    pulls, open
        All pulls, with the rows still to come, or that never came; and those that are open. By number.
    record
        The rows told, in their order.
    told, earlier
        The number of rows told so far, and of rows from before the session.
    excluded
        The arms that can't be carried out.
    digests
        The hashes of the files whose rows were told.
    added
        The number of states that were added and of ranges that were changed since the session began.
    """

    def __init__(self, settings: SessionSettings, excluded: Iterable[Intervention] = ()) -> None:
        self.settings = settings
        self.excluded = list(excluded)
        self.policy = settings.new_policy(self.excluded)
        self.pulls: dict[int, OpenPull] = {}
        self.open: dict[int, OpenPull] = {}
        self.record: list[ToldRows] = []
        self.told = 0
        self.earlier = 0
        self.added = 0
        self._asked: dict[Intervention, int] = {}  # rows told or pending
        self._nothing_to_ask = False
        self.digests: set[str] = set()
        self._earlier_rows: list[Earlier] = []

    def __contains__(self, pull: int) -> bool:
        """Return whether a pull of that number has been asked for."""
        return pull in self.pulls

    @property
    def rewards(self) -> NDArray[np.float64]:
        """The rewards of all rows, those from before the session first, on the scale of the data."""
        every = [part.rows for part in self._earlier_rows] + [part.rows for part in self.record]
        return self.settings.reward.rewards(np.concatenate([*(rows.fields for rows in every), np.zeros(0)]))

    def rewards_by_arm(self) -> dict[Intervention, NDArray[np.float64]]:
        """Return the rewards of the rows in which each arm was set on request, on the scale of the data."""
        parts: dict[Intervention, list[NDArray[np.float64]]] = {}
        earlier = [(part.intervention, part.rows) for part in self._earlier_rows if part.intervention]
        told = [(part.intervention, part.rows) for part in self.record if part.rows.complied.all()]
        for arm, rows in (*earlier, *told):
            if len(rows):
                parts.setdefault(arm, []).append(self.settings.reward.rewards(rows.fields))
        return {arm: np.concatenate(own) for arm, own in parts.items()}

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
        stop = self.stop
        if stop is not None and stop.met:
            return stop.shown(self.settings.max_parents)
        return None

    @property
    def stop(self) -> Stop | None:
        """How far the session is from its end by `--stop best-arm`; None if it ends at its horizon alone."""
        settings = self.settings
        if settings.stop != "best-arm":
            return None
        found = self.policy.shortfall(settings.on)
        within = settings.reward_unit.difference_inside(settings.tolerance)
        width = abs(settings.reward_unit.width)
        return Stop(settings.tolerance, settings.on, found, found.most * width, found.rows_left(within))

    def certain_best(self) -> ArmEstimate | None:
        """Return the arm whose interval lies above those of all other arms that can be set, if there is one.

        Only rows in which an arm was set count, and an arm that was never set may be better than all others,
        so that this needs no assumption about causes.
        """
        found = self.policy.shortfall()
        if found.most > 0:
            return None
        return next(known for known in self.policy.estimates() if known.intervention == found.arm)

    def propose(self, batch: int) -> Asked:
        """Ask the policy for a pull of at least `batch` rows, or as many as are left.

        The returned event must be the next to be applied.
        """
        number = len(self.pulls) + 1
        if self._control_is_due:
            why = f"the control: {self.settings.control_share:.0%} of the {self.settings.unit}"
            size = min(batch, self._control_left, self.rows_left)
            return Asked(number, Intervention(self.settings.control), size, why)
        pull = self._ask()
        if pull is None:
            return Asked(None)
        size = min(max(pull.size, batch), self.rows_left - self._control_left)
        return Asked(number, pull.intervention, size, self.policy.why(pull))

    @property
    def _control_left(self) -> int:
        """The number of rows of its share of the horizon that the control hasn't been given yet."""
        control = Intervention(self.settings.control)
        if self.settings.control is None or control in self.excluded:
            return 0
        wanted = math.ceil(self.settings.control_share * self.settings.horizon)
        return max(0, wanted - self._asked.get(control, 0))

    @property
    def _control_is_due(self) -> bool:
        """Whether the control has less than its share of the rows so far, or would have it in the end."""
        left = self._control_left
        if not left or left >= self.rows_left:
            return left > 0
        share, horizon = self.settings.control_share, self.settings.horizon
        return math.ceil(share * horizon) - left < share * (horizon - self.rows_left)

    def _ask(self) -> Pull | None:
        if self._control_is_due:
            return Pull(Intervention(self.settings.control))
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
            case Changed():
                self._change(event)
            case Earlier():
                self._earlier_rows.append(event)
                self.policy.warm_start(event.intervention, self.settings.observations(event.rows))
                self.earlier += len(event.rows)

    def _change(self, event: Changed) -> None:
        if event.horizon is not None:
            self.settings = replace(self.settings, horizon=event.horizon)
        if event.reward_range is not None:
            self.settings = self.settings.with_range(*event.reward_range)
            self.added += 1
            self._start_anew()

    def _add_pull(self, event: Asked, asked: bool) -> None:
        if not asked:
            wanted = self._ask()
            same = (None if wanted is None else wanted.intervention) == (event.pull and event.intervention)
            # A later version may choose otherwise: then the policy goes on from the rows recorded.
            if not same and self.settings.is_of_this_version and self.settings.loads_policy:
                raise SessionError(
                    f"Expected the policy to ask for {event.intervention}, as recorded, but found "
                    f"{wanted and wanted.intervention}: use the versions of cb-pgm and numpy with which the "
                    f"session was started"
                )
        if event.pull is None:
            self._nothing_to_ask = True
            return
        pull = OpenPull(event.pull, event.intervention, event.why, event.size, event.size)
        self.pulls[event.pull] = self.open[event.pull] = pull
        self._asked[pull.intervention] = self._asked.get(pull.intervention, 0) + pull.size

    def _take_rows(self, event: Told) -> None:
        pull = self._opened(event.pull)
        rows, complied = event.rows, event.rows.complied
        for chosen in (complied, ~complied) if not complied.all() else (complied,):
            part = Rows(rows.codes[chosen], rows.fields[chosen], complied[chosen])
            self._tell(ToldRows(event.pull, pull.intervention, part))
        self.told += len(rows)
        if event.digest:
            self.digests.add(event.digest)
        left = pull.left - len(rows)
        self.pulls[event.pull] = self.open[event.pull] = replace(pull, left=left)
        if event.closes or left <= 0:
            self._close(event.pull)

    def _close(self, number: int) -> None:
        pull = self.open.pop(number)
        self._asked[pull.intervention] -= pull.left

    def _tell(self, told: ToldRows) -> None:
        self._nothing_to_ask = False
        self.record.append(told)
        self._report(told)

    def _drop(self, event: Withdrawn) -> None:
        pull = self._opened(event.pull)
        self._close(event.pull)
        if event.excluded:
            self.excluded.append(pull.intervention)
            self._start_anew()
        else:
            codes = np.zeros((0, len(self.settings.states)), dtype=np.int16)
            none = Rows(codes, np.zeros(0), np.ones(0, dtype=np.bool_))
            self._tell(ToldRows(event.pull, pull.intervention, none))

    def _start_anew(self) -> None:
        """Go on with a new policy that knows the arms left and all states, and has learned from all rows."""
        self._nothing_to_ask = False
        self.policy = self.settings.new_policy(self.excluded, self.added)
        for earlier in self._earlier_rows:
            self.policy.warm_start(earlier.intervention, self.settings.observations(earlier.rows))
        for told in self.record:
            self._report(told)

    def _report(self, told: ToldRows) -> None:
        """Tell the policy rows; of those with an unknown state only the rewards.

        Rows with another intervention than asked for say nothing about an arm: they count as a table's.
        """
        rows = self.settings.observations(told.rows)
        known = (rows.codes >= 0).all(axis=1)
        whole = rows if known.all() else Observations(rows.codes[known], rows.rewards[known])
        if not told.rows.complied.all():
            self.policy.warm_start(Intervention(), whole)
            return
        self.policy.tell(Pull(told.intervention, len(whole)), whole)
        if not known.all():
            self.policy.tell_rewards(told.intervention, rows.rewards[~known])

    def _opened(self, number: int) -> OpenPull:
        if number not in self.open:
            raise SessionError(f"Expected an open pull but found {number} in the log: restore the file")
        return self.open[number]
