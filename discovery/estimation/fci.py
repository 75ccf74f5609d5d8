"""FCI: what a table says of its variables' causes if some common causes of theirs aren't in it ([1]_).

The search is causal-learn's own function ``fci``, given our counted G² test, which remembers its p-values. It
returns a PAG (`discovery.graphs.mixed_graph`): a tail where every graph with hidden causes that implies the
same independencies has one, an arrowhead where every one has one, a circle where they differ. ``A → B`` means
that A is a cause of B, ``A ↔ B`` that neither causes the other, and ``A ∘→ B`` that B doesn't cause A.

References
----------
.. [1] Zhang (2008), On the completeness of orientation rules for causal discovery in the presence of latent
   confounders and selection bias, Artificial Intelligence 172.
"""

from __future__ import annotations

import io
import warnings
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, Any

from discovery.errors import EstimationError
from discovery.estimation.causal_learn import read_matrix
from discovery.estimation.interventional import RegimeCounts
from discovery.estimation.pc import PValue
from discovery.estimation.settings import EstimateSettings
from discovery.estimation.watch import SearchStopped, Watch
from discovery.graphs.mixed_graph import MixedGraph

if TYPE_CHECKING:
    from discovery.table.discrete_table import DiscreteTable

__all__ = ["EstimatedPag", "estimate_pag"]

_TEST = "counted G-square"


@dataclass(frozen=True)
class EstimatedPag:
    """A PAG as the data have it.

    Attributes
    ----------
    graph
        Over the table's variables.
    seconds
        How long it took.
    """

    graph: MixedGraph
    seconds: float = field(compare=False)


def estimate_pag(table: DiscreteTable, settings: EstimateSettings | None = None) -> EstimatedPag:
    """Estimate the PAG of a table's variables, some of whose common causes may not be in it.

    Parameters
    ----------
    table
        The observations. Interventional rows count in the tests that their target isn't in.
    settings
        `alpha`, the level of the tests, and `max_conditions`; None: the defaults.

    Raises
    ------
    EstimationError
        If there is one variable only, the settings have statements of knowledge, which this search can't
        take, or their time limit ends, since an unfinished search has no graph.

    Examples
    --------
    >>> from discovery import read_csv
    >>> table = read_csv("data/asia.csv", ignore=["either", "xray", "dysp", "asia"])
    >>> estimate_pag(table).graph.edges
    (('smoke', 'lung', '∘–∘'), ('smoke', 'bronc', '∘–∘'))
    """
    start = perf_counter()
    settings = (settings or EstimateSettings(method="fci")).resolved()
    if settings.known:
        raise EstimationError("Expected no statements of knowledge with fci but found some: leave them out")
    if len(table.variables) < 2:
        raise EstimationError(
            f"Expected at least two variables but found {len(table.variables)}: add columns"
        )
    from causallearn.search.ConstraintBased.FCI import fci  # late: it takes a second to import

    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):  # it prints edges
        warnings.simplefilter("ignore")
        found, _ = fci(
            table.codes,
            _registered_test(),
            settings.alpha,
            depth=-1 if settings.max_conditions is None else settings.max_conditions,
            show_progress=False,
            p_value=cache(_within(settings, RegimeCounts(table).p_value)),
        )
    return EstimatedPag(read_matrix(found.graph, table.variables), perf_counter() - start)


def _within(settings: EstimateSettings, p_value: PValue) -> PValue:
    """Return the test, which raises EstimationError once the time is over."""
    watch = Watch(settings.time_limit)

    def tested(one: int, other: int, given: tuple[int, ...]) -> float:
        try:
            watch.tick()
        except SearchStopped:
            raise EstimationError(
                f"Expected fci to end in time but found {watch.reason} over: raise it, or set max_conditions"
            ) from None
        return p_value(one, other, given)

    return tested


@cache
def _registered_test() -> str:
    """Make a test known to causal-learn that asks the function `p_value`; return its name."""
    from causallearn.utils.cit import CIT_Base, register_ci_test

    class CountedGSquare(CIT_Base):  # type: ignore[misc]
        def __init__(self, data: Any, p_value: Any) -> None:
            super().__init__(data)
            self.method, self._p_value = _TEST, p_value

        def __call__(self, x: Any, y: Any, condition_set: Any = None) -> float:
            one, other = sorted((int(x), int(y)))
            p_value: float = self._p_value(one, other, tuple(sorted(map(int, condition_set or ()))))
            return p_value

    register_ci_test(_TEST, CountedGSquare)
    return _TEST
