"""`cb-pgm effects`: what a table says of every intervention, and what the choice hangs on."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, _ArgumentGroup
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cb_pgm.cli.console import progress, waiting
from cb_pgm.cli.options import (
    add_output,
    add_table,
    count,
    positive,
    probability,
    real,
    seed,
    settings_of,
)
from cb_pgm.cli.usage import UsageError
from cb_pgm.files import check_folder, json_text, print_text, whole_folder, write_text
from discovery.wording import visible

if TYPE_CHECKING:
    from cb_pgm.effects.report import EffectsReport

__all__ = ["add_arguments", "add_engine", "add_randomised", "check_engine", "check_reward_range", "execute"]


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of `effects`."""
    add_table(parser, reward_required=True)
    group = parser.add_argument_group("the interventions")
    group.add_argument(
        "--graph", type=Path, metavar="FILE", help="graph (JSON or BIF) to use instead of estimates"
    )
    group.add_argument(
        "--not-settable", nargs="+", default=(), metavar="COL", help="variables that can't be set"
    )
    add_randomised(group)
    group.add_argument("--minimize", action="store_true", help="look for the lowest mean reward")
    group = parser.add_argument_group("the claims")
    group.add_argument(
        "--failure-prob",
        type=probability,
        default=0.05,
        metavar="P",
        help="δ: intervals of measured means and of gains are at 1 − δ (default: .05)",
    )
    group.add_argument(
        "--power",
        type=probability,
        default=0.8,
        metavar="P",
        help="power of the experiment that is advised (default: .8)",
    )
    group.add_argument(
        "--reward-range",
        nargs=2,
        type=real,
        metavar=("A", "B"),
        help="lowest and highest reward, for the bounds that assume nothing (default: as in the table)",
    )
    group.add_argument(
        "--noise-scale",
        type=positive,
        metavar="S",
        help="σ of the reward given its causes (default: the residual's, from the rows)",
    )
    group = parser.add_argument_group("the draws")
    add_engine(group)
    group.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="seed of all randomness (default: 0)"
    )
    add_output(
        parser, out="folder for effects.json, effects.txt and pictures of the arms and of drawn graphs"
    )


def add_randomised(group: _ArgumentGroup) -> None:
    """Add --randomised."""
    group.add_argument(
        "--randomised",
        nargs="+",
        default=(),
        metavar="COL",
        help="variables that were set at random in every row, as the treatment of a trial",
    )


def add_engine(group: _ArgumentGroup) -> None:
    """Add --draws, and where they are made: --jobs and --dask."""
    group.add_argument(
        "--draws", type=count, default=100, metavar="N", help="number of resampled tables (default: 100)"
    )
    group.add_argument("--jobs", type=count, default=1, metavar="N", help="number of processes (default: 1)")
    group.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="address of a Dask scheduler, tcp://HOST:PORT, or local to start two workers",
    )


def check_reward_range(options: Namespace) -> None:
    """Raise UsageError where the ends of --reward-range are turned round."""
    if options.reward_range is not None and options.reward_range[0] >= options.reward_range[1]:
        raise UsageError("--reward-range takes the lower end first, then the upper one")


def check_engine(options: Namespace) -> None:
    """Raise UsageError where --jobs and --dask don't go together."""
    if options.dask is not None and options.jobs != 1:
        raise UsageError("--jobs and --dask both decide where graphs are drawn: give one of them")


def execute(options: Namespace) -> None:
    """Read the table, draw graphs and print what it says of every arm."""
    check_reward_range(options)
    check_engine(options)

    # Late imports, here and below: --help loads no other room.
    from cb_pgm.effects.estimate import estimate_effects
    from cb_pgm.problem.graph_files import read_graph
    from discovery.estimation.settings import EstimateSettings
    from discovery.table.discrete_table import read
    from discovery.table.settings import TableSettings

    check_folder(options.out, force=options.force)
    with waiting("Reading the table"):
        table = read(options.csv, options.reward, TableSettings(**settings_of(options, TableSettings)))
    graph = None if options.graph is None else read_graph(options.graph, table.variables).graph
    with progress(options.draws, "Drawing graphs", unit="draw") as step:
        report = estimate_effects(
            table,
            settings=EstimateSettings(**settings_of(options, EstimateSettings)),
            graph=graph,
            not_settable=options.not_settable,
            randomised=options.randomised,
            minimize=options.minimize,
            reward_range=None if options.reward_range is None else tuple(options.reward_range),
            noise_scale=options.noise_scale,
            failure_prob=options.failure_prob,
            power=options.power,
            draws=options.draws,
            seed=options.seed,
            jobs=options.jobs,
            dask=options.dask,
            progress=step,
        )
    with whole_folder(options.out) as folder:
        if folder is not None:
            _write(report, table.variables, folder)
    print_text(json_text(report.to_dict()) if options.json else report.to_text())


def _write(report: EffectsReport, variables: Sequence[str], folder: Path) -> None:
    from cb_pgm.plotting.drawn_graph import draw_drawn_graph, drawn_edges_frame
    from cb_pgm.plotting.effects import draw_effects, effects_frame
    from cb_pgm.plotting.regret import save

    answer = report.to_dict()
    write_text(folder / "effects.json", json_text(answer))
    write_text(folder / "effects.txt", visible(report.to_text()))
    figure = draw_effects(effects_frame(answer), report.do_nothing, reward=report.reward)
    save(figure, folder / "effects")
    if not report.models:
        return
    leading = list(report.decision.leader)
    save(draw_drawn_graph(drawn_edges_frame(answer), variables, marked=leading), folder / "graphs")
