"""What screening does where no set explains the reward: invariance screening, and the questions for it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cb_pgm.evidence.invariance import InvarianceScreening
from cb_pgm.evidence.screening import Screening
from cb_pgm.evidence.separation import RecentRows
from cb_pgm.model.intervention import Intervention
from cb_pgm.policies.arms import ArmTotals, SingleArms
from cb_pgm.policies.question_cost import QuestionCost
from cb_pgm.policies.separating_pulls import ToldApart

__all__ = ["InvarianceFollowUp", "would_show"]

# The difference that the rows must have been able to show, in units of the rewards' range (2σ), before
# parents count as identified rather than assumed: between setting and observing them, and between a state of
# another variable and its other states.
_DIFFERENCE = 0.1
_ASK_AGAIN = 1.02  # growth of the rows after which a question that wasn't affordable is considered again
# Growth of the rows during which the last set has to survive alone before it is identified: false ones fall
# one after the other, and the last of them is no better than those before it.
_ALONE = 1.4


class InvarianceFollowUp:
    """Look for the set that explains everything that interventions change (`InvarianceScreening`).

    If one set is left, and each of its variables was set often enough to have shown a difference between
    setting and seeing it, it is identified.

    Parameters
    ----------
    n_states
        The number of states of each of the n variables.
    set_size
        The number of variables of each set.
    failure_prob, noise_scale
        As in `InvarianceScreening`.
    singles
        All arms on one variable.
    recent
        The newest rows; `observe` adds to them until a set is identified.
    screening
        The test that has ruled out every set; the rows that it has kept come first.

    Attributes
    ----------
    test
        The test of the sets.
    identified
        The positions of the identified variables; empty until a set is identified.
    """

    def __init__(
        self,
        n_states: Sequence[int],
        set_size: int,
        failure_prob: float,
        noise_scale: float,
        singles: SingleArms,
        recent: RecentRows,
        screening: Screening,
    ) -> None:
        self.test = InvarianceScreening(n_states, set_size, failure_prob, noise_scale)
        self.identified: tuple[int, ...] = ()
        self._n_states = max(n_states)
        self._singles = singles
        self._recent = recent
        self._alone_at = 0  # rows after which a single set was left
        self._ask_again_at = 0.0
        self._arm_numbers: dict[tuple[tuple[int, ...], int], int] = {}  # by variables and states set
        codes, rewards, was_set = screening.log()
        settings, set_variables = screening.log_settings()
        arms = np.empty(len(rewards), dtype=np.int64)
        for number, variables in enumerate(set_variables):
            rows = np.flatnonzero(settings == number)
            arms[rows] = self._numbered(variables, codes[rows])
        self._set_rows: NDArray[np.int64] = was_set.sum(axis=0)  # per variable
        self._test(codes, rewards, arms)

    def observe(
        self,
        codes: NDArray[np.int16],
        rewards: NDArray[np.float64],
        set_variables: tuple[int, ...],
        arm: tuple[int, int] | None,
    ) -> None:
        """Test the sets with further rows.

        Parameters
        ----------
        codes, rewards, set_variables
            As in `Screening.observe`.
        arm
            The positions of variable and state of the arm that was pulled; None for any other intervention.
        """
        if not self.identified:
            self._recent.add(codes, arm)
        self._set_rows[list(set_variables)] += len(rewards)
        self._test(codes, rewards, self._numbered(set_variables, codes))

    def next(
        self, arms: ArmTotals, questions: QuestionCost, under_way: Mapping[Intervention, int]
    ) -> ToldApart | None:
        """Return the pull that best tells apart, for its cost, what is left.

        None once a set is identified, where no arm tells the sets apart, or where it isn't affordable.
        """
        test = self.test
        if self.identified or test.rows < self._ask_again_at:
            return None
        left = np.flatnonzero(test.surviving)
        leader = int(left[np.argmin(test.fits()[left])])
        others = left[left != leader]
        challenger = int(others[np.argmin(test.margins()[others])]) if len(others) else leader
        costs = questions.by_state(
            questions.likely_gaps(arms), self._singles.codes, self._singles.settable.shape
        )
        to_end = math.inf
        first, second = (tuple(int(v) for v in test.candidates[place]) for place in (leader, challenger))
        if challenger == leader:
            # Only rows in which its variables are set are missing.
            allowed = np.where(self._singles.settable, costs, np.inf)[list(first)]
            if not np.isfinite(allowed).any():
                return None
            row, cheapest = divmod(int(np.argmin(allowed)), allowed.shape[1])
            arm = first[row], cheapest
        else:
            arm, worth = self._recent.best_arm(
                list(dict.fromkeys((*first, *second))),
                self._singles.settable,
                (first, test.predictions(leader)),
                (second, test.predictions(challenger)),
                costs,
                test.scale,
            )
            if worth > 0:
                to_end = (test.threshold - float(test.margins()[challenger])) / worth
        pull = self._singles.pull_of.get(arm)
        if pull is None or not questions.affords(pull, arms, to_end):
            self._ask_again_at = _ASK_AGAIN * test.rows
            return None
        return None if pull.intervention in under_way else ToldApart(pull, first, second)

    def unshown(self) -> tuple[int, ...]:
        """Return the variables whose arms were pulled too seldom to show an effect beside the identified set.

        Their positions, in ascending order; empty while no set is identified.
        """
        if not self.identified:
            return ()
        (position,) = np.flatnonzero(self.test.surviving)
        contrasts = self.test.contrasts(int(position))
        unshown = set()
        for variable, state in self._singles.pull_of:
            number = self._arm_numbers.get(((variable,), state))
            rows = 0.0 if number is None or number >= len(contrasts) else float(contrasts[number])
            if variable not in self.identified and not would_show(rows, self.test.threshold):
                unshown.add(variable)
        return tuple(sorted(unshown))

    def _test(self, codes: NDArray[np.int16], rewards: NDArray[np.float64], arms: NDArray[np.int64]) -> None:
        test = self.test
        left = test.left
        test.observe(codes, rewards, arms)
        if left > 1 == test.left:
            self._alone_at = test.rows
        if test.left == 0:
            self.identified = ()
        elif test.left == 1 and not self.identified and test.rows >= _ALONE * self._alone_at:
            (only,) = test.candidates[test.surviving]
            # A variable that shows the hidden cause may be left for want of rows in which it was set.
            if would_show(int(self._set_rows[only].min()), test.threshold):
                self.identified = tuple(int(variable) for variable in only)

    def _numbered(self, variables: tuple[int, ...], codes: NDArray[np.int16]) -> NDArray[np.int64]:
        """Return the number of each row's arm, int64 [m], where `variables` were set in all rows."""
        states = np.zeros(len(codes), dtype=np.int64)
        for variable in variables:
            states = states * self._n_states + codes[:, variable]
        numbers = np.empty(len(codes), dtype=np.int64)
        for state in np.unique(states):
            key = variables, int(state)
            numbers[states == state] = self._arm_numbers.setdefault(key, len(self._arm_numbers))
        return numbers


def would_show(rows: float, threshold: float) -> bool:
    """Return whether so many rows would show a difference of `_DIFFERENCE` from other rows.

    A difference d is worth d²/2σ² nats a row.
    """
    return rows * _DIFFERENCE**2 * 2.0 >= threshold
