"""`Problem`: a table as policies need it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from cb_pgm.errors import CausalBanditError
from cb_pgm.model.reward_unit import RewardUnit
from cb_pgm.problem.earlier_rows import EarlierRows, table_rows
from cb_pgm.problem.graph_files import UsedGraph, estimated_graph, read_graph
from discovery.estimation.marginals import Marginals
from discovery.estimation.settings import EstimateSettings
from discovery.table.discrete_table import DiscreteTable
from discovery.wording import did_you_mean

if TYPE_CHECKING:
    import networkx as nx

    from cb_pgm.model.fitting import Rehearsal
    from cb_pgm.model.intervention import States
    from discovery import EssentialGraph

__all__ = ["Problem", "settable_states", "without_columns"]


@dataclass(frozen=True, eq=False)
class Problem:
    """A table as policies need it; what takes time is computed on first use, once.

    Attributes
    ----------
    table
        The table, with rewards in a person's unit.
    estimation
        How the graph is estimated.
    graph_file
        A graph in JSON or BIF, or one of networkx or pgmpy, to use instead of an estimate.
    not_settable
        Variables that can't be set.
    randomised
        Variables that were set at random in every row of the table in which nothing else was set.
    minimize
        Whether lower rewards are better.

    Raises
    ------
    CausalBanditError
        If a variable of `randomised` isn't in the table.
    """

    table: DiscreteTable
    estimation: EstimateSettings = field(default_factory=EstimateSettings)
    graph_file: str | PathLike[str] | EssentialGraph | nx.Graph[str] | None = None
    not_settable: Sequence[str] = ()
    randomised: Sequence[str] = ()
    minimize: bool = False

    def __post_init__(self) -> None:
        _check_known(self.randomised, self.table.states, "set at random")

    @cached_property
    def unit(self) -> RewardUnit:
        """The unit in which policies have rewards: they lie in [0, 1], and higher ones are better."""
        unit = RewardUnit.of(self.table)
        return unit.turned() if self.minimize else unit

    @cached_property
    def inside(self) -> DiscreteTable:
        """The table with its rewards in `unit`."""
        return self.unit.table(self.table)

    @cached_property
    def graph(self) -> UsedGraph:
        """The given or estimated graph.

        Raises
        ------
        DiscoveryError
            If the file holds no graph over the table's variables, or none can be estimated.
        """
        if self.graph_file is not None:
            return read_graph(self.graph_file, self.table.variables)
        return estimated_graph(self.table, self.estimation)

    @cached_property
    def fitted(self) -> Rehearsal:
        """The system fitted to the table, with rewards in `unit`, and warnings about it.

        Raises
        ------
        CausalBanditError
            If no system can be fitted, or a variable of `not_settable` isn't in the table.
        """
        from cb_pgm.model.fitting import rehearse  # late: sessions without a graph fit nothing

        settable = settable_states(self.table.states, self.not_settable)
        return rehearse(self.inside, self.graph.graph, settable=settable)

    def earlier_rows(self, states: States | None = None) -> EarlierRows:
        """Return the rows to start from, with rewards in `unit`, coded by `states` (`table_rows`)."""
        return table_rows(self.inside, states, self.randomised)

    def marginals(self, states: States) -> Marginals:
        """Return the observed frequencies over `states`, in their order; 0 for a state without rows."""
        seen = Marginals.from_table(self.inside)
        probabilities = {}
        for variable, values in states.items():
            if variable in self.table.constants:
                known = {self.table.constants[variable]: 1.0}
            else:
                shares = seen.probabilities[variable].tolist()
                known = dict(zip(self.table.states[variable], shares, strict=True))
            probabilities[variable] = np.array([known.get(value, 0.0) for value in values])
        return Marginals(probabilities, rows=seen.rows, reward_mean=seen.reward_mean)


def settable_states(states: States, not_settable: Collection[str]) -> dict[str, Sequence[str]]:
    """Return the states of all variables but those in `not_settable`.

    Raises
    ------
    CausalBanditError
        If a variable of `not_settable` is unknown.
    """
    _check_known(not_settable, states, "that can't be set")
    return {variable: values for variable, values in states.items() if variable not in not_settable}


def without_columns(table: DiscreteTable, hidden: Sequence[str]) -> DiscreteTable:
    """Return the table without the columns in `hidden`, and without rows in which one of them was set.

    Raises
    ------
    CausalBanditError
        If no other column is left.
    """
    if not hidden:
        return table
    kept = [place for place, name in enumerate(table.variables) if name not in hidden]
    if not kept:
        raise CausalBanditError("Expected a column that isn't hidden but found none: hide fewer variables")
    names = [table.variables[place] for place in kept]
    done = table.interventional
    if done is not None:
        number = np.full(len(table.variables), -1, dtype=np.int16)
        number[kept] = np.arange(len(kept))
        rows = number[done.targets] >= 0
        done = replace(
            done,
            codes=done.codes[rows][:, kept],
            states={name: done.states[name] for name in names},
            rewards=None if done.rewards is None else done.rewards[rows],
            targets=number[done.targets[rows]],
        )
    return replace(
        table,
        codes=np.asfortranarray(table.codes[:, kept]),
        states={name: table.states[name] for name in names},
        interventional=done,
        constants={name: state for name, state in table.constants.items() if name not in hidden},
    )


def _check_known(names: Collection[str], states: States, what: str) -> None:
    for name in names:
        if name not in states:
            raise CausalBanditError(
                f"Expected variables {what} to be in the table but found {name!r}: "
                f"{did_you_mean(name, states)}"
            )
