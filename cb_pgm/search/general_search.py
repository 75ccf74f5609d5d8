"""Search for a clique that holds the reward's parent: stages 1 and 2 of CN-UCB for general graphs.

The search works as in a tree, with the maximal cliques of a chain component in the role of the nodes.
*Clique Intervention* queries all variables of a clique. *Find Sub-junction-tree* does so at central cliques
until one of them moves the reward. *Find Key Clique* continues below that one.

Source: Lu, Meisami & Tewari (2021), Algorithms 2, 7 (Find Sub-junction-tree), 8 (Find Key Clique) and 9
(Clique Intervention). Comments mark the places where the printed text can't be followed. One error can't be
corrected without changing the algorithm: a branch counts as *up* unless every shared node of the two cliques
points into it, and stage 1 removes all branches that are up when it finds an ancestor. X_R can be in one of
them, whatever the clique graph. In ``0 → 1, 0 → 2, 1 → 2, 1 → 3`` with X_R = 2 and the central clique
{1, 3}, variable 1 moves the reward, {0, 1, 2} is removed because of ``0 → 1``, and {1, 3} is returned.
`sound` is correct on every graph.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence

from cb_pgm.search.central_node import branch, central_node
from cb_pgm.search.cliques import Clique, rooted_clique_tree
from cb_pgm.search.component_order import Priority, components_in_order
from cb_pgm.search.forest_search import is_tree
from cb_pgm.search.query import Probe, Query, Search
from cb_pgm.search.search_state import SearchState
from cb_pgm.search.tree_search import find_key_node, find_subtree
from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["general"]


def general(graph: EssentialGraph, *, priority: Priority | None = None) -> Search:
    """Find a clique that holds the reward's parent, component by component, downstream first.

    Parameters
    ----------
    graph
        Any essential graph. Chain components that are trees are searched by the tree algorithm, which
        identifies a single variable.
    priority
        Decides which components come first where the graph leaves the order open (`components_in_order`).

    Returns
    -------
    generator
        Of queries; the `candidates` of its `SearchResult` are the clique found. They are empty if no clique
        was found; the paper then plays UCB over all arms.

    Raises
    ------
    SearchError
        If `priority` names a variable that isn't in the graph.

    Notes
    -----
    The clique can be wrong even if all answers are correct (see the module's docstring).

    Examples
    --------
    >>> triangle = EssentialGraph("ABC", directed=[], undirected=["AB", "AC", "BC"])
    >>> next(general(triangle)).variable
    'A'
    """
    return _search(graph, components_in_order(graph, priority))


def _search(graph: EssentialGraph, components: Sequence[tuple[str, ...]]) -> Search:
    state = SearchState(graph)
    for component in components:
        # A star's separators are all equal, so Definition 10 as printed excludes trees with a node of three
        # neighbours, on which Theorem 3 is then silent; trees have their own algorithm.
        if is_tree(graph, component):
            found = yield from find_subtree(graph, component, state)
            if found:
                return state.named((yield from find_key_node(graph, state)))
            continue
        stages = _CliqueSearch(graph, component, state)
        yield from stages.find_sub_junction_tree()
        clique = yield from stages.find_key_clique()
        if clique is not None:
            return state.unnamed("the reward's parent is in this clique", clique)
    return state.unnamed("no clique that holds the reward's parent was found", ())


class _CliqueSearch:
    """Both stages on one chain component; cliques go by their number in the clique tree."""

    def __init__(self, graph: EssentialGraph, component: Sequence[str], state: SearchState) -> None:
        adjacency = {node: dict.fromkeys(graph.neighbours(node)) for node in component}
        tree = rooted_clique_tree(component, adjacency)
        self._cliques = tree.cliques
        self._neighbours = tree.neighbours()
        self._component = component
        self._state = state
        self._left = dict.fromkeys(range(len(tree.cliques)))  # those of positive weight

    def find_sub_junction_tree(self) -> Generator[Query, Probe, None]:
        """Keep only cliques that aren't upstream of one that moves the reward; keep none if none does."""
        # As in Find Sub-tree: the printed loop has no exit where the component holds no ancestor, "q ← 1"
        # (line 23) revives cliques ruled out before, and line 21 zeroes the probed clique only if some
        # branch is down.
        while self._left:
            central = self._central()
            moves = yield from self._intervene(central)
            down = self._down(central)
            if moves:
                up = [other for other in self._neighbours[central] if other not in down]
                self._strike(
                    branch(self._neighbours, central, up),
                    f"{self._name(central)} moves the reward, not so upstream",
                )
                return
            self._strike(
                [central, *branch(self._neighbours, central, down)],
                f"nothing in {self._name(central)} moves the reward",
            )

    def find_key_clique(self) -> Generator[Query, Probe, Clique | None]:
        """Return the clique that holds the reward's parent; None if no clique is left."""
        while len(self._left) > 1:
            central = self._central()
            moves = yield from self._intervene(central)
            down = self._down(central)
            if not moves:
                # Line 12, "1 for the remaining cliques", keeps even the clique that was just answered no.
                self._strike(
                    [central, *branch(self._neighbours, central, down)],
                    f"nothing in {self._name(central)} moves the reward",
                )
                continue
            below = yield from self._reward_branch(central, down)
            if below is None:
                return self._cliques[central]
            self._strike(
                [clique for clique in self._left if clique not in below], "its clique moves the reward"
            )
        # The printed loop ends without a return when one is left.
        return self._cliques[next(iter(self._left))] if self._left else None

    def _reward_branch(self, central: int, down: Iterable[int]) -> Generator[Query, Probe, set[int] | None]:
        """Return the branch below `central` whose first clique moves the reward by itself, or None."""
        for child in down:
            cliques = set(branch(self._neighbours, central, [child]))
            if cliques.isdisjoint(self._left):
                continue
            # Line 17 takes any variable of the child; those shared with the central clique moved the reward
            # before, so each child would do. What counts is whether its own variables do.
            if (yield from self._intervene(child, apart_from=self._cliques[central])):
                return cliques
        return None

    def _intervene(self, clique: int, apart_from: Clique = ()) -> Generator[Query, Probe, bool]:
        """Query every variable of a clique (Clique Intervention); return whether one moves the reward."""
        moves = False
        for variable in self._cliques[clique]:
            if variable not in apart_from:
                moves |= yield from self._state.ask(variable)
        return moves

    def _down(self, central: int) -> list[int]:
        """Return the neighbours at which the edge from `central` has an arrowhead (Definition 8)."""
        return [other for other in self._neighbours[central] if self._points_at(central, other)]

    def _points_at(self, clique: int, other: int) -> bool:
        shared = [node for node in self._cliques[clique] if node in self._cliques[other]]
        own = [node for node in self._cliques[other] if node not in shared]
        return all(self._state.known.has_arrow(tail, head) for tail in shared for head in own)

    def _central(self) -> int:
        """Return a central clique or, if that is ruled out, the nearest clique that isn't."""
        # With several branches up, the remaining cliques may be disconnected, and the central one may already
        # be ruled out.
        central = central_node(self._neighbours, dict.fromkeys(self._left, 1))
        nearby = [central, *branch(self._neighbours, central, self._neighbours[central])]
        return next(clique for clique in nearby if clique in self._left)

    def _strike(self, cliques: Iterable[int], reason: str) -> None:
        """Rule out cliques, and the variables that are in no remaining clique, because of the last answer."""
        for clique in cliques:
            self._left.pop(clique, None)
        remaining = {variable for clique in self._left for variable in self._cliques[clique]}
        gone = [variable for variable in self._component if variable not in remaining]
        self._state.rule_out(self._state.steps[-1].query.variable, gone, reason)

    def _name(self, clique: int) -> str:
        return "{" + ", ".join(self._cliques[clique]) + "}"
