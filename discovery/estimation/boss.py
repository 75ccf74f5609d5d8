"""The best order score search with grow–shrink trees (BOSS), from GES's graph or from scratch ([1]_).

An order of the variables stands for the DAG in which each variable has the parents that growing and shrinking
choose among those before it. The search moves one variable at a time to the place of the order with the best
score, until no variable has a better place. It finds many of the graphs that GES, which changes one edge at a
time, doesn't reach. Like GES it ends in a local optimum, so it begins anew from several orders.

causal-learn's BOSS takes neither a first order nor known adjacencies, and shuffles with Python's global
generator. So the search is written anew here; on the same scores it ends as high as causal-learn's.

The result doesn't depend on the order of the columns: the variables are first put in an order that follows
from their scores, and random orders and equal scores are decided in that order.

References
----------
.. [1] Andrews, Ramsey, Sanchez-Romero, Camchong & Kummerfeld (2023), Fast scalable and accurate discovery of
   DAGs using the best order score search and grow–shrink trees, NeurIPS 36. `_GrowShrinkTree` is Section 3.1,
   `_Order.improve` Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import fsum

import networkx as nx
import numpy as np

from discovery.estimation.scores import (
    ROUNDING,
    Pair,
    Parents,
    Score,
    class_of_columns,
    class_score,
    parents_of,
)
from discovery.estimation.watch import SearchStopped, Watch

__all__ = ["better_by_orders", "canonical_order", "run_boss", "starts"]


def starts(n_variables: int) -> int:
    """Return the number of orders that the search begins from: ten, and fewer from 100 variables on.

    There the orders after GES's rarely find more: on ten random DAGs of 100 and 200 variables one order found
    what ten did on eight, and three on nine, for half to two thirds of the CPU.
    """
    return 10 if n_variables < 100 else max(1, 300 // n_variables)


def run_boss(score: Score, watch: Watch | None = None) -> Parents:
    """Return the best DAG that BOSS finds from random orders, `starts` in number.

    Parameters
    ----------
    score
        The score.
    watch
        May end the search early: the result is then the best graph so far.
    """
    return better_by_orders(score, ((),) * score.n_variables, watch)


def better_by_orders(score: Score, found: Parents, watch: Watch | None = None) -> Parents:
    """Return the best DAG that BOSS finds from an order of the class of `found` and from random orders.

    If none scores better, `found` itself is returned. The random orders are the same for the same scores.

    Parameters
    ----------
    score
        The score that all graphs are compared by.
    found
        A DAG, of GES's class, for example; of a DAG without edges any order is one.
    watch
        May end the search early: the result is then the best graph so far.
    """
    watch = watch or Watch()
    best, highest = found, class_score(score, found)
    rng = np.random.default_rng(0)
    with suppress(SearchStopped):
        rank = canonical_order(score)
        trees = [_GrowShrinkTree(score, rank, variable, watch) for variable in range(len(rank))]
        n_starts = starts(len(rank))
        for start in range(n_starts):
            watch.tick(f"BOSS from order {start + 1} of {n_starts}")
            if start == 0 and any(found):
                search = _Order(trees, _order_of(score, found, rank))
            else:
                search = _Order(trees, rng.permutation(len(rank)).tolist())
            with suppress(SearchStopped):
                search.climb()
            if search.total() > highest + ROUNDING:
                arrows = [(rank[tail], rank[head]) for tail, head in search.arrows()]
                best, highest = parents_of(len(rank), arrows), search.total()
    return best


def canonical_order(score: Score) -> list[int]:
    """Return the columns in an order that follows from their scores, whatever the order of the columns.

    First the score without parents, then the sum of the scores with each other variable as the only parent.
    Two columns that are equal in both follow each other as in the table.
    """
    columns = range(score.n_variables)
    keys = [
        (
            score.local_score(column),
            fsum(score.extended_scores(column, (), [other for other in columns if other != column])),
        )
        for column in columns
    ]
    return sorted(columns, key=keys.__getitem__)


def _order_of(score: Score, found: Parents, rank: Sequence[int]) -> list[int]:
    """Return an order of a DAG of the class of `found`, as places in `rank`: always the same one."""
    place = {column: i for i, column in enumerate(rank)}
    closed = class_of_columns(score, [(tail, head) for head, tails in enumerate(found) for tail in tails])
    lines = [sorted((one, other), key=lambda name: place[int(name)]) for one, other in closed.lines()]
    for one, other in sorted(lines, key=lambda line: [place[int(name)] for name in line]):
        if closed.has_line(one, other):
            closed.orient(one, other)
    dag: nx.DiGraph[int] = nx.DiGraph()
    dag.add_nodes_from(range(len(rank)))
    dag.add_edges_from((place[int(tail)], place[int(head)]) for tail, head in closed.arrows())
    return list(nx.lexicographical_topological_sort(dag))


@dataclass(frozen=True, slots=True)
class _Traced:
    """The parents chosen among the variables of a prefix, their score, and which variables decided it.

    Sets of variables are bit masks. With another prefix that has the same `asked` variables the same parents
    are chosen.
    """

    score: float
    parents: tuple[int, ...]
    asked: int


@dataclass(slots=True)
class _Node:
    """The parents on the way to this node have been added, in this order; the rest is filled when needed.

    Attributes
    ----------
    score
        The score with these parents.
    branches
        The variables that raise the score if added, the best first, and where adding them leads. A variable
        that wasn't in the prefix on the way to this node is none of them.
    shrunk
        The score and the parents after those whose removal raises the score have been removed, one by one.
    """

    score: float
    branches: list[tuple[int, _Node]] | None = None
    shrunk: tuple[float, tuple[int, ...]] | None = None


class _GrowShrinkTree:
    """All that growing and shrinking has chosen so far for one variable, so that nothing is scored twice.

    Parameters
    ----------
    score
        The score, by column.
    columns
        The column of each variable: variables are numbered by their place in it.
    variable
        The variable whose parents are chosen.
    watch
        May end the search before anything is scored.
    """

    def __init__(self, score: Score, columns: Sequence[int], variable: int, watch: Watch) -> None:
        self._score = score
        self._watch = watch
        self._columns = columns
        self._column = columns[variable]
        self._others = [other for other in range(len(columns)) if other != variable]
        self._root = _Node(score.local_score(self._column))

    def trace(self, prefix: int) -> _Traced:
        """Return the parents chosen among the variables of `prefix`, a bit mask."""
        node, asked = self._root, 0
        parents: list[int] = []
        while True:
            if node.branches is None:
                node.branches = self._branches(node.score, parents, asked)
            for added, branch in node.branches:
                asked |= 1 << added
                if prefix >> added & 1:
                    parents.append(added)
                    node = branch
                    break
            else:
                if node.shrunk is None:
                    node.shrunk = self._shrunk(node.score, parents)
                return _Traced(*node.shrunk, asked)

    def _branches(self, score: float, parents: Sequence[int], asked: int) -> list[tuple[int, _Node]]:
        self._watch.tick()
        available = [other for other in self._others if not asked >> other & 1]
        columns = self._columns
        scores = self._score.extended_scores(
            self._column, [columns[parent] for parent in parents], [columns[other] for other in available]
        )
        better = [(-float(new), other) for new, other in zip(scores, available, strict=True) if new > score]
        return [(added, _Node(-loss)) for loss, added in sorted(better)]

    def _shrunk(self, score: float, parents: Sequence[int]) -> tuple[float, tuple[int, ...]]:
        kept = sorted(parents)
        while kept:
            fewer = [[parent for parent in kept if parent != removed] for removed in kept]
            scores = [self._score.local_score(self._column, [self._columns[i] for i in few]) for few in fewer]
            best = max(range(len(scores)), key=scores.__getitem__)
            if scores[best] <= score:
                break
            score, kept = scores[best], fewer[best]
        return score, tuple(kept)


@dataclass(slots=True)
class _Order:
    """An order of the variables, and what each variable's tree chooses in it."""

    trees: Sequence[_GrowShrinkTree]
    order: list[int]
    traced: list[_Traced] = field(init=False)

    def __post_init__(self) -> None:
        self.traced = list(map(_GrowShrinkTree.trace, self.trees, [0] * len(self.trees)))
        prefix = 0
        for variable in self.order:
            self.traced[variable] = self.trees[variable].trace(prefix)
            prefix |= 1 << variable

    def total(self) -> float:
        """Return the score of the DAG."""
        return fsum(traced.score for traced in self.traced)

    def arrows(self) -> list[Pair]:
        """Return the edges of the DAG."""
        return [(parent, child) for child, traced in enumerate(self.traced) for parent in traced.parents]

    def climb(self) -> None:
        """Move variables while that raises the score."""
        improved = True
        while improved:
            improved = False
            for variable in range(len(self.trees)):
                improved |= self.improve(variable)

    def improve(self, moved: int) -> bool:
        """Move one variable to its best place, the last of equals; return whether the score is better."""
        before = self.order.index(moved)
        others = [variable for variable in self.order if variable != moved]
        turned = self._traced_otherwise(moved, before, others)
        own = self._own_traces(moved, others)
        # What all variables score together with `moved` in each place, less a constant; from the last place.
        totals = [own[-1].score]
        gained = 0.0
        for place in range(len(others) - 1, -1, -1):
            variable = others[place]
            if variable in turned:
                change = turned[variable].score - self.traced[variable].score
                gained += change if place < before else -change
            totals.append(own[place].score + gained)
        totals.reverse()
        highest = max(totals)
        best = max(place for place, total in enumerate(totals) if total >= highest - ROUNDING)
        if totals[best] <= totals[before] + ROUNDING:
            return False
        for variable in others[min(before, best) : max(before, best)]:
            if variable in turned:
                self.traced[variable] = turned[variable]
        self.traced[moved] = own[best]
        self.order = [*others[:best], moved, *others[best:]]
        return True

    def _traced_otherwise(self, moved: int, before: int, others: Sequence[int]) -> dict[int, _Traced]:
        """Return what is chosen for those to which it matters, with `moved` on their other side."""
        turned, prefix = {}, 0
        for place, variable in enumerate(others):
            if self.traced[variable].asked >> moved & 1:
                with_it = prefix | 1 << moved if place < before else prefix
                turned[variable] = self.trees[variable].trace(with_it)
            prefix |= 1 << variable
        return turned

    def _own_traces(self, moved: int, others: Sequence[int]) -> list[_Traced]:
        """Return what is chosen for `moved` in each place among the others."""
        prefix = 0
        traces = [self.trees[moved].trace(prefix)]
        for variable in others:
            prefix |= 1 << variable
            last = traces[-1]
            traces.append(self.trees[moved].trace(prefix) if last.asked >> variable & 1 else last)
        return traces
