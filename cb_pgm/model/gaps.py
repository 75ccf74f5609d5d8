"""The sizes of the effects that a learner has to detect: printed and effective gaps (Assumptions 2 and 3).

The printed gaps are the paper's, minima over every ancestor of the reward and over every edge. A search that
takes downstream components first finds the reward's parent before it sets any ancestor of the reward outside
the parent's component, and in all components that it takes earlier no variable moves the reward, whatever the
directions of the edges. So the search has to detect effects inside that component only, and the effective
gaps are the minima over these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalSystemError
from cb_pgm.model.discrete_model import DiscreteModel
from cb_pgm.model.observed_graph import ObservedGraph

if TYPE_CHECKING:
    from cb_pgm.model.exact import ExactInference
    from discovery import EssentialGraph

__all__ = ["all_edges", "effect_gap", "effective_gaps", "reward_gap"]

_ZERO = 1e-12  # a gap below this, times the size of the numbers, is rounding

Edge = tuple[int, int]
Settable = Mapping[int, Sequence[int]]


def reward_gap(observed: float, means: Mapping[int, NDArray[np.float64]], settable: Settable) -> float:
    """Return the minimum over variables of how far their best settable state moves the mean reward.

    It is 1 where no variable can be set.

    Parameters
    ----------
    observed
        E[R | do()].
    means
        For each variable E[R | do(X = ·)], float64 [states of X].
    settable
        For each variable that can be set the numbers of the states it can be set to.
    """
    moves = (
        np.abs(values[list(settable[variable])] - observed).max()
        for variable, values in means.items()
        if settable.get(variable)
    )
    # Means are rounded in proportion to their size, whatever the unit of the rewards.
    size = max((float(np.abs(values).max()) for values in means.values()), default=0.0)
    return _least(moves, max(abs(observed), size))


def effect_gap(exact: ExactInference, edges: Iterable[Edge], settable: Settable) -> float:
    """Return the minimum over edges of how far the cause's best settable state moves the target.

    That is the minimum over `edges` (cause, target) of the maximum, over states x of the cause and y of the
    target, of |P(y | do(x)) − P(y)|; 1 without edges. `settable` as in `reward_gap`.
    """
    moves = (
        np.abs(exact.effect(cause, target)[list(settable[cause])] - exact.marginal(target)).max()
        for cause, target in edges
        if settable.get(cause)
    )
    return _least(moves)


def all_edges(model: DiscreteModel) -> list[Edge]:
    """Return every edge of the causal graph as (parent, child), by child."""
    return [(parent, child) for child, parents in enumerate(model.parents) for parent in parents]


def effective_gaps(
    exact: ExactInference,
    observed_graph: ObservedGraph,
    arms: tuple[float, Mapping[int, NDArray[np.float64]]],
    graph: EssentialGraph | None,
    settable_states: Mapping[str, Sequence[str]],
) -> tuple[float, float]:
    """Return the reward gap and the effect gap over the effects that a search over `graph` has to detect.

    Parameters
    ----------
    exact, observed_graph
        The system: its inference and the true graph over its observed variables.
    arms
        E[R | do()], and for each ancestor X of the reward E[R | do(X = ·)], float64 [states of X].
    graph
        The graph that the search works on. None: any; every ancestor and every edge counts.
    settable_states
        For each variable that the search can set the states that it can set.

    Raises
    ------
    CausalSystemError
        If `graph` is over other variables.
    """
    model = exact.model
    variables = {model.variables[v] for v in observed_graph.parents}
    if graph is not None and set(graph.nodes) != variables:
        odd = min(set(graph.nodes) ^ variables)
        raise CausalSystemError(
            f"Expected a graph over the system's {len(variables)} variables but found one over "
            f"{len(graph.nodes)}: {odd!r} is in one of them alone"
        )
    settable = {
        (v := model.index[variable]): tuple(model.codes[v][state] for state in states)
        for variable, states in settable_states.items()
    }
    observed, means = arms
    ancestors = _ancestors(model, observed_graph)
    within, edges = ancestors, observed_graph.edges
    if graph is not None:
        within, edges = _scope(model, observed_graph, ancestors, graph, settable)
    return (
        reward_gap(observed, {v: means[v] for v in within}, settable),
        effect_gap(exact, edges, settable),
    )


def _scope(
    model: DiscreteModel,
    observed_graph: ObservedGraph,
    ancestors: Sequence[int],
    graph: EssentialGraph,
    settable: Settable,
) -> tuple[list[int], list[Edge]]:
    """Return the reward's ancestors and the true edges whose effects the search has to detect.

    They lie within the components of `graph` that hold a parent of the reward. Where a variable of those
    components, or of one not upstream of them, can't be set, the search has to go on upstream; then they lie
    within all components that hold an ancestor of the reward.
    """
    numbers = model.index
    home = {
        numbers[name]: place for place, component in enumerate(graph.chain_components()) for name in component
    }
    wanted = {home[parent] for parent in observed_graph.reward_parents}
    upstream = _upstream(wanted, ((home[numbers[a]], home[numbers[b]]) for a, b in graph.directed))
    if not all(settable.get(v) for v, place in home.items() if place in wanted or place not in upstream):
        wanted |= {home[v] for v in ancestors}
    pairs = [(numbers[a], numbers[b]) for a, b in graph.undirected if home[numbers[a]] in wanted]
    edges = [
        pair for a, b in pairs for pair in ((a, b), (b, a)) if pair[0] in observed_graph.parents[pair[1]]
    ]
    return [v for v in ancestors if home[v] in wanted], edges


def _ancestors(model: DiscreteModel, observed_graph: ObservedGraph) -> list[int]:
    """Return the observed ancestors of the reward, in variable order."""
    ancestry = 0
    for parent in observed_graph.reward_parents:
        ancestry |= model.ancestry[parent]
    return [v for v in observed_graph.parents if ancestry >> v & 1]


def _upstream(wanted: set[int], arrows: Iterable[Edge]) -> set[int]:
    """Return the components from which a directed path leads into one of `wanted`."""
    sources: dict[int, list[int]] = {}
    for tail, head in arrows:
        sources.setdefault(head, []).append(tail)
    reached: set[int] = set()
    frontier = list(wanted)
    while frontier:
        for tail in sources.get(frontier.pop(), ()):
            if tail not in reached:
                reached.add(tail)
                frontier.append(tail)
    return reached


def _least(moves: Iterable[float], size: float = 1.0) -> float:
    least = min((float(move) for move in moves), default=1.0)
    return 0.0 if least < _ZERO * size else least
