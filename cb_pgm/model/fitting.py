"""Fit a causal system to a table, to try policies on before the real thing: a *rehearsal*, never the truth.

The variables' graph is one DAG of the estimated class. pgmpy fits its tables, smoothed so that every
probability is positive. The reward is a sink whose parents are the likeliest ones
(`cb_pgm.model.reward_parents`), as in the answer from the table. Results of a rehearsal hold in the world
only as far as the model does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cb_pgm.errors import CausalBanditError
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.model.intervention import States
from cb_pgm.model.joint_states import joint_index
from cb_pgm.model.pgmpy_networks import fitted_model
from cb_pgm.model.reward_parents import chosen_parents
from cb_pgm.model.reward_unit import given_rewards, is_binary
from cb_pgm.model.system import CausalSystem
from discovery.wording import listed

if TYPE_CHECKING:
    from discovery import DiscreteTable, EssentialGraph

__all__ = ["Rehearsal", "fit_model", "fit_reward", "rehearse"]

_LARGEST_TABLE = 2_000_000  # entries; a larger one comes of a mistake in a hand-written graph


@dataclass(frozen=True)
class Rehearsal:
    """A system fitted to a table, and warnings about it for people, one line each."""

    system: CausalSystem
    warnings: tuple[str, ...]


def rehearse(
    table: DiscreteTable,
    graph: EssentialGraph,
    *,
    equivalent_sample_size: float = 10.0,
    settable: States | None = None,
) -> Rehearsal:
    """Fit a causal system to a table with rewards.

    Parameters
    ----------
    table
        Observations with rewards. If all rewards are 0 or 1 the fitted reward is Bernoulli, otherwise it is
        Gaussian.
    graph
        The essential graph over the table's variables.
    equivalent_sample_size
        The number of rows that the smoothing of each table is worth.
    settable
        As in `CausalSystem`.

    Raises
    ------
    CausalBanditError
        If the table has no rewards, or they are all the same, or a variable has too many parents for a table.
    """
    warnings = []
    parents = chosen_parents(table)
    if not parents:
        parents = chosen_parents(table, at_least_one=True)
        warnings.append(
            f"no variable tells anything about the reward, by score; the rehearsal takes the best one, "
            f"{parents[0]!r}, and its outcome means little"
        )
    if len(parents) > 1:
        warnings.append(
            f"the fitted reward has {len(parents)} causes ({listed(parents)}): CN-UCB's assumption of "
            f"a single one fails"
        )
    system = CausalSystem.from_model(
        fit_model(table, graph, equivalent_sample_size),
        fit_reward(table, parents, equivalent_sample_size),
        settable=settable,
    )
    return Rehearsal(system, tuple(warnings))


def fit_model(
    table: DiscreteTable, graph: EssentialGraph, equivalent_sample_size: float = 10.0
) -> DiscreteModel:
    """Fit P(variable | parents) on one DAG of the class to the rows of a table.

    pgmpy fits the tables, with its BDeu prior: each probability is (N_xp + α/Kq) / (N_p + α/q), where K is
    the number of the variable's states, q that of its parents' joint states, α the equivalent sample size in
    rows, and N counts rows. So every probability is positive.

    Raises
    ------
    CausalBanditError
        If a variable's table would have more than 2,000,000 entries.
    """
    dag = graph.consistent_extension()
    for variable, states in table.states.items():
        own = sorted(dag.predecessors(variable))
        joint_states = math.prod(len(table.states[parent]) for parent in own)
        if joint_states * len(states) > _LARGEST_TABLE:
            raise CausalBanditError(
                f"Expected a graph whose tables can be fitted but found {len(own)} parents of {variable!r}, "
                f"{joint_states:,} joint states: take edges away from it"
            )
    return fitted_model(table.states, table.codes, dag.edges, equivalent_sample_size)


def fit_reward(table: DiscreteTable, parents: Sequence[str], equivalent_sample_size: float = 10.0) -> Reward:
    """Fit the mean reward at each joint state of `parents`, and the noise about it.

    Each mean is shrunk towards the overall mean as if α/q further rows had shown that; α is the equivalent
    sample size and q the number of joint states.
    """
    rewards = given_rewards(table)
    columns = tuple(sorted(table.variables.index(parent) for parent in parents))
    shape = tuple(len(table.states[table.variables[column]]) for column in columns)
    rows = joint_index(table.codes, columns, shape)
    size = math.prod(shape)
    prior = equivalent_sample_size / size
    totals = np.bincount(rows, rewards, minlength=size)
    means = (totals + prior * rewards.mean()) / (np.bincount(rows, minlength=size) + prior)
    noise = None if is_binary(rewards) else float(np.sqrt(np.mean((rewards - means[rows]) ** 2)))
    return Reward(columns, means.reshape(shape), noise)
