"""Searches for the reward's parents in an essential graph.

A search decides which variable to query next and what the answer rules out. It knows the graph and nothing
of samples. In: a `discovery.EssentialGraph`. Out: a generator that yields `Query` values, receives a `Probe`
for each and returns a `SearchResult`; `solve` drives one to its end.

`tree`, `forest` and `general` are the paper's algorithms with their errors corrected. `sound` is correct on
every graph. `multiple` finds several parents of the reward.
"""

from cb_pgm.search.forest_search import forest, is_forest
from cb_pgm.search.general_search import general
from cb_pgm.search.multiple_search import multiple
from cb_pgm.search.query import Answer, Probe, Query, Search, SearchResult, Step, exact_answers, solve
from cb_pgm.search.sound_search import sound
from cb_pgm.search.tree_search import tree

__all__ = [
    "Answer",
    "Probe",
    "Query",
    "Search",
    "SearchResult",
    "Step",
    "exact_answers",
    "forest",
    "general",
    "is_forest",
    "multiple",
    "solve",
    "sound",
    "tree",
]
