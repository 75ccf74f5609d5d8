"""Which variables to set in order to direct all lines of an essential graph, the reward left aside.

Setting a variable shows the direction of every line at it, and Meek's rules what follows. Asked first is what
is central: in a part that is a tree its central node, after which only the branch upstream is left; elsewhere
the variables of a central clique of its clique tree, one by one.

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
    """Ask until every line is directed, or no more can be.

    Parameters
    ----------
    graph
        Any essential graph; its `background` is used.
    settable
        The variables that can be asked about; None: all.

    Returns
    -------
    generator
        Of queries; only the `children` of their answers are looked at. It returns the graph with everything
        learnt as its background.

    Notes
    -----
    On a tree of n nodes at most log₂ n + 1 questions.

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
        lines: Ends = {
            node: {other: None for other in state.known.neighbours(node) if other in inside}
            for node in component
        }
        for part in chain_components(component, lines):
            open_nodes = [node for node in part if lines[node] and node in askable]
            if open_nodes:
                yield from state.ask(_most_central(part, lines, open_nodes))
                pending.append(part)
    lines_before = frozenset(graph.undirected)
    learnt = [arrow for arrow in state.known.arrows() if not lines_before.isdisjoint((arrow, arrow[::-1]))]
    return EssentialGraph(graph.nodes, graph.directed, graph.undirected, background=learnt)


def _most_central(
    part: Sequence[str], lines: Mapping[str, Mapping[str, None]], open_nodes: Sequence[str]
) -> str:
    """Return which of the open nodes of a connected part to ask about."""
    if sum(len(lines[node]) for node in part) == 2 * (len(part) - 1):
        central = {central_node({node: lines[node] for node in part}, dict.fromkeys(part, 1))}
    else:
        # Arrows that a person vouched for may leave lines that aren't chordal; then this is only a guide.
        tree = rooted_clique_tree(part, lines)
        cliques = tree.neighbours()
        central = {*tree.cliques[central_node(cliques, dict.fromkeys(cliques, 1))]}
    return max(open_nodes, key=lambda node: (node in central, len(lines[node])))
