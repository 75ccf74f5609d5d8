"""The language between a search and whoever answers it.

A search knows the graph and nothing of samples. It is a generator that yields `Query` values, is sent a
`Probe` for each, and returns a `SearchResult`. `solve` drives one with a function that answers;
`exact_answers` answers from a known graph.
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
        Its neighbours whose edge to it has no known direction; others that move are ignored.
    fixed
        Variables that are held (set) meanwhile, for finding further reward variables, and the state each is
        held at; None, which is all a search can say, since it doesn't know states: at each of its states
        until something moves.
    """

    variable: str
    undecided: tuple[str, ...] = ()
    fixed: Mapping[str, str | None] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Probe:
    """The answer to a `Query`: the reward moves (`is_ancestor`), and so do `children` among the undecided."""

    is_ancestor: bool
    children: frozenset[str] = frozenset()

    def __init__(self, is_ancestor: bool, children: Iterable[str] = ()) -> None:
        object.__setattr__(self, "is_ancestor", bool(is_ancestor))
        object.__setattr__(self, "children", frozenset(children))


@dataclass(frozen=True)
class Step:
    """One question of a search: what was asked, what the answer was, what that ruled out, and why."""

    query: Query
    probe: Probe
    ruled_out: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class SearchResult:
    """What a search ends with.

    Attributes
    ----------
    reward_variables
        The reward's parents as found; empty when none is named.
    candidates
        The smallest set that the answers allow, in node order; equal to `reward_variables` when one is named.
    queries
        Every step taken, in order.
    note
        In words, why none was named or what to know about the result; empty otherwise.
    """

    reward_variables: tuple[str, ...]
    candidates: tuple[str, ...]
    queries: tuple[Step, ...] = field(default=(), repr=False)
    note: str = ""


Search = Generator[Query, Probe, SearchResult]
Answer = Callable[[Query], Probe]


def solve(search: Search, answer: Answer) -> SearchResult:
    """Drive `search` to its end, answering each query with ``answer(query)``.

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
    """Return the function that answers as infinitely many samples from `dag` would, under faithfulness.

    Parameters
    ----------
    dag
        The true causal graph over the variables, the reward left out.
    reward_variables
        The reward's parents.

    Notes
    -----
    With variables held, arrows into them are cut: a variable counts as an ancestor of the reward when a
    directed path leads from it to a reward variable that is not held, and around every held one. O(n + m) a
    query.
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
