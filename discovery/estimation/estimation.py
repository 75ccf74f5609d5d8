"""From a table to its essential graph: by GES, PC or Chow–Liu, always valid, true to what is known.

Whatever the search returns is checked. Where it isn't the essential graph of any DAG (PC's often isn't), it
is repaired, and the changes are listed. Knowledge of which pairs are adjacent takes part in the search;
knowledge of directions is applied to its result (`discovery.estimation.informed`).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING

from discovery.errors import EstimationError, GraphError
from discovery.estimation.causal_learn import MixedGraph, Pair
from discovery.estimation.chow_liu import best_tree
from discovery.estimation.contingency import Contingency
from discovery.estimation.counted_scores import BDeu, GSquare
from discovery.estimation.ges_search import run_ges
from discovery.estimation.informed import informed_graph
from discovery.estimation.knowledge import Knowledge, read_knowledge
from discovery.estimation.marginals import Marginals
from discovery.estimation.pc_search import PCSettings, run_pc
from discovery.estimation.settings import METHODS
from discovery.graphs.essential_graph import EssentialGraph
from discovery.repairs.repairs import Change, repair
from discovery.table.rows import MIN_ROWS
from discovery.wording import did_you_mean

if TYPE_CHECKING:
    from discovery.table.discrete_table import DiscreteTable

__all__ = ["EstimatedGraph", "estimate"]

#: causal-learn's priorities for each of its rules.
_PRIORITIES = {0: (0, 1, 2, 3, 4), 1: (0, 1, 2, 3, 4), 2: (2, 3, 4)}


@dataclass(frozen=True)
class EstimatedGraph:
    """A graph as the data have it, and what to know about it.

    Attributes
    ----------
    graph
        Always valid; with knowledge of directions beyond the class as its background.
    repairs
        What had to be changed in the search's result, first to make it valid, then to agree with what is
        known.
    marginals
        The observed frequencies.
    method
        "ges", "pc" or "chow-liu".
    seconds
        How long it took.
    warnings
        What a person should know, one line each.
    """

    graph: EssentialGraph
    repairs: tuple[Change, ...]
    marginals: Marginals = field(repr=False, compare=False)
    method: str
    seconds: float = field(compare=False)
    warnings: tuple[str, ...] = ()


def estimate(
    table: DiscreteTable,
    method: str = "ges",
    *,
    alpha: float = 0.01,
    uc_rule: int = 2,
    uc_priority: int = 2,
    max_conditions: int | None = None,
    equivalent_sample_size: float = 1.0,
    structure_prior: float | None = None,
    knowledge: Knowledge | str | os.PathLike[str] | None = None,
) -> EstimatedGraph:
    """Estimate the essential graph of a table's variables.

    Parameters
    ----------
    table
        The observations.
    method
        "ges": causal-learn's greedy equivalence search with the BDeu score. "pc": causal-learn's PC-stable
        with the G² test. "chow-liu": the tree of most mutual information, for variables known to form a
        tree without colliders.
    alpha
        PC: above this p-value two variables count as independent.
    uc_rule, uc_priority
        PC: causal-learn's rules for v-structures. 2 takes only what all tests agree on, and is by far the
        best.
    max_conditions
        PC: the size of the largest conditioning sets; None: as many as there are neighbours.
    equivalent_sample_size, structure_prior
        GES: what the prior is worth in rows, and how many parents it expects (`BDeu`); the defaults are
        causal-learn's.
    knowledge
        What is known of the graph beforehand, or a TOML file that says so (`read_knowledge`); the result
        respects all of it.

    Warns
    -----
    UserWarning
        If this causal-learn can't be given our score or test, or PC had to leave out large conditioning
        sets; the result's ``warnings`` say so too.

    Raises
    ------
    EstimationError
        If the method is unknown, a setting is out of its range, or there is one variable only.
    KnowledgeError
        If the knowledge speaks of a variable that the table doesn't have.
    """
    start = perf_counter()
    known = knowledge or Knowledge()
    if not isinstance(known, Knowledge):
        known = read_knowledge(known)
    known.check_names(table.variables)
    _check_settings(method, alpha, uc_rule, uc_priority, max_conditions)
    if table.interventional is not None and table.n_rows < MIN_ROWS:
        raise EstimationError(
            f"Expected at least {MIN_ROWS} rows in which nothing was set, to estimate a graph from, but "
            f"found {table.n_rows}: add observations, or use a policy that needs no graph (screening, moss)"
        )
    counts = Contingency(table.codes, [len(states) for states in table.states.values()])
    bdeu = BDeu(counts, equivalent_sample_size=equivalent_sample_size, structure_prior=structure_prior)
    required, forbidden = _adjacencies(known, table.variables)
    if method == "ges":
        found = _ges(table, bdeu, required, forbidden)
    elif method == "pc":
        settings = PCSettings(alpha, uc_rule, uc_priority, max_conditions, required, forbidden)
        test = GSquare(counts).test
        found = run_pc(table.codes, lambda x, y, given: test(x, y, given).p_value, settings)
    else:
        found = best_tree(counts, required=required, forbidden=forbidden)
    for note in found.warnings:
        warnings.warn(note, stacklevel=2)
    graph, changes = _validated(found, table.variables, bdeu)
    if known:
        number = {name: i for i, name in enumerate(table.variables)}
        graph, more = informed_graph(
            graph, known, lambda one, other: bdeu.edge_gain(number[one], number[other])
        )
        changes.extend(more)
    return EstimatedGraph(
        graph=graph,
        repairs=tuple(changes),
        marginals=Marginals.from_table(table),
        method=method,
        seconds=perf_counter() - start,
        warnings=(*found.warnings, *_few_rows(table)),
    )


def _check_settings(
    method: str, alpha: float, uc_rule: int, uc_priority: int, max_conditions: int | None
) -> None:
    if method not in METHODS:
        suggestion = did_you_mean(method, METHODS) or "choose one of these"
        raise EstimationError(
            f"Expected the method {', '.join(METHODS[:-1])} or {METHODS[-1]} but found "
            f"{method!r}: {suggestion}"
        )
    if not 0 < alpha < 1:
        raise EstimationError(f"Expected an alpha between 0 and 1 but found {alpha}")
    if uc_rule not in _PRIORITIES:
        raise EstimationError(f"Expected the uc_rule 0, 1 or 2 but found {uc_rule}")
    if uc_priority not in _PRIORITIES[uc_rule]:
        allowed = ", ".join(map(str, _PRIORITIES[uc_rule]))
        raise EstimationError(
            f"Expected a uc_priority out of {allowed} with uc_rule {uc_rule} but found {uc_priority}"
        )
    if max_conditions is not None and max_conditions < 1:
        raise EstimationError(f"Expected max_conditions of at least 1 but found {max_conditions}")


def _adjacencies(known: Knowledge, variables: Sequence[str]) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    """Return the pairs of columns known to be adjacent and those known not to be, smaller number first."""
    if not known:
        return (), ()
    number = {name: i for i, name in enumerate(variables)}
    required = {tuple(sorted((number[tail], number[head]))): None for tail, head in known.required}
    pairs = combinations(range(len(variables)), 2)
    forbidden = (pair for pair in pairs if not known.may_be_adjacent(*(variables[i] for i in pair)))
    return tuple((i, j) for i, j in required), tuple(forbidden)


def _ges(table: DiscreteTable, bdeu: BDeu, required: Sequence[Pair], forbidden: Sequence[Pair]) -> MixedGraph:
    """Run GES where a forbidden edge costs everything, and a required one gains more than data can cost.

    DAGs of one class have the same adjacencies, so they still score alike and the search is still right.
    """
    never = {frozenset(pair) for pair in forbidden}
    always = {frozenset(pair) for pair in required}
    gain = 1000.0 + 100.0 * table.n_rows  # an edge costs less than log(2^63) nats a row

    def score(variable: int, parents: Sequence[int]) -> float:
        edges = [frozenset((variable, int(parent))) for parent in parents]
        if any(edge in never for edge in edges):
            return -inf
        return bdeu.local_score(variable, parents) + gain * sum(edge in always for edge in edges)

    return run_ges(table.codes, score if never or always else bdeu.local_score)


def _validated(
    found: MixedGraph, variables: Sequence[str], bdeu: BDeu
) -> tuple[EssentialGraph, list[Change]]:
    directed, undirected, bidirected = (
        [(variables[i], variables[j]) for i, j in pairs]
        for pairs in (found.directed, found.undirected, found.bidirected)
    )
    if not bidirected:
        try:
            return EssentialGraph(variables, directed, undirected), []
        except GraphError:
            pass  # what is wrong with it is in the list of repairs
    evidence = {(variables[i], variables[j]): gain for (i, j), gain in _evidence(found, bdeu).items()}
    return repair(variables, directed, undirected, bidirected, evidence)


def _evidence(found: MixedGraph, bdeu: BDeu) -> dict[Pair, float]:
    """Return what each edge gains in BDeu, at the least of: alone, and given one neighbour of either end."""
    n = bdeu.contingency.n_variables
    neighbours: list[dict[int, None]] = [{} for _ in range(n)]
    for i, j in (*found.directed, *found.undirected, *found.bidirected):
        neighbours[i][j] = neighbours[j][i] = None
    gains = {pair: bdeu.edge_gain(*pair) for pair in combinations(range(n), 2)}
    for (i, j), gain in gains.items():
        if gain > 0:
            others = (k for k in (neighbours[i] | neighbours[j]) if k not in (i, j))
            gains[i, j] = min([gain, *(bdeu.edge_gain(i, j, (k,)) for k in others)])
    return gains


def _few_rows(table: DiscreteTable) -> tuple[str, ...]:
    n = len(table.variables)
    if table.n_rows >= n:
        return ()
    return (f"fewer rows ({table.n_rows}) than variables ({n}): the estimated graph will have many errors",)
