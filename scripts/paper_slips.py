"""The paper's algorithms as printed, run on every small graph: how often each slip of the text leads astray.

The mended algorithms are written out here once more, close to the pseudo-code of Lu, Meisami & Tewari
(2021), with a switch for each slip that puts the printed text back. All DAGs on n nodes with arrows i → j
for i < j only (that is every DAG up to relabelling), with each node in turn as X_R, are searched with exact
answers.

Order and ties: nodes, neighbours and cliques in the order X1, X2, ...; Find Central Node starts at the
first node and among equal branches takes the first; clique trees come from maximum cardinality search;
components are taken downstream first, those that could come next by their first node.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import networkx as nx

from cb_pgm import search
from cb_pgm.search.central_node import branch, central_node
from cb_pgm.search.cliques import rooted_clique_tree
from cb_pgm.search.forest_search import is_tree
from cb_pgm.search.inquiry import Inquiry
from discovery import EssentialGraph

ENDLESS = 50  # turns of one loop; five nodes never need more than a dozen


#: Returns the number of questions asked on a case, and whether X_R was missed.
Asker = Callable[[EssentialGraph, "nx.DiGraph[str]", str], tuple[int, bool]]


class Endless(Exception):
    """A loop that would never end."""


@dataclass(frozen=True)
class Slips:
    """What is done as printed; everything left False is mended."""

    weights_come_back: bool = False
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
            if self.slips.weights_come_back:
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
        if self.slips.weights_come_back or not any(weights.values()):
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


#: Each slip put back alone, everything else mended.
SLIPS: dict[str, Slips] = {
    "none (6 can't be mended)": Slips(),
    "none, ties the other way round": Slips(last_first=True),
    "1 weights come back": Slips(weights_come_back=True),
    "2 central node never ends on a tie": Slips(central_node_on_ties=True),
    "3a stage 1 has no exit": Slips(no_exit=True),
    "3b the probed node keeps its weight": Slips(probed_node_stays=True),
    "4a components upstream first": Slips(order="upstream"),
    "4b components in random order": Slips(order="random"),
    "5 key clique asks the separator": Slips(key_clique_asks_separator=True),
    "7 trees searched by cliques": Slips(trees_by_cliques=True),
    "8 nothing returned at the end": Slips(nothing_returned_at_the_end=True),
    "all, components downstream first": Slips(True, True, True, True, True, True, True),
}


def all_dags(n: int) -> Iterator[nx.DiGraph[str]]:
    """Yield all DAGs over X1 … Xn with arrows from lower to higher numbers only."""
    nodes = [f"X{i + 1}" for i in range(n)]
    pairs = list(combinations(nodes, 2))
    for chosen in range(2 ** len(pairs)):
        dag: nx.DiGraph[str] = nx.DiGraph()
        dag.add_nodes_from(nodes)
        dag.add_edges_from(pair for i, pair in enumerate(pairs) if chosen >> i & 1)
        yield dag


def random_chordal_dag(n: int, largest_clique: int, rng: random.Random) -> nx.DiGraph[str]:
    """Return a connected DAG without v-structures: each node's parents form a clique of earlier ones."""
    dag: nx.DiGraph[str] = nx.DiGraph()
    dag.add_node("X1")
    for i in range(2, n + 1):
        last = f"X{rng.randrange(1, i)}"
        others = list(dag.predecessors(last))
        size = rng.randint(0, min(largest_clique - 2, len(others)))
        dag.add_edges_from((parent, f"X{i}") for parent in [last, *rng.sample(others, size)])
    return dag


def whole_cliques(graph: EssentialGraph) -> search.Search:
    """The sound search with whole central cliques as its questions."""
    inquiry = Inquiry(graph)
    for component in graph.chain_components():
        while left := [node for node in component if node in inquiry.candidates]:
            if len(inquiry.candidates) == 1 and inquiry.deepest in inquiry.candidates:
                return inquiry.named(left[0])
            inside = set(left)
            adjacency = {
                node: {other: None for other in graph.neighbours(node) if other in inside} for node in left
            }
            tree = rooted_clique_tree(left, adjacency)
            clique = tree.cliques[central_node(tree.neighbours(), dict.fromkeys(range(len(tree.cliques)), 1))]
            if all(inquiry.asked(variable) for variable in clique):
                clique = tuple(node for node in left if not inquiry.asked(node))[:1]
            for variable in clique:
                moves = yield from inquiry.ask(variable)
                inquiry.conclude(variable, moves)
    return inquiry.unnamed("no variable moved the reward")


def cliques_throughout(graph: EssentialGraph, dag: nx.DiGraph[str], reward_variable: str) -> tuple[int, bool]:
    """Run mended Algorithm 2 with cliques in trees too; return its questions and whether it missed X_R."""
    run = Run(graph, dag, reward_variable, Slips(trees_by_cliques=True), random.Random(0))
    named = run.outcome()
    return len(run.asked), reward_variable not in named


def solved_by(searched: Callable[[EssentialGraph], search.Search]) -> Asker:
    def asker(graph: EssentialGraph, dag: nx.DiGraph[str], reward_variable: str) -> tuple[int, bool]:
        result = search.solve(searched(graph), search.exact_answers(dag, [reward_variable]))
        return len(result.queries), reward_variable not in result.candidates

    return asker


ASKERS: dict[str, Asker] = {
    "general, cliques in trees too": cliques_throughout,
    "general": solved_by(search.general),
    "whole cliques": solved_by(whole_cliques),
    "sound": solved_by(search.sound),
}


def print_slips(n: int, seed: int) -> None:
    cases = [(EssentialGraph.from_dag(dag), dag, node) for dag in all_dags(n) for node in dag]
    forests = [search.is_forest(graph) for graph, _, _ in cases]
    print(
        f"\nFailing among all {len(cases)} cases of {n} nodes (among the {sum(forests)} that are forests)\n"
    )
    print("| put back | named wrongly | endless | names nothing | smallest case |")
    print("|---|---|---|---|---|")
    for name, slips in SLIPS.items():
        rng = random.Random(seed)
        counts: Counter[tuple[str, bool]] = Counter()
        for (graph, dag, node), is_forest in zip(cases, forests, strict=True):
            counts[outcome(graph, dag, node, slips, rng), is_forest] += 1
        columns = [
            f"{counts[how, False] + counts[how, True]} ({counts[how, True]})"
            for how in ("wrong", "endless", "nothing")
        ]
        print(f"| {name} | {' | '.join(columns)} | {smallest(slips, seed)} |", flush=True)


def smallest(slips: Slips, seed: int) -> str:
    """Return in words the first case, fewest nodes and arrows first, that fails because of `slips`."""
    for n in range(1, 6):
        for dag in sorted(all_dags(n), key=nx.DiGraph.number_of_edges):
            graph = EssentialGraph.from_dag(dag)
            for node in dag:
                how = outcome(graph, dag, node, slips, random.Random(seed))
                mended = Slips() if slips != Slips() else None
                if how != "right" and (
                    mended is None or outcome(graph, dag, node, mended, random.Random(seed)) == "right"
                ):
                    arrows = (
                        ", ".join(f"{tail} → {head}" for tail, head in dag.edges)
                        or f"{n} node{'s' * (n > 1)}, no arrow"
                    )
                    return f"{arrows}; X_R = {node}: {how}"
    return ""


def print_questions(n: int, seed: int) -> None:
    print("\n| graphs | search | cases | questions | per case | X_R missed |")
    print("|---|---|---|---|---|---|")
    rng = random.Random(seed)
    graphs: dict[str, list[nx.DiGraph[str]]] = {f"all DAGs of {n} nodes": list(all_dags(n))}
    for size, clique in ((10, 4), (20, 4), (20, 8), (40, 4), (100, 6)):
        name = f"chordal, {size} nodes, cliques up to {clique}"
        graphs[name] = [random_chordal_dag(size, clique, rng) for _ in range(50)]
    for name, dags in graphs.items():
        graphs_of = [EssentialGraph.from_dag(dag) for dag in dags]
        for label, asker in ASKERS.items():
            cases = missed = questions = 0
            for graph, dag in zip(graphs_of, dags, strict=True):
                for node in dag:
                    asked, misses = asker(graph, dag, node)
                    cases += 1
                    questions += asked
                    missed += misses
            print(f"| {name} | {label} | {cases} | {questions} | {questions / cases:.2f} | {missed} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=5, help="nodes of the DAGs enumerated (default: 5)")
    parser.add_argument(
        "--seed", type=int, default=0, help="for the random order and the random graphs (default: 0)"
    )
    arguments = parser.parse_args()
    print_slips(arguments.nodes, arguments.seed)
    print_questions(arguments.nodes, arguments.seed)


if __name__ == "__main__":
    main()
