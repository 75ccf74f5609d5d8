"""The table in an order of its own, so that the same rows give the same answer however they are ordered.

Searches break ties in the order of columns, and resampling picks rows by their number. So columns are sorted
by name and rows by their content before anything is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cb_pgm.model.reward_unit import given_rewards, is_binary
from discovery.table.discrete_table import DiscreteTable, InterventionalRows

__all__ = ["Rows", "canonical_rows"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Observational and interventional rows, in canonical order.

    Attributes
    ----------
    states
        Every variable's states, variables sorted by name; states that only interventional rows show included.
    codes, rewards
        int16 [N, n] and float64 [N]: the rows in which nothing was set.
    set_codes, set_rewards, targets
        int16 [M, n], float64 [M], int16 [M]: the rows in which the variable of number `targets` was set.
    """

    states: dict[str, tuple[str, ...]]
    codes: NDArray[np.int16]
    rewards: NDArray[np.float64]
    set_codes: NDArray[np.int16]
    set_rewards: NDArray[np.float64]
    targets: NDArray[np.int16]

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables, sorted by name."""
        return tuple(self.states)

    @property
    def cards(self) -> tuple[int, ...]:
        """How many states each variable has."""
        return tuple(len(states) for states in self.states.values())

    @property
    def binary(self) -> bool:
        """Whether all rewards are 0 or 1."""
        return is_binary(self.all_rewards)

    @cached_property
    def all_codes(self) -> NDArray[np.int16]:
        """int16 [N + M, n]: both kinds of rows; the reward is a sink, so its table is the same in both."""
        return np.asfortranarray(np.vstack([self.codes, self.set_codes]))

    @cached_property
    def all_rewards(self) -> NDArray[np.float64]:
        """float64 [N + M]."""
        return np.concatenate([self.rewards, self.set_rewards])

    def resampled(self, rng: np.random.Generator) -> Rows:
        """Return as many rows of either kind, drawn with replacement."""
        picked = rng.integers(len(self.codes), size=len(self.codes))
        chosen = (rng.random(len(self.targets)) * len(self.targets)).astype(np.int64)
        return replace(
            self,
            codes=np.asfortranarray(self.codes[picked]),
            rewards=self.rewards[picked],
            set_codes=np.asfortranarray(self.set_codes[chosen]),
            set_rewards=self.set_rewards[chosen],
            targets=self.targets[chosen],
        )

    @property
    def observations(self) -> DiscreteTable:
        """Both kinds of rows apart, without the rewards, for the estimate of a graph."""
        return DiscreteTable(
            self.codes,
            self.states,
            interventional=InterventionalRows(self.set_codes, self.states, None, self.targets)
            if len(self.targets)
            else None,
        )

    @property
    def pooled(self) -> DiscreteTable:
        """All rows as one table, for what depends on the reward given its parents only."""
        return DiscreteTable(self.all_codes, self.states, self.all_rewards)


def canonical_rows(table: DiscreteTable) -> Rows:
    """Return the rows of a table with rewards, columns sorted by name and rows by content.

    Raises
    ------
    CausalBanditError
        If the table has no rewards.
    """
    given = table.interventional
    done = np.zeros(0) if given is None or given.rewards is None else given.rewards
    every = None if table.rewards is None else np.append(table.rewards, done)
    rewards = given_rewards(replace(table, rewards=every))[: table.n_rows]
    all_states = table.states if given is None else given.states
    place = {name: column for column, name in enumerate(table.variables)}
    names = sorted(place)
    columns = [place[name] for name in names]
    codes, order = _sorted(table.codes[:, columns], rewards, np.zeros(len(rewards), np.int16))
    states = {name: tuple(all_states[name]) for name in names}
    if given is None or given.rewards is None or len(given) == 0:
        nothing = np.zeros((0, len(names)), np.int16)
        return Rows(states, codes, rewards[order], nothing, np.zeros(0), np.zeros(0, np.int16))
    new_number = np.argsort(columns).astype(np.int16)
    targets = new_number[given.targets]
    set_codes, set_order = _sorted(given.codes[:, columns], given.rewards, targets)
    return Rows(states, codes, rewards[order], set_codes, given.rewards[set_order], targets[set_order])


def _sorted(
    codes: NDArray[np.int16], rewards: NDArray[np.float64], targets: NDArray[np.int16]
) -> tuple[NDArray[np.int16], NDArray[np.intp]]:
    order = np.lexsort((rewards, *codes.T[::-1], targets))
    return np.asfortranarray(codes[order]), order
