"""The arms of a table: do(variable = state) with the rows that show it and the rows in which it was set."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cb_pgm.model.canonical import Rows
from cb_pgm.model.intervention import Intervention
from cb_pgm.model.joint_states import joint_index

__all__ = ["Arm", "arms_of"]


@dataclass(frozen=True, eq=False)
class Arm:
    """do(variable = state), by number and by name, with its rows.

    Attributes
    ----------
    shown
        bool [N]: the observational rows that show the state.
    set_rewards, set_blocks
        float64 [m] and int64 [m]: the rewards of the rows in which it was set, and the blocks of these rows.
    randomised
        Whether the variable was set at random in every row of the table, beside other variables.
    """

    number: int
    code: int
    variable: str
    state: str
    shown: NDArray[np.bool_]
    set_rewards: NDArray[np.float64]
    set_blocks: NDArray[np.int64]
    randomised: bool

    @property
    def name(self) -> tuple[str, str]:
        """Variable and state."""
        return self.variable, self.state

    def has_enough(self, rows: int) -> bool:
        """Return whether so many rows show what it does; a trial gives its arms as many as they need."""
        return self.randomised or len(self.set_rewards) >= rows

    @property
    def intervention(self) -> Intervention:
        """The arm as an intervention."""
        return Intervention({self.variable: self.state})


def arms_of(
    rows: Rows,
    settable: dict[str, tuple[str, ...]],
    randomised: Collection[str] = (),
    block: Collection[str] = (),
) -> list[Arm]:
    """Return the arm of each settable state, by variable and state.

    The rows of a variable that was set at random in all of them count as set, and not as seen.
    """
    columns = tuple(rows.variables.index(name) for name in block)
    shape = tuple(rows.cards[column] for column in columns)
    blocks, set_blocks = (joint_index(codes, columns, shape) for codes in (rows.codes, rows.set_codes))
    arms = []
    for number, variable in enumerate(rows.variables):
        for state in settable.get(variable, ()):
            code = rows.states[variable].index(state)
            there = (rows.targets == number) & (rows.set_codes[:, number] == code)
            shown = rows.codes[:, number] == code
            random = shown if variable in randomised else np.zeros_like(shown)
            arms.append(
                Arm(
                    number,
                    code,
                    variable,
                    state,
                    shown & ~random,
                    np.concatenate([rows.set_rewards[there], rows.rewards[random]]),
                    np.concatenate([set_blocks[there], blocks[random]]),
                    variable in randomised,
                )
            )
    return arms
