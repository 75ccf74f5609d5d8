"""Partially directed graphs closed under Meek's rules, as arrows become known one by one.

The rules say which further edges have the same direction in every DAG that agrees with what is known so far
([1]_, R1-R4; ``a → b`` an arrow, ``a — b`` a line, an edge of unknown direction):

1. ``a → b — c``, a and c not adjacent: ``b → c``.
2. ``a → b → c`` and ``a — c``: ``a → c``.
3. ``a — b``, ``a — c → b``, ``a — d → b``, c and d not adjacent: ``a → b``.
4. ``a — b``, ``a — c → d → b``, a and d adjacent, c and b not: ``a → b``.

Starting from an essential graph and adding one arrow at a time over a line, the rules find exactly the arrows
that are common to all DAGs left, and either direction of every line occurs in one of them: only an arrow
against one already there contradicts. How the searches use it:

    known = graph.closure()             # an EssentialGraph and its background, closed
    new = known.orient("A", "B")        # all arrows that follow, ("A", "B") among them; () if it was known
    known.contradictions                # [("B", "A"), ...]: what orient was asked for and couldn't do
    known.neighbours("A")               # other ends of its lines; .parents and .children likewise
    known.possible_descendants("A")     # A and its descendants in some DAG left
    known.definite_descendants("A")     # A and its descendants in every DAG left
    known.undo(new)                     # back to before: for trying out an answer

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
    """Return the graph closed under Meek's rules, with the arrows of `background` added one by one.

    Background arrows that contradict the graph or each other are left out and listed in ``.contradictions``.

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
    """Arrows and lines between named nodes, kept closed under Meek's rules; the only mutable graph here.

    Parameters
    ----------
    nodes
        The nodes; every edge is between two of them.
    directed, undirected
        Arrows (tail, head) and lines, each pair of nodes at most once. Closed at construction.

    Attributes
    ----------
    nodes
        In the order given.
    contradictions
        The arrows that `orient` was asked for in vain: the edge points the other way, or isn't there.

    Notes
    -----
    Views of parents, children and neighbours are live, and their order is reproducible but not the nodes'
    order. A new arrow costs as many steps as its ends have lines and common neighbours, so a closure is near
    linear on sparse graphs. If no DAG agrees with the arrows given at first, some closure still comes out,
    and nothing is promised about it.

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

    # -- what is known ---------------------------------------------------------------------------------------

    def parents(self, node: str) -> KeysView[str]:
        """Return the tails of the arrows into `node`."""
        return self._parents[node].keys()

    def children(self, node: str) -> KeysView[str]:
        """Return the heads of the arrows out of `node`."""
        return self._children[node].keys()

    def neighbours(self, node: str) -> KeysView[str]:
        """Return the other ends of the lines at `node`."""
        return self._neighbours[node].keys()

    def adjacent(self, one: str, other: str) -> bool:
        """Return whether there is an edge of any kind between the two."""
        return other in self._adjacent[one]

    def has_arrow(self, tail: str, head: str) -> bool:
        """Return whether ``tail → head`` is known."""
        return head in self._children[tail]

    def has_line(self, one: str, other: str) -> bool:
        """Return whether there is an edge of unknown direction between the two."""
        return other in self._neighbours[one]

    def arrows(self) -> Iterator[Arrow]:
        """Iterate over all arrows, tails in node order."""
        return ((tail, head) for tail in self.nodes for head in self._children[tail])

    def lines(self) -> Iterator[Arrow]:
        """Iterate over all lines, each once, the end that is first in node order first."""
        seen: set[str] = set()
        for one in self.nodes:
            seen.add(one)
            for other in self._neighbours[one]:
                if other not in seen:
                    yield one, other

    # -- learning more ---------------------------------------------------------------------------------------

    def orient(self, tail: str, head: str) -> tuple[Arrow, ...]:
        """Set ``tail → head`` and all that follows from it.

        Returns
        -------
        tuple of arrows
            The arrows that are new, ``(tail, head)`` first; empty if it was known, or can't be: then nothing
            changes but `contradictions`.
        """
        if head in self._neighbours[tail]:
            self._direct(tail, head)
            return ((tail, head), *self._close([(tail, head)]))
        if head not in self._children[tail]:
            self.contradictions.append((tail, head))
        return ()

    def undo(self, arrows: Iterable[Arrow]) -> None:
        """Turn `arrows`, all that the last `orient` not yet undone returned, back into lines."""
        for tail, head in arrows:
            del self._children[tail][head], self._parents[head][tail]
            self._neighbours[tail][head] = self._neighbours[head][tail] = None

    def copy(self) -> Self:
        """Return a graph that changes independently of this one."""
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
        """Return `node` and whatever a path of arrows leads to."""
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
        Those at the end of an unshielded path of arrows and lines: its first edge may be directed away from
        `node`, and the rest follows by rule 1. A path with shortcuts doesn't do: in ``A — B — C → A``, C is
        no descendant of A.
        """
        return {node} | self._reached(node, [*self._children[node], *self._neighbours[node]])

    def definite_descendants(self, node: str) -> set[str]:
        """Return `node` and its descendants in every DAG that agrees with this graph.

        Notes
        -----
        A path of arrows isn't needed: in ``C → X ← D``, ``C — A — D`` one of C and D is A's child whatever
        holds. X is one iff the neighbours of `node` at which unshielded paths to X begin are not all adjacent
        to each other [1]_.

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
        """Return the ends of unshielded paths of arrows and lines from `start` by way of one of `first`.

        Arrows into `known` nodes are not followed. Each step is taken once: what `untried` holds for a node
        are the steps out of it that were shielded every time so far.
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
        """Apply the rules until nothing more follows from `arrows`, already set; return what followed."""
        agenda = list(arrows)
        for arrow in agenda:  # grows meanwhile
            for tail, head in self._consequences(*arrow):
                if head in self._neighbours[tail]:
                    self._direct(tail, head)
                    agenda.append((tail, head))
        return agenda[len(arrows) :]

    def _consequences(self, a: str, b: str) -> list[Arrow]:
        """Return what follows from ``a → b`` as any of the arrows in a rule."""
        adjacent, parents, children = self._adjacent, self._parents, self._children
        lines = self._neighbours
        found = [(b, c) for c in lines[b] if c not in adjacent[a]]  # rule 1
        found += [(a, c) for c in _common(lines[a], children[b])]  # rule 2, as its first arrow
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
    """Return the nodes in both, in the order of the smaller: hubs cost nothing."""
    if len(some) > len(others):
        some, others = others, some
    return [node for node in some if node in others]
