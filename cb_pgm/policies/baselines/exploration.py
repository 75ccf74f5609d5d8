"""Base class of explore-then-commit baselines."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from cb_pgm.evidence.base import Evidence
from cb_pgm.evidence.records import Records
from cb_pgm.model.intervention import Intervention, Observations, Pull
from cb_pgm.policies.arms import ArmTotals, parent_arms
from cb_pgm.policies.base import Policy
from cb_pgm.search.query import Probe, Query

__all__ = ["ExploreThenUCB", "asked"]

T = TypeVar("T")


class ExploreThenUCB(Policy):
    """Base class of explore-then-commit baselines: identify the reward's parents, then play their arms.

    A subclass implements `_explore`. The index is UCB's unless the subclass overrides `_highest`. The rows of
    an arm from the exploration count in its index. If no parents are identified, all arms are played, and
    `fallback` has the reason.
    """

    @abstractmethod
    def _explore(self, rng: np.random.Generator) -> Iterator[Pull]:
        """Yield pulls with the reason in their `why`, and repeat a pull until its rows are in `_records`.

        Implementations set `_found` to the parents identified so far, and `_fallback` if none can be
        identified.
        """

    def _highest(self, arms: ArmTotals) -> int:
        """Return the position of the arm to pull after the exploration: that of the highest UCB index."""
        return arms.highest_bound(self.noise_scale)

    @property
    def reward_variables(self) -> tuple[str, ...]:
        return tuple(variable for variable in self.states if variable in self._found)

    @property
    def fallback(self) -> str | None:
        return self._fallback

    @property
    def sets_several(self) -> bool:
        return True

    def means(self) -> Iterable[tuple[Intervention, int, float]]:
        if self._arms is not None:
            yield from self._arms
        else:
            for intervention, record in self._records:
                if record.rows:
                    yield intervention, record.rows, record.mean

    def begin(self, rng: np.random.Generator) -> None:
        self._records = Records(self.states)
        self._found: tuple[str, ...] = ()
        self._fallback: str | None = None
        self._arms: ArmTotals | None = None
        self._rounds = 0
        self._plan = self._explore(rng)

    def next_pull(self) -> Pull:
        if self._arms is None:
            pull = next(self._plan, None)
            if pull is not None:
                return pull
            self._arms = self._play_ucb()
            self._pulls = [Pull(arm) for arm in self._arms.arms]
        return self._pulls[self._highest(self._arms)]

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull | None:
        pull = self.next_pull()
        if self._arms is None:
            missing = pull.size - under_way.get(pull.intervention, 0)
            return replace(pull, size=missing) if missing > 0 else None
        with self._arms.counting(under_way):
            return self.next_pull()

    def why(self, pull: Pull) -> str:
        if self._arms is None:
            return pull.why
        return f"the highest upper confidence bound: {self._arms.describe(pull.intervention, self.mean_text)}"

    @property
    def candidates(self) -> tuple[tuple[str, ...], ...] | None:
        return (self.reward_variables,) if self._found else None

    def learn(self, intervention: Intervention, observations: Observations) -> None:
        self._rounds += len(observations)
        if self._arms is None:
            self._records.add(intervention, observations)
        else:
            self._arms.add(intervention, observations.rewards)

    def _play_ucb(self) -> ArmTotals:
        """Return the arms to play after the exploration, with the rows that it recorded of them."""
        return ArmTotals.of(self._chosen_arms(), self._records, self._rounds)

    def _chosen_arms(self) -> tuple[Intervention, ...]:
        """Return the arms to play after the exploration, and set `_fallback` where these are all arms."""
        if self._found:
            of_parents, self._fallback = parent_arms(self.states, self.settable, self.reward_variables)
            return self._with_do(of_parents)
        self._fallback = self._fallback or "no variable that can be set moved the reward"
        return self.possible_arms


def asked(asking: Generator[Query, Probe, T], evidence: Evidence, why: str) -> Generator[Pull, None, T]:
    """Yield the pulls that answer the queries of `asking`, and return its result."""
    try:
        query = next(asking)
        while True:
            evidence.begin(query)
            while (pull := evidence.next_pull()) is not None:
                yield replace(pull, why=why.format(query.variable))
            query = asking.send(evidence.probe())
    except StopIteration as end:
        result: T = end.value
        return result
