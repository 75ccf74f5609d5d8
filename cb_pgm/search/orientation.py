"""Choose variables to set in order to direct all edges of an essential graph, without using the reward.

Setting a variable shows the direction of every undirected edge at it, and Meek's rules direct the edges that
follow from these. Central variables are queried first. In a part that is a tree this is its central node,
after which only the branch upstream is left. In other parts these are the variables of a central clique of
the clique tree, one by one.

References
----------
.. [1] Lu, Meisami & Tewari (2021), Causal bandits with unknown graph structure, NeurIPS: Definition 2.
.. [2] Squires, Magliacane, Greenewald, Katz, Kocaoglu & Shanmugam (2020), Active structure learning of causal
   DAGs via directed clique trees, NeurIPS.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence

from cb_pgm.search.central_node import central_node
from cb_pgm.search.cliques import rooted_clique_tree
from cb_pgm.search.query import Probe, Query
from cb_pgm.search.search_state import SearchState
from discovery.graphs.chain_graphs import Ends, chain_components
from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["orient"]


def orient(
    graph: EssentialGraph, *, settable: Collection[str] | None = None
) -> Generator[Query, Probe, EssentialGraph]:
    """Query variables until every edge is directed, or no remaining query can direct one.

    Parameters
    ----------
    graph
        Any essential graph; its `background` is used.
    settable
        The variables that can be queried; None: all.

    Returns
    -------
    generator
        Of queries; only the `children` of the answers are used. It returns the graph with the directions
        learnt as its background knowledge.

    Notes
    -----
    On a tree of n nodes it makes at most log₂ n + 1 queries.

    Examples
    --------
    >>> chain = EssentialGraph("ABCD", directed=[], undirected=["AB", "BC", "CD"])
    >>> next(orient(chain))
    Query(variable='B', undecided=('A', 'C'), fixed={})
    """
    state = SearchState(graph)
    askable = frozenset(graph.nodes if settable is None else settable)
    pending: list[Sequence[str]] = [*graph.chain_components()]
    while pending:
        component = pending.pop()
        inside = frozenset(component)
        undirected: Ends = {
            node: {other: None for other in state.known.neighbours(node) if other in inside}
            for node in component
        }
        for part in chain_components(component, undirected):
            open_nodes = [node for node in part if undirected[node] and node in askable]
            if open_nodes:
                yield from state.ask(_most_central(part, undirected, open_nodes))
                pending.append(part)
    undirected_edges = frozenset(graph.undirected)
    learnt = [edge for edge in state.known.arrows() if not undirected_edges.isdisjoint((edge, edge[::-1]))]
    return EssentialGraph(graph.nodes, graph.directed, graph.undirected, background=learnt)


def _most_central(
    part: Sequence[str], undirected: Mapping[str, Mapping[str, None]], open_nodes: Sequence[str]
) -> str:
    """Return the open node of a connected part to query next: a central one, else one with most edges."""
    if sum(len(undirected[node]) for node in part) == 2 * (len(part) - 1):
        central = {central_node({node: undirected[node] for node in part}, dict.fromkeys(part, 1))}
    else:
        # Background knowledge may leave undirected edges that aren't chordal; then this is only a heuristic.
        tree = rooted_clique_tree(part, undirected)
        cliques = tree.neighbours()
        central = {*tree.cliques[central_node(cliques, dict.fromkeys(cliques, 1))]}
    return max(open_nodes, key=lambda node: (node in central, len(undirected[node])))
