"""Which columns of numbers are computed from the reward, or the reward from them?

A column that rises or falls with the reward throughout is a function of it: its logarithm, its rank, another
unit. Columns whose sum with weights is the reward are its parts, or the reward is a part of one of them; the
same of logarithms holds for factors of a product.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from discovery.table.columns import Column

__all__ = ["computed_columns"]

_FEWEST = 10  # different values: fewer are states, which may well be causes
_MOST_ROWS = 5_000  # looked at
_UNEXPLAINED = 1e-6  # of the variance, by rounding
_NO_PART = 1e-3  # of the reward's deviation, by rounding

Array = NDArray[np.float64]


def computed_columns(rewards: Array, columns: Mapping[str, Column]) -> tuple[str, ...]:
    """Return the names of these columns that are functions of the reward, or of which it is computed.

    Parameters
    ----------
    rewards
        float64 [n_rows].
    columns
        The variables as read; those of at least ten different numbers count.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y, z = rng.normal(size=(3, 40))
    >>> _computed(x + y, {"x": x, "y": y, "z": z, "exp": np.exp(x + y)})
    ('exp', 'x', 'y')
    """
    picked = slice(0, _MOST_ROWS)
    numbers = {}
    for name, column in columns.items():
        values = column.numbers() if column.n_distinct >= _FEWEST else None
        if values is not None and np.isfinite(values[picked]).all():
            numbers[name] = values[picked]
    return _computed(rewards[picked], numbers)


def _computed(rewards: Array, numbers: Mapping[str, Array]) -> tuple[str, ...]:
    if len(np.unique(rewards)) < _FEWEST:
        return ()
    functions = [name for name, values in numbers.items() if _is_function(rewards, values)]
    left = {name: values for name, values in numbers.items() if name not in functions}
    parts = _parts(rewards, left)
    if not parts and rewards.min() > 0:
        parts = _parts(np.log(rewards), {name: np.log(v) for name, v in left.items() if v.min() > 0})
    return (*functions, *parts)


def _is_function(rewards: Array, values: Array) -> bool:
    """Return whether one rises or falls with the other throughout, and tells about as many values apart."""
    few, many = sorted((len(np.unique(rewards)), len(np.unique(values))))
    rises = np.diff(values[np.lexsort((values, rewards))])
    falls = np.diff(values[np.lexsort((-values, rewards))])
    return 2 * few >= many and bool((rises >= 0).all() or (falls <= 0).all())


def _parts(rewards: Array, numbers: Mapping[str, Array]) -> list[str]:
    """Return the columns whose sum, with a weight of each, is the reward; none if it isn't such a sum."""
    if not numbers or len(rewards) < 2 * len(numbers) + _FEWEST:
        return []
    design = np.stack([values - values.mean() for values in numbers.values()], axis=1)
    scale = np.maximum(design.std(axis=0), 1e-300)
    centred = rewards - rewards.mean()
    weights = np.linalg.lstsq(design / scale, centred, rcond=1e-9)[0]
    residual = centred - design / scale @ weights
    if residual @ residual > _UNEXPLAINED * (centred @ centred):
        return []
    least = _NO_PART * centred.std()
    return [name for name, weight in zip(numbers, weights, strict=True) if abs(weight) > least]
