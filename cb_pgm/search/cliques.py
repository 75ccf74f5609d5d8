"""Maximal cliques of chordal graphs and the trees that they form.

A *clique* is a set of nodes each adjacent to all others; it is maximal if no node can join it. In a *clique
tree* the maximal cliques that contain a node always form a subtree, so the *separator* of two neighbouring
cliques, the nodes they share, cuts the graph in two. A graph has clique trees iff it is chordal, and its
maximal cliques are then no more than its nodes.

Cliques are tuples in node order.

References
----------
.. [1] Lu, Meisami & Tewari (2021), Causal bandits with unknown graph structure, NeurIPS: Definitions 5 and 6.
.. [2] Blair & Peyton (1993), An introduction to chordal graphs and clique trees, in: Graph theory and sparse
   matrix computation, Springer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

from cb_pgm.errors import SearchError
from discovery.graphs.chordality import chordless_cycle, maximum_cardinality_order

__all__ = ["Clique", "CliqueTree", "clique_tree", "maximal_cliques", "rooted_clique_tree"]

Clique = tuple[str, ...]


@dataclass(frozen=True)
class CliqueTree:
    """A clique tree with a root; one tree for each connected part of a graph.

    Attributes
    ----------
    cliques
        The maximal cliques, parents before their children.
    parents
        For each clique the position of its parent in `cliques`; −1 for a root.
    separators
        For each clique the nodes that it shares with its parent; empty for a root.
    """

    cliques: tuple[Clique, ...]
    parents: tuple[int, ...]
    separators: tuple[Clique, ...]

    def neighbours(self) -> dict[int, list[int]]:
        """Return the adjacency of the tree: each clique's position → the positions of its neighbours."""
        neighbours: dict[int, list[int]] = {position: [] for position in range(len(self.cliques))}
        for position, parent in enumerate(self.parents):
            if parent >= 0:
                neighbours[parent].append(position)
                neighbours[position].append(parent)
        return neighbours


def maximal_cliques(graph: nx.Graph[str]) -> tuple[Clique, ...]:
    """Return the maximal cliques of a chordal graph, in lexicographic node order.

    Raises
    ------
    SearchError
        If the graph isn't chordal; the message names a cycle.

    Examples
    --------
    >>> maximal_cliques(nx.Graph(["AB", "AC", "BC", "CD"]))
    (('A', 'B', 'C'), ('C', 'D'))
    """
    position = {node: place for place, node in enumerate(graph)}
    cliques = _checked_clique_tree(graph).cliques
    return tuple(sorted(cliques, key=lambda clique: [position[node] for node in clique]))


def clique_tree(graph: nx.Graph[str]) -> nx.Graph[Clique]:
    """Return a clique tree of a chordal graph (Definition 6), a forest if the graph isn't connected.

    Its nodes are the cliques. Each edge has the attribute `separator`, the nodes that its two cliques share.

    Raises
    ------
    SearchError
        If the graph isn't chordal; the message names a cycle.

    Notes
    -----
    Linear in the graph's nodes and edges ([2]_).

    Examples
    --------
    >>> clique_tree(nx.Graph(["AB", "AC", "BC", "CD"])).edges(data="separator")
    EdgeDataView([(('A', 'B', 'C'), ('C', 'D'), ('C',))])
    """
    rooted = _checked_clique_tree(graph)
    tree: nx.Graph[Clique] = nx.Graph()
    tree.add_nodes_from(rooted.cliques)
    for clique, parent, separator in zip(rooted.cliques, rooted.parents, rooted.separators, strict=True):
        if parent >= 0:
            tree.add_edge(rooted.cliques[parent], clique, separator=separator)
    return tree


def _checked_clique_tree(graph: nx.Graph[str]) -> CliqueTree:
    cycle = chordless_cycle(list(graph), graph.adj)
    if cycle is not None:
        raise SearchError(
            f"Expected a chordal graph but found the chordless cycle {' — '.join(map(str, cycle))}: add a "
            f"chord to it"
        )
    return rooted_clique_tree(list(graph), graph.adj)


def rooted_clique_tree(nodes: Sequence[str], adjacency: Mapping[str, Mapping[str, object]]) -> CliqueTree:
    """Return the clique tree of a graph known to be chordal; the root holds the first of `nodes`.

    Parameters
    ----------
    nodes
        All nodes; cliques list them in this order.
    adjacency
        For each node its neighbours, as the keys of a mapping.
    """
    visit = maximum_cardinality_order(nodes, adjacency)
    time = {node: i for i, node in enumerate(visit)}
    members: list[list[str]] = []
    parents: list[int] = []
    separators: list[list[str]] = []
    home: dict[str, int] = {}
    grown_to = -1
    for node in visit:
        earlier = [other for other in adjacency[node] if time[other] < time[node]]
        if len(earlier) > grown_to >= 0:  # then they are the clique that is growing ([2]_, Theorem 4.1)
            members[-1].append(node)
        else:
            parents.append(home[max(earlier, key=time.__getitem__)] if earlier else -1)
            separators.append(earlier)
            members.append([*earlier, node])
        home[node] = len(members) - 1
        grown_to = len(earlier)
    place = {node: i for i, node in enumerate(nodes)}.__getitem__
    return CliqueTree(
        tuple(tuple(sorted(clique, key=place)) for clique in members),
        tuple(parents),
        tuple(tuple(sorted(separator, key=place)) for separator in separators),
    )
