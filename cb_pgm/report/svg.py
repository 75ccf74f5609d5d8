"""Figures as SVG inside a page: without outside references, with unique ids and the page's colours.

Matplotlib writes fixed colours. In a page they become the variables of its style sheet, so that the dark
scheme recolours the same picture; those of lines and those of text differ, since small letters need more
contrast.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree

from markupsafe import Markup
from matplotlib.figure import Figure

from cb_pgm.plotting.regret import legal, svg_text

__all__ = ["COLOURS", "inline_svg"]

#: colour as drawn → the style sheet's variable; with "-text" behind it where it is that of letters.
COLOURS: Mapping[str, str] = {
    "#000000": "--ink",
    "#333333": "--ink",
    "#555555": "--soft",
    "#767676": "--soft",
    "#bbbbbb": "--rule",
    "#dddddd": "--rule",
    "#ffffff": "--paper",
    "#0072b2": "--blue",
    "#d55e00": "--vermillion",
    "#009e73": "--green",
    "#cc79a7": "--purple",
    "#e69f00": "--orange",
    "#56b4e9": "--sky",
    "#aa3377": "--wine",
    "#f0e442": "--mark",
    "#d6ecf9": "--box",
}
_LETTERS = frozenset({"--blue", "--vermillion", "--green", "--purple", "--orange", "--sky"})
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_PIXELS_PER_INCH = 96


def inline_svg(figure: Figure, identity: str, label: str) -> Markup:
    """Return the figure as an `svg` element to put into a page.

    Parameters
    ----------
    figure
        The figure; its background is left out.
    identity
        Unique in the page: goes before every id.
    label
        A description for people who can't see the figure.
    """
    root = ElementTree.fromstring(svg_text(figure, transparent=True))
    for element in root.iter():
        element.tag = _local(element.tag)
    for child in [child for child in root if child.tag == "metadata"]:
        root.remove(child)
    for parent in list(root.iter("defs")):
        for style in parent.findall("style"):
            parent.remove(style)
    referred = _references(root)
    for element in root.iter():
        _localise(element, identity, referred)
    width = round(figure.get_figwidth() * _PIXELS_PER_INCH)
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-label": legal(label),
        "style": f"--natural: {width}px",
    }
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # serialised, hence escaped


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _references(root: ElementTree.Element) -> set[str]:
    found: set[str] = set()
    for element in root.iter():
        for name, value in element.attrib.items():
            found.update(_REFERENCE.findall(value))
            if _local(name) == "href":
                found.add(value.removeprefix("#"))
    return found


def _localise(element: ElementTree.Element, identity: str, referred: set[str]) -> None:
    """Keep only ids that something refers to, prefix them with `identity`; turn colours into variables."""
    is_text = element.tag in ("text", "tspan")
    attributes = {}
    for name, value in element.attrib.items():
        name = _local(name)
        if name == "id":
            if value not in referred:
                continue
            value = f"{identity}-{value}"
        elif name == "href":
            value = f"#{identity}-{value.removeprefix('#')}"
        elif name == "style":
            value = _COLOUR.sub(lambda found: _variable(found.group(), is_text), value)
        attributes[name] = _REFERENCE.sub(rf"url(#{identity}-\1)", value)
    element.attrib = attributes


def _variable(colour: str, is_text: bool) -> str:
    name = COLOURS.get(colour)
    if name is None:
        return colour
    return f"var({name}{'-text' if is_text and name in _LETTERS else ''})"
