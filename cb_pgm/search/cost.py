"""What the errors of an estimated graph cost the searches, in reward variables no longer found."""

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
    """How one search ends on a graph, over every variable that may be the reward's parent.

    Attributes
    ----------
    right
        The variables that it names when they are the reward's parent; for `general`, that are in its clique.
    wrong
        Those for which it names another one, or a clique without them.
    none
        Those for which it names nothing, and says so.
    questions
        How many it asked in all.
    """

    right: tuple[str, ...]
    wrong: tuple[str, ...]
    none: tuple[str, ...]
    questions: int


def search_costs(estimated: EssentialGraph, dag: nx.DiGraph[str]) -> dict[str, SearchCost]:
    """Run each search on `estimated` with the exact answers of `dag`, once for every possible X_R.

    Parameters
    ----------
    estimated
        The graph that a search would work on.
    dag
        The true graph, over the same variables.

    Returns
    -------
    By search: "forest" (where every chain component of the estimate is a tree), "general" and "sound".

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
            # A clique without a single name is what the paper's general search ends in.
            found = result.reward_variables or (result.candidates if name == "general" else ())
            ends["none" if not found else "right" if variable in found else "wrong"].append(variable)
            questions += len(result.queries)
        costs[name] = SearchCost(tuple(ends["right"]), tuple(ends["wrong"]), tuple(ends["none"]), questions)
    return costs
