"""A policy on history: logged interventions, drawn without replacement as the policy asks for them.

Nothing is modelled, so what comes out is what would have come out, in distribution, if the rows of each arm
had been measured in a random order. An arm without rows can't be asked for, and a replay ends when the policy
asks for an arm that has no rows left: what it would have seen next nobody knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cb_pgm.errors import CausalBanditError, SessionError
from cb_pgm.model.intervention import Intervention
from cb_pgm.session.events import Earlier, Rows, Told
from cb_pgm.session.from_table import earlier_rows, given_rewards, read_table, rows_of, settings_of
from cb_pgm.session.replay_report import LoggedArm, ReplayReport, ReplayRun
from cb_pgm.session.settings import SessionSettings
from cb_pgm.session.state import SessionState
from cb_pgm.session.status import status_of

if TYPE_CHECKING:
    from cb_pgm.session.setup import Setup

__all__ = ["replay_log"]


def replay_log(
    setup: Setup, *, runs: int = 1, fewest: int = 20, batch: int = 1, hold_out: float = 0.0
) -> ReplayReport:
    """Replay a log of interventions.

    Parameters
    ----------
    setup
        As for a session, with `data` and an `intervention_column`. Its horizon is cut to the rows there are.
    runs
        How many replays, each with the rows in another order.
    fewest
        Arms with fewer rows are not asked for: they would end the replay at once.
    batch
        Rows a pull, at least.
    hold_out
        The share of observations that is neither shown to the policy nor used for the graph's marginals, but
        drawn when the policy asks for do(); without it do() has no rows.

    Raises
    ------
    DiscoveryError, CausalBanditError
        If the table or a setting isn't what it must be, or no arm has enough rows.
    """
    if setup.data is None or setup.intervention_column is None:
        raise SessionError("Expected a log and the column that says what was set but found none: name both")
    if runs < 1 or fewest < 1 or batch < 1 or not 0 <= hold_out < 1:
        raise CausalBanditError(
            f"Expected runs, fewest and batch of at least 1 and hold_out below 1 but found {runs}, {fewest}, "
            f"{batch} and {hold_out}"
        )
    log, notes = _read(setup, fewest, hold_out)
    seed = log.settings.seed
    arms = log.logged(log.arms)
    return ReplayReport(
        log=str(setup.data),
        reward=str(log.settings.reward),
        minimize=log.settings.minimize,
        seed=seed,
        observations=log.observations,
        arms=arms,
        left_out=log.logged(log.left_out),
        runs=tuple(
            _play(log, arms, batch, np.random.SeedSequence(seed, spawn_key=(run,))) for run in range(runs)
        ),
        notes=notes,
    )


@dataclass(frozen=True, eq=False)
class _Log:
    """What a replay draws from: rows by arm, those under do(), and what the policy is given beforehand."""

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


def _read(setup: Setup, fewest: int, hold_out: float) -> tuple[_Log, tuple[str, ...]]:
    table, reward = read_table(setup, setup.data or "")
    kept = table.n_rows - round(hold_out * table.n_rows)
    rewards = given_rewards(table)
    shown = replace(table, codes=table.codes[:kept], rewards=rewards[:kept])
    settings, notes = settings_of(setup, shown, reward)
    observed, *parts = earlier_rows(shown, settings)
    arms: dict[Intervention, Rows] = {}
    left_out: dict[Intervention, Rows] = {}
    for part in parts:
        ((variable, _),) = part.intervention.items()
        if variable in settings.settable:
            (arms if len(part.rows) >= fewest else left_out)[part.intervention] = part.rows
    if not arms:
        raise CausalBanditError(
            f"Expected arms with at least {fewest} rows but found none that can be set in {setup.data}: "
            f"lower the fewest rows"
        )
    settable = {
        variable: tuple(state for state in states if Intervention({variable: state}) in arms)
        for variable, states in settings.settable.items()
    }
    settings = replace(
        settings,
        settable={variable: states for variable, states in settable.items() if states},
        horizon=min(setup.horizon, sum(map(len, arms.values())) + table.n_rows - kept),
    )
    rest = rows_of(table.codes[kept:], rewards[kept:], reward)
    return _Log(settings, table.n_rows, arms, left_out, rest, observed if setup.warm_start else None), notes


def _play(log: _Log, arms: tuple[LoggedArm, ...], batch: int, sequence: np.random.SeedSequence) -> ReplayRun:
    """Ask, draw and tell until the horizon, or until there is nothing left of what is asked for."""
    policy_seed, *order_seeds = sequence.spawn(2 + len(log.arms))
    session_state = SessionState(replace(log.settings, seed=int(policy_seed.generate_state(1)[0])))
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
            ended = session_state.over or "the policy asked for nothing"
            break
        asked = session_state.propose(batch)
        session_state.apply(asked, asked=True)
        rows = left.get(asked.intervention)
        if asked.pull is None or rows is None or not len(rows):
            more = "no more rows" if rows is not None else "no rows"
            ended = f"{asked.intervention} was asked for, and the log has {more}"
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
    """Return the first `size` rows, or all there are, and the others."""
    first = Rows(rows.codes[:size], rows.fields[:size], rows.complied[:size])
    return first, Rows(rows.codes[size:], rows.fields[size:], rows.complied[size:])
