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

__all__ = [
    "CliqueCandidates",
    "clique_intervention",
    "find_key_clique",
    "find_sub_junction_tree",
    "general",
]


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
        cliques = CliqueCandidates(graph, component, state)
        yield from find_sub_junction_tree(cliques)
        clique = yield from find_key_clique(cliques)
        if clique is not None:
            return state.unnamed("the reward's parent is in this clique", clique)
    return state.unnamed("no clique that holds the reward's parent was found", ())


def find_sub_junction_tree(cliques: CliqueCandidates) -> Generator[Query, Probe, None]:
    """Keep what isn't upstream of a clique that moves the reward, or nothing (Algorithm 7)."""
    # As in Find Sub-tree: the printed loop has no exit where the component holds no ancestor, "q ← 1" (line
    # 23) revives cliques ruled out before, and line 21 zeroes the probed clique only if some branch is down.
    while cliques.left:
        central = cliques.central()
        moves = yield from clique_intervention(cliques, central)
        down = cliques.down(central)
        if moves:
            up = [other for other in cliques.neighbours[central] if other not in down]
            reason = f"{cliques.name(central)} moves the reward, not so upstream"
            cliques.rule_out(branch(cliques.neighbours, central, up), reason)
            return
        cliques.rule_out_below(central, down)


def find_key_clique(cliques: CliqueCandidates) -> Generator[Query, Probe, Clique | None]:
    """Return the clique that holds the reward's parent; None if no clique is left (Algorithm 8)."""
    while len(cliques.left) > 1:
        central = cliques.central()
        moves = yield from clique_intervention(cliques, central)
        down = cliques.down(central)
        if not moves:
            # Line 12, "1 for the remaining cliques", keeps even the clique that was just answered no.
            cliques.rule_out_below(central, down)
            continue
        below = yield from _reward_branch(cliques, central, down)
        if below is None:
            return cliques.members[central]
        cliques.rule_out(
            [clique for clique in cliques.left if clique not in below], "its clique moves the reward"
        )
    # The printed loop ends without a return when one is left.
    return cliques.members[next(iter(cliques.left))] if cliques.left else None


def clique_intervention(
    cliques: CliqueCandidates, clique: int, apart_from: Clique = ()
) -> Generator[Query, Probe, bool]:
    """Query every variable of a clique; return whether one moves the reward (Algorithm 9)."""
    moves = False
    for variable in cliques.members[clique]:
        if variable not in apart_from:
            moves |= yield from cliques.state.ask(variable)
    return moves


def _reward_branch(
    cliques: CliqueCandidates, central: int, down: Iterable[int]
) -> Generator[Query, Probe, set[int] | None]:
    """Return the branch below `central` whose first clique moves the reward by itself, or None."""
    for child in down:
        below = set(branch(cliques.neighbours, central, [child]))
        if below.isdisjoint(cliques.left):
            continue
        # Line 17 takes any variable of the child; those shared with the central clique moved the reward
        # before, so each child would do. What counts is whether its own variables do.
        if (yield from clique_intervention(cliques, child, apart_from=cliques.members[central])):
            return below
    return None


class CliqueCandidates:
    """The maximal cliques of a chain component, by their number in the clique tree, and which are left.

    Attributes
    ----------
    members
        The variables of each clique.
    neighbours
        The neighbours of each clique in the clique tree.
    left
        The cliques not ruled out, those of positive weight.
    state
        The search's answers so far, and the variables that they leave.
    """

    def __init__(self, graph: EssentialGraph, component: Sequence[str], state: SearchState) -> None:
        adjacency = {node: dict.fromkeys(graph.neighbours(node)) for node in component}
        tree = rooted_clique_tree(component, adjacency)
        self.members, self.neighbours = tree.cliques, tree.neighbours()
        self.left = dict.fromkeys(range(len(tree.cliques)))
        self.state = state
        self._component = component

    def central(self) -> int:
        """Return a central clique or, if that is ruled out, the nearest clique that isn't."""
        # With several branches up, the remaining cliques may be disconnected, and the central one may already
        # be ruled out.
        central = central_node(self.neighbours, dict.fromkeys(self.left, 1))
        nearby = [central, *branch(self.neighbours, central, self.neighbours[central])]
        return next(clique for clique in nearby if clique in self.left)

    def down(self, central: int) -> list[int]:
        """Return the neighbours at which the edge from `central` has an arrowhead (Definition 8)."""
        return [other for other in self.neighbours[central] if self._points_at(central, other)]

    def _points_at(self, clique: int, other: int) -> bool:
        shared = [node for node in self.members[clique] if node in self.members[other]]
        own = [node for node in self.members[other] if node not in shared]
        return all(self.state.known.has_arrow(tail, head) for tail in shared for head in own)

    def rule_out(self, cliques: Iterable[int], reason: str) -> None:
        """Rule out cliques, and the variables that are in no remaining clique, because of the last answer."""
        for clique in cliques:
            self.left.pop(clique, None)
        remaining = {variable for clique in self.left for variable in self.members[clique]}
        gone = [variable for variable in self._component if variable not in remaining]
        self.state.rule_out(self.state.steps[-1].query.variable, gone, reason)

    def rule_out_below(self, central: int, down: Iterable[int]) -> None:
        """Rule out a clique that doesn't move the reward, and the branches below it."""
        below = branch(self.neighbours, central, down)
        self.rule_out([central, *below], f"nothing in {self.name(central)} moves the reward")

    def name(self, clique: int) -> str:
        """Return "{A, B}"."""
        return "{" + ", ".join(self.members[clique]) + "}"
