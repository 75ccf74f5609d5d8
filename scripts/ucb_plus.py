"""Plays UCB+'s own systems: the mean regret of screening beside that of UCB+ told of the parents.

Regret is measured against the best joint state of the parents.
"""

from __future__ import annotations

import itertools

import numpy as np
from results_page import markdown_table
from results_run import Run

from cb_pgm import CausalSystem
from cb_pgm.study.cells import system_of

__all__ = ["beyond", "make"]


def make(run: Run) -> dict[str, str]:
    """Return the table "ucb_plus": mean regret ± its standard error, a row for each k and T."""
    results, study = run.study(quick={"runs": 2, "horizons": 500})
    players = list(dict.fromkeys(results["policy"]))
    rows = []
    for system in study.systems:
        more = [beyond(system_of(system, number, study.seed)) for number in range(study.runs)]
        for horizon in study.horizons:
            own = results[(results["system"] == system.label) & (results["horizon"] == horizon)]
            row = [f"k = {system['n_parents']}, T = {horizon:,}"]
            for player in players:
                played = own[own["policy"] == player].sort_values("run")
                lost = played["regret"].to_numpy() + horizon * np.array(more)
                row.append(f"{lost.mean():,.0f} ± {lost.std(ddof=1) / np.sqrt(len(lost)):,.0f}")
            rows.append(row)
    return {"ucb_plus": markdown_table(("parents", *players), rows)}


def beyond(system: CausalSystem) -> float:
    """Return by how much the best joint state of the reward's parents is better than the best single arm."""
    parents = system.reward_parents
    joint = itertools.product(*(system.settable[name] for name in parents))
    best = max(system.mean_reward(dict(zip(parents, states, strict=True))) for states in joint)
    return max(0.0, best - system.best_arm()[1])
