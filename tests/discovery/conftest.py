"""Tables to estimate from: rows drawn from random networks."""

from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest


@pytest.fixture(scope="session")
def rows_from() -> Callable[..., np.ndarray]:
    """Return the function that draws rows from a DAG over 0 … n-1 with random tables; every state occurs."""

    def draw(dag: nx.DiGraph, n_states: int, n_rows: int, rng: np.random.Generator) -> np.ndarray:
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

    return draw


@pytest.fixture(scope="session")
def random_dag() -> Callable[..., nx.DiGraph]:
    """Return the function that draws a DAG over 0 … n-1, each pair adjacent with some probability."""

    def draw(n: int, probability: float, rng: np.random.Generator) -> nx.DiGraph:
        order = rng.permutation(n)
        dag = nx.DiGraph()
        dag.add_nodes_from(range(n))
        dag.add_edges_from(
            (int(order[i]), int(order[j])) for j in range(n) for i in range(j) if rng.random() < probability
        )
        return dag

    return draw
