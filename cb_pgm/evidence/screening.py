"""Screening: test from all rows which sets of variables can still be the reward's parents.

A set w of variables contains all the reward's parents iff the mean reward given all variables depends on
w's states alone. Let m_i be any prediction of the i-th reward that uses only the row's states, what was set
in it, and the rows before it. Rule w out once the lead

    min_f Σ (R_i − f(w_i))² / 2σ²  −  Σ (R_i − m_i)² / 2σ²  ≥  log(1/δ).

*The test is valid.* Let f* be the true mean given w. With e = R − f* and d = m − f*, (R − f*)² − (R − m)² =
2ed − d², and E exp((2ed − d²)/2σ²) ≤ 1 for σ-subgaussian e given the row and the past. So the exponential
of the left side with f* in place of f is a test supermartingale, and the minimum over f only lowers it. By
Ville's inequality it ever reaches 1/δ with probability at most δ, under any choice of pulls and at any
stopping time. No union bound over the sets is needed, since only the true set counts. Rewards in [0, 1]
have the logarithmic loss instead of the squares, with the same proof (`cb_pgm.evidence.losses`). The proof
takes rows in the order of time; rows that arrive together are taken in a random order, since one that
somebody chose may depend on the rewards.

*The test is fast* if m predicts well. It is the prediction of the posterior over hypotheses, which also
accumulates the leads (`cb_pgm.evidence.hypotheses`). Sets that a test has refuted go on to predict.

*It tests its own assumption* that the reward and a variable have no unobserved common cause. (Hidden causes
among the variables are harmless.) Under the null hypothesis the mean given all variables and the intervention
depends on w's states alone, so m may use whether w was set. The hypotheses `own`, `split` and `arms` do. If a
hidden cause correlates the states and the reward in rows in which the states were only observed, they predict
better, and w is ruled out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cb_pgm.evidence.hypotheses import Hypotheses
from cb_pgm.evidence.kept_rows import KeptRows

__all__ = ["Screening", "has_power", "told_apart"]

_DIFFERENCE = 0.1  # of the rewards' range (2σ): what rows must have been able to show


class Screening:
    """The test of all sets of each size on the rows of a posterior.

    Parameters
    ----------
    hypotheses
        The posterior, before its first row.
    failure_prob
        δ: the probability with which the reward's true parents (or any one set that contains them all) are
        ever ruled out. The sizes have equal shares.
    """

    def __init__(self, hypotheses: Hypotheses, failure_prob: float) -> None:
        self._hypotheses = hypotheses
        self.threshold = math.log(hypotheses.max_size / failure_prob)
        for size in range(1, hypotheses.enumerated_size + 1):
            hypotheses.limit(size, self.threshold)
        self.update()

    def update(self) -> None:
        """Take in what has been refuted or excluded since.

        It sets `set_size`, the smallest size of which a set is left, or the largest tested; and `candidates`,
        the sets of this size that are left, as positions of variables, in lexicographic order.
        """
        known, self.set_size = self._hypotheses, 0
        left: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        while not len(left) and self.set_size < known.enumerated_size:
            self.set_size += 1
            left = np.flatnonzero(~known.closed & (known.sizes == self.set_size))
        self.candidates: tuple[tuple[int, ...], ...] = tuple(known.variables(int(i)) for i in left)

    @property
    def left(self) -> int:
        """The number of sets left of the size under test; 0 if none is left of any."""
        return len(self.candidates)


def has_power(rows: NDArray[np.float64], threshold: float) -> NDArray[np.bool_]:
    """Return whether so many rows would show a difference of a tenth of the rewards' range from other rows.

    A difference d is worth d²/2σ² nats a row; `threshold` is log(1/δ).
    """
    return rows * _DIFFERENCE**2 * 2.0 >= threshold


def told_apart(
    rows: KeptRows, n_states: NDArray[np.int64], parents: Sequence[int]
) -> list[NDArray[np.float64]]:
    """Return by how many rows each state is told from the others of its variable, float64 [states] each.

    Among n_c rows with the same states of `parents`, n_cx of which have the state x, the mean rewards of
    these and of the others differ with the precision of n_cx·(n_c − n_cx)/n_c rows. This is the sum over
    the parents' joint states.
    """
    codes = rows.codes[: rows.size]
    codes = codes[(codes >= 0).all(axis=1)]
    shape = tuple(int(n_states[variable]) for variable in parents)
    cells = np.ravel_multi_index(tuple(codes[:, list(parents)].T), shape)
    found = []
    for variable, states in enumerate(n_states):
        joint = np.bincount(cells * states + codes[:, variable], minlength=math.prod(shape) * states)
        joint = joint.reshape(-1, states).astype(np.float64)
        total = joint.sum(axis=1, keepdims=True)
        found.append(
            (joint * (1.0 - np.divide(joint, total, out=np.zeros_like(joint), where=total > 0))).sum(axis=0)
        )
    return found
