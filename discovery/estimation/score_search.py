"""The graph with the highest score: by GES, by BOSS, or by BOSS from GES's graph; of few variables, of all.

The weight of BDeu's prior decides how many edges a graph has. Unless it is given, it is chosen by the data
([1]_): BDeu is the probability of the table given the graph and the weight, so the search goes to the weight
that makes the table most probable with the graph found so far, and searches anew, until the weight stays. On
shuffled tables of eight kinds that brings the graph nearer to the truth, on average, than any fixed weight
from 300 and 1,000 rows, and as near as the best one from 10,000.

References
----------
.. [1] Steck (2008), Learning the Bayesian network structure: Dirichlet prior versus data, UAI 24.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from discovery.estimation.boss import better_by_orders, run_boss
from discovery.estimation.counted_scores import BIC, BDeu
from discovery.estimation.exact import EXACT_UP_TO, better_of_all
from discovery.estimation.ges import incremental_ges
from discovery.estimation.interventional import DataScore, RegimeCounts
from discovery.estimation.scores import ROUNDING, AdjacencyScore, Pair, Parents, Score, class_score
from discovery.estimation.watch import Watch

__all__ = ["SAMPLE_SIZES", "ScoreSearch", "ScoredGraph"]

#: The weights of the prior, in rows, from which the data choose.
SAMPLE_SIZES = (1.0, 2.0, 5.0, 10.0, 20.0)
_FIRST_SIZE = 5.0


@dataclass(frozen=True)
class ScoredGraph:
    """What a search found, valid, with the score that it was found by.

    Attributes
    ----------
    found
        A DAG of the class.
    score
        The score of the data.
    total
        The score of `found`, in nats, with what required and forbidden pairs add to it.
    """

    found: Parents
    score: DataScore
    total: float


class ScoreSearch:
    """Searches for the graph of one table with the highest score.

    Parameters
    ----------
    counts
        The rows of the table, and which of them count for each variable.
    score
        "bdeu" or "bic".
    equivalent_sample_size
        The weight of BDeu's prior, in rows; None: chosen from `SAMPLE_SIZES` by the data.
    structure_prior
        The expected number of parents, as in `BDeu`.
    required, forbidden
        Pairs of columns that are adjacent, or not adjacent, whatever the data say.
    watch
        May end the search with the best graph so far.
    """

    def __init__(
        self,
        counts: RegimeCounts,
        *,
        score: str = "bdeu",
        equivalent_sample_size: float | None = None,
        structure_prior: float | None = None,
        required: tuple[Pair, ...] = (),
        forbidden: tuple[Pair, ...] = (),
        watch: Watch | None = None,
    ) -> None:
        if score == "bic":
            scores: dict[float, DataScore] = {0.0: counts.score(BIC)}
        else:
            sizes = SAMPLE_SIZES if equivalent_sample_size is None else (equivalent_sample_size,)
            scores = {
                size: counts.score(
                    partial(BDeu, equivalent_sample_size=size, structure_prior=structure_prior)
                )
                for size in sizes
            }
        self._watch = watch or Watch()
        self._scores = scores
        self._known: dict[float, Score] = {
            size: AdjacencyScore(score, counts.everything.n_rows, required, forbidden)
            if required or forbidden
            else score
            for size, score in scores.items()
        }

    def run(self, method: str) -> ScoredGraph:
        """Return the best graph that "ges-boss", "ges" or "boss" finds, valid also if it was ended early."""
        first = _FIRST_SIZE if _FIRST_SIZE in self._scores else next(iter(self._scores))
        if method == "boss":
            return self._rising(first, lambda size: run_boss(self._known[size], self._watch))[0]
        by_ges, size = self._rising(first, self._ges)
        if method == "ges":
            return by_ges

        def ges_and_boss(other: float) -> Parents:
            found = by_ges.found if other == size else self._ges(other)
            return better_by_orders(self._known[other], found, self._watch)

        best = self._rising(size, ges_and_boss)[0]
        if len(best.found) <= EXACT_UP_TO:
            for other, score in self._known.items():
                found = better_of_all(score, best.found, self._watch)
                total = class_score(score, found)
                if total > best.total + ROUNDING:
                    best = ScoredGraph(found, self._scores[other], total)
        return best

    def _ges(self, size: float) -> Parents:
        return incremental_ges(self._known[size], self._watch)

    def _rising(self, size: float, search: Callable[[float], Parents]) -> tuple[ScoredGraph, float]:
        """Search with the weight `size`, then with the best for what was found, until it stays."""
        best: tuple[ScoredGraph, float] | None = None
        while True:
            found = search(size)
            totals = {other: class_score(score, found) for other, score in self._known.items()}
            if best is not None and totals[size] <= best[0].total:
                return best
            best = ScoredGraph(found, self._scores[size], totals[size]), size
            likeliest = max(totals, key=totals.__getitem__)
            if self._watch.reason is not None or likeliest == size:
                return best
            size = likeliest
