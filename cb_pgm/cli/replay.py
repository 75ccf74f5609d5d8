"""`cb-pgm replay`: evaluate policies on logged interventions."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from cb_pgm.cli.console import note, waiting
from cb_pgm.cli.options import add_bandit, add_result, add_table, check_reward_scale, count, real, settings_of
from cb_pgm.files import json_text, print_text

__all__ = ["add_arguments", "execute"]

_NO_LIMIT = 2**62


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of `replay`."""
    add_table(parser, reward_required=True)
    add_bandit(parser, horizon=_NO_LIMIT, several=True)
    group = parser.add_argument_group("the replay")
    group.add_argument(
        "--fewest-rows",
        type=count,
        default=20,
        metavar="N",
        help="leave out arms with fewer than N rows (default: 20)",
    )
    group.add_argument(
        "--batch", type=count, default=1, metavar="N", help="rows of each pull, at least (default: 1)"
    )
    group.add_argument(
        "--runs", type=count, default=1, metavar="N", help="replays, each in another order (default: 1)"
    )
    group.add_argument(
        "--hold-out",
        type=real,
        default=0.0,
        metavar="SHARE",
        help="share of the observations, drawn at random, kept for pulls of nothing (default: 0)",
    )
    add_result(parser)


def execute(options: Namespace) -> None:
    """Replay the log and print the outcome."""
    check_reward_scale(options)

    # Late imports, here and below: --help loads no other room.
    from cb_pgm.session.replay import replay_log
    from cb_pgm.session.setup import Setup

    with waiting("Replaying"):
        report = replay_log(
            Setup(data=options.csv, **settings_of(options, Setup)),
            options.policies,
            runs=options.runs,
            fewest=options.fewest_rows,
            batch=options.batch,
            hold_out=options.hold_out,
        )
    for warning in report.notes:
        note(f"warning: {warning}")
    print_text(json_text(report.to_dict()) if options.json else report.to_text())
