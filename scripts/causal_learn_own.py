"""causal-learn's own searches on one of our tables: what ours is compared with.

`own_ges` and `own_pc` are untouched. `own_boss` and `own_grasp` are given our counted BDeu score, equal to
causal-learn's, with which they would take minutes a table.
"""

from __future__ import annotations

import random
import warnings
from importlib import import_module
from unittest.mock import patch

from discovery import DiscreteTable
from discovery.estimation import causal_learn
from discovery.estimation.contingency import Contingency
from discovery.estimation.counted_scores import BDeu
from discovery.graphs.mixed_graph import MixedGraph

__all__ = ["own_boss", "own_ges", "own_grasp", "own_pc"]


def own_ges(table: DiscreteTable) -> MixedGraph:
    """Run its GES with its BDeu score."""
    return causal_learn.read_matrix(causal_learn.own_ges(table.codes), table.variables)


def own_pc(table: DiscreteTable) -> MixedGraph:
    """Run its PC with its G² test at level .01 and orientation rule 2, as `estimate` does by default."""
    from causallearn.search.ConstraintBased.PC import pc

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = pc(table.codes, 0.01, "gsq", uc_rule=2, show_progress=False)
    return causal_learn.read_matrix(found.G.graph, table.variables)


def own_boss(table: DiscreteTable) -> MixedGraph:
    """Run its BOSS, from the order of the columns."""
    return _by_orders(table, "BOSS", "boss")


def own_grasp(table: DiscreteTable) -> MixedGraph:
    """Run its GRaSP, from a random order."""
    return _by_orders(table, "GRaSP", "grasp")


def _by_orders(table: DiscreteTable, module_name: str, function: str) -> MixedGraph:
    module = import_module(f"causallearn.search.PermutationBased.{module_name}")
    bdeu = BDeu(Contingency(table.codes, [len(states) for states in table.states.values()]))
    random.seed(0)
    with patch.object(
        module, "local_score_BDeu", lambda _data, i, parents, _=None: bdeu.local_score(i, parents)
    ):
        found = getattr(module, function)(table.codes, "local_score_BDeu", verbose=False)
    return causal_learn.read_matrix(found.graph, table.variables)
