"""Worlds that mislead: what policies lose in them beside a bandit without structure, and which claims fail.

Its folder gets, the same for the same seed:

    goals.csv       a line per goal: world, what was measured, the figure, and whether the goal is met
    regret.csv      a line per world and player: mean and largest regret, as multiples of MOSS's mean, too
    runs.csv        a line per run
"""

from __future__ import annotations

import argparse
from typing import Any

import pandas as pd
from hard_worlds_goals import goals, regret_table
from hard_worlds_runs import estimated_graph, play_run
from hard_worlds_settings import Player, World, worlds
from results_page import markdown_table
from results_run import Run

from discovery import EssentialGraph

__all__ = ["add_options", "make"]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add --runs and --rows."""
    rows = list(dict.fromkeys(world.row for world in worlds(100, quick=False)))
    parser.add_argument("--runs", type=int, default=100, help="runs of each policy in each world (100)")
    parser.add_argument("--rows", nargs="+", choices=rows, help="only these rows of the table (all)")


def make(run: Run) -> dict[str, str]:
    """Return the section "hard_worlds"."""
    rows = getattr(run.given, "rows", None)
    wanted = [
        world
        for world in worlds(getattr(run.given, "runs", 100), run.quick)
        if rows is None or world.row in rows
    ]
    units = [
        (world, player, number, run.seed)
        for world in wanted
        for player in world.players
        for number in range(world.sessions if player.session else world.runs)
    ]
    runs = pd.DataFrame(run.each(played, units, name=_name, first=_longest))
    met, regret = goals(runs), regret_table(runs)
    for name, frame in (("goals", met), ("regret", regret), ("runs", runs)):
        frame.to_csv(run.folder / f"{name}.csv", index=False, float_format="%.6g")
    return {"hard_worlds": as_markdown(met, regret)}


def played(world: World, player: Player, run: int, seed: int) -> dict[str, Any]:
    """Play one run."""
    return play_run(world, player, run, seed, _graph(world, run, seed) if player.estimated else None)


_GRAPHS: dict[tuple[str, int, int], EssentialGraph] = {}


def _graph(world: World, run: int, seed: int) -> EssentialGraph:
    """Estimate a system's graph by GES, once a process: the runs on a system come one after the other."""
    key = (world.name, _system(world, run), seed)
    if key not in _GRAPHS:
        _GRAPHS.clear()
        _GRAPHS[key] = estimated_graph(world, run, seed)
    return _GRAPHS[key]


def _system(world: World, run: int) -> int:
    return run if world.n_systems is None else run % world.n_systems


def _name(world: World, player: Player, run: int, seed: int) -> str:
    return repr((world.name, world.horizon, world.n_systems, player, run, seed))


def _longest(world: World, player: Player, run: int, _: int) -> tuple[Any, ...]:
    return -world.horizon, world.name, player.label, _system(world, run), run


def as_markdown(met: pd.DataFrame, regret: pd.DataFrame) -> str:
    """Return the tables of goals and of regret."""
    goal_rows = [
        (row.world, row.player, row.what, row.figure, row.goal, "yes" if row.holds else "**no**")
        for row in met.itertuples()
    ]
    regret_rows = [
        (row.world, row.player, f"{row.runs}", f"{row.mean:,.0f}", f"{row.largest:,.0f}", row.of_moss)
        for row in regret.itertuples()
    ]
    return "\n\n".join(
        (
            f"{int(met['holds'].sum())} of {len(met)} goals are met.",
            markdown_table(("world", "policy", "what", "figure", "goal", "met"), goal_rows),
            markdown_table(
                ("world", "policy", "runs", "mean regret", "largest", "mean by MOSS's mean"), regret_rows
            ),
        )
    )
