"""Upper bounds on the means of other arms from all rows, once the reward's parents are identified.

Let w be the identified parents and f(w) the mean reward given their states. If w are all parents, the mean of
an arm do(v = x) is Σ P(w's states | do(v = x))·f, at most f's maximum. If v has a further effect on the
reward, it shows in the residuals R − f(w) of the rows with v = x, set or observed. Therefore an arm is
*covered* if its prediction plus the upper confidence bound of its mean residual lies below the lower bound of
w's best arm. The prediction uses the frequencies of w's states in rows in which w wasn't set: in all of them
or in those with v = x, whichever gives the higher value.

Cover isn't a proof about do(v = x): a hidden cause of v and the reward can make the residuals vanish. It
decides only how rounds are spent; claims about an arm rest on the rows in which it was set.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cb_pgm.evidence.confidence import anytime_radius, best_mixing_rows
from cb_pgm.evidence.screening import Screening

__all__ = ["Cover"]

_RARE = 0.25  # of an equal share of the rows: a state that occurs less often is rare
_NARROWEST_AT = 100  # the number of rows at which the bound of a residual is narrowest


class Cover:
    """Counts and residuals of every state of every variable, given one set w; O(n) a row, compiled.

    Parameters
    ----------
    n_states
        The number of states of each of the n variables.
    parents
        The positions of w's variables.
    failure_prob
        The probability with which the bound of an arm's mean residual is ever too low. It holds for each arm
        separately, without a union bound, since no claim is made about covered arms.
    noise_scale
        σ of the reward given w, in units of the reward.
    """

    def __init__(
        self, n_states: Sequence[int], parents: Sequence[int], failure_prob: float, noise_scale: float
    ) -> None:
        n, largest = len(n_states), max(n_states, default=1)
        self._parents: NDArray[np.int64] = np.asarray(parents, dtype=np.int64)
        self._cards: NDArray[np.float64] = np.asarray(n_states, dtype=np.float64)
        self._failure_prob = failure_prob
        self._noise_scale = noise_scale
        self._caught_up = 0
        cells = largest ** len(parents)
        # Rows by (v, x, w's states), all of them and those in which w wasn't set.
        self._joint: NDArray[np.float64] = np.zeros((2, n, largest, cells))
        # By (v, x): reward totals, and rows in which v wasn't set.
        self._by_state: NDArray[np.float64] = np.zeros((2, n, largest))
        # By w's states: rows, reward totals, rows in which w wasn't set.
        self._by_cell: NDArray[np.float64] = np.zeros((3, cells))

    def add(self, codes: NDArray[np.int16], rewards: NDArray[np.float64], was_set: NDArray[np.bool_]) -> None:
        """Add rows: codes int16 [m, n], rewards float64 [m], and which variables were set, bool [m, n]."""
        _add(
            codes,
            rewards,
            was_set,
            self._parents,
            self._joint.shape[2],
            self._joint,
            self._by_state,
            self._by_cell,
        )

    def catch_up(self, screening: Screening) -> None:
        """Add the rows that `screening` has kept since the last call."""
        codes, rewards, was_set = screening.log(self._caught_up)
        self.add(codes, rewards, was_set)
        self._caught_up += len(rewards)

    @property
    def set_rows(self) -> int:
        """The number of rows in which all of w was set."""
        return int((self._by_cell[0] - self._by_cell[2]).sum())

    def cells(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return rows and reward total of each joint state of w, each float64 [cells].

        The state of w's first variable changes fastest, with a stride of K, the largest number of states.
        """
        return self._by_cell[0], self._by_cell[1]

    def contrasts(self) -> NDArray[np.float64]:
        """Return by how many rows each state is told from the others of its variable, float64 [n, K].

        Among n_c rows with the same states of w, n_cx of which have v = x, the mean rewards of these and of
        the others differ with the precision of n_cx·(n_c − n_cx)/n_c rows. This is the sum over w's states.
        """
        rows = self._by_cell[0]
        joint = self._joint[0]
        shares = np.divide(joint, rows, out=np.zeros_like(joint), where=rows > 0)
        contrasts: NDArray[np.float64] = (joint * (1.0 - shares)).sum(axis=2)
        return contrasts

    def rare(self) -> NDArray[np.bool_]:
        """Return the rare states of each variable, bool [n, K].

        A state is rare if it occurs in at most a quarter of an equal share of the rows in which its variable
        wasn't set.
        """
        seen = self._by_state[1]
        rare: NDArray[np.bool_] = seen <= _RARE * seen.sum(axis=1, keepdims=True) / self._cards[:, None]
        return rare

    def estimates(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what the rows say of each arm, each float64 [n, K].

        Returns
        -------
        estimates
            Prediction plus mean residual; −∞ without rows.
        rows
            The number of rows with the arm's state, set or observed.
        """
        rows, totals, unset = self._by_cell
        means = np.divide(totals, rows, out=np.zeros_like(totals), where=rows > 0)
        joint, natural = self._joint
        together = joint.sum(axis=2)
        predicted = np.full(together.shape, means[rows > 0].max(initial=-np.inf))
        if unset.sum() > 0:
            shares = natural.sum(axis=2)
            by_state = np.divide(natural @ means, shares, out=np.full_like(shares, -np.inf), where=shares > 0)
            predicted = np.maximum(by_state, unset @ means / unset.sum())
        residuals = self._by_state[0] - joint @ means
        mean = np.divide(residuals, together, out=np.full_like(together, -np.inf), where=together > 0)
        return predicted + mean, together

    def upper_bound(self, estimate: float, rows: float) -> float:
        """Return prediction plus upper bound of the mean residual, given an arm's `estimates`.

        It is infinite without rows.
        """
        if not rows:
            return np.inf
        mixing = best_mixing_rows(_NARROWEST_AT, self._failure_prob)
        return estimate + anytime_radius(rows, self._failure_prob, self._noise_scale, mixing)

    def upper_bounds(self) -> NDArray[np.float64]:
        """Return the upper bound of each arm, float64 [n, K]."""
        estimates, rows = self.estimates()
        bounds = [self.upper_bound(*arm) for arm in zip(estimates.flat, rows.flat, strict=True)]
        return np.reshape(bounds, rows.shape)


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba carries no types
def _add(
    codes: NDArray[np.int16],
    rewards: NDArray[np.float64],
    was_set: NDArray[np.bool_],
    parents: NDArray[np.int64],
    n_states: int,
    joint: NDArray[np.float64],
    by_state: NDArray[np.float64],
    by_cell: NDArray[np.float64],
) -> None:
    for row in range(len(rewards)):
        cell, stride, all_set = 0, 1, True
        for parent in parents:
            cell += stride * codes[row, parent]
            stride *= n_states
            all_set &= was_set[row, parent]
        by_cell[0, cell] += 1.0
        by_cell[1, cell] += rewards[row]
        if not all_set:
            by_cell[2, cell] += 1.0
        for variable in range(codes.shape[1]):
            state = codes[row, variable]
            joint[0, variable, state, cell] += 1.0
            by_state[0, variable, state] += rewards[row]
            if not all_set:
                joint[1, variable, state, cell] += 1.0
            if not was_set[row, variable]:
                by_state[1, variable, state] += 1.0
