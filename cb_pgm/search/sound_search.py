"""Search for the reward's parent that is correct on every graph and identifies a single variable.

Once all edges of a variable are directed, its descendants are known for good. An answer about it therefore
decides for every variable whether it can still be the reward's parent. After a no, the variable and its
descendants can't be; after a yes, only they can. Directions are closed under Meek's rules, so the candidates
left are exactly those that agree with all answers, and the search ends whatever the order of its queries;
`query_ranking` chooses a good one.

Components are searched downstream first. Then no ancestor of the reward outside the component of its parent
is ever queried. In all other components every answer is no, whatever the direction of their edges, so effects
between variables need to be detected only inside the component of the reward's parent.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Sequence

from cb_pgm.search.component_order import Priority, check_in_graph, components_in_order
from cb_pgm.search.query import Probe, Query, Search, SearchResult
from cb_pgm.search.query_ranking import best_query
from cb_pgm.search.search_state import NOTHING_MOVED, SearchState
from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["checked_settable", "narrow_down", "sound"]


def sound(
    graph: EssentialGraph, *, settable: Collection[str] | None = None, priority: Priority | None = None
) -> Search:
    """Find the reward's parent.

    Parameters
    ----------
    graph
        Any essential graph; its `background` is used.
    settable
        The variables that can be queried; None: all.
    priority
        Decides which components come first where the graph leaves the order open (`components_in_order`).

    Returns
    -------
    generator
        Of queries; its `SearchResult` identifies the reward's parent. If some variables can't be set, it may
        end with several candidates: all that agree with every answer that can be had. If the answers
        contradict each other, the candidates are the lowest variables that moved the reward.

    Raises
    ------
    SearchError
        If `settable` or `priority` names a variable that isn't in the graph.

    Examples
    --------
    >>> triangle = EssentialGraph("ABC", directed=[], undirected=["AB", "AC", "BC"])
    >>> next(sound(triangle, settable="BC"))
    Query(variable='B', undecided=('A', 'C'), fixed={})
    """
    return _search(graph, components_in_order(graph, priority), checked_settable(graph, settable))


def checked_settable(graph: EssentialGraph, settable: Collection[str] | None) -> Collection[str]:
    """Return the variables that can be set; None means all.

    Raises
    ------
    SearchError
        If one isn't a variable of the graph.
    """
    if settable is None:
        return frozenset(graph.nodes)
    check_in_graph(settable, graph, "settable")
    return frozenset(settable)


def _search(
    graph: EssentialGraph, components: Sequence[tuple[str, ...]], settable: Collection[str]
) -> Search:
    state = SearchState(graph)
    yield from narrow_down(graph, components, settable, state)
    return _result(state)


def _result(state: SearchState) -> SearchResult:
    left, deepest = [*state.candidates], state.deepest
    if deepest is None:
        return state.unnamed("no variable that can be set moved the reward" if left else NOTHING_MOVED)
    if not left:
        moved = [step.query.variable for step in state.steps if step.probe.is_ancestor]
        lowest = [one for one in moved if len(state.known.descendants(one).intersection(moved)) == 1]
        return state.unnamed("the answers contradict each other: these moved the reward", lowest)
    if len(left) == 1:
        return state.named(left[0])
    return state.unnamed("the variables that can be set don't separate these candidates")


def narrow_down(
    graph: EssentialGraph, components: Sequence[Sequence[str]], settable: Collection[str], state: SearchState
) -> Generator[Query, Probe, None]:
    """Query until the search is settled or no further query can rule out a candidate.

    It is settled if no candidate is left, or if a single one is left and that one moved the reward.
    """
    unsettable = [node for node in graph.nodes if node not in settable]
    for component in components:
        while not _is_settled(state):
            variable = best_query(state, component, settable)
            if variable is None and any(node in state.candidates for node in unsettable):
                variable = _helper(graph, component, settable, state)
            if variable is None:
                break
            moves = yield from state.ask(variable)
            state.conclude(variable, moves)


def _is_settled(state: SearchState) -> bool:
    return not state.candidates or (len(state.candidates) == 1 and state.deepest in state.candidates)


def _helper(
    graph: EssentialGraph, component: Sequence[str], settable: Collection[str], state: SearchState
) -> str | None:
    """Return a variable of `component`, not a candidate, whose answer may rule out some candidates; or None.

    Such a variable is an ancestor of some candidates and not of others. It is needed to separate candidates
    that can't be set.
    """
    candidates = state.candidates
    free = [
        node for node in component if node in settable and node not in candidates and not state.asked(node)
    ]
    homes = {graph.component_of(candidate)[0] for candidate in candidates}
    if not free or len(candidates) == 1 or (len(homes) == 1 and component[0] not in homes):
        return None  # a node upstream of a component is upstream of all its variables
    ahead = _upstream(state, candidates)
    for node in free:
        if node in ahead and _may_tell_apart(node, state):
            return node
    return None


def _may_tell_apart(node: str, state: SearchState) -> bool:
    candidates = state.candidates.keys()
    if candidates.isdisjoint(state.known.possible_descendants(node)):
        return False
    return not candidates <= state.known.definite_descendants(node)


def _upstream(state: SearchState, nodes: Iterable[str]) -> set[str]:
    """Return `nodes` and all nodes from which directed and undirected edges lead to them."""
    reached = set(nodes)
    frontier = list(reached)
    while frontier:
        node = frontier.pop()
        for ends in (state.known.parents(node), state.known.neighbours(node)):
            new = [other for other in ends if other not in reached]
            reached.update(new)
            frontier.extend(new)
    return reached
