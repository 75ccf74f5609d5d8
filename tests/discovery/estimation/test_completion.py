"""The compiled completion gives the essential graph of the DAGs that extend a graph."""

import networkx as nx
import numpy as np
from graphs import random_dag

from discovery.estimation.completion import completed
from discovery.graphs.characterization import class_of_dag


def essential_matrix(dag):
    n = len(dag)
    matrix = np.zeros((n, n), dtype=np.uint8)
    closed = class_of_dag(map(str, dag), [(str(tail), str(head)) for tail, head in dag.edges])
    for tail, head in closed.arrows():
        matrix[int(tail), int(head)] = 1
    for one, other in closed.lines():
        matrix[int(one), int(other)] = matrix[int(other), int(one)] = 1
    return matrix


def test_dags_and_essential_graphs_have_the_same_completion():
    """300 random DAGs of 1 to 12 nodes."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        n = int(rng.integers(1, 13))
        dag = random_dag(range(n), float(rng.uniform(0, 0.8)), rng)
        expected = essential_matrix(dag)
        assert (completed(nx.to_numpy_array(dag, nodelist=range(n), dtype=np.uint8)) == expected).all()
        assert (completed(expected) == expected).all()


def test_directed_edges_are_kept_and_others_follow():
    """0 → 1 — 2 — 3: Meek's first rule directs all of it, and the class of that has no directed edge."""
    graph = np.zeros((4, 4), dtype=np.uint8)
    graph[0, 1] = 1
    for one, other in ((1, 2), (2, 3)):
        graph[one, other] = graph[other, one] = 1
    assert (completed(graph) == (graph | graph.T)).all()
    graph[3, 1] = graph[3, 2] = 0
    graph[2, 3] = 1
    graph[2, 1] = 0
    graph[1, 2] = 0
    graph[2, 1] = 1
    found = completed(graph)
    assert found[0, 1] == found[2, 1] == 1
    assert found[1, 0] == found[1, 2] == 0
    assert found[2, 3] == found[3, 2] == 1
