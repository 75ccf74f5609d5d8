"""The ranking of queries in `sound`: which variable of a chain component to query next.

The candidates that an answer about v rules out depend on which neighbours of v are its parents. Those parents
form a clique. Given them, every node is known to be a descendant of v or not: take v and its parents out of
the component; the descendants are the remaining parts that hold a child of v. In a clique tree their sizes
are sums over the branches around a clique, so one pass over the tree gives the worst case of every variable.

* Before any variable has moved the reward, the best variable leaves the fewest candidates in the worst case
  if the answer is no. In a tree this is the central node. A yes already settles most.
* Afterwards, the best variable leaves the fewest candidates in the worst case of both answers.
* Ties go to the variable with more undirected edges.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cb_pgm.search.cliques import CliqueTree, rooted_clique_tree
from cb_pgm.search.search_state import SearchState
from discovery.graphs.meek import PartiallyDirectedGraph

__all__ = ["best_query"]


def best_query(state: SearchState, component: Sequence[str], settable: Collection[str]) -> str | None:
    """Return the best candidate of a chain component to query; None if none is left that can be queried.

    Parameters
    ----------
    state
        The search; its candidates and directed edges decide.
    component
        The chain component.
    settable
        The variables that can be queried.

    Notes
    -----
    Linear in the size of the component's clique tree.
    """
    left = [node for node in component if node in state.candidates]
    askable = [node for node in left if node in settable and not state.asked(node)]
    if len(askable) < 2:
        return askable[0] if askable else None
    worst = _worst_cases(state.known, left, state.deepest)
    return min(askable, key=lambda node: (worst[node], -len(state.known.neighbours(node))))


def _worst_cases(
    known: PartiallyDirectedGraph, candidates: Sequence[str], deepest: str | None
) -> dict[str, int]:
    """Return, for each candidate of a component, how many candidates its answer leaves in the worst case.

    The numbers are exact on trees and a heuristic elsewhere; every order of queries leads to the same result.
    """
    inside = set(candidates)
    root = deepest if deepest in inside else None
    nodes = [*candidates] if root is None else [root, *(node for node in candidates if node != root)]
    adjacency = {
        node: {
            other: None
            for ends in (known.parents(node), known.children(node), known.neighbours(node))
            for other in ends
            if other in inside
        }
        for node in nodes
    }
    n_parents = {node: sum(other in inside for other in known.parents(node)) for node in nodes}
    worst = dict.fromkeys(nodes, 0)
    tree = rooted_clique_tree(nodes, adjacency)
    for clique, branches in zip(tree.cliques, _branches(known, tree, root), strict=True):
        for node in clique:
            parents = sum(known.has_arrow(other, node) for other in clique)
            if parents == n_parents[node]:  # else these can't be the node and all its parents
                children = sum(known.has_arrow(node, other) for other in clique)
                fewest = 1 + children  # below the node, itself counted, if it comes as late as can be
                most = len(clique) - parents  # and if as early
                for last, separator, weight in branches:
                    if node in separator or known.has_arrow(node, last):
                        fewest += weight
                    if node in separator or not known.has_arrow(last, node):
                        most += weight
                left = len(nodes) - fewest
                worst[node] = max(worst[node], left if deepest is None else max(left, most))
    return worst


def _branches(
    known: PartiallyDirectedGraph, tree: CliqueTree, root: str | None
) -> list[list[tuple[str, tuple[str, ...], int]]]:
    """Return, for each clique, the branches that can be below it as (last of separator, separator, weight).

    The weight of a branch is the number of its nodes outside the clique. A branch that holds `root`, an
    ancestor of all nodes, is left out.
    """
    below = [
        len(clique) - len(separator) for clique, separator in zip(tree.cliques, tree.separators, strict=True)
    ]
    for position in range(len(below) - 1, 0, -1):
        if tree.parents[position] >= 0:
            below[tree.parents[position]] += below[position]
    branches: list[list[tuple[str, tuple[str, ...], int]]] = [[] for _ in below]
    whole = list(below)  # of the tree that a clique is in, known from its root downwards
    for position, (parent, separator) in enumerate(zip(tree.parents, tree.separators, strict=True)):
        if parent >= 0:
            whole[position] = whole[parent]
            last = _last(known, separator)
            branches[parent].append((last, separator, below[position]))
            if root is None or root in tree.cliques[position]:
                above = whole[position] - below[position] - len(separator)
                branches[position].append((last, separator, above))
    return branches


def _last(known: PartiallyDirectedGraph, separator: Sequence[str]) -> str:
    """Return a node of a clique that isn't known to be a parent of another one in it."""
    last = separator[0]
    for node in separator[1:]:
        if known.has_arrow(last, node):
            last = node
    return last
