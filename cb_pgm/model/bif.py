"""Networks in files in the Bayesian Interchange Format (BIF): read, checked and written.

The reader is our own because pgmpy's takes seconds for networks of a thousand nodes, leaves out `default`
entries, and reads a file that contradicts itself as if it didn't.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalSystemError
from cb_pgm.files import write_text
from cb_pgm.model.bif_grammar import (
    BIFParser,
    ProbabilityBlock,
    Row,
    VariableBlock,
    in_quotes,
)
from cb_pgm.model.discrete_model import ROUNDING, DiscreteModel
from cb_pgm.model.pgmpy_networks import model_of_network, network_of_model
from cb_pgm.wording import nearest

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

__all__ = ["bif_text", "read_bif", "read_bif_model", "write_bif"]

# A `default` entry of a few bytes can stand for any number of rows. The most probabilities filled in by them:
_MOST_DEFAULTS = 2**24
_MOST_PARENTS = 63  # numpy's arrays have at most 64 axes

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


def read_bif_model(path: str | Path) -> DiscreteModel:
    """Return the network in a BIF file as plain arrays, without pgmpy.

    Rows whose sum is within .001 of 1 are rescaled. Time and memory are linear in the file's size and in the
    number of probabilities that `default` entries stand for.

    Raises
    ------
    CausalSystemError
        If the file can't be read, isn't in the Bayesian Interchange Format or contradicts itself. The message
        gives the line.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CausalSystemError(
            f"Expected a BIF file but found none that can be read at {path}: {error.strerror}"
        ) from error
    except UnicodeDecodeError as error:
        raise CausalSystemError(
            f"Expected a BIF file in UTF-8 but found other bytes in {path}: save it as UTF-8"
        ) from error
    return _Network(BIFParser(text, str(path))).model()


class _Network:
    """The blocks of a file, put together into a model; whatever doesn't fit is refused with its line."""

    def __init__(self, parser: BIFParser) -> None:
        self._refusal, self._line = parser.refusal, parser.line
        self._variables: dict[str, VariableBlock] = {}
        self._codes: dict[str, dict[str, int]] = {}
        self._blocks: dict[str, ProbabilityBlock] = {}
        self._parents: dict[str, list[str]] = {}
        self._defaults_left = _MOST_DEFAULTS
        probabilities = []
        for block in parser.blocks():
            if isinstance(block, VariableBlock):
                self._add_variable(block)
            else:
                probabilities.append(block)
        if not self._variables:
            raise self._refusal(0, "a network in BIF", "no variable", "give a file with variable blocks")
        for block in probabilities:  # in a second pass, as they may come before their variables
            self._add_probabilities(block)

    def model(self) -> DiscreteModel:
        """Return the model; variables in the order of their blocks, parents in that of the header."""
        for name, variable in self._variables.items():
            if name not in self._blocks:
                raise self._refusal(
                    variable.at,
                    f"a probability block for {in_quotes(name)}",
                    "only its variable block",
                    "add one",
                )
        try:
            TopologicalSorter(self._parents).prepare()
        except CycleError as error:
            cycle: list[str] = error.args[1]
            raise self._refusal(
                self._blocks[cycle[1]].at,
                "a network without a cycle",
                " → ".join(map(in_quotes, cycle if len(cycle) <= 7 else [*cycle[:6], "..."])),
                "remove one of these parents",
            ) from error
        number = {name: v for v, name in enumerate(self._variables)}
        return DiscreteModel(
            states={name: tuple(variable.states) for name, variable in self._variables.items()},
            parents=tuple(tuple(number[parent] for parent in self._parents[name]) for name in number),
            tables=tuple(self._table(name) for name in number),
        )

    def _add_variable(self, block: VariableBlock) -> None:
        if block.name in self._variables:
            first = self._line(self._variables[block.name].at)
            raise self._refusal(
                block.at,
                f"one variable block for {in_quotes(block.name)}",
                f"another after that in {first}",
                "remove one",
            )
        self._variables[block.name] = block
        self._codes[block.name] = {state: code for code, state in enumerate(block.states)}

    def _add_probabilities(self, block: ProbabilityBlock) -> None:
        names = self._names(block)
        name, parents = names[0], names[1:]
        if name in self._blocks:
            first = self._line(self._blocks[name].at)
            raise self._refusal(
                block.at,
                f"one probability block for {in_quotes(name)}",
                f"another after that in {first}",
                "remove one",
            )
        if len(set(names)) < len(names):
            raise self._refusal(
                block.at,
                f"different parents of {in_quotes(name)}, itself not among them,",
                "a name twice in the header",
                "remove it",
            )
        if len(parents) > _MOST_PARENTS:
            raise self._refusal(
                block.at,
                f"at most {_MOST_PARENTS} parents of {in_quotes(name)}",
                str(len(parents)),
                "remove some",
            )
        self._blocks[name], self._parents[name] = block, parents

    def _names(self, block: ProbabilityBlock) -> list[str]:
        """Return the variables of a header: its words, or else what stands between commas and bars."""
        words = [word for group in block.names for word in group]
        if not words:
            raise self._refusal(
                block.at, "a variable's name in the header", "none", "write probability ( NAME ) {"
            )
        for names in (words, [" ".join(group) for group in block.names]):
            if all(name in self._variables for name in names):
                return names
        unknown = next(word for word in words if word not in self._variables)
        raise self._refusal(
            block.at,
            "variables of the network in the header",
            in_quotes(unknown),
            _nearest_or(unknown, self._variables, "add a variable block for it"),
        )

    def _table(self, name: str) -> NDArray[np.float64]:
        """Return P(name | parents), float64 [states of the parents, in their order, ..., states of name]."""
        block, parents = self._blocks[name], self._parents[name]
        card = len(self._codes[name])
        cards = [len(self._codes[parent]) for parent in parents]
        total = math.prod(cards)
        place_of: dict[int, int] = {}  # for each joint state of the parents: the place of its row in the file
        for row in block.rows:
            code = self._joint_state(row, name)
            if code in place_of or block.table is not None:
                first = self._line(block.table.at if block.table is not None else place_of[code])
                raise self._refusal(
                    row.at,
                    f"each row of the table of {in_quotes(name)} once",
                    f"a second one {self._where(name, code)} after that in {first}",
                    "remove one",
                )
            place_of[code] = row.at
        for entry in (*block.rows, *((block.default,) if block.default is not None else ())):
            self._check_length(entry, card, f"as many probabilities as {in_quotes(name)} has states ({card})")
        if block.table is not None:
            self._check_length(
                block.table,
                card * total,
                f"{card} × {total} probabilities of {in_quotes(name)} (states × rows)",
            )
            rows = np.array(block.table.values).reshape(card, total).T
        else:
            if len(place_of) < total:
                self._check_default(name, (total - len(place_of)) * card, place_of)
            rows = np.empty((total, card))
            if block.default is not None:
                rows[:] = block.default.values
            if place_of:
                rows[list(place_of)] = [row.values for row in block.rows]
        self._check_sums(name, rows, place_of)
        return rows.reshape(*cards, card)

    def _joint_state(self, row: Row, name: str) -> int:
        """Return the number of a row: its states' codes, the last parent's running fastest."""
        parents = self._parents[name]
        words = [word for group in row.states for word in group]
        states = words if len(words) == len(parents) else [" ".join(group) for group in row.states]
        if len(states) != len(parents):
            raise self._refusal(
                row.at,
                f"a state of each of the {len(parents)} parents of {in_quotes(name)}",
                f"{len(words)} in a row",
                "correct the row",
            )
        number = 0
        for parent, state in zip(parents, states, strict=True):
            codes = self._codes[parent]
            if state not in codes:
                raise self._refusal(
                    row.at,
                    f"a state of {in_quotes(parent)} in a row of {in_quotes(name)}",
                    in_quotes(state),
                    _nearest_or(state, codes, "correct the row"),
                )
            number = number * len(codes) + codes[state]
        return number

    def _check_length(self, row: Row, length: int, expected: str) -> None:
        if len(row.values) != length:
            raise self._refusal(row.at, expected, str(len(row.values)), "correct the entry")

    def _check_default(self, name: str, size: int, given: Mapping[int, int]) -> None:
        """Refuse missing rows, or a default that would fill in more than memory can hold."""
        block = self._blocks[name]
        if block.default is None:
            missing = next(code for code in range(len(given) + 1) if code not in given)
            raise self._refusal(
                block.at,
                f"every row of the table of {in_quotes(name)}",
                f"none {self._where(name, missing)}",
                "add it, or a default entry",
            )
        self._defaults_left -= size
        if self._defaults_left < 0:
            raise self._refusal(
                block.default.at,
                f"at most {_MOST_DEFAULTS:,} probabilities given by default entries",
                f"{size:,} in the table of {in_quotes(name)}" if size < 10**15 else "far more",
                "give it fewer parents",
            )

    def _check_sums(self, name: str, rows: NDArray[np.float64], place_of: Mapping[int, int]) -> None:
        sums = rows.sum(axis=1)
        wrong = np.flatnonzero(~(np.abs(sums - 1) <= ROUNDING))
        if wrong.size:
            code = int(wrong[0])
            block = self._blocks[name]
            entry = block.table or block.default or block
            raise self._refusal(
                place_of.get(code, entry.at),
                f"probabilities of {in_quotes(name)} that sum to 1",
                f"a sum of {sums[code]:.6g}{' ' * bool(self._parents[name])}{self._where(name, code)}",
                "correct the row",
            )

    def _where(self, name: str, code: int) -> str:
        """Return "for A=yes, B=no": the joint state of the parents with this number."""
        shown: list[str] = []
        for parent in reversed(self._parents[name]):
            code, own = divmod(code, len(self._codes[parent]))
            shown.append(f"{parent}={self._variables[parent].states[own]}")
        return f"for {in_quotes(', '.join(reversed(shown)))}" if shown else ""


def _nearest_or(name: str, known: Iterable[str], advice: str) -> str:
    """Return "did you mean 'yes'?", or the advice; long names and lists aren't compared."""
    names = list(known)
    close = nearest(name, names) if len(name) <= 100 and len(names) <= 2000 else None
    return advice if close is None else f"did you mean {in_quotes(close)}?"


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
