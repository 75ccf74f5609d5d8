"""How a graph is estimated from a table: the settings that every caller carries, in one value.

A knowledge file may set the settings of the search, too, in its table `[search]` (`SEARCH_SETTINGS`); the
command line has no flags for these.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from discovery.estimation.knowledge import SEARCH_SETTINGS, Knowledge, read_knowledge
from discovery.estimation.watch import Deadline
from discovery.wording import count

__all__ = [
    "FEWEST_SEARCHES",
    "METHODS",
    "SCORES",
    "SEARCH_SETTINGS",
    "EstimateSettings",
    "Method",
    "ScoreName",
]

Method = Literal["ges-boss", "ges", "boss", "pc", "chow-liu", "causal-learn-ges", "fci"]

#: The searches for an essential graph by name, the default first. FCI's graph is a PAG.
METHODS: tuple[Method, ...] = tuple(method for method in get_args(Method) if method != "fci")

ScoreName = Literal["bdeu", "bic"]

#: The scores by name, the default first.
SCORES: tuple[ScoreName, ...] = get_args(ScoreName)


#: The largest table, in rows times the square of the columns, of which BOSS orders a hundred resamples in ten
#: seconds or so.
LARGEST_FOR_BOSS = 2_000_000

#: How many resampled tables are searched even where the time is over.
FEWEST_SEARCHES = 20


@dataclass(frozen=True, kw_only=True)
class EstimateSettings:
    """How to estimate the essential graph of a table.

    Attributes
    ----------
    method
        The search for the graph. "ges-boss": BOSS, the best order score search, from the graph that "ges"
        finds and from random orders; never a lower score than GES's, and up to ten columns the highest of
        all. "ges": greedy equivalence search, step by step as in causal-learn. "boss": BOSS from random
        orders. "pc": causal-learn's PC-stable with the G² test. "chow-liu": the tree of most mutual
        information, for variables known to form a tree without colliders. "causal-learn-ges": causal-learn's
        own GES, with its own score and no other settings; minutes on 40 columns.
    knowledge
        What is known of the graph beforehand, and settings of the search, or a TOML file that says so.
    alpha
        PC: above this p-value two variables count as independent.
    uc_rule, uc_priority
        PC: causal-learn's rules for v-structures, 0 to 2 and 0 to 4. Rule 2 orients only what all tests agree
        on.
    max_conditions
        PC: the size of the largest conditioning sets; None: as many as there are neighbours.
    score
        GES and BOSS: "bdeu" or "bic".
    equivalent_sample_size
        GES and BOSS: what the prior of the BDeu score is worth in rows; None: chosen by the data.
    structure_prior
        GES and BOSS: how many parents BDeu expects; None: one.
    time_limit
        Seconds after which all searches of a command have ended, with the best graphs so far; None: no limit.
        They count from when the command begins, and after them no more tables are resampled than 20. What is
        made of the graphs found comes on top.
    """

    method: Method = "ges-boss"
    knowledge: Knowledge | str | os.PathLike[str] | None = None
    alpha: float = 0.01
    uc_rule: int = 2
    uc_priority: int = 2
    max_conditions: int | None = None
    score: ScoreName = "bdeu"
    equivalent_sample_size: float | None = None
    structure_prior: float | None = None
    time_limit: float | Deadline | None = None

    @property
    def known(self) -> Knowledge:
        """The knowledge as a value; a file is read."""
        if self.knowledge is None or isinstance(self.knowledge, Knowledge):
            return self.knowledge or Knowledge()
        return read_knowledge(self.knowledge)

    def resolved(self) -> EstimateSettings:
        """Return the settings with the knowledge as a value, and with what it says of the search.

        From here the time limit counts, for all searches with these settings together.

        Raises
        ------
        KnowledgeError
            If a knowledge file can't be read (`read_knowledge`).
        EstimationError
            If the time limit isn't above 0.
        """
        known = self.known
        settings = replace(self, knowledge=replace(known, search={}), **known.search)
        limit = settings.time_limit
        return (
            replace(settings, time_limit=Deadline.after(limit))
            if isinstance(limit, float | int)
            else settings
        )

    def for_resamples(self, n_rows: int, n_columns: int) -> EstimateSettings:
        """Return the settings with which the graphs of many resampled tables of this size are estimated.

        "ges-boss" becomes "boss", which takes a seventh of the time on alarm, and on larger tables "ges",
        which takes a tenth of that.
        """
        if self.method != "ges-boss":
            return self
        return replace(self, method="boss" if n_rows * n_columns**2 <= LARGEST_FOR_BOSS else "ges")

    def part(self, searches: float) -> EstimateSettings:
        """Return the settings of the next of so many searches, which share the time that is left."""
        if not isinstance(self.time_limit, Deadline):
            return self
        return replace(self, time_limit=self.time_limit.part(searches))

    def of_resample(self, number: int, resamples: int, jobs: int = 1) -> EstimateSettings:
        """Return the settings of the search on one of many resampled tables, counted from 0.

        The first `FEWEST_SEARCHES` share the time that is left. Each of the others may take all of it, since
        a few whole searches say more than many that were ended early.
        """
        left = min(resamples, FEWEST_SEARCHES) - number
        return self.part(max(left / jobs, 1.0))

    def is_enough(self, searches: int) -> bool:
        """Return whether the time is over, and so many resampled tables were searched that they do."""
        limit = self.time_limit
        return isinstance(limit, Deadline) and limit.has_passed and searches >= FEWEST_SEARCHES

    def about_resamples(self, asked: int, searched: int, cut: int) -> tuple[str, ...]:
        """Return what a person should know of the searches on resampled tables.

        Parameters
        ----------
        asked, searched
            How many there were to be, and how many there were.
        cut
            How many were ended early.
        """
        if not isinstance(self.time_limit, Deadline) or (not cut and searched == asked):
            return ()
        limit = f"the time limit of {self.time_limit.seconds:g} s"
        fewer = f"{limit} was enough for {searched} of {count(asked, 'resampled table')}"
        early = f"{limit} ended {cut} of {count(searched, 'search')} on resampled tables"
        return (
            *([fewer] * (searched < asked)),
            *([f"{early}: these are the best graphs so far"] * (cut > 0)),
        )

    def estimate_keywords(self) -> dict[str, Any]:
        """Return the settings as keywords of `discovery.estimate`."""
        return {name: getattr(self, name) for name in EstimateSettings.__dataclass_fields__}
