"""`cb-pgm effects`: what a table says of every intervention, and what the choice hangs on."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from cb_pgm.cli.console import note, progress, share_read, waiting
from cb_pgm.cli.flags import add_flags, settings_of
from cb_pgm.cli.options import TABLE, add_csv, add_output, add_table_rest, take_export
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


#: From so many seconds on a first answer, of a few draws, comes before the others.
_LONG, _FIRST_DRAWS = 8.0, 3


def add_arguments(parser: Parser) -> None:
    """Add the flags of `effects`."""
    parser.epilog = "example: cb-pgm effects data/kidney_stones.csv --reward success=yes --not-settable size"
    add_csv(parser)
    add_flags(parser, RunSettings, f"{TABLE} {_FIRST}")
    add_output(parser, out="folder for effects.json, effects.txt, report.html and their pictures")
    add_flags(parser, RunSettings, _SECOND, title="more", defaults={"seed": 0})
    add_flags(parser, RunSettings, _REST, rest=True)
    add_table_rest(parser)


def execute(options: Namespace) -> None:
    """Read the table, draw graphs and print what it says of every arm."""
    take_export(options, options.csv)
    # Late imports, here and below: --help loads no other room.
    from cb_pgm.effects.draws import draws_within, seconds_of
    from cb_pgm.effects.estimate import estimate_effects
    from cb_pgm.problem.graph_files import read_graph
    from discovery.estimation.settings import EstimateSettings

    check_folder(options.out, force=options.force)
    estimation = EstimateSettings(**settings_of(options, EstimateSettings)).resolved()
    with waiting("Reading the table") as show:
        table = _read(options, share_read(show))
    given = getattr(options, "graph", None)
    settings = {
        "settings": estimation,
        "graph": None
        if given is None
        else read_graph(given, table.variables, reward=table.reward_column, as_said=True).graph,
        "keep": getattr(options, "keep", ()),
        **{name: getattr(options, name) for name in _GIVEN if hasattr(options, name)},
    }
    size = table.n_rows, len(table.variables)
    draws = settings.get("draws") or draws_within(*size)
    seconds = seconds_of(*size, draws)
    if (
        estimation.time_limit is None
        and given is None
        and seconds > _LONG
        and not hasattr(options, "randomised")
    ):
        first = estimate_effects(table, **{**settings, "draws": _FIRST_DRAWS, "jobs": 1})
        *_, best = first.to_text().split("\n\n")[1].splitlines()[: 1 if first.decision.is_decided else 2]
        note(f"From {_FIRST_DRAWS} draws: {best}")
        note(f"{draws} draws take about {seconds:.0f} s of one core (--draws N, --jobs N)")
    with progress(draws, "Drawing graphs", unit="draw") as step:
        report = estimate_effects(table, **settings, progress=step)
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
