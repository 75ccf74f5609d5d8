"""The cost of an estimated graph's errors: the reward's parents that a search no longer identifies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cb_pgm import search

if TYPE_CHECKING:
    import networkx as nx

    from discovery import EssentialGraph

__all__ = ["SearchCost", "search_costs"]


@dataclass(frozen=True)
class SearchCost:
    """How one search ends on a graph, with each variable in turn as the reward's parent.

    Every variable is in exactly one of the three groups.

    Attributes
    ----------
    right
        The variables that the search identifies when they are the reward's parent; for `general`, those that
        are in the clique it returns.
    wrong
        The variables for which it identifies another one, or returns a clique without them.
    none
        The variables for which it identifies nothing.
    questions
        The number of queries over all variables together.
    """

    right: tuple[str, ...]
    wrong: tuple[str, ...]
    none: tuple[str, ...]
    questions: int


def search_costs(estimated: EssentialGraph, dag: nx.DiGraph[str]) -> dict[str, SearchCost]:
    """Run each search on `estimated` with the exact answers of `dag`, once for each variable as X_R.

    Parameters
    ----------
    estimated
        The graph that the searches work on.
    dag
        The true graph, over the same variables.

    Returns
    -------
    dict
        The cost of each search by its name: "general", "sound", and "forest" if every chain component of the
        estimate is a tree.

    Examples
    --------
    >>> import networkx as nx
    >>> from discovery import EssentialGraph
    >>> collider = nx.DiGraph([("A", "C"), ("B", "C")])
    >>> search_costs(EssentialGraph.from_dag(collider), collider)["sound"].right
    ('A', 'C', 'B')
    >>> search_costs(EssentialGraph("ACB", [], [("A", "C")]), collider)["sound"].wrong
    ()
    """
    searches = {"general": search.general, "sound": search.sound}
    if search.is_forest(estimated):
        searches = {"forest": search.forest, **searches}
    costs = {}
    for name, make in searches.items():
        ends: dict[str, list[str]] = {"right": [], "wrong": [], "none": []}
        questions = 0
        for variable in estimated.nodes:
            result = search.solve(make(estimated), search.exact_answers(dag, (variable,)))
            # The paper's general search returns a clique instead of one variable.
            found = result.reward_variables or (result.candidates if name == "general" else ())
            ends["none" if not found else "right" if variable in found else "wrong"].append(variable)
            questions += len(result.queries)
        costs[name] = SearchCost(tuple(ends["right"]), tuple(ends["wrong"]), tuple(ends["none"]), questions)
    return costs
