"""Reduce a variable to a few states: bin numbers into intervals, and merge rare states into one.

Both change the meaning of a variable, so they are done on request only, and a warning reports them.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discovery.errors import TableError
from discovery.table.columns import Codes

__all__ = ["bin_numbers", "merge_rare_states"]

#: A zero so many times as frequent as any other number is no measurement like the others.
_INFLATED = 5


def bin_numbers(
    numbers: NDArray[np.float64], bins: int, rule: str = "quantile", *, fit: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.int16], tuple[str, ...]]:
    """Bin numbers into intervals of equal counts ("quantile") or of equal width ("width").

    Parameters
    ----------
    numbers
        float64 [n], finite.
    bins
        The number of intervals. The result has fewer where there are fewer distinct numbers, or an interval
        of equal width is empty; at least 2 where two numbers differ.
    rule
        "quantile" or "width".
    fit
        bool [n]: the numbers from which the intervals are found; all by default. The others are binned too.

    Returns
    -------
    codes
        int16 [n], the index of each number's interval, lowest first.
    labels
        The intervals' names, such as "below 2", "2 to 3.5" and "3.5 and above". An interval contains its
        lower end. One that holds a single frequent number is named after it, such as "0".

    Raises
    ------
    TableError
        If the rule is "width" and the range of the numbers is more than a float can hold.

    Notes
    -----
    Quantiles are those of ranks, and widths those of numbers scaled to [0, 1]: neither units nor outliers
    matter. Each cut is moved, within the gap between the two numbers that it separates, to a number with few
    digits. `pandas.qcut` and `cut` would need the same code around them, and .4 s of import.

    A number so frequent that two quantiles fall on it would empty an interval. With "quantile" it gets an
    interval of its own, and the other intervals divide the numbers beside it; so does a zero that is half as
    frequent, and much more frequent than any other number (zero-inflated counts and amounts).

    Examples
    --------
    >>> codes, labels = bin_numbers(np.array([1.0, 2.0, 3.0, 10.0]), 2, "width")
    >>> codes.tolist(), labels
    ([0, 0, 0, 1], ('below 10', '10 and above'))
    >>> bin_numbers(np.array([0.0] * 6 + [1, 2, 3, 4]), 3)[1]
    ('0', '1 to 3', '3 and above')
    """
    known, ranks, counts = np.unique(
        numbers if fit is None else numbers[fit], return_inverse=True, return_counts=True
    )
    frequent = _frequent(known, counts, bins) if rule == "quantile" else []
    if frequent:
        starts = _around(counts, frequent, bins)
    elif rule == "quantile":
        starts = _first_indices(
            np.quantile(ranks, np.arange(1, bins) / bins, method="averaged_inverted_cdf"), len(known)
        )
    else:
        starts = _first_indices(_equal_widths(known, bins), len(known))
    # An interval begins at the first number in it; a cut lies in the gap below that.
    ends = [*starts[1:], len(known)]
    alone = {start for start, end in zip(starts, ends, strict=True) if start in frequent and end - start == 1}
    cuts = [
        known[start] if start in alone else _shortest_between(known[start - 1], known[start])
        for start in starts[1:]
    ]
    codes = np.searchsorted(np.array(cuts), numbers, side="right").astype(np.int16)
    names = {place: known[start] for place, start in enumerate(starts) if start in alone}
    labels = _labels([_written_out(cut) for cut in cuts])
    return codes, tuple(
        _written_out(names[place]) if place in names else label for place, label in enumerate(labels)
    )


def merge_rare_states(
    codes: Codes,
    states: tuple[str, ...],
    fewest: float,
    label: str,
    *,
    count: NDArray[np.bool_] | None = None,
) -> tuple[Codes, tuple[str, ...], tuple[str, ...]]:
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


def _equal_widths(known: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
    """Return the index in `known` of the first number beyond each cut, the cuts being equally far apart."""
    with np.errstate(over="ignore", invalid="ignore"):
        span = known[-1] - known[0]
        scaled = (known - known[0]) / (span or 1.0)
    if not np.isfinite(span):
        raise TableError(
            f"Expected numbers that can be subtracted but found {known[0]} and {known[-1]}: bin by "
            "quantile (--bin-rule quantile)"
        )
    return np.searchsorted(scaled, np.linspace(0, 1, bins + 1)[1:-1])


def _first_indices(cuts: NDArray[np.float64] | NDArray[np.int64], n: int) -> list[int]:
    """Return the first of n indices in each interval; an empty one has none of its own."""
    return [int(start) for start in np.unique([0, *np.ceil(cuts)]) if start < n]


def _frequent(known: NDArray[np.float64], counts: NDArray[np.int64], bins: int) -> list[int]:
    """Return the indices of the numbers that are too frequent to share an interval."""
    many = counts * bins > counts.sum()
    zero = np.flatnonzero(known == 0)
    if len(zero) and len(known) > 1:
        others = np.delete(counts, zero).max()
        many[zero] |= (counts[zero] * 2 * bins > counts.sum()) & (counts[zero] >= _INFLATED * others)
    return [int(index) for index in np.flatnonzero(many)]


def _around(counts: NDArray[np.int64], frequent: list[int], bins: int) -> list[int]:
    """Return the first index of each interval if frequent numbers have one each, as far as `bins` allows."""
    edges = [-1, *frequent, len(counts)]
    runs = [(low + 1, high) for low, high in pairwise(edges) if high > low + 1]
    shares = dict.fromkeys(runs, 1)
    if len(frequent) + len(runs) > bins:
        return _even(counts, 0, len(counts), bins)
    for _ in range(bins - len(frequent) - len(runs)):
        room = [run for run in runs if shares[run] < run[1] - run[0]]
        if room:
            shares[max(room, key=lambda run: counts[slice(*run)].sum() / shares[run])] += 1
    return sorted([*frequent, *(start for run in runs for start in _even(counts, *run, shares[run]))])


def _even(counts: NDArray[np.int64], low: int, high: int, bins: int) -> list[int]:
    """Divide the indices from `low` to before `high` into intervals of counts as even as can be."""
    bins = min(bins, high - low)
    below = np.concatenate(([0], np.cumsum(counts[low:high])))
    starts = [0]
    for place in range(1, bins):
        few, most = starts[-1] + 1, high - low - (bins - place)
        distances = np.abs(below[few : most + 1] - below[-1] * place / bins)
        starts.append(few + int(np.argmin(distances)))
    return [low + start for start in starts]


def _shortest_between(low: float, high: float) -> float:
    """Return a number above `low` and at most `high` with as few digits as possible."""
    for digits in range(1, 17):
        for number in (high, low / 2 + high / 2):
            rounded = float(f"{number:.{digits}g}")
            if low < rounded <= high:
                return rounded
    return high


def _written_out(number: float) -> str:
    short = f"{number + 0.0:.15g}"  # 120000, not 1.2e+05; 0, not -0
    return short if float(short) == number else repr(float(number))


def _labels(cuts: list[str]) -> tuple[str, ...]:
    if not cuts:
        return ("all",)
    return (
        f"below {cuts[0]}",
        *(f"{low} to {high}" for low, high in pairwise(cuts)),
        f"{cuts[-1]} and above",
    )
