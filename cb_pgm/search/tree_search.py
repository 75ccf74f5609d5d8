"""The reward variable in an undirected tree, in about (2 + d)·log₂ n questions: CN-UCB's first two stages.

Stage 1, *Find Sub-tree*, probes central nodes of what is left until one is an ancestor of the reward. A tree
without v-structures has at most one arrow into each node, so once a node's own edges are known, everything on
the far side of its children lies below it: a no rules out all of that, a yes everything else. Stage 2, *Find
Key Node*, works in the directed tree below that ancestor: probe a central node, then its children, and go on
below the child that is an ancestor too.

Source: Lu, Meisami & Tewari (2021), Algorithms 1, 3 (Find Sub-tree) and 4 (Find Key Node). Where their text
can't be followed a comment says so.
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
        An essential graph without arrows, connected and without cycles; its `background` is used.

    Raises
    ------
    SearchError
        If the graph is anything else.

    Notes
    -----
    With exact answers at most (2 + d)·log₂ n + 1 questions, n nodes of at most d neighbours. Each of the
    O(log n) rounds takes time linear in what is left.

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
            f"{len(graph.undirected)} lines over {len(graph.nodes)} nodes: use forest, general or sound"
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
    """Narrow the candidates to an ancestor of the reward and what lies below it, if `component` holds one.

    Algorithm 3. `component` is a chain component of `graph` that is a tree. Returns whether one was found;
    if not, the whole component is ruled out.
    """
    # "While found is False" (line 3) never ends where the component holds no ancestor; here it ends when
    # nothing is left. And "q_{t+1} ← 1" (line 25) would revive what was ruled out: candidates only become
    # fewer.
    while left := [node for node in component if node in state.candidates]:
        central = _central(graph, left)
        moves = yield from state.ask(central)
        # Line 23 rules out the central node only if one of its branches points down; one without neighbours
        # would be probed for ever. A no always rules it out.
        state.conclude(central, moves)
        if moves:
            return True
    return False


def find_key_node(graph: EssentialGraph, state: SearchState) -> Generator[Query, Probe, str]:
    """Return the reward's parent among the candidates, an ancestor of the reward and what lies below it.

    Algorithm 4.
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
    """Ask the children of `node`, those with most candidates below first, until one moves the reward."""
    children = state.in_order(child for child in state.known.children(node) if child in state.candidates)
    for child in sorted(children, key=lambda child: -len(state.below(child))):
        moves = yield from state.ask(child)
        state.conclude(child, moves)
        if moves:
            return True
    return False


def _central(graph: EssentialGraph, left: Sequence[str]) -> str:
    """Return a central node of the tree that the nodes `left` form, all of the same weight."""
    inside = set(left)
    neighbours = {node: [other for other in graph.neighbours(node) if other in inside] for node in left}
    return central_node(neighbours, dict.fromkeys(left, 1))
