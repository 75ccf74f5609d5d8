"""Searches for the reward variable: which variable to ask about next, and what an answer rules out.

`tree`, `forest` and `general` are the paper's, mended; `sound` is right on every graph; `multiple` finds
several reward variables. Each takes a `discovery.EssentialGraph` and is a generator; `solve` drives one.
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
