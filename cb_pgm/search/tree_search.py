"""Search for the reward's parent in an undirected tree: CN-UCB's first two stages.

Stage 1, *Find Sub-tree*, queries central nodes of the candidates until one is an ancestor of the reward. In a
tree without v-structures every node has at most one parent. Once a node's own edges are directed, everything
beyond its children is therefore below it: a no rules out all of that, a yes everything else. Stage 2, *Find
Key Node*, works in the directed tree below that ancestor. It queries a central node, then its children, and
continues below the child that is an ancestor too.

Source: Lu, Meisami & Tewari (2021), Algorithms 1, 3 (Find Sub-tree) and 4 (Find Key Node). Comments mark the
places where the printed text can't be followed.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from cb_pgm.errors import SearchError
from cb_pgm.search.central_node import central_node
from cb_pgm.search.query import Probe, Query, Search
from cb_pgm.search.search_state import NOTHING_MOVED, SearchState
from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["find_key_node", "find_subtree", "tree"]


def tree(graph: EssentialGraph) -> Search:
    """Find the reward's parent in a graph that is one undirected tree.

    Parameters
    ----------
    graph
        An essential graph without directed edges, connected and without cycles; its `background` is used.

    Returns
    -------
    generator
        Of queries; its `SearchResult` identifies the reward's parent.

    Raises
    ------
    SearchError
        If the graph isn't an undirected tree.

    Notes
    -----
    With exact answers the search makes at most (2 + d)·log₂ n + 1 queries on n nodes of at most d neighbours.
    Each of its O(log n) rounds takes time linear in the number of candidates left.

    Examples
    --------
    >>> chain = EssentialGraph("ABC", directed=[], undirected=[("A", "B"), ("B", "C")])
    >>> next(tree(chain))
    Query(variable='B', undecided=('A', 'C'), fixed={})
    """
    components = graph.chain_components()
    if len(components) != 1 or len(graph.undirected) != len(graph.nodes) - 1:
        raise SearchError(
            f"Expected one undirected tree but found {len(components)} chain components with "
            f"{len(graph.undirected)} undirected edges over {len(graph.nodes)} nodes: use forest, general or "
            f"sound"
        )
    return _search(graph)


def _search(graph: EssentialGraph) -> Search:
    state = SearchState(graph)
    found = yield from find_subtree(graph, graph.nodes, state)
    if not found:
        return state.unnamed(NOTHING_MOVED)
    return state.named((yield from find_key_node(graph, state)))


def find_subtree(
    graph: EssentialGraph, component: Sequence[str], state: SearchState
) -> Generator[Query, Probe, bool]:
    """Reduce the candidates to an ancestor of the reward and its descendants, if `component` holds one.

    This is Algorithm 3; `component` is a chain component of `graph` that is a tree. Return whether an
    ancestor was found; if not, the whole component is ruled out.
    """
    # "While found is False" (line 3) never ends where the component holds no ancestor; here it ends when
    # nothing is left. And "q_{t+1} ← 1" (line 25) would revive what was ruled out: candidates only become
    # fewer.
    while left := [node for node in component if node in state.candidates]:
        central = _central(graph, left)
        moves = yield from state.ask(central)
        # Line 23 rules out the central node only if one of its branches points down; one without neighbours
        # would be queried for ever. Here a no always rules it out.
        state.conclude(central, moves)
        if moves:
            return True
    return False


def find_key_node(graph: EssentialGraph, state: SearchState) -> Generator[Query, Probe, str]:
    """Return the reward's parent among the candidates.

    This is Algorithm 4. The candidates are an ancestor of the reward and its descendants.
    """
    while len(state.candidates) > 1:
        central = _central(graph, list(state.candidates))
        moves = yield from state.ask(central)
        state.conclude(central, moves)
        if moves:
            child_moves = yield from _ask_children(central, state)
            if not child_moves:
                return central
    # The printed loop ends without a return when one is left: the deepest ancestor found.
    return next(iter(state.candidates))


def _ask_children(node: str, state: SearchState) -> Generator[Query, Probe, bool]:
    """Query the children of `node`, those with most candidates below first, until one moves the reward."""
    children = state.in_order(child for child in state.known.children(node) if child in state.candidates)
    for child in sorted(children, key=lambda child: -len(state.below(child))):
        moves = yield from state.ask(child)
        state.conclude(child, moves)
        if moves:
            return True
    return False


def _central(graph: EssentialGraph, left: Sequence[str]) -> str:
    """Return a central node of the tree that the nodes `left` form, all with the same weight."""
    inside = set(left)
    neighbours = {node: [other for other in graph.neighbours(node) if other in inside] for node in left}
    return central_node(neighbours, dict.fromkeys(left, 1))
