"""Interventional rows: how they enter scores and tests, and which edges they direct ([1]_).

Setting a variable, the row's *target*, cuts it off from its causes and leaves everything else as it is. So

* the score of a variable leaves out the rows whose target it is, and counts all others;
* PC's test of x and y leaves out the rows whose target x or y is. It tests within the observational rows and
  within those of each other target, where the same independencies hold, and adds up the statistics and their
  degrees of freedom. Rows of different targets in one stratum could look dependent although no target's rows
  are.

The scores of two DAGs of an equivalence class then differ if an edge at a target points another way. A class
of DAGs that agree on these edges has an *interventional essential graph*, in which all edges at targets are
directed, and all that follow from them. `estimate` returns these directions as its graph's background. GES
with these scores and graphs is the GIES of [1]_, without its turning phase, for which BOSS stands in.

References
----------
.. [1] Hauser & Bühlmann (2012), Characterization and greedy learning of interventional Markov equivalence
   classes of directed acyclic graphs, Journal of Machine Learning Research 13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from discovery.estimation.contingency import Contingency
from discovery.estimation.counted_scores import CountedScore, GSquare
from discovery.graphs.chain_graphs import chain_components
from discovery.graphs.essential_graph import EssentialGraph
from discovery.graphs.meek import Arrow, PartiallyDirectedGraph

if TYPE_CHECKING:
    from discovery.table.discrete_table import DiscreteTable

__all__ = ["DataScore", "RegimeCounts", "RegimeScore", "with_directions"]


class RegimeScore:
    """A score whose local score of a variable leaves out the rows whose target it is.

    Parameters
    ----------
    everything
        The score on all rows.
    left_out
        For each target the score on the other rows.
    """

    def __init__(self, everything: CountedScore, left_out: dict[int, CountedScore]) -> None:
        self._everything = everything
        self._left_out = left_out
        self.targets = frozenset(left_out)
        self.equivalent_sample_size = everything.equivalent_sample_size

    @property
    def n_variables(self) -> int:
        """The number of columns."""
        return self._everything.n_variables

    def local_score(self, variable: int, parents: Iterable[int] = ()) -> float:
        """Return the score of `variable` with these `parents` on the rows that count for it, in nats."""
        return self._of(variable).local_score(variable, parents)

    def extended_scores(
        self, variable: int, parents: Sequence[int], candidates: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return `local_score` with one more parent, for each of the `candidates` in turn."""
        return self._of(variable).extended_scores(variable, parents, candidates)

    def edge_gain(self, x: int, y: int, given: tuple[int, ...] = ()) -> float:
        """Return by how much an edge between x and y raises the score, in its better direction."""
        return max(self._of(y).edge_gain(x, y, given), self._of(x).edge_gain(y, x, given))

    def _of(self, variable: int) -> CountedScore:
        return self._left_out.get(int(variable), self._everything)


DataScore: TypeAlias = CountedScore | RegimeScore


class RegimeCounts:
    """The rows of a table, counted by their target.

    Attributes
    ----------
    untouched
        The observational rows.
    everything
        All rows; the same without interventional rows.
    """

    def __init__(self, table: DiscreteTable) -> None:
        given = table.interventional
        self._codes, self._set = table.codes, np.full(table.n_rows, -1, dtype=np.int16)
        states = table.states
        if given is not None and len(given):
            states = given.states
            self._codes = np.asfortranarray(np.vstack([table.codes, given.codes]))
            self._set = np.concatenate([self._set, given.targets])
        self._cards = [len(states[variable]) for variable in table.states]
        self.untouched = Contingency(table.codes, [len(states) for states in table.states.values()])
        self.everything = (
            self.untouched if self.is_untouched else self._counted(np.ones(len(self._set), dtype=np.bool_))
        )

    @property
    def n_variables(self) -> int:
        """The number of columns."""
        return len(self._cards)

    @property
    def is_untouched(self) -> bool:
        """Whether there are no interventional rows."""
        return bool((self._set < 0).all())

    def score(self, kind: Callable[[Contingency], CountedScore]) -> DataScore:
        """Return the score that `kind` makes of counted rows, on the rows that count for each variable."""
        if self.is_untouched:
            return kind(self.untouched)
        left_out = {target: kind(rows) for target, rows in self._without.items()}
        return RegimeScore(kind(self.everything), left_out)

    def p_value(self, x: int, y: int, given: tuple[int, ...]) -> float:
        """Return the p-value of the G² test of x ⊥ y | given, as the module says."""
        results = [test.test(x, y, given) for target, test in self._tests.items() if target not in (x, y)]
        freedom = sum(result.degrees_of_freedom for result in results)
        return float(chdtrc(freedom, fsum(result.statistic for result in results))) if freedom else 1.0

    @cached_property
    def _without(self) -> dict[int, Contingency]:
        return {target: self._counted(self._set != target) for target in self._targets}

    @cached_property
    def _tests(self) -> dict[int, GSquare]:
        """The rows of each target, −1 for the observational ones."""
        tests = {target: GSquare(self._counted(self._set == target)) for target in self._targets}
        return {-1: GSquare(self.untouched)} | tests

    @cached_property
    def _targets(self) -> list[int]:
        return [int(target) for target in np.unique(self._set) if target >= 0]

    def _counted(self, rows: NDArray[np.bool_]) -> Contingency:
        return Contingency(np.asfortranarray(self._codes[rows]), self._cards)


def with_directions(graph: EssentialGraph, score: DataScore) -> EssentialGraph:
    """Return the graph with the directions that interventions give as its background, beside the one it has.

    In each chain component with a target the DAG with the highest score is found; its edges at targets are
    directed. A graph without targets is returned as it is.

    Notes
    -----
    A DAG of a chordal component has one source. With its edges directed, and all that follow by Meek's rules,
    smaller components stay undirected, which don't affect each other. So the best DAG is found by trying each
    source, and each of the components that stay, in turn ([2]_): n tries for a tree of n nodes, and 2^k for a
    clique of k.

    References
    ----------
    .. [2] He, Jia & Yu (2015), Counting and exploring sizes of Markov equivalence classes of directed acyclic
       graphs, Journal of Machine Learning Research 16.
    """
    if not score.targets:
        return graph
    search = _BestDirections(graph, score)
    best = search.best(graph.closure())
    known = graph.closure()
    for tail, head in graph.undirected:
        arrow = (tail, head) if best.has_arrow(tail, head) else (head, tail)
        if known.has_line(tail, head) and search.at_target(tail, head):
            known.orient(*arrow)
    open_pairs = {frozenset(pair) for pair in graph.undirected}
    background = [arrow for arrow in known.arrows() if frozenset(arrow) in open_pairs]
    return EssentialGraph(graph.nodes, graph.directed, graph.undirected, background)


class _BestDirections:
    """Finds the DAG with the highest score that agrees with a graph closed under Meek's rules."""

    def __init__(self, graph: EssentialGraph, score: DataScore) -> None:
        self._number = {node: i for i, node in enumerate(graph.nodes)}
        self._score = score
        self._known: dict[tuple[object, ...], tuple[float, tuple[Arrow, ...]]] = {}

    def at_target(self, one: str, other: str) -> bool:
        """Return whether one of the two is a target."""
        return not self._score.targets.isdisjoint((self._number[one], self._number[other]))

    def best(self, closed: PartiallyDirectedGraph) -> PartiallyDirectedGraph:
        """Return the graph with the best directions at targets; other edges may stay undirected."""
        for component in _components(closed, closed.nodes):
            if len(component) > 1 and self._matters(component):
                for tail, head in self._best_of(closed, component)[1]:
                    if closed.has_line(tail, head):
                        closed.orient(tail, head)
        for one, other in list(closed.lines()):
            if closed.has_line(one, other):
                closed.orient(one, other)
        return closed

    def _matters(self, component: Iterable[str]) -> bool:
        return any(self._number[node] in self._score.targets for node in component)

    def _best_of(
        self, closed: PartiallyDirectedGraph, component: tuple[str, ...]
    ) -> tuple[float, tuple[Arrow, ...]]:
        """Return the highest sum of local scores of a component's nodes, and the directions that give it."""
        key = component, tuple(tuple(sorted(closed.parents(node))) for node in component)
        if key in self._known:
            return self._known[key]
        if len(component) == 1:
            (node,) = component
            parents = [self._number[parent] for parent in closed.parents(node)]
            return self._score.local_score(self._number[node], parents), ()
        found: list[tuple[float, tuple[Arrow, ...]]] = []
        for source in component:
            trial, arrows = closed.copy(), []
            for other in list(trial.neighbours(source)):
                if trial.has_line(source, other):
                    trial.orient(source, other)
                    arrows.append((source, other))
            total = 0.0
            for part in _components(trial, component):
                value, more = self._best_of(trial, part)
                total += value
                arrows.extend(more)
            found.append((total, tuple(arrows)))
            if not self._matters(component):
                break  # all DAGs of it score alike
        self._known[key] = max(found, key=lambda one: one[0])
        return self._known[key]


def _components(closed: PartiallyDirectedGraph, nodes: Iterable[str]) -> list[tuple[str, ...]]:
    inside = dict.fromkeys(nodes)
    return chain_components(inside, {node: closed.neighbours(node) & inside.keys() for node in inside})
