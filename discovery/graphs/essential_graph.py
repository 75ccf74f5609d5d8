"""Essential graphs (CPDAGs): the part of a causal graph that observations alone identify.

All DAGs with the same skeleton and the same v-structures fit observations equally well. Their essential graph
has a directed edge ``a → b`` where all of them have it, and an undirected edge ``a — b`` where some have one
direction and some the other. The undirected edges join nodes to *chain components*, which are chordal, and
whose nodes have the same parents outside the component.

By Theorem 4.1 of [1]_ a graph with directed and undirected edges is the essential graph of some DAG iff

1. it has no partially directed cycle: one that follows all its directed edges forwards and has at least one;
2. its chain components are chordal;
3. nowhere ``a → b — c`` with a and c not adjacent;
4. every directed edge is strongly protected, that is, it is in all DAGs of the class.

`EssentialGraph` refuses every other graph, so that code which receives one needn't check it again.

References
----------
.. [1] Andersson, Madigan & Perlman (1997), A characterization of Markov equivalence classes for acyclic
   digraphs, Annals of Statistics 25(2).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import networkx as nx

from discovery.errors import GraphError
from discovery.graphs.chain_graphs import Ends, chain_components, downstream_first, ends_of
from discovery.graphs.characterization import (
    check_background,
    check_essential,
    check_listed_once,
    checked_pairs,
    class_of_dag,
    numbered,
)
from discovery.graphs.chordality import onwards
from discovery.graphs.formats import Edge, networkx_graph, pgmpy_graph
from discovery.graphs.graph_json import ParsedGraph, format_graph, parse_graph
from discovery.graphs.meek import Arrow, PartiallyDirectedGraph, meek_closure
from discovery.graphs.objects import parsed_object

if TYPE_CHECKING:
    from pgmpy.base import PDAG

__all__ = ["EssentialGraph"]


@dataclass(frozen=True, init=False)
class EssentialGraph:
    """A valid, immutable CPDAG over named nodes in a fixed order.

    Parameters
    ----------
    nodes
        The nodes; all ties are broken in their order.
    directed
        Directed edges (tail, head).
    undirected
        Undirected edges, either end first.
    background
        Directions (tail, head) of undirected edges that are known from elsewhere, beyond the equivalence
        class. Those that repeat a directed edge are dropped.

    Attributes
    ----------
    nodes
        As given.
    directed, undirected, background
        Sorted in the nodes' order, undirected edges with the earlier node first. Two graphs are equal iff
        these and `nodes` are.

    Raises
    ------
    GraphError
        If a node or an edge is listed twice, an edge isn't between two listed nodes, the graph isn't the
        essential graph of any DAG, or no DAG of the class agrees with `background`. The message names the
        nodes at fault.

    Notes
    -----
    Construction takes near-linear time in nodes and edges.

    Examples
    --------
    >>> graph = EssentialGraph("ABCD", directed=[("A", "C"), ("B", "C"), ("C", "D")], undirected=[])
    >>> graph.parents("C"), graph.chain_components()
    (('A', 'B'), (('D',), ('C',), ('A',), ('B',)))
    >>> EssentialGraph("ABC", directed=[("A", "B")], undirected=[("B", "C")])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    discovery.errors.GraphError: ... found A → B — C with A and C not adjacent: direct B → C
    """

    nodes: tuple[str, ...]
    directed: tuple[Arrow, ...]
    undirected: tuple[Arrow, ...]
    background: tuple[Arrow, ...]

    def __init__(
        self,
        nodes: Iterable[str],
        directed: Iterable[Arrow],
        undirected: Iterable[Arrow],
        background: Iterable[Arrow] = (),
    ) -> None:
        names = tuple(nodes)
        index = numbered(names)
        arrows = checked_pairs(directed, index)
        lines = [
            pair if index[pair[0]] < index[pair[1]] else pair[::-1]
            for pair in checked_pairs(undirected, index)
        ]
        check_listed_once([*arrows, *lines])
        known = frozenset(arrows)
        beyond = [arrow for arrow in dict.fromkeys(checked_pairs(background, index)) if arrow not in known]
        for name, pairs in (("directed", arrows), ("undirected", lines), ("background", beyond)):
            pairs.sort(key=lambda pair: (index[pair[0]], index[pair[1]]))
            object.__setattr__(self, name, tuple(pairs))
        object.__setattr__(self, "nodes", names)
        check_essential(names, self._parents, self._children, self._neighbours)
        if self.background:
            check_background(names, self.directed, self.undirected, self.background)

    @classmethod
    def of(cls, graph: Any) -> EssentialGraph:
        """Return an essential graph as it is; of a DAG of networkx or pgmpy that of its equivalence class.

        Also a graph of theirs with undirected edges (pgmpy's PDAG, or both directions in a DiGraph) will do
        if it is an essential graph.

        Raises
        ------
        GraphError
            If it is another object, or neither a DAG nor an essential graph.

        Examples
        --------
        >>> EssentialGraph.of(nx.DiGraph([("A", "B"), ("C", "B")])).directed
        (('A', 'B'), ('C', 'B'))
        """
        if isinstance(graph, EssentialGraph):
            return graph
        given = parsed_object(graph)
        if given.undirected:
            return cls.from_parsed(given)
        dag: nx.DiGraph[str] = nx.DiGraph()
        dag.add_nodes_from(given.nodes)
        dag.add_edges_from(given.directed)
        return cls.from_dag(dag)

    @classmethod
    def from_dag(cls, dag: nx.DiGraph[str]) -> EssentialGraph:
        """Return the essential graph of the equivalence class of `dag`, with the nodes in its order.

        Raises
        ------
        GraphError
            If `dag` isn't a directed acyclic graph.

        Examples
        --------
        >>> EssentialGraph.from_dag(nx.DiGraph([("A", "B"), ("B", "C")])).undirected
        (('A', 'B'), ('B', 'C'))
        """
        if not dag.is_directed() or dag.is_multigraph():
            raise GraphError(f"Expected a DAG as networkx.DiGraph but found {type(dag).__name__}: convert it")
        if not nx.is_directed_acyclic_graph(dag):
            cycle = [tail for tail, _ in nx.find_cycle(dag)]
            raise GraphError(
                f"Expected an acyclic graph but found the cycle {' → '.join(map(str, [*cycle, cycle[0]]))}: "
                "remove one of its edges"
            )
        return cls.from_arrows(dag.nodes, dag.edges)

    @classmethod
    def from_arrows(
        cls, nodes: Iterable[str], arrows: Iterable[Arrow], background: Iterable[Arrow] = ()
    ) -> EssentialGraph:
        """Return the essential graph of the DAG with the edges `arrows`, which isn't checked to be one.

        Examples
        --------
        >>> EssentialGraph.from_arrows("ABC", [("A", "B"), ("C", "B")]).directed
        (('A', 'B'), ('C', 'B'))
        """
        closed = class_of_dag(nodes, arrows)
        return cls(closed.nodes, closed.arrows(), closed.lines(), background)

    # -- structure -------------------------------------------------------------------------------------------

    def parents(self, node: str) -> tuple[str, ...]:
        """Return the tails of the directed edges into `node`, in node order."""
        return tuple(self._parents[node])

    def children(self, node: str) -> tuple[str, ...]:
        """Return the heads of the directed edges out of `node`, in node order."""
        return tuple(self._children[node])

    def neighbours(self, node: str) -> tuple[str, ...]:
        """Return the other ends of the undirected edges at `node`, in node order."""
        return tuple(self._neighbours[node])

    def edges(self) -> tuple[Edge, ...]:
        """Return every edge once with its kind: "directed", "required" or "undirected", in this order.

        A required edge is one of `background`: undirected in the class, its direction known from elsewhere.
        """
        required = {frozenset(arrow) for arrow in self.background}
        return (
            *((tail, head, "directed") for tail, head in self.directed),
            *((tail, head, "required") for tail, head in self.background),
            *((one, other, "undirected") for one, other in self.undirected if {one, other} not in required),
        )

    def adjacent(self, one: str, other: str) -> bool:
        """Return whether there is an edge of either kind between the two nodes."""
        return other in self._neighbours[one] or other in self._children[one] or other in self._parents[one]

    def chain_components(self) -> tuple[tuple[str, ...], ...]:
        """Return the chain components, the sets of nodes joined by undirected edges, downstream first.

        No directed edge leads from a component into a later one. Among the components that could come next,
        the one with the earliest node does. Within a component the nodes are in node order.
        """
        return self._components

    def component_of(self, node: str) -> tuple[str, ...]:
        """Return the chain component of `node`, in node order."""
        return self._components[self._component_index[node]]

    def closure(self) -> PartiallyDirectedGraph:
        """Return a new mutable graph with the background directed, closed under Meek's rules."""
        return meek_closure(self.nodes, self.directed, self.undirected, self.background)

    def consistent_extension(self) -> nx.DiGraph[str]:
        """Return a DAG of the class that agrees with the background, always the same one."""
        dag: nx.DiGraph[str] = nx.DiGraph()
        dag.add_nodes_from(self.nodes)
        lines = onwards(self._components, self._neighbours)
        if self.background:
            known = self.closure()
            for tail, head in lines:
                if known.has_line(tail, head):
                    known.orient(tail, head)
            dag.add_edges_from(known.arrows())
        else:
            dag.add_edges_from([*self.directed, *lines])
        return dag

    # -- other programs --------------------------------------------------------------------------------------

    def to_networkx(self) -> nx.DiGraph[str]:
        """Return the graph with the attribute "kind" on its edges: "directed", "undirected" or "required".

        Undirected edges lead both ways. A required edge is one of `background`.

        Examples
        --------
        >>> graph = EssentialGraph("ABC", [], [("A", "B"), ("B", "C")], background=[("A", "B")])
        >>> list(graph.to_networkx().edges(data="kind"))
        [('A', 'B', 'required'), ('B', 'C', 'undirected'), ('C', 'B', 'undirected')]
        """
        return networkx_graph(self.nodes, self.edges())

    def to_pgmpy(self) -> PDAG:
        """Return the graph as `pgmpy.base.PDAG`; the edges of `background` are directed in it."""
        return pgmpy_graph(self.nodes, self.edges())

    # -- JSON ------------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Return the graph as a JSON object with "nodes", "directed", "undirected" and "background".

        Raises
        ------
        GraphError
            If the name of a node isn't text.
        """
        edges = {"directed": self.directed, "undirected": self.undirected, "background": self.background}
        return format_graph(self.nodes, edges)

    @classmethod
    def from_json(cls, text: str) -> EssentialGraph:
        """Return the graph of a JSON object with "nodes" and optional "directed", "undirected", "background".

        The inverse of `to_json`; each kind of edge is a list of pairs of nodes.

        Raises
        ------
        GraphError
            If the text isn't such an object, or the graph isn't a valid essential graph.

        Examples
        --------
        >>> EssentialGraph.from_json('{"nodes": ["A", "B"], "undirected": [["B", "A"]]}').undirected
        (('A', 'B'),)
        """
        return cls.from_parsed(parse_graph(text))

    @classmethod
    def from_parsed(cls, given: ParsedGraph) -> EssentialGraph:
        """Return the graph that was read.

        Raises
        ------
        GraphError
            If it has other kinds of edges, or isn't a valid essential graph.
        """
        if given.bidirected:
            one, other = given.bidirected[0]
            raise GraphError(f"Expected no bidirected edges but found {one} ↔ {other}: leave them out")
        if given.circles:
            one, other = given.circles[0]
            raise GraphError(f"Expected no circles but found one between {one} and {other}: this is a PAG")
        return cls(given.nodes, given.directed, given.undirected, given.background)

    # -- adjacency, computed on first use --------------------------------------------------------------------

    @cached_property
    def _parents(self) -> Ends:
        return ends_of(self.nodes, ((head, tail) for tail, head in self.directed))

    @cached_property
    def _children(self) -> Ends:
        return ends_of(self.nodes, self.directed)

    @cached_property
    def _neighbours(self) -> Ends:
        index = {node: i for i, node in enumerate(self.nodes)}
        both_ways = [*self.undirected, *((other, one) for one, other in self.undirected)]
        return ends_of(self.nodes, sorted(both_ways, key=lambda pair: (index[pair[0]], index[pair[1]])))

    @cached_property
    def _components(self) -> tuple[tuple[str, ...], ...]:
        return downstream_first(chain_components(self.nodes, self._neighbours), self._parents, self._children)

    @cached_property
    def _component_index(self) -> dict[str, int]:
        return {node: i for i, component in enumerate(self._components) for node in component}
