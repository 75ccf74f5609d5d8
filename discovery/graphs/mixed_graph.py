"""Graphs whose edges have any marks at their ends, valid or not: what PC finds, ADMGs and PAGs.

An edge is read from its first node to its second. The mark at an end is a tail, an arrowhead, or a circle
where it isn't known which. So ``A → B`` is a directed edge, ``A — B`` an undirected one, ``A ↔ B`` a
bidirected one, which stands for a common cause that isn't in the graph; ``A ∘→ B``, ``A ∘–∘ B`` and ``A ∘–
B`` have circles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from discovery.graphs.meek import Arrow

__all__ = ["MixedEdge", "MixedGraph"]

MixedEdge = tuple[str, str, str]
"""First node, second node, and the marks between them."""


@dataclass(frozen=True)
class MixedGraph:
    """Nodes and edges, each pair of nodes at most once.

    Examples
    --------
    >>> graph = MixedGraph(("A", "B", "C"), (("A", "B", "→"), ("B", "C", "—")))
    >>> list(graph.having("→")), list(graph.having("—"))
    ([('A', 'B')], [('B', 'C')])
    """

    nodes: tuple[str, ...]
    edges: tuple[MixedEdge, ...]

    def having(self, marks: str) -> Iterator[Arrow]:
        """Iterate over the edges that have these marks."""
        return ((one, other) for one, other, between in self.edges if between == marks)
