"""The reward variable in any graph, named as one variable: right whatever the graph.

Once all edges of a variable are directed, what is below it is known for good. So an answer about it
settles, for every other variable, whether that one can still be the reward's parent: after a no, all but
itself and what is below it; after a yes, only those. Directions are closed under Meek's rules, so what is
left is exactly what agrees with all answers, and an end is reached however questions are chosen;
`query_ranking` chooses them.

Components are searched downstream first. Then no ancestor of the reward outside the component of its parent
is ever asked, every answer elsewhere is no whatever the arrows, and effects need to be seen only inside
that component.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Sequence

from cb_pgm.errors import SearchError
from cb_pgm.search.component_order import Priority, components_in_order
from cb_pgm.search.query import Probe, Query, Search, SearchResult
from cb_pgm.search.query_ranking import QueryRanking
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
        The variables that can be asked about; None: all.
    priority
        Which components to take first where the graph leaves the order open (`components_in_order`).

    Returns
    -------
    generator
        Its result names the reward's parent. With variables that can't be set it may end in several
        candidates: all that agree with every answer that can be had. If the answers contradict each other,
        the candidates are the last variable that moved the reward.

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
    """Return the variables that can be set as a set, checked to be in the graph."""
    if settable is None:
        return frozenset(graph.nodes)
    unknown = [variable for variable in settable if variable not in frozenset(graph.nodes)]
    if unknown:
        raise SearchError(f"Expected settable to name variables of the graph but found {unknown[0]!r}")
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
    return state.unnamed("the variables that can be set don't tell these apart")


def narrow_down(
    graph: EssentialGraph, components: Sequence[Sequence[str]], settable: Collection[str], state: SearchState
) -> Generator[Query, Probe, None]:
    """Ask until one candidate is left and moved the reward, none is left, or no question can tell more."""
    unsettable = [node for node in graph.nodes if node not in settable]
    for component in components:
        ranking = QueryRanking(state, component, settable)
        while not _is_settled(state):
            variable = ranking.best()
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
    """Return a variable of `component`, no candidate itself, whose answer may tell candidates apart; or None.

    Candidates that can't be set are told apart by the ancestors that some of them have and others don't.
    """
    candidates = state.candidates
    free = [
        node for node in component if node in settable and node not in candidates and not state.asked(node)
    ]
    homes = {graph.component_of(candidate)[0] for candidate in candidates}
    if not free or len(candidates) == 1 or (len(homes) == 1 and component[0] not in homes):
        return None  # what is upstream of a component is upstream of all that is in it
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
    """Return `nodes` and all from which arrows and lines lead to them."""
    reached = set(nodes)
    frontier = list(reached)
    while frontier:
        node = frontier.pop()
        for ends in (state.known.parents(node), state.known.neighbours(node)):
            new = [other for other in ends if other not in reached]
            reached.update(new)
            frontier.extend(new)
    return reached
