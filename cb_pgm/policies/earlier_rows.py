"""Rows from before the first pull, from which policies start: those of a table, or drawn in their stead.

A policy that starts from a table learns from its rows what it can (`Policy.warm_start`): screening rules out
variables by the rows in which nothing was set, and every policy counts the rows in which an arm was set.

Rows of a table belong in front of pulls from the system that the table comes from: the real one, or its true
network. A model fitted to the table is another system, in which the reward may have other causes, and rows of
both together contradict each other. In front of pulls from a fitted model come as many rows drawn from the
model itself (`drawn_rows`): so a rehearsal plays what would follow in the world if the model were right, the
start from a table of this size included.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalBanditError
from cb_pgm.model.intervention import Intervention, Observations, States

if TYPE_CHECKING:
    from cb_pgm.model.system import CausalSystem
    from cb_pgm.policies.base import Policy
    from discovery import DiscreteTable, InterventionalRows

__all__ = ["MOST_OBSERVATIONS", "EarlierRows", "drawn_rows", "table_rows", "warm_start"]

#: The number of observations that a policy starts from at most; more seldom rule out more.
MOST_OBSERVATIONS = 10_000

#: Rows with the intervention under which they were recorded.
EarlierRows: TypeAlias = "tuple[tuple[Intervention, Observations], ...]"


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
    parts = [_coded(table, arm, rows, states, table) for arm, rows in _observed(table, randomised)]
    parts += (_coded(table, arm, rows, states, table.interventional) for arm, rows in _arms(table))
    return tuple(part for part in parts if len(part[1]))


def drawn_rows(
    system: CausalSystem, counts: Mapping[Intervention, int], rng: np.random.Generator
) -> EarlierRows:
    """Return so many rows of each intervention, drawn from a system; those it can't make are left out."""
    return tuple(
        (arm, system.sample(arm, rows, rng))
        for arm, rows in counts.items()
        if rows and all(state in system.states.get(variable, ()) for variable, state in arm.items())
    )


def warm_start(policy: Policy, earlier: Iterable[tuple[Intervention, Observations]]) -> int:
    """Let a fresh policy learn from earlier rows, and return the number of rows that it uses."""
    return sum(len(rows) for arm, rows in earlier if policy.warm_start(arm, rows))


def _observed(
    table: DiscreteTable, randomised: Collection[str]
) -> Iterator[tuple[Intervention, NDArray[np.intp]]]:
    """Yield each joint state of the randomised variables with its rows; all rows as do() without any."""
    few = table.codes[:MOST_OBSERVATIONS]
    columns = [table.variables.index(variable) for variable in randomised]
    if not columns:
        yield Intervention(), np.arange(len(few))
        return
    shown, number = np.unique(few[:, columns], axis=0, return_inverse=True)
    for position, codes in enumerate(shown):
        arm = {
            variable: table.states[variable][code]
            for variable, code in zip(randomised, codes.tolist(), strict=True)
        }
        yield Intervention(arm), np.flatnonzero(number.ravel() == position)


def _arms(table: DiscreteTable) -> Iterator[tuple[Intervention, NDArray[np.bool_]]]:
    """Yield each arm that was set, with its rows among the interventional ones."""
    done = table.interventional
    if done is None or done.rewards is None:
        return
    for target, (variable, values) in enumerate(done.states.items()):
        for code, state in enumerate(values):
            chosen = (done.targets == target) & (done.codes[:, target] == code)
            if chosen.any():
                yield Intervention({variable: state}), chosen


def _coded(
    table: DiscreteTable,
    arm: Intervention,
    rows: NDArray[np.bool_] | NDArray[np.intp],
    states: States | None,
    source: DiscreteTable | InterventionalRows | None,
) -> tuple[Intervention, Observations]:
    """Return rows of one intervention, with the states coded as in `states`."""
    source = source or table
    rewards = source.rewards
    codes = source.codes[rows]
    kept = np.zeros(0) if rewards is None else rewards[rows]
    if states is None:
        return arm, Observations(np.ascontiguousarray(codes), np.ascontiguousarray(kept))
    columns = []
    place = {name: column for column, name in enumerate(source.states)}
    for variable, values in states.items():
        number = {state: code for code, state in enumerate(values)}
        if variable in place:
            known = np.array([number.get(state, -1) for state in source.states[variable]], dtype=np.int16)
            columns.append(known[codes[:, place[variable]]])
        elif variable in table.constants:
            columns.append(np.full(len(codes), number.get(table.constants[variable], -1), dtype=np.int16))
        else:
            raise CausalBanditError(f"Expected a column for {variable!r} in the table but found none")
    recoded = np.column_stack(columns).astype(np.int16)
    whole = (recoded >= 0).all(axis=1)
    return arm, Observations(np.ascontiguousarray(recoded[whole]), np.ascontiguousarray(kept[whole]))
