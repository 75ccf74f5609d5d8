"""Base class of policies over a fixed set of arms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cb_pgm.model.intervention import Intervention, Observations, Pull
from cb_pgm.policies.arms import UNIT_INTERVAL_SCALE, ArmTotals, single_variable_arms
from cb_pgm.policies.base import Policy
from cb_pgm.policies.index_play import IndexRule, play_rounds

__all__ = ["ArmPolicy"]


class ArmPolicy(Policy):
    """Base class of policies that choose among a fixed set of arms by the rewards of each arm.

    It keeps rows and reward totals per arm in `_arms`, and a prepared `Pull` for each arm in `_pulls`. A
    subclass implements `_next_pull`, and states the reason for its choice in `_reason`.
    """

    #: The index, if `_next_pull` is nothing else: then rounds may be played compiled (`play_ahead`).
    index_rule: IndexRule | None = None

    _reason = "the highest upper confidence bound"

    def _chosen_arms(self) -> Sequence[Intervention]:
        """Return the arms to play: by default all single-variable interventions."""
        return single_variable_arms(self.settable)

    def _begin(self, rng: np.random.Generator) -> None:
        self._arms = ArmTotals(self._chosen_arms())
        self._pulls = [Pull(arm) for arm in self._arms.arms]

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull:
        with self._arms.counting(under_way):
            return self._next_pull()

    def why(self, pull: Pull) -> str:
        return f"{self._reason}: {self._arms.describe(pull.intervention)}"

    def _learn(self, intervention: Intervention, observations: Observations) -> None:
        self._arms.add(intervention, observations.rewards)

    @property
    def plays_ahead(self) -> bool:
        """Whether rounds may be played by `play_ahead`: a subclass of an index policy may do more than it."""
        return vars(type(self)).get("index_rule") is not None

    @property
    def arms(self) -> tuple[Intervention, ...]:
        """The arms, in the order in which `play_ahead` numbers them."""
        return self._arms.arms

    def play_ahead(
        self,
        ahead: NDArray[np.float64],
        used: NDArray[np.int64],
        drawn: NDArray[np.int64],
        choices: NDArray[np.int32],
    ) -> tuple[int, int]:
        """Play and learn from rounds whose rewards are drawn already, as `ask` and `tell` would one by one.

        Parameters are those of `play_rounds`; returned are its number of rounds and the arm without rewards.
        """
        arms = self._arms
        bounded = arms.in_unit_interval and self.noise_scale == UNIT_INTERVAL_SCALE
        weight = getattr(self, "log_log_weight", 0.0)
        played, missing, bounded = play_rounds(
            int(self.index_rule or 0), weight, self.noise_scale, bounded, arms.rounds, arms.rows, arms.totals,
            ahead, used, drawn, choices,
        )  # fmt: skip
        arms.rounds += played
        if self.noise_scale == UNIT_INTERVAL_SCALE:  # at another scale nothing depends on it
            arms.in_unit_interval = bounded
        return played, missing

    def means(self) -> Iterable[tuple[Intervention, int, float]]:
        return self._arms
