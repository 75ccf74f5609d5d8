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
_SHARE = 0.1
_FIRST_LOOK = 16  # such rounds that are always granted, as an arm's first rows may mislead
_RECHECK_GROWTH = 1.1  # the open arms are determined anew each time the rounds have grown by this factor
_NARROWEST_AT = 100
# The largest cost of the other arms' rounds while all are played, relative to that of the rounds before.
_COST_SHARE = 0.05
_FIRST_PLAYED = 50  # rounds on the parents' arms after which the other arms' cost is estimated
_CLEARLY = 3.0  # standard errors by which an arm looks better


class IdentifiedPlay:
    """Anytime MOSS over the identified parents' arms and every other arm that is still open.

    An arm do(v = x) on another variable isn't played while v takes the state x often enough without
    intervention: if the identification is wrong, screening detects it from those rows. An arm whose state is
    rare stays open until it is covered (`Cover`), and any other arm is open while the rows in which it was
    set, or its cover, make it look clearly better than the parents' arms. Any is closed once the rows in
    which it was set make it look clearly worse. An open arm is played like any other, by the rows in which it
    was set, and those in which its state was only observed at the mean that cover expects. The A open arms
    that don't look better than the best of the parents' arms by a standard error get at most max(16,
    √(A·t)/10) of t rounds in total, so their regret is at most of the order of a bandit without structure. It
    is zero if no state is rare.

    Rows of other arms count for the parents' arm whose states they show, since its own rows may have been
    unlucky: then each arm that leads to its state looks better than itself. They don't count where they
    differ by three standard errors from its own rows, as they do if the other arm has a further effect.

    A wrong identification shows in what it earns: if the parents' arms yield hardly more than the others,
    playing all arms costs hardly anything. So MOSS over all arms, by the rows in which each was set, chooses
    as long as the rounds that it spends on other arms cost less than a twentieth of what all rounds before
    the identification have cost.

    Parameters
    ----------
    parent_arms
        The parents' arms, with the rows and totals that count as their own.
    cells
        int64 [len(parent_arms.arms)]: the place of each parents' arm among the joint states of `cover`.
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
    cost_before
        The estimated regret of the rounds before the identification, in units of the reward.

    Attributes
    ----------
    arms
        The arms being played: the parents' arms first, then the open arms.
    """

    def __init__(
        self,
        parent_arms: ArmTotals,
        cells: NDArray[np.int64],
        others: ArmTotals,
        codes: NDArray[np.int64],
        parents: Sequence[int],
        cover: Cover,
        refresh: Callable[[], None],
        failure_prob: float,
        noise_scale: float,
        cost_before: float,
    ) -> None:
        # Rows and totals of the parents' arms at the last recheck: those that count as their own, and those
        # that `arms` had then, which may include other arms' rows.
        self._own = self._counted = parent_arms.rows.astype(np.float64), parent_arms.totals.copy()
        self._before = self._own[0].sum(), self._own[1].sum()  # the identification
        self._n_parent_arms = len(parent_arms.arms)
        self.arms = parent_arms
        self._cells = cells
        self._others = others
        self._outside = np.flatnonzero(~np.isin(codes[:, 0], list(parents)))
        self._codes = codes[self._outside]
        self._cover = cover
        self._refresh = refresh
        self._failure_prob = failure_prob
        self._noise_scale = noise_scale
        self._recheck_at: float = 0
        self._spent = 0
        self._outsiders = {others.arms[position]: position for position in self._outside}
        self._affordable = _COST_SHARE * cost_before
        self._outsider_cost = math.inf  # of a round
        self._outsider_rounds = 0

    @property
    def open_arms(self) -> tuple[Intervention, ...]:
        """The open arms, all of them on other variables than the parents."""
        return self.arms.arms[self._n_parent_arms :]

    def add(self, intervention: Intervention, rewards: NDArray[np.float64]) -> None:
        """Count `rewards`, float64 [m], for the arm that was set."""
        position = self.arms.position(intervention)
        if position is None or position >= self._n_parent_arms:
            if position is not None and self._looks_worse(position):
                self._spent += len(rewards)
            if intervention in self._outsiders:
                self._outsider_rounds += len(rewards)
        self.arms.add(intervention, rewards)

    def next_arm(self) -> Intervention:
        """Return the arm with the highest index among those being played."""
        if self.arms.rounds >= self._recheck_at:
            self._recheck_at = math.ceil(_RECHECK_GROWTH * self.arms.rounds) + 1
            self._choose_open_arms()
            self._outsider_cost = self._other_arms_cost()
        if self._outsider_rounds * self._outsider_cost < self._affordable:
            arm = self._others.arms[self._others.highest_moss(self._noise_scale)]
            if arm in self._outsiders:
                return arm
        position = self.arms.highest_moss(self._noise_scale)
        if position >= self._n_parent_arms and self._looks_worse(position):
            n_open = len(self.arms.arms) - self._n_parent_arms
            if self._spent >= max(_FIRST_LOOK, _SHARE * math.sqrt(n_open * self.arms.rounds)):
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
        return intervention in self._outsiders

    # -- choice of open arms ---------------------------------------------------------------------------------

    def _choose_open_arms(self) -> None:
        self._refresh()
        before, n = self.arms, self._n_parent_arms
        self._own = (
            self._own[0] + before.rows[:n] - self._counted[0],
            self._own[1] + before.totals[:n] - self._counted[1],
        )
        self._counted = parents = self._rows_of_parents()
        best, lowest = self._best_mean(*parents), self._best_lower_bound(*parents)
        variables, states = self._codes[:, 0], self._codes[:, 1]
        estimates, rows = (known[variables, states] for known in self._cover.estimates())
        own_rows, own_totals = self._others.rows[self._outside], self._others.totals[self._outside]
        own = np.divide(own_totals, own_rows, out=np.full(len(own_rows), -np.inf), where=own_rows > 0)
        clearly, own_clearly = (
            _CLEARLY * self._noise_scale / np.sqrt(np.maximum(counted, 1)) for counted in (rows, own_rows)
        )
        rare = self._cover.rare()[variables, states]
        is_open = rare | (estimates - clearly > best) | (own - own_clearly > best)
        is_open &= (own_rows == 0) | (own + own_clearly >= best)
        for place in np.flatnonzero(is_open):
            is_open[place] = self._cover.upper_bound(estimates[place], rows[place]) >= lowest
        # Rows in which the state was only observed count as so many of the mean that cover expects.
        seen = np.maximum(rows - own_rows, 0)[is_open].astype(np.int64)
        expected = seen * np.where(seen > 0, estimates[is_open], 0.0)
        chosen = self._outside[is_open]
        self.arms = ArmTotals((*before.arms[:n], *(self._others.arms[position] for position in chosen)))
        self.arms.rows[:] = np.concatenate([parents[0], own_rows[is_open] + seen])
        self.arms.totals[:] = np.concatenate([parents[1], own_totals[is_open] + expected])
        self.arms.rounds, self.arms.in_unit_interval = before.rounds, before.in_unit_interval

    def _rows_of_parents(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return rows and totals of the parents' arms, those of other arms included where they may count."""
        own_rows, own_totals = self._own
        rows, totals = (counted[self._cells] for counted in self._cover.cells())
        with np.errstate(divide="ignore", invalid="ignore"):
            differ = np.abs(totals / rows - own_totals / own_rows) * np.sqrt(own_rows)
        count = (rows > own_rows) & ~(differ > _CLEARLY * self._noise_scale)
        return np.where(count, rows, own_rows), np.where(count, totals, own_totals)

    def _other_arms_cost(self) -> float:
        """Return by how much a round on the parents' arms yields more than one on another arm.

        Each other arm counts once: those that are nearly as good have most of the rows.
        """
        rows, totals = self._others.rows[self._outside], self._others.totals[self._outside]
        pulled = rows > 0
        played = self._own[0].sum() - self._before[0]
        if played < _FIRST_PLAYED or not pulled.any():
            return math.inf
        gain = (self._own[1].sum() - self._before[1]) / played - (totals[pulled] / rows[pulled]).mean()
        return max(0.0, float(gain))

    @staticmethod
    def _best_mean(rows: NDArray[np.float64], totals: NDArray[np.float64]) -> float:
        means = np.divide(totals, rows, out=np.full(len(rows), -np.inf), where=rows > 0)
        return float(means.max())

    def _best_lower_bound(self, rows: NDArray[np.float64], totals: NDArray[np.float64]) -> float:
        mixing = best_mixing_rows(_NARROWEST_AT, self._failure_prob)
        return max(
            total / counted - anytime_radius(counted, self._failure_prob, self._noise_scale, mixing)
            if counted
            else -math.inf
            for counted, total in zip(rows.tolist(), totals.tolist(), strict=True)
        )

    def _looks_worse(self, position: int) -> bool:
        """Return whether an arm's mean isn't above that of the parents' best arm by a standard error."""
        n, rows, totals = self._n_parent_arms, self.arms.rows, self.arms.totals
        if not rows[position]:
            return True
        means = np.divide(totals[:n], rows[:n], out=np.full(n, -np.inf), where=rows[:n] > 0)
        best = int(np.argmax(means))
        error = self._noise_scale * math.sqrt(1 / rows[position] + 1 / max(int(rows[best]), 1))
        return bool(totals[position] / rows[position] < means[best] + error)
