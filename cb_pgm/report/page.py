"""A page as plain blocks, and its rendering: templates get only these blocks and escape all of their text."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.figure import Figure

from cb_pgm.plotting.regret import svg_text
from cb_pgm.provenance import VERSION
from discovery.wording import visible

__all__ = [
    "Block",
    "Code",
    "Facts",
    "Heading",
    "Page",
    "Paragraph",
    "Picture",
    "Points",
    "Section",
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
    """A figure with a description for people who can't see it; one that `scrolls` is shrunk little."""

    kind: ClassVar[str] = "picture"
    figure: Figure
    label: str
    caption: str = ""
    scrolls: bool = False

    @property
    def source(self) -> str:
        """The figure as the address of an image: an SVG by itself, which no name in it can leave."""
        return f"data:image/svg+xml;base64,{b64encode(svg_text(self.figure).encode()).decode()}"

    @property
    def width(self) -> int:
        """Its width in pixels where there is room."""
        return round(self.figure.get_figwidth() * _PIXELS_PER_INCH)


Block = Paragraph | Heading | Points | Facts | Code | Table | Picture


@dataclass(frozen=True)
class Section:
    """Blocks under a title; `identity` is its address in the page."""

    identity: str
    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Page:
    """A report: its kind and title, the outcome in a few sentences, warnings, then sections."""

    kind: str
    title: str
    outcome: str
    sections: Sequence[Section]
    warnings: Sequence[str] = ()
    version: str = VERSION


_PIXELS_PER_INCH = 96


def render(page: Page) -> str:
    """Return the page as one HTML document that needs no other file."""
    return _environment().get_template("page.html.j2").render(page=page)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("cb_pgm.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )


def _visible(value: object) -> object:
    """Return text with escapes for the characters that are not seen, or that turn the text around them."""
    return visible(value) if type(value) is str else value  # markup, of templates, is another type
