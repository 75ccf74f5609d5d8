"""The grammar of the Bayesian Interchange Format, version 0.15 [1]_, as a parser by recursive descent.

A file is a ``network`` block and any number of ``variable`` and ``probability`` blocks, in any order. Blanks,
comments, commas and bars separate words and mean nothing else. A word is a keyword only where the grammar has
one, so that a variable may be called "table" or "network".

The parser takes three things more than the grammar has, since published files have them: names in double
quotes, which may hold anything but a double quote; names with brackets in them, such as Age(y); and names of
several words between commas, such as ``{ very low, high }``, where the number of states or parents shows that
this is what was meant. Whether the blocks fit together is not its business.

References
----------
.. [1] F. Cozman, "The Interchange Format for Bayesian Networks", 1998.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from cb_pgm.errors import CausalSystemError

__all__ = ["BIFParser", "NameGroups", "ProbabilityBlock", "Row", "VariableBlock", "in_quotes"]

# All quantifiers are possessive: nothing is tried twice, and time and memory stay linear in the text.
_BLANKS = re.compile(r"(?:\s++|//[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
_SEPARATORS = re.compile(r"(?:[\s,|]++|//[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
_WORD = re.compile(r'(?:[^\s,;|"(){}\[\]/]|/(?![/*]))++')
_NAME = re.compile(
    r"""(?:[^\s,;|"(){}\[\]/]|/(?![/*])|\([^\s,;|"(){}\[\]]*+\)|\[[^\s,;|"(){}\[\]]*+\])++""",
)
_QUOTED = re.compile(r'"([^"]*+)"')
_PLAIN_LIST = re.compile(r'[^"/;|(){}\[\]]*+')  # names without quotes, brackets and comments
_NUMBERS = re.compile(r'[^"/;(){}\[\]]*+')
# A property ends at the next semicolon; one in quotes on a single line may itself hold semicolons.
_PROPERTY = re.compile(r'\s*+"[^"\n]*+"\s*+;|[^;]*+;')

NameGroups = list[list[str]]
"""Names between commas or bars: for each of these groups its words."""


@dataclass(frozen=True)
class VariableBlock:
    """A variable and its states; `at` is its place in the text."""

    at: int
    name: str
    states: list[str]


class Row(NamedTuple):
    """Probabilities, and the states of the parents that they are for (none in a table or a default)."""

    at: int
    states: NameGroups
    values: list[float]


@dataclass
class ProbabilityBlock:
    """A variable, its parents, and what the block says of their probabilities."""

    at: int
    names: NameGroups
    table: Row | None = None
    default: Row | None = None
    rows: list[Row] = field(default_factory=list)


class BIFParser:
    """Parse the text of a BIF file into its blocks.

    Parameters
    ----------
    text
        The whole file.
    source
        The file's name, for messages.
    """

    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._source = source
        self._at = 0

    def refusal(self, at: int, expected: str, found: str, advice: str) -> CausalSystemError:
        """Return an error that names the line of the place `at`."""
        return CausalSystemError(
            f"Expected {expected} but found {found} in {self.line(at)} of {self._source}: {advice}"
        )

    def line(self, at: int) -> str:
        """Return "line 3" for a place in the third line."""
        return f"line {self._text.count(chr(10), 0, at) + 1}"

    def blocks(self) -> Iterator[VariableBlock | ProbabilityBlock]:
        """Yield the variable and probability blocks in the order of the text.

        Raises
        ------
        CausalSystemError
            At the first word that the grammar doesn't have there.
        """
        network = False
        while not self._ends():
            at = self._at
            if self._takes("network"):
                if network:
                    raise self.refusal(at, "one network block", "a second", "keep one of them")
                network = True
                self._groups("{")
                for _ in self._content():
                    pass
            elif self._takes("variable"):
                yield self._variable(at)
            elif self._takes("probability"):
                yield self._probability(at)
            else:
                raise self._unexpected("network, variable or probability")

    def _variable(self, at: int) -> VariableBlock:
        groups = self._groups("{")
        if len(groups) != 1:
            raise self.refusal(at, "one name after 'variable'", str(len(groups) or "none"), "correct it")
        name = " ".join(groups[0])
        states: list[str] | None = None
        for place in self._content("type"):
            if states is not None:
                raise self.refusal(place, f"one type of {in_quotes(name)}", "a second", "keep one of them")
            states = self._states(name)
        if states is None:
            raise self.refusal(
                at,
                f"the states of {in_quotes(name)}",
                "a block without them",
                "add a line such as type discrete [ 2 ] { no, yes };",
            )
        return VariableBlock(at, name, states)

    def _states(self, name: str) -> list[str]:
        """Parse the rest of ``type discrete [ number ] { states };``."""
        if not self._takes("discrete"):
            raise self._unexpected("'discrete', the only type of this format,")
        self._expect("[")
        number = self._word()
        if not (number.isascii() and number.isdigit()):
            raise self._unexpected("the number of states")
        at = self._at
        self._at += len(number)
        self._expect("]")
        self._expect("{")
        groups = self._groups("}")
        self._expect(";")
        flat = [word for group in groups for word in group]
        wanted = number.lstrip("0") or "0"
        states = flat if str(len(flat)) == wanted else [" ".join(group) for group in groups]
        if str(len(states)) != wanted or wanted == "0":
            raise self.refusal(
                at,
                f"as many states of {in_quotes(name)} as its type's number, one at least,",
                f"[{number[:20]}] and {len(flat)} states",
                "correct the number or the states",
            )
        if len(set(states)) < len(states):
            twice = next(state for state, count in Counter(states).items() if count > 1)
            raise self.refusal(
                at, f"different states of {in_quotes(name)}", f"{in_quotes(twice)} twice", "rename one"
            )
        return states

    def _probability(self, at: int) -> ProbabilityBlock:
        self._expect("(")
        block = ProbabilityBlock(at, self._groups(")"))
        self._expect("{")
        for place in self._content("table", "default", "("):
            keyword = self._text[place]
            states = self._groups(")") if keyword == "(" else []
            row = Row(place, states, self._probabilities())
            if keyword == "(":
                block.rows.append(row)
            elif keyword == "d" and block.default is None:
                block.default = row
            elif keyword == "t" and block.table is None:
                block.table = row
            else:
                word = "default" if keyword == "d" else "table"
                raise self.refusal(place, f"one {word} entry in a block", "a second", "keep one of them")
        return block

    def _content(self, *starts: str) -> Iterator[int]:
        """Yield the place of each entry of a block, once its first word is taken; pass over properties."""
        while True:
            self._skip(_SEPARATORS)
            at = self._at
            if self._text.startswith("}", at):
                self._at += 1
                return
            if self._takes("property"):
                end = _PROPERTY.match(self._text, self._at)
                if end is None:
                    raise self.refusal(at, "';' after the property", "the end of the file", "add it")
                self._at = end.end()
            elif any(self._takes(start) for start in starts):
                yield at
            else:
                raise self._unexpected(", ".join([*starts, "property"]) + " or }")

    def _groups(self, end: str) -> NameGroups:
        """Parse names up to and including the bracket `end`."""
        plain = _PLAIN_LIST.match(self._text, self._at)
        if plain is not None and self._text.startswith(end, plain.end()):
            self._at = plain.end() + 1
            return [words for group in plain[0].split(",") if (words := group.split())]
        groups: NameGroups = [[]]
        while True:
            self._skip(_BLANKS)
            letter = self._text[self._at : self._at + 1]
            if letter in {",", "|", end}:
                self._at += 1
                if letter == end:
                    return [group for group in groups if group]
                groups.append([])
                continue
            name = (_QUOTED if letter == '"' else _NAME).match(self._text, self._at)
            if name is None:
                raise self._unexpected(f"a name or {end}" if letter != '"' else "a closing double quote")
            groups[-1].append(name[1] if letter == '"' else name[0])
            self._at = name.end()

    def _probabilities(self) -> list[float]:
        """Parse numbers up to and including a semicolon."""
        at = self._at
        words: list[str] = []
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
            wrong = next((word for word in words if not _is_probability(word)), None)
            raise self.refusal(
                at,
                "probabilities, numbers of at least 0,",
                "none" if wrong is None else in_quotes(wrong),
                "correct the entry",
            )
        self._expect(";")
        return values

    def _skip(self, pattern: re.Pattern[str]) -> None:
        gap = pattern.match(self._text, self._at)
        self._at = self._at if gap is None else gap.end()
        if self._text.startswith("/*", self._at):
            raise self.refusal(self._at, "*/ after the comment", "the end of the file", "close the comment")

    def _ends(self) -> bool:
        self._skip(_SEPARATORS)
        return self._at == len(self._text)

    def _word(self) -> str:
        self._skip(_SEPARATORS)
        word = _WORD.match(self._text, self._at)
        return "" if word is None else word[0]

    def _takes(self, start: str) -> bool:
        """Step over a keyword or a bracket, if it is the next thing."""
        taken = self._text.startswith("(", self._at) if start == "(" else self._word() == start
        self._at += len(start) if taken else 0
        return taken

    def _expect(self, mark: str) -> None:
        self._skip(_SEPARATORS)
        if not self._text.startswith(mark, self._at):
            raise self._unexpected(mark)
        self._at += 1

    def _unexpected(self, expected: str) -> CausalSystemError:
        word = self._word() or self._text[self._at : self._at + 1]
        found = in_quotes(word) if word else "the end of the file"
        return self.refusal(self._at, expected, found, "correct the file there")


def in_quotes(name: str) -> str:
    """Return a name for a message, in quotes, on one line and not too long."""
    return repr(name if len(name) <= 60 else f"{name[:57]}...")


def _is_probability(word: str) -> bool:
    try:
        return "_" not in word and float(word) >= 0
    except ValueError:
        return False
