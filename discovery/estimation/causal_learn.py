"""Read causal-learn's graphs, and run its own GES.

The modules of causal-learn are imported where they are used, since that takes over a second.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discovery.graphs.mixed_graph import MixedGraph

__all__ = ["own_ges", "read_matrix"]

_MARKS = {(-1, 1): "→", (-1, -1): "—", (1, 1): "↔", (2, 1): "∘→", (2, 2): "∘–∘", (2, -1): "∘–"}
"""The marks of an edge by the two entries of the matrix, at its first and at its second node."""


def own_ges(codes: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return the matrix of the graph that causal-learn's GES finds with its own BDeu score.

    Parameters
    ----------
    codes
        int [N, n], the index of each variable's state in each row.
    """
    if codes.shape[1] == 1:  # its prior divides by the number of other variables
        return np.zeros((1, 1), dtype=np.int64)
    from causallearn.search.ScoreBased.GES import ges

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: NDArray[np.integer] = ges(codes, score_func="local_score_BDeu")["G"].graph
    return found


def read_matrix(matrix: NDArray[np.integer], nodes: Sequence[str]) -> MixedGraph:
    """Return the graph of causal-learn's matrix, int [n, n].

    M[i, j] is the mark at i of the edge between i and j: −1 a tail, 1 an arrowhead, 2 a circle; 0 where
    there is no edge.
    """
    edges = []
    for i, j in combinations(range(len(nodes)), 2):
        one, other, ends = nodes[i], nodes[j], (int(matrix[i, j]), int(matrix[j, i]))
        if ends not in _MARKS:
            one, other, ends = other, one, ends[::-1]
        if ends != (0, 0):
            edges.append((one, other, _MARKS[ends]))
    return MixedGraph(tuple(nodes), tuple(edges))
