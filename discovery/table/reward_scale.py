"""Rewards whose differences float64 can't tell, or whose sums it can't hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discovery.table.problems import Problem
from discovery.wording import quoted

__all__ = ["FAR_OFF", "far_off", "unfit"]

_LARGEST, _SMALLEST = 1e300, 1e-304  # sums over any table stay finite, and differences keep their digits
_RESOLVED = 1e-12  # of the largest reward: nearer ones share all but the last digits of float64
#: A reward this many times farther from the median than all others is pointed out.
FAR_OFF = 20.0


def unfit(rewards: NDArray[np.float64], name: str) -> Problem | None:
    """Return what is wrong with the numbers of a reward column, float64 [n_rows], NaN where missing."""
    known = rewards[np.isfinite(rewards)]
    if not len(known):
        return None
    low, high = float(known.min()), float(known.max())
    largest = max(abs(low), abs(high))
    spread = high / 2 - low / 2  # halves: the difference itself may overflow
    if largest > _LARGEST or 0 < spread < _SMALLEST:
        return Problem(
            f"rewards that differ by {_SMALLEST:g} to {_LARGEST:g}",
            f"{low:g} to {high:g} in {quoted(name)}",
            "divide them all by one number, as with another unit",
        )
    if 0 < spread < _RESOLVED * largest:
        return Problem(
            "rewards whose differences can be told from rounding",
            f"{low:.17g} to {high:.17g} in {quoted(name)}",
            "subtract the same number from all of them before it is written",
        )
    return None


def far_off(rewards: NDArray[np.float64], name: str) -> list[str]:
    """Return a warning about rewards, float64 [n_rows], that look like marks of missing values.

    These are at most a tenth of the rows, the lowest number or the highest or both, and farther from the
    median than `FAR_OFF` times the distance of any other reward.

    Examples
    --------
    >>> far_off(np.array([1.5, 2.0, 3.0, 2.5, 1.0, 2.0, 3.0, 2.5, 1.0, 2.0, -999.0]), "y")
    ["1 reward in 'y' is -999, far off all others (1 to 3): --na -999 counts it as missing"]
    """
    known = rewards[np.isfinite(rewards)]
    if not len(known):
        return []
    middle = float(np.median(known))
    ends = {float(known.min()), float(known.max())}
    for odd in ([end] for end in sorted(ends)):
        said = _far_off(known, odd, middle, name)
        if said:
            return said
    return _far_off(known, sorted(ends), middle, name) if len(ends) == 2 else []


def _far_off(known: NDArray[np.float64], odd: list[float], middle: float, name: str) -> list[str]:
    """Return the warning about the rewards in `odd`, if each of them is far off all others."""
    is_odd = np.isin(known, odd)
    others, count = known[~is_odd], int(is_odd.sum())
    if not len(others) or count > len(known) / 10:
        return []
    reach = float(np.abs(others - middle).max())
    if not (reach > 0 and min(abs(value - middle) for value in odd) > FAR_OFF * reach):
        return []
    texts = [f"{value:.15g}" for value in odd]
    many = "reward" if count == 1 else "rewards"
    return [
        f"{count:,} {many} in {quoted(name)} {'is' if count == 1 else 'are'} {' or '.join(texts)}, far off "
        f"all others ({others.min():.6g} to {others.max():.6g}): --na {' '.join(texts)} counts "
        f"{'it' if count == 1 else 'them'} as missing"
    ]
