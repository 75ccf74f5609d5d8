"""The one door to pgmpy: networks to plain arrays and back, fitting, and do().

pgmpy fits a network's tables, validates networks and cuts edges for an intervention; everything else works on
the plain arrays of `DiscreteModel`. Importing pgmpy takes a second and it writes to stderr, so it is imported
inside the functions that call it and kept quiet meanwhile. BIF files are read and written by
`cb_pgm.model.bif`.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalSystemError
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from discovery.wording import listed

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

__all__ = [
    "add_reward",
    "add_table",
    "fitted_model",
    "intervened",
    "model_of_network",
    "network_of_model",
    "one_line",
    "quiet",
]


def model_of_network(network: DiscreteBayesianNetwork) -> DiscreteModel:
    """Return the arrays of a pgmpy network; variables in node order, names and states as text.

    Raises
    ------
    CausalSystemError
        If it is another kind of model, a node has no table, pgmpy's check_model finds fault, or two nodes or
        states have the same text.
    """
    _check_kind(network)
    nodes = list(network.nodes)
    tables = {table.variable: table for table in network.get_cpds()}
    missing = [str(node) for node in nodes if node not in tables]
    if missing:
        raise CausalSystemError(
            f"Expected a table for every node but found none for {listed(missing, most=5)}: add its CPD"
        )
    with quiet():
        try:
            network.check_model()
        except ValueError as error:
            raise CausalSystemError(
                f"Expected a consistent network but pgmpy's check_model says: {one_line(error)}"
            ) from error
    number = {node: v for v, node in enumerate(nodes)}
    names = _as_text("nodes of the network", nodes)
    states = {
        name: _as_text(f"states of {name!r}", tables[node].state_names[node])
        for name, node in zip(names, nodes, strict=True)
    }
    return DiscreteModel(
        states=states,
        parents=tuple(tuple(number[parent] for parent in tables[node].variables[1:]) for node in nodes),
        tables=tuple(np.moveaxis(np.asarray(tables[node].values, np.float64), 0, -1) for node in nodes),
    )


def _check_kind(network: Any) -> None:
    """Raise CausalSystemError for anything but a discrete Bayesian network, with what to do instead."""
    kind = type(network).__name__
    if isinstance(network, str | os.PathLike):
        found, advice = f"the path {os.fspath(network)!r}", "read it by CausalSystem.from_bif"
    elif not hasattr(network, "get_cpds"):
        found = f"{kind}, which has no such tables"
        advice = "fit them to rows, or simulate an object of your own (cb_pgm.System)"
    elif not all(hasattr(table, "state_names") for table in network.get_cpds()):
        found = f"{kind}, whose variables aren't discrete"
        advice = "cut them into intervals, or simulate an object of your own (cb_pgm.System)"
    else:
        return
    raise CausalSystemError(
        f"Expected a DiscreteBayesianNetwork of pgmpy, a table for every node, but found {found}: {advice}"
    )


def network_of_model(model: DiscreteModel, hidden: Iterable[str] = ()) -> DiscreteBayesianNetwork:
    """Return a pgmpy network with the same nodes, states and tables; `hidden` nodes are its latents."""
    with quiet():
        from pgmpy.models import DiscreteBayesianNetwork

        network = DiscreteBayesianNetwork()
        network.add_nodes_from(model.variables)
        network.latents = set(hidden)
        for v, name in enumerate(model.variables):
            network.add_edges_from((model.variables[parent], name) for parent in model.parents[v])
        for v, name in enumerate(model.variables):
            parents = [model.variables[parent] for parent in model.parents[v]]
            add_table(network, name, parents, model.tables[v], model.states)
    return network


def add_table(
    network: DiscreteBayesianNetwork,
    node: str,
    parents: Sequence[str],
    table: NDArray[np.float64],
    states: Mapping[str, Sequence[str]],
) -> None:
    """Give a node its table P(node | parents), float64 [states of parents[0], ..., states of node]."""
    from pgmpy.factors.discrete import TabularCPD

    network.add_cpds(
        TabularCPD(
            node,
            len(states[node]),
            table.reshape(-1, len(states[node])).T,
            evidence=list(parents) or None,
            evidence_card=[len(states[parent]) for parent in parents] or None,
            state_names={name: list(states[name]) for name in (node, *parents)},
        )
    )


def add_reward(network: DiscreteBayesianNetwork, node: str, model: DiscreteModel, reward: Reward) -> None:
    """Add a Bernoulli reward to the network of `model`, as a node with the states "0" and "1"."""
    parents = [model.variables[parent] for parent in reward.parents]
    with quiet():
        network.add_node(node)
        network.add_edges_from((parent, node) for parent in parents)
        table = np.stack([1 - reward.means, reward.means], axis=-1)
        add_table(network, node, parents, table, {**model.states, node: ("0", "1")})


def intervened(network: DiscreteBayesianNetwork, do: Mapping[str, str]) -> DiscreteBayesianNetwork:
    """Return the network under do(...): pgmpy's own `do`, and a point mass as the table of each node set.

    pgmpy's `do` cuts the edges into a node but leaves it the plain average of its table's rows, under which
    the node still varies. With the point mass in its place, inference and sampling in the network are those
    under the intervention.
    """
    with quiet():
        cut = network.do(list(do))
        for node, state in do.items():
            states = cut.get_cpds(node).state_names[node]
            cut.remove_cpds(node)
            add_table(cut, node, (), np.eye(len(states))[states.index(state)], {node: states})
    return cut


def fitted_model(
    states: Mapping[str, Sequence[str]],
    codes: NDArray[np.int16],
    edges: Iterable[tuple[str, str]],
    equivalent_sample_size: float,
) -> DiscreteModel:
    """Fit the tables of a DAG to rows, by pgmpy's `fit` with its Bayesian estimator and BDeu prior.

    Parameters
    ----------
    states
        Each variable's states, in variable order. All of them stay, also those that no row shows.
    codes
        int16 [rows, variables]: the number of the state that each variable has.
    edges
        (parent, child) by name; they form a DAG.
    equivalent_sample_size
        The number of rows that the prior is worth, in each table.

    Returns
    -------
    DiscreteModel
        The parents of each variable in variable order; pgmpy itself orders them by name.
    """
    import pandas as pd

    place = {variable: column for column, variable in enumerate(states)}
    frame = pd.DataFrame(
        {
            variable: pd.Categorical.from_codes(codes[:, column], categories=pd.Index(values))
            for column, (variable, values) in enumerate(states.items())
        }
    )
    with quiet():
        from pgmpy.models import DiscreteBayesianNetwork
        from pgmpy.parameter_estimator import DiscreteBayesianEstimator

        network = DiscreteBayesianNetwork()
        network.add_nodes_from(states)
        network.add_edges_from(edges)
        estimator = DiscreteBayesianEstimator(
            state_names={variable: list(values) for variable, values in states.items()},
            prior_type="BDeu",
            equivalent_sample_size=equivalent_sample_size,
        )
        network.fit(frame, estimator=estimator)
    parents, tables = [], []
    for variable in states:
        table = network.get_cpds(variable)
        own = sorted(table.variables[1:], key=place.__getitem__)
        axes = [table.variables.index(name) for name in (*own, variable)]
        parents.append(tuple(place[parent] for parent in own))
        tables.append(np.ascontiguousarray(np.transpose(table.values, axes)))
    return DiscreteModel(
        {name: tuple(values) for name, values in states.items()}, tuple(parents), tuple(tables)
    )


def _as_text(what: str, names: list[Any]) -> tuple[str, ...]:
    texts = tuple(str(name) for name in names)
    twice = [text for text in dict.fromkeys(texts) if texts.count(text) > 1]
    if twice:
        raise CausalSystemError(
            f"Expected {what} that differ as text but found {twice[0]!r} twice: rename one"
        )
    return texts


def one_line(error: BaseException) -> str:
    """Return an error's message without line breaks, at most 200 characters of it."""
    return " ".join(str(error).split())[:200] or type(error).__name__


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep what pgmpy writes to stdout, stderr and its log from the user while the block runs."""
    import logging
    import warnings

    logger = logging.getLogger("pgmpy")
    level, chatter = logger.level, io.StringIO()
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stderr(chatter),
            contextlib.redirect_stdout(chatter),
        ):
            warnings.simplefilter("ignore")
            logger.setLevel(logging.CRITICAL)
            yield
    finally:
        logger.setLevel(level)
