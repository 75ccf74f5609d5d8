"""How well every set of variables explains the rewards so far: the posterior of the reward's parents.

Each set up to a size predicts the next reward from the rows with the same states of its variables, set or
observed. The sum of its log losses is −log of the probability that it gave to all rewards in advance, so the
posterior of a set is its prior times exp(−loss). A larger set predicts worse at first, since it has more
means to learn; this is the only price of size. Screening (`cb_pgm.evidence.screening`) rules sets out with a
proven error; the posterior decides only how rounds are spent meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cb_pgm.evidence.losses import LOGARITHMIC, loss
from cb_pgm.evidence.records import all_in_unit_interval
from cb_pgm.evidence.screening import candidate_sets

__all__ = ["SetLikelihoods"]

_PRIOR_ROWS = 4.0  # rows at the overall mean from which a set's prediction of a reward of any scale starts
_NEGLIGIBLE = 40.0  # nats below the likeliest set from which on a set's weight counts as 0


class SetLikelihoods:
    """Rows, reward totals and log losses of all sets of one to `max_size` variables; O(sets) a row, compiled.

    Every size has the same prior probability, shared equally by its sets. Rewards in [0, 1] are predicted as
    by a uniform prior of each cell's mean, with the loss −R log m − (1 − R) log(1 − m); others with the loss
    (R − m)²/2σ².

    Parameters
    ----------
    n_states
        The number of states of each of the n variables.
    max_size
        The largest number of variables of a set.
    noise_scale
        σ of the reward given its parents, in units of the reward.
    in_unit_interval
        Whether rewards count as in [0, 1]; they do until one outside is observed.

    Attributes
    ----------
    sets
        int64 [m, max_size]: the positions of each set's variables, then −1; ascending size, and in
        lexicographic order within a size.
    starts
        int64 [max_size + 1]: where the sets of each size start, from size 1 on, and m.
    log_weights
        float64 [m]: the logarithm of each set's posterior, up to a constant.
    rows, totals
        float64 [m, cells]: rows and reward total of each set's joint states. The first variable's state
        changes fastest, with a stride of K, the largest number of states.

    Raises
    ------
    PolicyError
        If there are more than 20,000 sets of a size.
    """

    def __init__(
        self, n_states: Sequence[int], max_size: int, noise_scale: float, in_unit_interval: bool
    ) -> None:
        n, self.n_states = len(n_states), max(n_states, default=1)
        by_size = [candidate_sets(n, size) for size in range(1, max_size + 1)]
        self.starts: NDArray[np.int64] = np.cumsum([0, *map(len, by_size)])
        self.sets: NDArray[np.int64] = np.full((self.starts[-1], max_size), -1, dtype=np.int64)
        self.log_weights: NDArray[np.float64] = np.empty(len(self.sets))
        for size, found in enumerate(by_size, start=1):
            block = slice(self.starts[size - 1], self.starts[size])
            self.sets[block, :size] = found
            self.log_weights[block] = -math.log(max(len(found), 1))
        self.rows: NDArray[np.float64] = np.zeros((len(self.sets), self.n_states**max_size))
        self.totals: NDArray[np.float64] = np.zeros_like(self.rows)
        self.in_unit_interval = in_unit_interval
        self._scale = 2.0 * noise_scale**2
        self._overall: NDArray[np.float64] = np.zeros(2)  # rows, reward total

    def add(self, codes: NDArray[np.int16], rewards: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add rows, and return what was predicted of each reward from its states and the rows before it.

        A row with unknown states counts for the sets whose states it has, without a loss, since others
        couldn't predict it.

        Parameters
        ----------
        codes, rewards
            int16 [m, n], −1 where a state is unknown, and float64 [m].

        Returns
        -------
        float64 [m]
            The mean of the sets' predictions, weighted by their posterior; that of the very first row is 0.
        """
        if self.in_unit_interval and len(rewards):
            self.in_unit_interval = all_in_unit_interval(rewards)
        predicted = np.empty(len(rewards))
        _add(
            codes,
            rewards,
            self.sets,
            self.n_states,
            self.rows,
            self.totals,
            self.log_weights,
            self._overall,
            LOGARITHMIC if self.in_unit_interval else self._scale,
            predicted,
        )
        return predicted

    def variables(self, number: int) -> tuple[int, ...]:
        """Return the positions of a set's variables."""
        return tuple(int(variable) for variable in self.sets[number] if variable >= 0)

    def predictions(self, number: int) -> NDArray[np.float64]:
        """Return a set's prediction per joint state, float64 [cells], laid out as `rows`."""
        prior_rows, mean = 2.0, 0.5
        if not self.in_unit_interval:
            prior_rows, mean = _PRIOR_ROWS, float(self._overall[1] / max(self._overall[0], 1.0))
        rows, totals = self.rows[number], self.totals[number]
        predictions: NDArray[np.float64] = (totals + prior_rows * mean) / (rows + prior_rows)
        return predictions

    def draw(self, open_sets: NDArray[np.bool_], uniform: float) -> int:
        """Return the number of a set drawn from the posterior among `open_sets`, bool [m].

        `uniform` is a random number in [0, 1).
        """
        return int(_draw(self.log_weights, open_sets, uniform))


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba carries no types
def _add(
    codes: NDArray[np.int16],
    rewards: NDArray[np.float64],
    sets: NDArray[np.int64],
    n_states: int,
    rows: NDArray[np.float64],
    totals: NDArray[np.float64],
    log_weights: NDArray[np.float64],
    overall: NDArray[np.float64],
    scale: float,
    mixed: NDArray[np.float64],
) -> None:
    for row in range(len(codes)):
        reward, complete = rewards[row], True
        for variable in range(codes.shape[1]):
            complete &= codes[row, variable] >= 0
        mean = overall[1] / max(overall[0], 1.0)
        highest, weight, total = log_weights.max(), 0.0, 0.0
        for number in range(len(sets)):
            cell, stride, known = 0, 1, True
            for position in range(sets.shape[1]):
                variable = sets[number, position]
                if variable < 0:
                    break
                known &= codes[row, variable] >= 0
                cell += stride * codes[row, variable]
                stride *= n_states
            if not known:
                continue
            if scale > 0.0:
                predicted = (totals[number, cell] + _PRIOR_ROWS * mean) / (rows[number, cell] + _PRIOR_ROWS)
            else:
                predicted = (totals[number, cell] + 1.0) / (rows[number, cell] + 2.0)
            if highest - log_weights[number] < _NEGLIGIBLE:
                share = math.exp(log_weights[number] - highest)
                weight += share
                total += share * predicted
            if complete:
                log_weights[number] -= loss(reward, predicted, scale)
            rows[number, cell] += 1.0
            totals[number, cell] += reward
        mixed[row] = total / weight if overall[0] > 0.0 and weight > 0.0 else 0.0
        overall[0] += 1.0
        overall[1] += reward


@njit(cache=True)  # type: ignore[untyped-decorator]
def _draw(log_weights: NDArray[np.float64], open_sets: NDArray[np.bool_], uniform: float) -> int:
    highest, likeliest = -np.inf, 0
    for number in range(len(log_weights)):
        if open_sets[number] and log_weights[number] > highest:
            highest, likeliest = log_weights[number], number
    total = 0.0
    for number in range(len(log_weights)):
        if open_sets[number] and highest - log_weights[number] < _NEGLIGIBLE:
            total += math.exp(log_weights[number] - highest)
    left = uniform * total
    for number in range(len(log_weights)):
        if open_sets[number] and highest - log_weights[number] < _NEGLIGIBLE:
            left -= math.exp(log_weights[number] - highest)
            if left < 0.0:
                return number
    return likeliest
