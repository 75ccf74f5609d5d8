"""Play once the reward's parents are identified: on their arms, without losing sight of the others."""

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

_SHARE = 0.5  # times √(open arms · rounds): the most rounds spent on arms that look worse than the parents'
_RECHECK_GROWTH = (
    1.1  # which arms are open is judged anew each time that the rounds have grown by this factor
)
_NARROWEST_AT = 100


class IdentifiedPlay:
    """Anytime MOSS over the identified parents' arms and every other arm that is still open.

    An arm do(v = x) on another variable is left to the rows in which v takes the state x by itself while
    there are enough of them: where the identification is wrong, screening finds it out from those. An arm
    whose state is rare is open until it is covered (`Cover`), and then is played like any other: by the rows
    in which it was set. While it looks worse than the best of the parents' arms it gets at most ½√(A·t) of t
    rounds together with the other A open ones, so what they cost is of the order of a bandit without
    structure, and nothing where every state comes about by itself.

    Parameters
    ----------
    parent_arms
        With rows and totals of all rows that had the parents' states, whatever was set.
    others
        Rows and totals of all single-variable arms, from rows in which they were set, kept by whoever plays.
    codes
        int64 [len(others.arms), 2]: variable and state of each of them.
    parents
        The positions of the identified variables; their own single arms are not open.
    cover
        What the rows say of the other arms.
    refresh
        Called before `cover` is looked at, to bring it up to date.
    failure_prob, noise_scale
        Of the lower bound of the parents' best arm, and σ.

    Attributes
    ----------
    arms
        Those in the game: the parents' first, then the open ones.
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
        """The arms on other variables that are in the game."""
        return self.arms.arms[self._n_parent_arms :]

    def add(self, intervention: Intervention, rewards: NDArray[np.float64]) -> None:
        """Count rows for the arm that was set."""
        if len(self.arms.arms) > self._n_parent_arms:
            position = self.arms.position(intervention)
            if position is not None and position >= self._n_parent_arms and self._looks_worse(position):
                self._spent += len(rewards)
        self.arms.add(intervention, rewards)

    def next_arm(self) -> Intervention:
        """Return the arm of the highest index among those in the game."""
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
        """Count rows still to come, as `ArmTotals.counting` does; the arms in the game stay the same."""
        recheck_at, self._recheck_at = self._recheck_at, math.inf
        try:
            with self.arms.counting(under_way):
                yield
        finally:
            self._recheck_at = recheck_at

    def is_outsider(self, intervention: Intervention) -> bool:
        """Return whether it is an arm of the game on other variables than the parents."""
        return (self.arms.position(intervention) or 0) >= self._n_parent_arms

    # -- which arms are open ---------------------------------------------------------------------------------

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
