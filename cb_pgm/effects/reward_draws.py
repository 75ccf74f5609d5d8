"""The mean reward at each joint state of its parents, drawn from its posterior.

Joint states of several parents may have few rows, or none. So the means are drawn to a sum of effects, one of
each state of each parent, and not to the overall mean: with μ that sum, a joint state's mean is μ + τ·normal,
and its rewards scatter about it by σ. How far the means keep to the sum, λ = τ²/σ², and how large the effects
are, σ²/κ, are drawn from their posterior over a grid; then σ² and the effects, jointly normal given these
([1]_, chapters 5 and 14). Rewards of 0 and 1 take μ as the mean of a Beta prior worth 1/λ rows. Of a single
parent μ is the overall mean: its own effects would say the same twice.

References
----------
.. [1] Gelman, Carlin, Stern, Dunson, Vehtari & Rubin (2013), Bayesian Data Analysis, 3rd edition.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cb_pgm.model.discrete_model import Reward
from cb_pgm.model.joint_states import joint_index
from cb_pgm.model.reward_parents import PLENTY, RIDGE, one_hot

__all__ = ["draw_reward"]

#: The values of λ and of κ, in rows, that are possible, equally likely beforehand.
_LAMBDAS = np.geomspace(1e-4, 10.0, 11)
_KAPPAS = (RIDGE, 2.0, 16.0)

Array = NDArray[np.float64]


def draw_reward(
    codes: NDArray[np.int16],
    rewards: Array,
    cards: tuple[int, ...],
    columns: tuple[int, ...],
    rng: np.random.Generator,
    *,
    binary: bool,
) -> Reward:
    """Draw the mean reward at each joint state of the parents `columns`, and the noise about it.

    Where each joint state has 50 rows or more, the means are drawn to the overall mean, as if one row had
    shown that, spread over the joint states.
    """
    shape = tuple(cards[column] for column in columns)
    size = math.prod(shape)
    cells = joint_index(codes, columns, shape)
    counts = np.bincount(cells, minlength=size)
    totals = np.bincount(cells, rewards, minlength=size).astype(np.float64)
    overall = float(rewards.mean())
    centre, prior, variance = np.full(size, overall), 1.0 / size, None
    if columns and counts.min() < PLENTY:
        centre, prior, variance = _sum_of_effects(counts, totals, rewards, shape, rng)
    if binary:
        centre = np.clip(centre, 1e-6, 1 - 1e-6)
        hits = rng.standard_gamma(totals + prior * centre) + 1e-300
        misses = rng.standard_gamma(counts - totals + prior * (1 - centre)) + 1e-300
        return Reward(columns, (hits / (hits + misses)).reshape(shape), None)
    means = (totals + prior * centre) / (counts + prior)
    if variance is None:
        freedom = max(len(rewards) - int(np.count_nonzero(counts)), 1)
        variance = float(np.sum((rewards - means[cells]) ** 2)) / float(rng.chisquare(freedom))
    of_mean = np.minimum(variance / (counts + prior), float(rewards.var()))
    drawn = means + np.sqrt(of_mean) * rng.standard_normal(size)
    return Reward(columns, drawn.reshape(shape), math.sqrt(variance))


def _sum_of_effects(
    counts: NDArray[np.intp],
    totals: Array,
    rewards: Array,
    shape: tuple[int, ...],
    rng: np.random.Generator,
) -> tuple[Array, float, float]:
    """Draw the sum of effects at each joint state, float64 [states], 1/λ and σ²."""
    states = np.stack(np.unravel_index(np.arange(len(counts)), shape), axis=1)
    design = one_hot(states.astype(np.int16), range(len(shape)) if len(shape) > 1 else (), shape)
    seen = counts > 0
    n, level = counts[seen].astype(np.float64), float(rewards.mean())
    means, own = totals[seen] / n - level, design[seen]
    within = max(float(((rewards - level) ** 2).sum() - (n * means**2).sum()), 0.0)
    fits, logs = [], []
    for scale in _LAMBDAS:
        weight = 1 / (scale + 1 / n)
        weighted = own * weight[:, None]
        squares, products = own.T @ weighted, weighted.T @ means
        for rows in _KAPPAS if len(shape) > 1 else _KAPPAS[:1]:
            ridge = np.concatenate([[1e-9], np.full(len(squares) - 1, rows)])
            lower = np.linalg.cholesky(squares + np.diag(ridge))
            effects = np.linalg.solve(squares + np.diag(ridge), products)
            spread = within + float(weight @ (means - own @ effects) ** 2 + ridge @ effects**2) + 1e-12
            log = -(len(rewards) - 1) * math.log(spread) - float(np.log1p(scale * n).sum())
            logs.append((log + float(np.log(ridge).sum())) / 2 - float(np.log(np.diag(lower)).sum()))
            fits.append((scale, effects, lower, spread))
    weights = np.exp(np.array(logs) - max(logs))
    scale, effects, lower, spread = fits[int(rng.choice(len(fits), p=weights / weights.sum()))]
    variance = spread / float(rng.chisquare(len(rewards) - 1))
    noise = np.linalg.solve(lower.T, rng.standard_normal(len(effects)))
    return level + design @ (effects + math.sqrt(variance) * noise), float(1 / scale), variance
