"""Simulate a policy on a system whose true model is known, with exact pseudo-regret."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalBanditError
from cb_pgm.model.intervention import ArmEstimate, Intervention, Observations, States
from cb_pgm.model.system import CausalSystem
from cb_pgm.policies.base import Policy
from cb_pgm.policies.index_policies import IndexPolicy, RewardsAhead
from discovery.wording import listed

if TYPE_CHECKING:
    import pandas as pd

    from cb_pgm.model.reward_unit import RewardUnit
    from cb_pgm.search.trace import SearchTrace

__all__ = ["MOST_OBSERVATIONS", "EarlierRows", "Run", "System", "check_system", "drawn_rows", "simulate"]

#: The number of observations that a policy starts from at most; more seldom rule out more.
MOST_OBSERVATIONS = 10_000

#: Rows from before the first pull, with the intervention under which they were recorded.
EarlierRows: TypeAlias = "tuple[tuple[Intervention, Observations], ...]"

_CURVE_POINTS_PER_DECADE = 20
_LARGEST_BATCH = 2**22  # codes per call of `tell`: bounds memory whatever batch size a policy requests
_ROWS_AHEAD = 2**27  # codes drawn in advance, over all arms together


class System(Protocol):
    """What is asked of a system that policies are simulated on: any object with these four will do.

    `states` are those of each variable, `settable` those that can be set, by variable. ``sample`` returns
    rows drawn while the variables in the mapping are set to these states, coded in the order of `states`,
    with their rewards; ``mean_reward`` the exact mean reward then. An empty mapping stands for no
    intervention.
    """

    @property
    def states(self) -> States: ...

    @property
    def settable(self) -> States: ...

    def sample(self, do: Mapping[str, str], size: int, rng: np.random.Generator, /) -> Observations: ...

    def mean_reward(self, do: Mapping[str, str], /) -> float: ...


def check_system(system: object) -> None:
    """Raise CausalBanditError for an object that lacks one of the four."""
    missing = [name for name in ("states", "settable", "sample", "mean_reward") if not hasattr(system, name)]
    if missing:
        raise CausalBanditError(
            f"Expected a CausalSystem, or an object with states, settable, sample and mean_reward, but found "
            f"{type(system).__name__} without {listed(missing)}"
        )


@dataclass(frozen=True)
class Run:
    """The outcome of one policy on one system.

    Attributes
    ----------
    policy
        The policy's name.
    horizon
        T, the number of rounds played; a round of do() counts.
    regret
        Exact pseudo-regret T·μ* − Σ μ_{a_t}, in units of the reward. μ* is the highest mean of do() and the
        single-variable arms that can be set, so a policy that sets several variables at once may end below
        zero.
    rounds, regrets
        The regret curve, int64 and float64 [points]: pseudo-regret after each of these log-spaced rounds, of
        which the last is the horizon.
    reward_variables
        The identified parents of the reward; empty if the policy identified none.
    grounds
        On what these rest, as in `Policy.grounds`.
    interventions_to_find
        Rounds to identification: the number of rounds, those of do() included, after which the identified
        parents didn't change any more. None if the policy identified none.
    fallback
        Why the policy gave up its own method, in words; None if it didn't.
    best_arm
        The arm that the policy would recommend at the end, with its confidence interval.
    story
        The trace of its search, with every query and answer; None if it doesn't search.
    started_from
        The number of earlier rows from which it learned before its first pull.
    """

    policy: str
    horizon: int
    regret: float
    rounds: NDArray[np.int64]
    regrets: NDArray[np.float64]
    reward_variables: tuple[str, ...]
    grounds: str | None
    interventions_to_find: int | None
    fallback: str | None
    best_arm: ArmEstimate | None
    story: SearchTrace | None = None
    started_from: int = 0

    def outside(self, unit: RewardUnit) -> Run:
        """Return the outcome with differences of rewards in a person's unit; the best arm stays as it is."""
        width = unit.difference(1.0)
        story = self.story and self.story.scaled(width)
        return replace(self, regret=self.regret * width, regrets=self.regrets * width, story=story)

    @property
    def curve(self) -> pd.DataFrame:
        """The regret curve as a data frame: one row per recorded round, columns `round` and `regret`."""
        import pandas as pd

        return pd.DataFrame({"round": self.rounds, "regret": self.regrets})


def simulate(
    policy: Policy,
    system: System,
    horizon: int,
    seed: int | np.random.SeedSequence | None = None,
    *,
    earlier: EarlierRows = (),
    progress: Callable[[int], object] | None = None,
) -> Run:
    """Play `policy` on `system` for `horizon` rounds.

    The policy is copied and the copy starts without any observations, so the same object can be simulated
    several times.

    Parameters
    ----------
    policy
        The policy, over the variables and states of the system.
    system
        The system that answers its pulls: a `CausalSystem`, or any object like a `System`.
    horizon
        T ≥ 1, in rounds.
    seed
        The source of all randomness. Its first child seeds the draws of the system, its second those of the
        policy. None draws a fresh seed.
    earlier
        Rows from which the policy learns what it can before its first pull (`Policy.warm_start`);
        they must come from this system. They count no rounds: parents that they identify are identified
        after 0 rounds.
    progress
        Called after each pull with the number of rounds that it took.

    Returns
    -------
    Run
        The regret, the identified parents and the recommended arm.

    Raises
    ------
    CausalBanditError
        If the horizon is less than 1, if the variables or states of the policy differ from the system's, or
        if it asks for an arm that can't be set.
    """
    check_system(system)
    if horizon < 1:
        raise CausalBanditError(f"Expected a horizon of at least 1 round but found {horizon}")
    if {name: tuple(states) for name, states in system.states.items()} != policy.states:
        raise CausalBanditError(
            "Expected a policy over the system's variables and states but found others: make it with "
            "states=system.states"
        )
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    world_seed, policy_seed = sequence.spawn(2)
    policy = policy.fresh(np.random.default_rng(policy_seed))
    started_from = sum(len(rows) for arm, rows in earlier if policy.warm_start(arm, rows))
    rows = _RowsAhead(system, np.random.default_rng(world_seed))
    curve = _Curve(horizon, _best_mean(system))

    played, named, found_at = 0, policy.reward_variables, 0
    if isinstance(policy, IndexPolicy):
        _play_ahead(policy, rows, curve, horizon, progress)
        played = horizon
    largest = max(1, _LARGEST_BATCH // max(len(policy.states), 1))
    while played < horizon:
        pull = policy.ask()
        size = min(pull.size, horizon - played, largest)
        policy.tell(pull, rows.next(pull.intervention, size))
        curve.add(size, rows.mean(pull.intervention))
        played += size
        now = policy.reward_variables
        if now != named:
            named, found_at = now, played
        if progress is not None:
            progress(size)
    return Run(
        policy=policy.name,
        horizon=horizon,
        regret=curve.regret,
        rounds=curve.rounds,
        regrets=curve.regrets,
        reward_variables=named,
        grounds=policy.grounds,
        interventions_to_find=found_at if named else None,
        fallback=policy.fallback,
        best_arm=policy.best_arm(),
        story=policy.story,
        started_from=started_from,
    )


def _best_mean(system: System) -> float:
    """Return the highest mean reward of do() and of all arms on one variable."""
    if isinstance(system, CausalSystem):
        return system.best_arm()[1]  # of all arms at once, in far less time
    arms = [{variable: state} for variable, states in system.settable.items() for state in states]
    return max(float(system.mean_reward(arm)) for arm in [{}, *arms])


def drawn_rows(system: System, counts: Mapping[Intervention, int], rng: np.random.Generator) -> EarlierRows:
    """Return so many rows of each intervention, drawn from a system; those it can't make are left out."""
    return tuple(
        (arm, system.sample(arm, rows, rng))
        for arm, rows in counts.items()
        if rows and all(state in system.states.get(variable, ()) for variable, state in arm.items())
    )


def _play_ahead(
    policy: IndexPolicy,
    rows: _RowsAhead,
    curve: _Curve,
    horizon: int,
    progress: Callable[[int], object] | None,
) -> None:
    """Play an index policy as round by round, with the same rows, in a compiled loop."""
    arms = policy.arms
    means = np.array([rows.mean(arm) for arm in arms])
    empty = np.zeros(len(arms), dtype=np.int64)
    ahead = RewardsAhead(np.empty((len(arms), rows.largest)), empty, empty.copy())
    position = {arm: place for place, arm in enumerate(arms)}
    played = 0
    while played < horizon:
        chosen = policy.play_ahead(ahead, horizon - played)
        if len(chosen):
            curve.add_rounds(means[chosen])
            played += len(chosen)
            if progress is not None:
                progress(len(chosen))
        else:
            arm = policy.ask().intervention
            rewards = rows.block(arm).rewards
            place = position[arm]
            ahead.rewards[place, : len(rewards)] = rewards
            ahead.begin[place], ahead.end[place] = 0, len(rewards)


class _Curve:
    """Pseudo-regret at log-spaced rounds; it is exact, since regret grows linearly within a batch."""

    def __init__(self, horizon: int, best_mean: float) -> None:
        points = 2 + math.ceil(_CURVE_POINTS_PER_DECADE * math.log10(horizon))
        self.rounds: NDArray[np.int64] = np.unique(np.geomspace(1, horizon, points).round().astype(np.int64))
        self.regrets: NDArray[np.float64] = np.zeros(len(self.rounds))
        self.regret = 0.0
        self._best_mean = best_mean
        self._played = 0
        self._next = 0
        self._next_round = int(self.rounds[0])

    def add(self, size: int, mean: float) -> None:
        lost = self._best_mean - mean
        end = self._played + size
        while self._next_round <= end:
            self.regrets[self._next] = self.regret + (self._next_round - self._played) * lost
            self._next += 1
            self._next_round = int(self.rounds[self._next]) if self._next < len(self.rounds) else end + 2**62
        self.regret += size * lost
        self._played = end

    def add_rounds(self, means: NDArray[np.float64]) -> None:
        """Add one round for each mean."""
        lost = np.concatenate([[self.regret], self._best_mean - means])
        regrets = lost.cumsum()  # from the left, as `add` does
        end = self._played + len(means)
        while self._next_round <= end:
            self.regrets[self._next] = regrets[self._next_round - self._played]
            self._next += 1
            self._next_round = int(self.rounds[self._next]) if self._next < len(self.rounds) else end + 2**62
        self.regret = float(regrets[-1])
        self._played = end


class _RowsAhead:
    """Draws the rows of each intervention in blocks and returns them pull by pull.

    A call to the sampler takes some microseconds whatever its size. A policy that pulls one row per round
    would otherwise spend them in every round.
    """

    def __init__(self, system: System, rng: np.random.Generator) -> None:
        self._system = system
        self._rng = rng
        arms = 1 + sum(len(states) for states in system.settable.values())
        self.largest = int(np.clip(_ROWS_AHEAD // max(1, arms * len(system.states)), 16, 4096))
        self._means: dict[Intervention, float] = {}
        self._sizes: dict[Intervention, int] = {}
        self._ahead: dict[Intervention, list[Observations]] = {}

    def mean(self, intervention: Intervention) -> float:
        mean = self._means.get(intervention)
        if mean is None:
            for variable, state in intervention.items():
                if state not in self._system.settable.get(variable, ()):
                    raise CausalBanditError(
                        f"Expected an arm that can be set but found {variable} = {state}: make the policy "
                        f"with settable=system.settable"
                    )
            mean = self._means[intervention] = float(self._system.mean_reward(intervention))
        return mean

    def next(self, intervention: Intervention, size: int) -> Observations:
        if size != 1:
            return self._system.sample(intervention, size, self._rng)
        ahead = self._ahead.get(intervention)
        if not ahead:
            ahead = self._ahead[intervention] = self._draw(intervention)
        return ahead.pop()

    def block(self, intervention: Intervention) -> Observations:
        """Draw the next block of rows, each twice as large as the one before, of at most `largest` rows."""
        size = self._sizes[intervention] = min(2 * self._sizes.get(intervention, 4), self.largest)
        return self._system.sample(intervention, size, self._rng)

    def _draw(self, intervention: Intervention) -> list[Observations]:
        block = self.block(intervention)
        codes, rewards = block.codes, block.rewards
        last = len(rewards) - 1
        return [Observations(codes[row : row + 1], rewards[row : row + 1]) for row in range(last, -1, -1)]
