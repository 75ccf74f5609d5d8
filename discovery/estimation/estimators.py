"""The searches for a graph as estimators in scikit-learn's manner, with the attributes of pgmpy's."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from discovery.estimation.estimation import EstimatedGraph, estimate
from discovery.estimation.knowledge import Knowledge
from discovery.estimation.settings import Method
from discovery.table.discrete_table import DiscreteTable

if TYPE_CHECKING:
    from pgmpy.base import PDAG

__all__ = ["GES", "PC", "ChowLiu"]


class _GraphEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base class: `fit` estimates the essential graph of a data frame's columns.

    Attributes
    ----------
    causal_graph_
        The essential graph as pgmpy's PDAG.
    adjacency_matrix_
        Data frame [n, n]: 1 where there is an edge from the row's variable to the column's, or an undirected
        one.
    estimate_
        The graph with all that is known about it (`discovery.EstimatedGraph`).
    n_features_in_, feature_names_in_
        The number of columns, and their names.
    """

    _method: ClassVar[Method]

    def fit(self, X: pd.DataFrame, y: object = None) -> Self:
        """Estimate the graph of the columns of `X`, one row an observation; `y` is ignored.

        Columns that can't be variables, such as constants and dates, have no edges.

        Raises
        ------
        DiscoveryError
            If the table can't be used as it is, or a setting is out of its range.
        """
        frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X).rename(columns="x{}".format)
        names = [str(name) for name in frame.columns]
        table = DiscreteTable.from_frame(frame)
        self.estimate_: EstimatedGraph = estimate(table, self._method, **self.get_params())
        graph = self.estimate_.graph
        adjacency = pd.DataFrame(0, index=names, columns=names)
        for tail, head in graph.directed:
            adjacency.loc[tail, head] = 1
        for one, other in graph.undirected:
            adjacency.loc[one, other] = adjacency.loc[other, one] = 1
        self.causal_graph_: PDAG = graph.to_pgmpy()
        self.causal_graph_.add_nodes_from(name for name in names if name not in graph.nodes)
        self.adjacency_matrix_ = adjacency
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        return self


class GES(_GraphEstimator):
    """Greedy equivalence search with the BDeu score (`discovery.estimate`, method "ges").

    Parameters
    ----------
    equivalent_sample_size
        What the prior of the score is worth in rows.
    knowledge
        Background knowledge (`Knowledge`), which the result respects.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.read_csv("data/asia.csv", nrows=2000)[["smoke", "lung", "bronc", "dysp"]]
    >>> GES().fit(X).causal_graph_.number_of_nodes()
    4
    """

    _method = "ges"

    def __init__(self, equivalent_sample_size: float = 1.0, knowledge: Knowledge | None = None) -> None:
        self.equivalent_sample_size = equivalent_sample_size
        self.knowledge = knowledge


class PC(_GraphEstimator):
    """PC-stable with the G² test (`discovery.estimate`, method "pc").

    Parameters
    ----------
    alpha
        Above this p-value two variables count as independent.
    uc_rule
        causal-learn's rule for v-structures, 0 to 2.
    knowledge
        Background knowledge (`Knowledge`), which the result respects.
    """

    _method = "pc"

    def __init__(self, alpha: float = 0.01, uc_rule: int = 2, knowledge: Knowledge | None = None) -> None:
        self.alpha = alpha
        self.uc_rule = uc_rule
        self.knowledge = knowledge


class ChowLiu(_GraphEstimator):
    """The tree of most mutual information (`discovery.estimate`, method "chow-liu").

    Parameters
    ----------
    knowledge
        Background knowledge (`Knowledge`), which the result respects.
    """

    _method = "chow-liu"

    def __init__(self, knowledge: Knowledge | None = None) -> None:
        self.knowledge = knowledge
