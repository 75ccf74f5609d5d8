"""Read JSON and TOML that others wrote: whatever is wrong with the text is one `ValueError`."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from typing import Any

__all__ = ["json_content", "toml_content"]

_MAYBE_HALVES = re.compile(rb"\\u[dD]|\xed")


def json_content(text: str | bytes) -> Any:
    """Return what a JSON text holds; halves of characters, which can't be written again, become "?".

    Raises
    ------
    ValueError
        If the text isn't JSON, is nested too deeply, or has a number with thousands of digits.

    Examples
    --------
    >>> json_content("[" * 100_000)
    Traceback (most recent call last):
    ValueError: brackets nested too deeply
    >>> json_content(r'"a\\ud800b"')
    'a?b'
    """
    content = _read(json.loads, text)
    whole = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if _MAYBE_HALVES.search(whole):
        content = json.loads(json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))
    return content


def toml_content(text: str) -> dict[str, Any]:
    """Return what a TOML text holds.

    Raises
    ------
    ValueError
        As in `json_content`.
    """
    content: dict[str, Any] = _read(tomllib.loads, text)
    return content


def _read(read: Callable[[Any], Any], text: str | bytes) -> Any:
    try:
        return read(text)
    except RecursionError:
        raise ValueError("brackets nested too deeply") from None
    except (json.JSONDecodeError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise
    except ValueError:  # Python's limit, with advice for its programmers
        raise ValueError("a whole number of more digits than can be read") from None
