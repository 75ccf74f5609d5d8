"""`cb-pgm run`: from a CSV to a bandit run, against a true network or as a rehearsal."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from cb_pgm.cli.console import note, progress, waiting
from cb_pgm.cli.effects import add_engine, add_randomised, check_engine, check_reward_range
from cb_pgm.cli.options import (
    add_output,
    add_problem,
    add_table,
    count,
    policy_name,
    policy_summaries,
    seed,
    settings_of,
)
from cb_pgm.cli.usage import UsageError
from cb_pgm.files import check_folder, json_text, print_text, whole_folder
from cb_pgm.policies.registry import POLICIES

__all__ = ["add_arguments", "execute"]


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of `run`."""
    add_table(parser, reward_required=True)
    group = parser.add_argument_group("the bandit")
    group.add_argument(
        "--truth",
        type=Path,
        metavar="BIF",
        help="true network to play against; without it the run is a rehearsal on a model fitted to the table",
    )
    group.add_argument(
        "--hidden",
        nargs="+",
        default=(),
        metavar="NAME",
        help="variables of the true network that are sampled but never shown, listed or set",
    )
    group.add_argument(
        "--policy",
        dest="policies",
        nargs="+",
        default=["cn-ucb", "screening", "moss"],
        type=policy_name,
        metavar="NAME",
        help=f"{policy_summaries(POLICIES)} ; or module:attribute(key=value) for one "
        "of your own, which runs code: it is imported from where Python imports, sys.path, and from nowhere "
        "else (default: cn-ucb screening moss)",
    )
    group.add_argument(
        "--horizon", type=count, default=100_000, metavar="T", help="rounds of each run (default: 100000)"
    )
    group.add_argument("--runs", type=count, default=1, metavar="N", help="runs of each policy (default: 1)")
    add_problem(
        group,
        source="(default: that of the true network, or of the fitted model)",
        reward_range="lowest and highest reward, for the bounds that assume nothing (default: as in the "
        "table)",
        noise_scale="σ of the rewards (default: ½ for rewards of 0 and 1, else that of the residuals)",
    )
    add_randomised(group)
    group.add_argument(
        "--cold",
        action="store_true",
        help="let policies start without any rows; by default they learn from the table's first, in a "
        "rehearsal from as many rows of the fitted model",
    )
    group.add_argument("--seed", type=seed, metavar="N", help="seed of all randomness (default: drawn)")
    add_engine(parser.add_argument_group("the effects, in a rehearsal"))
    add_output(parser, out="folder for the outcome as JSON, settings, regret curves and pictures")


def execute(options: Namespace) -> None:
    """Read the table, estimate its graph, play the policies and print the outcome."""
    check_reward_range(options)
    check_engine(options)
    if options.hidden and options.truth is None:
        raise UsageError("--hidden goes with --truth: it hides variables of the true network")

    # Late imports, here and below: --help loads no other room.
    from cb_pgm.pipeline.pipeline import Pipeline, play
    from cb_pgm.pipeline.table_effects import table_effects
    from cb_pgm.pipeline.task import budget_lines

    folder = options.out
    check_folder(folder, force=options.force)
    with waiting("Reading the table and estimating its graph"):
        task = Pipeline(**settings_of(options, Pipeline)).prepare()
    for warning in task.warnings:
        note(f"warning: {warning}")
    if options.json:
        note("\n".join(budget_lines(task)))
    with whole_folder(folder) as place:
        with progress(options.draws, "Drawing graphs", unit="draw") as step:
            effects = table_effects(task, step)
        with progress(task.rounds, "Playing") as step:
            report = play(task, step, effects)
        if place is not None:
            from cb_pgm.report.run.folder import write_run

            write_run(report, place)
    print_text(json_text(report.to_dict()) if options.json else report.to_text())
    if folder is not None and not options.json:
        print_text(f"\nWritten to {folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")
