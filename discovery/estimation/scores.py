"""What a search needs of a score, and how a score respects known adjacencies.

A score is a sum of local scores, one of each variable given its parents; higher is better. The searches use
nothing but a `Score`, so that every score works in every search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import fsum, inf
from typing import Protocol

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from discovery.estimation.causal_learn import MixedGraph, Pair
from discovery.graphs.characterization import class_of_dag
from discovery.graphs.meek import PartiallyDirectedGraph

__all__ = ["AdjacencyScore", "Score", "class_score", "extension", "observational_class"]


class Score(Protocol):
    """A decomposable score; all DAGs of an equivalence class have the same sum of local scores.

    Attributes
    ----------
    n_variables
        The variables are the columns 0 … n_variables − 1.
    targets
        The variables that were set in some of the rows. Where there are any, a class holds the DAGs of an
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
        """The variables that were set in some of the rows."""
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


def class_score(score: Score, found: MixedGraph) -> float:
    """Return the score of the DAGs whose essential graph is `found`, in nats."""
    dag = extension(score.n_variables, found)
    return fsum(score.local_score(node, dag.predecessors(node)) for node in dag)


def extension(n_variables: int, found: MixedGraph) -> nx.DiGraph[int]:
    """Return a DAG of the class with the essential graph `found`, interventional or not."""
    pairs = [*found.directed, *found.undirected]
    closed = PartiallyDirectedGraph(
        map(str, range(n_variables)),
        *([(str(one), str(other)) for one, other in edges] for edges in (found.directed, found.undirected)),
    )
    for one, other in sorted(tuple(sorted(pair)) for pair in found.undirected):
        if closed.has_line(str(one), str(other)):
            closed.orient(str(one), str(other))
    dag: nx.DiGraph[int] = nx.DiGraph()
    dag.add_nodes_from(range(n_variables))
    dag.add_edges_from(
        (one, other) if closed.has_arrow(str(one), str(other)) else (other, one) for one, other in pairs
    )
    return dag


def observational_class(n_variables: int, found: MixedGraph) -> MixedGraph:
    """Return `found` with the essential graph of the equivalence class that holds its class.

    The two differ where interventions direct edges.
    """
    dag = extension(n_variables, found)
    closed = class_of_dag(map(str, dag), [(str(tail), str(head)) for tail, head in dag.edges])
    lines = (sorted((int(one), int(other))) for one, other in closed.lines())
    return replace(
        found,
        directed=tuple(sorted((int(tail), int(head)) for tail, head in closed.arrows())),
        undirected=tuple(sorted((one, other) for one, other in lines)),
    )
