"""What a table adds to a start: the states, an estimated graph and gaps, and rows to learn from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cb_pgm import tables
from cb_pgm.errors import SessionError
from cb_pgm.model.reward_parents import chosen_parents
from cb_pgm.pipeline.budget import budget_warnings
from cb_pgm.pipeline.task import Entry
from cb_pgm.policies.registry import policy_kind
from cb_pgm.problem.earlier_rows import table_rows
from cb_pgm.problem.problem import Problem
from cb_pgm.session.events import Earlier, Rows
from cb_pgm.session.settings import RewardColumn, SessionSettings
from cb_pgm.session.setup import Beginning, Setup
from discovery.table.discrete_table import DiscreteTable, Source
from discovery.table.roles import find_reward
from discovery.table.rows import MIN_ROWS
from discovery.wording import number

__all__ = ["earlier_rows", "from_table", "given_rewards", "read_table", "rows_of", "settings_of"]


def from_table(setup: Setup, source: Source) -> Beginning:
    """Read a table, estimate what the policy works on, and choose the rows that it can learn from.

    Raises
    ------
    DiscoveryError, CausalBanditError
        If the table or a setting isn't valid.
    """
    table, reward = read_table(setup, source)
    settings, notes = settings_of(setup, table, reward)
    if setup.cold:
        return Beginning(settings, (), notes)
    policy = settings.new_policy()
    earlier = tuple(
        part
        for part in earlier_rows(table, settings)
        if policy.warm_start(part.intervention, settings.observations(part.rows))
    )
    return Beginning(settings, earlier, notes)


def read_table(setup: Setup, source: Source) -> tuple[DiscreteTable, RewardColumn]:
    """Return the table, and how the reward is read from rows to come.

    Raises
    ------
    SessionError
        If the setup names no reward.
    DiscoveryError
        If the table isn't valid, or doesn't have the reward.
    """
    if setup.reward is None:
        raise SessionError("Expected a reward, COL or COL=STATE, but found none: give --reward")
    table = tables.read_table(source, setup.reward, setup)
    name, state = find_reward(setup.reward, (table.reward_column or "",), "the table")
    return table, setup.reward_column(name, state, table.reward_states)


def settings_of(
    setup: Setup, table: DiscreteTable, reward: RewardColumn
) -> tuple[SessionSettings, tuple[str, ...]]:
    """Return the settings of the session, and warnings about them.

    Raises
    ------
    DiscoveryError, CausalBanditError
        If a setting doesn't fit the table, or the graph can't be estimated.
    """
    rewards = given_rewards(table)
    done = table.interventional
    every = rewards if done is None or done.rewards is None else np.append(rewards, done.rewards)
    notes = list(table.warnings)
    low, high = float(every.min()), float(every.max())
    if reward.low is not None and reward.high is not None and not reward.low <= low <= high <= reward.high:
        raise SessionError(
            f"Expected rewards from {reward.low:g} to {reward.high:g} but found them from {low:g} to "
            f"{high:g} in the table: widen --reward-range"
        )
    scale = setup.scale_of_rewards(reward, every)
    if setup.noise_scale is None and reward.state is None and reward.low is None:
        # σ is half the observed range, so that range must hold for the rows to come as well.
        reward = replace(reward, low=low, high=high)
        ends = f"{number(low, high - low)} to {number(high, high - low)}"
        notes.append(
            f"rewards must lie in the table's range, {ends}; the noise scale is half of it, "
            f"{scale:.4g}: set another range (--reward-range) or the noise scale (--noise-scale)"
        )
    shown = table.states if table.interventional is None else table.interventional.states
    states = setup.all_states(shown)
    source = {"rows": table.n_rows, "sha256": table.sha256}
    problem = Problem(
        table,
        estimation=setup,
        graph_file=setup.graph,
        not_settable=setup.not_settable,
        minimize=setup.minimize,
    )
    if not policy_kind(setup.policy).needs_graph:
        # Constant rewards, or none, say nothing about the reward's parents.
        varied = len(rewards) > 0 and float(np.ptp(rewards)) > 0
        parents = setup.max_parents or (max(1, len(chosen_parents(problem.inside))) if varied else 1)
        settings = setup.settings(
            reward,
            states,
            scale,
            max_parents=parents,
            source=source,
            merged=table.merged,
            decimal=table.decimal,
        )
        return settings, tuple(notes)

    if table.n_rows < MIN_ROWS:  # of a given graph too the policy needs the probabilities of all states
        raise SessionError(
            f"Expected at least {MIN_ROWS} rows in which nothing was set for {setup.policy}, which works on "
            f"a graph, but found {table.n_rows}: choose a policy that works without one (screening, moss)"
        )
    used, fitted = problem.graph, problem.fitted
    system = fitted.system
    reward_gap, effect_gap = system.effective_gaps(system.essential_graph())
    asked = _flipped(rewards, reward) if setup.minimize else rewards  # as the session's file has them
    settings = setup.settings(
        reward,
        states,
        scale,
        max_parents=max(1, len(system.reward_parents)),
        gaps=(problem.unit.difference(reward_gap), effect_gap),
        graph=used.graph,
        marginals=replace(problem.marginals(states), reward_mean=float(asked.mean())),
        source=source | {"graph": used.method},
        merged=table.merged,
        decimal=table.decimal,
    )
    entry = Entry(setup.policy, "estimated", settings.new_policy())
    notes += [*used.warnings, *(f"the graph was repaired: {repair}" for repair in used.repairs)]
    return settings, (
        *notes,
        *fitted.warnings,
        *budget_warnings([entry], setup.horizon, settings.reward_unit),
    )


def earlier_rows(table: DiscreteTable, settings: SessionSettings) -> Iterator[Earlier]:
    """Yield the rows of a table by their intervention: first the observations, then arm by arm."""
    given_rewards(table)
    for arm, seen in table_rows(table):
        yield Earlier(arm, rows_of(seen.codes, seen.rewards, settings.reward))


def given_rewards(table: DiscreteTable) -> NDArray[np.float64]:
    """Return the rewards of the rows without an intervention, float64 [m].

    Raises
    ------
    SessionError
        If the table was read without a reward.
    """
    if table.rewards is None:
        raise SessionError("Expected a table with rewards but found none: name the reward column")
    return table.rewards


def rows_of(codes: NDArray[np.int16], rewards: NDArray[np.float64], reward: RewardColumn) -> Rows:
    """Return rows of a table, codes [m, n] and rewards [m], in the form in which a session keeps them."""
    fields = rewards
    if reward.state is not None:  # any other state stands for a reward of 0
        wanted = reward.states.index(reward.state)
        fields = np.where(rewards == 1, wanted, (wanted + 1) % len(reward.states)).astype(np.float64)
    complied = np.ones(len(codes), dtype=np.bool_)
    return Rows(np.ascontiguousarray(codes), np.ascontiguousarray(fields), complied)


def _flipped(rewards: NDArray[np.float64], reward: RewardColumn) -> NDArray[np.float64]:
    return (0.0 if reward.state is None else 1.0) - rewards
