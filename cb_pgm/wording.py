"""Numbers and names in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["count", "listed", "number", "setting", "share"]


def number(value: float | None) -> str:
    """Return a number with four digits that count; "none" and "no number" where there isn't one.

    Examples
    --------
    >>> [number(value) for value in (0.123456, 1234.56, 3.0, None)]
    ['0.1235', '1,235', '3', 'none']
    """
    if value is None:
        return "none"
    if not math.isfinite(value):
        return "no number"
    return f"{round(value):,}" if abs(value) >= 1000 else f"{value:.4g}"


def count(number_of: int, thing: str, things: str | None = None) -> str:
    """Return "1 run", "3 runs", or "3 copies" with ``things="copies"``."""
    return f"{number_of:,} {thing if number_of == 1 else things or thing + 's'}"


def share(part: int, whole: int) -> str:
    """Return "3 of 4"; "all 4" where it is all of several."""
    return f"all {whole:,}" if part == whole > 1 else f"{part:,} of {whole:,}"


def listed(names: Sequence[str], most: int = 8, none: str = "none") -> str:
    """Return names as in a sentence, the first `most` of them.

    Examples
    --------
    >>> listed(["A"]), listed(["A", "B", "C"]), listed(["A", "B", "C"], most=2)
    ('A', 'A, B and C', 'A, B and 1 other')
    """
    if not names:
        return none
    shown = list(names[:most])
    if len(names) > most:
        shown.append(count(len(names) - most, "other"))
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def setting(intervention: Mapping[str, Any]) -> str:
    """Return "A = 1 and B = 2"."""
    return " and ".join(f"{variable} = {state}" for variable, state in intervention.items())
