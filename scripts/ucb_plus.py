"""Plays UCB+'s own systems, and prints the mean regret of screening beside that of UCB+ told of the parents.

    scripts/ucb_plus [--systems 20] [--jobs 2] [--write-results]

The systems are `instances.random_tables`: n = 8 variables of 3 states, a parent effect of .7, and k = 1, 2, 3
parents of the reward. UCB+ sets three variables at once. Screening may look for up to three parents, and sets
up to three variables. Regret is measured against the best joint state of the parents.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from headline_runs import best_mean, context_of, rng_of
from joblib import Parallel, delayed
from results_page import add_option, markdown_table, write_section

from cb_pgm import Policy, instances, simulate
from cb_pgm.cli.console import progress
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.registry import make_policy
from cb_pgm.policies.ucb_plus import UCBPlus, UnknownKUCBPlus

PARENTS = (1, 2, 3)
HORIZONS = (2000, 10_000)
MOST_PARENTS = 3
SEED = 1

_Maker = Callable[[PolicyContext, int, int], Policy]  # from what policies know, k, and T

PLAYERS: dict[str, _Maker] = {
    "screening": lambda context, k, horizon: make_policy("screening", context),
    "UCB+ told k": lambda context, k, horizon: UCBPlus(
        context.states, n_parents=k, noise_scale=context.noise_scale, horizon=horizon
    ),
    "UCB+ not told": lambda context, k, horizon: UnknownKUCBPlus(
        context.states, noise_scale=context.noise_scale, horizon=horizon
    ),
    "MOSS": lambda context, k, horizon: make_policy("moss", context),
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=20, help="systems for each number of parents (20)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    add_option(parser)
    chosen = parser.parse_args(arguments)
    cells = [
        (k, horizon, player, number)
        for k in PARENTS
        for horizon in HORIZONS
        for player in PLAYERS
        for number in range(chosen.systems)
    ]
    regrets = {}
    with progress(len(cells), "Playing", unit="run") as step:
        played = Parallel(chosen.jobs, return_as="generator")(delayed(regret)(*cell) for cell in cells)
        for cell, lost in zip(cells, played, strict=True):
            regrets[cell] = lost
            if step:
                step(1)
    text = as_markdown(regrets)
    if chosen.write_results:
        write_section("ucb_plus", text)
    sys.stdout.write(f"{text}\n")
    return 0


def regret(k: int, horizon: int, player: str, number: int) -> float:
    """Play one system, and return the regret."""
    system = instances.random_tables(n_parents=k, seed=np.random.default_rng(rng_of(SEED, k, number)))
    context = replace(context_of(system), max_parents=MOST_PARENTS)
    policy = PLAYERS[player](context, k, horizon)
    run = simulate(policy, system, horizon, rng_of(SEED, k, number, horizon))
    return float(run.regret + horizon * (best_mean(system) - system.best_arm()[1]))


def as_markdown(regrets: dict[tuple[int, int, str, int], float]) -> str:
    """Return mean regret and its standard error, a row for each number of parents and horizon.

    Parameters
    ----------
    regrets
        The regret by (k, T, player, number of the system).
    """
    rows = []
    for k in PARENTS:
        for horizon in HORIZONS:
            row = [f"k = {k}, T = {horizon:,}"]
            for player in PLAYERS:
                lost = np.array(
                    [value for cell, value in regrets.items() if cell[:3] == (k, horizon, player)]
                )
                error = lost.std(ddof=1) / np.sqrt(len(lost)) if len(lost) > 1 else np.nan
                row.append(f"{lost.mean():,.0f} ± {error:,.0f}")
            rows.append(row)
    return markdown_table(("parents", *PLAYERS), rows)


if __name__ == "__main__":
    sys.exit(main())
