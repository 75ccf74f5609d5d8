"""Flags made from the fields of settings dataclasses: names, types, defaults and help are written there.

The help of a flag is what the class's docstring says of its field: the first sentence in --help, all of it in
--help-all, which also has the flags that --help leaves out. A flag that isn't given leaves no option behind,
so the dataclass's own default holds.
"""

from __future__ import annotations

import inspect
import math
import re
import sys
from argparse import SUPPRESS, Action, ArgumentError, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, get_args

from cb_pgm.cli.usage import Parser
from cb_pgm.policies.registry import POLICIES, is_installed
from discovery.wording import did_you_mean

__all__ = [
    "add_flags",
    "add_rest",
    "count",
    "policy_name",
    "positive",
    "probability",
    "real",
    "real_policy",
    "seed",
    "settings_of",
]

_LARGEST_COUNT = 10**15  # float64 tells all whole numbers up to this, and nobody waits for more
_LONGEST_SEED = 1000  # digits


def add_flags(
    parser: Parser,
    kind: type[Any],
    names: str = "",
    *,
    title: str | None = None,
    rest: bool = False,
    defaults: Mapping[str, Any] | None = None,
    texts: Mapping[str, str] | None = None,
) -> None:
    """Add a flag for each of these fields of a settings dataclass.

    Parameters
    ----------
    parser
        Gets the flags.
    kind
        The dataclass; its docstring and those of its bases explain the fields (numpydoc).
    names
        Names of fields, separated by spaces, in the order of --help.
    title
        The title of their group; None: no group of their own.
    rest
        Whether --help leaves them out, so that only --help-all names them.
    defaults
        Defaults of the command that differ from the dataclass's.
    texts
        What the command says of fields that mean something else to it than the docstring says.
    """
    group = parser.rare if rest else parser if title is None else parser.add_argument_group(title)
    explained = _descriptions(kind) | dict(texts or {})
    known = {field.name: field for field in fields(kind)}
    for name in names.split():
        field = known[name]
        default = field.default if field.default is not MISSING else None
        default = (defaults or {}).get(name, default)
        short, whole = _help(explained[name], default)
        action = group.add_argument(
            "--" + ("policy" if name == "policies" else name.replace("_", "-")),
            dest=name,
            default=(defaults or {}).get(name, SUPPRESS),
            help=SUPPRESS if rest else short,
            **_form(name, str(field.type), kind),
        )
        if rest or short != whole:
            parser.explain(action, whole)


def add_rest(parser: Parser, kind: type[Any], without: str = "") -> None:
    """Add the fields of a settings dataclass that have no flag yet, for --help-all only."""
    taken = {action.dest for action in parser._actions} | set(without.split())
    names = [field.name for field in fields(kind) if field.name not in taken]
    add_flags(parser, kind, " ".join(names), rest=True)


def settings_of(options: Namespace, kind: type[Any]) -> dict[str, Any]:
    """Return those options that are fields of a settings dataclass, as its keywords."""
    names = [field.name for field in fields(kind) if hasattr(options, field.name)]
    given = {name: getattr(options, name) for name in names}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}


# -- a field as a flag -------------------------------------------------------------------------------------


def _form(name: str, annotation: str, kind: type[Any]) -> dict[str, Any]:
    """Return how argparse reads a field of this type, and the name of its values."""
    if annotation == "bool":
        return {"action": "store_true"}
    metavar = _METAVARS.get(name)
    if annotation.startswith("tuple[float, float]"):
        return {"nargs": 2, "action": _LowAndHigh, "type": real, "metavar": ("A", "B")}
    if annotation.startswith(("Sequence[str]", "Collection[str]")):
        many: dict[str, Any] = {"nargs": "+", "action": "extend", "metavar": metavar or "COL"}
        return many | ({"type": _READERS[name]} if name in _READERS else {})
    if choices := get_args(_alias(annotation, kind)):
        return {"choices": choices, "metavar": "|".join(map(str, choices))}
    numbers: dict[str, tuple[Callable[[str], Any], str]] = {"int": (count, "N"), "float": (positive, "X")}
    read, value = numbers.get(annotation.partition(" ")[0], (str, "COL"))
    return {"type": _READERS.get(name, read), "metavar": metavar or value}


class _LowAndHigh(Action):
    """Store two numbers of which the first is the lower one."""

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: Any, option_string: str | None = None
    ) -> None:
        if values[0] >= values[1]:
            raise ArgumentError(self, f"expected the lower end first but found {values[0]:g} {values[1]:g}")
        setattr(namespace, self.dest, tuple(values))


def _alias(annotation: str, kind: type[Any]) -> Any:
    """Return what the annotation names in the module of the class that has the field: a `Literal`, say."""
    modules = (vars(sys.modules[base.__module__]) for base in kind.__mro__)
    return next((names[annotation] for names in modules if annotation in names), None)


def _descriptions(kind: type[Any]) -> dict[str, str]:
    """Return what the docstrings of a dataclass and its bases say of each field."""
    texts: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        document = inspect.cleandoc(base.__doc__ or "").replace("`", "")
        for names, text in re.findall(r"^(\w+(?:, \w+)*)\n((?:    .+\n?)+)", document, flags=re.MULTILINE):
            texts |= dict.fromkeys(names.split(", "), " ".join(text.split()))
    return texts


def _help(text: str, default: Any) -> tuple[str, str]:
    """Return the help in a sentence, with the default, and the whole of it."""
    none = re.search(r"\s*\bNone: ([^.;]+)[.;]?", text)
    shown = none[1] if none and default is None else _shown(default)
    said = re.split(r"[.;] ", text[: none.start()] if none else text)[0].rstrip(".;")
    whole = re.sub(r"\bNone: ", "Default: ", text).rstrip(".")
    ends = (f" (default: {shown})" if shown else "", f" (default: {shown})" if shown and not none else "")
    short, whole = (_lowered(part) + end for part, end in zip((said, whole), ends, strict=True))
    return short.replace("%", "%%"), whole.replace("%", "%%")


def _shown(default: Any) -> str:
    if default is None or default is False or default == ():
        return ""
    if isinstance(default, tuple | list):
        return " ".join(map(str, default))
    return f"{default:,}" if isinstance(default, int) else f"{default}"


def _lowered(sentence: str) -> str:
    plain = sentence[:1].isupper() and sentence[1:2].islower()
    return sentence[0].lower() + sentence[1:] if plain or sentence[:2] == "A " else sentence


# -- the values of flags -----------------------------------------------------------------------------------


def policy_name(text: str) -> str:
    """Read the name of a policy, of an installed plug-in, or of one's own, module:attribute."""
    if ":" in text or is_installed(text):
        return text
    raise ArgumentTypeError(
        f"expected a policy, or module:attribute for one of your own, but found {text!r}: "
        f"{did_you_mean(text, POLICIES)}"
    )


def real_policy(text: str) -> str:
    """Read the name of a policy that can be played on real rows: one that isn't an oracle."""
    if text in POLICIES and POLICIES[text].is_oracle:
        raise ArgumentTypeError(f"expected a policy for a real experiment but found the oracle {text}")
    return policy_name(text)


def count(text: str) -> int:
    """Read a whole number of at least 1, also as 3e5 or 300_000."""
    value = real(text)
    if not 1 <= value <= _LARGEST_COUNT or value != int(value):
        raise ArgumentTypeError(f"expected a whole number from 1 to {_LARGEST_COUNT:,} but found {text}")
    return int(value)


def seed(text: str) -> int:
    """Read a whole number of at least 0."""
    if not text.strip().isdecimal() or len(text) > _LONGEST_SEED:
        raise ArgumentTypeError(f"expected a whole number of at least 0 but found {text}")
    return int(text)


def probability(text: str) -> float:
    """Read a number strictly between 0 and 1."""
    value = real(text)
    if not 0 < value < 1:
        raise ArgumentTypeError(f"expected a number between 0 and 1 but found {text}")
    return value


def positive(text: str) -> float:
    """Read a number above 0."""
    value = real(text)
    if value <= 0:
        raise ArgumentTypeError(f"expected a number above 0 but found {text}")
    return value


def real(text: str) -> float:
    """Read a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ArgumentTypeError(f"expected a number but found {text}")
    return value


def _share(text: str) -> float:
    """Read a whole number of at least 1, or a number between 0 and 1."""
    value = real(text)
    return probability(text) if value < 1 else count(text)


#: Readers of fields whose type alone doesn't say what they take.
_READERS: Mapping[str, Callable[[str], Any]] = {
    "alpha": probability,
    "failure_prob": probability,
    "merge_rare": _share,
    "policies": policy_name,
    "seed": seed,
}

#: What --help calls the values of a flag; else N, X or COL by its type.
_METAVARS: Mapping[str, str] = {
    "control": "STATE",
    "failure_prob": "P",
    "graph": "FILE",
    "hidden": "NAME",
    "horizon": "T",
    "knowledge": "TOML",
    "na": "TEXT",
    "policies": "NAME",
    "reward": "COL[=STATE]",
    "separator": "CHAR",
    "encoding": "NAME",
    "truth": "BIF",
    "worth": "D",
}
