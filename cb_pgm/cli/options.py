"""Options that several subcommands share, and the types of their values."""

from __future__ import annotations

import inspect
import math
import sys
from argparse import Action, ArgumentParser, ArgumentTypeError, Namespace, _ArgumentGroup
from collections.abc import Iterable
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

from cb_pgm.cli.usage import UsageError
from cb_pgm.policies.registry import POLICIES, is_installed
from cb_pgm.wording import did_you_mean
from discovery.table.settings import MISSING_TEXTS

__all__ = [
    "TABLE_HELP",
    "add_bandit",
    "add_output",
    "add_problem",
    "add_result",
    "add_table",
    "add_table_settings",
    "add_toml_help",
    "check_reward_scale",
    "count",
    "policy_name",
    "policy_summaries",
    "positive",
    "probability",
    "real",
    "seed",
    "settings_of",
]

#: What a file of observations is, for --help.
TABLE_HELP = "observations: a header, then one row for each; CSV, also .tsv or .csv.gz, or Parquet"

_LARGEST_COUNT = 10**15  # float64 tells all whole numbers up to this, and nobody waits for more
_LONGEST_SEED = 1000  # digits


def add_result(parser: ArgumentParser | _ArgumentGroup) -> None:
    """Add --json and --debug."""
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("--debug", action="store_true", help="print the traceback of an error too")


def add_output(parser: ArgumentParser, *, out: str) -> None:
    """Add --out (explained by `out`), --force, --json and --debug."""
    group = parser.add_argument_group("output")
    group.add_argument("--out", type=Path, metavar="PATH", help=out)
    group.add_argument("--force", action="store_true", help="write to PATH even if it holds files already")
    add_result(group)


def add_table(parser: ArgumentParser, *, reward_required: bool) -> None:
    """Add the CSV, how to read it, and how to estimate its graph."""
    parser.add_argument("csv", type=Path, metavar="CSV", help=TABLE_HELP)
    add_table_settings(parser, reward_required=reward_required)


def add_table_settings(parser: ArgumentParser, *, reward_required: bool) -> None:
    """Add how to read a table and how to estimate its graph."""
    group = parser.add_argument_group("the table")
    group.add_argument(
        "--reward",
        required=reward_required,
        metavar="COL[=STATE]",
        help="the reward: a numeric column, or COL=STATE for a reward of 1 in that state and 0 in others",
    )
    group.add_argument(
        "--ignore", nargs="+", action="extend", default=[], metavar="COL", help="columns to leave out"
    )
    group.add_argument(
        "--keep",
        nargs="+",
        action="extend",
        default=[],
        metavar="COL",
        help="columns to use although they look like identifiers or dates, which are left out",
    )
    group.add_argument(
        "--na",
        nargs="+",
        default=MISSING_TEXTS,
        metavar="TOKEN",
        help="texts that count as missing, as empty fields do; "
        f'"" for none (default: {" ".join(MISSING_TEXTS)})',
    )
    group.add_argument(
        "--missing",
        choices=("refuse", "drop", "state"),
        default="refuse",
        help="missing values: refuse the table (default), drop the row, or take missing as a state",
    )
    group.add_argument(
        "--bins", type=count, metavar="N", help="divide numeric columns with many values into N intervals"
    )
    group.add_argument(
        "--bin-rule",
        choices=("quantile", "width"),
        default="quantile",
        help="intervals with equally many rows (default) or of equal width",
    )
    group.add_argument(
        "--merge-rare",
        type=_share,
        metavar="N",
        help="merge the states seen in fewer than N rows; N below 1 is a share of the rows",
    )
    group.add_argument(
        "--intervention-column",
        metavar="COL",
        help="column that names the variable set by intervention in that row; empty or 0: none",
    )
    group.add_argument("--separator", metavar="CHAR", help="separator of fields (default: recognized)")
    group = parser.add_argument_group("the estimate of its graph")
    group.add_argument(
        "--method",
        choices=("ges-boss", "ges", "boss", "pc", "chow-liu"),
        default="ges-boss",
        help="algorithm that estimates the essential graph (default: ges-boss)",
    )
    group.add_argument(
        "--knowledge",
        type=Path,
        metavar="TOML",
        help="background knowledge: tiers, required or forbidden edges, roots, sinks; and settings of the "
        "search (--help-toml)",
    )
    add_toml_help(group, "discovery.estimation.knowledge", "--knowledge's file")


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


def add_bandit(parser: ArgumentParser, *, horizon: int | None = None, several: bool = False) -> None:
    """Add the options of one policy on real rows, or of `several`.

    Without a default `horizon`, --horizon is required.
    """
    group = parser.add_argument_group("the bandit")
    names = [name for name, kind in POLICIES.items() if not kind.is_oracle]
    group.add_argument(
        "--policy",
        **(
            {"dest": "policies", "nargs": "+", "default": ["screening"]}
            if several
            else {"default": "screening"}
        ),
        type=_real_policy,
        metavar="NAME",
        help=f"{policy_summaries(names)}; or module:attribute for one of your own, which runs its code "
        "(default: screening)",
    )
    group.add_argument(
        "--horizon",
        type=count,
        required=horizon is None,
        default=horizon,
        metavar="T",
        help="number of rows in all" + ("" if horizon is None else " (default: until the log is used up)"),
    )
    add_problem(
        group,
        source="(default: from a model fitted to the table)",
        reward_range="lowest and highest reward, others are refused (default: as in the table)",
    )
    group.add_argument(
        "--no-warm-start",
        dest="warm_start",
        action="store_false",
        help="start without the rows of the table; by default the policy learns from them",
    )
    group.add_argument("--seed", type=seed, metavar="N", help="seed of the policy (default: drawn)")


def add_problem(
    group: _ArgumentGroup,
    *,
    source: str,
    reward_range: str,
    noise_scale: str = "σ: rewards are σ-subgaussian around their mean (default: half of their range)",
) -> None:
    """Add what policies need to know: graph, arms, δ, gaps, noise scale.

    `source` says where the gaps' defaults come from; `reward_range` and `noise_scale` explain these options.
    """
    group.add_argument(
        "--graph", type=Path, metavar="FILE", help="graph (JSON or BIF) to use instead of an estimate"
    )
    group.add_argument(
        "--not-settable", nargs="+", default=(), metavar="COL", help="variables that can't be set"
    )
    group.add_argument("--minimize", action="store_true", help="look for the lowest mean reward")
    group.add_argument(
        "--failure-prob",
        type=probability,
        default=0.05,
        metavar="P",
        help="δ, the accepted probability of a wrong answer (default: .05)",
    )
    group.add_argument(
        "--reward-gap",
        type=positive,
        metavar="GAP",
        help=f"Δ, the smallest effect on the mean reward to detect {source}",
    )
    group.add_argument(
        "--effect-gap",
        type=positive,
        metavar="GAP",
        help=f"ε, the smallest effect on a neighbour's distribution to detect {source}",
    )
    group.add_argument(
        "--max-parents",
        type=count,
        metavar="N",
        help=f"the largest number of direct causes of the reward {source}",
    )
    group.add_argument("--reward-range", nargs=2, type=real, metavar=("A", "B"), help=reward_range)
    group.add_argument(
        "--noise-scale",
        type=positive,
        metavar="S",
        help=noise_scale,
    )


def policy_summaries(names: Iterable[str]) -> str:
    """Return a line about each policy, for --help."""
    return "; ".join(f"{name}: {POLICIES[name].summary}" for name in names)


def policy_name(text: str) -> str:
    """Read the name of a policy, of an installed plug-in, or of one's own, module:attribute."""
    if ":" in text or is_installed(text):
        return text
    raise ArgumentTypeError(
        f"expected a policy, or module:attribute for one of your own, but found {text!r}: "
        f"{did_you_mean(text, POLICIES)}"
    )


def _real_policy(text: str) -> str:
    """Read the name of a policy that can be played on real rows: one that isn't an oracle."""
    if text in POLICIES and POLICIES[text].is_oracle:
        raise ArgumentTypeError(f"expected a policy for a real experiment but found the oracle {text}")
    return policy_name(text)


def settings_of(options: Namespace, kind: type[Any]) -> dict[str, Any]:
    """Return those options that are fields of a settings dataclass, as its keywords."""
    names = [field.name for field in fields(kind) if hasattr(options, field.name)]
    given = {name: getattr(options, name) for name in names}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}


def check_reward_scale(options: Namespace) -> None:
    """Raise UsageError where --reward-range and --noise-scale don't go together."""
    if options.reward_range is not None and options.noise_scale is not None:
        raise UsageError("--reward-range and --noise-scale both set the noise scale: give one of them")
    if options.reward_range is not None and options.reward_range[0] >= options.reward_range[1]:
        raise UsageError("--reward-range takes the lower end first, then the upper one")


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
