"""A run with everything decided and nothing pulled yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from discovery.graphs.comparison import Comparison, compare

if TYPE_CHECKING:
    from cb_pgm.model.system import CausalSystem
    from cb_pgm.pipeline.inputs import UsedGraph
    from cb_pgm.pipeline.settings import RunSettings
    from cb_pgm.policies.base import Policy
    from cb_pgm.policies.context import PolicyContext
    from cb_pgm.simulation import Run
    from discovery import DiscreteTable

__all__ = ["Entry", "Played", "Task", "budget_line", "groups_of"]


@dataclass(frozen=True)
class Entry:
    """A policy to play, and on which graph: "estimated", "oracle" or "none"."""

    name: str
    graph: str
    policy: Policy


@dataclass(frozen=True)
class Played:
    """One repetition of one policy on one graph ("estimated", "oracle" or "none"), and its outcome."""

    policy: str
    graph: str
    run: int
    outcome: Run


@dataclass(frozen=True)
class Task:
    """What is played, and against what.

    Attributes
    ----------
    settings, seed
        As asked, and the seed in use.
    table
        The observations as read.
    graph
        The graph that policies work on, over the system's variables.
    system, is_truth
        What is played against: a truth, or a model fitted to the table. Higher rewards are better in it.
    context
        What policies are given: gaps, δ, σ, states that can be set.
    flip_from
        None, or with `minimize` the number from which the table's rewards are subtracted to give the
        system's.
    entries
        The policies in playing order.
    warnings
        What a person must know, one line each.
    """

    settings: RunSettings
    seed: int
    table: DiscreteTable
    graph: UsedGraph
    system: CausalSystem
    is_truth: bool
    context: PolicyContext
    flip_from: float | None
    entries: tuple[Entry, ...]
    warnings: tuple[str, ...]

    @property
    def rounds(self) -> int:
        """How many rounds `play` takes in all."""
        return self.settings.horizon * self.settings.runs * len(self.entries)

    def as_asked(self, mean: float) -> float:
        """Return a mean reward of the system in the table's own terms."""
        return float(mean if self.flip_from is None else self.flip_from - mean)

    def correct(self, played: Played) -> bool | None:
        """Return whether those named are the reward's parents in the system; None where none is named."""
        named = played.outcome.reward_variables
        return set(named) == set(self.system.reward_parents) if named else None

    @cached_property
    def graph_scores(self) -> Comparison:
        """How the graph in use differs from the system's own, as `discovery.compare` describes it."""
        return compare(self.graph.graph, self.system.essential_graph())


def groups_of(played: Iterable[Played]) -> list[list[Played]]:
    """Return the repetitions of each policy on each graph, in playing order."""
    groups: dict[tuple[str, str], list[Played]] = {}
    for one in played:
        groups.setdefault((one.policy, one.graph), []).append(one)
    return list(groups.values())


def budget_line(task: Task) -> str:
    """Return in a line what policies are given, and where the gaps come from."""
    settings, context = task.settings, task.context
    model = "the truth" if task.is_truth else "the fitted model"
    given = settings.reward_gap is not None, settings.effect_gap is not None
    source = {
        (True, True): "as given",
        (True, False): f"the latter effective, from {model}",
        (False, True): f"the former effective, from {model}",
        (False, False): f"effective, from {model}",
    }[given]
    return (
        f"Gaps    reward {context.reward_gap:.4g}, effect {context.effect_gap:.4g} ({source}); noise scale "
        f"{context.noise_scale:.4g}, failure probability {context.failure_prob:g}"
    )
