"""`Pipeline`: prepare a run from its settings, and play it."""

from __future__ import annotations

import math
import secrets
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cb_pgm.effects.noise import RewardScale, reward_scale
from cb_pgm.errors import CausalBanditError
from cb_pgm.model.canonical import canonical_rows
from cb_pgm.model.reward_unit import RewardUnit, rewards_of
from cb_pgm.pipeline.budget import budget_warnings
from cb_pgm.pipeline.run_report import RunReport
from cb_pgm.pipeline.settings import RunSettings
from cb_pgm.pipeline.table_effects import table_effects
from cb_pgm.pipeline.task import Entry, Played, Task
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.registry import POLICIES, make_policy, policy_kind
from cb_pgm.problem.graph_files import widened
from cb_pgm.problem.problem import Problem, without_columns
from cb_pgm.problem.truth import check_against_truth, read_truth, with_flipped_reward
from cb_pgm.simulation import EarlierRows, drawn_rows, simulate
from cb_pgm.tables import read_table
from discovery.estimation.settings import EstimateSettings
from discovery.table.discrete_table import DiscreteTable
from discovery.wording import listed

if TYPE_CHECKING:
    from cb_pgm.effects.report import EffectsReport
    from cb_pgm.model.system import CausalSystem
    from discovery import EssentialGraph, Marginals

__all__ = ["Pipeline", "play"]


class Pipeline(RunSettings):
    """A run of policies on a table; its parameters are those of `RunSettings`."""

    def run(self, progress: Callable[[int], object] | None = None) -> RunReport:
        """Prepare the task and play it.

        Parameters
        ----------
        progress
            It is called after each pull with the number of rounds played.

        Raises
        ------
        DiscoveryError, CausalBanditError, OSError
            As in `prepare`.
        """
        return play(self.prepare(), progress)

    def prepare(self) -> Task:
        """Read the inputs, estimate the graph, and set up the system and the policies.

        Playing the returned task raises no further errors about the inputs.

        Raises
        ------
        DiscoveryError, CausalBanditError
            If the table, another file or a setting isn't valid.
        OSError
            If a file can't be read.
        """
        self._check()
        estimation = EstimateSettings(**self.estimate_keywords()).resolved()
        table = without_columns(read_table(self.csv, self.reward, self), self.hidden)
        rewards_of(table)  # raises without rewards that differ
        problem = Problem(
            table,
            estimation=estimation if self.truth is not None else estimation.part(2),
            graph_file=self.graph,
            not_settable=self.not_settable,
            randomised=self.randomised,
            minimize=self.minimize,
        )
        system, warnings = self._truth(table) or (problem.fitted.system, problem.fitted.warnings)
        unit = RewardUnit.of(table)
        scale = reward_scale(
            canonical_rows(unit.table(table)),
            [name for name in system.reward_parents if name in table.states],
            self.noise_scale,
            self.reward_range,
            unit,
        )
        context = self._context(system, scale, unit)
        graph = replace(problem.graph, graph=widened(problem.graph.graph, system.states))
        entries = tuple(self._entries(context, problem.marginals(system.states), graph.graph, system))
        if not entries:
            raise CausalBanditError(
                "Expected a reward with an observed cause, as only oracles are to be played, but found none: "
                "choose another policy, or hide fewer variables"
            )
        return Task(
            settings=self,
            seed=secrets.randbits(32) if self.seed is None else self.seed,
            problem=problem,
            estimation=estimation,
            graph=graph,
            system=system,
            is_truth=self.truth is not None,
            context=context,
            scale=scale.outside(unit),
            earlier=() if self.cold else problem.earlier_rows(system.states),
            entries=entries,
            warnings=(
                *table.warnings,
                *graph.warnings,
                *warnings,
                *self._about_noise(context, system, unit),
                *budget_warnings(entries, self.horizon, unit),
            ),
        )

    # -- the steps of `prepare` --------------------------------------------------------------------------

    def _check(self) -> None:
        if not self.policies:
            known = listed(POLICIES, most=len(POLICIES), last="or")
            raise CausalBanditError(f"Expected at least one policy but found none: choose {known}")
        for name in self.policies:
            policy_kind(name)
        if self.horizon < 1 or self.runs < 1:
            found = f"horizon={self.horizon}, runs={self.runs}"
            raise CausalBanditError(f"Expected a horizon and runs of at least 1 but found {found}")
        if self.hidden and self.truth is None:
            raise CausalBanditError(
                f"Expected a true network in which {listed(self.hidden)} can be hidden but found none: give "
                f"one (--truth), or leave the columns out of the table (--ignore)"
            )

    def _truth(self, table: DiscreteTable) -> tuple[CausalSystem, tuple[str, ...]] | None:
        """Return the true system and warnings; with `minimize` its reward is flipped, so higher is better."""
        if self.truth is None:
            return None
        system = read_truth(self.truth, self.reward, self.not_settable, self.hidden)
        check_against_truth(table, system, self.truth)
        warnings = tuple(_warnings_about(system))
        return (with_flipped_reward(system) if self.minimize else system), warnings

    def _about_noise(self, context: PolicyContext, system: CausalSystem, unit: RewardUnit) -> Iterator[str]:
        if context.noise_scale < system.noise_scale * (1 - 1e-9):
            yield (
                f"the noise scale {unit.difference(context.noise_scale):.4g} is below the "
                f"{unit.difference(system.noise_scale):.4g} of the system that is played: the failure "
                f"probability is no longer guaranteed"
            )

    def _context(self, system: CausalSystem, scale: RewardScale, unit: RewardUnit) -> PolicyContext:
        """Return what policies know, with rewards as they are inside.

        σ under an arm is ½ for rewards of 0 and 1. For others it adds half the range of the fitted means to
        σ given the causes, since an arm may leave these free.
        """
        reward_gap, effect_gap = system.effective_gaps(system.true_graph())
        gaps = (
            reward_gap if self.reward_gap is None else unit.difference_inside(self.reward_gap),
            effect_gap if self.effect_gap is None else self.effect_gap,
        )
        context = PolicyContext.of_system(system, None, None, gaps)
        of_parents = None
        noise_scale = scale.residual if scale.given else 0.5
        if not (scale.given or scale.binary):
            of_parents = max(scale.residual, system.conditional_noise_scale)
            noise_scale = max(math.hypot(of_parents, float(np.ptp(system.reward.means)) / 2), 1e-12)
        return replace(
            context,
            noise_scale=noise_scale,
            parent_noise_scale=of_parents,
            failure_prob=self.failure_prob,
            max_parents=self.max_parents or context.max_parents,
        )

    def _entries(
        self, context: PolicyContext, marginals: Marginals, graph: EssentialGraph, system: CausalSystem
    ) -> Iterator[Entry]:
        """Yield every policy, once for each graph that it plays on."""
        worlds = {"estimated": (graph, marginals)}
        true_graph = system.true_graph()
        if self.truth is not None and true_graph is not None:
            # With the same marginals the two differ in the graph alone.
            worlds["oracle"] = (true_graph, marginals)
        for name in dict.fromkeys(self.policies):
            kind = policy_kind(name)
            if kind.is_oracle and not system.reward_parents:
                continue  # it knows the causes, and only hidden ones are left
            if not kind.needs_graph:
                yield Entry(name, "oracle" if kind.is_oracle else "none", make_policy(name, context))
                continue
            for where, (essential_graph, frequencies) in worlds.items():
                known = replace(context, graph=essential_graph, marginals=frequencies)
                yield Entry(name, where, make_policy(name, known))


def _warnings_about(system: CausalSystem) -> Iterator[str]:
    """Yield a line for each assumption that the true network breaks."""
    parents = system.reward_parents
    if len(parents) > 1:
        yield (
            f"the reward has {len(parents)} causes in the true network ({listed(parents)}): CN-UCB's "
            f"assumption of a single cause fails"
        )
    if not parents:
        yield (
            "the reward has no cause among the variables that aren't hidden: nothing can be identified, and "
            "oracles that know its causes are left out"
        )
    for cause, below in system.hidden_common_causes.items():
        yield (
            f"{cause} is hidden and causes {listed(below)}: no graph over the observed variables is true, so "
            f"no policy plays on the oracle graph"
        )


def play(
    task: Task, progress: Callable[[int], object] | None = None, effects: EffectsReport | None = None
) -> RunReport:
    """Play every policy of a task, once for each run.

    The random draws of a run depend only on the seed, the policy, its graph and the number of the run, so
    adding a policy changes no other one's outcome.

    Parameters
    ----------
    task
        The task, as `Pipeline.prepare` returns it.
    progress
        It is called after each pull with the number of rounds played.
    effects
        What the table of a rehearsal says of every arm (`table_effects`); None: it is estimated here.

    Returns
    -------
    RunReport
        The outcomes, in playing order.
    """
    settings = task.settings
    effects = effects or table_effects(task)
    played = []
    for entry in task.entries:
        for run in range(settings.runs):
            key = (zlib.crc32(f"{entry.name} {entry.graph}".encode()), run)
            seed = np.random.SeedSequence(task.seed, spawn_key=key)
            outcome = simulate(
                entry.policy,
                task.system,
                settings.horizon,
                seed,
                earlier=_earlier(task, run),
                progress=progress,
            )
            played.append(Played(entry.name, entry.graph, run, outcome.outside(task.problem.unit)))
    return RunReport(task, tuple(played), effects)


def _earlier(task: Task, run: int) -> EarlierRows:
    """Return the rows that policies start from: the table's, or as many of the model fitted to it."""
    if task.is_truth or not task.earlier:
        return task.earlier
    counts = {arm: len(rows) for arm, rows in task.earlier}
    draws = np.random.SeedSequence(task.seed, spawn_key=(zlib.crc32(b"table"), run))
    return drawn_rows(task.system, counts, np.random.default_rng(draws))
