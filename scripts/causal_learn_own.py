"""causal-learn's own searches, untouched, on one of our tables: what ours is compared with."""

from __future__ import annotations

import warnings

from discovery import DiscreteTable
from discovery.estimation.causal_learn import MixedGraph, read_matrix

__all__ = ["own_ges", "own_pc"]


def own_ges(table: DiscreteTable) -> MixedGraph:
    """Run its GES with its BDeu score."""
    from causallearn.search.ScoreBased.GES import ges

    return read_matrix(ges(table.codes, score_func="local_score_BDeu")["G"].graph)


def own_pc(table: DiscreteTable) -> MixedGraph:
    """Run its PC with its G² test at level .01 and orientation rule 2, as `estimate` does by default."""
    from causallearn.search.ConstraintBased.PC import pc

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = pc(table.codes, 0.01, "gsq", uc_rule=2, show_progress=False)
    return read_matrix(found.G.graph)
