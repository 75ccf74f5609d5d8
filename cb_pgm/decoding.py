"""Values from JSON: the content of a file is checked against the types of a class; errors name the path."""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from discovery.wording import did_you_mean

__all__ = ["Check", "decoded"]

Kind = TypeVar("Kind")

#: Says of a value what was expected instead; None where it is right.
Check = Callable[[Any], str | None]

_LARGEST = 2**128  # of seeds
_NAMES = {int: "a whole number", float: "a finite number", str: "a text", bool: "true or false"}


def decoded(kind: type[Kind], content: Any, where: str = "") -> Kind:
    """Return the value of a class that parsed JSON stands for.

    Parameters
    ----------
    kind
        What JSON can hold: bool, int, float, str, None, literals, mappings from str, tuples and lists,
        unions of these, Any, and dataclasses and typed dictionaries of these. Unknown keys of a dataclass
        are refused, those of a typed dictionary kept. Fields with the metadata ``{"in_file": False}`` aren't
        read. ``Annotated[kind, check]`` is a kind whose values a `Check` has to pass.
    content
        What `json.loads` returned.
    where
        The path to this value, for errors; empty at the top.

    Raises
    ------
    ValueError
        If a value doesn't fit: with the path to it, what was expected and what was found.

    Examples
    --------
    >>> @dataclasses.dataclass(frozen=True)
    ... class Dose:
    ...     amount: float
    ...     unit: str = "mg"
    >>> decoded(tuple[Dose, ...], [{"amount": 1}])
    (Dose(amount=1.0, unit='mg'),)
    >>> decoded(tuple[Dose, ...], [{"amount": 1}, {"amount": "many"}])
    Traceback (most recent call last):
    ValueError: expected a finite number at [1].amount but found "many"
    """
    value: Kind = _value(kind, content, where)
    return value


def _value(kind: Any, content: Any, where: str) -> Any:
    if kind is Any:
        return content
    if get_origin(kind) is Annotated:
        kind, check = get_args(kind)
        value = _value(kind, content, where)
        said = check(value)
        return _checked(value, said is None, str(said), content, where)
    if kind in (None, type(None)):
        return _checked(None, content is None, "null", content, where)
    if kind is float:
        fits = isinstance(content, int | float) and not isinstance(content, bool) and abs(content) < 1e300
        return _checked(float(content) if fits else content, fits, _NAMES[float], content, where)
    if kind in _NAMES:
        fits = isinstance(content, kind) and isinstance(content, bool) == (kind is bool)
        fits = fits and (kind is not int or abs(content) <= _LARGEST)
        return _checked(content, fits, _NAMES[kind], content, where)
    if dataclasses.is_dataclass(kind) or is_typeddict(kind):
        return _record(kind, content, where)
    origin, parts = get_origin(kind) or kind, get_args(kind)
    if origin is Literal:
        return _checked(content, content in parts, f"one of {', '.join(map(repr, parts))}", content, where)
    if origin in (Union, types.UnionType):
        return _union(parts, content, where)
    if origin in (list, tuple):
        _checked(content, isinstance(content, list), "a list", content, where)
        if origin is tuple and Ellipsis not in parts:
            _checked(content, len(content) == len(parts), f"a list of {len(parts)}", content, where)
        else:
            parts = (parts[0],) * len(content)
        places = enumerate(zip(parts, content, strict=True))
        return origin(_value(part, item, f"{where}[{place}]") for place, (part, item) in places)
    _checked(content, isinstance(content, Mapping), "an object", content, where)
    return {key: _value(parts[1], item, _within(where, key)) for key, item in content.items()}


def _record(kind: Any, content: Any, where: str) -> Any:
    hints, needed = _shape(kind)
    _checked(content, isinstance(content, Mapping), "an object", content, where)
    others = {key: content[key] for key in content if key not in hints}
    if others and not is_typeddict(kind):
        odd = next(iter(others))
        raise ValueError(f"{_fault('known keys', odd, where)} ({did_you_mean(str(odd), list(hints))})")
    for key in hints:
        if key in needed and key not in content:
            raise ValueError(f"expected {_within(where, key)} but found none")
    given = {key: _value(hints[key], content[key], _within(where, key)) for key in hints if key in content}
    return kind(**given) if not others else given | others


@cache
def _shape(kind: Any) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the types of the keys, and the keys that are needed."""
    if is_typeddict(kind):  # which can't itself tell what is required where annotations are text
        given = get_type_hints(kind, include_extras=True)
        optional = {key for key, hint in given.items() if get_origin(hint) is NotRequired}
        return get_type_hints(kind), frozenset(given) - optional
    fields = [each for each in dataclasses.fields(kind) if each.metadata.get("in_file", True)]
    needed = [each.name for each in fields if each.default is each.default_factory is dataclasses.MISSING]
    # Types of fields that aren't read need not be importable.
    twin = type(
        "_", (), {"__annotations__": {each.name: each.type for each in fields}, "__module__": kind.__module__}
    )
    return get_type_hints(twin, include_extras=True), frozenset(needed)


def _union(parts: tuple[Any, ...], content: Any, where: str) -> Any:
    """Return the value by the first part that takes it; the error is that of the last one."""
    *others, last = [part for part in parts if part is not type(None)]
    if type(None) in parts and content is None:
        return None
    for part in others:
        try:
            return _value(part, content, where)
        except ValueError:
            continue
    return _value(last, content, where)


def _within(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _checked(value: Any, fits: bool, expected: str, content: Any, where: str) -> Any:
    if not fits:
        raise _fault(expected, content, where)
    return value


def _fault(expected: str, content: Any, where: str) -> ValueError:
    found = json.dumps(content, ensure_ascii=False, default=str)
    found = f"{found[:60]}…" if len(found) > 60 else found
    at = f" at {where}" if where else ""
    return ValueError(f"expected {expected}{at} but found {found}")
