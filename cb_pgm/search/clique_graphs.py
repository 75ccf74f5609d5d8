"""Clique graphs, directed clique trees and graphs, and the property on which Theorem 3 rests.

The *clique graph* of a chordal graph is the union of its clique trees. In a *directed clique tree* an edge
has an arrowhead at a clique when everything the two share points at everything that is the clique's alone,
so one edge can have two heads. Edges between cliques are *intersection-comparable* when one's separator
contains the other's; without such pairs no clique has two parents.

References
----------
.. [1] Lu, Meisami & Tewari (2021), Causal bandits with unknown graph structure, NeurIPS: Definitions 7 to 10.
.. [2] Squires, Magliacane, Greenewald, Katz, Kocaoglu & Shanmugam (2020), Active structure learning of causal
   DAGs via directed clique trees, NeurIPS.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from itertools import combinations

import networkx as nx
from networkx.utils import UnionFind

from cb_pgm.errors import SearchError
from cb_pgm.search.cliques import Clique, clique_tree, maximal_cliques

__all__ = [
    "clique_graph",
    "directed_clique_graph",
    "directed_clique_tree",
    "is_intersection_incomparable",
]


def clique_graph(graph: nx.Graph[str]) -> nx.Graph[Clique]:
    """Return the union of all clique trees of a chordal graph (Definition 7).

    Returns
    -------
    nx.Graph
        Its nodes are the maximal cliques. Each edge has the attribute `separator`, the nodes that its two
        cliques share.

    Raises
    ------
    SearchError
        If the graph isn't chordal.

    Notes
    -----
    Clique trees are the spanning trees with the largest separators ([2]_), and an edge is in one of those
    iff larger separators alone don't connect its ends. Quadratic in the cliques that share a node.

    Examples
    --------
    >>> star = clique_graph(nx.Graph(["CX", "CY", "CZ"]))
    >>> star.number_of_edges()
    3
    """
    cliques = maximal_cliques(graph)
    holding: dict[str, list[int]] = defaultdict(list)
    for number, clique in enumerate(cliques):
        for node in clique:
            holding[node].append(number)
    shared: dict[tuple[int, int], list[str]] = defaultdict(list)
    for node in graph:
        for pair in combinations(holding[node], 2):
            shared[pair].append(node)
    by_size: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for pair, separator in shared.items():
        by_size[len(separator)].append(pair)
    union: nx.Graph[Clique] = nx.Graph()
    union.add_nodes_from(cliques)
    connected = UnionFind(range(len(cliques)))
    for size in sorted(by_size, reverse=True):
        edges = [(one, other) for one, other in by_size[size] if connected[one] != connected[other]]
        for one, other in edges:
            union.add_edge(cliques[one], cliques[other], separator=tuple(shared[one, other]))
        for one, other in edges:
            connected.union(one, other)
    return union


def directed_clique_tree(dag: nx.DiGraph[str]) -> nx.DiGraph[Clique]:
    """Return a directed clique tree of a DAG without v-structures (Definition 8).

    An edge ``C1 → C2`` stands for an arrowhead at C2; edges with two heads are there both ways.

    Raises
    ------
    SearchError
        If the DAG has a v-structure.

    Examples
    --------
    >>> list(directed_clique_tree(nx.DiGraph(["AB", "BC"])).edges)
    [(('A', 'B'), ('B', 'C'))]
    """
    return _with_arrowheads(clique_tree(_skeleton(dag)), dag)


def directed_clique_graph(dag: nx.DiGraph[str]) -> nx.DiGraph[Clique]:
    """Return the union of all directed clique trees of a DAG without v-structures (Definition 9).

    Raises
    ------
    SearchError
        If the DAG has a v-structure.
    """
    return _with_arrowheads(clique_graph(_skeleton(dag)), dag)


def is_intersection_incomparable(graph: nx.Graph[str], *, strict: bool = False) -> bool:
    """Return whether no two edges of the clique graph with a clique in common are comparable (Definition 10).

    Parameters
    ----------
    graph
        A chordal graph.
    strict
        In the printed definition equal separators are comparable, so every tree with a node of three
        neighbours fails, although the paper includes trees. If true, only proper inclusion counts, and all
        trees pass.

    Raises
    ------
    SearchError
        If the graph isn't chordal.

    Examples
    --------
    >>> star = nx.Graph(["CX", "CY", "CZ"])
    >>> is_intersection_incomparable(star), is_intersection_incomparable(star, strict=True)
    (False, True)
    """
    union = clique_graph(graph)
    for clique in union:
        separators = [frozenset(edge["separator"]) for edge in union.adj[clique].values()]
        for one, other in combinations(separators, 2):
            if one < other or other < one or (one == other and not strict):
                return False
    return True


def _skeleton(dag: nx.DiGraph[str]) -> nx.Graph[str]:
    for node in dag:
        for one, other in combinations(dag.predecessors(node), 2):
            if not (dag.has_edge(one, other) or dag.has_edge(other, one)):
                raise SearchError(
                    f"Expected no v-structures but found {one} → {node} ← {other}: pass one chain component"
                )
    return nx.Graph(dag.to_undirected(as_view=True))


def _with_arrowheads(cliques: nx.Graph[Clique], dag: nx.DiGraph[str]) -> nx.DiGraph[Clique]:
    directed: nx.DiGraph[Clique] = nx.DiGraph()
    directed.add_nodes_from(cliques)
    for one, other in cliques.edges:
        separator: Clique = cliques.edges[one, other]["separator"]
        for tail, head in ((one, other), (other, one)):
            if _points_at(dag, separator, head):
                directed.add_edge(tail, head, separator=separator)
    return directed


def _points_at(dag: nx.DiGraph[str], separator: Collection[str], clique: Clique) -> bool:
    own = [node for node in clique if node not in separator]
    return all(dag.has_edge(shared, node) for shared in separator for node in own)
