"""From a table to its essential graph: by GES, BOSS, PC or Chow–Liu, always valid, true to what is known.

Searches by score return a DAG, whose class is the graph. What PC returns often isn't the essential graph of
any DAG: it is repaired, and the changes are listed. Knowledge of which pairs are adjacent takes part in the
search; knowledge of directions is applied to its result (`discovery.estimation.informed`).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import combinations
from time import perf_counter
from typing import TYPE_CHECKING

from discovery.errors import EstimationError
from discovery.estimation.causal_learn import own_ges, read_matrix
from discovery.estimation.chow_liu import best_tree
from discovery.estimation.counted_scores import BDeu
from discovery.estimation.informed import informed_graph
from discovery.estimation.interventional import DataScore, RegimeCounts, with_directions
from discovery.estimation.knowledge import Knowledge
from discovery.estimation.marginals import Marginals
from discovery.estimation.pc import run_pc
from discovery.estimation.score_search import ScoreSearch
from discovery.estimation.scores import Pair, Parents
from discovery.estimation.settings import METHODS, SCORES, EstimateSettings, Method, ScoreName
from discovery.estimation.watch import Deadline, Watch
from discovery.graphs.essential_graph import EssentialGraph
from discovery.graphs.mixed_graph import MixedGraph
from discovery.graphs.repair import Change, repair
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
        One of `METHODS`.
    seconds
        How long it took.
    equivalent_sample_size
        What the prior of BDeu was worth in rows, given or chosen; 1 where it had no part in the search.
    warnings
        What a person should know, one line each.
    is_cut
        Whether the search was ended early.
    """

    graph: EssentialGraph
    repairs: tuple[Change, ...]
    marginals: Marginals = field(repr=False, compare=False)
    method: str
    seconds: float = field(compare=False)
    equivalent_sample_size: float = 1.0
    warnings: tuple[str, ...] = ()
    is_cut: bool = False


def estimate(
    table: DiscreteTable,
    method: Method = METHODS[0],
    *,
    alpha: float = 0.01,
    uc_rule: int = 2,
    uc_priority: int = 2,
    max_conditions: int | None = None,
    score: ScoreName = "bdeu",
    equivalent_sample_size: float | None = None,
    structure_prior: float | None = None,
    knowledge: Knowledge | str | os.PathLike[str] | None = None,
    time_limit: float | Deadline | None = None,
    progress: Callable[[str], object] | None = None,
    interruptible: bool = False,
) -> EstimatedGraph:
    """Estimate the essential graph of a table's variables.

    Parameters
    ----------
    table
        The table. Interventional rows count too, and direct edges, as
        `discovery.estimation.interventional` explains; Chow–Liu's tree is that of the observational rows.
    method
        "ges-boss": BOSS, the best order score search, from the graph that "ges" finds and from random orders;
        never a lower score than GES's, and up to ten columns the highest of all. "ges": greedy equivalence
        search, step by step as in causal-learn. "boss": BOSS from random orders. "pc": causal-learn's
        PC-stable with the G² test. "chow-liu": the tree of most mutual information, for variables known to
        form a tree without colliders. "causal-learn-ges": causal-learn's own GES, with its own score and no
        other settings; minutes on 40 columns.
    alpha
        PC: above this p-value two variables count as independent.
    uc_rule, uc_priority
        PC: causal-learn's rules for v-structures. 2 takes only what all tests agree on, and is by far the
        best.
    max_conditions
        PC: the size of the largest conditioning sets; None: as many as there are neighbours.
    score
        GES and BOSS: "bdeu", the probability of the table given the graph, or "bic", the likelihood less a
        penalty for each parameter.
    equivalent_sample_size
        GES and BOSS: what the prior of BDeu is worth in rows; None: that out of 1, 2, 5, 10 and 20 which
        makes the table most probable (`score_search`).
    structure_prior
        GES and BOSS: how many parents BDeu expects (`BDeu`); None: one, as in causal-learn.
    knowledge
        What is known of the graph beforehand, or a TOML file that says so (`read_knowledge`); the result
        respects all of it. What it says of the search goes before the parameters above and below.
    time_limit
        Seconds after which the search ends with the best graph so far, or a moment; None: no limit. PC ends
        with the largest conditioning sets that it had time for, but with one variable at least. Chow–Liu's
        tree takes little time and ignores the limit, and so does causal-learn's GES.
    progress
        Called with a text that says how far GES or BOSS is, up to five times a second.
    interruptible
        Whether the first Ctrl-C ends the search with the best graph so far, as a limit does.

    Warns
    -----
    UserWarning
        If the search ended early, or PC had to leave out large conditioning sets; the result's ``warnings``
        say so too.

    Raises
    ------
    EstimationError
        If the method is unknown, a setting is out of its range, or there is one variable only.
    KnowledgeError
        If the knowledge names a variable that the table doesn't have.
    """
    start = perf_counter()
    chosen = EstimateSettings(
        method=method,
        knowledge=knowledge,
        alpha=alpha,
        uc_rule=uc_rule,
        uc_priority=uc_priority,
        max_conditions=max_conditions,
        score=score,
        equivalent_sample_size=equivalent_sample_size,
        structure_prior=structure_prior,
        time_limit=time_limit,
    ).resolved()
    known = chosen.known
    known.check_names(table.variables)
    _check_settings(chosen)
    if table.interventional is not None and table.n_rows < MIN_ROWS:
        raise EstimationError(
            f"Expected at least {MIN_ROWS} observational rows to estimate a graph from but "
            f"found {table.n_rows}: add observations, or use a policy that needs no graph (screening, moss)"
        )
    method = chosen.method
    watch = Watch(chosen.time_limit, progress)
    counts = RegimeCounts(table)
    required, forbidden = _adjacencies(known, table.variables)
    weight = 1.0 if chosen.equivalent_sample_size is None else chosen.equivalent_sample_size
    counted: DataScore = counts.score(
        lambda rows: BDeu(rows, equivalent_sample_size=weight, structure_prior=chosen.structure_prior)
    )
    notes: tuple[str, ...] = ()
    changes: list[Change] = []
    names = table.variables
    with watch.interruptible() if interruptible else nullcontext():
        if method == "pc":
            matrix, notes = run_pc(
                len(names), counts.p_value, chosen, required=required, forbidden=forbidden, watch=watch
            )
            graph, changes = _mended(read_matrix(matrix, names))
        elif method == "causal-learn-ges":
            graph, changes = _mended(read_matrix(own_ges(table.codes), names))
        elif method == "chow-liu":
            tree = best_tree(counts.untouched, required, forbidden)
            graph = EssentialGraph(names, [], [(names[one], names[other]) for one, other in tree])
        else:
            search = ScoreSearch(
                counts,
                score=chosen.score,
                equivalent_sample_size=chosen.equivalent_sample_size,
                structure_prior=chosen.structure_prior,
                required=required,
                forbidden=forbidden,
                watch=watch,
            )
            best = search.run(method)
            graph, counted = _class_of(best.found, names), best.score
    notes = (*notes, *_early_end(watch))
    for note in notes:
        warnings.warn(note, stacklevel=2)
    if known:
        number = {name: i for i, name in enumerate(table.variables)}
        graph, more = informed_graph(
            graph, known, lambda one, other: counted.edge_gain(number[one], number[other])
        )
        changes += more
    graph = with_directions(graph, counted)
    return EstimatedGraph(
        graph=graph,
        repairs=tuple(changes),
        marginals=Marginals.from_table(table),
        method=method,
        seconds=perf_counter() - start,
        equivalent_sample_size=counted.equivalent_sample_size,
        warnings=(*notes, *_few_rows(table)),
        is_cut=watch.reason is not None,
    )


def _check_settings(settings: EstimateSettings) -> None:
    alpha, uc_rule, uc_priority = settings.alpha, settings.uc_rule, settings.uc_priority
    for what, chosen, known in (("method", settings.method, METHODS), ("score", settings.score, SCORES)):
        if chosen not in known:
            suggestion = did_you_mean(chosen, known)
            if chosen == "fci":
                suggestion = "it finds a PAG, which only `discover` takes"
            raise EstimationError(
                f"Expected the {what} {', '.join(known[:-1])} or {known[-1]} but found {chosen!r}: "
                f"{suggestion}"
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
    if settings.max_conditions is not None and settings.max_conditions < 1:
        raise EstimationError(f"Expected max_conditions of at least 1 but found {settings.max_conditions}")


def _adjacencies(known: Knowledge, variables: Sequence[str]) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    """Return the pairs of columns known to be adjacent and those known not to be, smaller number first."""
    if not known:
        return (), ()
    number = {name: i for i, name in enumerate(variables)}
    required = {tuple(sorted((number[tail], number[head]))): None for tail, head in known.required}
    pairs = combinations(range(len(variables)), 2)
    forbidden = (pair for pair in pairs if not known.may_be_adjacent(*(variables[i] for i in pair)))
    return tuple((i, j) for i, j in required), tuple(forbidden)


def _mended(found: MixedGraph) -> tuple[EssentialGraph, list[Change]]:
    return repair(found.nodes, found.having("→"), found.having("—"), found.having("↔"))


def _class_of(parents: Parents, names: Sequence[str]) -> EssentialGraph:
    arrows = [(names[tail], names[head]) for head, tails in enumerate(parents) for tail in tails]
    return EssentialGraph.from_arrows(names, arrows)


def _early_end(watch: Watch) -> tuple[str, ...]:
    if watch.reason is None:
        return ()
    return (f"the search was ended by {watch.reason}: this is the best graph so far",)


def _few_rows(table: DiscreteTable) -> tuple[str, ...]:
    n = len(table.variables)
    if table.n_rows >= n:
        return ()
    return (f"fewer rows ({table.n_rows}) than variables ({n}): the estimated graph will have many errors",)
