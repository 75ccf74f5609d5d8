"""The compiled loops of screening: test rows, and replay the past to further experts.

An *expert* is a set of variables whose running mean, given their states, predicts the next reward
(`cb_pgm.evidence.screening`).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cb_pgm.evidence.losses import added_loss, loss

__all__ = ["observe_rows", "overall_mean", "prior_rows", "replay_rows"]

_SMALLEST = 1e-6  # of given predictions, and 1 less this the largest, so that their loss is finite
_REGIME_HANDICAP = math.log(8.0)  # the initial excess loss of the experts that use the regime


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]  # numba carries no types
def overall_mean(sums_over_rows: NDArray[np.float64]) -> float:
    """Return the mean of all rewards and one more, from float64 [4] as `Screening` keeps it."""
    mean: float = sums_over_rows[1] / (sums_over_rows[2] + 1.0)
    return mean


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]
def prior_rows(scale: float) -> float:
    """Return how many rows at the overall mean an expert's running mean starts with."""
    # The logarithmic loss makes much of extreme means, so they have to be learnt fast.
    return 4.0 if scale > 0.0 else 1.0


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]
def _cell(codes: NDArray[np.int16], variables: NDArray[np.int64], n_states: int) -> int:
    cell, stride = 0, 1
    for position in range(len(variables)):
        if variables[position] >= 0:
            cell += stride * codes[variables[position]]
            stride *= n_states
    return cell


@njit(cache=True)  # type: ignore[untyped-decorator]
def observe_rows(
    codes: NDArray[np.int16],
    rewards: NDArray[np.float64],
    settings: NDArray[np.int64],
    predicted: NDArray[np.float64],
    set_in: NDArray[np.bool_],
    start: int,
    end: int,
    origin: float,
    log_codes: NDArray[np.int16],
    log_rewards: NDArray[np.float64],
    log_settings: NDArray[np.int64],
    log_predicted: NDArray[np.float64],
    logged: int,
    experts: NDArray[np.int64],
    n_states: int,
    cells: NDArray[np.float64],
    scores: NDArray[np.float64],
    surviving: NDArray[np.bool_],
    sums_over_rows: NDArray[np.float64],
    scale: float,
    threshold: float,
) -> int:
    """Test rows `start` to `end`, and return the number of candidates that they rule out.

    Parameters
    ----------
    codes, rewards, settings, predicted
        Each row's states, int16 [rows, n], reward, place in `set_in`, and a further expert's prediction (NaN:
        none).
    set_in
        bool [combinations, n]: which variables were set.
    origin
        What is subtracted from rewards and predictions.
    log_codes, log_rewards, log_settings, log_predicted, logged
        Where the rows are kept, from position `logged` on; −1: they aren't.
    experts
        int64 [experts, p + 1]: each one's variables, then −1; the m candidates come first.
    cells
        float64 [4, experts, cells]: rows and reward totals per joint state, then those of the rows in which
        the whole set was set.
    scores
        float64 [3, experts]: losses, fits, and losses of the experts that use the regime (infinite: none).
    surviving
        bool [m].
    sums_over_rows
        The mixture's loss, the reward total, the rows, and the loss of `predicted`.
    scale, threshold
        That of the loss (`cb_pgm.evidence.losses`), and log(1/δ).
    """
    m, gone, prior = len(surviving), 0, prior_rows(scale)
    counts, sums, set_counts, set_sums = cells[0], cells[1], cells[2], cells[3]
    losses, fits, regime_losses = scores[0], scores[1], scores[2]
    row_cells = np.empty(len(experts), dtype=np.int64)
    predictions = np.empty(len(experts))
    by_regime = np.empty(m)
    all_set = np.empty(m, dtype=np.bool_)
    for row in range(start, end):
        reward = rewards[row] - origin
        if logged >= 0:
            log_codes[logged + row - start] = codes[row]
            log_rewards[logged + row - start] = reward
            log_settings[logged + row - start] = settings[row]
            log_predicted[logged + row - start] = predicted[row]
        was_set = set_in[settings[row]]
        overall = overall_mean(sums_over_rows)
        given = predicted[row] - origin
        is_given = not np.isnan(given)
        if scale == 0.0:
            given = min(max(given, _SMALLEST), 1.0 - _SMALLEST)
        if not is_given:
            sums_over_rows[3] = np.inf
        elif sums_over_rows[3] == np.inf:
            # It starts with the mixture's loss and about half of the weight.
            sums_over_rows[3] = sums_over_rows[0] - math.log(len(experts))
        lowest = min(losses.min(), regime_losses.min(), sums_over_rows[3])
        weight, mixed = 0.0, 0.0
        if is_given and sums_over_rows[3] - lowest < 40.0:
            weight = math.exp(lowest - sums_over_rows[3])
            mixed = weight * given
        for expert in range(len(experts)):
            cell = _cell(codes[row], experts[expert], n_states)
            prediction = (sums[expert, cell] + prior * overall) / (counts[expert, cell] + prior)
            row_cells[expert], predictions[expert] = cell, prediction
            excess = losses[expert] - lowest
            if excess < 40.0:
                share = math.exp(-excess)
                weight += share
                mixed += share * prediction
            if expert >= m:
                continue
            all_set[expert] = True
            for position in range(experts.shape[1] - 1):
                all_set[expert] &= was_set[experts[expert, position]]
            if regime_losses[expert] == np.inf:
                continue
            rows, total = set_counts[expert, cell], set_sums[expert, cell]
            if not all_set[expert]:
                rows, total = counts[expert, cell] - rows, sums[expert, cell] - total
            by_regime[expert] = (total + prior * prediction) / (rows + prior)
            excess = regime_losses[expert] - lowest
            if excess < 40.0:
                share = math.exp(-excess)
                weight += share
                mixed += share * by_regime[expert]
        mixed /= weight
        sums_over_rows[0] += loss(reward, mixed, scale)
        if is_given:
            sums_over_rows[3] += loss(reward, given, scale)
        for expert in range(len(experts)):
            cell = row_cells[expert]
            if expert < m:
                if regime_losses[expert] < np.inf:
                    regime_losses[expert] += loss(reward, by_regime[expert], scale)
                if all_set[expert]:
                    set_counts[expert, cell] += 1.0
                    set_sums[expert, cell] += reward
            losses[expert] += loss(reward, predictions[expert], scale)
            if expert < m and all_set[expert] and regime_losses[expert] == np.inf:
                regime_losses[expert] = losses[expert] + _REGIME_HANDICAP
            count = counts[expert, cell]
            if expert < m and surviving[expert]:
                fits[expert] += added_loss(reward, count, sums[expert, cell], scale)
                if fits[expert] - sums_over_rows[0] >= threshold:
                    surviving[expert] = False
                    gone += 1
            counts[expert, cell] = count + 1.0
            sums[expert, cell] += reward
        sums_over_rows[1] += reward
        sums_over_rows[2] += 1.0
    return gone


@njit(cache=True)  # type: ignore[untyped-decorator]
def replay_rows(
    codes: NDArray[np.int16],
    rewards: NDArray[np.float64],
    sets: NDArray[np.int64],
    n_states: int,
    scale: float,
    total: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return what experts given `sets`, int64 [m, p], would have after these rows.

    Counts and sums per joint state, each float64 [m, cells], and losses, float64 [m]; `scale` as in
    `observe_rows`, `total` the reward total before the first row.
    """
    m, cells, prior = len(sets), n_states ** sets.shape[1], prior_rows(scale)
    counts, sums, losses = np.zeros((m, cells)), np.zeros((m, cells)), np.zeros(m)
    for row in range(len(rewards)):
        reward = rewards[row]
        overall = total / (row + 1.0)
        for number in range(m):
            cell = _cell(codes[row], sets[number], n_states)
            count, known = counts[number, cell], sums[number, cell]
            losses[number] += loss(reward, (known + prior * overall) / (count + prior), scale)
            counts[number, cell] = count + 1.0
            sums[number, cell] = known + reward
        total += reward
    return counts, sums, losses
