"""`cb-pgm run`: from a CSV to simulated bandits, on a true network or on one fitted to the table."""

from __future__ import annotations

from argparse import Namespace

from cb_pgm.cli.console import note, progress, waiting
from cb_pgm.cli.flags import add_flags, settings_of
from cb_pgm.cli.options import TABLE, add_csv, add_output, add_table_rest, take_export
from cb_pgm.cli.usage import Parser
from cb_pgm.files import check_folder, json_text, print_text, whole_folder
from cb_pgm.pipeline.settings import RunSettings
from cb_pgm.policies.registry import POLICIES

__all__ = ["add_arguments", "execute"]

_FIRST = "not_settable policies horizon truth seed"
_SECOND = "minimize knowledge graph na weights max_parents hidden cold runs"
_REST = "method randomised reward_range noise_scale"


def add_arguments(parser: Parser) -> None:
    """Add the flags of `run`."""
    parser.epilog = (
        f"policies: {' '.join(POLICIES)}\n\n"
        "example: cb-pgm run data/asia.csv --reward xray=yes --truth data/asia.bif --horizon 2000 --seed 1"
    )
    add_csv(parser)
    add_flags(parser, RunSettings, f"{TABLE} {_FIRST}")
    add_output(parser, out="folder for the outcome as JSON, settings, regret curves and pictures")
    add_flags(parser, RunSettings, _SECOND, title="more")
    add_flags(parser, RunSettings, _REST, rest=True)
    add_table_rest(parser)


def execute(options: Namespace) -> None:
    """Read the table, estimate its graph, play the policies and print the outcome."""
    take_export(options, options.csv)
    # Late imports, here and below: --help loads no other room.
    from cb_pgm.effects.draws import draws_within
    from cb_pgm.pipeline.pipeline import Pipeline, play
    from cb_pgm.pipeline.table_effects import table_effects
    from cb_pgm.pipeline.task import budget_lines

    folder = options.out
    check_folder(folder, force=options.force)
    pipeline = Pipeline(**settings_of(options, RunSettings))
    with waiting("Reading the table and estimating its graph"):
        task = pipeline.prepare()
    for warning in task.warnings:
        note(f"warning: {warning}")
    if options.json:
        note("\n".join(budget_lines(task)))
    with whole_folder(folder) as place:
        draws = pipeline.draws or draws_within(task.table.n_rows, len(task.table.variables))
        with progress(draws, "Drawing graphs", unit="draw") as step:
            effects = table_effects(task, step)
        with progress(task.rounds, "Playing") as step:
            report = play(task, step, effects)
        if place is not None:
            from cb_pgm.report.run_folder import write_run

            write_run(report, place)
    print_text(json_text(report.to_dict()) if options.json else report.to_text())
    if folder is not None and not options.json:
        print_text(f"\nWritten to {folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")
