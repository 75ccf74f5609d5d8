"""The paper's algorithms close to their pseudo-code, with a switch for each slip that puts the print back.

Lu, Meisami & Tewari (2021), Algorithms 2 to 9, with exact answers. Order and ties: nodes, neighbours and
cliques in the order X1, X2, ...; Find Central Node starts at the first node and among equal branches takes
the first; clique trees come from maximum cardinality search; components are taken downstream first, those
that could come next by their first node.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import networkx as nx

from cb_pgm.search.central_node import branch, central_node
from cb_pgm.search.cliques import rooted_clique_tree
from cb_pgm.search.forest_search import is_tree
from discovery import EssentialGraph

__all__ = ["Run", "Slips", "outcome"]

ENDLESS = 50  # turns of one loop; five nodes never need more than a dozen


class Endless(Exception):
    """A loop that would never end."""


@dataclass(frozen=True)
class Slips:
    """What is done as printed; everything left False is mended."""

    weights_come_back: bool = False  # in stage 2
    weights_come_back_in_stage_1: bool = False
    central_node_on_ties: bool = False
    no_exit: bool = False
    probed_node_stays: bool = False
    key_clique_asks_separator: bool = False
    nothing_returned_at_the_end: bool = False
    trees_by_cliques: bool = False
    last_first: bool = False  # ties go to the last node or clique, not the first
    order: str = "downstream"


@dataclass
class Run:
    """One run of the printed text on one case."""

    graph: EssentialGraph
    dag: nx.DiGraph[str]
    reward_variable: str
    slips: Slips
    rng: random.Random
    asked: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.moving = {self.reward_variable, *nx.ancestors(self.dag, self.reward_variable)}

    def ask(self, variables: Iterable[str]) -> bool:
        """Clique Intervention: ask about all of them; does one move the reward?"""
        variables = list(variables)
        self.asked.update(variables)
        return any(variable in self.moving for variable in variables)

    def outcome(self) -> tuple[str, ...]:
        """Return what is named: a variable, the variables of a clique, or nothing."""
        for component in self._components():
            trees = is_tree(self.graph, component) and not self.slips.trees_by_cliques
            stages = _TreeStages(self, component) if trees else _CliqueStages(self, component)
            found = stages.find_below()
            if found:
                key = stages.find_key(found)
                if key:
                    return key
        return ()

    def _components(self) -> list[tuple[str, ...]]:
        components = list(self.graph.chain_components())
        if self.slips.order == "upstream":
            components.reverse()
        elif self.slips.order == "random":
            self.rng.shuffle(components)
        return components


class _Stages:
    """Stages 1 and 2 over the nodes of a tree, which are variables or cliques (Algorithms 3 and 4, or 7 and
    8)."""

    def __init__(
        self, run: Run, members: Mapping[int, tuple[str, ...]], neighbours: Mapping[int, Sequence[int]]
    ):
        self.run, self.slips = run, run.slips
        way = -1 if self.slips.last_first else 1
        self.members = {node: members[node] for node in sorted(members)[::way]}
        self.neighbours = {node: sorted(neighbours[node])[::way] for node in self.members}

    def points_at(self, node: int, other: int) -> bool:
        raise NotImplementedError

    def ask_child(self, child: int, parent: int) -> bool:
        raise NotImplementedError

    def find_below(self) -> list[int]:
        """Find Sub-tree (Algorithm 3) and Find Sub-junction-tree (Algorithm 7)."""
        weights = dict.fromkeys(self.members, 1)
        for _ in range(ENDLESS):
            if not any(weights.values()) and not self.slips.no_exit:
                return []
            central = self.central(weights)
            found = self.run.ask(self.members[central])
            down = [other for other in self.neighbours[central] if self.points_at(central, other)]
            up = [other for other in self.neighbours[central] if other not in down]
            if found:
                cut = branch(self.neighbours, central, up)
                return [node for node in self.members if node not in cut]
            for other in down:
                weights.update(dict.fromkeys([central, *branch(self.neighbours, central, [other])], 0))
            if not self.slips.probed_node_stays:
                weights[central] = 0
            if self.slips.weights_come_back_in_stage_1:
                weights.update(dict.fromkeys(branch(self.neighbours, central, up), 1))
        raise Endless

    def find_key(self, below: Sequence[int]) -> tuple[str, ...]:
        """Find Key Node (Algorithm 4) and Find Key Clique (Algorithm 8)."""
        weights = {node: int(node in below) for node in self.members}
        for _ in range(ENDLESS):
            left = [node for node, weight in weights.items() if weight]
            if len(left) <= 1:
                return () if self.slips.nothing_returned_at_the_end or not left else self.members[left[0]]
            central = self.central(weights)
            children = [
                other
                for other in self.neighbours[central]
                if self.points_at(central, other) and other in below
            ]
            if not self.run.ask(self.members[central]):
                below_central = branch(self.neighbours, central, children)
                if self.slips.weights_come_back:
                    weights.update((node, int(node not in below_central)) for node in below)
                weights.update(dict.fromkeys(below_central, 0))
                if not self.keeps_refused():
                    weights[central] = 0
                continue
            moving = next((child for child in children if self.ask_child(child, central)), None)
            if moving is None:
                return self.members[central]
            inside = set(branch(self.neighbours, central, [moving])) & set(below)
            kept = inside if self.slips.weights_come_back else inside & set(left)
            weights = {node: int(node in kept) for node in self.members}
        raise Endless

    def keeps_refused(self) -> bool:
        """Whether a node that doesn't move the reward keeps its weight in stage 2, as printed for cliques."""
        return False

    def central(self, weights: Mapping[int, int]) -> int:
        """Find Central Node (Algorithm 6), and the nearest node of positive weight where its own is 0."""
        central = (
            self.walk(weights) if self.slips.central_node_on_ties else central_node(self.neighbours, weights)
        )
        come_back = self.slips.weights_come_back or self.slips.weights_come_back_in_stage_1
        if come_back or not any(weights.values()):
            return central
        nearby = [central, *branch(self.neighbours, central, self.neighbours[central])]
        return next(node for node in nearby if weights[node])

    def walk(self, weights: Mapping[int, int]) -> int:
        """Algorithm 6 with the printed "≥ 1/2"."""
        central, total = next(iter(self.neighbours)), sum(weights.values())
        for _ in range(ENDLESS):
            heavy = {
                other: sum(weights[node] for node in branch(self.neighbours, central, [other]))
                for other in self.neighbours[central]
            }
            if not heavy or not total or 2 * max(heavy.values()) < total:
                return central
            central = max(heavy, key=heavy.__getitem__)
        raise Endless


class _TreeStages(_Stages):
    def __init__(self, run: Run, component: Sequence[str]) -> None:
        number = {variable: i for i, variable in enumerate(component)}
        neighbours = {i: [number[v] for v in run.graph.neighbours(u)] for u, i in number.items()}
        super().__init__(run, {i: (variable,) for variable, i in number.items()}, neighbours)

    def points_at(self, node: int, other: int) -> bool:
        return self.run.dag.has_edge(self.members[node][0], self.members[other][0])

    def ask_child(self, child: int, parent: int) -> bool:
        return self.run.ask(self.members[child])


class _CliqueStages(_Stages):
    def __init__(self, run: Run, component: Sequence[str]) -> None:
        tree = rooted_clique_tree(
            component, {node: dict.fromkeys(run.graph.neighbours(node)) for node in component}
        )
        super().__init__(run, dict(enumerate(tree.cliques)), tree.neighbours())

    def points_at(self, node: int, other: int) -> bool:
        shared = set(self.members[node]) & set(self.members[other])
        own = set(self.members[other]) - shared
        return all(self.run.dag.has_edge(tail, head) for tail in shared for head in own)

    def ask_child(self, child: int, parent: int) -> bool:
        members = self.members[child]
        if self.slips.key_clique_asks_separator:
            return self.run.ask(members)
        return self.run.ask([node for node in members if node not in self.members[parent]])

    def keeps_refused(self) -> bool:
        return self.slips.probed_node_stays


def outcome(
    graph: EssentialGraph, dag: nx.DiGraph[str], reward_variable: str, slips: Slips, rng: random.Random
) -> str:
    """Return "right", "wrong", "nothing" or "endless"."""
    try:
        named = Run(graph, dag, reward_variable, slips, rng).outcome()
    except Endless:
        return "endless"
    if not named:
        return "nothing"
    return "right" if reward_variable in named else "wrong"
