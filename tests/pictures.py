"""What a picture's file shows, for tests that a picture was drawn and not just written."""

import re
from html import unescape
from pathlib import Path

import numpy as np
from matplotlib.image import imread


def ink(path: Path) -> float:
    """Return the share of a PNG's pixels that differ from its upper left corner: 0 where nothing is drawn."""
    pixels = imread(path)
    return float(np.mean(np.any(pixels != pixels[0, 0], axis=-1)))


def words(path: Path) -> list[str]:
    """Return the texts of an SVG file, which our pictures keep as text."""
    return [unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text("utf-8"))]
