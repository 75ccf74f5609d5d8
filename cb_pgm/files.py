"""Write results: text and JSON on stdout, files in a folder that isn't overwritten by mistake."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cb_pgm.errors import CausalBanditError
from discovery.wording import visible

__all__ = [
    "check_folder",
    "check_not_among",
    "json_text",
    "print_text",
    "replaced",
    "whole_folder",
    "write_text",
]

_MARKS = frozenset({"result.json", "effects.json", "graph.json"})


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
        # What a reader looks for first goes first and comes last, so that no mixture looks whole.
        files = sorted(Path(partial).iterdir(), key=lambda file: (file.name in _MARKS, file.name))
        for file in files:
            if file.name in _MARKS:
                (path / file.name).unlink(missing_ok=True)
        for file in files:
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
    with replaced(path) as partial:
        partial.write_text(f"{text}\n", encoding="utf-8", errors="backslashreplace")


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; the file replaces `path` at the end, or goes after an error.

    Raises
    ------
    CausalBanditError
        If there is something else than a file at `path`: a device, or a link, which may lead anywhere.
    OSError
        If the file can't be written, with `path` in it.
    """
    if os.path.lexists(path) and (path.is_symlink() or not path.is_file()):
        raise CausalBanditError(
            f"Expected a file to write to but found a link or a device at {path}: choose another path"
        )
    partial = path.with_name(f".{path.name[:200]}.{os.getpid()}.part")
    try:
        yield partial
        os.replace(partial, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        partial.unlink(missing_ok=True)


def check_not_among(path: Path, kept: Iterable[Path], what: str) -> None:
    """Check that an output isn't one of the files from which it is made, by whatever name.

    Raises
    ------
    CausalBanditError
        If it is.
    """
    for file in kept:
        same = path.exists() and file.exists() and path.samefile(file)
        if same or path.resolve() == file.resolve():
            raise CausalBanditError(
                f"Expected another file for --out but found {path}, which is {what}: choose another path"
            )


def print_text(text: str) -> None:
    """Write `text` and a line end to stdout; on a terminal controls are shown as escapes."""
    sys.stdout.write(f"{visible(text) if sys.stdout.isatty() else text}\n")
