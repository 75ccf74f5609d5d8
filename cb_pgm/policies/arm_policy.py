"""Base class of policies over a fixed set of arms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from cb_pgm.model.intervention import Intervention, Observations, Pull
from cb_pgm.policies.arms import UNIT_INTERVAL_SCALE, ArmTotals
from cb_pgm.policies.base import Policy

__all__ = ["ArmPolicy"]


class ArmPolicy(Policy):
    """Base class of policies that choose among a fixed set of arms by the rewards of each arm.

    It keeps rows and reward totals per arm in `_arms`, and a prepared `Pull` for each arm in `_pulls`. A
    subclass implements `next_pull`, and states the reason for its choice in `_reason`.
    """

    takes_unknown_fields = True

    _reason = "the highest upper confidence bound"

    def _chosen_arms(self) -> Sequence[Intervention]:
        """Return the arms to play: by default all possible ones."""
        return self.possible_arms

    @property
    def arms(self) -> tuple[Intervention, ...]:
        """The arms that it plays, in order; known once it has begun."""
        return self._arms.arms

    def begin(self, rng: np.random.Generator) -> None:
        self._arms = ArmTotals(self._chosen_arms())
        self._pulls = [Pull(arm) for arm in self._arms.arms]

    @property
    def _has_unit_rewards(self) -> bool:
        """Whether σ is that of rewards in [0, 1], and none so far lies outside."""
        return self.noise_scale == UNIT_INTERVAL_SCALE and self._arms.in_unit_interval

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull:
        with self._arms.counting(under_way):
            return self.next_pull()

    def why(self, pull: Pull) -> str:
        return f"{self._reason}: {self._arms.describe(pull.intervention, self.mean_text)}"

    def learn(self, intervention: Intervention, observations: Observations) -> None:
        self._arms.add(intervention, observations.rewards)

    @property
    def sets_several(self) -> bool:
        return any(len(arm) > 1 for arm in self._arms.arms)

    def means(self) -> Iterable[tuple[Intervention, int, float]]:
        return self._arms
