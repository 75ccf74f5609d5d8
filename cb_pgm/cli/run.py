"""`cb-pgm run`: from a CSV to a bandit run, against a truth or as a rehearsal."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from cb_pgm.cli.options import (
    add_output,
    add_reward_scale,
    add_table,
    check_reward_scale,
    count,
    positive,
    probability,
    seed,
    settings_of,
)
from cb_pgm.policies.registry import POLICIES

__all__ = ["add_arguments", "execute"]


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of `run`."""
    add_table(parser, reward_required=True)
    group = parser.add_argument_group("what to play against")
    group.add_argument(
        "--truth",
        type=Path,
        metavar="BIF",
        help="the true network; without it, a rehearsal on a fitted model",
    )
    group.add_argument(
        "--graph", type=Path, metavar="FILE", help="a graph (JSON or BIF) to use instead of an estimate"
    )
    group.add_argument("--minimize", action="store_true", help="look for the lowest reward")
    group.add_argument(
        "--not-settable", nargs="+", default=(), metavar="COL", help="variables that can't be set"
    )

    group = parser.add_argument_group("the bandit")
    group.add_argument(
        "--policy",
        dest="policies",
        nargs="+",
        default=["cn-ucb", "ucb"],
        choices=list(POLICIES),
        metavar="NAME",
        help="; ".join(f"{name}: {kind.summary}" for name, kind in POLICIES.items())
        + " (default: cn-ucb ucb)",
    )
    group.add_argument("--horizon", type=count, default=100_000, metavar="T", help="rounds (default: 100000)")
    group.add_argument(
        "--runs", type=count, default=1, metavar="N", help="repetitions of each policy (default: 1)"
    )
    group.add_argument(
        "--seed", type=seed, metavar="N", help="everything random comes from it (default: drawn, and said)"
    )
    group.add_argument(
        "--failure-prob",
        type=probability,
        default=0.05,
        metavar="P",
        help="allowed chance of a wrong name (default: .05)",
    )
    source = "(default: the effective one of the truth or of the fitted model)"
    group.add_argument(
        "--reward-gap", type=positive, metavar="GAP", help=f"least effect on the reward to detect {source}"
    )
    group.add_argument(
        "--effect-gap", type=positive, metavar="GAP", help=f"least effect on a neighbour to detect {source}"
    )
    group.add_argument(
        "--max-parents",
        type=count,
        metavar="N",
        help="causes of the reward to look for (default: as many as there are)",
    )
    add_reward_scale(group, reward_range="numeric rewards lie in it (default: as observed)")
    add_output(parser, out="folder for the outcome as JSON, settings, regret curves and pictures")


def execute(options: Namespace) -> None:
    """Read, estimate, play and report."""
    check_reward_scale(options)

    from cb_pgm.cli.console import note, progress, waiting
    from cb_pgm.files import check_folder, json_text, print_text
    from cb_pgm.pipeline.pipeline import Pipeline, play
    from cb_pgm.pipeline.task import budget_line

    folder = options.out
    check_folder(folder, force=options.force)
    with waiting("Reading the table and estimating its graph"):
        task = Pipeline(**settings_of(options, Pipeline)).prepare()
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    for warning in task.warnings:
        note(f"warning: {warning}")
    if options.json:
        note(budget_line(task))
    with progress(task.rounds, "Playing") as step:
        report = play(task, step)
    if folder is not None:
        from cb_pgm.report.run.folder import write_run

        write_run(report, folder)
    print_text(json_text(report.to_dict()) if options.json else report.to_text())
    if folder is not None and not options.json:
        print_text(f"\nWritten to {folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")
