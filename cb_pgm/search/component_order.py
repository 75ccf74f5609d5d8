"""The order in which a search visits the chain components: downstream first.

A component is searched only after all components that its directed edges lead into. Every component upstream
of the reward's parent holds an ancestor of the reward. If such a component came too early, the search would
end there and identify the wrong variable; the paper's loop over components leaves the order open. Where the
directed edges allow several orders, `priority` decides, then the order of the nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cb_pgm.errors import SearchError
from discovery.graphs.chain_graphs import downstream_first, ends_of
from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["Priority", "check_in_graph", "components_in_order"]

#: Variables, the most promising first, or a score for each variable, the highest most promising. Variables
#: that are left out come last.
Priority = Sequence[str] | Mapping[str, float]


def components_in_order(
    graph: EssentialGraph, priority: Priority | None = None
) -> tuple[tuple[str, ...], ...]:
    """Return the chain components, downstream first.

    Parameters
    ----------
    graph
        Any essential graph.
    priority
        Decides between components that the directed edges leave unordered. A component is as promising as
        its most promising variable.

    Raises
    ------
    SearchError
        If `priority` names a variable that isn't in the graph.

    Examples
    --------
    >>> fork = EssentialGraph("ABC", directed=[("A", "B"), ("C", "B")], undirected=[])
    >>> components_in_order(fork), components_in_order(fork, ["C"])
    ((('B',), ('A',), ('C',)), (('B',), ('C',), ('A',)))
    """
    if not priority:
        return graph.chain_components()
    check_in_graph(priority, graph, "priority")
    by_rank = (
        sorted(priority, key=priority.__getitem__, reverse=True)
        if isinstance(priority, Mapping)
        else priority
    )
    rank = {variable: place for place, variable in reversed([*enumerate(by_rank)])}
    last = len(rank)
    promising = sorted(
        graph.chain_components(),
        key=lambda component: min(rank.get(variable, last) for variable in component),
    )
    parents = ends_of(graph.nodes, ((head, tail) for tail, head in graph.directed))
    return downstream_first(promising, parents, ends_of(graph.nodes, graph.directed))


def check_in_graph(variables: Iterable[str], graph: EssentialGraph, argument: str) -> None:
    """Raise SearchError if a variable that was given as `argument` isn't in the graph."""
    known = frozenset(graph.nodes)
    for variable in variables:
        if variable not in known:
            raise SearchError(
                f"Expected variables of the graph in {argument} but found {variable!r}: remove it"
            )
