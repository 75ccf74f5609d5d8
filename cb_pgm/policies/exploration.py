"""Explore by a plan of one's own, then play UCB on what was found: the frame of several rivals."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from cb_pgm.evidence.records import Records
from cb_pgm.model.intervention import Intervention, Observations, Pull
from cb_pgm.policies.arms import ArmTotals, parent_arms, single_variable_arms
from cb_pgm.policies.base import Policy

__all__ = ["ExploreThenUCB"]


class ExploreThenUCB(Policy):
    """A policy that pulls by a plan until it has named the reward's parents, then plays UCB on their arms.

    A subclass writes `_explore`. Nothing that was seen of an arm is thrown away: its rows count in UCB.
    """

    @abstractmethod
    def _explore(self, rng: np.random.Generator) -> Iterator[Pull]:
        """Yield pulls with the reason in their `why`, the same again until its rows are in `_records`.

        Sets `_found` to the parents as they are found, and `_fallback` where none can be.
        """

    def _highest(self, arms: ArmTotals) -> int:
        """Return the arm to pull once the parents are found: UCB's, unless a subclass has another index."""
        return arms.highest_bound(self.noise_scale)

    @property
    def reward_variables(self) -> tuple[str, ...]:
        return tuple(variable for variable in self.states if variable in self._found)

    @property
    def fallback(self) -> str | None:
        return self._fallback

    def means(self) -> Iterable[tuple[Intervention, int, float]]:
        if self._arms is not None:
            yield from self._arms
        else:
            for intervention, record in self._records:
                if intervention and record.rows:
                    yield intervention, record.rows, record.mean

    def _begin(self, rng: np.random.Generator) -> None:
        self._records = Records(self.states)
        self._found: tuple[str, ...] = ()
        self._fallback: str | None = None
        self._arms: ArmTotals | None = None
        self._rounds = 0
        self._plan = self._explore(rng)

    def _next_pull(self) -> Pull:
        if self._arms is None:
            pull = next(self._plan, None)
            if pull is not None:
                return pull
            self._arms = self._play_ucb()
            self._pulls = [Pull(arm) for arm in self._arms.arms]
        return self._pulls[self._highest(self._arms)]

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull | None:
        pull = self._next_pull()
        if self._arms is None:
            missing = pull.size - under_way.get(pull.intervention, 0)
            return replace(pull, size=missing) if missing > 0 else None
        with self._arms.counting(under_way):
            return self._next_pull()

    def why(self, pull: Pull) -> str:
        if self._arms is None:
            return pull.why
        return f"the highest upper confidence bound: {self._arms.describe(pull.intervention)}"

    @property
    def candidates(self) -> tuple[tuple[str, ...], ...] | None:
        return (self.reward_variables,) if self._found else None

    def _learn(self, intervention: Intervention, observations: Observations) -> None:
        self._rounds += len(observations)
        if self._arms is None:
            self._records.add(intervention, observations)
        else:
            self._arms.add(intervention, observations.rewards)

    def _play_ucb(self) -> ArmTotals:
        """Return the arms to go on with, what was seen of them counted."""
        if self._found:
            chosen, self._fallback = parent_arms(self.states, self.settable, self.reward_variables)
        else:
            chosen = single_variable_arms(self.settable)
            self._fallback = self._fallback or "no variable that can be set moved the reward"
        return ArmTotals.of(chosen, self._records, self._rounds)
