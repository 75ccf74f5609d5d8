"""All parents of the reward, when it may have several.

One is found as if it were the only one: the deepest variable that moves the reward, so that none of its
descendants is a parent. It is held from then on, which cuts its ancestors off from the reward where they
have no other way to it, and the next one is found among all variables not ruled out by a no; until nothing
moves the reward any more.

Source: Lu, Meisami & Tewari (2021), appendix "Discussion on multiple reward generating variables", which
holds the whole subtree below a parent found. Holding the parent alone is enough, as none of its descendants
is a parent, and one intervention less to be able to do for each of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cb_pgm.search.component_order import Priority, components_in_order
from cb_pgm.search.query import Search, SearchResult
from cb_pgm.search.search_state import NOTHING_MOVED, SearchState
from cb_pgm.search.sound_search import checked_settable, narrow_down
from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["multiple"]


def multiple(
    graph: EssentialGraph, *, settable: Collection[str] | None = None, priority: Priority | None = None
) -> Search:
    """Find all parents of the reward, downstream first.

    Parameters
    ----------
    graph
        Any essential graph; its `background` is used.
    settable
        The variables that can be asked about and held; None: all.
    priority
        Which components to take first where the graph leaves the order open (`components_in_order`).

    Returns
    -------
    generator
        Its queries hold the parents found so far, at each of their joint states until something moves: the
        reward must respond at some of them (for R = a ∧ b, nothing shows b while a is held at 0). Its
        result names the parents found; it has further `candidates` where a next one couldn't be told from
        variables that can't be set.

    Raises
    ------
    SearchError
        If `settable` or `priority` names a variable that isn't in the graph.

    Notes
    -----
    With several parents the last search, which finds no more, has to ask in every component upstream.

    Examples
    --------
    >>> import networkx as nx
    >>> from cb_pgm.search import exact_answers, solve
    >>> fork = nx.DiGraph(["CA", "CB"])
    >>> solve(multiple(EssentialGraph.from_dag(fork)), exact_answers(fork, "AB")).reward_variables
    ('A', 'B')
    """
    return _search(graph, components_in_order(graph, priority), checked_settable(graph, settable))


def _search(
    graph: EssentialGraph, components: Sequence[tuple[str, ...]], settable: Collection[str]
) -> Search:
    state = SearchState(graph)
    found: list[str] = []
    while True:
        yield from narrow_down(graph, components, settable, state)
        parent = state.deepest
        if parent is None or list(state.candidates) != [parent]:
            return _result(state, found)
        found.append(parent)
        state.hold(parent)


def _result(state: SearchState, found: Sequence[str]) -> SearchResult:
    parents = state.in_order(found)
    if state.deepest is None and not state.candidates:
        return SearchResult(parents, parents, tuple(state.steps), "" if found else NOTHING_MOVED)
    # A yes only says where one parent is; others may be wherever there was no no.
    candidates = state.in_order([*found, *state.not_excluded()])
    note = "the answers don't tell whether there is a further parent, or which"
    return SearchResult(parents, candidates, tuple(state.steps), note)
