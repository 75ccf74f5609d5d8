"""A page as plain blocks, and its rendering: templates get only these blocks and escape all of their text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from discovery.wording import visible

__all__ = [
    "Block",
    "Code",
    "Facts",
    "Heading",
    "Key",
    "Page",
    "Paragraph",
    "Picture",
    "Pictures",
    "Points",
    "Section",
    "Step",
    "Table",
    "render",
]


@dataclass(frozen=True)
class Paragraph:
    """A few sentences."""

    kind: ClassVar[str] = "paragraph"
    text: str


@dataclass(frozen=True)
class Heading:
    """A title inside a section."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True)
class Points:
    """A list of sentences."""

    kind: ClassVar[str] = "points"
    items: Sequence[str]


@dataclass(frozen=True)
class Facts:
    """Terms with their values."""

    kind: ClassVar[str] = "facts"
    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """Text to copy verbatim."""

    kind: ClassVar[str] = "code"
    text: str


@dataclass(frozen=True)
class Table:
    """Rows under named columns; the first column names the row, those in `numeric` are numbers."""

    kind: ClassVar[str] = "table"
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: Sequence[int] = ()


@dataclass(frozen=True)
class Picture:
    """A figure, with a `narrow` twin for phones where needed; one that `scrolls` is shrunk little."""

    kind: ClassVar[str] = "picture"
    wide: Markup
    caption: str
    narrow: Markup | None = None
    narrow_caption: str = ""
    scrolls: bool = False


@dataclass(frozen=True)
class Pictures:
    """Figures side by side where there is room."""

    kind: ClassVar[str] = "pictures"
    items: Sequence[Picture]


@dataclass(frozen=True)
class Key:
    """The meaning of the boxes in graphs: (style, meaning) pairs; styles are classes of the style sheet."""

    kind: ClassVar[str] = "key"
    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Step:
    """A step of a search: a title, an answer ("yes", "no" or ""), sentences, and a picture."""

    kind: ClassVar[str] = "step"
    title: str
    answer: str
    sentences: Sequence[str]
    picture: Picture | None = None


Block = Paragraph | Heading | Points | Facts | Code | Table | Picture | Pictures | Key | Step


@dataclass(frozen=True)
class Section:
    """Blocks under a title; `identity` is its address in the page."""

    identity: str
    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Page:
    """A report: its kind and title, the outcome in a few sentences and a table, then sections."""

    kind: str
    title: str
    outcome: str
    table: Table | None
    sections: Sequence[Section]
    remarks: Sequence[str] = field(default=())
    version: str = ""


_LETTER = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
_RIGHT_TO_LEFT = re.compile(f"([{_LETTER}]+(?:[^\\S\\n]+[{_LETTER}]+)*)")


def render(page: Page) -> str:
    """Return the page as one HTML document that needs no other file."""
    return _environment().get_template("page.html.j2").render(page=page)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("cb_pgm.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.filters["isolated"] = _isolated
    return environment


def _visible(value: object) -> object:
    """Return text with escapes for the characters that are not seen, or that turn the text around them."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return visible(value)


def _isolated(value: str) -> Markup:
    """Return text in which words written from right to left don't turn what stands beside them."""
    pieces = _RIGHT_TO_LEFT.split(str(_visible(value)))
    return Markup("").join(
        Markup("<bdi>{}</bdi>").format(piece) if number % 2 else escape(piece)
        for number, piece in enumerate(pieces)
    )
