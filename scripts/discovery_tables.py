"""Tables with known graphs, for measuring how well and how fast graphs are estimated."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path

import networkx as nx
import numpy as np
from make_data import forward_sample, read_network
from numpy.typing import NDArray

from discovery import DiscreteTable, EssentialGraph

__all__ = ["network_table", "random_dag_table", "shuffled", "tree_table"]

DATA = Path(__file__).resolve().parent.parent / "data"

TableAndTruth = tuple[DiscreteTable, EssentialGraph]


def network_table(name: str, n_rows: int, seed: int) -> TableAndTruth:
    """Draw rows from one of the networks in data/."""
    network = read_network(DATA / f"{name}.bif")
    drawn = forward_sample(network, n_rows, np.random.default_rng(seed))
    dag: nx.DiGraph[str] = nx.DiGraph()
    dag.add_nodes_from(network.nodes)
    dag.add_edges_from(network.edges)
    return _table(dag, np.stack([drawn[variable] for variable in dag], axis=1))


def tree_table(n: int, n_states: Sequence[int], n_rows: int, seed: int) -> TableAndTruth:
    """Draw rows from a random recursive tree; tables are from Dirichlet(1), state numbers from `n_states`."""
    rng = np.random.default_rng(seed)
    dag: nx.DiGraph[str] = nx.DiGraph()
    dag.add_nodes_from(f"X{i}" for i in range(n))
    dag.add_edges_from((f"X{rng.integers(child)}", f"X{child}") for child in range(1, n))
    return _table(dag, _rows(dag, n_states, n_rows, rng))


def random_dag_table(
    n: int, n_states: Sequence[int], n_rows: int, seed: int, *, parents: float
) -> TableAndTruth:
    """Draw rows from a random DAG with so many parents per variable on average; tables as for trees."""
    rng = np.random.default_rng(seed)
    order = [f"X{i}" for i in rng.permutation(n)]
    pairs = ((order[i], order[j]) for j in range(n) for i in range(j))
    dag: nx.DiGraph[str] = nx.DiGraph()
    dag.add_nodes_from(order)
    dag.add_edges_from(pair for pair in pairs if rng.random() < 2 * parents / (n - 1))
    return _table(dag, _rows(dag, n_states, n_rows, rng))


def shuffled(drawn: TableAndTruth, seed: int) -> TableAndTruth:
    """Return the same table and truth with the columns in a random order.

    `tree_table` and the networks have causes before effects, which helps searches over orders.
    """
    table, truth = drawn
    order = np.random.default_rng([seed, 1]).permutation(len(table.variables))
    names = [table.variables[i] for i in order]
    codes = np.asfortranarray(table.codes[:, order])
    again = DiscreteTable(codes, {name: table.states[name] for name in names})
    return again, EssentialGraph(names, truth.directed, truth.undirected)


def _rows(
    dag: nx.DiGraph[str], n_states: Sequence[int], n_rows: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    drawn: dict[str, NDArray[np.int64]] = {}
    sizes = {node: int(rng.choice(n_states)) for node in dag}
    for node in nx.lexicographical_topological_sort(dag):
        parents = list(dag.predecessors(node))
        rows_of_table = prod(sizes[parent] for parent in parents)
        table = rng.dirichlet(np.ones(sizes[node]), size=rows_of_table).cumsum(axis=1)
        row = np.zeros(n_rows, dtype=np.int64)
        for parent in parents:
            row = row * sizes[parent] + drawn[parent]
        drawn[node] = (rng.random((n_rows, 1)) > table[row][:, :-1]).sum(axis=1)
    return np.stack([drawn[node] for node in dag], axis=1)


def _table(dag: nx.DiGraph[str], codes: NDArray[np.int64]) -> TableAndTruth:
    """Keep the states that occur, as `read_csv` and causal-learn do; a constant column keeps its one."""
    seen = [np.unique(column, return_inverse=True) for column in codes.T]
    states = {node: tuple(map(str, values)) for node, (values, _) in zip(dag, seen, strict=True)}
    compact = np.stack([indices for _, indices in seen], axis=1).astype(np.int16)
    return DiscreteTable(np.asfortranarray(compact), states), EssentialGraph.from_dag(dag)
