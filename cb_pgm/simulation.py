"""A policy against a system with a known truth: exact pseudo-regret, from one seed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalBanditError
from cb_pgm.model.intervention import ArmEstimate, Intervention, Observations
from cb_pgm.policies.base import Policy

if TYPE_CHECKING:
    import pandas as pd

    from cb_pgm.model.system import CausalSystem
    from cb_pgm.search.trace import SearchTrace

__all__ = ["Run", "simulate"]

_CURVE_POINTS_PER_DECADE = 20
_LARGEST_BATCH = 2**22  # codes handed over at once: bounds memory whatever size a policy asks for
_ROWS_AHEAD = 2**27  # codes drawn ahead of need, over all arms together


@dataclass(frozen=True)
class Run:
    """What came of one policy on one system.

    Attributes
    ----------
    policy
        The policy's name.
    horizon
        T, rounds played; do() counts as a round.
    regret
        Exact pseudo-regret T·μ* − Σ μ_{a_t}; μ* is the highest mean of any settable single-variable arm, so a
        policy that sets several variables at once may end below zero.
    rounds, regrets
        The regret curve at log-spaced rounds, the last one included.
    reward_variables
        Those that the policy named; empty when it named none.
    interventions_to_find
        Pulls, those of do() included, until the final naming; None when none is named.
    fallback
        Why the policy gave up its own way; None where it didn't.
    best_arm
        What the policy would recommend at the end, with its interval.
    story
        The questions of its search and their answers; None where it doesn't ask any.
    """

    policy: str
    horizon: int
    regret: float
    rounds: NDArray[np.int64]
    regrets: NDArray[np.float64]
    reward_variables: tuple[str, ...]
    interventions_to_find: int | None
    fallback: str | None
    best_arm: ArmEstimate | None
    story: SearchTrace | None = None

    @property
    def curve(self) -> pd.DataFrame:
        """The regret curve as a tidy frame, one row per recorded round: `round`, `regret`."""
        import pandas as pd

        return pd.DataFrame({"round": self.rounds, "regret": self.regrets})


def simulate(
    policy: Policy,
    system: CausalSystem,
    horizon: int,
    seed: int | np.random.SeedSequence | None = None,
    *,
    progress: Callable[[int], object] | None = None,
) -> Run:
    """Play `policy` against `system` for `horizon` rounds.

    The policy is copied and the copy begins anew, so the same object can be run again and again.

    Parameters
    ----------
    policy, system
        Who plays, and against what.
    horizon
        T ≥ 1.
    seed
        Everything random comes from it: the system's draws from its first child, the policy's from its
        second.
    progress
        Called after every pull with the number of rounds that it took.

    Raises
    ------
    CausalBanditError
        If the horizon is less than 1, or the policy's variables or states are not the system's.
    """
    if horizon < 1:
        raise CausalBanditError(f"Expected a horizon of at least 1 round but found {horizon}")
    if {name: tuple(states) for name, states in system.states.items()} != policy.states:
        raise CausalBanditError(
            "Expected a policy over the system's own variables and states, in their order"
        )
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    world_seed, policy_seed = sequence.spawn(2)
    policy = policy.fresh(np.random.default_rng(policy_seed))
    rows = _RowsAhead(system, np.random.default_rng(world_seed))
    curve = _Curve(horizon, system.best_arm()[1])

    played, named, found_at = 0, policy.reward_variables, 0
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
        interventions_to_find=found_at if named else None,
        fallback=policy.fallback,
        best_arm=policy.best_arm(),
        story=policy.story,
    )


class _Curve:
    """Pseudo-regret, kept at log-spaced rounds; within a batch it grows linearly, so that is exact."""

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


class _RowsAhead:
    """Draws a system's rows per intervention in blocks, ahead of need, and hands them out pull by pull.

    A call to the sampler costs microseconds whatever its size; a policy that pulls one row a round would pay
    it each time.
    """

    def __init__(self, system: CausalSystem, rng: np.random.Generator) -> None:
        self._system = system
        self._rng = rng
        arms = sum(len(states) for states in system.settable.values())
        self._largest = int(np.clip(_ROWS_AHEAD // max(1, arms * len(system.states)), 16, 4096))
        self._means: dict[Intervention, float] = {}
        self._sizes: dict[Intervention, int] = {}
        self._ahead: dict[Intervention, list[Observations]] = {}

    def mean(self, intervention: Intervention) -> float:
        mean = self._means.get(intervention)
        if mean is None:
            mean = self._means[intervention] = float(self._system.mean_reward(intervention))
        return mean

    def next(self, intervention: Intervention, size: int) -> Observations:
        if size != 1:
            return self._system.sample(intervention, size, self._rng)
        ahead = self._ahead.get(intervention)
        if not ahead:
            ahead = self._ahead[intervention] = self._draw(intervention)
        return ahead.pop()

    def _draw(self, intervention: Intervention) -> list[Observations]:
        size = self._sizes[intervention] = min(2 * self._sizes.get(intervention, 4), self._largest)
        block = self._system.sample(intervention, size, self._rng)
        codes, rewards = block.codes, block.rewards
        return [Observations(codes[row : row + 1], rewards[row : row + 1]) for row in range(size - 1, -1, -1)]
