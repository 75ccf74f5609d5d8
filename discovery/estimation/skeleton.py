"""The skeleton phase of PC-stable, with pairs known to be adjacent or not ([1]_).

It stands in for causal-learn's where `pc_search` says, with the reason.

References
----------
.. [1] Colombo & Maathuis (2014), Order-independent constraint-based causal structure learning, Journal of
   Machine Learning Research 15.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

__all__ = ["Skeleton", "stable_skeleton"]

PValue = Callable[[int, int, tuple[int, ...]], float]
Pair = tuple[int, int]


@dataclass(frozen=True)
class Skeleton:
    """The adjacent pairs of variables, and sets that separate the others; variables by column number.

    Attributes
    ----------
    neighbours
        For each variable its neighbours, in order.
    separators
        For each pair that tests found independent, smaller number first: the union of all tested sets that
        separate it at the depth at which it was first separated; without `all_separators`, the first such
        set.
    stopped_at
        The size of the largest conditioning sets allowed, if larger ones would have been tested; None
        otherwise.
    """

    neighbours: tuple[tuple[int, ...], ...]
    separators: dict[Pair, frozenset[int]]
    stopped_at: int | None = None


def stable_skeleton(
    n_variables: int,
    p_value: PValue,
    alpha: float,
    *,
    max_conditions: int | None = None,
    all_separators: bool = False,
    required: Iterable[Pair] = (),
    forbidden: Iterable[Pair] = (),
) -> Skeleton:
    """Return the skeleton that PC-stable finds: edges are removed at the end of each depth only.

    Parameters
    ----------
    n_variables
        The variables are 0 … n_variables − 1.
    p_value
        ``p_value(x, y, given)`` is the p-value of the test of x ⊥ y | given.
    alpha
        A pair is not adjacent if a p-value of it is above this level.
    max_conditions
        The size of the largest conditioning sets; None: no limit.
    all_separators
        Whether to go on testing a separated pair at the same depth and keep all sets that separate it, as
        causal-learn does. The graph is the same either way.
    required, forbidden
        Pairs that are adjacent, or not adjacent, whatever the data say; neither are tested.

    Notes
    -----
    At each depth d = 0, 1, … every ordered pair (x, y) of neighbours is tested given every d-subset of x's
    other neighbours. The order of the variables doesn't matter ([1]_, Section 4.1).

    Examples
    --------
    >>> def chain(x, y, given):  # 0 — 1 — 2
    ...     return float({x, y} == {0, 2} and 1 in given)
    >>> stable_skeleton(3, chain, 0.01)
    Skeleton(neighbours=((1,), (0, 2), (1,)), separators={(0, 2): frozenset({1})}, stopped_at=None)
    """
    never = {frozenset(pair) for pair in forbidden}
    always = {frozenset(pair) for pair in required}
    neighbours = [
        [y for y in range(n_variables) if y != x and frozenset((x, y)) not in never]
        for x in range(n_variables)
    ]
    separators: dict[Pair, frozenset[int]] = {}
    depth = 0
    while any(len(others) > depth for others in neighbours):
        if max_conditions is not None and depth > max_conditions:
            return Skeleton(tuple(map(tuple, neighbours)), separators, stopped_at=max_conditions)
        found: dict[Pair, frozenset[int]] = {}
        for x, y in _pairs_to_test(neighbours, depth, always):
            pair = (min(x, y), max(x, y))
            if pair in found and not all_separators:
                continue
            for given in combinations([other for other in neighbours[x] if other != y], depth):
                if p_value(x, y, given) > alpha:
                    found[pair] = found.get(pair, frozenset()) | frozenset(given)
                    if not all_separators:
                        break
        for x, y in found:
            neighbours[x].remove(y)
            neighbours[y].remove(x)
        separators |= found
        depth += 1
    return Skeleton(tuple(map(tuple, neighbours)), separators)


def _pairs_to_test(neighbours: list[list[int]], depth: int, always: set[frozenset[int]]) -> Iterator[Pair]:
    for x, others in enumerate(neighbours):
        if len(others) > depth:
            yield from ((x, y) for y in others if frozenset((x, y)) not in always)
