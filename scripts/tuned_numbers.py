"""The numbers that were chosen (`cb_pgm.evidence.tuned`): what halving, doubling and leaving each out does.

Each line is the mean regret of `screening` over the same systems, with the standard error of its difference
from the first line.
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
from results_page import markdown_table
from results_run import Run

from cb_pgm import CausalSystem, ScreeningUCB, instances, simulate
from cb_pgm.evidence.tuned import SETS_ALONE, Tuned
from cb_pgm.model.intervention import Intervention

__all__ = ["make"]

#: World → rounds. Rows of a table come first in the world whose table misleads.
WORLDS = {"tree of 10": 3000, "tree of 50": 3000, "a drug nobody takes": 3000, "indication, 5,000 rows": 3000}
TABLE_ROWS = 5000
RUNS = 10


def make(run: Run) -> dict[str, str]:
    """Return the table "tuned_numbers"."""
    runs, worlds = (2, list(WORLDS)[:1]) if run.quick else (RUNS, list(WORLDS))
    units = [
        (label, world, number, run.seed) for label in variants() for world in worlds for number in range(runs)
    ]
    lost = dict(zip(units, run.each(played, units), strict=True))
    rows = []
    for label in variants():
        row = [label]
        for world in worlds:
            own, first = (
                np.array([lost[variant, world, number, run.seed] for number in range(runs)])
                for variant in (label, "as it is")
            )
            error = (own - first).std(ddof=1) / np.sqrt(runs)
            row.append(f"{own.mean():.0f}" + (f" (± {error:.0f})" if label != "as it is" else ""))
        rows.append(row)
    return {"tuned_numbers": markdown_table(("numbers", *worlds), rows)}


def variants() -> dict[str, Tuned]:
    """Return the numbers that are played, by name."""
    plain = Tuned()
    found = {"as it is": plain}
    for one in fields(Tuned):
        value = getattr(plain, one.name)
        for factor, name in ((0.5, "× ½"), (2, "× 2")):
            changed = max(1, round(value * factor)) if isinstance(value, int) else value * factor
            found[f"{one.name} {name}"] = replace(plain, **{one.name: changed})
    for name in ("split", "novel", "arms"):
        found[f"without {name}"] = replace(plain, **{name: 0.0})
    return found | {"sets alone": SETS_ALONE}


def played(label: str, world: str, number: int, seed: int) -> float:
    """Play one system, and return the regret."""
    system, sequence = system_of(world, number, seed), np.random.SeedSequence([seed, number])
    policy = ScreeningUCB(
        system.states,
        noise_scale=system.noise_scale,
        parent_noise_scale=system.conditional_noise_scale,
        settable=system.settable,
        tuned=variants()[label],
    )
    earlier = ()
    if "rows" in world:
        earlier = ((Intervention(), system.sample({}, TABLE_ROWS, np.random.default_rng([seed, number, 1]))),)
    return float(simulate(policy, system, WORLDS[world], sequence, earlier=earlier).regret)


def system_of(world: str, number: int, seed: int) -> CausalSystem:
    """Return the system that all variants meet."""
    drawn = np.random.default_rng([seed, number, 2])
    if world.startswith("tree"):
        return instances.tree(int(world.split()[-1]), 3, seed=drawn)
    if world.startswith("a drug"):
        return instances.interaction(n_others=6, seed=drawn)
    return instances.indication(seed=drawn)
