"""Pulls that tell apart the sets of variables that screening has left, as long as these pulls pay."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cb_pgm.evidence.likelihoods import SetLikelihoods
from cb_pgm.evidence.screening import Screening
from cb_pgm.evidence.separation import RecentRows, best_cell
from cb_pgm.model.intervention import Intervention, Pull
from cb_pgm.policies.arms import ArmTotals, SingleArms
from cb_pgm.policies.likely_play import LikelyPlay
from cb_pgm.policies.question_cost import QuestionCost

__all__ = ["SeparatingPulls", "ToldApart"]

# Times √(arms · rounds), beyond as many as there are arms: the most rounds spent on telling sets apart; over
# max_parents, so that more sizes of sets cost no more.
_SHARE = 1.5
# The largest cost of separating pulls, relative to what an index policy is going to pay.
_TEST_SHARE = 1.0
_LEAST_COST = 0.1  # times σ: what a pull counts at least where those are compared by what they cost
_MOST_CELLS = 4096  # joint states of leader and challenger of which the best is looked for


@dataclass(frozen=True)
class ToldApart:
    """A pull, and the positions of the variables of the two sets that it tells apart."""

    pull: Pull
    first: tuple[int, ...]
    second: tuple[int, ...]


class SeparatingPulls:
    """Choose the pull that best tells the leader from the challenger for its cost, as long as this pays.

    The leader is the set that explains the rewards best, the challenger the surviving set that is hardest to
    rule out. It pays in as many rounds as there are arms on one variable, which an index policy would need
    for its first pass anyway, and later whenever the rounds still needed are fewer than those played. If no
    set explains the reward, separating pulls need not have the expected effect. Therefore, beyond a first
    pass, at most 1.5√(arms · t)/max_parents of t rounds are separating pulls, and they cost no more than an
    index policy is going to pay (`QuestionCost`).

    With `max_parents` of 1 the pull sets a variable of one of the two sets. Otherwise the leader is the
    likeliest set of any size, and the pull sets all variables of both. The leader's best cell, with states of
    the challenger from which a lower reward is expected, costs nothing if the leader is right.

    Parameters
    ----------
    singles
        All arms on one variable.
    recent
        The newest rows; the caller adds them.
    likelihoods, likely
        The sets' likelihoods and the play on them.
    max_parents, noise_scale
        As in `ScreeningUCB`.
    """

    def __init__(
        self,
        singles: SingleArms,
        recent: RecentRows,
        likelihoods: SetLikelihoods,
        likely: LikelyPlay,
        max_parents: int,
        noise_scale: float,
    ) -> None:
        self._singles = singles
        self._recent = recent
        self._likelihoods = likelihoods
        self._likely = likely
        self._max_parents = max_parents
        self._noise_scale = noise_scale
        self._cost = QuestionCost(_TEST_SHARE, noise_scale)
        self._rounds = 0

    def add(self, intervention: Intervention, rows: int, arms: ArmTotals) -> None:
        """Count so many rows of a separating pull; `arms` are the arms on one variable."""
        self._rounds += rows
        self._cost.add(intervention, rows, arms)

    def next(
        self, screening: Screening, arms: ArmTotals, under_way: Mapping[Intervention, int]
    ) -> ToldApart | None:
        """Return the next separating pull; None where it doesn't pay.

        Parameters
        ----------
        screening
            The test of the sets.
        arms
            The arms on one variable, with the rows in which each was set.
        under_way
            The number of pending rows of each intervention.
        """
        if screening.left < 1 or (screening.left == 1 and self._max_parents == 1):
            return None
        n_arms = len(self._singles.arms)
        most = n_arms + _SHARE / self._max_parents * math.sqrt(n_arms * arms.rounds)
        if self._rounds > most:
            return None
        gaps, typical = self._cost.cautious_gaps(arms)
        if self._max_parents > 1:
            found = self._joint_pull(screening)
        else:
            # With the typical gap added, an arm that may be the best one isn't asked however little it tells.
            costs = self._cost.by_state(gaps + typical, self._singles.codes, self._singles.settable.shape)
            found = self._single_pull(screening, costs)
        if found is None:
            return None
        told, missing, expected = found
        if missing > expected * max(arms.rounds, n_arms):
            return None
        if under_way and missing <= expected * under_way.get(told.pull.intervention, 0):
            return None  # what is under way will do
        return told if self._cost.below_index(told.pull, arms, gaps, typical) else None

    def _single_pull(
        self, screening: Screening, costs: NDArray[np.float64]
    ) -> tuple[ToldApart, float, float] | None:
        """Return a pull on one variable, with the nats that are missing and those expected of a row.

        `costs` are those of a round of each arm, float64 [n, K]. None if the two sets' predictions agree
        under every arm.
        """
        left = np.flatnonzero(screening.surviving)
        losses = screening.losses()
        leader = int(left[np.argmin(losses[left])])
        challenger, missing = self._hardest(screening, left[left != leader])
        first, second = screening.expert(leader), screening.expert(challenger)
        arm, by_cost = self._recent.best_arm(
            list(dict.fromkeys((*first, *second))),
            self._singles.settable,
            (first, screening.predictions(leader)),
            (second, screening.predictions(challenger)),
            costs,
            screening.scale,
        )
        pull = self._singles.pull_of.get(arm)
        if pull is None:
            return None
        return ToldApart(pull, first, second), missing, by_cost * float(costs[arm[0], arm[1]])

    def _joint_pull(self, screening: Screening) -> tuple[ToldApart, float, float] | None:
        """Return the same with all variables of leader and challenger set; None where that can't be."""
        likelihoods, likely = self._likelihoods, self._likely
        leader, start = likely.likeliest(), int(likelihoods.starts[screening.set_size - 1])
        left = np.flatnonzero(screening.surviving)
        others = left[left + start != leader]
        if not len(others):
            return None
        challenger, missing = self._hardest(screening, others)
        first, second = likelihoods.variables(leader), screening.expert(challenger)
        together = sorted({*first, *second})
        if likelihoods.n_states ** len(together) > _MOST_CELLS or not self._singles.whole[together].all():
            return None
        states, expected = best_cell(
            together,
            self._singles.settable,
            (first, likelihoods.predictions(leader)),
            (second, likelihoods.predictions(challenger + start)),
            _LEAST_COST * self._noise_scale,
            screening.scale,
        )
        if expected == 0.0:
            return None
        told = ToldApart(Pull(likely.named(together, states)), first, second)
        return told, missing, expected

    def _hardest(self, screening: Screening, candidates: NDArray[np.int64]) -> tuple[int, float]:
        """Return the candidate that is hardest to rule out, and the nats that this needs."""
        margins = screening.margins()[candidates]
        hardest = int(margins.argmin())
        return int(candidates[hardest]), float(screening.threshold - margins[hardest])
