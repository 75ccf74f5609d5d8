"""Flags that several subcommands share."""

from __future__ import annotations

import inspect
import sys
from argparse import Action, ArgumentParser, Namespace
from importlib import import_module
from pathlib import Path
from typing import Any

from cb_pgm.cli.flags import add_rest
from cb_pgm.cli.usage import Parser, UsageError
from discovery.estimation.settings import SEARCH_SETTINGS, EstimateSettings
from discovery.table.settings import TableSettings

__all__ = [
    "POLICY_REST",
    "REAL",
    "SEARCH",
    "TABLE",
    "TABLE_HELP",
    "add_csv",
    "add_output",
    "add_result",
    "add_table_rest",
    "add_toml_help",
    "check_reward_scale",
    "take_export",
]

#: What a file of observations is, for --help.
TABLE_HELP = "observations: a header, then one row for each; CSV, also .tsv or .csv.gz, or Parquet"

#: The settings of a table that most tables need.
TABLE = "reward ignore missing bins"

#: The settings of the search, which stand in the knowledge file.
SEARCH = " ".join(SEARCH_SETTINGS)

#: What else one policy may be told, for --help-all.
POLICY_REST = "minimize graph cold failure_prob reward_gap effect_gap max_parents reward_range noise_scale"

#: What a real experiment means by settings that a simulation explains otherwise.
REAL = {
    "noise_scale": 'σ of the rewards. None: half their range, and ½ for "column=state".',
    "reward_range": "The lowest and the highest reward possible; others are refused. None: as in the table.",
    "cold": "Let the policy start without the rows of the table.",
    "horizon": "Rows in all. None: until the log is used up.",
    "runs": "Replays of each policy, each with the rows in another order.",
}


def add_csv(parser: Parser) -> None:
    """Add the table, as the first argument."""
    parser.add_argument("csv", type=Path, metavar="CSV", help=TABLE_HELP)


def add_result(parser: Parser) -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def add_output(parser: Parser, *, out: str) -> None:
    """Add --out (explained by `out`), --force and --json."""
    parser.add_argument("--out", type=Path, metavar="PATH", help=out)
    parser.add_rare("--force", action="store_true", help="write to PATH even if it holds files already")
    add_result(parser)


def add_table_rest(parser: Parser) -> None:
    """Add what else may be said of a table and of the search for its graph, for --help-all only."""
    add_rest(parser, TableSettings)
    add_rest(parser, EstimateSettings, without=SEARCH)
    add_toml_help(parser, "discovery.estimation.knowledge", "--knowledge's file")


def check_reward_scale(options: Namespace) -> None:
    """Raise UsageError where --reward-range and --noise-scale both say what σ is."""
    if hasattr(options, "reward_range") and hasattr(options, "noise_scale"):
        raise UsageError("--reward-range and --noise-scale both set the noise scale: give one of them")


def take_export(options: Namespace, source: Path) -> None:
    """Let a session's export say what no flag does; of any other table --reward has to be given.

    Raises
    ------
    UsageError
        If no reward is known.
    """
    from cb_pgm.session.exported import exported

    told = exported(source)
    if told is not None:
        found = {"reward": told.reward, "not_settable": list(told.not_settable), "minimize": told.minimize}
        for name, value in found.items():
            if value and not getattr(options, name, None):
                setattr(options, name, value)
    if getattr(options, "reward", None) is None:
        raise UsageError("the following arguments are required: --reward")


def add_toml_help(parser: Parser, module: str, what: str) -> None:
    """Add --help-toml, which prints the docstring of `module`: it documents the keys of `what`."""
    parser.about.add_argument(
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
