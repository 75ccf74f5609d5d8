"""Discriminating pulls: those that best tell the two likeliest sets apart, within a budget."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cb_pgm.evidence.hypotheses import Hypotheses
from cb_pgm.evidence.screening import Screening

__all__ = ["DiscriminatingPulls"]

#: The positions of variables, each with that of its state.
States = tuple[tuple[int, int], ...]
_NOTHING: States = ()

_RECENT = 256  # newest rows in which other variables' states are looked up
_OWN_ROWS = 4  # of a pull among these from which on it is judged by them alone


class DiscriminatingPulls:
    """Choose pulls for the test of sets, within a budget: a share of the regret so far.

    The leader is the likeliest set that the test has left, the challenger the next one. A pull sets one
    variable of the two, or both sets where several may be set. It is worth the divergence of the two
    predictions, whatever it costs within the budget: pulls that cost nothing may tell next to nothing. Where
    other variables vary, their states are those of the newest rows under the same pull, or of the newest ones
    of all, until there are some.

    Parameters
    ----------
    hypotheses, screening
        The posterior and the test on it.
    settable
        bool [states of all variables, then do()]: what can be set.
    joint
        Whether several variables may be set at once.
    share
        The largest cost of these pulls relative to all regret so far, as the leader expects it.
    """

    def __init__(
        self,
        hypotheses: Hypotheses,
        screening: Screening,
        settable: NDArray[np.bool_],
        *,
        joint: bool,
        share: float,
    ) -> None:
        self._hypotheses, self._screening = hypotheses, screening
        self._joint, self._share = joint, share
        ends = np.cumsum(hypotheses.n_states)
        self._settable = [
            np.flatnonzero(states) for states in np.split(settable[:-1], [int(end) for end in ends[:-1]])
        ]
        self._spent, self._ask_again_at = 0.0, 0.0
        self.cost = 0.0  # of a row of the pull chosen last, as the leader expected it
        self.told_apart: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())

    def next(self, rounds: int) -> States:
        """Return the positions of the variables to set, each with that of its state; empty if none pays.

        `rounds` is how many of the rows so far were played.
        """
        known, rows = self._hypotheses, self._hypotheses.rows
        if self._screening.left < 2 or rows.size < self._ask_again_at or not self._may_ask(rounds):
            return ()
        leader, challenger = self._likeliest(2)
        best, lost = self._lost(leader, rounds)
        first, second = known.means(leader), known.means(challenger)
        worth, chosen, cost = 0.0, _NOTHING, 0.0
        for pull in self._pulls(leader, challenger):
            codes = self._expected_rows(pull)
            by_leader = first[known.places(leader, codes)]
            by_challenger = second[known.places(challenger, codes)]
            gap = max(0.0, best - float(by_leader.mean()))
            told = float(known.divergence(by_leader, by_challenger).mean())
            if told > worth and self._spent + gap <= self._share * lost:
                worth, chosen, cost = told, pull, gap
        if chosen:
            self.told_apart = known.variables(leader), known.variables(challenger)
        else:
            self._ask_again_at = 1.02 * rows.size
        self.cost = cost
        return chosen

    def costs_nothing(self, pull: States, rounds: int) -> bool:
        """Return whether the leader expects nothing to be better than a pull."""
        if not self._may_ask(rounds):
            return False
        (leader,) = self._likeliest(1)
        means = self._hypotheses.means(leader)
        shown = means[self._hypotheses.places(leader, self._expected_rows(pull))]
        return bool(shown.mean() >= means.max())

    def charge(self, cost: float) -> None:
        """Count what rows of such a pull cost."""
        self._spent += cost

    def _may_ask(self, rounds: int) -> bool:
        """Return whether the rows played are kept, and some newest one is complete."""
        rows = self._hypotheses.rows
        return 0 < rounds <= rows.size and rows.complete and bool(self._newest().any())

    def _newest(self) -> NDArray[np.bool_]:
        """Return which of the newest rows are complete, bool [rows]."""
        rows = self._hypotheses.rows
        known = rows.codes[max(0, rows.size - _RECENT) : rows.size] >= 0
        return np.asarray(known.all(axis=1))

    def _likeliest(self, most: int) -> list[int]:
        sets = np.flatnonzero(~self._hypotheses.closed)
        weights = self._hypotheses.log_weights[sets]
        return [int(one) for one in sets[np.argsort(-weights, kind="stable")[:most]]]

    def _lost(self, leader: int, rounds: int) -> tuple[float, float]:
        """Return the leader's best mean, and what it takes the rounds so far to have lost."""
        known = self._hypotheses
        rows, means = known.rows, known.means(leader)
        places = known.places(leader, rows.codes[rows.size - rounds : rows.size])
        best = float(means.max())
        return best, float((best - means[places[places >= 0]]).sum())

    def _pulls(self, leader: int, challenger: int) -> list[States]:
        known = self._hypotheses
        variables = sorted({*known.variables(leader), *known.variables(challenger)})
        pulls: list[States] = [((v, int(state)),) for v in variables for state in self._settable[v]]
        if self._joint and math.prod(len(self._settable[v]) for v in variables) <= _RECENT:
            joint: list[States] = [_NOTHING]
            for v in variables:
                joint = [(*before, (v, int(state))) for before in joint for state in self._settable[v]]
            pulls += joint
        return pulls

    def _expected_rows(self, pull: States) -> NDArray[np.int16]:
        rows = self._hypotheses.rows
        complete = self._newest()
        newest = rows.codes[rows.size - len(complete) : rows.size][complete]
        number = rows.number(tuple(variable for variable, _ in pull))
        same = rows.places[rows.size - len(complete) : rows.size, 1][complete] == number
        for variable, state in pull:
            same &= newest[:, variable] == state
        if same.sum() >= _OWN_ROWS:
            chosen: NDArray[np.int16] = newest[same]
            return chosen
        changed = newest.copy()
        for variable, state in pull:
            changed[:, variable] = state
        return changed
