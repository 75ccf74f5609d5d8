"""Write results: text and JSON on stdout, files in a folder that isn't overwritten by mistake."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cb_pgm.errors import CausalBanditError

__all__ = ["check_folder", "json_text", "print_text", "whole_folder", "write_text"]


def check_folder(path: Path | None, *, force: bool) -> None:
    """Check that results can be written to a folder: it is new or empty, or `force` is given.

    Raises
    ------
    CausalBanditError
        If the path is a file, or a folder with files in it while `force` isn't given.
    """
    if path is None:
        return
    if path.exists() and not path.is_dir():
        raise CausalBanditError(
            f"Expected a folder for --out but found a file at {path}: choose another path"
        )
    if path.is_dir() and not force and any(path.iterdir()):
        raise CausalBanditError(
            f"Expected an empty or new folder for --out but found files in {path}: add --force to write there"
        )


@contextmanager
def whole_folder(path: Path | None) -> Iterator[Path | None]:
    """Yield a temporary folder beside `path`; its files go to `path` at the end, or nowhere after an error.

    So an interrupted command leaves no half-written results. Without a path there is no folder.
    """
    if path is None:
        yield None
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as partial:
        yield Path(partial)
        path.mkdir(exist_ok=True)
        for file in sorted(Path(partial).iterdir()):
            file.replace(path / file.name)


def json_text(content: Mapping[str, Any]) -> str:
    """Return `content` as indented JSON.

    Raises
    ------
    ValueError
        If a number in it isn't finite.
    """
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)


def write_text(path: Path, text: str) -> None:
    """Write `text` and a line end to a file in UTF-8; characters that it can't hold are escaped."""
    path.write_text(f"{text}\n", encoding="utf-8", errors="backslashreplace")


def print_text(text: str) -> None:
    """Write `text` and a line end to stdout."""
    sys.stdout.write(f"{text}\n")
