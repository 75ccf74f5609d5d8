"""True networks to play against: read from a file, and checked against the table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cb_pgm.errors import CausalBanditError, CausalSystemError
from cb_pgm.model.bif import read_bif_model
from cb_pgm.model.discrete_model import Reward
from cb_pgm.model.system import CausalSystem
from cb_pgm.problem.problem import settable_states
from discovery.wording import did_you_mean, nearest

if TYPE_CHECKING:
    from discovery import DiscreteTable

__all__ = ["check_against_truth", "read_truth", "with_flipped_reward"]


def read_truth(
    path: str | Path, reward: str, not_settable: Sequence[str] = (), hidden: Sequence[str] = ()
) -> CausalSystem:
    """Read the true network.

    Parameters
    ----------
    path
        A network in BIF.
    reward
        "node=state", or the name of a node with the states 0 and 1.
    not_settable
        Variables that can't be set.
    hidden
        Variables that are sampled but never shown, listed or set.

    Raises
    ------
    CausalSystemError
        If the file can't be read, or the reward or a hidden variable isn't in it.
    CausalBanditError
        If a variable of `not_settable` isn't in the network.
    """
    model = read_bif_model(path)
    if "=" not in reward:
        states = model.states.get(reward, ())
        if sorted(states) != ["0", "1"]:
            raise CausalSystemError(
                f"Expected NODE=STATE as the reward but found {reward!r}, which isn't a node with the states "
                f"0 and 1 in {path}: name the state to reward"
            )
        reward = f"{reward}=1"
    system = CausalSystem(model, reward=reward, hidden=hidden)
    settable = settable_states(system.states, not_settable)
    return CausalSystem(model, reward=reward, settable=settable, hidden=hidden)


def check_against_truth(table: DiscreteTable, truth: CausalSystem, path: str | Path) -> None:
    """Check that a table has the variables of `truth`, and no states beyond those of `truth`.

    Raises
    ------
    CausalBanditError
        If it doesn't; the error names the first column or state at fault.
    """
    seen = {**table.states, **{variable: (state,) for variable, state in table.constants.items()}}
    for variable, states in seen.items():
        if variable not in truth.states:
            near = nearest(variable, truth.states)
            raise CausalBanditError(
                f"Expected the variables of {path} but found the column {variable!r} in the table: "
                f"{'ignore the column' if near is None else f'did you mean {near!r}?'}"
            )
        for state in states:
            if state not in truth.states[variable]:
                raise CausalBanditError(
                    f"Expected the states of {path} but found {state!r} in the column {variable!r}: "
                    f"{did_you_mean(state, truth.states[variable])}"
                )
    for variable in truth.states:
        if variable not in seen:
            raise CausalBanditError(
                f"Expected a column for every variable of {path} but found none for {variable!r}: add "
                f"the column, or give a network without the variable"
            )


def with_flipped_reward(system: CausalSystem) -> CausalSystem:
    """Return the same system with the reward 1 − R instead of R, for a reward R of 0 or 1."""
    reward = system.reward
    flipped = Reward(reward.parents, np.clip(1 - reward.means, 0, 1), None)
    return CausalSystem.from_model(system.model, flipped, settable=system.settable, hidden=system.hidden)
