"""The posterior of sets of variables, against a loop over sets and rows."""

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from cb_pgm.errors import PolicyError
from cb_pgm.evidence.likelihoods import SetLikelihoods

_SCALE = 0.4


def _by_hand(
    codes: NDArray[np.int16], rewards: NDArray[np.float64], sets: list[tuple[int, ...]], binary: bool
) -> tuple[list[float], list[float]]:
    """Return each set's log likelihood, and the mixture's prediction of each reward."""
    n = codes.shape[1]
    by_size = [sum(1 for chosen in sets if len(chosen) == size) for size in (1, 2)]
    logs = [-math.log(by_size[len(chosen) - 1]) for chosen in sets]
    cells: list[dict[tuple[int, ...], list[float]]] = [{} for _ in sets]
    mixed, seen = [], []
    for row, reward in zip(codes, rewards, strict=True):
        overall = float(np.mean(seen)) if seen else 0.0
        predictions: dict[int, float] = {}
        for number, chosen in enumerate(sets):
            states = tuple(int(row[variable]) for variable in chosen)
            if -1 not in states:
                rows = cells[number].setdefault(states, [])
                pseudo, mean = (2.0, 0.5) if binary else (4.0, overall)
                predictions[number] = (sum(rows) + pseudo * mean) / (len(rows) + pseudo)
                rows.append(reward)
        weights = {number: math.exp(logs[number]) for number in predictions}
        total = sum(weights[number] * predictions[number] for number in predictions)
        mixed.append(total / sum(weights.values()) if seen and weights else 0.0)
        for number, predicted in predictions.items():
            if len(predictions) == len(sets) and (row >= 0).sum() == n:
                if binary:
                    logs[number] += reward * math.log(predicted) + (1 - reward) * math.log(1 - predicted)
                else:
                    logs[number] -= (reward - predicted) ** 2 / (2 * _SCALE**2)
        seen.append(reward)
    return logs, mixed


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("batch", [1, 7, 60])
def test_the_losses_are_those_of_every_set_predicting_in_turn(binary: bool, batch: int) -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(3, size=(60, 4)).astype(np.int16)
    codes[rng.random((60, 4)) < 0.03] = -1
    rewards = (rng.random(60) < 0.5).astype(float) if binary else 3 + rng.standard_normal(60)
    likelihoods = SetLikelihoods([3] * 4, 2, _SCALE, in_unit_interval=binary)
    sets = [likelihoods.variables(number) for number in range(len(likelihoods.sets))]
    assert sets == [(v,) for v in range(4)] + list(itertools.combinations(range(4), 2))
    mixed = [
        likelihoods.add(codes[start : start + batch], rewards[start : start + batch])
        for start in range(0, 60, batch)
    ]
    logs, by_hand = _by_hand(codes, rewards, sets, binary)
    np.testing.assert_allclose(likelihoods.log_weights, logs, rtol=1e-9)
    np.testing.assert_allclose(np.concatenate(mixed), by_hand, rtol=1e-9)
    complete = (codes[:, [1, 3]] >= 0).all(axis=1) & (codes[:, 1] == 2) & (codes[:, 3] == 0)
    number = sets.index((1, 3))
    assert likelihoods.rows[number, 2] == complete.sum()
    assert likelihoods.totals[number, 2] == pytest.approx(rewards[complete].sum())


def test_rewards_beyond_the_unit_interval_change_the_loss() -> None:
    likelihoods = SetLikelihoods([2, 2], 1, 0.5, in_unit_interval=True)
    likelihoods.add(np.zeros((2, 2), dtype=np.int16), np.array([0.3, 1.0]))
    assert likelihoods.in_unit_interval
    likelihoods.add(np.zeros((1, 2), dtype=np.int16), np.array([1.2]))
    assert not likelihoods.in_unit_interval
    assert np.isfinite(likelihoods.log_weights).all()


def test_draws_have_the_shares_of_the_posterior_among_open_sets() -> None:
    likelihoods = SetLikelihoods([2, 2, 2], 1, 0.5, in_unit_interval=True)
    likelihoods.log_weights[:] = np.log([0.5, 0.2, 0.3])
    open_sets = np.array([True, False, True])
    drawn = [likelihoods.draw(open_sets, (point + 0.5) / 800) for point in range(800)]
    assert [drawn.count(number) for number in range(3)] == [500, 0, 300]


def test_the_parents_become_the_likeliest_set() -> None:
    rng = np.random.default_rng(4)
    codes = rng.integers(2, size=(600, 6)).astype(np.int16)
    rewards = (rng.random(600) < 0.2 + 0.3 * codes[:, 1] + 0.3 * codes[:, 4]).astype(float)
    likelihoods = SetLikelihoods([2] * 6, 3, 0.5, in_unit_interval=True)
    likelihoods.add(codes, rewards)
    likeliest = int(np.argmax(likelihoods.log_weights))
    assert likelihoods.variables(likeliest) == (1, 4)
    np.testing.assert_allclose(
        likelihoods.predictions(likeliest)[[0, 1, 2, 3]], [0.2, 0.5, 0.5, 0.8], atol=0.1
    )


def test_too_many_sets_are_refused() -> None:
    with pytest.raises(PolicyError, match="at most 20,000 sets"):
        SetLikelihoods([2] * 300, 2, 0.5, in_unit_interval=True)
