"""What the benchmarks share: two sides timed in turn, and a row that sums it up.

Times are CPU seconds of this process, so that other programs on the machine don't count.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from typing import Any

__all__ = ["Row", "limit_row", "ratio_row", "seconds", "times"]

Row = dict[str, Any]

_FILL = 0.1  # seconds that a quick side is run for


def times(
    ours: Callable[[], object], theirs: Callable[[], object], repeats: int
) -> list[tuple[float, float]]:
    """Time both sides in turn, in seconds per call; the first call of each, which compiles, isn't counted."""
    ours(), theirs()
    calls = [max(1, math.ceil(_FILL / seconds(side, 3))) for side in (ours, theirs)]
    return [(seconds(ours, calls[0]), seconds(theirs, calls[1])) for _ in range(repeats)]


def seconds(run: Callable[[], object], calls: int = 1) -> float:
    """Return the CPU seconds of one call."""
    start = time.process_time()
    for _ in range(calls):
        run()
    return (time.process_time() - start) / calls


def ratio_row(
    what: str,
    against: str,
    pairs: list[tuple[float, float]],
    *,
    at_least: float | None = None,
    at_most: float | None = None,
) -> Row:
    """Sum up: the ratio is theirs over ours where it has to be large, ours over theirs where small."""
    ratios = [theirs / ours if at_most is None else ours / theirs for ours, theirs in pairs]
    median = statistics.median(ratios)
    return {
        "what": what,
        "against": against,
        "seconds": statistics.median(ours for ours, _ in pairs),
        "rival_seconds": statistics.median(theirs for _, theirs in pairs),
        "ratio": median,
        "range": [min(ratios), max(ratios)],
        "goal": f"at least {at_least:g}×" if at_least is not None else f"at most {at_most:g}×",
        "met": median >= at_least if at_least is not None else median <= (at_most or 0),
    }


def limit_row(what: str, found: list[float], *, at_most: float, unit: str = "s") -> Row:
    """Sum up a figure that has no rival, only a limit."""
    median = statistics.median(found)
    return {
        "what": what,
        "against": "a limit",
        "figure": median,
        "unit": unit,
        "range": [min(found), max(found)],
        "goal": f"at most {at_most:g} {unit}",
        "met": median <= at_most,
    }
