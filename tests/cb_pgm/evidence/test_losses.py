"""Losses of predicted rewards: what they promise of a test, and closed forms."""

import numpy as np
import pytest
from scipy.special import entr, rel_entr

from cb_pgm.evidence.losses import LOGARITHMIC, added_loss, divergences, loss


@pytest.mark.parametrize("scale", [LOGARITHMIC, 0.5])
def test_no_prediction_is_expected_to_beat_the_true_mean(scale: float) -> None:
    """E exp(loss of the mean − loss of another prediction) ≤ 1 for rewards in [0, 1], here three values."""
    rng = np.random.default_rng(3)
    for _ in range(500):
        values, weights = rng.random(3), rng.dirichlet(np.ones(3))
        mean, other = float(values @ weights), float(rng.uniform(0.01, 0.99))
        ratios = [np.exp(loss(value, mean, scale) - loss(value, other, scale)) for value in values]
        assert float(np.dot(weights, ratios)) <= 1 + 1e-12


def test_the_logarithmic_loss_wastes_nothing_on_rewards_of_0_and_1() -> None:
    """There E exp(loss of the mean − loss of another prediction) is 1."""
    for mean, other in ((0.02, 0.3), (0.5, 0.6), (0.9, 0.99)):
        ratio = [
            np.exp(loss(reward, mean, LOGARITHMIC) - loss(reward, other, LOGARITHMIC))
            for reward in (0.0, 1.0)
        ]
        assert (1 - mean) * ratio[0] + mean * ratio[1] == pytest.approx(1)


def test_divergence_is_the_expected_difference() -> None:
    for one, other in ((0.02, 0.3), (0.5, 0.6), (0.9, 0.9)):
        expected = rel_entr(one, other) + rel_entr(1 - one, 1 - other)
        logarithmic, squares = (
            divergences(np.array([one]), np.array([other]), scale)[0] for scale in (LOGARITHMIC, 0.5)
        )
        assert logarithmic == pytest.approx(expected)
        assert squares == pytest.approx(2 * (one - other) ** 2)
        assert logarithmic >= squares - 1e-12  # Pinsker


@pytest.mark.parametrize("kind", ["binary", "within"])
def test_added_losses_sum_up_to_that_of_the_mean(kind: str) -> None:
    rng = np.random.default_rng(4)
    rewards = (rng.random(50) < 0.2).astype(float) if kind == "binary" else rng.random(50)
    logarithmic, squares = 0.0, 0.0
    for count, reward in enumerate(rewards):
        total = float(rewards[:count].sum())
        logarithmic += added_loss(float(reward), float(count), total, LOGARITHMIC)
        squares += added_loss(float(reward), float(count), total, 0.5)
    mean = rewards.mean()
    assert logarithmic == pytest.approx(50 * float(entr(mean) + entr(1 - mean)))
    assert squares == pytest.approx(2 * 50 * rewards.var())
