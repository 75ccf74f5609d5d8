"""The settings of a start (`Setup`), and the value that a session starts from (`Beginning`)."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import SessionError
from cb_pgm.evidence.stopping import Basis
from cb_pgm.model.intervention import States
from cb_pgm.problem.problem import settable_states
from cb_pgm.provenance import VERSION
from cb_pgm.session.events import Earlier
from cb_pgm.session.exported import Exported, exported
from cb_pgm.session.settings import RewardColumn, SessionSettings
from discovery.estimation.settings import EstimateSettings
from discovery.table.discrete_table import Source
from discovery.table.settings import TableSettings

if TYPE_CHECKING:
    import networkx as nx

    from discovery import EssentialGraph, Marginals

__all__ = ["Beginning", "Setup"]


@dataclass(frozen=True, eq=False)
class Beginning:
    """The value that a session starts from.

    Attributes
    ----------
    settings
        The settings of the session, which never change.
    earlier
        Rows from before the session that the policy learns from, grouped by intervention.
    notes
        Warnings for the user, one sentence each.
    """

    settings: SessionSettings
    earlier: tuple[Earlier, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Setup(TableSettings, EstimateSettings):
    """The settings of a start: those below, and those of `TableSettings` and `EstimateSettings`.

    Parameters
    ----------
    horizon
        The number of rows to ask for in all.
    policy
        The name of a policy, as in `cb_pgm.policies.registry`. Policies that work on a graph, and your own
        (module:attribute), need `data`.
    data
        A CSV or Parquet file of observations, or a data frame, with the reward as one of its columns.
    states
        Instead of `data`: the states of each variable, as a mapping or as a TOML file with a table [states]
        and perhaps ``reward = "…"``. For a reward "col=state" they include the states of that column.
    reward
        A numeric column, or "col=state" for a reward of 1 where the column has that state and 0 elsewhere.
    graph
        A graph in JSON or BIF, or one of networkx or pgmpy, to use instead of an estimate.
    not_settable
        Variables that can't be set.
    minimize
        Look for the lowest mean reward.
    noise_scale, reward_range
        σ of the rewards, or the lowest and highest reward, of which σ is half the difference. None: half the
        observed range, and ½ for "col=state".
    failure_prob, reward_gap, effect_gap, max_parents
        As in `PolicyContext`. Gaps and the number of parents that are None come from a model fitted to
        `data`.
    stop
        "horizon", or "best-arm" to end the session also as soon as an arm is known to be as good as the best.
    within, on
        How much less it may earn, and on which basis (`SessionSettings`).
    control, control_share
        Today's practice, over which the gain is to be measured: "do()", or an arm as "drug=low". It gets at
        least this share of the rows. None: the policy alone chooses.
    cold
        Let the policy start without the rows of `data`. Otherwise it learns from them before its first pull:
        from interventional rows about their arms, from observations about the variables to rule out.
    seed
        Seed of the policy; None: drawn.
    unit
        What a row stands for, in the plural: "patients".
    export
        What an export says of its session (`with_export`).
    """

    horizon: int
    policy: str = "screening"
    data: Source | None = None
    states: str | os.PathLike[str] | Mapping[str, Sequence[str]] | None = None
    reward: str | None = None
    graph: str | os.PathLike[str] | EssentialGraph | nx.Graph[str] | None = None
    not_settable: Sequence[str] = ()
    minimize: bool = False
    noise_scale: float | None = None
    reward_range: tuple[float, float] | None = None
    failure_prob: float = 0.05
    reward_gap: float | None = None
    effect_gap: float | None = None
    max_parents: int | None = None
    stop: str = "horizon"
    within: float | None = None
    on: Basis = "experimental"
    control: str | None = None
    control_share: float = 0.1
    cold: bool = False
    seed: int | None = None
    unit: str = "rows"
    export: Exported | None = None

    def with_export(self) -> Setup:
        """Return the setup with what an export says of its session, where nothing else was given."""
        told = exported(self.data)
        if told is None:
            return self
        return replace(
            self,
            export=told,
            reward=self.reward or told.reward,
            not_settable=self.not_settable or told.not_settable,
            minimize=self.minimize or told.minimize,
            reward_range=self.reward_range or (None if self.noise_scale else told.reward_range),
            unit=told.unit if self.unit == "rows" else self.unit,
        )

    def all_states(self, shown: States) -> dict[str, tuple[str, ...]]:
        """Return the states that a table shows, each variable's followed by those that an export names."""
        known = {} if self.export is None else self.export.states
        return {
            name: (*values, *(state for state in known.get(name, ()) if state not in values))
            for name, values in shown.items()
        }

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
        merged: Mapping[str, Mapping[str, str]] | None = None,
        decimal: str | None = None,
    ) -> SessionSettings:
        """Return the settings of the session, with the parts that were estimated.

        Parameters
        ----------
        reward
            How rewards are read from a row.
        states
            The states of each variable.
        noise_scale
            σ, in units of the reward.
        max_parents, gaps
            The estimated number of parents of the reward, and (Δ, ε); values of this setup come before them.
        graph, marginals
            The essential graph and the marginals, for policies that work on a graph.
        source
            Where the data come from, for the record.
        merged, decimal
            As in `SessionSettings`.

        Raises
        ------
        CausalBanditError
            If no policy can be made with these settings.
        """
        can_set = {name: tuple(values) for name, values in states.items()}
        settable = settable_states(can_set, self.not_settable)
        if self.export is not None:
            settable = {
                name: [state for state in values if state in self.export.settable.get(name, values)]
                for name, values in settable.items()
            }
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
            within=self.within,
            on=self.on,
            control=None if self.control is None else _arm(self.control),
            control_share=self.control_share,
            unit=self.unit,
            seed=secrets.randbits(32) if self.seed is None else self.seed,
            source={"versions": versions, **(source or {})},
            merged=merged or {},
            decimal=decimal,
            na=tuple(self.na),
            trusted=True,
        )
        policy = settings.new_policy()
        if settings.stop == "best-arm" and settings.on == "identified" and policy.candidates is None:
            raise SessionError(
                f"Expected a policy that identifies causes with on=identified but found {settings.policy}: "
                f"choose screening, or on=experimental"
            )
        return settings

    def scale_of_rewards(self, reward: RewardColumn, seen: NDArray[np.float64] | None) -> float:
        """Return σ, in units of the reward.

        It is the given noise scale, ½ for the reward of a state, half the given range, or half the observed
        range of `seen` [m], whichever is known first.

        Raises
        ------
        SessionError
            If none of these is known.
        """
        if self.noise_scale is not None:
            return self.noise_scale
        if reward.state is not None:
            return 0.5
        if reward.low is not None and reward.high is not None:
            return (reward.high - reward.low) / 2
        if seen is None or np.ptp(seen) == 0:
            raise SessionError(
                f"Expected a range for the numeric reward {reward.column!r} but found no rows that show one: "
                f"give --reward-range or --noise-scale"
            )
        return float(np.ptp(seen)) / 2

    def reward_column(self, column: str, state: str | None, states: Sequence[str]) -> RewardColumn:
        """Return how the reward is read from a row; the reward range applies to numeric columns only."""
        low, high = self.reward_range if self.reward_range is not None and state is None else (None, None)
        return RewardColumn(column, state, tuple(states) if state is not None else (), low, high)


def _arm(text: str) -> dict[str, str]:
    """Return the variable and the state of "drug=low", or of "do(drug = low)"; nothing for "do()"."""
    inside = text.strip()
    if inside.startswith("do(") and inside.endswith(")"):
        inside = inside[3:-1]
    variable, equals, state = (part.strip() for part in inside.partition("="))
    if not variable and not equals:
        return {}
    if not (variable and state):
        raise SessionError(
            f'Expected "do()" or an arm such as drug=low as the control but found {text!r}: change --control'
        )
    return {variable: state}
