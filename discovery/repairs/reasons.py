"""Why `repair` changed an edge: the part of the given graph, with this edge, that no essential graph has."""

from __future__ import annotations

from collections.abc import Sequence

from discovery.repairs.bitset_graphs import Marks, bits

__all__ = ["Reasons"]


class Reasons:
    """The reasons for changes to a graph, as text.

    Parameters
    ----------
    nodes
        The names of the nodes.
    graph
        The graph before the repair, over the nodes' numbers.
    """

    def __init__(self, nodes: Sequence[str], graph: Marks) -> None:
        self._names = [str(node) for node in nodes]
        self._graph = graph
        self._adjacent = graph.adjacent()
        self._part = _not_chordal_parts(graph)

    def reason(self, one: int, other: int) -> str:
        """Return why the edge between two nodes, or its absence, had to change."""
        mark = self._graph.mark(one, other)
        if mark == "↔":
            return "the marks at its ends contradict each other"
        if mark == "→":
            return self._of_arrow(one, other)
        if mark == "←":
            return self._of_arrow(other, one)
        if mark == "—":
            found = self._unclosed_line(one, other) or self._unclosed_line(other, one)
            if found:
                return found
        if self._part[one] >> other & 1:
            return "the undirected edges around it form a cycle of four or more nodes without a chord"
        return "it follows from the other changes"

    def _of_arrow(self, tail: int, head: int) -> str:
        cycle = self._cycle(tail, head)
        if cycle:
            return f"it lies on the cycle {cycle}"
        graph, adjacent, names = self._graph, self._adjacent, self._names
        for third in bits(graph.lines[head] & ~adjacent[tail]):
            return _unclosed(names[tail], names[head], names[third])
        if not self._is_protected(tail, head):
            return "no edge around it determines its direction"
        return "it follows from the other changes"

    def _unclosed_line(self, middle: int, end: int) -> str | None:
        for parent in bits(self._graph.parents[middle] & ~self._adjacent[end]):
            return _unclosed(self._names[parent], self._names[middle], self._names[end])
        return None

    def _is_protected(self, tail: int, head: int) -> bool:
        """Return whether the directed edge is strongly protected (Andersson et al. 1997, Definition 3.3)."""
        graph, adjacent = self._graph, self._adjacent
        into = graph.parents[head] & ~(1 << tail)
        if graph.parents[tail] & ~adjacent[head] or into & (~adjacent[tail] | graph.children[tail]):
            return True
        between = graph.lines[tail] & into
        return any(between & ~adjacent[one] & ~(1 << one) for one in bits(between))

    def _cycle(self, tail: int, head: int) -> str | None:
        """Return as text a shortest partially directed cycle through ``tail → head``; None if none."""
        graph = self._graph
        came_from = {head: tail}
        frontier = [head]
        found = 1 << head
        while frontier and not found >> tail & 1:
            ahead = []
            for node in frontier:
                for new in bits((graph.children[node] | graph.lines[node]) & ~found):
                    came_from[new] = node
                    found |= 1 << new
                    ahead.append(new)
            frontier = ahead
        if not found >> tail & 1:
            return None
        path = [tail]
        while path[-1] != head:
            path.append(came_from[path[-1]])
        words = [self._names[tail]]
        for before, after in zip([tail, *path[:0:-1]], path[::-1], strict=True):
            words += [graph.mark(before, after), self._names[after]]
        return " ".join(words)


def _unclosed(parent: str, middle: str, end: str) -> str:
    return f"{parent} → {middle} — {end} with {parent} and {end} not adjacent isn't closed under Meek's rules"


def _not_chordal_parts(graph: Marks) -> list[int]:
    """Return for each node the others of its chain component that remain once simplicial nodes are removed.

    A node is simplicial if its neighbours are all adjacent to each other: it lies on no chordless cycle.
    Removing such nodes until there are none leaves nothing iff the component is chordal (Fulkerson & Gross
    1965).
    """
    lines = graph.lines[:]
    n = len(lines)
    pending = list(range(n))
    while pending:
        node = pending.pop()
        around = lines[node]
        if around and all(not around & ~lines[other] & ~(1 << other) for other in bits(around)):
            lines[node] = 0
            for other in bits(around):
                lines[other] &= ~(1 << node)
                pending.append(other)
    return [_joined(node, lines) & ~(1 << node) for node in range(n)]


def _joined(node: int, lines: list[int]) -> int:
    found = frontier = 1 << node
    while frontier:
        new = 0
        for member in bits(frontier):
            new |= lines[member]
        frontier = new & ~found
        found |= new
    return found
