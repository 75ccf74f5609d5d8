"""`cb-pgm replay`: evaluate policies on logged interventions."""

from __future__ import annotations

from argparse import Namespace

from cb_pgm.cli.console import note, waiting
from cb_pgm.cli.flags import add_flags, count, settings_of
from cb_pgm.cli.options import (
    POLICY_REST,
    REAL,
    TABLE,
    add_csv,
    add_result,
    add_table_rest,
    check_reward_scale,
    take_export,
)
from cb_pgm.cli.usage import Parser
from cb_pgm.files import json_text, print_text
from cb_pgm.pipeline.settings import RunSettings

__all__ = ["add_arguments", "execute"]

_NO_LIMIT = 2**62
_DEFAULTS = {"policies": ["screening"], "horizon": None, "runs": 1}


def add_arguments(parser: Parser) -> None:
    """Add the flags of `replay`."""
    parser.epilog = (
        "example: cb-pgm replay LOG.csv --intervention-column COL --reward recovered=yes --runs 20"
    )
    add_csv(parser)
    add_flags(parser, RunSettings, f"intervention_column {TABLE} not_settable")
    add_flags(parser, RunSettings, "policies horizon runs seed", defaults=_DEFAULTS, texts=REAL)
    parser.add_argument(
        "--batch", type=count, default=1, metavar="N", help="rows of each pull, at least (default: 1)"
    )
    parser.add_rare(
        "--fewest-rows",
        type=count,
        default=20,
        metavar="N",
        help="leave out arms with fewer than N rows (default: 20)",
    )
    add_result(parser)
    add_flags(parser, RunSettings, POLICY_REST, rest=True, texts=REAL)
    add_table_rest(parser)


def execute(options: Namespace) -> None:
    """Replay the log and print the outcome."""
    take_export(options, options.csv)
    check_reward_scale(options)

    # Late imports, here and below: --help loads no other room.
    from cb_pgm.session.replay import replay_log
    from cb_pgm.session.setup import Setup

    setup = settings_of(options, Setup) | {"data": options.csv, "horizon": options.horizon or _NO_LIMIT}
    with waiting("Replaying"):
        report = replay_log(
            Setup(**setup),
            options.policies,
            runs=options.runs,
            fewest=options.fewest_rows,
            batch=options.batch,
        )
    for warning in report.notes:
        note(f"warning: {warning}")
    print_text(json_text(report.to_dict()) if options.json else report.to_text())
