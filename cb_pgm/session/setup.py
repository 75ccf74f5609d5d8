"""From a table of observations, or from names of states only, to a session's settings and earlier rows."""

from __future__ import annotations

import os
import secrets
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import SessionError
from cb_pgm.pipeline.inputs import settable_states
from cb_pgm.policies.base import States
from cb_pgm.policies.registry import policy_kind
from cb_pgm.provenance import VERSION
from cb_pgm.session.settings import STOPS, RewardColumn, SessionSettings
from cb_pgm.session.storage.events import Earlier
from discovery.table.rows import find_reward

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
class Setup:
    """How to start a session.

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
    method, knowledge, alpha, uc_rule, equivalent_sample_size
        How the graph is estimated, as in `cb_pgm.pipeline.inputs.estimated_graph`.
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
    ignore, missing, bins, bin_rule, merge_rare, intervention_column, separator
        As in `discovery.read_csv`.
    """

    horizon: int
    policy: str = "screening"
    data: str | os.PathLike[str] | None = None
    states: str | os.PathLike[str] | Mapping[str, Sequence[str]] | None = None
    reward: str | None = None
    graph: str | os.PathLike[str] | None = None
    method: Literal["ges", "pc", "chow-liu"] = "ges"
    knowledge: str | os.PathLike[str] | None = None
    alpha: float = 0.01
    uc_rule: int = 2
    equivalent_sample_size: float = 1.0
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
    ignore: Sequence[str] = ()
    missing: str = "refuse"
    bins: int | None = None
    bin_rule: str = "quantile"
    merge_rare: float | None = None
    intervention_column: str | None = None
    separator: str | None = None

    def prepare(self) -> Beginning:
        """Read, estimate, and refuse all that is to be refused.

        Raises
        ------
        DiscoveryError, CausalBanditError
            If a file or a setting isn't what it must be.
        """
        self._check()
        if self.data is None:
            return self._from_states()
        from cb_pgm.session.from_table import from_table

        return from_table(self, self.data)

    def keywords(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the parameters of these names, to be passed on."""
        return {name: getattr(self, name) for name in names}

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

    def _check(self) -> None:
        kind = policy_kind(self.policy)
        if kind.told:
            raise SessionError(
                f"Expected a policy for the real world but found {self.policy}, which is told the truth: "
                f"take another"
            )
        if (self.data is None) == (self.states is None):
            found = "neither" if self.data is None else "both"
            raise SessionError(f"Expected observations (data) or names of states (states) but found {found}")
        if self.data is None and kind.needs_graph:
            raise SessionError(
                f"Expected observations for {self.policy}, which works on a graph, but found only names of "
                f"states: give data, or take a policy that needs no graph"
            )
        if self.horizon < 1:
            raise SessionError(f"Expected a horizon of at least 1 row but found {self.horizon}")
        if self.stop not in STOPS:
            raise SessionError(f"Expected stop to be one of {', '.join(STOPS)} but found {self.stop!r}")
        if not 0 < self.failure_prob < 1:
            raise SessionError(f"Expected a failure_prob between 0 and 1 but found {self.failure_prob}")
        if self.reward_range is not None and not self.reward_range[0] < self.reward_range[1]:
            raise SessionError(f"Expected a reward range from low to high but found {self.reward_range}")

    def _from_states(self) -> Beginning:
        known, reward = _given_states(self.states or {})
        wanted = self.reward or reward
        if wanted is None:
            raise SessionError("Expected a reward, COL or COL=STATE, but found none: name it")
        names = [*known, wanted.partition("=")[0].strip()]  # a numeric reward has no states
        column, state = find_reward(wanted, names, "the states given")
        states = {variable: values for variable, values in known.items() if variable != column}
        if state is None and column in known:
            raise SessionError(
                f"Expected numbers in the reward column {column!r} but found states for it: name the state "
                f"to reward, as in {column}=STATE"
            )
        if state is not None and state not in known.get(column, ()):
            raise SessionError(
                f"Expected the states of the reward column {column!r} to hold {state!r} but found "
                f"{', '.join(known.get(column, ())) or 'none'}: list them beside those of the variables"
            )
        reward_column = self.reward_column(column, state, known.get(column, ()))
        scale = self.scale_of_rewards(reward_column, None)
        return Beginning(self.settings(reward_column, states, scale), (), ())


def _given_states(
    given: str | os.PathLike[str] | Mapping[str, Sequence[str]],
) -> tuple[dict[str, tuple[str, ...]], str | None]:
    """Return each column's states, and the reward if the file names one."""
    reward: Any = None
    source = "the states given"
    if not isinstance(given, Mapping):
        source = repr(os.fspath(given))
        try:
            content = tomllib.loads(Path(given).read_text(encoding="utf-8-sig"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SessionError(f"Expected a TOML file but found another in {source}: {error}") from None
        reward, given = content.get("reward"), content.get("states", {})
        if not isinstance(given, Mapping) or not isinstance(reward, str | None):
            raise SessionError(
                f'Expected a table [states] with lines like drug = ["low", "high"], and perhaps reward = "…" '
                f"above it, but found others in {source}"
            )
    states = {}
    for variable, values in given.items():
        listed = isinstance(values, Sequence) and not isinstance(values, str)
        named = tuple(str(value).strip() for value in values) if listed else ()
        if len(named) < 2 or len(set(named)) < len(named) or "" in named or not variable.strip():
            raise SessionError(
                f"Expected at least two different states for each variable but found {values!r} for "
                f"{variable!r} in {source}"
            )
        states[variable.strip()] = named
    if len(states) < 1:
        raise SessionError(f"Expected the variables and their states but found none in {source}")
    return states, reward
