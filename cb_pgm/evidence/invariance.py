"""Invariance screening: which variables explain what interventions change, whatever else moves the reward.

Screening asks that nothing else predicts the reward once the states of a set w are known, so a variable that
shows a hidden cause of the reward makes the reward's true parents fall. Here the null hypothesis for w is
weaker: E[R | w's states, arm, past] depends on w's states alone, where the arm is the intervention made in
the row and do() counts as one. Other variables' states in the row don't enter. Each w has a test of its own.
With m_i a prediction of the i-th reward from w's states, the arm and the past, rule w out once

    min_f Σ (R_i − f(w_i))² / 2σ²  −  Σ (R_i − m_i)² / 2σ²  ≥  log(1/δ).

*It is right.* Let f* be the true mean given w's states. With e = R − f* and d = m − f*, (R − f*)² − (R − m)²
= 2ed − d². Under the null e has mean 0 given w's states, the arm and the past, and d is a function of these,
so E exp((2ed − d²)/2σ²) ≤ 1 for σ-subgaussian e. Hence the exponential of the left side with f* in f's place
is a test supermartingale, the minimum over f only lowers it, and by Ville's inequality it ever reaches 1/δ
with probability at most δ, however arms are chosen from the past and whenever one looks. There is no union
bound over the sets: only the test of the true parents can cost the right answer.

*Where the null holds.* For the reward's observed parents, as long as no hidden cause of the reward reaches
them or their ancestors: then the hidden cause is as likely at each of their states, under every arm. It may
move any other variable.

*What m is.* The average of experts, weighted by exp(−past loss). One is the running mean by w's states, drawn
to the overall mean. The others are running means by w's states and arm, drawn to the former as if by 4, 32 or
256 rows. Where an arm changes the reward in another way than through w, they predict better: the first soon,
the last also if there are many arms, each with few rows, and one with many.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cb_pgm.evidence.hypotheses import Hypotheses
from cb_pgm.evidence.kept_rows import KeptRows
from cb_pgm.evidence.screening import has_power

__all__ = ["InvarianceFollowUp", "InvarianceScreening"]

_PRIOR_ROWS = 4.0  # a running mean by state starts as this many rows at the overall mean
_PRIOR_ROWS_OF_ARMS = np.array([4.0, 32.0, 256.0])  # those by state and arm, at the mean by state
_MOST_CELLS = 2**23  # running means kept: bounds memory, 16 bytes each


class InvarianceScreening:
    """The test, on all sets of `set_size` variables at once; O(sets) a row, compiled.

    Parameters
    ----------
    n_states
        The number of states of each of the n variables.
    set_size
        p ≥ 1: the candidates are all sets of p variables.
    failure_prob
        δ: the probability with which the reward's true parents (or any one set for which the null holds) are
        ever ruled out.
    noise_scale
        σ such that the reward is σ-subgaussian about its mean given its observed parents.

    Attributes
    ----------
    candidates
        int64 [m, p]: the candidate sets, in lexicographic order.
    surviving
        bool [m]: those not ruled out.
    left
        How many those are.
    rows
        Rows tested so far. The very first row only sets the origin of the rewards and is not among them.

    Notes
    -----
    Memory grows with candidates × joint states × arms met, up to 2²³ of them (128 MB). Arms met after that
    share one running mean, which costs power only.
    """

    def __init__(
        self, n_states: Sequence[int], set_size: int, failure_prob: float, noise_scale: float
    ) -> None:
        self.threshold = -math.log(failure_prob)
        self.candidates: NDArray[np.int64] = np.array(
            list(itertools.combinations(range(len(n_states)), set_size)), dtype=np.int64
        )
        m = len(self.candidates)
        self.surviving: NDArray[np.bool_] = np.ones(m, dtype=np.bool_)
        self.left = m
        self.rows = 0
        self.scale = 2.0 * noise_scale**2
        self._n_states = max(n_states, default=1)
        cells = self._n_states**set_size
        self._most_arms = max(1, _MOST_CELLS // max(m * cells, 1))
        # Rows and reward totals per joint state of each candidate; then the same per arm. One arm's cells lie
        # together, since a row needs those of one arm only.
        self._by_state: NDArray[np.float64] = np.zeros((2, m, cells))
        self._by_arm: NDArray[np.float64] = np.zeros((1, 2, m, cells))
        # The best fit's loss, the predictions', and each expert's.
        self._scores: NDArray[np.float64] = np.zeros((3 + len(_PRIOR_ROWS_OF_ARMS), m))
        self._total = 0.0
        self._origin = math.nan

    def observe(
        self,
        codes: NDArray[np.int16],
        rewards: NDArray[np.float64],
        arm_number: int | NDArray[np.int64],
    ) -> None:
        """Take in rows, in the order in which they were seen.

        Parameters
        ----------
        codes, rewards
            Each variable's state, int16 [m, n], and the rewards, float64 [m].
        arm_number
            The number of the intervention made in these rows, counted from 0 as they are met: one for all
            rows or int64 [m].
        """
        if not len(rewards):
            return
        arms = np.minimum(np.full(len(rewards), arm_number, dtype=np.int64), self._most_arms - 1)
        self._make_room(int(arms.max()) + 1)
        start = 0
        if math.isnan(self._origin):
            self._origin = float(rewards[0])
            start = 1
        self._total, gone = _observe(
            codes,
            rewards,
            arms,
            start,
            self._origin,
            self.candidates,
            self._n_states,
            self._by_state,
            self._by_arm,
            self._scores,
            self.surviving,
            self._total,
            self.rows,
            self.scale,
            self.threshold,
            _PRIOR_ROWS_OF_ARMS,
        )
        self.rows += len(rewards) - start
        self.left -= gone

    def contrasts(self, position: int) -> NDArray[np.float64]:
        """Return by how many rows each arm is told from the others, float64 [arms met], given a candidate.

        As `told_apart`, for the rows of an arm beside those of others with the candidate's same states.
        """
        rows, by_arm = self._by_state[0, position], self._by_arm[:, 0, position]
        shares = np.divide(by_arm, rows, out=np.zeros_like(by_arm), where=rows > 0)
        contrasts: NDArray[np.float64] = (by_arm * (1.0 - shares)).sum(axis=1)
        return contrasts

    def _make_room(self, arms: int) -> None:
        have = len(self._by_arm)
        if arms > have:
            more = min(max(arms, 2 * have), self._most_arms) - have
            self._by_arm = np.concatenate([self._by_arm, np.zeros((more, *self._by_arm.shape[1:]))])


class InvarianceFollowUp:
    """The test on the rows of a posterior, once these have refuted every set.

    If one set is left, it has survived alone for a while, and each of its variables was set often enough to
    have shown a difference between setting and observing it, it is identified.

    Parameters
    ----------
    hypotheses
        The posterior, whose rows are tested.
    failure_prob, noise_scale
        As in `InvarianceScreening`.
    arms
        The positions of the variable and of its state for each arm on one variable, in the order of numbers.
    alone
        The factor by which rows have to grow while a single set is left: false ones fall one after the
        other, and the last of them is no better than those before it.

    Attributes
    ----------
    test
        The test of the sets.
    identified
        The positions of the identified variables; empty while there are none.
    """

    def __init__(
        self,
        hypotheses: Hypotheses,
        failure_prob: float,
        noise_scale: float,
        arms: Sequence[tuple[int, int]],
        alone: float,
    ) -> None:
        n_states = [int(states) for states in hypotheses.n_states]
        self.test = InvarianceScreening(n_states, hypotheses.max_size, failure_prob, noise_scale)
        self.identified: tuple[int, ...] = ()
        self._arms, self._alone, self._alone_at = arms, alone, 0
        self._set_rows = np.zeros(len(n_states))

    def observe(self, rows: KeptRows, start: int) -> None:
        """Test the sets with the rows kept from `start` on, as far as all their states are known."""
        new = slice(start, rows.size)
        complete = (rows.codes[new] >= 0).all(axis=1)
        self._set_rows += rows.was_set(start)[complete].sum(axis=0)
        test = self.test
        left = test.left
        # Rows that nobody asked for have the number −1.
        arms = rows.places[new, 0][complete] + 1
        test.observe(rows.codes[new][complete], rows.values[new, 0][complete], arms)
        if left > 1 == test.left:
            self._alone_at = test.rows
        if test.left == 0:
            self.identified = ()
        elif test.left == 1 and not self.identified and test.rows >= self._alone * self._alone_at:
            (only,) = self.left()
            # A variable that shows the hidden cause may be left for want of rows in which it was set.
            if has_power(self._set_rows[list(only)], test.threshold).all():
                self.identified = only

    def left(self) -> list[tuple[int, ...]]:
        """Return the sets left, as positions of variables."""
        return [tuple(int(v) for v in row) for row in self.test.candidates[self.test.surviving]]

    def unshown(self) -> list[int]:
        """Return the variables whose arms were pulled too seldom to show an effect beside the identified
        set.
        """
        if not self.identified:
            return []
        contrasts = self.test.contrasts(int(np.flatnonzero(self.test.surviving)[0]))[1:]
        rows = np.zeros(len(self._arms))
        known = min(len(rows), len(contrasts))
        rows[:known] = contrasts[:known]
        shown = has_power(rows, self.test.threshold)
        unshown = {variable for (variable, _), enough in zip(self._arms, shown, strict=True) if not enough}
        return sorted(unshown.difference(self.identified))


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba carries no types
def _observe(
    codes: NDArray[np.int16],
    rewards: NDArray[np.float64],
    arms: NDArray[np.int64],
    start: int,
    origin: float,
    candidates: NDArray[np.int64],
    n_states: int,
    by_state: NDArray[np.float64],
    by_arm: NDArray[np.float64],
    scores: NDArray[np.float64],
    surviving: NDArray[np.bool_],
    total: float,
    rows: int,
    scale: float,
    threshold: float,
    prior_rows: NDArray[np.float64],
) -> tuple[float, int]:
    """Take in rows; return the total of all rewards so far and how many candidates the rows rule out."""
    counts, sums = by_state[0], by_state[1]
    fits, losses, of_expert = scores[0], scores[1], scores[2:]
    experts, gone = len(of_expert), 0
    predictions = np.empty(experts)
    for row in range(start, len(rewards)):
        reward = rewards[row] - origin
        overall = total / (rows + 1.0)
        arm_counts, arm_sums = by_arm[arms[row], 0], by_arm[arms[row], 1]
        for candidate in range(len(candidates)):
            if not surviving[candidate]:
                continue
            cell, stride = 0, 1
            for position in range(candidates.shape[1]):
                cell += stride * codes[row, candidates[candidate, position]]
                stride *= n_states
            count = counts[candidate, cell]
            of_state = (sums[candidate, cell] + _PRIOR_ROWS * overall) / (count + _PRIOR_ROWS)
            predictions[experts - 1] = of_state
            arm_sum, arm_count = arm_sums[candidate, cell], arm_counts[candidate, cell]
            for expert in range(experts - 1):
                prior = prior_rows[expert]
                predictions[expert] = (arm_sum + prior * of_state) / (arm_count + prior)
            lowest, weight, mixed = of_expert[:, candidate].min(), 0.0, 0.0
            for expert in range(experts):
                share = math.exp(lowest - of_expert[expert, candidate])
                weight += share
                mixed += share * predictions[expert]
                of_expert[expert, candidate] += (reward - predictions[expert]) ** 2 / scale
            losses[candidate] += (reward - mixed / weight) ** 2 / scale
            if count > 0.0:
                # Adding a value to a group of `count` raises its sum of squares about its mean so much.
                off = reward - sums[candidate, cell] / count
                fits[candidate] += count * off * off / ((count + 1.0) * scale)
            counts[candidate, cell] += 1.0
            sums[candidate, cell] += reward
            arm_counts[candidate, cell] += 1.0
            arm_sums[candidate, cell] += reward
            if fits[candidate] - losses[candidate] >= threshold:
                surviving[candidate] = False
                gone += 1
        total += reward
        rows += 1
    return total, gone
