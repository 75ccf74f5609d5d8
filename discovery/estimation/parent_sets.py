"""How likely each set of variables is to be a variable's parents, from rows recorded under do().

Up to 15 variables the probabilities are exact for the BDeu score, at most three parents each and an
order-modular prior: a graph counts once for every order of the variables that it agrees with. They come from
sums over the orders below and above a variable, by dynamic programming over all subsets of variables ([1]_).
For more variables the graph's equivalence class is estimated, or given, and the candidates are the parent
sets that some graph of the class can have: a variable's parents and a clique of its undirected neighbours
([2]_, Lemma 3.1), all equally likely.

References
----------
.. [1] M. Koivisto, K. Sood, "Exact Bayesian structure discovery in Bayesian networks", JMLR 2004.
.. [2] M. Maathuis, M. Kalisch, P. Bühlmann, "Estimating high-dimensional intervention effects from
   observational data", Annals of Statistics 2009.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # it imports networkx, which a policy without rows doesn't need
    from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["ParentSets", "exact_parent_sets", "likely_parent_sets", "local_parent_sets"]

#: Sets of columns, each increasing, with their probabilities, which add up to 1.
ParentSets = tuple[tuple[tuple[int, ...], ...], NDArray[np.float64]]

_MOST_EXACT = 15  # variables; one more doubles the time
_MOST_PARENTS = 3
_LEAST_SHARE = 1e-4  # less likely sets are left out
_MOST_SETS = 64


def likely_parent_sets(
    codes: NDArray[np.int16], states: Mapping[str, Sequence[str]], graph: EssentialGraph | None = None
) -> list[ParentSets]:
    """Return the candidate parent sets of every variable, from rows `codes` [N, n] recorded under do().

    Parameters
    ----------
    codes, states
        At least one row, and the variables' states.
    graph
        The essential graph, for more than 15 variables; None: estimated by GES.
    """
    from discovery.estimation.contingency import Contingency  # late: numba takes a second to import
    from discovery.estimation.counted_scores import BDeu

    if len(states) == 1:
        return [(((),), np.ones(1))]
    if len(states) <= _MOST_EXACT:
        score = BDeu(Contingency(codes, [len(values) for values in states.values()]))
        return exact_parent_sets(len(states), score.local_score)
    if graph is None:
        from discovery.estimation.estimation import estimate
        from discovery.table.discrete_table import DiscreteTable

        named = {name: tuple(values) for name, values in states.items()}
        graph = estimate(DiscreteTable(codes=codes, states=named)).graph
    return local_parent_sets(graph, tuple(states))


def local_parent_sets(graph: EssentialGraph, variables: Sequence[str]) -> list[ParentSets]:
    """Return each variable's possible parent sets in the graph's equivalence class, equally likely.

    Examples
    --------
    >>> from discovery import EssentialGraph
    >>> local_parent_sets(EssentialGraph("ABC", [], [("A", "B"), ("B", "C")]), "ABC")[1][0]
    ((), (0,), (2,))
    """
    column = {name: number for number, name in enumerate(variables)}
    found = []
    for name in variables:
        above, lines = graph.parents(name), graph.neighbours(name)
        cliques: list[tuple[str, ...]] = [()]
        for clique in cliques:
            later = lines[lines.index(clique[-1]) + 1 :] if clique else lines
            cliques.extend((*clique, one) for one in later if all(graph.adjacent(one, two) for two in clique))
            if len(cliques) >= _MOST_SETS:
                break
        sets = [tuple(sorted(column[one] for one in (*above, *clique))) for clique in cliques[:_MOST_SETS]]
        found.append((tuple(sets), np.full(len(sets), 1 / len(sets))))
    return found


def exact_parent_sets(n: int, local_score: Callable[[int, tuple[int, ...]], float]) -> list[ParentSets]:
    """Return the probabilities of every variable's sets of at most three parents; O(n²·2ⁿ).

    Parameters
    ----------
    n
        The number of variables.
    local_score
        log P(column | parents' columns) + log P(parents), of a variable and its parents.
    """
    families = [_families(n, v, local_score) for v in range(n)]
    # inner[v][S] = log of the sum of the scores of v's parent sets within S
    inner = [_summed_over_subsets(n, masks, scores) for masks, scores, _ in families]
    full = (1 << n) - 1
    size = np.array([mask.bit_count() for mask in range(full + 1)])
    below = np.full(full + 1, -np.inf)  # log of the sum over all orders of the members of S, which come first
    above = np.full(full + 1, -np.inf)  # the same of the others, which come after S
    below[0] = above[full] = 0.0
    for level in range(n):
        lower, upper = np.flatnonzero(size == level), np.flatnonzero(size == n - level)
        for v in range(n):
            start = lower[(lower >> v) & 1 == 0]
            end = start | (1 << v)
            below[end] = np.logaddexp(below[end], below[start] + inner[v][start])
            end = upper[(upper >> v) & 1 == 1]
            start = end & ~(1 << v)
            above[start] = np.logaddexp(above[start], above[end] + inner[v][start])
    found = []
    for v, (masks, scores, sets) in enumerate(families):
        without = np.arange(full + 1)
        before = np.where((without >> v) & 1 == 0, below + above[without | (1 << v)], -np.inf)
        logs = scores + _summed_over_supersets(n, before)[masks]
        shares = np.exp(logs - logs.max())
        kept = np.argsort(-shares, kind="stable")[:_MOST_SETS]
        kept = np.sort(kept[shares[kept] >= _LEAST_SHARE * shares.sum()])
        found.append((tuple(sets[place] for place in kept), shares[kept] / shares[kept].sum()))
    return found


def _families(
    n: int, v: int, local_score: Callable[[int, tuple[int, ...]], float]
) -> tuple[NDArray[np.int64], NDArray[np.float64], list[tuple[int, ...]]]:
    """Return the parent sets of `v` as bit masks, their scores and the sets themselves."""
    others = [other for other in range(n) if other != v]
    sets = [chosen for size in range(_MOST_PARENTS + 1) for chosen in itertools.combinations(others, size)]
    masks = np.array([sum(1 << other for other in chosen) for chosen in sets], dtype=np.int64)
    return masks, np.array([local_score(v, chosen) for chosen in sets]), sets


def _summed_over_subsets(n: int, masks: NDArray[np.int64], logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log Σ exp over the `masks` within each subset of n variables, float64 [2ⁿ]."""
    total = np.full(1 << n, -np.inf)
    total[masks] = logs
    for bit in range(n):
        halves = total.reshape(-1, 2, 1 << bit)
        halves[:, 1] = np.logaddexp(halves[:, 1], halves[:, 0])
    return total


def _summed_over_supersets(n: int, logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log Σ exp of `logs` [2ⁿ] over the supersets of each subset."""
    total = logs.copy()
    for bit in range(n):
        halves = total.reshape(-1, 2, 1 << bit)
        halves[:, 0] = np.logaddexp(halves[:, 0], halves[:, 1])
    return total
