"""The rows of a table, grouped by what was set in them, from which policies start.

Rows of a table belong in front of pulls from the system that the table comes from: the real one, or its true
network. A model fitted to the table is another system, in which the reward may have other causes, and rows of
both together contradict each other. In front of pulls from a fitted model come as many rows drawn from the
model itself (`cb_pgm.simulation.drawn_rows`): so what is played would follow in the world if the model were
right, the start from a table of this size included.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalBanditError
from cb_pgm.model.intervention import Intervention, Observations, States
from cb_pgm.simulation import MOST_OBSERVATIONS, EarlierRows

if TYPE_CHECKING:
    from discovery import DiscreteTable

__all__ = ["EarlierRows", "table_rows"]

Codes = NDArray[np.int16]
Rows = NDArray[np.intp]


def table_rows(
    table: DiscreteTable, states: States | None = None, randomised: Collection[str] = ()
) -> EarlierRows:
    """Return the rows of a table with rewards, grouped by what was set: observations first, then each arm.

    Parameters
    ----------
    table
        The table; at most `MOST_OBSERVATIONS` of its rows in which nothing was set are used, the first ones.
    states
        The variables and states by which the result codes its rows, such as a true network's; None: those of
        the table. A variable that the table has no column for is taken from `DiscreteTable.constants`. Rows
        with states that aren't among these are left out.
    randomised
        Variables that were set at random in the rows in which nothing else was set: these are rows in which
        they were set, then.

    Raises
    ------
    CausalBanditError
        If the table has no rewards, or lacks a variable of `states`.
    """
    if table.rewards is None:
        raise CausalBanditError("Expected a table with rewards but found none: read it with a reward")
    few, done = table.codes[:MOST_OBSERVATIONS], table.interventional
    parts = [(few, table.states, table.rewards, _by_joint_state(few, table.states, randomised))]
    if done is not None and done.rewards is not None:
        parts.append((done.codes, done.states, done.rewards, _by_arm(done.codes, done.states, done.targets)))
    found = []
    for codes, own, rewards, groups in parts:
        coded = codes if states is None else _recoded(codes, own, table.constants, states)
        whole: NDArray[np.bool_] = np.all(coded >= 0, axis=1)
        for arm, rows in groups:
            kept = rows[whole[rows]]
            if len(kept):
                found.append((arm, Observations(np.ascontiguousarray(coded[kept]), rewards[kept])))
    return tuple(found)


def _by_joint_state(
    codes: Codes, states: States, variables: Collection[str]
) -> Iterator[tuple[Intervention, Rows]]:
    """Yield each joint state of the variables with its rows; all rows as do() without variables."""
    if not variables:
        yield Intervention(), np.arange(len(codes))
        return
    columns = [list(states).index(variable) for variable in variables]
    shown, number = np.unique(codes[:, columns], axis=0, return_inverse=True)
    for place, joint in enumerate(shown.tolist()):
        arm = {variable: states[variable][code] for variable, code in zip(variables, joint, strict=True)}
        yield Intervention(arm), np.flatnonzero(number.ravel() == place)


def _by_arm(codes: Codes, states: States, targets: Codes) -> Iterator[tuple[Intervention, Rows]]:
    """Yield each variable's states with the rows in which it was set to that."""
    for target, (variable, values) in enumerate(states.items()):
        for code, state in enumerate(values):
            rows = np.flatnonzero((targets == target) & (codes[:, target] == code))
            yield Intervention({variable: state}), rows


def _recoded(codes: Codes, own: States, constants: dict[str, str], wanted: States) -> Codes:
    """Return the rows coded by other states, in the order of these; −1 for a state that isn't among them."""
    columns, place = [], {name: column for column, name in enumerate(own)}
    for variable, values in wanted.items():
        number = {state: code for code, state in enumerate(values)}
        if variable in place:
            known = np.array([number.get(state, -1) for state in own[variable]], dtype=np.int16)
            columns.append(known[codes[:, place[variable]]])
        elif variable in constants:
            columns.append(np.full(len(codes), number.get(constants[variable], -1), dtype=np.int16))
        else:
            raise CausalBanditError(f"Expected a column for {variable!r} in the table but found none")
    return np.column_stack(columns).astype(np.int16)
