"""Reduce a variable to a few states: bin numbers into intervals, and merge rare states into one.

Both change the meaning of a variable, so they are done on request only, and a warning reports them.
"""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discovery.errors import TableError

__all__ = ["BIN_RULES", "bin_numbers", "merge_rare_states"]

#: The rules for intervals, and scikit-learn's names for them.
BIN_RULES = {"quantile": "quantile", "width": "uniform"}


def bin_numbers(
    numbers: NDArray[np.float64], bins: int, rule: str = "quantile", *, fit: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.int16], tuple[str, ...]]:
    """Bin numbers into intervals of equal counts ("quantile") or of equal width ("width").

    Parameters
    ----------
    numbers
        float64 [n], finite.
    bins
        The number of intervals. The result has fewer where many numbers are equal or an interval is empty.
    rule
        A key of `BIN_RULES`.
    fit
        bool [n]: the numbers from which the intervals are found; all by default. The others are binned too.

    Returns
    -------
    codes
        int16 [n], the index of each number's interval, lowest first.
    labels
        The intervals' names, such as "below 2", "2 to 3.5" and "3.5 and above". An interval contains its
        lower end.

    Raises
    ------
    TableError
        If the rule is "width" and the range of the numbers is more than a float can hold.

    Notes
    -----
    The intervals are found by scikit-learn's `KBinsDiscretizer`. It drops intervals narrower than 1e-8, so it
    gets ranks, on which alone quantiles depend, or numbers scaled to [0, 1]: then neither units nor outliers
    matter. Each cut is then moved, within the gap between the two numbers that it separates, to a number with
    few digits.

    Examples
    --------
    >>> codes, labels = bin_numbers(np.array([1.0, 2.0, 3.0, 10.0]), 2, "width")
    >>> codes.tolist(), labels
    ([0, 0, 0, 1], ('below 10', '10 and above'))
    """
    from sklearn.preprocessing import KBinsDiscretizer

    known = np.unique(numbers if fit is None else numbers[fit])
    if rule == "quantile":
        scale = np.arange(len(known), dtype=np.float64)
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            span = known[-1] - known[0]
            scale = (known - known[0]) / (span or 1.0)
        if not np.isfinite(span):
            raise TableError(
                f"Expected numbers that can be subtracted but found {known[0]} and {known[-1]}: bin by "
                "quantile (--bin-rule quantile)"
            )
    scaled = np.interp(numbers, known, scale)
    cutter = KBinsDiscretizer(bins, encode="ordinal", strategy=BIN_RULES[rule], subsample=None)
    with warnings.catch_warnings():  # of bins that came out empty, and of defaults that will change
        warnings.simplefilter("ignore")
        cutter.fit((scaled if fit is None else scaled[fit])[:, None])
    # Each cut lies in the gap below the first number of an interval; an empty interval has no gap of its own.
    first = np.unique(np.searchsorted(scale, cutter.bin_edges_[0][1:-1], side="left"))
    cuts = [_shortest_between(known[index - 1], known[index]) for index in first]
    codes = np.searchsorted(np.array(cuts), numbers, side="right").astype(np.int16)
    return codes, _labels([_written_out(cut) for cut in cuts])


def merge_rare_states(
    codes: NDArray[np.int16],
    states: tuple[str, ...],
    fewest: float,
    label: str,
    *,
    count: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.int16], tuple[str, ...], tuple[str, ...]]:
    """Merge the states that occur fewer than `fewest` times into one, named `label`, which comes last.

    Parameters
    ----------
    codes
        int16 [n], indices into `states`.
    states
        The names of the states.
    fewest
        States with fewer rows than this are rare.
    label
        The name of the merged state.
    count
        bool [n]: the rows that count; all by default. A state that occurs in none of them is merged too, if
        any states are.

    Returns
    -------
    codes, states
        The new codes and states; the given ones if fewer than two states are rare, since merging a single
        one would only rename it.
    merged
        The states that were merged.

    Examples
    --------
    >>> merge_rare_states(np.array([0, 0, 1, 2], dtype=np.int16), ("a", "b", "c"), 2, "other")
    (array([0, 0, 1, 1], dtype=int16), ('a', 'other'), ('b', 'c'))
    """
    counts = np.bincount(codes if count is None else codes[count], minlength=len(states))
    rare = counts < fewest
    if (rare & (counts > 0)).sum() < 2:
        return codes, states, ()
    kept = tuple(state for state, gone in zip(states, rare, strict=True) if not gone)
    place = np.where(rare, len(kept), np.cumsum(~rare) - 1).astype(np.int16)
    return place[codes], (*kept, label), tuple(state for state in states if state not in kept)


def _shortest_between(low: float, high: float) -> float:
    """Return a number above `low` and at most `high` with as few digits as possible."""
    for digits in range(1, 17):
        for number in (high, low / 2 + high / 2):
            rounded = float(f"{number:.{digits}g}")
            if low < rounded <= high:
                return rounded
    return high


def _written_out(number: float) -> str:
    short = f"{number:.15g}"  # 120000, not 1.2e+05
    return short if float(short) == number else repr(float(number))


def _labels(cuts: list[str]) -> tuple[str, ...]:
    if not cuts:
        return ("all",)
    return (
        f"below {cuts[0]}",
        *(f"{low} to {high}" for low, high in pairwise(cuts)),
        f"{cuts[-1]} and above",
    )
