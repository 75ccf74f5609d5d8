"""Losses of predicted rewards, in nats, by which screening compares sets of variables.

A reward R that is σ-subgaussian about its mean has the loss (R − m)²/2σ² under the prediction m. One in
[0, 1] has the loss −R log m − (1 − R) log(1 − m) instead. Where all means are close to 0 or to 1 this tells
predictions apart several times as fast, since the variance is then far below ¼, the largest that σ = ½
allows. Both losses make tests that are right: with f the true mean, E exp(loss of f − loss of m) ≤ 1. For the
second this is E (m/f)^R ((1−m)/(1−f))^(1−R) ≤ E [R m/f + (1−R)(1−m)/(1−f)] = 1, by convexity in R.

`scale` is 2σ², or 0 for the logarithmic loss.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import rel_entr

__all__ = ["LOGARITHMIC", "added_loss", "divergences", "loss", "loss_of_mean"]

LOGARITHMIC = 0.0  # the scale that stands for rewards in [0, 1]


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]  # numba carries no types
def loss(reward: float, prediction: float, scale: float) -> float:
    """Return the loss of a prediction; with the logarithmic one it must lie between 0 and 1."""
    if scale > 0.0:
        return (reward - prediction) ** 2 / scale
    lost = 0.0
    if reward > 0.0:
        lost -= reward * math.log(prediction)
    if reward < 1.0:
        lost -= (1.0 - reward) * math.log(1.0 - prediction)
    return lost


def divergences(first: NDArray[np.float64], second: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return how much more the second predictions are expected to lose in a row if the first are right."""
    if scale > 0.0:
        apart: NDArray[np.float64] = (first - second) ** 2 / scale
        return apart
    more: NDArray[np.float64] = rel_entr(first, second) + rel_entr(1.0 - first, 1.0 - second)
    return more


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]
def added_loss(reward: float, count: float, total: float, scale: float) -> float:
    """Return by how much a reward that joins `count` others of this `total` raises the loss of their mean."""
    if scale == 0.0:
        more: float = loss_of_mean(count + 1.0, total + reward, 0.0) - loss_of_mean(count, total, 0.0)
        return more
    if count == 0.0:
        return 0.0
    off = reward - total / count
    return count * off * off / ((count + 1.0) * scale)


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]
def loss_of_mean(count: float, total: float, scale: float) -> float:
    """Return the loss of rewards under their own mean; that of squares less the sum of all squares."""
    if scale > 0.0:
        return -total * total / (count * scale) if count > 0.0 else 0.0
    lost, rest = 0.0, count - total
    if total > 0.0 and rest > 0.0:
        lost = count * math.log(count) - total * math.log(total) - rest * math.log(rest)
    return lost
