"""Networks in files in the Bayesian Interchange Format (BIF): read by `bif_reader`, and written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from cb_pgm.files import write_text
from cb_pgm.model.bif_reader import read_bif_model
from cb_pgm.model.discrete_model import DiscreteModel
from cb_pgm.model.pgmpy_networks import model_of_network, network_of_model

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

__all__ = ["bif_text", "read_bif", "read_bif_model", "write_bif"]

# Names that are written without quotes, as in the files that everyone's readers take.
_PLAIN_NAME = re.compile(r"""(?:[^\s,;|"\\(){}\[\]/]|/(?![/*]))+""")
_KEYWORDS = frozenset(
    ("network", "variable", "probability", "property", "type", "discrete", "default", "table")
)


def read_bif(path: str | Path) -> DiscreteBayesianNetwork:
    """Return the network in a BIF file as pgmpy's; nodes and states in the file's order.

    Raises
    ------
    CausalSystemError
        As `read_bif_model`.
    """
    return network_of_model(read_bif_model(path))


def write_bif(network: DiscreteBayesianNetwork | DiscreteModel, path: str | Path) -> None:
    """Write a network to a BIF file that `read_bif` reads back with the same names and tables.

    Names with blanks, commas, brackets and the like are written in double quotes. Only a double quote and
    letters that can't be printed have no place in the format: "_" stands for them, with a number where two
    names would be the same, and the file begins with one comment line for each such name, which gives the
    name itself. pgmpy reads the file too where no name needs quotes and no two differ in case only.
    """
    write_text(
        Path(path), bif_text(network if isinstance(network, DiscreteModel) else model_of_network(network))
    )


def bif_text(model: DiscreteModel) -> str:
    """Return what `write_bif` writes."""
    variables = _written(model.variables)
    states = [_written(values) for values in model.states.values()]
    return "\n".join([*_remarks((variables, *states)), *_lines(model, variables, states)])


def _lines(
    model: DiscreteModel, variables: Mapping[str, str], states: Sequence[Mapping[str, str]]
) -> Iterator[str]:
    yield "network unknown {\n}"
    for name, own in zip(variables.values(), states, strict=True):
        yield f"variable {name} {{"
        yield f"    type discrete [ {len(own)} ] {{ {', '.join(own.values())} }};\n}}"
    for v, name in enumerate(variables.values()):
        parents = model.parents[v]
        if not parents:
            yield f"probability ( {name} ) {{"
            yield f"    table {', '.join(map(repr, model.tables[v].tolist()))};\n}}"
            continue
        yield f"probability ( {name} | {', '.join(variables[model.variables[p]] for p in parents)} ) {{"
        rows = model.tables[v].reshape(-1, model.cards[v]).tolist()
        for given, row in zip(product(*(states[p].values() for p in parents)), rows, strict=True):
            yield f"    ({', '.join(given)}) {', '.join(map(repr, row))};"
        yield "}"


def _remarks(all_names: Iterable[Mapping[str, str]]) -> list[str]:
    renamed = {name: text for names in all_names for name, text in names.items()}
    return [
        f"// {json.dumps(name)} is written {text}"
        for name, text in renamed.items()
        if text not in (name, f'"{name}"')
    ]


def _written(names: Iterable[str]) -> dict[str, str]:
    """Return how each name is written: as it is, in quotes, or changed where the format can't hold it."""
    names = tuple(names)
    taken = {name for name in names if name == _printable(name)}
    written: dict[str, str] = {}
    for name in names:
        text = stem = _printable(name)
        number = 1
        while name != text and text in taken:
            number += 1
            text = f"{stem}_{number}"
        taken.add(text)
        plain = _PLAIN_NAME.fullmatch(text) and text not in _KEYWORDS
        written[name] = text if plain else f'"{text}"'
    return written


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() and letter != '"' else "_" for letter in name)
