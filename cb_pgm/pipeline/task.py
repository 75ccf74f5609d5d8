"""`Task`: a run in which everything is decided and nothing has been pulled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cb_pgm.effects.text import scale_sentences
from discovery.graphs.comparison import Comparison, compare
from discovery.wording import count

if TYPE_CHECKING:
    from cb_pgm.effects.noise import RewardScale
    from cb_pgm.model.reward_unit import RewardUnit
    from cb_pgm.model.system import CausalSystem
    from cb_pgm.pipeline.settings import RunSettings
    from cb_pgm.policies.base import Policy
    from cb_pgm.policies.context import PolicyContext
    from cb_pgm.problem import Problem
    from cb_pgm.problem.graph_files import UsedGraph
    from cb_pgm.simulation import EarlierRows, Run
    from discovery import DiscreteTable
    from discovery.estimation.settings import EstimateSettings

__all__ = ["Entry", "Played", "Task", "budget_lines", "groups_of"]

_ROUNDING = 1e-9  # of exact means, in proportion to their size


@dataclass(frozen=True)
class Entry:
    """A policy to play, and the graph that it works on: "estimated", "oracle" or "none" (`RunSettings`)."""

    name: str
    graph: str
    policy: Policy


@dataclass(frozen=True)
class Played:
    """The outcome of one run of one policy on one graph; `run` counts from 0, `graph` is as in `Entry`."""

    policy: str
    graph: str
    run: int
    outcome: Run


@dataclass(frozen=True)
class Task:
    """The policies to play, and the system that they play against.

    Attributes
    ----------
    settings
        The settings of the run.
    seed
        The seed in use.
    problem
        The table, with the unit in which policies have rewards.
    estimation
        How the graphs of resampled tables are estimated, with what the table's own left of the time.
    graph
        The given or estimated graph, over the system's variables.
    system
        The system that is played; higher rewards are better in it.
    is_truth
        Whether the system is the true network; else it is a model fitted to the table.
    context
        What policies know: gaps, δ, σ and the states that can be set, with rewards as they are inside.
    scale
        How far the rewards scatter, and their range, with where both come from, in the table's unit.
    earlier
        The table's rows from which policies start, grouped by what was set, as they are in the system; none
        with `cold`.
    entries
        The policies in playing order.
    warnings
        What the user must know before trusting the outcome, one line each.
    """

    settings: RunSettings
    seed: int
    problem: Problem
    estimation: EstimateSettings
    graph: UsedGraph
    system: CausalSystem
    is_truth: bool
    context: PolicyContext
    scale: RewardScale
    earlier: EarlierRows
    entries: tuple[Entry, ...]
    warnings: tuple[str, ...]

    @property
    def rounds(self) -> int:
        """The number of rounds that `play` takes, over all policies and runs."""
        return self.settings.horizon * self.settings.runs * len(self.entries)

    @property
    def table(self) -> DiscreteTable:
        """The table, with rewards in a person's unit."""
        return self.problem.table

    @property
    def unit(self) -> RewardUnit:
        """The unit of rewards in the system and of the policies."""
        return self.problem.unit

    def policy_of(self, played: Played) -> Policy:
        """Return the policy that was played, as it was before its first pull."""
        return next(entry.policy for entry in self.entries if entry.name == played.policy)

    def correct(self, played: Played) -> bool | None:
        """Return whether the identified parents are the true ones; None if none are identified or known."""
        identified = played.outcome.reward_variables
        if not identified or not self.is_truth:
            return None
        return set(identified) == set(self.system.reward_parents)

    @cached_property
    def graph_scores(self) -> Comparison | None:
        """The comparison of the graph in use with the system's essential graph; None if none is true."""
        true = self.system.true_graph()
        return None if true is None else compare(self.graph.graph, true)


def groups_of(played: Iterable[Played]) -> list[list[Played]]:
    """Return the runs of each policy on each graph, in playing order."""
    groups: dict[tuple[str, str], list[Played]] = {}
    for one in played:
        groups.setdefault((one.policy, one.graph), []).append(one)
    return list(groups.values())


def budget_lines(task: Task) -> tuple[str, ...]:
    """Return the gaps that policies assume, where they come from, and σ and δ, as lines of text."""
    settings, context = task.settings, task.context
    model = "the true network" if task.is_truth else "the fitted model"
    given = settings.reward_gap is not None, settings.effect_gap is not None
    source = {
        (True, True): "as given",
        (True, False): f"the first as given, the second from {model}",
        (False, True): f"the first from {model}, the second as given",
        (False, False): f"from {model}",
    }[given]
    reward_gap, effect_gap = context.known_gaps("a run")
    gaps = (
        f"smallest effects to detect: {task.unit.difference(reward_gap):.4g} on the mean reward, "
        f"{effect_gap:.4g} on a neighbour's probabilities ({source})"
    )
    if settings.reward_gap is None and not _moves(task.system):
        gaps = f"no effect to detect: nothing that can be set moves the mean reward of {model}"
    return (
        f"Gaps    {gaps}",
        f"Noise   {scale_sentences(task.scale)[0]} Under an arm that leaves the causes free "
        f"{task.unit.difference(context.noise_scale):.4g}; failure probability {context.failure_prob:g}",
        f"Range   {scale_sentences(task.scale)[1]}",
        f"Start   {_start(task)}",
    )


def _moves(system: CausalSystem) -> bool:
    """Return whether some arm has another mean reward than do()."""
    means = [system.mean_reward(), *system.arm_means().values()]
    return max(means) - min(means) > _ROUNDING * max(map(abs, means))


def _start(task: Task) -> str:
    """Say which rows policies start from."""
    seen = sum(len(rows) for arm, rows in task.earlier if not arm)
    done = sum(len(rows) for arm, rows in task.earlier if arm)
    if not seen + done:
        return "policies start without any rows (--cold)"
    what = " and ".join(
        text
        for text, rows in ((count(seen, "row"), seen), (f"{count(done, 'row')} in which one was set", done))
        if rows
    )
    source = "of the table" if task.is_truth else "drawn from the fitted model, as many as the table has,"
    return f"policies learn from {what} {source} before their first pull (--cold: from none)"
