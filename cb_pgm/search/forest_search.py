"""Search for the reward's parent in a graph whose chain components are trees.

Source: Lu, Meisami & Tewari (2021), Algorithm 5.
"""

from __future__ import annotations

from collections.abc import Sequence

from cb_pgm.search.component_order import Priority, components_in_order
from cb_pgm.search.query import Search
from cb_pgm.search.search_state import NOTHING_MOVED, SearchState
from cb_pgm.search.tree_search import find_key_node, find_subtree
from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["forest", "is_forest", "is_tree"]


def is_tree(graph: EssentialGraph, component: Sequence[str]) -> bool:
    """Return whether the undirected edges of a chain component form a tree."""
    return sum(len(graph.neighbours(node)) for node in component) == 2 * (len(component) - 1)


def is_forest(graph: EssentialGraph) -> bool:
    """Return whether every chain component is a tree (a causal forest, Definition 4).

    Examples
    --------
    >>> is_forest(EssentialGraph("ABC", directed=[("A", "B"), ("C", "B")], undirected=[]))
    True
    >>> is_forest(EssentialGraph("ABC", directed=[], undirected=["AB", "BC", "AC"]))
    False
    """
    return len(graph.undirected) == len(graph.nodes) - len(graph.chain_components())


def forest(graph: EssentialGraph, *, priority: Priority | None = None) -> Search:
    """Find the reward's parent component by component, downstream first.

    Parameters
    ----------
    graph
        An essential graph. At the first chain component that isn't a tree the search ends without a result,
        and its note gives the reason: beyond it the search could only find an ancestor of the parent.
    priority
        Decides which components come first where the graph leaves the order open (`components_in_order`).

    Returns
    -------
    generator
        Of queries; its `SearchResult` identifies the reward's parent.

    Raises
    ------
    SearchError
        If `priority` names a variable that isn't in the graph.

    Examples
    --------
    >>> fork = EssentialGraph("ABC", directed=[("A", "B"), ("C", "B")], undirected=[])
    >>> next(forest(fork)).variable
    'B'
    """
    return _search(graph, components_in_order(graph, priority))


def _search(graph: EssentialGraph, components: Sequence[tuple[str, ...]]) -> Search:
    state = SearchState(graph)
    for component in components:
        if not is_tree(graph, component):
            size = len(component)
            return state.unnamed(f"the chain component of {component[0]} ({size} variables) isn't a tree")
        found = yield from find_subtree(graph, component, state)
        if found:
            # Line 7 is followed by no return, so the printed loop goes on to further components; the first
            # ancestor found, downstream first, is in the right one.
            return state.named((yield from find_key_node(graph, state)))
    return state.unnamed(NOTHING_MOVED)
