"""Graphs whose edges have any marks at their ends, valid or not: what PC finds, and PAGs.

An edge is read from its first node to its second. The mark at an end is a tail, an arrowhead, or a circle
where it isn't known which. So ``A → B`` is a directed edge, ``A — B`` an undirected one, and ``A ↔ B`` a
bidirected one, which stands for a common cause that isn't in the graph; ``A ∘→ B``, ``A ∘–∘ B`` and ``A ∘–
B`` have circles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import networkx as nx

from discovery.graphs.extension import extension
from discovery.graphs.formats import Edge, Kind
from discovery.graphs.graph_json import format_graph, parse_graph
from discovery.graphs.meek import Arrow

__all__ = ["MixedEdge", "MixedGraph"]

MixedEdge = tuple[str, str, str]
"""First node, second node, and the marks between them."""

_KINDS: dict[str, Kind] = {
    "→": "directed",
    "—": "undirected",
    "↔": "bidirected",
    "∘→": "partially_directed",
    "∘–∘": "nondirected",
    "∘–": "partially_undirected",
}


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

    def forwards(self) -> Iterator[MixedEdge]:
        """Iterate over the edges as read from the end that is first in node order."""
        place = {node: i for i, node in enumerate(self.nodes)}
        for one, other, marks in self.edges:
            turned = {"→": "←", "∘→": "←∘", "∘–": "–∘"}.get(marks, marks)
            yield (one, other, marks) if place[one] < place[other] else (other, one, turned)

    def kinds(self) -> list[Edge]:
        """Return every edge with its kind by name, as the forms of other programs take it."""
        return [(one, other, _KINDS[marks]) for one, other, marks in self.edges]

    def member(self) -> nx.DiGraph[str]:
        """Return the directed edges of a member of the class of a PAG ([1]_, Theorem 2).

        Edges ``A ∘→ B`` are directed, and edges ``A ∘–∘ B`` so that they make no v-structure. Bidirected
        edges stay so in the member, and are left out here.

        References
        ----------
        .. [1] Zhang (2008), On the completeness of orientation rules for causal discovery in the presence of
           latent confounders and selection bias, Artificial Intelligence 172.
        """
        found: nx.DiGraph[str] = nx.DiGraph()
        found.add_nodes_from(self.nodes)
        found.add_edges_from([*self.having("→"), *self.having("∘→")])
        found.add_edges_from(extension(self.nodes, [], self.having("∘–∘")))
        return found

    def to_json(self) -> str:
        """Return the graph as a JSON object with "nodes" and a list of pairs for each kind of edge."""
        return format_graph(self.nodes, {kind: self.having(marks) for marks, kind in _KINDS.items()})

    @classmethod
    def from_json(cls, text: str) -> MixedGraph:
        """Return the graph of such a JSON object.

        Raises
        ------
        GraphError
            If the text isn't such an object.

        Examples
        --------
        >>> graph = MixedGraph(("A", "B"), (("A", "B", "∘→"),))
        >>> MixedGraph.from_json(graph.to_json()) == graph
        True
        """
        given = parse_graph(text)
        edges = ((one, other, marks) for marks, kind in _KINDS.items() for one, other in getattr(given, kind))
        return cls(given.nodes, tuple(edges))
