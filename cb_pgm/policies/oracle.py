"""UCB that is told the reward's parents: the floor for every policy that has to find them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from cb_pgm.intervention import Intervention, Observations, Pull
from cb_pgm.policies.arms import ArmTotals
from cb_pgm.policies.base import Policy, States
from cb_pgm.policies.parents import checked_parents, parent_arms

__all__ = ["OracleUCB"]


class OracleUCB(Policy):
    """Play UCB on the joint states of the reward's parents from the first round on.

    Parameters
    ----------
    states, noise_scale, settable
        As in `Policy`.
    reward_variables
        The reward's parents. Where a state of theirs can't be set all single-variable arms are played, and
        `fallback` says so.

    Raises
    ------
    PolicyError
        If `reward_variables` is empty or names an unknown variable.
    """

    name = "oracle"

    def __init__(
        self,
        states: States,
        reward_variables: Sequence[str],
        *,
        noise_scale: float = 1.0,
        settable: States | None = None,
    ) -> None:
        super().__init__(states, noise_scale=noise_scale, settable=settable)
        self._parents = checked_parents(self.states, reward_variables)

    @property
    def reward_variables(self) -> tuple[str, ...]:
        return self._parents

    @property
    def fallback(self) -> str | None:
        return parent_arms(self.states, self.settable, self._parents)[1]

    def means(self) -> Iterable[tuple[Intervention, int, float]]:
        return self._arms

    def _begin(self, rng: np.random.Generator) -> None:
        self._arms = ArmTotals(parent_arms(self.states, self.settable, self._parents)[0])
        self._pulls = [Pull(arm) for arm in self._arms.arms]

    def _next_pull(self) -> Pull:
        return self._pulls[self._arms.highest_bound(self.noise_scale)]

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull:
        with self._arms.counting(under_way):
            return self._next_pull()

    def why(self, pull: Pull) -> str:
        return f"the highest upper confidence bound: {self._arms.describe(pull.intervention)}"

    def _learn(self, intervention: Intervention, observations: Observations) -> None:
        self._arms.add(intervention, observations.rewards)
