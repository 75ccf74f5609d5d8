"""A run with everything decided and nothing pulled yet."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cb_pgm.pipeline.run_report import Played, RunReport
from cb_pgm.simulation import simulate

if TYPE_CHECKING:
    from cb_pgm.model.system import CausalSystem
    from cb_pgm.pipeline.inputs import UsedGraph
    from cb_pgm.pipeline.pipeline import Pipeline
    from cb_pgm.policies.base import Policy
    from cb_pgm.policies.registry import PolicyContext
    from discovery import DiscreteTable

__all__ = ["Entry", "Task"]


@dataclass(frozen=True)
class Entry:
    """A policy to play, and on which graph: "estimated", "oracle" or "none"."""

    name: str
    graph: str
    policy: Policy


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
    turn
        None, or with `minimize` the number from which the table's rewards are subtracted to give the
        system's.
    entries
        The policies in playing order.
    warnings
        What a person must know, one line each.
    """

    settings: Pipeline
    seed: int
    table: DiscreteTable
    graph: UsedGraph
    system: CausalSystem
    is_truth: bool
    context: PolicyContext
    turn: float | None
    entries: tuple[Entry, ...]
    warnings: tuple[str, ...]

    @property
    def rounds(self) -> int:
        """How many rounds `play` takes in all."""
        return self.settings.horizon * self.settings.runs * len(self.entries)

    def play(self, progress: Callable[[int], object] | None = None) -> RunReport:
        """Play every policy `runs` times; `progress` is told of rounds as they pass.

        What a run draws depends on the seed, its policy, graph and number alone.
        """
        played = []
        for entry in self.entries:
            for run in range(self.settings.runs):
                key = (zlib.crc32(f"{entry.name} {entry.graph}".encode()), run)
                seed = np.random.SeedSequence(self.seed, spawn_key=key)
                outcome = simulate(entry.policy, self.system, self.settings.horizon, seed, progress=progress)
                played.append(Played(entry.name, entry.graph, run, outcome))
        return RunReport(self, tuple(played))

    def as_asked(self, mean: float) -> float:
        """Return a mean reward of the system in the table's own terms."""
        return float(mean if self.turn is None else self.turn - mean)
