"""Check a graph of one's own against a table: which independencies that it implies does the table refute?

A DAG implies that every variable is independent of its non-descendants given its parents (the local Markov
property), and everything else that it implies about independence follows from that. `check_graph` tests it
pair by pair: each variable against each non-descendant that isn't its parent, given its parents, by G². All
DAGs of an equivalence class imply the same independencies, so one of them is tested. A complete graph implies
none, and can't be refuted.

A PAG implies that two variables without an edge are independent given all ancestors of either, in a graph of
its class ([2]_, the pairwise Markov property of maximal ancestral graphs); that is tested for each such pair.

Many tests are made, so the p-values are adjusted ([1]_): if the graph is right, the probability that any test
fails is at most the level. Where the table has fewer than five rows for each degree of freedom, G² isn't near
its χ² distribution; such an independence isn't tested.

That a test doesn't fail shows little in a small table, and an edge too many never makes one fail. The
score prefers fewer edges, and shows that: compare `graph_score` with that of the estimated graph.

References
----------
.. [1] Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of
   Statistics 6(2).
.. [2] Richardson & Spirtes (2002), Ancestral graph Markov models, Annals of Statistics 30(4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import fsum
from typing import TYPE_CHECKING

import networkx as nx

from discovery.errors import EstimationError, GraphError
from discovery.estimation.contingency import Contingency
from discovery.estimation.counted_scores import BIC, BDeu, CountedScore, GSquare
from discovery.graphs.essential_graph import EssentialGraph
from discovery.graphs.mixed_graph import MixedGraph
from discovery.wording import quoted_list

if TYPE_CHECKING:
    from discovery.table.discrete_table import DiscreteTable

__all__ = ["GraphCheck", "IndependenceTest", "check_graph", "graph_score", "implied_independencies"]

#: With fewer rows than this for each degree of freedom an independence isn't tested.
ROWS_FOR_EACH = 5

Independence = tuple[str, str, tuple[str, ...]]


@dataclass(frozen=True)
class IndependenceTest:
    """An independence that the graph implies, ``one ⊥ other | given``, and its test.

    Attributes
    ----------
    one, other, given
        The two variables, and the variables given.
    statistic, degrees_of_freedom, p_value
        Of the G² test.
    adjusted_p_value
        Holm's: the independence fails at every family-wise level above this one.
    """

    one: str
    other: str
    given: tuple[str, ...]
    statistic: float
    degrees_of_freedom: int
    p_value: float
    adjusted_p_value: float

    def __str__(self) -> str:
        given = f" given {', '.join(self.given)}" if self.given else ""
        return f"{self.one} independent of {self.other}{given}"


@dataclass(frozen=True)
class GraphCheck:
    """The result of `check_graph`.

    Attributes
    ----------
    tests
        All independencies that were tested, that with the lowest p-value first (of equal ones that with the
        highest statistic).
    untested
        The number of implied independencies for which the table has too few rows.
    level
        The family-wise level.
    """

    tests: tuple[IndependenceTest, ...]
    untested: int
    level: float

    @property
    def failed(self) -> tuple[IndependenceTest, ...]:
        """The independencies that the table refutes, the worst first."""
        return tuple(test for test in self.tests if test.adjusted_p_value <= self.level)


def check_graph(graph: EssentialGraph | MixedGraph, table: DiscreteTable, level: float = 0.05) -> GraphCheck:
    """Test the independencies that a graph implies on the observational rows of a table.

    Parameters
    ----------
    graph
        An essential graph or a PAG over the table's variables, in any order.
    table
        The observations.
    level
        The probability, at most, that an independence fails although all hold.

    Raises
    ------
    GraphError
        If the graph's nodes aren't the table's variables.
    EstimationError
        If the level isn't between 0 and 1.

    Notes
    -----
    At most n² tests for n variables.

    Examples
    --------
    >>> from discovery import read_csv
    >>> table = read_csv("data/kidney_stones.csv")
    >>> empty = EssentialGraph(table.variables, [], [])
    >>> [str(test) for test in check_graph(empty, table).failed][:1]
    ['size independent of treatment']
    """
    _check_names(graph, table)
    if not 0 < level < 1:
        raise EstimationError(f"Expected a level between 0 and 1 but found {level}: take .05")
    number = {name: i for i, name in enumerate(table.variables)}
    square = GSquare(Contingency(table.codes, [len(states) for states in table.states.values()]))
    found, untested = [], 0
    for one, other, given in implied_independencies(graph):
        result = square.test(number[one], number[other], [number[name] for name in given])
        if ROWS_FOR_EACH * result.degrees_of_freedom > table.n_rows:
            untested += 1
        else:
            found.append((result.p_value, -result.statistic, one, other, given, result.degrees_of_freedom))
    found.sort(key=lambda test: test[:2])
    tests, highest = [], 0.0
    for rank, (p_value, negative, one, other, given, freedom) in enumerate(found):
        highest = max(highest, min(1.0, p_value * (len(found) - rank)))
        tests.append(IndependenceTest(one, other, given, -negative, freedom, p_value, highest))
    return GraphCheck(tuple(tests), untested, level)


def graph_score(
    graph: EssentialGraph, table: DiscreteTable, score: str = "bdeu", equivalent_sample_size: float = 1.0
) -> float:
    """Return the score of the graph's equivalence class on the observational rows, in nats.

    Parameters
    ----------
    graph
        A graph over the table's variables, in any order.
    table
        The observations.
    score
        "bdeu" or "bic".
    equivalent_sample_size
        What BDeu's prior is worth in rows.

    Raises
    ------
    GraphError
        If the graph's nodes aren't the table's variables.
    """
    _check_names(graph, table)
    number = {name: i for i, name in enumerate(table.variables)}
    counts = Contingency(table.codes, [len(states) for states in table.states.values()])
    counted: CountedScore = (
        BIC(counts) if score == "bic" else BDeu(counts, equivalent_sample_size=equivalent_sample_size)
    )
    dag = graph.consistent_extension()
    return fsum(
        counted.local_score(number[node], [number[parent] for parent in dag.predecessors(node)])
        for node in dag
    )


def implied_independencies(graph: EssentialGraph | MixedGraph) -> Iterator[Independence]:
    """Yield (one, other, given): a variable, a non-descendant and its parents, in one DAG of the class.

    Of a PAG: two variables without an edge, and all ancestors of either.

    An independence that holds for both variables given the same set is yielded once.

    Examples
    --------
    >>> list(implied_independencies(EssentialGraph("ABC", [("A", "B"), ("C", "B")], [])))
    [('A', 'C', ())]
    """
    if isinstance(graph, MixedGraph):
        yield from _implied_by_pag(graph)
        return
    dag = graph.consistent_extension()
    position = {node: i for i, node in enumerate(graph.nodes)}
    seen: set[tuple[frozenset[str], tuple[str, ...]]] = set()
    for node in graph.nodes:
        parents = tuple(sorted(dag.predecessors(node), key=position.__getitem__))
        related = {node, *parents} | nx.descendants(dag, node)
        for other in graph.nodes:
            key = frozenset((node, other)), parents
            if other not in related and key not in seen:
                seen.add(key)
                yield node, other, parents


def _implied_by_pag(graph: MixedGraph) -> Iterator[Independence]:
    member = graph.member()
    joined = {frozenset(edge[:2]) for edge in graph.edges}
    for one, other in combinations(graph.nodes, 2):
        if frozenset((one, other)) not in joined:
            above = (nx.ancestors(member, one) | nx.ancestors(member, other)) - {one, other}
            yield one, other, tuple(node for node in graph.nodes if node in above)


def _check_names(graph: EssentialGraph | MixedGraph, table: DiscreteTable) -> None:
    odd = sorted(set(graph.nodes) ^ set(table.variables))
    if odd:
        raise GraphError(
            f"Expected a graph over the table's variables but found {quoted_list(odd)} in one of the two "
            "only: rename or ignore them"
        )
