"""Anytime MOSS by an oracle that knows the reward's parents; a reference for policies that identify them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from cb_pgm.model.intervention import Intervention, States
from cb_pgm.policies.arms import checked_parents, parent_arms
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.index_policies import MOSS

__all__ = ["OracleUCB"]


class OracleUCB(MOSS):
    """Play anytime MOSS on the joint states of the reward's parents, and on do(), from the first round on.

    Parameters
    ----------
    states, noise_scale, settable
        As in `Policy`.
    reward_variables
        The reward's parents. If a state of a parent can't be set, all single-variable arms are played, and
        `fallback` has the reason.

    Raises
    ------
    PolicyError
        If `reward_variables` is empty or contains an unknown variable.
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

    @classmethod
    def from_context(cls, context: PolicyContext, **settings: Any) -> Self:
        parents = context.known_truth(cls.name).reward_parents
        return super().from_context(context, **({"reward_variables": parents} | settings))

    @property
    def reward_variables(self) -> tuple[str, ...]:
        return self._parents

    @property
    def fallback(self) -> str | None:
        return parent_arms(self.states, self.settable, self._parents)[1]

    def _chosen_arms(self) -> Sequence[Intervention]:
        return self._with_do(parent_arms(self.states, self.settable, self._parents)[0])
