"""The story of a search replayed: before and after each question, who is left and which arrows are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discovery import EssentialGraph

__all__ = ["Scene", "replay", "surroundings"]

Arrow = tuple[str, str]


@dataclass(frozen=True)
class Scene:
    """One question of a search and what it changed.

    Attributes
    ----------
    question
        As `QueryRecord.to_dict` returns it.
    before, after
        The variables that could be the reward's parent before and after the answer, in node order.
    learnt
        Arrows that the answer showed, those that follow by Meek's rules included.
    arrows, lines
        All edges after the answer, with and without a known direction.
    """

    question: Mapping[str, Any]
    before: tuple[str, ...]
    after: tuple[str, ...]
    learnt: tuple[Arrow, ...]
    arrows: tuple[Arrow, ...]
    lines: tuple[Arrow, ...]


def replay(graph: EssentialGraph, questions: Sequence[Mapping[str, Any]]) -> list[Scene]:
    """Return a scene for each question that was asked on `graph`.

    When a search goes on for a further parent it holds the one found, and every variable that no answer has
    excluded is a candidate again.
    """
    known = graph.closure()
    left = list(graph.nodes)
    excluded: set[str] = set()
    held: list[str] = []
    scenes = []
    for question in questions:
        if list(question["fixed"]) != held:
            held = list(question["fixed"])
            left = [node for node in graph.nodes if node not in excluded and node not in held]
        variable, before = question["variable"], tuple(left)
        learnt: list[Arrow] = []
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
        scenes.append(
            Scene(question, before, tuple(left), tuple(learnt), tuple(known.arrows()), tuple(known.lines()))
        )
    return scenes


def surroundings(graph: EssentialGraph, centre: Sequence[str], most: int) -> tuple[str, ...]:
    """Return up to `most` nodes in node order: `centre` and what is nearest to it, all where they fit."""
    if len(graph.nodes) <= most:
        return graph.nodes
    nearest = list(dict.fromkeys(centre))[:most]
    for node in nearest:  # grows meanwhile
        for other in (*graph.parents(node), *graph.neighbours(node), *graph.children(node)):
            if len(nearest) < most and other not in nearest:
                nearest.append(other)
    chosen = set(nearest)
    return tuple(node for node in graph.nodes if node in chosen)
