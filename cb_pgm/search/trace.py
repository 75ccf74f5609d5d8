"""The trace of a search: each query, its cost in rounds, its answer and the variables that it ruled out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cb_pgm.search.query import Probe, Query, Search, SearchResult, Step, solve
from cb_pgm.search.search_state import SearchState
from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["QueryRecord", "SearchTrace"]


@dataclass(frozen=True)
class QueryRecord:
    """One query of a search as a policy answered it.

    Attributes
    ----------
    query, probe
        The query and its answer.
    pulls
        The number of rounds between the previous answer and this one.
    reward_change
        The largest observed difference in mean reward between setting the variable and not setting it; None
        without rows.
    ruled_out, reason
        As in `search.Step`.
    """

    query: Query
    probe: Probe
    pulls: int
    reward_change: float | None = None
    ruled_out: tuple[str, ...] = ()
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        return {
            "variable": self.query.variable,
            "undecided": list(self.query.undecided),
            "fixed": dict(self.query.fixed),
            "moves": self.probe.is_ancestor,
            "children": [other for other in self.query.undecided if other in self.probe.children],
            "pulls": self.pulls,
            "reward_change": self.reward_change,
            "ruled_out": list(self.ruled_out),
            "reason": self.reason,
        }


@dataclass(frozen=True)
class SearchTrace:
    """All queries of a search in order, and its result.

    Attributes
    ----------
    questions
        One record per answered query.
    result
        The result of the search; None while it goes on.
    """

    questions: tuple[QueryRecord, ...]
    result: SearchResult | None

    @classmethod
    def of(
        cls, asked: Sequence[QueryRecord], result: SearchResult | None, graph: EssentialGraph
    ) -> SearchTrace:
        """Return the trace of a search on `graph`, with the variables that each answer ruled out.

        Parameters
        ----------
        asked
            The answered queries; their `ruled_out` and `reason` are filled in.
        result
            The result of the search, which has the conclusions; None while it goes on. The conclusions are
            then those that hold for every search.
        graph
            The graph on which the search works.
        """
        steps = _concluded(asked, graph) if result is None else result.queries
        records = [
            replace(record, ruled_out=step.ruled_out, reason=step.reason)
            for record, step in zip(asked, steps, strict=True)
        ]
        return cls(tuple(records), result)

    def scaled(self, factor: float) -> SearchTrace:
        """Return the trace with every change of the reward times `factor`."""
        records = (
            replace(record, reward_change=record.reward_change and record.reward_change * factor)
            for record in self.questions
        )
        return replace(self, questions=tuple(records))

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        result = self.result
        return {
            "questions": [record.to_dict() for record in self.questions],
            "finished": result is not None,
            "named": [] if result is None else list(result.reward_variables),
            "candidates": [] if result is None else list(result.candidates),
            "note": "" if result is None else result.note,
        }


def _concluded(asked: Sequence[QueryRecord], graph: EssentialGraph) -> tuple[Step, ...]:
    answers = iter(asked)
    return solve(_asking(asked, SearchState(graph)), lambda _: next(answers).probe).queries


def _asking(asked: Sequence[QueryRecord], state: SearchState) -> Search:
    """Repeat the same queries and draw the conclusions that hold for every search."""
    held: list[str] = []
    for record in asked:
        for found in [found for found in record.query.fixed if found not in held]:
            held.append(found)
            state.hold(found)
        moves = yield from state.ask(record.query.variable)
        state.conclude(record.query.variable, moves)
    return state.unnamed("")
