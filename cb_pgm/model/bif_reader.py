"""Read networks in files in the Bayesian Interchange Format, version 0.15 [1]_.

A file is a ``network`` block and any number of ``variable`` and ``probability`` blocks, in any order. Blanks,
comments, commas and bars separate words and mean nothing else. A word is a keyword only where the grammar has
one, so that a variable may be called "table" or "network".

The reader takes three things more than the grammar has, since published files have them: names in double
quotes, which may hold anything but a double quote; names with brackets in them, such as Age(y); and names of
several words between commas, such as ``{ very low, high }``, where the number of states or parents shows that
this is what was meant. Whatever contradicts itself is refused with its line.

It is our own because pgmpy's takes seconds for networks of a thousand nodes, leaves out `default` entries,
and reads a file that contradicts itself as if it didn't.

References
----------
.. [1] F. Cozman, "The Interchange Format for Bayesian Networks", 1998.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalSystemError
from cb_pgm.model.discrete_model import ROUNDING, DiscreteModel
from discovery.wording import nearest

__all__ = ["read_bif_model"]

# All quantifiers are possessive: nothing is tried twice, and time and memory stay linear in the text.
_BLANKS = re.compile(r"(?:\s++|//[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
_SEPARATORS = re.compile(r"(?:[\s,|]++|//[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
_WORD = re.compile(r'(?:[^\s,;|"(){}\[\]/]|/(?![/*]))++')
_NAME = re.compile(r"""(?:[^\s,;|"(){}\[\]/]|/(?![/*])|\([^\s,;|"(){}\[\]]*+\)|\[[^\s,;|"(){}\[\]]*+\])++""")
_QUOTED = re.compile(r'"([^"]*+)"')
_PLAIN_LIST = re.compile(r'[^"/;|(){}\[\]]*+')  # names without quotes, brackets and comments
_NUMBERS = re.compile(r'[^"/;(){}\[\]]*+')
# A property ends at the next semicolon; one in quotes on a single line may itself hold semicolons.
_PROPERTY = re.compile(r'\s*+"[^"\n]*+"\s*+;|[^;]*+;')

# A `default` entry of a few bytes can stand for any number of rows. The most probabilities filled in by them:
_MOST_DEFAULTS = 2**24
_MOST_PARENTS = 63  # numpy's arrays have at most 64 axes
_STARTS = ("table", "default", "(")  # of the entries of a probability block


class _Names(NamedTuple):
    """Names in brackets: all words, and the words of each group between commas or bars as one name."""

    words: list[str]
    groups: list[str]

    def of_number(self, number: int) -> list[str]:
        """Return the reading with so many names; the groups if neither has."""
        return self.words if len(self.words) == number else self.groups


class _Entry(NamedTuple):
    """What stands at a place of a probability block: "table", "default" or "(", states and probabilities."""

    at: int
    keyword: str
    given: _Names
    values: list[float]


class _Block(NamedTuple):
    at: int
    names: _Names
    entries: list[_Entry]


def read_bif_model(path: str | Path) -> DiscreteModel:
    """Return the network in a BIF file as plain arrays; variables, states and parents in the file's order.

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
    return _Network(_Text(text, str(path))).model()


class _Text:
    """The text of a file, read from its beginning to its end by recursive descent."""

    def __init__(self, text: str, source: str) -> None:
        self._text, self._source = text, source
        self._at = 0

    def refusal(self, at: int, expected: str, found: str, advice: str = "correct it") -> CausalSystemError:
        """Return an error that names the line of the place `at`."""
        return CausalSystemError(
            f"Expected {expected} but found {found} in {self.line(at)} of {self._source}: {advice}"
        )

    def line(self, at: int) -> str:
        """Return "line 3" for a place in the third line."""
        return f"line {self._text.count(chr(10), 0, at) + 1}"

    def only(self, places: Sequence[int], what: str) -> None:
        """Refuse a second one of something."""
        if len(places) > 1:
            raise self.refusal(places[1], f"one {what}", "a second", "keep one of them")

    def blocks(self) -> Iterator[tuple[int, str, list[str]] | _Block]:
        """Yield (place, name, states) of each variable block, and each probability block."""
        networks = []
        while self._skip(_SEPARATORS) < len(self._text):
            at = self._at
            if self._takes("network"):
                networks.append(at)
                self.only(networks, "network block")
                self._names("{")
                list(self._content())
            elif self._takes("variable"):
                yield at, *self._variable(at)
            elif self._takes("probability"):
                self._expect("(")
                names = self._names(")")
                self._expect("{")
                yield _Block(at, names, [self._entry(*start) for start in self._content(*_STARTS)])
            else:
                raise self._unexpected("network, variable or probability")

    def _variable(self, at: int) -> tuple[str, list[str]]:
        names = self._names("{").groups
        if len(names) != 1:
            raise self.refusal(at, "one name after 'variable'", str(len(names) or "none"))
        types = [(place, self._states(names[0])) for place, _ in self._content("type")]
        self.only([place for place, _ in types], f"type of {in_quotes(names[0])}")
        if not types:
            advice = "add a line such as type discrete [ 2 ] { no, yes };"
            raise self.refusal(at, f"the states of {in_quotes(names[0])}", "a block without them", advice)
        return names[0], types[0][1]

    def _states(self, name: str) -> list[str]:
        """Read the rest of ``type discrete [ number ] { states };``."""
        if not self._takes("discrete"):
            raise self._unexpected("'discrete', the only type of this format,")
        self._expect("[")
        number, at = self._word(), self._at
        if not (number.isascii() and number.isdigit()):
            raise self._unexpected("the number of states")
        self._at += len(number)
        self._expect("]")
        self._expect("{")
        names = self._names("}")
        self._expect(";")
        wanted = int(number) if len(number) < 10 else -1
        states = names.of_number(wanted)
        if len(states) != wanted or wanted == 0:
            expected = f"as many states of {in_quotes(name)} as its type's number, one at least,"
            raise self.refusal(at, expected, f"[{number[:20]}] and {len(names.words)} states")
        if len(set(states)) < len(states):
            twice = next(state for state, count in Counter(states).items() if count > 1)
            raise self.refusal(at, f"different states of {in_quotes(name)}", f"{in_quotes(twice)} twice")
        return states

    def _entry(self, at: int, keyword: str) -> _Entry:
        given = self._names(")") if keyword == "(" else _Names([], [])
        return _Entry(at, keyword, given, self._probabilities())

    def _content(self, *starts: str) -> Iterator[tuple[int, str]]:
        """Yield place and first word of each entry of a block, once the word is taken; pass properties."""
        while True:
            at = self._skip(_SEPARATORS)
            if self._text.startswith("}", at):
                self._at += 1
                return
            if self._takes("property"):
                end = _PROPERTY.match(self._text, self._at)
                if end is None:
                    raise self.refusal(at, "';' after the property", "the end of the file", "add it")
                self._at = end.end()
            elif start := next(filter(self._takes, starts), None):
                yield at, start
            else:
                raise self._unexpected(", ".join([*starts, "property"]) + " or }")

    def _names(self, end: str) -> _Names:
        """Read names up to and including the bracket `end`."""
        groups: list[list[str]] = [[]]
        plain = _PLAIN_LIST.match(self._text, self._at)
        if plain is not None and self._text.startswith(end, plain.end()):  # nearly all lists, and fast
            self._at = plain.end() + 1
            groups = [group.split() for group in plain[0].split(",")]
        else:
            while (letter := self._text[self._skip(_BLANKS) : self._at + 1]) != end:
                if letter in {",", "|"}:
                    self._at += 1
                    groups.append([])
                    continue
                name = (_QUOTED if letter == '"' else _NAME).match(self._text, self._at)
                if name is None:
                    raise self._unexpected(f"a name or {end}" if letter != '"' else "a closing double quote")
                groups[-1].append(name[1] if letter == '"' else name[0])
                self._at = name.end()
            self._at += 1
        words = [word for group in groups for word in group]
        return _Names(words, [" ".join(group) for group in groups if group])

    def _probabilities(self) -> list[float]:
        """Read numbers up to and including a semicolon."""
        at, words = self._at, list[str]()
        while run := _NUMBERS.match(self._text, self._at):
            self._at = run.end()
            words += run[0].replace(",", " ").replace("|", " ").split()
            if not self._text.startswith(("//", "/*"), self._at):
                break
            self._skip(_BLANKS)
        try:
            values = [float(word) for word in words]
        except ValueError:
            values = []
        if not values or not min(values) >= 0 or any("_" in word for word in words):
            wrong = [in_quotes(word) for word in words if not _is_probability(word)]
            raise self.refusal(at, "probabilities, numbers of at least 0,", wrong[0] if wrong else "none")
        self._expect(";")
        return values

    def _skip(self, pattern: re.Pattern[str]) -> int:
        """Step over what the pattern matches, and return the place after it."""
        gap = pattern.match(self._text, self._at)
        self._at = self._at if gap is None else gap.end()
        if self._text.startswith("/*", self._at):
            raise self.refusal(self._at, "*/ after the comment", "the end of the file", "close the comment")
        return self._at

    def _word(self) -> str:
        word = _WORD.match(self._text, self._skip(_SEPARATORS))
        return "" if word is None else word[0]

    def _takes(self, start: str) -> bool:
        """Step over a keyword or a bracket, if it is the next thing."""
        taken = self._text.startswith("(", self._at) if start == "(" else self._word() == start
        self._at += len(start) if taken else 0
        return taken

    def _expect(self, mark: str) -> None:
        if not self._text.startswith(mark, self._skip(_SEPARATORS)):
            raise self._unexpected(mark)
        self._at += 1

    def _unexpected(self, expected: str) -> CausalSystemError:
        word = self._word() or self._text[self._at : self._at + 1]
        return self.refusal(self._at, expected, in_quotes(word) if word else "the end of the file")


class _Network:
    """The blocks of a file, put together into a model."""

    def __init__(self, text: _Text) -> None:
        self._refusal, self._line, self._only = text.refusal, text.line, text.only
        self._places: dict[str, int] = {}
        self._codes: dict[str, dict[str, int]] = {}  # of each variable's states
        self._blocks: dict[str, _Block] = {}
        self._parents: dict[str, list[str]] = {}
        self._defaults_left = _MOST_DEFAULTS
        probabilities = []
        for block in text.blocks():
            if isinstance(block, _Block):
                probabilities.append(block)
                continue
            at, name, states = block
            self._refuse_twice(at, self._places.get(name), f"variable block for {in_quotes(name)}")
            self._places[name] = at
            self._codes[name] = {state: code for code, state in enumerate(states)}
        if not self._codes:
            raise self._refusal(0, "a network in BIF", "no variable", "give a file with variable blocks")
        for block in probabilities:  # in a second pass, as they may come before their variables
            self._add_probabilities(block)

    def model(self) -> DiscreteModel:
        """Return the model; variables in the order of their blocks, parents in that of the header."""
        for name, at in self._places.items():
            if name not in self._blocks:
                raise self._refusal(
                    at, f"a probability block for {in_quotes(name)}", "only its variable block", "add one"
                )
        try:
            TopologicalSorter(self._parents).prepare()
        except CycleError as error:
            cycle: list[str] = error.args[1]
            shown = " → ".join(map(in_quotes, cycle if len(cycle) <= 7 else [*cycle[:6], "..."]))
            raise self._refusal(self._blocks[cycle[1]].at, "a network without a cycle", shown) from error
        number = {name: v for v, name in enumerate(self._codes)}
        return DiscreteModel(
            states={name: tuple(codes) for name, codes in self._codes.items()},
            parents=tuple(tuple(number[parent] for parent in self._parents[name]) for name in number),
            tables=tuple(self._table(name) for name in number),
        )

    def _refuse_twice(self, at: int, first: int | None, what: str) -> None:
        if first is not None:
            raise self._refusal(at, f"one {what}", f"another after that in {self._line(first)}", "remove one")

    def _add_probabilities(self, block: _Block) -> None:
        name, *parents = names = self._header(block)
        of, known = in_quotes(name), self._blocks.get(name)
        self._refuse_twice(block.at, None if known is None else known.at, f"probability block for {of}")
        if len(set(names)) < len(names):
            expected = f"different parents of {of}, itself not among them,"
            raise self._refusal(block.at, expected, "a name twice in the header")
        if len(parents) > _MOST_PARENTS:
            raise self._refusal(block.at, f"at most {_MOST_PARENTS} parents of {of}", str(len(parents)))
        self._blocks[name], self._parents[name] = block, parents

    def _header(self, block: _Block) -> list[str]:
        """Return the variables of a header: its words, or else what stands between commas and bars."""
        for names in block.names:
            if names and all(name in self._codes for name in names):
                return names
        if not block.names.words:
            raise self._refusal(block.at, "a variable's name in the header", "none")
        unknown = next(word for word in block.names.words if word not in self._codes)
        advice = _nearest_or(unknown, self._codes, "add a variable block for it")
        raise self._refusal(block.at, "variables of the network in the header", in_quotes(unknown), advice)

    def _table(self, name: str) -> NDArray[np.float64]:
        """Return P(name | parents), float64 [states of the parents, in their order, ..., states of name]."""
        block, of, card = self._blocks[name], in_quotes(name), len(self._codes[name])
        cards = [len(self._codes[parent]) for parent in self._parents[name]]
        total = math.prod(cards)
        tables, defaults, own = ([e for e in block.entries if e.keyword == word] for word in _STARTS)
        for word, entries in (("table", tables), ("default", defaults)):
            self._only([entry.at for entry in entries], f"{word} entry in a block")
        place_of: dict[int, int] = {}  # for each joint state of the parents: the place of its row in the file
        for row in own:
            code = self._joint_state(row, name)
            first = tables[0].at if tables else place_of.get(code)
            self._refuse_twice(row.at, first, f"row of the table of {of} {self._where(name, code)}")
            place_of[code] = row.at
        for entry in (*own, *defaults):
            if len(entry.values) != card:
                expected = f"as many probabilities as {of} has states ({card})"
                raise self._refusal(entry.at, expected, str(len(entry.values)))
        if tables:
            if len(tables[0].values) != card * total:
                expected = f"{card} × {total} probabilities of {of} (states × rows)"
                raise self._refusal(tables[0].at, expected, str(len(tables[0].values)))
            rows = np.array(tables[0].values).reshape(card, total).T
        else:
            self._check_rows(name, block, defaults, (total - len(place_of)) * card, place_of)
            rows = np.empty((total, card))
            if defaults:
                rows[:] = defaults[0].values
            if own:
                rows[list(place_of)] = [row.values for row in own]
        sums = rows.sum(axis=1)
        for code in np.flatnonzero(~(np.abs(sums - 1) <= ROUNDING))[:1].tolist():
            at = place_of.get(code, (tables or defaults)[0].at if tables or defaults else block.at)
            found = f"a sum of {sums[code]:.6g} {self._where(name, code)}".rstrip()
            raise self._refusal(at, f"probabilities of {of} that sum to 1", found)
        return rows.reshape(*cards, card)

    def _joint_state(self, row: _Entry, name: str) -> int:
        """Return the number of a row: its states' codes, the last parent's running fastest."""
        parents, of = self._parents[name], in_quotes(name)
        states = row.given.of_number(len(parents))
        if len(states) != len(parents):
            expected = f"a state of each of the {len(parents)} parents of {of}"
            raise self._refusal(row.at, expected, f"{len(row.given.words)} in a row")
        number = 0
        for parent, state in zip(parents, states, strict=True):
            codes = self._codes[parent]
            if state not in codes:
                expected = f"a state of {in_quotes(parent)} in a row of {of}"
                advice = _nearest_or(state, codes, "correct the row")
                raise self._refusal(row.at, expected, in_quotes(state), advice)
            number = number * len(codes) + codes[state]
        return number

    def _check_rows(
        self, name: str, block: _Block, defaults: list[_Entry], size: int, given: Collection[int]
    ) -> None:
        """Refuse missing rows, or a default that would fill in more than memory can hold."""
        of = in_quotes(name)
        if size and not defaults:
            missing = next(code for code in range(len(given) + 1) if code not in given)
            found = f"none {self._where(name, missing)}"
            advice = "add it, or a default entry"
            raise self._refusal(block.at, f"every row of the table of {of}", found, advice)
        self._defaults_left -= size
        if self._defaults_left < 0:
            expected = f"at most {_MOST_DEFAULTS:,} probabilities given by default entries"
            found = f"{size:,} in the table of {of}" if size < 10**15 else "far more"
            raise self._refusal(defaults[0].at, expected, found, "give it fewer parents")

    def _where(self, name: str, code: int) -> str:
        """Return "for 'A=yes, B=no'": the joint state of the parents with this number."""
        shown: list[str] = []
        for parent in reversed(self._parents[name]):
            code, own = divmod(code, len(self._codes[parent]))
            shown.append(f"{parent}={list(self._codes[parent])[own]}")
        return f"for {in_quotes(', '.join(reversed(shown)))}" if shown else ""


def in_quotes(name: str) -> str:
    """Return a name for a message, in quotes, on one line and not too long."""
    return repr(name if len(name) <= 60 else f"{name[:57]}...")


def _nearest_or(name: str, known: Collection[str], advice: str) -> str:
    """Return "did you mean 'yes'?", or the advice; long names and lists aren't compared."""
    close = nearest(name, known) if len(name) <= 100 and len(known) <= 2000 else None
    return advice if close is None else f"did you mean {in_quotes(close)}?"


def _is_probability(word: str) -> bool:
    try:
        return "_" not in word and float(word) >= 0
    except ValueError:
        return False
