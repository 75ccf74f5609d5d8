"""Read JSON and TOML that others wrote: whatever is wrong with the text is one `ValueError`."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from typing import Any

__all__ = ["json_content", "toml_content"]


def json_content(text: str | bytes) -> Any:
    """Return what a JSON text holds.

    Raises
    ------
    ValueError
        If the text isn't JSON, is nested too deeply, or has a number with thousands of digits.

    Examples
    --------
    >>> json_content("[" * 100_000)
    Traceback (most recent call last):
    ValueError: brackets nested too deeply
    """
    return _read(json.loads, text)


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
