"""`SessionSettings`: the settings of a session, and the policy made from them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from cb_pgm.decoding import decoded
from cb_pgm.errors import SessionError
from cb_pgm.evidence.stopping import BASES, Basis
from cb_pgm.model.intervention import ArmEstimate, Intervention, Observations, States
from cb_pgm.model.reward_unit import RewardUnit
from cb_pgm.policies.base import Policy
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.registry import is_installed, make_policy
from cb_pgm.provenance import VERSION
from cb_pgm.session.events import Rows
from cb_pgm.session.exported import Exported
from discovery.documents import json_content
from discovery.table.settings import MISSING_TEXTS
from discovery.wording import listed, number

if TYPE_CHECKING:
    from discovery import EssentialGraph, Marginals

__all__ = ["RewardColumn", "SessionSettings", "check_states"]

#: When a session ends: at its horizon, or also once an arm is known to be about the best.
STOPS = ("horizon", "best-arm")

_STAND_IN = "ucb"
_NOT_READ = {"in_file": False}


def check_states(states: States) -> None:
    """Check that each variable has a name and at least two different states.

    Raises
    ------
    SessionError
        If one doesn't.
    """
    for variable, values in states.items():
        if len(values) < 2 or len(set(values)) < len(values) or "" in values or not variable.strip():
            raise SessionError(
                f"Expected at least two different states for each variable but found {list(values)} for "
                f"{variable!r}: list them as text"
            )


@dataclass(frozen=True)
class RewardColumn:
    """How the reward of a row is read.

    The *field* of a row is kept as a number: the number in a numeric column, else the index of the state.

    Attributes
    ----------
    column
        The name of the column.
    state
        The state with a reward of 1; other states have a reward of 0. None: the column's numbers are the
        reward.
    states
        With `state`: all states of the column.
    low, high
        Without `state`: the lowest and highest possible reward; None where there is no limit.
    """

    column: str
    state: str | None = None
    states: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        if self.state is not None and self.state not in self.states:
            raise SessionError(
                f"Expected the states of the reward column {self.column!r} to hold {self.state!r} but found "
                f"{listed(self.states)}: list them beside those of the variables"
            )
        low, high = self.limits
        if not low < high:
            raise SessionError(
                f"Expected a reward range from low to high but found {low:g} to {high:g}: change "
                f"--reward-range"
            )

    def rewards(self, fields: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rewards of rows with the given fields, both float64 [m]."""
        if self.state is None:
            return fields
        return np.asarray(fields == self.states.index(self.state), dtype=np.float64)

    @property
    def limits(self) -> tuple[float, float]:
        """The lowest and the highest possible reward; infinite where there is no limit."""
        if self.state is not None:
            return 0.0, 1.0
        return -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high

    def text(self, field: float) -> str:
        """Return a field as it stands in a table: the number, or the name of the state."""
        return f"{field:.17g}" if self.state is None else self.states[int(field)]

    def __str__(self) -> str:
        return self.column if self.state is None else f"{self.column}={self.state}"


@dataclass(frozen=True, eq=False)
class SessionSettings:
    """The settings of a session.

    Attributes
    ----------
    policy
        The name of a policy, as in `cb_pgm.policies.registry`.
    horizon
        T, the number of rows to ask for in all.
    states, settable
        As in `Policy`.
    reward, minimize
        How the reward is read from a row, and whether low rewards are better.
    noise_scale, failure_prob
        σ, in units of the reward, and δ.
    max_parents, reward_gap, effect_gap, graph, marginals
        As in `PolicyContext`.
    stop
        "horizon", or "best-arm" to end also as soon as an arm is within `within` of the best, at 1 − δ.
    within, on
        That tolerance, in units of the reward (None: a tenth of the rewards' range, or .2 σ), and the basis:
        "experimental", by rows of all arms that may be best, or "identified", which assumes at most
        `max_parents` causes and no hidden one (`Policy.shortfall`).
    control, control_share
        Today's practice, the arm over which the gain is measured ({}: do()), and the share of the rows that
        it gets at least, whatever the policy prefers. Without one (None) the policy alone chooses.
    unit
        What a row stands for, in the plural: "rows", "patients".
    seed
        Seed of the policy.
    source
        Where the data come from, with the versions in use, for the record.
    merged
        For each variable with rare states merged into one, those states and the name of the one.
    na
        The texts that are missing values, as empty fields are.
    decimal
        The decimal mark of the table's numbers, "." or ","; None where nothing settles it.
        Rows that don't settle it themselves are read so.
    trusted
        Whether a person named the policy, and not only a file: then one of their own may be imported.
    """

    policy: str
    horizon: int
    states: dict[str, tuple[str, ...]]
    settable: dict[str, tuple[str, ...]]
    reward: RewardColumn
    noise_scale: float
    failure_prob: float = 0.05
    minimize: bool = False
    max_parents: int = 1
    reward_gap: float | None = None
    effect_gap: float | None = None
    graph: EssentialGraph | None = field(default=None, metadata=_NOT_READ)
    marginals: Marginals | None = field(default=None, metadata=_NOT_READ)
    stop: str = "horizon"
    within: float | None = None
    on: Basis = "experimental"
    control: dict[str, str] | None = None
    control_share: float = 0.1
    unit: str = "rows"
    seed: int = 0
    source: Mapping[str, Any] = field(default_factory=dict)
    merged: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    na: tuple[str, ...] = MISSING_TEXTS
    decimal: str | None = None
    trusted: bool = field(default=False, metadata=_NOT_READ)

    def __post_init__(self) -> None:
        check_states(self.states)
        for variable, states in self.settable.items():
            if not states or not set(states) <= set(self.states.get(variable, ())):
                raise SessionError(
                    f"Expected settable states among those of {variable!r} but found {list(states)}: "
                    f"name those"
                )
        if self.horizon < 1:
            raise SessionError(f"Expected a horizon of at least 1 row but found {self.horizon}")
        if self.stop not in STOPS:
            raise SessionError(f"Expected stop to be {listed(STOPS, last='or')} but found {self.stop!r}")
        if self.on not in BASES:
            raise SessionError(f"Expected on to be {listed(BASES, last='or')} but found {self.on!r}")
        if self.within is not None and not 0 <= self.within < math.inf:
            raise SessionError(f"Expected within to be at least 0 but found {self.within:g}")
        if not self.noise_scale > 0 or self.max_parents < 1:
            raise SessionError(
                f"Expected a positive noise scale and at least one parent but found {self.noise_scale} and "
                f"{self.max_parents}: change --noise-scale or --max-parents"
            )
        for variable, state in (self.control or {}).items():
            if state not in self.settable.get(variable, ()):
                raise SessionError(
                    f"Expected do() or an arm that can be set as the control but found {variable} = {state}: "
                    f"change --control"
                )
        if not 0 < self.control_share < 1:
            raise SessionError(
                f"Expected a share of the rows between 0 and 1 for the control but found "
                f"{self.control_share:g}: change --control-share"
            )
        if self.decimal not in (None, ".", ","):
            raise SessionError(f'Expected "." or "," as the decimal mark but found {self.decimal!r}')
        if not 0 < self.failure_prob < 1:
            raise SessionError(
                f"Expected a failure probability between 0 and 1 but found {self.failure_prob}: change "
                f"--failure-prob"
            )

    @property
    def exported(self) -> Exported:
        """What an export of the session says of it."""
        low, high = self.reward.low, self.reward.high
        return Exported(
            reward=str(self.reward),
            minimize=self.minimize,
            reward_range=None if low is None or high is None else (low, high),
            unit=self.unit,
            states=self.states,
            settable=self.settable,
        )

    @property
    def gain_share(self) -> float:
        """The share of δ of the interval of the gain over the control: a fifth, nothing without a control."""
        return 0.0 if self.control is None else self.failure_prob / 5

    @property
    def tolerance(self) -> float:
        """By how much less than the best the arm may earn at which the session stops."""
        return self.noise_scale / 5 if self.within is None else self.within

    @property
    def loads_policy(self) -> bool:
        """Whether the policy may be loaded: it is installed, or a person named it."""
        return self.trusted or is_installed(self.policy)

    @property
    def is_of_this_version(self) -> bool:
        """Whether the session was started with this version of the program."""
        versions = self.source.get("versions")
        return isinstance(versions, Mapping) and versions.get("cb_pgm") == VERSION

    def new_policy(self, excluded: Sequence[Intervention] = (), added: int = 0) -> Policy:
        """Return a new policy without data, which never asks for the arms in `excluded`.

        Where the policy may not be loaded it is `ucb`, which knows as much of every arm, to look at the rows.

        Parameters
        ----------
        excluded
            The arms that can't be carried out.
        added
            The number of states that were added and of ranges that were changed since the session began, on
            which the seed depends.

        Raises
        ------
        CausalBanditError
            If no policy can be made with these settings.
        """
        settable: States = {
            variable: tuple(state for state in states if {variable: state} not in excluded)
            for variable, states in self.settable.items()
        }
        unit = self.reward_unit
        context = PolicyContext(
            states=self.states,
            settable=settable,
            noise_scale=unit.difference_inside(self.noise_scale),
            failure_prob=self.failure_prob - self.gain_share,
            graph=self.graph,
            marginals=self._marginals_inside(),
            reward_gap=None if self.reward_gap is None else unit.difference_inside(self.reward_gap),
            effect_gap=self.effect_gap,
            max_parents=self.max_parents,
            plays_do=Intervention() not in excluded,
            stop_on=self.on if self.stop == "best-arm" else None,
        )
        seed = np.random.SeedSequence(self.seed, spawn_key=(len(excluded), *([added] if added else [])))
        name = self.policy if self.loads_policy else _STAND_IN
        policy = make_policy(name, context).fresh(np.random.default_rng(seed))
        policy.mean_text = lambda mean: number(self.from_policy(mean), self.reward_unit.width)
        return policy

    def with_range(self, low: float, high: float) -> SessionSettings:
        """Return the settings with another range of the numeric reward, of which σ is half.

        Raises
        ------
        SessionError
            If the reward isn't numeric, or the range is empty.
        """
        if self.reward.state is not None:
            raise SessionError(
                f"Expected a numeric reward but found {self.reward}, whose rewards are 0 and 1: its range "
                f"can't change"
            )
        reward = replace(self.reward, low=low, high=high)
        return replace(self, reward=reward, noise_scale=(high - low) / 2)

    def with_state(self, variable: str, state: str) -> SessionSettings:
        """Return the settings with one more state of a variable, which can't be set, after its others."""
        states = {**self.states, variable: (*self.states[variable], state)}
        marginals = self.marginals
        if marginals is not None:
            known = {**marginals.probabilities, variable: np.append(marginals.probabilities[variable], 0.0)}
            marginals = replace(marginals, probabilities=known)
        return replace(self, states=states, marginals=marginals)

    def observations(self, rows: Rows) -> Observations:
        """Return rows in the policy's form: codes [m, n], and rewards [m] of which higher ones are better."""
        rewards = self.reward_unit.rewards(self.reward.rewards(rows.fields))
        return Observations(rows.codes, self._flip_from - rewards if self.minimize else rewards)

    def from_policy(self, reward: float) -> float:
        """Return a mean reward of the policy on the scale of the data."""
        return self.reward_unit.outside(self._flip_from - reward if self.minimize else reward)

    def as_asked(self, arm: ArmEstimate) -> ArmEstimate:
        """Return a policy's estimate on the scale of the data, its interval cut to the possible rewards."""
        low, high = sorted((self.from_policy(arm.low), self.from_policy(arm.high)))
        lowest, highest = self.reward.limits
        return replace(arm, mean=self.from_policy(arm.mean), low=max(low, lowest), high=min(high, highest))

    @property
    def reward_unit(self) -> RewardUnit:
        """The unit of the data's rewards: inside they are in [0, 1], or σ is 1 where no range is known."""
        low, high = self.reward.limits
        if math.isfinite(high - low):
            return RewardUnit(low, high - low)
        return RewardUnit(0.0, self.noise_scale)

    @property
    def _flip_from(self) -> float:
        """With `minimize` the number c with which a reward R inside is c − R for the policy."""
        return 1.0 if math.isfinite(self.reward.limits[0]) else 0.0

    def _marginals_inside(self) -> Marginals | None:
        """Return the marginals with the mean reward as it is inside; the file has −R or 1 − R to minimize."""
        if self.marginals is None or self.marginals.reward_mean is None:
            return self.marginals
        mean = self.marginals.reward_mean
        if self.minimize:
            asked = (0.0 if self.reward.state is None else 1.0) - mean
            inside = self._flip_from - self.reward_unit.inside(asked)
        else:
            inside = self.reward_unit.inside(mean)
        return replace(self.marginals, reward_mean=inside)

    def to_json(self) -> str:
        """Return the settings as JSON, with exact floats."""
        content = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "trusted"}
        return json.dumps(content, default=_plain, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> SessionSettings:
        """Read settings that `to_json` wrote.

        Raises
        ------
        SessionError
            If the text holds no settings, or such that no session can have; the error names the place.
        """
        try:
            content = decoded(dict[str, Any], json_content(text))
            graph, marginals = content.pop("graph", None), content.pop("marginals", None)
            settings = decoded(cls, content)
            states = settings.states
            return replace(settings, graph=_graph(graph, states), marginals=_marginals(marginals, states))
        except ValueError as error:
            raise SessionError(
                f"Expected the settings of a session but found damaged ones ({error}): restore the file"
            ) from error


class _MarginalsInFile(TypedDict):
    probabilities: dict[str, tuple[float, ...]]
    rows: int | None
    reward_mean: float | None


def _plain(value: Any) -> Any:
    """Return for JSON what is no plain value: a reward column, marginals and their arrays, or a graph."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return json.loads(value.to_json()) if hasattr(value, "to_json") else vars(value)


def _graph(content: Any, states: States) -> EssentialGraph | None:
    if content is None:
        return None
    from discovery import EssentialGraph  # imported late: only graphs need networkx

    graph = EssentialGraph.from_json(json.dumps(content))
    _check_variables(graph.nodes, states, "graph.nodes")
    return graph


def _marginals(content: Any, states: States) -> Marginals | None:
    if content is None:
        return None
    from discovery import Marginals

    known = decoded(_MarginalsInFile, content, "marginals")
    probabilities = {variable: np.array(values) for variable, values in known["probabilities"].items()}
    _check_variables(probabilities, states, "marginals.probabilities")
    return Marginals(probabilities, rows=known["rows"], reward_mean=known["reward_mean"])


def _check_variables(names: Iterable[str], states: States, where: str) -> None:
    if set(names) != set(states):
        raise ValueError(f"expected the variables {listed(states)} at {where} but found {listed(names)}")
