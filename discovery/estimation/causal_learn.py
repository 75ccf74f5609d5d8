"""The common part of the adapters to causal-learn: patch its modules for one call, and read its graphs.

causal-learn can't be passed a score, and can't unregister a test. So attributes of its modules are replaced
while a call runs, and restored when it returns or raises; only one thread at a time does so. The modules are
imported on first use, because the import takes over a second.
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
    """The result of a search, valid or not: edges as pairs of column numbers (tail, head), and warnings."""

    directed: tuple[Pair, ...]
    undirected: tuple[Pair, ...]
    bidirected: tuple[Pair, ...] = ()
    warnings: tuple[str, ...] = ()


@contextmanager
def patched(*replacements: tuple[ModuleType, Mapping[str, Any]]) -> Iterator[None]:
    """Replace attributes of modules until the block ends.

    Names that a module doesn't have are ignored. The library's own Python warnings are silenced meanwhile.

    Parameters
    ----------
    replacements
        Pairs of a module and its new attributes by name.

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
    """Return the graph of causal-learn's matrix, int [n, n], with `notes` as its warnings.

    M[i, j] = −1 with M[j, i] = 1 is i → j; both −1 is i — j; both 1 is i ↔ j.
    """
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
