"""The search for the essential graph nearest to a mixed graph.

The search moves from DAG to DAG by removing, adding or reversing one edge at a time. It scores a DAG by its
essential graph: first by the number of pairs of nodes whose edge differs from the graph to repair, then by
the evidence against the edges removed and added. It starts from the best of `starting_dags`, descends while a
change of a single differing edge improves the score, and then anneals ([1]_) in rounds, each from the best
DAG so far, until several rounds in a row have found nothing better. The random numbers have a fixed seed and
the number of DAGs tried a fixed limit: the same graph always gets the same repair, in bounded time.

References
----------
.. [1] Kirkpatrick, Gelatt & Vecchi (1983), Optimization by simulated annealing, Science 220(4598).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

from discovery.repairs.bitset_graphs import Marks, Rows, bits, class_marks, leads_to
from discovery.repairs.starts import starting_dags

__all__ = ["nearest_class"]

# Chosen on random graphs with 4 and 5 nodes, where all optima are known, and on essential graphs of up to 100
# nodes with a few edges changed, where the number of changes is a bound.
_TRIES_PER_PAIR = 60  # DAGs tried in a round of annealing for each pair of nodes
_LONGEST_ROUND = 300  # ... but no more
_IDLE_ROUNDS = 9  # rounds without finding better after which to stop
_HEATS = (0.4, 0.8, 1.2)  # temperatures, in changes, at which rounds in a small graph begin in turn
_COOLING = 0.45  # ... and the share of it that is left at the end of the round
_MOST_TRIES, _FEWEST_TRIES = 6000, 50  # limits of the DAGs tried in all
_WORK = 2_000_000  # DAGs tried times nodes and edges, within these limits

_Pair = tuple[int, int]


def nearest_class(graph: Marks, weight: Callable[[int, int], float] | None = None) -> Marks:
    """Return the essential graph with the fewest differences from `graph` that the search finds.

    Parameters
    ----------
    graph
        Any mixed graph.
    weight
        How strongly the data support an edge between two nodes, the lower number first; negative against
        it. Decides between repairs with equally many changes. None: an edge removed or added counts as 1.
    """
    search = _Search(graph, weight)
    best = min(search.beginnings(), key=lambda found: found.score)
    idle = 0
    while idle < _IDLE_ROUNDS and search.tries_left > 0 and not search.is_optimal(best):
        found = search.descend(search.anneal(best, _HEATS[idle % len(_HEATS)]), terms=2)
        if found.score < best.score:
            best, idle = search.settle(found), 0
        else:
            idle += 1
    return best.marks


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A DAG, its essential graph, the pairs of nodes that this joins differently, and the score."""

    parents: Rows
    marks: Marks
    changed: tuple[_Pair, ...]
    score: tuple[int, float]


class _Search:
    """The constants of one search, its random numbers, and the number of DAGs that it may still try."""

    def __init__(self, graph: Marks, weight: Callable[[int, int], float] | None) -> None:
        self._graph = graph
        self._weight = weight
        self._n = len(graph.parents)
        self._adjacent = graph.adjacent()
        self._rng = random.Random(0)
        size = self._n + sum(row.bit_count() for row in self._adjacent) // 2
        self._round = min(_LONGEST_ROUND, _TRIES_PER_PAIR * self._n * (self._n - 1) // 2)
        self._mildness = max(0.25, min(1.0, 6 / self._n))  # large graphs have many ways up
        self.tries_left = min(_MOST_TRIES, max(_FEWEST_TRIES, _WORK // size))

    def beginnings(self) -> list[_Candidate]:
        """Return the candidates to which the starting DAGs with the fewest changes descend."""
        starts = [self.candidate(dag) for dag in starting_dags(self._graph)]
        fewest = min(len(start.changed) for start in starts)
        best = {start.changed: start for start in reversed(starts) if len(start.changed) == fewest}
        return [self.settle(start) for start in best.values()]

    def candidate(self, parents: Rows) -> _Candidate:
        self.tries_left -= 1
        marks = class_marks(parents)
        changed = _pairs(self._graph.differing(marks))
        return _Candidate(parents, marks, changed, (len(changed), self._against_the_data(marks.adjacent())))

    def is_optimal(self, best: _Candidate) -> bool:
        """Return whether no graph can be better: at least one change is needed, and one for each conflict."""
        fewest = max(1, sum(row.bit_count() for row in self._graph.conflicts) // 2)
        return best.score[0] <= fewest and self._weight is None and best.score[1] == 0

    def settle(self, best: _Candidate) -> _Candidate:
        """Descend to a local optimum: by the number of changes first, then by the evidence too."""
        best = self.descend(best, terms=1)
        best = self.descend(best, terms=1, widely=True)
        return self.descend(best, terms=2, widely=True)

    def descend(self, best: _Candidate, terms: int, widely: bool = False) -> _Candidate:
        """Change differing edges, or `widely` all between their nodes, while the first `terms` improve."""
        pairs = _pairs_near(best.changed) if widely else best.changed
        at = failed = 0
        while failed < len(pairs) and self.tries_left > 0:
            better = self._better_at(best, *pairs[at % len(pairs)], terms)
            failed += 1
            at += 1
            if better is not None:
                best, failed = better, 0
                pairs = _pairs_near(best.changed) if widely else best.changed
        return best

    def _better_at(self, current: _Candidate, one: int, other: int, terms: int) -> _Candidate | None:
        for tail, head, joined in ((one, other, False), (one, other, True), (other, one, True)):
            dag = _with_edge(current.parents, tail, head, joined)
            new = self.candidate(dag) if dag is not None else current
            if new.score[:terms] < current.score[:terms]:
                return new
        return None

    def anneal(self, start: _Candidate, heat: float) -> _Candidate:
        """Return the best candidate of a round of random moves; worse ones are accepted ever less often."""
        best = current = start
        for step in range(self._round):
            if self.tries_left <= 0 or not current.changed:
                break
            temperature = self._mildness * heat * _COOLING ** (step / self._round)
            dag = self._moved(current)
            if dag is None:
                continue
            new = self.candidate(dag)
            worse = new.score[0] - current.score[0]
            if new.score <= current.score or self._rng.random() < math.exp(-worse / temperature):
                current = new
            if current.score < best.score:
                best = current
        return best

    def _moved(self, current: _Candidate) -> Rows | None:
        """Return a DAG one edge away from this one or another of its class; None if that closes a cycle."""
        rng = self._rng
        dag = self._another_of_class(current.marks) if rng.random() < 0.1 else current.parents
        one, other = rng.choice(current.changed)
        if rng.random() < 0.5:
            one, other = rng.choice((one, other)), rng.randrange(self._n)
        if one == other:
            return None
        tail, head = rng.choice(((one, other), (other, one)))
        return _with_edge(dag, tail, head, joined=rng.random() < 2 / 3)

    def _another_of_class(self, marks: Marks) -> Rows:
        """Return a random DAG of the class, by maximum cardinality search with ties broken at random."""
        parents = marks.parents[:]
        by_count = [sum(1 << node for node in range(self._n) if marks.lines[node])]
        count = dict.fromkeys(bits(by_count[0]), 0)
        while by_count:
            if not by_count[-1]:
                by_count.pop()
                continue
            node = self._rng.choice(list(bits(by_count[-1])))
            by_count[-1] &= ~(1 << node)
            del count[node]
            for other in bits(marks.lines[node]):
                if other in count:
                    parents[other] |= 1 << node
                    by_count[count[other]] &= ~(1 << other)
                    count[other] += 1
                    if count[other] == len(by_count):
                        by_count.append(0)
                    by_count[count[other]] |= 1 << other
        return parents

    def _against_the_data(self, adjacent: Rows) -> float:
        """Return the evidence for the edges removed minus that for the edges added."""
        if self._weight is None:
            return sum((new ^ old).bit_count() for new, old in zip(adjacent, self._adjacent, strict=True)) / 2
        removed = _pairs([old & ~new for new, old in zip(adjacent, self._adjacent, strict=True)])
        added = _pairs([new & ~old for new, old in zip(adjacent, self._adjacent, strict=True)])
        return math.fsum(
            [*(self._weight(*pair) for pair in removed), *(-self._weight(*pair) for pair in added)]
        )


def _pairs(rows: Rows) -> tuple[_Pair, ...]:
    return tuple((i, j) for i, row in enumerate(rows) for j in bits(row >> i << i))


def _pairs_near(changed: tuple[_Pair, ...]) -> tuple[_Pair, ...]:
    """Return the pairs that changed and, after them, all other pairs of their nodes."""
    nodes = sorted({node for pair in changed for node in pair})
    return tuple(dict.fromkeys([*changed, *combinations(nodes, 2)]))


def _with_edge(parents: Rows, tail: int, head: int, joined: bool) -> Rows | None:
    """Return the DAG with ``tail → head``, or no edge if not `joined`; None if it is cyclic or the same."""
    changed = parents[:]
    changed[tail] &= ~(1 << head)
    changed[head] &= ~(1 << tail)
    if joined:
        if leads_to(changed, head, tail):
            return None
        changed[head] |= 1 << tail
    return changed if changed != parents else None
