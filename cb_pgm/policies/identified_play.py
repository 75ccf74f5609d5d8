"""Anytime MOSS on the identified parents' arms and on other arms that may still be better."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from cb_pgm.evidence.confidence import anytime_radius, best_mixing_rows
from cb_pgm.evidence.cover import Cover
from cb_pgm.model.intervention import Intervention
from cb_pgm.policies.arms import ArmTotals

__all__ = ["IdentifiedPlay"]

# Times √(open arms · rounds): the largest number of rounds on open arms that look worse than the parents'.
_SHARE = 0.5
_RECHECK_GROWTH = 1.1  # the open arms are determined anew each time the rounds have grown by this factor
_NARROWEST_AT = 100


class IdentifiedPlay:
    """Anytime MOSS over the identified parents' arms and every other arm that is still open.

    An arm do(v = x) on another variable isn't played while v takes the state x often enough without
    intervention: if the identification is wrong, screening detects it from those rows. An arm whose state is
    rare stays open until it is covered (`Cover`). An open arm is played like any other, by the rows in which
    it was set. The A open arms that look worse than the best of the parents' arms get at most ½√(A·t) of t
    rounds in total, so their regret is of the order of a bandit without structure. It is zero if no state is
    rare.

    Parameters
    ----------
    parent_arms
        The parents' arms, with the rows and totals of all rows with their states, set or observed.
    others
        All single-variable arms, with the rows in which they were set; the caller keeps them up to date.
    codes
        int64 [len(others.arms), 2]: the positions of the variable and the state of each arm in `others`.
    parents
        The positions of the identified variables; their single-variable arms are never open.
    cover
        The upper bounds on the means of the other arms.
    refresh
        Called before `cover` is read, to bring it up to date.
    failure_prob
        The failure probability of each lower bound on the mean of a parents' arm.
    noise_scale
        σ, as in `Policy`.

    Attributes
    ----------
    arms
        The arms being played: the parents' arms first, then the open arms.
    """

    def __init__(
        self,
        parent_arms: ArmTotals,
        others: ArmTotals,
        codes: NDArray[np.int64],
        parents: Sequence[int],
        cover: Cover,
        refresh: Callable[[], None],
        failure_prob: float,
        noise_scale: float,
    ) -> None:
        self.arms = parent_arms
        self._n_parent_arms = len(parent_arms.arms)
        self._others = others
        self._outside = np.flatnonzero(~np.isin(codes[:, 0], list(parents)))
        self._codes = codes[self._outside]
        self._cover = cover
        self._refresh = refresh
        self._failure_prob = failure_prob
        self._noise_scale = noise_scale
        self._recheck_at: float = 0
        self._spent = 0

    @property
    def open_arms(self) -> tuple[Intervention, ...]:
        """The open arms, all of them on other variables than the parents."""
        return self.arms.arms[self._n_parent_arms :]

    def add(self, intervention: Intervention, rewards: NDArray[np.float64]) -> None:
        """Count `rewards`, float64 [m], for the arm that was set."""
        if len(self.arms.arms) > self._n_parent_arms:
            position = self.arms.position(intervention)
            if position is not None and position >= self._n_parent_arms and self._looks_worse(position):
                self._spent += len(rewards)
        self.arms.add(intervention, rewards)

    def next_arm(self) -> Intervention:
        """Return the arm with the highest index among those being played."""
        if self.arms.rounds >= self._recheck_at:
            self._recheck_at = math.ceil(_RECHECK_GROWTH * self.arms.rounds) + 1
            self._choose_open_arms()
        position = self.arms.highest_moss(self._noise_scale)
        if position >= self._n_parent_arms and self._looks_worse(position):
            n_open = len(self.arms.arms) - self._n_parent_arms
            if self._spent >= _SHARE * math.sqrt(n_open * self.arms.rounds):
                parents_only = np.arange(len(self.arms.arms)) < self._n_parent_arms
                position = self.arms.highest_moss(self._noise_scale, parents_only)
        return self.arms.arms[position]

    @contextmanager
    def counting(self, under_way: Mapping[Intervention, int]) -> Iterator[None]:
        """Count pending rows, as `ArmTotals.counting` does; the set of open arms stays the same."""
        recheck_at, self._recheck_at = self._recheck_at, math.inf
        try:
            with self.arms.counting(under_way):
                yield
        finally:
            self._recheck_at = recheck_at

    def is_outsider(self, intervention: Intervention) -> bool:
        """Return whether `intervention` is an open arm, on another variable than the parents."""
        return (self.arms.position(intervention) or 0) >= self._n_parent_arms

    # -- choice of open arms ---------------------------------------------------------------------------------

    def _choose_open_arms(self) -> None:
        self._refresh()
        variables, states = self._codes[:, 0], self._codes[:, 1]
        is_open = self._cover.rare()[variables, states]
        if is_open.any():
            bounds = self._cover.upper_bounds()[variables, states]
            is_open &= bounds >= self._best_lower_bound()
        chosen = self._outside[is_open]
        before, n = self.arms, self._n_parent_arms
        self.arms = ArmTotals((*before.arms[:n], *(self._others.arms[position] for position in chosen)))
        self.arms.rows[:] = np.concatenate([before.rows[:n], self._others.rows[chosen]])
        self.arms.totals[:] = np.concatenate([before.totals[:n], self._others.totals[chosen]])
        self.arms.rounds = before.rounds
        self.arms.in_unit_interval = before.in_unit_interval

    def _best_lower_bound(self) -> float:
        mixing = best_mixing_rows(_NARROWEST_AT, self._failure_prob)
        best = -math.inf
        for position in range(self._n_parent_arms):
            rows = int(self.arms.rows[position])
            if rows:
                radius = anytime_radius(rows, self._failure_prob, self._noise_scale, mixing)
                best = max(best, float(self.arms.totals[position]) / rows - radius)
        return best

    def _looks_worse(self, position: int) -> bool:
        rows, totals = self.arms.rows, self.arms.totals
        if not rows[position]:
            return True
        n = self._n_parent_arms
        means = np.divide(totals[:n], rows[:n], out=np.full(n, -np.inf), where=rows[:n] > 0)
        return bool(totals[position] / rows[position] < means.max())
