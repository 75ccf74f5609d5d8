"""Random and enumerated graphs that tests of all rooms check against.

Every function that draws takes the generator last; Python's and NumPy's both do.
"""

import random
from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations, product

import networkx as nx
import numpy as np

Edges = dict[tuple[Hashable, Hashable], str]

#: The marks that an edge of a mixed graph can bear, read from its first node to its second.
MARKS = ("→", "←", "—", "↔")


# -- all of a kind -------------------------------------------------------------------------------------------


def all_dags(nodes: Sequence[Hashable]) -> Iterator[nx.DiGraph]:
    """Yield every DAG over these nodes: 1, 3, 25, 543, 29,281 of them for 1 to 5 nodes."""
    for marks in product(("", "→", "←"), repeat=len(nodes) * (len(nodes) - 1) // 2):
        edges = dict(zip(combinations(nodes, 2), marks, strict=True))
        dag = nx.DiGraph()
        dag.add_nodes_from(nodes)
        dag.add_edges_from(edge_lists(edges)[0])
        if nx.is_directed_acyclic_graph(dag):
            yield dag


def ordered_dags(n: int) -> Iterator[nx.DiGraph]:
    """Yield the DAGs over X1 … Xn whose arrows go from lower to higher numbers: all up to relabelling."""
    names = [f"X{i + 1}" for i in range(n)]
    pairs = list(combinations(names, 2))
    for chosen in range(2 ** len(pairs)):
        dag = nx.DiGraph()
        dag.add_nodes_from(names)
        dag.add_edges_from(pair for i, pair in enumerate(pairs) if chosen >> i & 1)
        yield dag


def signature(dag: nx.DiGraph) -> tuple[frozenset, frozenset]:
    """Return skeleton and v-structures: the same for all DAGs of a class only (Verma & Pearl 1990)."""
    skeleton = frozenset(frozenset(arrow) for arrow in dag.edges)
    v_structures = frozenset(
        (head, frozenset(tails))
        for head in dag
        for tails in combinations(sorted(dag.predecessors(head)), 2)
        if frozenset(tails) not in skeleton
    )
    return skeleton, v_structures


def equivalence_classes(nodes: Sequence[Hashable]) -> list[list[nx.DiGraph]]:
    """Return all DAGs over these nodes, one list per Markov equivalence class."""
    found: dict[tuple[frozenset, frozenset], list[nx.DiGraph]] = {}
    for dag in all_dags(nodes):
        found.setdefault(signature(dag), []).append(dag)
    return list(found.values())


# -- drawn ---------------------------------------------------------------------------------------------------


def random_dag(
    nodes: Sequence[Hashable], density: float, rng: random.Random | np.random.Generator
) -> nx.DiGraph:
    """Return a DAG over the nodes, in their order: every pair is joined with probability `density`."""
    order = sorted(nodes, key=lambda _: rng.random())
    dag = nx.DiGraph()
    dag.add_nodes_from(nodes)
    dag.add_edges_from(pair for pair in combinations(order, 2) if rng.random() < density)
    return dag


def random_chordal_dag(n: int, largest_clique: int, rng: random.Random) -> nx.DiGraph:
    """Return a connected DAG over X1 … Xn without v-structures: parents form a clique of earlier nodes."""
    dag = nx.DiGraph()
    dag.add_node("X1")
    for i in range(2, n + 1):
        last = f"X{rng.randrange(1, i)}"
        others = list(dag.predecessors(last))
        size = rng.randint(0, min(largest_clique - 2, len(others)))
        dag.add_edges_from((parent, f"X{i}") for parent in [last, *rng.sample(others, size)])
    return dag


def random_tree(n: int, rng: random.Random | np.random.Generator) -> nx.DiGraph:
    """Return a directed tree over 0 … n-1, uniform among the labelled trees and their roots."""
    skeleton = nx.random_labeled_tree(n, seed=rng)
    return directed_tree(skeleton, int(n * rng.random()))


def directed_tree(skeleton: nx.Graph, root: Hashable) -> nx.DiGraph:
    """Return the undirected tree's nodes with its edges pointing away from `root`."""
    dag = nx.DiGraph()
    dag.add_nodes_from(skeleton)
    dag.add_edges_from(nx.bfs_edges(skeleton, root))
    return dag


def shuffled(dag: nx.DiGraph, rng: random.Random) -> nx.DiGraph:
    """Return the same DAG with its nodes in another order, so that their order tells nothing."""
    again = nx.DiGraph()
    again.add_nodes_from(rng.sample(list(dag), len(dag)))
    again.add_edges_from(dag.edges)
    return again


def random_edges(
    nodes: Sequence[Hashable], density: float, rng: random.Random, marks: Sequence[str] = MARKS
) -> Edges:
    """Return a mixed graph: every pair is joined with probability `density` by an edge of any mark."""
    return {pair: rng.choice(marks) for pair in combinations(nodes, 2) if rng.random() < density}


def edge_lists(edges: Edges) -> tuple[list, list, list]:
    """Return a mixed graph's directed, undirected and bidirected edges."""
    directed = [pair if mark == "→" else pair[::-1] for pair, mark in edges.items() if mark in ("→", "←")]
    undirected, bidirected = ([pair for pair, mark in edges.items() if mark == kind] for kind in "—↔")
    return directed, undirected, bidirected


# -- rows ----------------------------------------------------------------------------------------------------


def rows_from(dag: nx.DiGraph, n_states: int, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Draw rows, shape (n_rows, n), from a DAG over 0 … n-1 with random tables; every state occurs."""
    codes = np.zeros((n_rows, len(dag)), dtype=np.int16)
    for node in nx.topological_sort(dag):
        parents = sorted(dag.predecessors(node))
        table = rng.dirichlet(np.ones(n_states), size=n_states ** len(parents))
        row = np.zeros(n_rows, dtype=np.int64)
        for parent in parents:
            row = row * n_states + codes[:, parent]
        cumulative = table.cumsum(axis=1)[row][:, :-1]
        codes[:, node] = (rng.random((n_rows, 1)) > cumulative).sum(axis=1)
    for node in dag:
        codes[rng.choice(n_rows, n_states, replace=False), node] = np.arange(n_states)
    return codes
