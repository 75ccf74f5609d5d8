"""Writes the rooms of both packages into CONTRIBUTING.md, from top to bottom, with what each is for.

The order is that of the import contracts in setup.cfg; what a room is for is the first line of its docstring.
"""

from __future__ import annotations

import ast
import configparser
from pathlib import Path

from results_page import markdown_table
from results_run import Run

__all__ = ["make"]

ROOT = Path(__file__).resolve().parent.parent
CONTRACTS = {"cb_pgm": "importlinter:contract:rooms", "discovery": "importlinter:contract:discovery-rooms"}


def make(run: Run) -> dict[str, str]:
    """Return the section "layers": a table a package."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / "setup.cfg", encoding="utf-8")
    tables = []
    for package, section in CONTRACTS.items():
        layers = [line.split("|") for line in contracts[section]["layers"].split("\n") if line.strip()]
        rows = [
            (f"{level}", f"`{room.strip()}`", _purpose(package, room.strip()))
            for level, layer in enumerate(reversed(layers))
            for room in layer
        ]
        tables.append(markdown_table(("level", package, "what it is for"), reversed(rows)))
    return {"layers": "\n\n".join(tables).replace("--:", "---")}


def _purpose(package: str, room: str) -> str:
    """Return the first line of a room's docstring."""
    path = ROOT / package / room
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    about = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return about.partition("\n")[0].rstrip(".")
