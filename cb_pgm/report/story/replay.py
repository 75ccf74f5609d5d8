"""A search replayed: the candidates and the known edge directions before and after each question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discovery import EssentialGraph

__all__ = ["TraceStep", "replay", "surroundings"]

Edge = tuple[str, str]


@dataclass(frozen=True)
class TraceStep:
    """One question of a search and what it changed.

    Attributes
    ----------
    question
        As `QueryRecord.to_dict` returns it.
    before, after
        The variables that could be the reward's parent before and after the answer, in node order.
    learnt
        Directed edges that the answer showed, including those that follow by Meek's rules.
    directed, undirected
        All edges after the answer, with and without a known direction.
    """

    question: Mapping[str, Any]
    before: tuple[str, ...]
    after: tuple[str, ...]
    learnt: tuple[Edge, ...]
    directed: tuple[Edge, ...]
    undirected: tuple[Edge, ...]


def replay(graph: EssentialGraph, questions: Sequence[Mapping[str, Any]]) -> list[TraceStep]:
    """Return a step for each question that was asked on `graph`.

    A search that looks for a further parent holds those found fixed, and every variable that no answer has
    excluded becomes a candidate again.
    """
    known = graph.closure()
    left = list(graph.nodes)
    excluded: set[str] = set()
    held: list[str] = []
    steps = []
    for question in questions:
        if list(question["fixed"]) != held:
            held = list(question["fixed"])
            left = [node for node in graph.nodes if node not in excluded and node not in held]
        variable, before = question["variable"], tuple(left)
        learnt: list[Edge] = []
        children = [node for node in question["undecided"] if node in question["children"]]
        for arrow in (
            *((variable, node) for node in children),
            *((node, variable) for node in question["undecided"] if node not in children),
        ):
            if known.has_line(*arrow):
                learnt += known.orient(*arrow)
        ruled_out = set(question["ruled_out"])
        if not question["moves"]:
            excluded |= ruled_out
        left = [node for node in left if node not in ruled_out]
        steps.append(
            TraceStep(
                question, before, tuple(left), tuple(learnt), tuple(known.arrows()), tuple(known.lines())
            )
        )
    return steps


def surroundings(graph: EssentialGraph, centre: Sequence[str], most: int) -> tuple[str, ...]:
    """Return up to `most` nodes, in node order: `centre` and those nearest to it."""
    if len(graph.nodes) <= most:
        return graph.nodes
    nearest = list(dict.fromkeys(centre))[:most]
    for node in nearest:  # grows meanwhile
        for other in (*graph.parents(node), *graph.neighbours(node), *graph.children(node)):
            if len(nearest) < most and other not in nearest:
                nearest.append(other)
    chosen = set(nearest)
    return tuple(node for node in graph.nodes if node in chosen)
