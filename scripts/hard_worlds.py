"""Worlds that mislead: what policies lose in them beside a bandit without structure, and which claims fail.

Writes to the output folder, the same for the same seed:

    goals.csv       a line per goal: world, what was measured, the figure, and whether the goal is met
    regret.csv      a line per world and player: mean and largest regret, as multiples of MOSS's mean, too
    runs.csv        a line per run
    hard_worlds.md  the tables of goals and of regret, which are also printed
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pandas as pd
from hard_worlds_goals import goals, regret_table
from hard_worlds_runs import estimated_graph, play_run
from hard_worlds_settings import Player, World, worlds
from joblib import Parallel, delayed, parallel_config
from results_page import add_option, markdown_table, write_section
from tqdm import tqdm

from discovery import EssentialGraph

Job = tuple[World, Player, int]


def main() -> None:
    options = _options()
    started = time.perf_counter()
    wanted = worlds(options.runs, options.quick)
    if options.rows:
        wanted = [world for world in wanted if world.row in options.rows]
    runs = played(wanted, options.seed, options.jobs)
    met, regret = goals(runs), regret_table(runs)
    text = as_markdown(met, regret)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, frame in (("goals", met), ("regret", regret), ("runs", runs)):
        frame.to_csv(options.out / f"{name}.csv", index=False, float_format="%.6g")
    (options.out / "hard_worlds.md").write_text(f"{text}\n", encoding="utf-8")
    if options.write_results:
        write_section("hard_worlds", text)
    print(text)
    print(f"{time.perf_counter() - started:.0f} s; written to {options.out}", file=sys.stderr)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Play the worlds that mislead; print what is lost there.")
    parser.add_argument("--quick", action="store_true", help="few and short runs: a minute")
    parser.add_argument("--runs", type=int, default=100, help="runs of each policy in each world (100)")
    parser.add_argument("--rows", nargs="+", help="only these rows of the table (all)")
    parser.add_argument("--seed", type=int, default=0, help="everything random comes from it (0)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2); they change no number")
    parser.add_argument("--out", type=Path, default=Path("runs/hard_worlds"), help="output folder")
    add_option(parser)
    options = parser.parse_args()
    if options.runs < 1:
        parser.error(f"Expected --runs of at least 1 but found {options.runs}")
    known = list(dict.fromkeys(world.row for world in worlds(options.runs, quick=False)))
    for row in options.rows or ():
        if row not in known:
            parser.error(f"Expected --rows out of {', '.join(map(repr, known))} but found {row!r}")
    if options.write_results and options.rows:
        parser.error("--write-results takes all rows, without --rows")
    return options


def played(wanted: list[World], seed: int, jobs: int) -> pd.DataFrame:
    """Play every run of every player, and return a line for each, in the order of the worlds."""
    pairs = [(world, player) for world in wanted for player in world.players]
    todo: list[Job] = [
        (world, player, run)
        for world, player in pairs
        for run in range(world.sessions if player.session else world.runs)
    ]
    graphs = _graphs([(world, run) for world, player, run in todo if player.estimated], seed, jobs)
    # The longest first, so that no core idles at the end.
    order = sorted(range(len(todo)), key=lambda place: -todo[place][0].horizon)
    calls = []
    for world, player, run in (todo[place] for place in order):
        graph = graphs[_key(world, run)] if player.estimated else None
        calls.append(delayed(play_run)(world, player, run, seed, graph))
    rows = _parallel(calls, jobs, "Playing")
    by_place: dict[int, dict[str, Any]] = dict(zip(order, rows, strict=True))
    return pd.DataFrame([by_place[place] for place in range(len(todo))])


def _graphs(needed: list[tuple[World, int]], seed: int, jobs: int) -> dict[Hashable, EssentialGraph]:
    """Estimate each system's graph once, by GES."""
    first = {_key(world, run): (world, run) for world, run in needed}
    found = _parallel(
        [delayed(estimated_graph)(world, run, seed) for world, run in first.values()], jobs, "Estimating"
    )
    return dict(zip(first, found, strict=True))


def _key(world: World, run: int) -> Hashable:
    return world.name, run if world.n_systems is None else run % world.n_systems


def _parallel(calls: list[Any], jobs: int, what: str) -> list[Any]:
    with parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1):
        results = Parallel(return_as="generator")(calls)
        return list(tqdm(results, desc=what, total=len(calls), disable=None))


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


if __name__ == "__main__":
    main()
