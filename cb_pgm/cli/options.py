"""Options that several subcommands share, and the types of their values (what doesn't fit is wrong usage)."""

from __future__ import annotations

import inspect
import math
import sys
from argparse import Action, ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cb_pgm.cli.usage import UsageError

if TYPE_CHECKING:
    from argparse import _ArgumentGroup

__all__ = [
    "add_output",
    "add_reward_scale",
    "add_table",
    "add_table_settings",
    "add_toml_help",
    "check_reward_scale",
    "count",
    "positive",
    "probability",
    "real",
    "seed",
    "settings_of",
]


def add_output(parser: ArgumentParser, *, out: str) -> None:
    """Add --json, --out (explained by `out`), --force and --debug."""
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    group.add_argument("--out", type=Path, metavar="PATH", help=out)
    group.add_argument(
        "--force", action="store_true", help="write into an --out that already holds something"
    )
    group.add_argument("--debug", action="store_true", help="show the traceback of an error")


def add_table(parser: ArgumentParser, *, reward_required: bool) -> None:
    """Add the CSV, how to read it, and how to estimate its graph."""
    parser.add_argument("csv", type=Path, metavar="CSV", help="observations: a header, then a row for each")
    add_table_settings(parser, reward_required=reward_required)


def add_table_settings(parser: ArgumentParser, *, reward_required: bool) -> None:
    """Add how to read a table and how to estimate its graph."""
    group = parser.add_argument_group("the table")
    group.add_argument(
        "--reward",
        required=reward_required,
        metavar="COL[=STATE]",
        help="the column to raise: a numeric one, or COL=STATE to raise the share of that state",
    )
    group.add_argument("--ignore", nargs="+", default=(), metavar="COL", help="columns to leave out")
    group.add_argument(
        "--missing",
        choices=("refuse", "drop", "state"),
        default="refuse",
        help="empty fields: refuse the table (default), drop their rows, or take empty as a state of its own",
    )
    group.add_argument("--bins", type=count, metavar="N", help="cut columns of many numbers into N intervals")
    group.add_argument(
        "--bin-rule",
        choices=("quantile", "width"),
        default="quantile",
        help="intervals of equal counts (default) or of equal width",
    )
    group.add_argument(
        "--merge-rare",
        type=_share,
        metavar="N",
        help="merge states seen in fewer than N rows, or than a share below 1",
    )
    group.add_argument(
        "--intervention-column",
        metavar="COL",
        help="says which variable was set in a row, empty or 0 for none",
    )
    group.add_argument("--separator", metavar="CHAR", help="between fields, where it can't be told")
    group = parser.add_argument_group("the estimate of its graph")
    group.add_argument(
        "--method", choices=("ges", "pc", "chow-liu"), default="ges", help="the search (default: ges)"
    )
    group.add_argument(
        "--knowledge",
        type=Path,
        metavar="TOML",
        help="what is known of the graph: tiers, required or forbidden edges, roots, sinks (--help-toml)",
    )
    add_toml_help(group, "discovery.estimation.knowledge", "--knowledge's file")
    group.add_argument(
        "--alpha", type=probability, default=0.01, metavar="P", help="pc: level of its tests (default: .01)"
    )
    group.add_argument(
        "--uc-rule",
        type=int,
        choices=(0, 1, 2),
        default=2,
        help="pc: causal-learn's rule for v-structures (default: 2)",
    )
    group.add_argument(
        "--equivalent-sample-size",
        type=positive,
        default=1.0,
        metavar="N",
        help="ges: what BDeu's prior is worth in rows (default: 1)",
    )


def add_toml_help(group: ArgumentParser | _ArgumentGroup, module: str, what: str) -> None:
    """Add --help-toml, which prints the docstring of `module`: it documents the keys of `what`."""
    group.add_argument(
        "--help-toml",
        action=_PrintDocstring,
        nargs=0,
        const=module,
        help=f"explain the keys of {what} and exit",
    )


class _PrintDocstring(Action):
    """Print the docstring of the module `const` and exit; the module is imported only then."""

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: Any, option_string: str | None = None
    ) -> None:
        sys.stdout.write(f"{inspect.getdoc(import_module(self.const))}\n")
        parser.exit()


def settings_of(options: Namespace, kind: type[Any]) -> dict[str, Any]:
    """Return those options that are fields of a settings dataclass, as its keywords."""
    names = [field.name for field in fields(kind) if hasattr(options, field.name)]
    given = {name: getattr(options, name) for name in names}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}


def add_reward_scale(group: _ArgumentGroup, *, reward_range: str) -> None:
    """Add --reward-range, explained by `reward_range`, and --noise-scale."""
    group.add_argument("--reward-range", nargs=2, type=real, metavar=("A", "B"), help=reward_range)
    group.add_argument(
        "--noise-scale",
        type=positive,
        metavar="S",
        help="how far rewards scatter (subgaussian), instead of half their range",
    )


def check_reward_scale(options: Namespace) -> None:
    """Raise UsageError where what `add_reward_scale` has added doesn't go together."""
    if options.reward_range is not None and options.noise_scale is not None:
        raise UsageError("--reward-range and --noise-scale both set the noise scale: give one of them")
    if options.reward_range is not None and options.reward_range[0] >= options.reward_range[1]:
        raise UsageError("--reward-range takes the lower end first, then the upper one")


def count(text: str) -> int:
    """Read a whole number of at least 1, also as 3e5 or 300_000."""
    value = real(text)
    if value < 1 or value != int(value):
        raise ArgumentTypeError(f"expected a whole number of at least 1 but found {text}")
    return int(value)


def seed(text: str) -> int:
    """Read a whole number of at least 0."""
    if not text.strip().isdecimal():
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
