"""Search for all parents of the reward, when it may have several.

The first parent is found as if it were the only one: it is the deepest variable that moves the reward, so
none of its descendants is a parent. The search then holds it, that is, sets it in every later query. This
cuts its ancestors off from the reward unless they have another path to it. The next parent is found among all
variables that no answer of no has ruled out. The search ends when nothing moves the reward any more.

Source: Lu, Meisami & Tewari (2021), appendix "Discussion on multiple reward generating variables". The paper
holds the whole subtree below a parent that was found. Holding the parent alone is enough, since none of its
descendants is a parent, and it doesn't require that each of them can be set.
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
        The variables that can be queried and held; None: all.
    priority
        Decides which components come first where the graph leaves the order open (`components_in_order`).

    Returns
    -------
    generator
        Of queries that hold the parents found so far, at each of their joint states until the reward moves.
        The reward must respond at some joint state: for R = a ∧ b, nothing shows b while a is held at 0.
        Its `SearchResult` identifies the parents found. It has further `candidates` if the answers don't
        separate the next parent from variables that can't be set.

    Raises
    ------
    SearchError
        If `settable` or `priority` names a variable that isn't in the graph.

    Notes
    -----
    With several parents the last round, which finds none, has to query every component upstream.

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
    # A yes locates only one parent; others may be wherever there was no answer of no.
    candidates = state.in_order([*found, *state.not_excluded()])
    note = "the answers don't show whether there is a further parent, or which"
    return SearchResult(parents, candidates, tuple(state.steps), note)
