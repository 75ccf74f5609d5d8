"""Partially directed graphs closed under Meek's rules, while directions become known one by one.

The rules direct those edges that have the same direction in every DAG that agrees with the directions known
so far ([1]_, R1-R4; ``a → b`` is a directed edge, ``a — b`` an undirected one, whose direction is unknown):

1. ``a → b — c``, a and c not adjacent: ``b → c``.
2. ``a → b → c`` and ``a — c``: ``a → c``.
3. ``a — b``, ``a — c → b``, ``a — d → b``, c and d not adjacent: ``a → b``.
4. ``a — b``, ``a — c → d → b``, a and d adjacent, c and b not: ``a → b``.

Starting from an essential graph and directing one undirected edge at a time, the rules find exactly the
directed edges that are common to all remaining DAGs, and either direction of every undirected edge occurs in
one of these DAGs. So only a direction against that of a directed edge is a contradiction. The searches use it
like this:

    known = graph.closure()             # an EssentialGraph and its background, closed
    new = known.orient("A", "B")        # all directions that follow, ("A", "B") first; () if it was known
    known.contradictions                # [("B", "A"), ...]: the directions that orient refused
    known.neighbours("A")               # ends of its undirected edges; .parents and .children likewise
    known.possible_descendants("A")     # A and its descendants in some remaining DAG
    known.definite_descendants("A")     # A and its descendants in every remaining DAG
    known.undo(new)                     # back to before: for trying out an answer

No library offers this: causal-learn and pgmpy close a graph once, and neither adds a direction at the cost of
what follows from it nor takes one back.

References
----------
.. [1] Meek (1995), Causal inference and causal explanation with background knowledge, UAI.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, KeysView
from typing import Self

__all__ = ["Arrow", "PartiallyDirectedGraph", "meek_closure"]

Arrow = tuple[str, str]
_OrderedSet = dict[str, None]


def meek_closure(
    nodes: Iterable[str],
    directed: Iterable[Arrow],
    undirected: Iterable[Arrow],
    background: Iterable[Arrow] = (),
) -> PartiallyDirectedGraph:
    """Return the graph closed under Meek's rules, with the directions of `background` added one by one.

    Directions that contradict the graph or earlier ones are left out and listed in ``.contradictions``.

    Examples
    --------
    >>> meek_closure("ABC", [], [("A", "B"), ("B", "C")], background=[("A", "B"), ("C", "B")]).contradictions
    [('C', 'B')]
    """
    closed = PartiallyDirectedGraph(nodes, directed, undirected)
    for tail, head in background:
        closed.orient(tail, head)
    return closed


class PartiallyDirectedGraph:
    """Directed and undirected edges between named nodes, kept closed under Meek's rules; mutable.

    Parameters
    ----------
    nodes
        The nodes; every edge is between two of them.
    directed, undirected
        Directed edges (tail, head) and undirected ones, each pair of nodes at most once. The graph is closed
        at construction.

    Attributes
    ----------
    nodes
        In the order given.
    contradictions
        The directions (tail, head) that `orient` refused: the edge has the other direction, or doesn't exist.

    Notes
    -----
    The views of parents, children and neighbours are live; their order is reproducible but isn't the nodes'
    order. Directing an edge takes as many steps as its ends have undirected edges and common neighbours, so
    a closure takes near-linear time on sparse graphs. If no DAG agrees with the directed edges given at
    construction, the result is a graph without any guarantee.

    Examples
    --------
    >>> known = PartiallyDirectedGraph("ABC", [], [("A", "B"), ("B", "C")])
    >>> known.orient("A", "B")
    (('A', 'B'), ('B', 'C'))
    >>> known.orient("C", "B"), known.contradictions
    ((), [('C', 'B')])
    """

    def __init__(
        self, nodes: Iterable[str], directed: Iterable[Arrow] = (), undirected: Iterable[Arrow] = ()
    ) -> None:
        self.nodes = tuple(nodes)
        self.contradictions: list[Arrow] = []
        self._adjacent: dict[str, _OrderedSet] = {node: {} for node in self.nodes}
        self._parents: dict[str, _OrderedSet] = {node: {} for node in self.nodes}
        self._children: dict[str, _OrderedSet] = {node: {} for node in self.nodes}
        self._neighbours: dict[str, _OrderedSet] = {node: {} for node in self.nodes}
        arrows = list(directed)
        for tail, head in arrows:
            self._adjacent[tail][head] = self._adjacent[head][tail] = None
            self._children[tail][head] = self._parents[head][tail] = None
        for one, other in undirected:
            self._adjacent[one][other] = self._adjacent[other][one] = None
            self._neighbours[one][other] = self._neighbours[other][one] = None
        self._close(arrows)

    # -- edges -----------------------------------------------------------------------------------------------

    def parents(self, node: str) -> KeysView[str]:
        """Return the tails of the directed edges into `node`."""
        return self._parents[node].keys()

    def children(self, node: str) -> KeysView[str]:
        """Return the heads of the directed edges out of `node`."""
        return self._children[node].keys()

    def neighbours(self, node: str) -> KeysView[str]:
        """Return the other ends of the undirected edges at `node`."""
        return self._neighbours[node].keys()

    def adjacent(self, one: str, other: str) -> bool:
        """Return whether there is an edge of either kind between the two nodes."""
        return other in self._adjacent[one]

    def has_arrow(self, tail: str, head: str) -> bool:
        """Return whether there is the directed edge ``tail → head``."""
        return head in self._children[tail]

    def has_line(self, one: str, other: str) -> bool:
        """Return whether there is an undirected edge between the two nodes."""
        return other in self._neighbours[one]

    def arrows(self) -> Iterator[Arrow]:
        """Iterate over all directed edges (tail, head), tails in node order."""
        return ((tail, head) for tail in self.nodes for head in self._children[tail])

    def lines(self) -> Iterator[Arrow]:
        """Iterate over all undirected edges, each once, with the end first that is earlier in node order."""
        seen: set[str] = set()
        for one in self.nodes:
            seen.add(one)
            for other in self._neighbours[one]:
                if other not in seen:
                    yield one, other

    # -- directing edges -------------------------------------------------------------------------------------

    def orient(self, tail: str, head: str) -> tuple[Arrow, ...]:
        """Direct the edge ``tail → head``, and all edges whose direction follows from it.

        Returns
        -------
        tuple of (tail, head)
            The newly directed edges, the given one first. Empty if the edge has this direction already, and
            if it has the other one or doesn't exist: then the pair is added to `contradictions`.
        """
        if head in self._neighbours[tail]:
            self._direct(tail, head)
            return ((tail, head), *self._close([(tail, head)]))
        if head not in self._children[tail]:
            self.contradictions.append((tail, head))
        return ()

    def undo(self, arrows: Iterable[Arrow]) -> None:
        """Make `arrows` undirected again: all that the latest `orient` which isn't yet undone returned."""
        for tail, head in arrows:
            del self._children[tail][head], self._parents[head][tail]
            self._neighbours[tail][head] = self._neighbours[head][tail] = None

    def copy(self) -> Self:
        """Return a copy that changes independently of this graph."""
        twin = object.__new__(type(self))
        twin.nodes = self.nodes
        twin.contradictions = self.contradictions.copy()
        twin._adjacent = self._adjacent  # never changes
        twin._parents = {node: ends.copy() for node, ends in self._parents.items()}
        twin._children = {node: ends.copy() for node, ends in self._children.items()}
        twin._neighbours = {node: ends.copy() for node, ends in self._neighbours.items()}
        return twin

    # -- descendants -----------------------------------------------------------------------------------------

    def descendants(self, node: str) -> set[str]:
        """Return `node` and all nodes that a directed path leads to from it."""
        reached, frontier = {node}, [node]
        while frontier:
            new = [child for child in self._children[frontier.pop()] if child not in reached]
            reached.update(new)
            frontier.extend(new)
        return reached

    def possible_descendants(self, node: str) -> set[str]:
        """Return `node` and its descendants in at least one of the DAGs that agree with this graph.

        Notes
        -----
        They are the ends of unshielded paths of undirected and forwards directed edges: the first edge of
        such a path may be directed away from `node`, and the rest follows by rule 1. A shielded path isn't
        enough: in ``A — B — C → A``, C is no descendant of A.
        """
        return {node} | self._reached(node, [*self._children[node], *self._neighbours[node]])

    def definite_descendants(self, node: str) -> set[str]:
        """Return `node` and its descendants in every DAG that agrees with this graph.

        Notes
        -----
        No directed path is needed: in ``C → X ← D``, ``C — A — D`` one of C and D is A's child in every DAG,
        so that X is a descendant of A. A node X without a directed path from `node` is a definite descendant
        iff the neighbours of `node` at which unshielded paths to X begin aren't all adjacent to each other
        ([1]_).

        References
        ----------
        .. [1] Fang, Liu, Geng, Zhu & He (2022), A local method for identifying causal relations under Markov
           equivalence, Artificial Intelligence 305.
        """
        definite = self.descendants(node)
        beginnings: dict[str, list[str]] = {}
        for first in self._neighbours[node]:
            for end in self._reached(node, [first], known=definite):
                if end not in definite:
                    others = beginnings.setdefault(end, [])
                    if any(other not in self._adjacent[first] for other in others):
                        definite |= self.descendants(end)
                    others.append(first)
        return definite

    def _reached(self, start: str, first: Iterable[str], known: Collection[str] = ()) -> set[str]:
        """Return the ends of unshielded paths from `start` whose second node is in `first`.

        Directed edges are followed forwards only, and not into `known` nodes. Each step is taken once:
        `untried` holds for each node the steps out of it that have been shielded every time so far.
        """
        steps = [(start, node) for node in first]
        reached: set[str] = set()
        untried: dict[str, list[str]] = {}
        while steps:
            before, here = steps.pop()
            if here not in reached:
                reached.add(here)
                ahead = [child for child in self._children[here] if child not in known]
                untried[here] = ahead + list(self._neighbours[here])
            shield = self._adjacent[before]
            steps.extend((here, node) for node in untried[here] if node not in shield and node != before)
            untried[here] = [node for node in untried[here] if node in shield]
        return reached

    # -- the rules -------------------------------------------------------------------------------------------

    def _direct(self, tail: str, head: str) -> None:
        del self._neighbours[tail][head], self._neighbours[head][tail]
        self._children[tail][head] = self._parents[head][tail] = None

    def _close(self, arrows: list[Arrow]) -> list[Arrow]:
        """Apply the rules until nothing more follows from `arrows`; return the newly directed edges."""
        agenda = list(arrows)
        for arrow in agenda:  # grows meanwhile
            for tail, head in self._consequences(*arrow):
                if head in self._neighbours[tail]:
                    self._direct(tail, head)
                    agenda.append((tail, head))
        return agenda[len(arrows) :]

    def _consequences(self, a: str, b: str) -> list[Arrow]:
        """Return what follows from ``a → b`` in the place of any directed edge of a rule."""
        adjacent, parents, children = self._adjacent, self._parents, self._children
        lines = self._neighbours
        found = [(b, c) for c in lines[b] if c not in adjacent[a]]  # rule 1
        found += [(a, c) for c in _common(lines[a], children[b])]  # rule 2, as its first edge
        found += [(z, b) for z in _common(lines[b], parents[a])]  # ... as its second
        between = _common(lines[a], lines[b])
        if between:  # rule 3: x — a → b, x — d → b
            others = [d for d in parents[b] if d not in adjacent[a] and d != a]
            found += [(x, b) for x in between if any(d in lines[x] for d in others)]
        starts = _common(lines[a], adjacent[b])
        if starts:  # rule 4: x — a → b → e
            ends = [e for e in children[b] if e not in adjacent[a]]
            found += [(x, e) for x in starts for e in ends if e in lines[x]]
        starts = _common(lines[b], adjacent[a])
        if starts:  # rule 4: x — c → a → b
            others = [c for c in parents[a] if c not in adjacent[b]]
            found += [(x, b) for x in starts if any(c in lines[x] for c in others)]
        return found


def _common(some: _OrderedSet, others: _OrderedSet) -> list[str]:
    """Return the nodes in both, in the order of the smaller: the time doesn't grow with a hub's degree."""
    if len(some) > len(others):
        some, others = others, some
    return [node for node in some if node in others]
