"""How often an edge is found again, and in which direction, when the rows are drawn anew ([1]_).

A resampled table has as many rows as the table, drawn from it with replacement. The graph of each is
estimated as the table's own is. An edge that is in nearly all of these graphs depends on many rows; one that
comes and goes depends on few.

The frequencies are no probabilities that an edge is right: a search that is wrong on the table is wrong in
the same way on most resampled tables. Nor do they make a better graph: the edges in at least half of the
graphs, taken together, are further from the truth than the graph of the table.

References
----------
.. [1] Friedman, Goldszmidt & Wyner (1999), Data analysis with Bayesian networks: a bootstrap approach, UAI.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from discovery.errors import EstimationError
from discovery.estimation.estimation import estimate
from discovery.estimation.fci import estimate_pag
from discovery.estimation.settings import EstimateSettings
from discovery.graphs.meek import Arrow
from discovery.graphs.mixed_graph import MixedGraph
from discovery.workers import mapped

if TYPE_CHECKING:
    from discovery.table.discrete_table import DiscreteTable

__all__ = ["EdgeConfidence", "EdgeFrequency", "edge_confidence"]


@dataclass(frozen=True)
class EdgeFrequency:
    """The shares of resampled tables whose graph has an edge between two variables, by its marks.

    Attributes
    ----------
    one, other
        The variables, in the order of the table's columns.
    marks
        The share of each kind of edge, as read from `one` to `other`: "→", "←", "—"; those of a PAG, too.
    """

    one: str
    other: str
    marks: Mapping[str, float]

    @property
    def forwards(self) -> float:
        """The share with ``one → other``."""
        return self.marks.get("→", 0.0)

    @property
    def backwards(self) -> float:
        """The share with ``other → one``."""
        return self.marks.get("←", 0.0)

    @property
    def undirected(self) -> float:
        """The share with ``one — other``."""
        return self.marks.get("—", 0.0)

    @property
    def adjacent(self) -> float:
        """The share with an edge of any kind."""
        return fsum(self.marks.values())


@dataclass(frozen=True)
class EdgeConfidence:
    """The frequencies of all edges that were found at least once.

    Attributes
    ----------
    resamples
        The number of resampled tables.
    edges
        In the order of the table's columns.
    warnings
        What a person should know, one line each: what a time limit cut off.
    """

    resamples: int
    edges: tuple[EdgeFrequency, ...]
    warnings: tuple[str, ...] = ()

    def between(self, one: str, other: str) -> EdgeFrequency:
        """Return the frequencies of the edge between two variables; all 0 if it was never found."""
        for edge in self.edges:
            if {edge.one, edge.other} == {one, other}:
                return edge
        return EdgeFrequency(one, other, {})

    def share(self, tail: str, head: str, *, directed: bool) -> float:
        """Return the share of graphs with exactly this edge, ``tail → head`` or ``tail — head``."""
        edge = self.between(tail, head)
        if not directed:
            return edge.undirected
        return edge.forwards if edge.one == tail else edge.backwards

    def adjacency(self) -> dict[Arrow, float]:
        """Return for each pair that was found adjacent the share of graphs in which it is."""
        return {(edge.one, edge.other): edge.adjacent for edge in self.edges}


def edge_confidence(
    table: DiscreteTable,
    settings: EstimateSettings | None = None,
    *,
    resamples: int = 100,
    seed: int = 0,
    jobs: int = 1,
    progress: Callable[[int], object] | None = None,
) -> EdgeConfidence:
    """Estimate the graphs of resampled tables and count their edges.

    Parameters
    ----------
    table
        The table. Observational and interventional rows are resampled separately.
    settings
        How the graph of each is estimated; `EstimateSettings()` by default. Directions that follow from
        background knowledge count as directions.
    resamples
        The number of resampled tables; the settings' time limit may end earlier. With 100 a share is within
        ±.1 of that of infinitely many tables with probability .95.
    seed
        Each resampled table has a stream of its own, so that the result doesn't depend on `jobs`, nor on the
        order of the rows.
    jobs
        The number of processes.
    progress
        Called with 1 after each resampled table.

    Raises
    ------
    EstimationError
        If `resamples` isn't positive, or as `estimate` raises it.

    Examples
    --------
    >>> from discovery import read_csv
    >>> table = read_csv("data/asia.csv", ignore=["xray", "dysp"])
    >>> edge_confidence(table, resamples=5).between("either", "lung").adjacent
    1.0
    """
    if resamples < 1:
        raise EstimationError(f"Expected at least one resampled table but found {resamples}: take 100")
    settings = (settings or EstimateSettings()).resolved()
    tables = _Tables(_sorted_rows(table), settings, resamples, jobs)
    counts: dict[Arrow, Counter[str]] = {}
    seeds = np.random.SeedSequence(seed).spawn(resamples)
    done = cut = 0
    for marks, is_cut in mapped(_marks_of_one, tables, enumerate(seeds), jobs=jobs, ordered=False):
        done, cut = done + 1, cut + is_cut
        for pair, mark in marks.items():
            counts.setdefault(pair, Counter())[mark] += 1
        if progress is not None:
            progress(1)
        if settings.is_enough(done):
            break
    edges = (
        EdgeFrequency(one, other, {mark: n / done for mark, n in counts[one, other].items()})
        for one, other in combinations(table.variables, 2)
        if (one, other) in counts
    )
    return EdgeConfidence(done, tuple(edges), settings.about_resamples(resamples, done, cut))


@dataclass(frozen=True, eq=False)
class _Tables:
    """What all searches share: a table, how to search, how many there are, in how many processes."""

    table: DiscreteTable
    settings: EstimateSettings
    resamples: int
    jobs: int


def _marks_of_one(
    given: _Tables, item: tuple[int, np.random.SeedSequence]
) -> tuple[Mapping[Arrow, str], bool]:
    """Return the edges of the graph of one resampled table, each from the column that comes first.

    And whether the search was ended early.
    """
    number, seed = item
    settings = given.settings.of_resample(number, given.resamples, given.jobs)
    resampled = _resampled(given.table, np.random.default_rng(seed))
    if settings.method == "fci":
        graph, is_cut = estimate_pag(resampled, settings).graph, False
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the estimate from the table itself warns of the same
            found = estimate(resampled, **settings.estimate_keywords())
        closed, is_cut = found.graph.closure(), found.is_cut
        edges = [(tail, head, "→") for tail, head in closed.arrows()]
        edges += [(one, other, "—") for one, other in closed.lines()]
        graph = MixedGraph(resampled.variables, tuple(edges))
    return {(one, other): marks for one, other, marks in graph.forwards()}, is_cut


def _sorted_rows(table: DiscreteTable) -> DiscreteTable:
    """Return the rows in an order that follows from their content, without rewards."""
    codes = np.asfortranarray(table.codes[np.lexsort(table.codes.T)])
    given = table.interventional
    if given is not None:
        order = np.lexsort((*given.codes.T, given.targets))
        given = replace(
            given, codes=np.asfortranarray(given.codes[order]), rewards=None, targets=given.targets[order]
        )
    return replace(table, codes=codes, rewards=None, interventional=given)


def _resampled(table: DiscreteTable, rng: np.random.Generator) -> DiscreteTable:
    """Return as many rows of either kind, drawn with replacement."""
    picked = rng.integers(table.n_rows, size=table.n_rows)
    given = table.interventional
    if given is not None and len(given):
        chosen = rng.integers(len(given), size=len(given))
        given = replace(given, codes=np.asfortranarray(given.codes[chosen]), targets=given.targets[chosen])
    return replace(table, codes=np.asfortranarray(table.codes[picked]), interventional=given)
