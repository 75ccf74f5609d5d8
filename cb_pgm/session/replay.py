"""Evaluate policies on logged interventions: rows are drawn without replacement as the policy asks for them.

Nothing is modelled: a replay has the same distribution as an experiment in which the rows of each arm are
measured in a random order. The policy can't ask for an arm without rows. A replay ends when the policy asks
for an arm that has no rows left, since its next outcome is unknown.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalBanditError, SessionError
from cb_pgm.model.intervention import Intervention
from cb_pgm.policies.registry import policy_kind
from cb_pgm.session.events import Earlier, Rows, Told
from cb_pgm.session.from_table import earlier_rows, given_rewards, read_table, rows_of, settings_of
from cb_pgm.session.replay_report import LoggedArm, ReplayReport, ReplayRun
from cb_pgm.session.settings import RewardColumn, SessionSettings
from cb_pgm.session.state import SessionState
from cb_pgm.session.status import status_of
from discovery.table.discrete_table import DiscreteTable, source_name

if TYPE_CHECKING:
    from cb_pgm.session.setup import Setup

__all__ = ["replay_log"]


def replay_log(
    setup: Setup,
    policies: Sequence[str] = (),
    *,
    runs: int = 1,
    fewest: int = 20,
    batch: int = 1,
    hold_out: float = 0.0,
) -> ReplayReport:
    """Replay a log of interventions.

    Parameters
    ----------
    setup
        The settings as for a session, with `data` and an `intervention_column`, which a session's export
        needs not be told. The horizon is at most the number of logged rows.
    policies
        Names of the policies to compare; none: that of `setup` alone.
    runs
        The number of replays of each policy, each with the rows in another order. The orders are the same for
        all policies, so that adding one changes nothing for another.
    fewest
        Arms with fewer rows are left out, since they would end the replay at once.
    batch
        The smallest number of rows of a pull.
    hold_out
        The share of the observations that is drawn when the policy asks for do(), chosen at random by the
        seed. The policy and the marginals of the graph use the other observations only. With 0 there are no
        rows for do().

    Returns
    -------
    ReplayReport
        The logged arms, and the outcome of each replay.

    Raises
    ------
    DiscoveryError, CausalBanditError
        If the table or a setting isn't valid, or no arm has enough rows.
    """
    setup = setup.with_export()
    if setup.data is None:
        raise SessionError("Expected a log of interventions but found none: give one")
    if runs < 1 or fewest < 1 or batch < 1 or not 0 <= hold_out < 1:
        raise CausalBanditError(
            f"Expected runs, fewest and batch of at least 1 and hold_out from 0 to below 1 but found {runs}, "
            f"{fewest}, {batch} and {hold_out}: change the one out of range"
        )
    played = tuple(dict.fromkeys(policies or [setup.policy]))
    for name in played:
        if policy_kind(name).sets_several:
            raise SessionError(
                f"Expected policies that set one variable at a time, as logged, but found {name}: "
                "choose another"
            )
    seed = secrets.randbits(32) if setup.seed is None else setup.seed
    table, reward = read_table(setup, setup.data)
    if table.interventional is None:
        raise SessionError(
            "Expected a log with a column that names the variable set in each row but found none "
            "named: give it with --intervention-column"
        )
    order = np.random.default_rng(np.random.SeedSequence([seed, 1])).permutation(table.n_rows)
    kept = np.sort(order[round(hold_out * table.n_rows) :])
    logs = []
    notes: dict[str, None] = {}
    for name in played:
        log, found = _log(replace(setup, policy=name, seed=seed), table, reward, kept, fewest)
        logs.append(log)
        notes |= dict.fromkeys(found)
    log = logs[0]
    arms = log.logged(log.arms)
    return ReplayReport(
        log=source_name(setup.data),
        reward=str(log.settings.reward),
        minimize=log.settings.minimize,
        seed=seed,
        observations=log.observations,
        arms=arms,
        left_out=log.logged(log.left_out),
        runs=tuple(
            _play(log, arms, batch, np.random.SeedSequence(seed, spawn_key=(run,)))
            for log in logs
            for run in range(runs)
        ),
        notes=tuple(notes),
    )


@dataclass(frozen=True, eq=False)
class _Log:
    """The rows that a replay draws from: by arm, under do(), and those that the policy learns from before."""

    settings: SessionSettings
    observations: int
    arms: Mapping[Intervention, Rows]
    left_out: Mapping[Intervention, Rows]
    observed: Rows
    earlier: Earlier | None

    def logged(self, arms: Mapping[Intervention, Rows]) -> tuple[LoggedArm, ...]:
        reward = self.settings.reward
        return tuple(
            LoggedArm(arm, len(rows), float(reward.rewards(rows.fields).mean())) for arm, rows in arms.items()
        )


def _log(
    setup: Setup, table: DiscreteTable, reward: RewardColumn, kept: NDArray[np.int64], fewest: int
) -> tuple[_Log, tuple[str, ...]]:
    """Return the rows of a table for one policy; of the observations it learns from those at `kept` only."""
    rewards = given_rewards(table)
    shown = replace(table, codes=np.asfortranarray(table.codes[kept]), rewards=rewards[kept])
    settings, notes = settings_of(setup, shown, reward)
    parts = list(earlier_rows(shown, settings))
    observed = parts.pop(0) if len(kept) else None
    arms: dict[Intervention, Rows] = {}
    left_out: dict[Intervention, Rows] = {}
    for part in parts:
        ((variable, _),) = part.intervention.items()
        if variable in settings.settable:
            (arms if len(part.rows) >= fewest else left_out)[part.intervention] = part.rows
    if not arms:
        raise CausalBanditError(
            f"Expected settable arms with at least {fewest} rows but found none in the log: "
            f"lower --fewest-rows"
        )
    settable = {
        variable: tuple(state for state in states if Intervention({variable: state}) in arms)
        for variable, states in settings.settable.items()
    }
    settings = replace(
        settings,
        settable={variable: states for variable, states in settable.items() if states},
        horizon=min(setup.horizon, sum(map(len, arms.values())) + table.n_rows - len(kept)),
    )
    held_out = np.setdiff1d(np.arange(table.n_rows), kept)
    rest = rows_of(table.codes[held_out], rewards[held_out], reward)
    return _Log(settings, table.n_rows, arms, left_out, rest, None if setup.cold else observed), notes


def _play(log: _Log, arms: tuple[LoggedArm, ...], batch: int, sequence: np.random.SeedSequence) -> ReplayRun:
    """Ask, draw and tell until the horizon, or until no rows are left of the arm asked for."""
    policy_seed, *order_seeds = sequence.spawn(2 + len(log.arms))
    settings = replace(log.settings, seed=int(policy_seed.generate_state(1)[0]))
    session_state = SessionState(settings, [] if len(log.observed) else [Intervention()])
    if log.earlier is not None:
        session_state.apply(log.earlier)
    left = {
        arm: _shuffled(rows, np.random.default_rng(seed))
        for (arm, rows), seed in zip(
            [(Intervention(), log.observed), *log.arms.items()], order_seeds, strict=True
        )
    }
    pulled = dict.fromkeys(left, 0)
    total, ended = 0.0, ""
    while not ended:
        if not session_state.can_ask:
            ended = session_state.over or "the policy asked for no further pull"
            break
        asked = session_state.propose(batch)
        session_state.apply(asked, asked=True)
        rows = left.get(asked.intervention)
        if asked.pull is None or rows is None or not len(rows):
            more = "no more rows" if rows is not None else "no rows"
            ended = f"the log has {more} of {asked.intervention}, which the policy asked for"
            break
        now, left[asked.intervention] = _split(rows, asked.size)
        session_state.apply(Told(asked.pull, now, True, ""))
        pulled[asked.intervention] += len(now)
        if asked.intervention:
            total += float(log.settings.reward.rewards(now.fields).sum())
    drawn = [pulled[arm.intervention] for arm in arms]
    means = [arm.mean for arm in arms]
    best = min(means) if log.settings.minimize else max(means)
    regret = sum(abs(best - mean) * rows for mean, rows in zip(means, drawn, strict=True))
    mean = total / sum(drawn) if sum(drawn) else None
    return ReplayRun(tuple(drawn), pulled[Intervention()], mean, regret, ended, status_of(session_state))


def _shuffled(rows: Rows, rng: np.random.Generator) -> Rows:
    order = rng.permutation(len(rows))
    return Rows(rows.codes[order], rows.fields[order], rows.complied[order])


def _split(rows: Rows, size: int) -> tuple[Rows, Rows]:
    """Return the first `size` rows, or all if there are fewer, and the rest."""
    first = Rows(rows.codes[:size], rows.fields[:size], rows.complied[:size])
    return first, Rows(rows.codes[size:], rows.fields[size:], rows.complied[size:])
