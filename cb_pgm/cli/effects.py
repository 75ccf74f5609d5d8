"""`cb-pgm effects`: what a table says of every intervention, and what the choice hangs on."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from cb_pgm.cli.console import progress, share_read, waiting
from cb_pgm.cli.flags import add_flags, settings_of
from cb_pgm.cli.options import TABLE, add_csv, add_output, add_table_rest
from cb_pgm.cli.usage import Parser
from cb_pgm.files import check_folder, json_text, print_text, whole_folder
from cb_pgm.pipeline.settings import RunSettings

if TYPE_CHECKING:
    from discovery.table.discrete_table import DiscreteTable

__all__ = ["add_arguments", "execute"]

#: The settings of `estimate_effects`, as `RunSettings` explains them.
_FIRST = "not_settable randomised control block graphs minimize"
_SECOND = "knowledge graph na weights method draws jobs seed"
_REST = "failure_prob worth reward_range noise_scale"
_GIVEN = (
    *("not_settable", "randomised", "control", "block", "graphs", "minimize", "draws", "jobs", "seed"),
    *("failure_prob", "worth", "reward_range", "noise_scale"),
)


def add_arguments(parser: Parser) -> None:
    """Add the flags of `effects`."""
    parser.epilog = "example: cb-pgm effects data/kidney_stones.csv --reward success=yes --not-settable size"
    add_csv(parser)
    add_flags(parser, RunSettings, f"{TABLE} {_FIRST}", required=["reward"])
    add_output(parser, out="folder for effects.json, effects.txt, report.html and their pictures")
    add_flags(parser, RunSettings, _SECOND, title="more", defaults={"seed": 0, "draws": 100})
    add_flags(parser, RunSettings, _REST, rest=True)
    add_table_rest(parser)


def execute(options: Namespace) -> None:
    """Read the table, draw graphs and print what it says of every arm."""
    # Late imports, here and below: --help loads no other room.
    from cb_pgm.effects.estimate import estimate_effects
    from cb_pgm.problem.graph_files import read_graph
    from discovery.estimation.settings import EstimateSettings

    check_folder(options.out, force=options.force)
    with waiting("Reading the table") as show:
        table = _read(options, share_read(show))
    given = getattr(options, "graph", None)
    graph = None if given is None else read_graph(given, table.variables).graph
    with progress(options.draws, "Drawing graphs", unit="draw") as step:
        report = estimate_effects(
            table,
            settings=EstimateSettings(**settings_of(options, EstimateSettings)),
            graph=graph,
            **{name: getattr(options, name) for name in _GIVEN if hasattr(options, name)},
            progress=step,
        )
    with whole_folder(options.out) as folder:
        if folder is not None:
            from cb_pgm.report.effects_folder import write_effects

            write_effects(report, table.variables, folder)
    print_text(json_text(report.to_dict()) if options.json else report.to_text())


def _read(options: Namespace, told: Callable[[int, int], None]) -> DiscreteTable:
    """Read the table; of a trial only what was set at random and blocks, where not all of it can be used."""
    from cb_pgm.tables import read_table
    from discovery.errors import TableError
    from discovery.table.settings import TableSettings

    settings = TableSettings(**settings_of(options, TableSettings))
    trial = [] if hasattr(options, "graphs") else list(getattr(options, "randomised", ()))
    if not trial:
        return read_table(options.csv, options.reward, settings, told)
    trial += getattr(options, "block", ())
    if settings.missing == "refuse":
        try:
            keep = [*settings.keep, *(name for name in trial if name not in settings.keep)]
            return read_table(options.csv, options.reward, replace(settings, keep=keep), told)
        except TableError:
            pass  # the trial's own columns may do
    return read_table(options.csv, options.reward, settings, told, trial)
