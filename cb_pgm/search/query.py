"""The messages between a search and the code that answers its queries.

A search is a generator that yields `Query` values, receives a `Probe` for each by `send`, and returns a
`SearchResult`. `solve` drives a search with a function that answers; `exact_answers` returns such a function
for a known graph.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field

import networkx as nx

__all__ = ["Answer", "Probe", "Query", "Search", "SearchResult", "Step", "exact_answers", "solve"]


@dataclass(frozen=True)
class Query:
    """Does setting `variable`, with `fixed` held, move the reward, and which of `undecided` does it move?

    Attributes
    ----------
    variable
        The variable to set, to each of its states in turn.
    undecided
        Its neighbours by undirected edges. Effects on other variables are ignored.
    fixed
        The variables that are held (set) meanwhile, in a search for further parents of the reward, and the
        state of each. The state None means: at each of its states until something moves. Searches always give
        None, since they don't know the states.
    """

    variable: str
    undecided: tuple[str, ...] = ()
    fixed: Mapping[str, str | None] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Probe:
    """The answer to a `Query`.

    Attributes
    ----------
    is_ancestor
        Whether setting the variable moves the reward, so that it is an ancestor of the reward.
    children
        The variables among `Query.undecided` that setting the variable moves, so that they are its children.
    """

    is_ancestor: bool
    children: frozenset[str] = frozenset()

    def __init__(self, is_ancestor: bool, children: Iterable[str] = ()) -> None:
        object.__setattr__(self, "is_ancestor", bool(is_ancestor))
        object.__setattr__(self, "children", frozenset(children))


@dataclass(frozen=True)
class Step:
    """One query of a search with its consequences.

    Attributes
    ----------
    query, probe
        The query and its answer.
    ruled_out
        The candidates that the answer ruled out, in node order.
    reason
        Why, in words; empty if nothing was concluded.
    """

    query: Query
    probe: Probe
    ruled_out: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class SearchResult:
    """The result of a search.

    Attributes
    ----------
    reward_variables
        The identified parents of the reward; empty if none was identified.
    candidates
        The smallest set of possible parents that the answers allow, in node order. It equals
        `reward_variables` if the search identified all parents.
    queries
        One `Step` per query, in order.
    note
        In words, why no parent was identified or how the result is limited; empty otherwise.
    """

    reward_variables: tuple[str, ...]
    candidates: tuple[str, ...]
    queries: tuple[Step, ...] = field(default=(), repr=False)
    note: str = ""


Search = Generator[Query, Probe, SearchResult]
Answer = Callable[[Query], Probe]


def solve(search: Search, answer: Answer) -> SearchResult:
    """Drive `search` to its end with ``answer(query)`` as the answer to each query; return its result.

    Examples
    --------
    >>> from discovery import EssentialGraph
    >>> from cb_pgm.search import tree
    >>> chain = nx.DiGraph([("A", "B"), ("B", "C")])
    >>> solve(tree(EssentialGraph.from_dag(chain)), exact_answers(chain, ("B",))).reward_variables
    ('B',)
    """
    try:
        query = next(search)
        while True:
            query = search.send(answer(query))
    except StopIteration as end:
        result: SearchResult = end.value
        return result


def exact_answers(dag: nx.DiGraph[str], reward_variables: Iterable[str]) -> Answer:
    """Return a function that answers queries as infinitely many samples would, under faithfulness.

    Parameters
    ----------
    dag
        The true causal graph over the variables, the reward left out.
    reward_variables
        The reward's parents.

    Notes
    -----
    Holding variables removes the edges into them. A variable then counts as an ancestor of the reward if a
    directed path that avoids all held variables leads from it to a parent of the reward that isn't held. A
    query takes O(n + m) time for n nodes and m edges.
    """
    targets = frozenset(reward_variables)

    def answer(query: Query) -> Probe:
        held = set(query.fixed)
        reached, frontier = {query.variable}, [query.variable]
        while frontier:
            for child in dag.successors(frontier.pop()):
                if child not in held and child not in reached:
                    reached.add(child)
                    frontier.append(child)
        moves = bool(reached & (targets - held)) if query.variable not in held else False
        return Probe(moves, (other for other in query.undecided if other in reached))

    return answer
