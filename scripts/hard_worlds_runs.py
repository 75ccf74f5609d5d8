"""Playing one run of `scripts/hard_worlds`: regret, and whether what the policy claimed was right."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from hard_worlds_settings import SESSION_ROWS, TABLE_ROWS, Player, World
from headline_runs import context_of, rng_of
from numpy.typing import NDArray

from cb_pgm import CausalSystem, Intervention, Observations, Policy, Pull, simulate
from cb_pgm.instances.misleading_tables import selected_rows
from cb_pgm.model.discrete_model import Reward
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.registry import make_policy, policy_kind
from cb_pgm.session.events import Rows, Told
from cb_pgm.session.settings import RewardColumn, SessionSettings
from cb_pgm.session.state import SessionState
from discovery import DiscreteTable, EssentialGraph, estimate

_CHECKS_PER_DECADE = 12
_CARRIED = 0.5  # of the rounds, in which the reward is one of the arm before
_CHANGE_AT = 1 / 3  # of the rounds
_DRIFT = 0.5  # by which the reward's mean rises in the course of all rounds
_SAME_MEAN = 1e-9


@dataclass
class Watched:
    """A policy whose claims are checked while it plays; `cb_pgm.simulate` takes it as one.

    Attributes
    ----------
    policy
        The policy itself.
    system
        The truth.
    table
        Rows under do() that it sees before the first pull.
    suspect
        A variable; `suspect_left` becomes the round from which on it is ruled out as the only cause, and
        `suspect_gone` that from which on it is no candidate of invariance screening either.
    wrongly_certain
        Whether an arm was ever certain to be the best, as sessions judge it, and wasn't.
    seen_as_set
        Whether a measured estimate ever counted more rows than the arm was set in.
    lost
        The regret so far, against the best arm of the time.
    """

    policy: Policy
    system: CausalSystem
    state: SessionState
    table: Observations | None = None
    suspect: str | None = None
    disturbed: str | None = None
    horizon: int = 1
    rounds: int = 0
    suspect_left: int | None = None
    suspect_gone: int | None = None
    certain: bool = False
    wrongly_certain: bool = False
    seen_as_set: bool = False
    lost: float = 0.0
    _set_rows: dict[Intervention, int] = field(default_factory=dict)
    _check_at: float = 1.0

    def fresh(self, rng: np.random.Generator) -> Self:
        self.policy = self.state.policy = self.policy.fresh(rng)
        self._noise = rng.spawn(1)[0]
        self._last_reward: float | None = None
        self._turned = turned(self.system) if self.disturbed == "change" else self.system
        if self.table is not None:
            self.policy.warm_start(Intervention(), self.table)
            self._check()
        self._watch_suspect()
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self.policy, name)

    def tell(self, pull: Pull, rows: Observations) -> None:
        truth = self.system
        if self.disturbed == "change" and self.rounds >= _CHANGE_AT * self.horizon:
            truth = self._turned
            rows = truth.sample(pull.intervention, len(rows), self._noise)
        elif self.disturbed:
            rows = Observations(rows.codes, self._disturbed(rows.rewards))
        self.lost += len(rows) * (truth.best_arm()[1] - truth.mean_reward(pull.intervention))
        self.policy.tell(pull, rows)
        self.rounds += len(rows)
        done = pull.intervention
        self._set_rows[done] = self._set_rows.get(done, 0) + len(rows)
        self._watch_suspect()
        if self.rounds >= self._check_at:
            self._check()

    def _watch_suspect(self) -> None:
        if self.suspect is None or self.suspect_gone is not None:
            return
        suspected = (self.suspect,)
        if self.reward_variables == suspected:
            return
        gone = suspected not in (self.policy.candidates or ())
        if self.suspect_left is None and (gone or self.policy.fallback is not None):
            self.suspect_left = self.rounds
        if gone:
            self.suspect_gone = self.rounds

    def _disturbed(self, rewards: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.disturbed == "drift":
            return rewards + _DRIFT * (self.rounds + np.arange(len(rewards))) / self.horizon
        if self.disturbed == "carry-over":
            # The reward that the round before would have had by its own arm; regret adds up to the same.
            before = np.append(rewards[0] if self._last_reward is None else self._last_reward, rewards[:-1])
            self._last_reward = float(rewards[-1])
            return np.where(self._noise.random(len(rewards)) < _CARRIED, before, rewards)
        if self.disturbed != "t3":
            return rewards
        heavy = self._noise.standard_t(3, size=len(rewards)) / math.sqrt(3)
        return rewards + (self.system.reward.noise or 0.0) * heavy

    def _check(self) -> None:
        self._check_at = max(self.rounds + 1, self._check_at * 10 ** (1 / _CHECKS_PER_DECADE))
        for known in self.policy.estimates():
            self.seen_as_set |= known.rows > self._set_rows.get(known.intervention, 0)
        best = self.state.certain_best()
        if best is not None:
            self.certain = True
            self.wrongly_certain |= not is_best(self.system, best.intervention)


def is_best(system: CausalSystem, arm: Intervention) -> bool:
    """Return whether no single-variable arm has a higher mean."""
    return system.mean_reward(arm) >= system.best_arm()[1] - _SAME_MEAN


def play_run(
    world: World, player: Player, run: int, seed: int, graph: EssentialGraph | None
) -> dict[str, Any]:
    """Play one run and return a row: who, where, and what came of it.

    Parameters
    ----------
    world, player, run, seed
        What to play; the system depends on the world, the run and the seed alone.
    graph
        The estimated graph, for players that take one.
    """
    system = system_of(world, run, seed)
    context = _context(world, player, system, graph)
    about = {"row": world.row, "world": world.name, "player": player.label, "run": run}
    if player.session:
        return about | _session(context, system, run, rng_of(seed, world.name, run, "session"))
    state = SessionState(_settings(context, SESSION_ROWS))
    table = None
    if player.table_rows:
        drawn = np.random.default_rng(rng_of(seed, world.name, run, "table"))
        if world.selected_by:
            table = selected_rows(system, player.table_rows, drawn, variable=world.selected_by)
        else:
            table = system.sample({}, player.table_rows, drawn)
    watched = Watched(
        make_policy(player.policy, context),
        system,
        state,
        table,
        world.suspect,
        world.disturbed,
        world.horizon,
    )
    played = _quiet(system) if world.disturbed == "t3" else system
    run_seed = rng_of(seed, world.seeded_as or world.name, run)
    outcome = simulate(watched, played, world.horizon, run_seed)  # type: ignore[arg-type]
    named, best = outcome.reward_variables, outcome.best_arm
    tenth = float(np.interp(world.horizon / 10, outcome.rounds, outcome.regrets))
    return about | {
        "regret": watched.lost if world.disturbed == "change" else outcome.regret,
        "last_decade": math.log10(max(outcome.regret, 1.0) / max(tenth, 1.0)),
        "pulls": outcome.interventions_to_find,
        "identified": bool(named),
        "right": bool(named) and set(system.reward_parents) <= set(named),
        "grounds": watched.policy.grounds,
        "given_up": outcome.fallback is not None,
        "recommends_best": best is not None
        and system.mean_reward(best.intervention) >= system.best_arm()[1] - _SAME_MEAN,
        "certain": watched.certain,
        "wrongly_certain": watched.wrongly_certain,
        "seen_as_set": watched.seen_as_set,
        "suspect_left": watched.suspect_left,
        "suspect_gone": watched.suspect_gone,
    }


def system_of(world: World, run: int, seed: int) -> CausalSystem:
    """Return the system that all players of a run meet."""
    number = run if world.n_systems is None else run % world.n_systems
    return world.make(np.random.default_rng(rng_of(seed, world.seeded_as or world.name, number)))


def estimated_graph(world: World, run: int, seed: int) -> EssentialGraph:
    """Return GES's graph from 10,000 rows; a variable with a single observed state has no edges in it."""
    system = system_of(world, run, seed)
    rows = system.sample({}, TABLE_ROWS, np.random.default_rng(rng_of(seed, world.name, run, "table")))
    names = list(system.states)
    varied = [column for column in range(len(names)) if len(np.unique(rows.codes[:, column])) > 1]
    if len(varied) < 2:
        return EssentialGraph(names, (), ())
    table = DiscreteTable(
        np.asfortranarray(rows.codes[:, varied]),
        {names[column]: system.states[names[column]] for column in varied},
        rows.rewards,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each of hundreds would say how rare a state is
        found = estimate(table).graph
    return EssentialGraph(names, found.directed, found.undirected)


def _context(
    world: World, player: Player, system: CausalSystem, graph: EssentialGraph | None
) -> PolicyContext:
    if policy_kind(player.policy).needs_graph or world.seeded_as:
        context = context_of(system)
    else:
        context = PolicyContext(
            system.states,
            system.noise_scale,
            system.settable,
            parent_noise_scale=system.conditional_noise_scale,
            max_parents=max(1, len(system.reward_parents)),
        )
    return replace(
        context,
        graph=graph or context.graph,
        noise_scale=world.told_scale * context.noise_scale,
        parent_noise_scale=world.told_scale * (context.parent_noise_scale or context.noise_scale),
        max_parents=context.max_parents if player.max_parents is None else player.max_parents,
    )


def turned(system: CausalSystem) -> CausalSystem:
    """Return the system with the reward's means in reverse order: the best state becomes the worst."""
    means = system.reward.means
    reward = Reward(system.reward.parents, means.max() + means.min() - means, system.reward.noise)
    return CausalSystem.from_model(system.model, reward, settable=system.settable, hidden=system.hidden)


def _quiet(system: CausalSystem) -> CausalSystem:
    """Return the system without noise."""
    reward = Reward(system.reward.parents, system.reward.means, 0.0)
    return CausalSystem.from_model(system.model, reward, hidden=system.hidden)


def _settings(context: PolicyContext, horizon: int, seed: int = 0) -> SessionSettings:
    return SessionSettings(
        policy="screening",
        horizon=horizon,
        states=dict(context.states),
        settable=dict(context.settable or context.states),
        reward=RewardColumn("reward", low=0.0, high=1.0),
        noise_scale=context.noise_scale,
        failure_prob=context.failure_prob,
        max_parents=context.max_parents,
        stop="best-arm",
        seed=seed,
    )


def _session(
    context: PolicyContext, system: CausalSystem, run: int, source: np.random.SeedSequence
) -> dict[str, Any]:
    """Play a session in memory, a row a pull, until it is over."""
    state, rng = SessionState(_settings(context, SESSION_ROWS, run)), np.random.default_rng(source)
    while state.over is None:
        asked = state.propose(1)
        state.apply(asked, asked=True)
        rows = system.sample(asked.intervention, asked.size, rng)
        complied = np.ones(asked.size, dtype=np.bool_)
        state.apply(Told(asked.pull or 0, Rows(rows.codes, rows.rewards, complied), True, ""))
    best = state.certain_best()
    return {
        "pulls": state.told,
        "certain": best is not None,
        "wrongly_certain": best is not None and not is_best(system, best.intervention),
        "recommends_best": (arm := state.policy.best_arm()) is not None and is_best(system, arm.intervention),
    }
