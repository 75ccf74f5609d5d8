"""How a session is started, and the parts of its settings that follow from that alone."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import SessionError
from cb_pgm.model.intervention import States
from cb_pgm.pipeline.inputs import settable_states
from cb_pgm.provenance import VERSION
from cb_pgm.session.events import Earlier
from cb_pgm.session.settings import RewardColumn, SessionSettings
from discovery.estimation.settings import EstimateSettings
from discovery.table.settings import TableSettings

if TYPE_CHECKING:
    from discovery import EssentialGraph, Marginals

__all__ = ["Beginning", "Setup"]


@dataclass(frozen=True, eq=False)
class Beginning:
    """What a session starts from: settings, rows that are there already, and what a person must know."""

    settings: SessionSettings
    earlier: tuple[Earlier, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Setup(TableSettings, EstimateSettings):
    """How to start a session: the settings below, and those of `TableSettings` and `EstimateSettings`.

    Parameters
    ----------
    horizon
        Rows that are asked for in all.
    policy
        A name out of `cb_pgm.policies.registry.POLICIES`; those that work on a graph need `data`.
    data
        A CSV of observations, with the reward as one of its columns.
    states
        Instead of `data`: each variable's states, as a mapping or as a TOML file with a table [states] and,
        if need be, ``reward = "…"``. With a reward "col=state" that column's states are among them.
    reward
        A numeric column, or "col=state": 1 where the column has the state.
    graph
        A graph in JSON or BIF to use instead of an estimate.
    not_settable
        Variables that can't be set.
    minimize
        Look for the lowest mean reward.
    noise_scale, reward_range
        σ of the rewards, or two numbers between which they lie. None: half the observed range, ½ for
        "col=state".
    failure_prob, reward_gap, effect_gap, max_parents
        As in `PolicyContext`; gaps and parents are taken from a model fitted to `data` where they are None.
    stop
        "horizon", or "best-arm": also as soon as the best arm is certain.
    warm_start
        Whether rows of `data` teach the policy before its first pull: interventional ones their arms, others
        what can be ruled out.
    seed
        None: drawn.
    unit
        What a row is to the person, in the plural.
    """

    horizon: int
    policy: str = "screening"
    data: str | os.PathLike[str] | None = None
    states: str | os.PathLike[str] | Mapping[str, Sequence[str]] | None = None
    reward: str | None = None
    graph: str | os.PathLike[str] | None = None
    not_settable: Sequence[str] = ()
    minimize: bool = False
    noise_scale: float | None = None
    reward_range: tuple[float, float] | None = None
    failure_prob: float = 0.05
    reward_gap: float | None = None
    effect_gap: float | None = None
    max_parents: int | None = None
    stop: str = "horizon"
    warm_start: bool = True
    seed: int | None = None
    unit: str = "rows"

    def settings(
        self,
        reward: RewardColumn,
        states: States,
        noise_scale: float,
        *,
        max_parents: int = 1,
        gaps: tuple[float | None, float | None] = (None, None),
        graph: EssentialGraph | None = None,
        marginals: Marginals | None = None,
        source: Mapping[str, Any] | None = None,
    ) -> SessionSettings:
        """Fill in what was found out, and refuse settings with which no policy can be made."""
        can_set = {name: tuple(values) for name, values in states.items()}
        settable = settable_states(can_set, self.not_settable) or can_set
        versions = {"cb_pgm": VERSION, "numpy": np.__version__}
        settings = SessionSettings(
            policy=self.policy,
            horizon=self.horizon,
            states=can_set,
            settable={name: tuple(values) for name, values in settable.items()},
            reward=reward,
            noise_scale=noise_scale,
            failure_prob=self.failure_prob,
            minimize=self.minimize,
            max_parents=self.max_parents or max_parents,
            reward_gap=gaps[0] if self.reward_gap is None else self.reward_gap,
            effect_gap=gaps[1] if self.effect_gap is None else self.effect_gap,
            graph=graph,
            marginals=marginals,
            stop=self.stop,
            unit=self.unit,
            seed=secrets.randbits(32) if self.seed is None else self.seed,
            source={"versions": versions, **(source or {})},
        )
        settings.new_policy()
        return settings

    def scale_of_rewards(self, reward: RewardColumn, seen: NDArray[np.float64] | None) -> float:
        """Return σ: as given, half the given range, ½ for a state, or half the range of the rewards seen.

        Raises
        ------
        SessionError
            If nothing tells, or rewards seen lie outside of the range given.
        """
        if self.noise_scale is not None:
            return self.noise_scale
        if reward.state is not None:
            return 0.5
        if reward.low is not None and reward.high is not None:
            return (reward.high - reward.low) / 2
        if seen is None or np.ptp(seen) == 0:
            raise SessionError(
                f"Expected to know how far the rewards {reward.column!r} scatter but found no rows to tell: "
                f"give the range in which they lie, or a noise scale"
            )
        return float(np.ptp(seen)) / 2

    def reward_column(self, column: str, state: str | None, states: Sequence[str]) -> RewardColumn:
        """Return how rewards are read; their range applies to numbers only."""
        low, high = self.reward_range if self.reward_range is not None and state is None else (None, None)
        return RewardColumn(column, state, tuple(states) if state is not None else (), low, high)
