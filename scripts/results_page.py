"""Writes what a script has measured into a page: RESULTS.md by default.

A section of a page stands between two markers, each on a line of its own,

    <!-- headline -->
    ...
    <!-- /headline -->

and is replaced as a whole. Everything outside the markers is written by hand and stays.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

__all__ = [
    "FIGURES",
    "RESULTS",
    "keep_figure",
    "markdown_table",
    "page_of",
    "replaced",
    "write_section",
]

RESULTS = Path(__file__).with_name("RESULTS.md")
ROOT = Path(__file__).parent.parent
PAGES = (RESULTS, ROOT / "cb_pgm" / "README.md", ROOT / "CONTRIBUTING.md")
FIGURES = Path(__file__).with_name("figures")


def page_of(name: str) -> Path:
    """Return the page that has the section `name`."""
    return next(page for page in PAGES if f"<!-- {name} -->" in page.read_text(encoding="utf-8"))


def write_section(name: str, text: str, page: Path = RESULTS) -> None:
    """Replace the section `name` of the page by `text`.

    Raises
    ------
    ValueError
        If the page doesn't have this section exactly once.
    """
    page.write_text(replaced(page.read_text(encoding="utf-8"), name, text), encoding="utf-8")


def replaced(content: str, name: str, text: str) -> str:
    """Return the content of a page with its section `name` replaced by `text`."""
    section = re.compile(rf"^<!-- {re.escape(name)} -->\n.*?^<!-- /{re.escape(name)} -->$", re.M | re.S)
    written = f"<!-- {name} -->\n{text.strip()}\n<!-- /{name} -->"
    content, count = section.subn(lambda _: written, content)
    if count != 1:
        raise ValueError(f"Expected one section {name!r} but found {count}: add its two markers to the page")
    return content


def keep_figure(path: Path, name: str) -> None:
    """Copy a figure to scripts/figures/`name`.png, which the pages show."""
    shutil.copyfile(path, FIGURES / f"{name}.png")


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, its first column to the left and all others to the right."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
