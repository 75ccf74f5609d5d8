"""How often each slip of the paper's text leads astray, and how many questions each search needs.

All DAGs on n nodes with arrows i → j for i < j only (that is every DAG up to relabelling), with each node
in turn as X_R, are searched with exact answers by the algorithms of `printed_algorithms`, whose text says
how ties are broken.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations

import networkx as nx
from printed_algorithms import Run as Printed
from printed_algorithms import Slips, outcome
from results_run import Run

from cb_pgm import search
from cb_pgm.search.central_node import central_node
from cb_pgm.search.cliques import rooted_clique_tree
from cb_pgm.search.search_state import SearchState
from discovery import EssentialGraph

__all__ = ["make"]

NODES = 5  # of the DAGs enumerated

#: Returns the number of questions asked on a case, and whether X_R was missed.
Asker = Callable[[EssentialGraph, "nx.DiGraph[str]", str], tuple[int, bool]]


#: Each slip put back alone, everything else mended.
SLIPS: dict[str, Slips] = {
    "none (6 can't be mended)": Slips(),
    "none, ties the other way round": Slips(last_first=True),
    "1 weights come back": Slips(weights_come_back=True, weights_come_back_in_stage_1=True),
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
    state = SearchState(graph)
    for component in graph.chain_components():
        while left := [node for node in component if node in state.candidates]:
            if len(state.candidates) == 1 and state.deepest in state.candidates:
                return state.named(left[0])
            inside = set(left)
            adjacency = {
                node: {other: None for other in graph.neighbours(node) if other in inside} for node in left
            }
            tree = rooted_clique_tree(left, adjacency)
            clique = tree.cliques[central_node(tree.neighbours(), dict.fromkeys(range(len(tree.cliques)), 1))]
            if all(state.asked(variable) for variable in clique):
                clique = tuple(node for node in left if not state.asked(node))[:1]
            for variable in clique:
                moves = yield from state.ask(variable)
                state.conclude(variable, moves)
    return state.unnamed("no variable moved the reward")


def cliques_throughout(graph: EssentialGraph, dag: nx.DiGraph[str], reward_variable: str) -> tuple[int, bool]:
    """Run mended Algorithm 2 with cliques in trees too; return its questions and whether it missed X_R."""
    run = Printed(graph, dag, reward_variable, Slips(trees_by_cliques=True), random.Random(0))
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


def slips_table(n: int, seed: int) -> Iterator[str]:
    """Yield the lines of a table: how each slip fails among all cases, and among those that are forests."""
    cases = [(EssentialGraph.from_dag(dag), dag, node) for dag in all_dags(n) for node in dag]
    forests = [search.is_forest(graph) for graph, _, _ in cases]
    yield f"Failing among all {len(cases)} cases of {n} nodes (among the {sum(forests)} that are forests):\n"
    yield "| put back | named wrongly | endless | names nothing | smallest case |"
    yield "|---|---|---|---|---|"
    for name, slips in SLIPS.items():
        rng = random.Random(seed)
        counts: Counter[tuple[str, bool]] = Counter()
        for (graph, dag, node), is_forest in zip(cases, forests, strict=True):
            counts[outcome(graph, dag, node, slips, rng), is_forest] += 1
        columns = [
            f"{counts[how, False] + counts[how, True]} ({counts[how, True]})"
            for how in ("wrong", "endless", "nothing")
        ]
        yield f"| {name} | {' | '.join(columns)} | {smallest(slips, seed)} |"


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


def questions_table(n: int, seed: int) -> Iterator[str]:
    """Yield the lines of a table: the questions that each search needs, and how often it misses X_R."""
    yield "| graphs | search | cases | questions | per case | X_R missed |"
    yield "|---|---|---|---|---|---|"
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
            yield f"| {name} | {label} | {cases} | {questions} | {questions / cases:.2f} | {missed} |"


def make(run: Run) -> dict[str, str]:
    """Return the tables "slips" and "questions" of cb_pgm/README.md."""
    nodes = 3 if run.quick else NODES
    return {
        "slips": "\n".join(slips_table(nodes, run.seed)),
        "questions": "\n".join(questions_table(nodes, run.seed)),
    }
