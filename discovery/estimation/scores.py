"""What a search needs of a score, and how a score respects known adjacencies.

A score is a sum of local scores, one of each variable given its parents; higher is better. The searches use
nothing but a `Score`, so that every score works in every search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum, inf
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discovery.graphs.characterization import class_of_dag
from discovery.graphs.meek import PartiallyDirectedGraph

__all__ = [
    "ROUNDING",
    "AdjacencyScore",
    "Pair",
    "Parents",
    "Score",
    "class_of_columns",
    "class_score",
    "parents_of",
]

#: Scores that differ by less are equal: sums of local scores differ by as much in rounding, in nats.
ROUNDING = 1e-6

Pair = tuple[int, int]
Parents = tuple[tuple[int, ...], ...]
"""A DAG: the parents of each column, by number."""


class Score(Protocol):
    """A decomposable score; all DAGs of an equivalence class have the same sum of local scores.

    Attributes
    ----------
    n_variables
        The variables are the columns 0 … n_variables − 1.
    targets
        The targets of interventional rows. Where there are any, a class holds the DAGs of an
        equivalence class whose edges at targets point the same way.
    """

    @property
    def n_variables(self) -> int: ...

    @property
    def targets(self) -> frozenset[int]: ...

    def local_score(self, variable: int, parents: Iterable[int] = ()) -> float:
        """Return the score of `variable` with these `parents`, in nats."""

    def extended_scores(
        self, variable: int, parents: Sequence[int], candidates: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return the score of `variable` with `parents` and one more, for each of the `candidates` in turn.

        Float [number of candidates]; each is exactly what `local_score` returns for these parents.
        """


class AdjacencyScore:
    """A score in which a forbidden edge costs everything, and a required one gains more than data can cost.

    DAGs of one class have the same adjacencies, so they still score alike.

    Parameters
    ----------
    score
        The score of the data.
    n_rows
        The number of rows it was computed from: an edge costs less than log(2^63) nats a row.
    required, forbidden
        Pairs of columns that are adjacent, or not adjacent, whatever the data say.
    """

    def __init__(
        self, score: Score, n_rows: int, required: Iterable[Pair] = (), forbidden: Iterable[Pair] = ()
    ) -> None:
        self._score = score
        self._gain = 1000.0 + 100.0 * n_rows
        self._required: list[set[int]] = [set() for _ in range(score.n_variables)]
        self._forbidden: list[set[int]] = [set() for _ in range(score.n_variables)]
        for pairs, partners in ((required, self._required), (forbidden, self._forbidden)):
            for one, other in pairs:
                partners[one].add(other)
                partners[other].add(one)

    @property
    def n_variables(self) -> int:
        """The number of columns."""
        return self._score.n_variables

    @property
    def targets(self) -> frozenset[int]:
        """The targets of interventional rows."""
        return self._score.targets

    def local_score(self, variable: int, parents: Iterable[int] = ()) -> float:
        """Return the score of `variable` with these `parents`; −∞ with a forbidden one."""
        chosen = {int(parent) for parent in parents}
        if self._forbidden[variable] & chosen:
            return -inf
        return self._score.local_score(variable, chosen) + self._gain * len(self._required[variable] & chosen)

    def extended_scores(
        self, variable: int, parents: Sequence[int], candidates: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return `local_score` with one more parent, for each of the `candidates` in turn."""
        if self._forbidden[variable].intersection(parents):
            return np.full(len(candidates), -inf)
        found = self._score.extended_scores(variable, parents, candidates)
        before = len(self._required[variable].intersection(parents))
        edges = [before + (candidate in self._required[variable]) for candidate in candidates]
        found = found + self._gain * np.array(edges, dtype=np.float64)
        found[[candidate in self._forbidden[variable] for candidate in candidates]] = -inf
        return found


def parents_of(n_variables: int, arrows: Iterable[Pair]) -> Parents:
    """Return the DAG with the edges (tail, head)."""
    found: list[list[int]] = [[] for _ in range(n_variables)]
    for tail, head in arrows:
        found[head].append(tail)
    return tuple(tuple(sorted(parents)) for parents in found)


def class_score(score: Score, parents: Parents) -> float:
    """Return the score of the DAG with these parents, in nats: that of all DAGs of its class."""
    return fsum(score.local_score(node, chosen) for node, chosen in enumerate(parents))


def class_of_columns(score: Score, arrows: Iterable[Pair]) -> PartiallyDirectedGraph:
    """Return the class of a DAG over the columns, which are named by their numbers as text.

    It is the essential graph, and the interventional one where the score has targets: edges at targets have
    the DAG's direction, and so have all that follow from these by Meek's rules.
    """
    named = [(str(tail), str(head)) for tail, head in arrows]
    closed = class_of_dag(map(str, range(score.n_variables)), named)
    for tail, head in named:
        if score.targets and not score.targets.isdisjoint((int(tail), int(head))):
            closed.orient(tail, head)
    return closed
