"""How many rows until an arm is known to be within ε of the best, on the basis "identified".

The same rule (`Policy.shortfall`) ends three plays: the one for that end, that for regret, and arms in turn.
In the worlds of the second part its assumption fails: there are hidden causes, or more causes than one, and
one is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from headline_settings import NETWORKS, drawn
from results_page import markdown_table
from results_run import Run

from cb_pgm import CausalSystem, Intervention, ScreeningUCB, instances
from cb_pgm.model.intervention import Pull

__all__ = ["make"]

WITHIN, FAILURE_PROB, MOST_ROWS = 0.05, 0.05, 3000
Maker = Callable[[np.random.Generator], CausalSystem]


def _network(name: str, reward: str, rng: np.random.Generator) -> CausalSystem:
    return CausalSystem.from_bif(f"data/{name}.bif", reward=reward)


def _instance(name: str, settings: Mapping[str, Any], rng: np.random.Generator) -> CausalSystem:
    made: CausalSystem = getattr(instances, name)(**settings, seed=int(rng.integers(2**31)))
    return made


#: World → maker, rows of a table before the first pull, and runs.
HOLDS: dict[str, tuple[Maker, int, int]] = {
    **{f"random tree, n = {n}, K = 3": (drawn("tree", n, 3), 0, 30) for n in (10, 30, 100)},
    **{
        f"{name} {reward}" + (f", {rows:,} rows" if rows else ""): (partial(_network, name, reward), rows, 6)
        for name, reward in NETWORKS[:9]
        for rows in (0, 1000)
    },
}
FAILS: dict[str, tuple[Maker, int, int]] = {
    what: (partial(_instance, name, settings), 0, 40)
    for what, name, settings in (
        ("a drug that nobody takes", "interaction", {}),
        ("the drug among 6 others", "interaction", {"n_others": 6}),
        ("Z → U → reward, U → X", "confounded", {}),
        ("a hidden cause and its proxy, n = 6", "proxy", {"n": 6, "weights": (0.4, 0.4)}),
        ("2 parents, one allowed", "many_parents", {"n_parents": 2}),
        ("4 parents, one allowed", "many_parents", {"n_parents": 4}),
    )
}


class InTurn(ScreeningUCB):
    """All arms in turn; only what it learns is that of screening."""

    def next_pull(self) -> Pull:
        return Pull(self.possible_arms[self.hypotheses.rows.size % len(self.possible_arms)])


PLAYS = {
    "for the end": (ScreeningUCB, "best-arm"),
    "for regret": (ScreeningUCB, "regret"),
    "in turn": (InTurn, "regret"),
}


def make(run: Run) -> dict[str, str]:
    """Return the sections "stops" and "stops-wrong"."""
    holds = dict(list(HOLDS.items())[:1]) if run.quick else HOLDS
    fails = dict(list(FAILS.items())[:1]) if run.quick else FAILS
    units = [
        (world, play, number, run.seed)
        for worlds, plays in ((holds, list(PLAYS)), (fails, list(PLAYS)[:1]))
        for world, (_, _, runs) in worlds.items()
        for play in plays
        for number in range(min(runs, 2) if run.quick else runs)
    ]
    found = list(zip(units, run.each(played, units), strict=True))

    def of(world: str, play: str) -> list[dict[str, Any]]:
        return [one for (name, how, *_), one in found if (name, how) == (world, play)]

    def cells(world: str) -> Iterator[str]:
        for play in PLAYS:
            outcomes = of(world, play)
            rows = np.array([one["rows"] for one in outcomes])
            wrong = sum(one["wrong"] is True for one in outcomes)
            ended = sum(one["wrong"] is not None for one in outcomes)
            yield f"{np.median(rows):,.0f}" if 2 * ended > len(rows) else f"> {MOST_ROWS:,}"
            yield f"{ended}, {wrong}"

    heads = ["world", "runs", *(head for play in PLAYS for head in (f"{play}: rows", "ended, wrong"))]
    table = [[world, str(len(of(world, "for the end"))), *cells(world)] for world in holds]
    second = []
    for world in fails:
        outcomes = of(world, "for the end")
        ended = [one for one in outcomes if one["wrong"] is not None]
        median = f"{np.median([one['rows'] for one in ended]):,.0f}" if ended else "–"
        counts = (len(outcomes), len(ended), sum(one["wrong"] for one in ended))
        second.append([world, *map(str, counts), median])
    return {
        "stops": markdown_table(heads, table),
        "stops-wrong": markdown_table(("world", "runs", "ended", "wrong", "median rows"), second),
    }


def played(world: str, play: str, number: int, seed: int) -> dict[str, Any]:
    """Play until the stop; return the rows, and whether the arm is worse than ε (None: it didn't stop)."""
    maker, table_rows, _ = (HOLDS | FAILS)[world]
    key = [seed, number, *world.encode()]
    system, rng = maker(np.random.default_rng([1, *key])), np.random.default_rng([2, *key])
    kind, explore = PLAYS[play]
    policy = kind(
        system.states,
        failure_prob=FAILURE_PROB,
        noise_scale=system.noise_scale,
        parent_noise_scale=system.conditional_noise_scale,
        settable=system.settable,
        explore=explore,
    ).fresh(np.random.default_rng([3, *key]))
    if table_rows:
        policy.warm_start(Intervention(), system.sample({}, table_rows, rng))
    for row in range(1, MOST_ROWS + 1):
        pull = policy.ask()
        policy.tell(pull, system.sample(pull.intervention, 1, rng))
        if row <= 50 or row % 10 == 0:
            found = policy.shortfall("identified")
            if found.most <= WITHIN and found.arm is not None:
                return {
                    "rows": row,
                    "wrong": bool(system.best_arm()[1] - system.mean_reward(found.arm) > WITHIN),
                }
    return {"rows": MOST_ROWS, "wrong": None}
