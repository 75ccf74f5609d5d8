"""What the adapters to causal-learn share: putting something in for one call, and reading its graphs.

causal-learn offers no way to pass a score, and no way to take a test back, so both are put into its modules
and taken out again when the call returns or raises; one thread at a time. The modules are imported on first
use: that takes over a second.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MixedGraph", "patched", "read_matrix"]

Pair = tuple[int, int]

_ONE_AT_A_TIME = RLock()


@dataclass(frozen=True)
class MixedGraph:
    """A search's result as it came, valid or not: pairs of column numbers, and what has to be said of it."""

    directed: tuple[Pair, ...]
    undirected: tuple[Pair, ...]
    bidirected: tuple[Pair, ...] = ()
    warnings: tuple[str, ...] = ()


@contextmanager
def patched(*replacements: tuple[ModuleType, Mapping[str, Any]]) -> Iterator[None]:
    """Replace attributes of modules until the block ends; names that a module doesn't have are left alone.

    The library's own Python warnings are silenced meanwhile.

    Examples
    --------
    >>> import math
    >>> with patched((math, {"tau": 6, "no_such_name": 0})):
    ...     math.tau, hasattr(math, "no_such_name")
    (6, False)
    >>> math.tau > 6
    True
    """
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = [
            (module, name, getattr(module, name))
            for module, names in replacements
            for name in names
            if hasattr(module, name)
        ]
        wanted = {
            (id(module), name): value for module, names in replacements for name, value in names.items()
        }
        try:
            for module, name, _ in before:
                setattr(module, name, wanted[id(module), name])
            yield
        finally:
            for module, name, value in before:
                setattr(module, name, value)


def read_matrix(matrix: NDArray[np.integer], *notes: str) -> MixedGraph:
    """Read causal-learn's matrix: M[i, j] = -1 with M[j, i] = 1 is i → j, both -1 a line, both 1 is i ↔ j."""
    n = len(matrix)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if matrix[i, j] != 0 or matrix[j, i] != 0]
    ends = {(i, j): (int(matrix[i, j]), int(matrix[j, i])) for i, j in pairs}
    forwards = [pair for pair in pairs if ends[pair] == (-1, 1)]
    backwards = [(j, i) for i, j in pairs if ends[i, j] == (1, -1)]
    return MixedGraph(
        directed=tuple(sorted(forwards + backwards)),
        undirected=tuple(pair for pair in pairs if ends[pair] == (-1, -1)),
        bidirected=tuple(pair for pair in pairs if ends[pair] == (1, 1)),
        warnings=notes,
    )
