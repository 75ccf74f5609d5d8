"""`Pipeline`: prepare a run from its settings, and play it."""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalBanditError
from cb_pgm.model.fitting import is_binary, rehearse, rewards_of
from cb_pgm.pipeline import inputs
from cb_pgm.pipeline.budget import budget_warnings
from cb_pgm.pipeline.run_report import RunReport
from cb_pgm.pipeline.settings import RunSettings
from cb_pgm.pipeline.task import Entry, Played, Task
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.registry import POLICIES, make_policy, policy_kind
from cb_pgm.simulation import simulate
from cb_pgm.wording import listed
from discovery.table.discrete_table import DiscreteTable, read, source_name

if TYPE_CHECKING:
    from cb_pgm.model.system import CausalSystem
    from discovery import EssentialGraph

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
        table = self._table()
        rewards = rewards_of(table)
        truth = self._truth(table)
        used = self._graph(table)
        flip_from = None if not self.minimize else 1.0 if is_binary(rewards) else 0.0
        maximised = table if flip_from is None else replace(table, rewards=flip_from - rewards)
        system, warnings = truth or self._fitted(maximised, used.graph)
        used = replace(used, graph=inputs.widened(used.graph, system.states))
        noise_scale, about_noise = self._noise_scale(rewards, system)
        context = self._context(system, noise_scale)
        entries = tuple(self._entries(context, maximised, used.graph, system))
        return Task(
            settings=self,
            seed=secrets.randbits(32) if self.seed is None else self.seed,
            table=table,
            graph=used,
            system=system,
            is_truth=self.truth is not None,
            context=context,
            flip_from=flip_from,
            entries=entries,
            warnings=(
                *table.warnings,
                *used.warnings,
                *warnings,
                *about_noise,
                *budget_warnings(entries, self.horizon),
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

    def _table(self) -> DiscreteTable:
        return read(self.csv, self.reward, self)

    def _graph(self, table: DiscreteTable) -> inputs.UsedGraph:
        if self.graph is not None:
            return inputs.read_graph(self.graph, table.variables)
        return inputs.estimated_graph(table, self)

    def _truth(self, table: DiscreteTable) -> tuple[CausalSystem, tuple[str, ...]] | None:
        """Return the true system and warnings; with `minimize` its reward is flipped, so higher is better."""
        if self.truth is None:
            return None
        system = inputs.read_truth(self.truth, self.reward, self.not_settable)
        inputs.check_against_truth(table, system, self.truth)
        parents = system.reward_parents
        warnings: tuple[str, ...] = ()
        if len(parents) > 1:
            warnings = (
                f"the reward has {len(parents)} causes in the true network ({listed(parents)}): CN-UCB's "
                f"assumption of a single cause fails",
            )
        return (inputs.with_flipped_reward(system) if self.minimize else system), warnings

    def _fitted(self, table: DiscreteTable, graph: EssentialGraph) -> tuple[CausalSystem, tuple[str, ...]]:
        """Return the system fitted to the table, and warnings."""
        settable = inputs.settable_states(table.states, self.not_settable)
        rehearsal = rehearse(table, graph, settable=settable)
        return rehearsal.system, rehearsal.warnings

    def _noise_scale(self, rewards: NDArray[np.float64], system: CausalSystem) -> tuple[float, list[str]]:
        """Return σ, in units of the reward, and warnings about it."""
        warnings = []
        low, high = float(rewards.min()), float(rewards.max())
        scale = (high - low) / 2
        if self.noise_scale is not None:
            scale = self.noise_scale
        elif self.reward_range is not None:
            bottom, top = self.reward_range
            if not bottom <= low <= high <= top:
                raise CausalBanditError(
                    f"Expected rewards from {bottom:g} to {top:g} but found them from {low:g} to {high:g} in "
                    f"{source_name(self.csv)}: widen the reward range"
                )
            scale = (top - bottom) / 2
        elif not is_binary(rewards):
            warnings.append(
                f"the noise scale is {scale:.4g}, half the observed range of the rewards ({low:g} to "
                f"{high:g}): give a reward range or a noise scale if rewards may lie outside of it"
            )
        if scale < system.noise_scale * (1 - 1e-9):
            warnings.append(
                f"the noise scale {scale:.4g} is below the {system.noise_scale:.4g} of the system that is "
                f"played: the failure probability is no longer guaranteed"
            )
        return scale, warnings

    def _context(self, system: CausalSystem, noise_scale: float) -> PolicyContext:
        reward_gap, effect_gap = system.effective_gaps(system.essential_graph())
        gaps = (
            reward_gap if self.reward_gap is None else self.reward_gap,
            effect_gap if self.effect_gap is None else self.effect_gap,
        )
        context = PolicyContext.of_system(system, None, None, gaps)
        return replace(
            context,
            noise_scale=noise_scale,
            failure_prob=self.failure_prob,
            max_parents=self.max_parents or context.max_parents,
        )

    def _entries(
        self, context: PolicyContext, table: DiscreteTable, graph: EssentialGraph, system: CausalSystem
    ) -> Iterator[Entry]:
        """Yield every policy, once for each graph that it plays on."""
        worlds = {"estimated": (graph, inputs.marginals_over(table, system.states))}
        if self.truth is not None:
            # With the same marginals the two differ in the graph alone.
            worlds["oracle"] = (system.essential_graph(), worlds["estimated"][1])
        for name in dict.fromkeys(self.policies):
            kind = policy_kind(name)
            if not kind.needs_graph:
                yield Entry(name, "oracle" if kind.is_oracle else "none", make_policy(name, context))
                continue
            for where, (essential_graph, marginals) in worlds.items():
                known = replace(context, graph=essential_graph, marginals=marginals)
                yield Entry(name, where, make_policy(name, known))


def play(task: Task, progress: Callable[[int], object] | None = None) -> RunReport:
    """Play every policy of a task, once for each run.

    The random draws of a run depend only on the seed, the policy, its graph and the number of the run, so
    adding a policy changes no other one's outcome.

    Parameters
    ----------
    task
        The task, as `Pipeline.prepare` returns it.
    progress
        It is called after each pull with the number of rounds played.

    Returns
    -------
    RunReport
        The outcomes, in playing order.
    """
    settings = task.settings
    played = []
    for entry in task.entries:
        for run in range(settings.runs):
            key = (zlib.crc32(f"{entry.name} {entry.graph}".encode()), run)
            seed = np.random.SeedSequence(task.seed, spawn_key=key)
            outcome = simulate(entry.policy, task.system, settings.horizon, seed, progress=progress)
            played.append(Played(entry.name, entry.graph, run, outcome))
    return RunReport(task, tuple(played))
