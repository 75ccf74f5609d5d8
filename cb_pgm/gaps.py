"""How large the effects are that a learner must see: the gaps of Assumptions 2 and 3, printed and effective.

The paper asks for a gap at every ancestor of the reward and at every edge. A search that asks downstream
components first asks no ancestor of the reward outside the component of the reward's parent before it has
found it, and elsewhere every answer about the reward is no whatever the arrows. So only what happens inside
that component must be seen: the effective gaps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cb_pgm.discrete_model import DiscreteModel, Reward
from cb_pgm.exact import ExactInference

if TYPE_CHECKING:
    from discovery import EssentialGraph

__all__ = ["all_edges", "effect_gap", "reward_gap", "search_scope"]

_ZERO = 1e-12  # a gap below this is rounding

Edge = tuple[int, int]
Settable = Mapping[int, Sequence[int]]


def reward_gap(observed: float, means: Mapping[int, NDArray[np.float64]], settable: Settable) -> float:
    """Return the least, over variables, that their best settable state moves the mean reward; 1 without any.

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
    return _least(moves)


def effect_gap(exact: ExactInference, edges: Iterable[Edge], settable: Settable) -> float:
    """Return the least, over edges (cause, target), that the cause's best settable state moves the target.

    That is the min over edges of the max, over states x of the cause and y of the target, of
    |P(y | do(x)) − P(y)|; 1 without edges.
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


def search_scope(
    model: DiscreteModel, reward: Reward, graph: EssentialGraph, settable: Settable
) -> tuple[list[int], list[Edge]]:
    """Return the variables and true edges whose effects a search over `graph`, downstream first, must see.

    Those within the components of `graph` that hold a parent of the reward. Where a variable of those
    components, or of one not upstream of them, can't be set, the search has to go on upstream: then those
    within all components that hold an ancestor of the reward.
    """
    numbers = model.index
    ancestry = 0
    for parent in reward.parents:
        ancestry |= model.ancestry[parent]
    components = [[numbers[name] for name in component] for component in graph.chain_components()]
    home = {v: place for place, component in enumerate(components) for v in component}
    wanted = {home[parent] for parent in reward.parents}
    upstream = _upstream(wanted, ((home[numbers[a]], home[numbers[b]]) for a, b in graph.directed))
    if not all(settable.get(v) for v, place in home.items() if place in wanted or place not in upstream):
        wanted |= {home[v] for v in range(len(model.parents)) if ancestry >> v & 1}
    within = [v for v in range(len(model.parents)) if ancestry >> v & 1 and home[v] in wanted]
    pairs = [(numbers[a], numbers[b]) for a, b in graph.undirected if home[numbers[a]] in wanted]
    edges = [
        (a, b) if a in model.parents[b] else (b, a)
        for a, b in pairs
        if a in model.parents[b] or b in model.parents[a]
    ]
    return within, edges


def _upstream(wanted: set[int], arrows: Iterable[Edge]) -> set[int]:
    """The components from which an arrow path leads into `wanted`."""
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


def _least(moves: Iterable[float]) -> float:
    least = min((float(move) for move in moves), default=1.0)
    return 0.0 if least < _ZERO else least
