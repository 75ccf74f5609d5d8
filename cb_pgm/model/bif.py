"""Files in the Bayesian Interchange Format (BIF), read and written by pgmpy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cb_pgm.errors import CausalSystemError
from cb_pgm.files import write_text
from cb_pgm.model.pgmpy_networks import add_table, one_line, quiet

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

__all__ = ["read_bif", "write_bif"]

# BIF separates names by blanks, commas and brackets and has no way to write these inside a name; // and /*
# begin a comment.
_NOT_IN_A_NAME = re.compile(r"""[\s,;|"\\(){}\[\]]|/(?=[/*])""")


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
    with quiet():
        from pgmpy.readwrite import BIFReader
        from pyparsing import ParseBaseException

        try:
            network = BIFReader(string=text).get_model() if text.strip() else None
        except (ValueError, LookupError, AttributeError, TypeError, ParseBaseException) as error:
            raise CausalSystemError(
                f"Expected a network in BIF but could not read {path}: {one_line(error)}"
            ) from error
    if network is None or not network.nodes:
        raise CausalSystemError(f"Expected a network in BIF but found no variable in {path}")
    return network


def write_bif(network: DiscreteBayesianNetwork, path: str | Path) -> None:
    """Write a network to a BIF file that `read_bif` reads back with the same tables.

    Names of nodes and states that BIF can't hold (with blanks, commas, brackets, quotes or comment marks,
    or unlike another only in case) are written with "_" in place of these characters and a number where
    needed. The file then begins with one comment line for each such name, which gives the name itself.
    """
    nodes = _written(network.nodes, ignore_case=True)
    states = {table.variable: _written(table.state_names[table.variable]) for table in network.get_cpds()}
    renamed = {name: text for names in (nodes, *states.values()) for name, text in names.items()}
    remarks = [f"// {json.dumps(name)} is written {text}\n" for name, text in renamed.items() if name != text]
    with quiet():
        from pgmpy.readwrite import BIFWriter

        text = str(BIFWriter(_renamed(network, nodes, states)))
    write_text(Path(path), "".join(remarks) + text.rstrip())


def _written(names: Iterable[str], *, ignore_case: bool = False) -> dict[str, str]:
    """Return for each name a different one that BIF can hold: the name itself wherever possible.

    pgmpy's reader takes nodes whose names differ in case only for the same one.
    """
    written: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        letters = (letter if letter.isprintable() else "_" for letter in _NOT_IN_A_NAME.sub("_", name))
        stem = text = "".join(letters) or "_"
        number = 1
        while (text.lower() if ignore_case else text) in taken:
            number += 1
            text = f"{stem}_{number}"
        taken.add(text.lower() if ignore_case else text)
        written[name] = text
    return written


def _renamed(
    network: DiscreteBayesianNetwork, nodes: Mapping[str, str], states: Mapping[str, Mapping[str, str]]
) -> DiscreteBayesianNetwork:
    """Return the network under other names, without pgmpy's marks on nodes, which BIF would hold too."""
    from pgmpy.models import DiscreteBayesianNetwork

    renamed = DiscreteBayesianNetwork()
    renamed.add_nodes_from(nodes.values())
    renamed.add_edges_from((nodes[parent], nodes[child]) for parent, child in network.edges)
    own_states = {nodes[node]: list(names.values()) for node, names in states.items()}
    for table in network.get_cpds():
        node, *parents = (nodes[name] for name in table.variables)
        add_table(renamed, node, parents, np.moveaxis(np.asarray(table.values), 0, -1), own_states)
    return renamed
