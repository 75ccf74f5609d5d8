"""The story of a search: what was asked, what it cost, what the answer was, and what that ruled out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cb_pgm.search.inquiry import Inquiry
from cb_pgm.search.query import Probe, Query, Search, SearchResult, Step, solve
from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["Question", "Story"]


@dataclass(frozen=True)
class Question:
    """One question of a search as a policy answered it.

    Attributes
    ----------
    query, probe
        What was asked, and the answer.
    pulls
        Rounds between the last answer and this one.
    reward_change
        The largest difference in mean reward seen between setting the variable and not; None without rows.
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
class Story:
    """All questions of a search in order, and how it ended; `result` is None while it goes on."""

    questions: tuple[Question, ...]
    result: SearchResult | None

    @classmethod
    def of(cls, asked: Sequence[Question], result: SearchResult | None, graph: EssentialGraph) -> Story:
        """Join the questions asked on `graph` with what each ruled out.

        A search says so once it is over; before, it is what the answers rule out whatever the search.
        """
        steps = _concluded(asked, graph) if result is None else result.queries
        told = [
            replace(question, ruled_out=step.ruled_out, reason=step.reason)
            for question, step in zip(asked, steps, strict=True)
        ]
        return cls(tuple(told), result)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        result = self.result
        return {
            "questions": [question.to_dict() for question in self.questions],
            "finished": result is not None,
            "named": [] if result is None else list(result.reward_variables),
            "candidates": [] if result is None else list(result.candidates),
            "note": "" if result is None else result.note,
        }


def _concluded(asked: Sequence[Question], graph: EssentialGraph) -> tuple[Step, ...]:
    answers = iter(asked)
    return solve(_asking(asked, Inquiry(graph)), lambda _: next(answers).probe).queries


def _asking(asked: Sequence[Question], inquiry: Inquiry) -> Search:
    """Ask the same questions once more and draw the conclusions that hold for every search."""
    held: list[str] = []
    for question in asked:
        for found in [found for found in question.query.fixed if found not in held]:
            held.append(found)
            inquiry.hold(found)
        moves = yield from inquiry.ask(question.query.variable)
        inquiry.conclude(question.query.variable, moves)
    return inquiry.unnamed("")
