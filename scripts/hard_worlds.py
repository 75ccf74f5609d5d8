"""Worlds that mislead: what policies lose in them beside a bandit without structure, and which claims fail.

Writes to the output folder, the same for the same seed:

    goals.csv       a line per goal: world, what was measured, the figure, and whether the goal is met
    regret.csv      a line per world and player: mean and largest regret, as multiples of MOSS's mean, too
    runs.csv        a line per run
    hard_worlds.md  the tables of goals and of regret, which are also printed
    runs.jsonl      what each run gave, as it came: what was stopped goes on from there
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from hard_worlds_goals import goals, regret_table
from hard_worlds_runs import estimated_graph, play_run
from hard_worlds_settings import Player, World, worlds
from joblib import Parallel, delayed, parallel_config
from results_page import add_option, markdown_table, write_section
from results_run import keep, kept

from cb_pgm.cli.console import progress
from discovery import EssentialGraph

Job = tuple[World, Player, int]


def main() -> None:
    options = _options()
    started = time.perf_counter()
    wanted = worlds(options.runs, options.quick)
    if options.rows:
        wanted = [world for world in wanted if world.row in options.rows]
    options.out.mkdir(parents=True, exist_ok=True)
    records = options.out / "runs.jsonl"
    if options.force:
        records.unlink(missing_ok=True)
    runs = played(wanted, options.seed, options.jobs, records)
    met, regret = goals(runs), regret_table(runs)
    text = as_markdown(met, regret)
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
    parser.add_argument("--force", action="store_true", help="start over instead of going on")
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


def played(wanted: list[World], seed: int, jobs: int, records: Path) -> pd.DataFrame:
    """Play every run of every player that isn't in the records; return all, in the order of the worlds."""
    todo: list[Job] = [
        (world, player, run)
        for world in wanted
        for player in world.players
        for run in range(world.sessions if player.session else world.runs)
    ]
    done: dict[str, dict[str, Any]] = dict(kept(records))
    left = [job for job in todo if _identity(job, seed) not in done]
    graphs = _graphs([(world, run) for world, player, run in left if player.estimated], seed, jobs)
    # The longest first, so that no core idles at the end.
    left.sort(key=lambda job: -job[0].horizon)
    calls = [
        delayed(_played)(job, seed, graphs[_key(job[0], job[2])] if job[1].estimated else None)
        for job in left
    ]
    for identity, row in _parallel(calls, jobs, "Playing"):
        done[identity] = row
        keep(records, [identity, row])
    return pd.DataFrame([done[_identity(job, seed)] for job in todo])


def _played(job: Job, seed: int, graph: EssentialGraph | None) -> tuple[str, dict[str, Any]]:
    return _identity(job, seed), play_run(*job, seed, graph)


def _identity(job: Job, seed: int) -> str:
    world, player, run = job
    return repr((world.name, world.horizon, world.n_systems, player, run, seed))


def _graphs(needed: list[tuple[World, int]], seed: int, jobs: int) -> dict[Hashable, EssentialGraph]:
    """Estimate each system's graph once, by GES."""
    first = {_key(world, run): (world, run) for world, run in needed}
    calls = [delayed(_estimated)(key, world, run, seed) for key, (world, run) in first.items()]
    return dict(_parallel(calls, jobs, "Estimating"))


def _estimated(key: Hashable, world: World, run: int, seed: int) -> tuple[Hashable, EssentialGraph]:
    return key, estimated_graph(world, run, seed)


def _key(world: World, run: int) -> Hashable:
    return world.name, run if world.n_systems is None else run % world.n_systems


def _parallel(calls: list[Any], jobs: int, what: str) -> Iterator[Any]:
    """Yield results as they come."""
    with (
        parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1),
        progress(len(calls), what, "run") as step,
    ):
        for result in Parallel(return_as="generator_unordered")(calls):
            yield result
            step(1)


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
