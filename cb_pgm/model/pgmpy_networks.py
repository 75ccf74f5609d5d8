"""The one door to pgmpy: its networks to plain arrays and back, and BIF files.

pgmpy is slow to import and talks on stderr, so it is imported here, when needed, and kept quiet while it
works.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cb_pgm.errors import CausalSystemError
from cb_pgm.model.discrete_model import DiscreteModel
from cb_pgm.wording import listed

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

__all__ = ["model_of_network", "network_of_model", "read_bif"]


def read_bif(path: str | Path) -> DiscreteBayesianNetwork:
    """Return the network in a BIF file, nodes and states in the file's order.

    Raises
    ------
    CausalSystemError
        If the file can't be read or isn't a network in the Bayesian Interchange Format.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise CausalSystemError(
            f"Expected a BIF file but found none that can be read at {path}: {error.strerror}"
        ) from error
    except UnicodeDecodeError as error:
        raise CausalSystemError(f"Expected a BIF file in UTF-8 but found other bytes in {path}") from error
    with _quiet():
        from pgmpy.readwrite import BIFReader
        from pyparsing import ParseBaseException

        try:
            network = BIFReader(string=text).get_model() if text.strip() else None
        except (ValueError, LookupError, AttributeError, TypeError, ParseBaseException) as error:
            raise CausalSystemError(
                f"Expected a network in BIF but could not read {path}: {_one_line(error)}"
            ) from error
    if network is None or not network.nodes:
        raise CausalSystemError(f"Expected a network in BIF but found no variable in {path}")
    return network


def model_of_network(network: DiscreteBayesianNetwork) -> DiscreteModel:
    """Return the arrays of a pgmpy network; variables in node order, names and states as text.

    Raises
    ------
    CausalSystemError
        If a node has no table, pgmpy's check_model finds fault, or two nodes or states have the same text.
    """
    nodes = list(network.nodes)
    tables = {table.variable: table for table in network.get_cpds()}
    missing = [str(node) for node in nodes if node not in tables]
    if missing:
        raise CausalSystemError(
            f"Expected a table for every node but found none for {listed(missing, most=5)}: add its CPD"
        )
    with _quiet():
        try:
            network.check_model()
        except ValueError as error:
            raise CausalSystemError(
                f"Expected a consistent network but pgmpy's check_model says: {_one_line(error)}"
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


def network_of_model(model: DiscreteModel) -> DiscreteBayesianNetwork:
    """Return a pgmpy network with the same nodes, states and tables."""
    with _quiet():
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.models import DiscreteBayesianNetwork

        network = DiscreteBayesianNetwork()
        network.add_nodes_from(model.variables)
        for v, name in enumerate(model.variables):
            network.add_edges_from((model.variables[parent], name) for parent in model.parents[v])
        for v, name in enumerate(model.variables):
            evidence = [model.variables[parent] for parent in model.parents[v]]
            network.add_cpds(
                TabularCPD(
                    name,
                    model.cards[v],
                    model.tables[v].reshape(-1, model.cards[v]).T,
                    evidence=evidence or None,
                    evidence_card=[model.cards[parent] for parent in model.parents[v]] or None,
                    state_names={other: list(model.states[other]) for other in (name, *evidence)},
                )
            )
    return network


def _as_text(what: str, names: list[Any]) -> tuple[str, ...]:
    texts = tuple(str(name) for name in names)
    twice = [text for text in dict.fromkeys(texts) if texts.count(text) > 1]
    if twice:
        raise CausalSystemError(
            f"Expected {what} that differ as text but found {twice[0]!r} twice: rename one"
        )
    return texts


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep pgmpy's warnings and chatter from the user, for this call only."""
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
