"""The goals of `scripts/hard_worlds`: figures of runs beside what they should be.

A rate of failures is held against δ by a binomial test: it misses the goal where as many failures or more
would have a probability below .01 if the rate were δ.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd
from hard_worlds_settings import BEFORE
from headline_runs import FAILURE_PROB
from scipy.stats import binom

_SURE = 0.01
_LONGEST_SLOPE = 0.75  # of log regret by log t over the last factor of 10: √t has .5, a linear piece 1
_RIVALS = ("moss", "thompson", "ucb", "cn-ucb-sequential")


class Goal(NamedTuple):
    """One line: where, who, what was measured, the figure as text, the goal, and whether it is met."""

    world: str
    player: str
    what: str
    figure: str
    goal: str
    holds: bool


def goals(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a line per goal for all worlds that were played."""
    lines = []
    for (row, world), own in runs.groupby(["row", "world"], sort=False):
        by_player = dict(iter(own.groupby("player", sort=False)))
        lines += list(_OF_ROW[row](world, by_player))
        lines += list(_of_claims(world, by_player))
    return pd.DataFrame(lines, columns=Goal._fields)


def regret_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a line per world and player: mean and largest regret, and the mean by MOSS's mean."""
    lost = runs.dropna(subset=["regret"]).groupby(["world", "player"], sort=False)["regret"]
    table = lost.agg(runs="count", mean="mean", largest="max").reset_index()
    moss = table[table["player"] == "moss"].set_index("world")["mean"]
    table["of_moss"] = [
        f"{mean / moss[world]:.2f}" if world in moss else "–"
        for world, mean in zip(table["world"], table["mean"], strict=True)
    ]
    return table


Frames = dict[str, pd.DataFrame]


def _looking(by_player: Frames) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield those that look for the reward's parents."""
    for player, own in by_player.items():
        if player not in _RIVALS and player != "session":
            yield player, own


def _ratio(world: str, player: str, what: str, figure: float, rival: float, most: float) -> Goal:
    ratio = figure / rival if rival > 0 else float("inf") if figure > 0 else 0.0
    return Goal(
        world, player, what, f"{figure:,.0f} / {rival:,.0f} = {ratio:.2f}", f"≤ {most:g}", ratio <= most
    )


def _rate(world: str, player: str, what: str, failures: pd.Series, most: float = FAILURE_PROB) -> Goal:
    failed, runs = int(failures.sum()), len(failures)
    holds = bool(binom.sf(failed - 1, runs, most) >= _SURE) if failed else True
    return Goal(world, player, what, f"{failed} of {runs}", f"≤ {most:g}", holds)


def _identified_wrongly(world: str, player: str, own: pd.DataFrame) -> Goal:
    """Return the goal for what is identified at the end; what is only assumed is no claim, and is named."""
    wrong = own["identified"].astype(bool) & ~own["right"].astype(bool)
    assumed = wrong & (own["grounds"] == "assumed")
    goal = _rate(world, player, "identified wrongly at the end", wrong & ~assumed)
    return goal._replace(
        figure=f"{goal.figure}, and {int(assumed.sum())} assumed" if assumed.any() else goal.figure
    )


def _of_claims(world: str, by_player: Frames) -> Iterator[Goal]:
    """Yield what holds in all worlds: no arm's interval from rows in which it wasn't set."""
    looking = [own for _, own in _looking(by_player)]
    if looking:
        counted = pd.concat(looking)["seen_as_set"].astype(bool)
        what = "an arm's interval counts rows in which it was only seen"
        yield Goal(world, "all", what, f"{int(counted.sum())} of {len(counted)}", "0", not counted.any())


def _drug(world: str, by_player: Frames) -> Iterator[Goal]:
    moss = by_player["moss"]["regret"].mean()
    for player, own in _looking(by_player):
        yield _ratio(world, player, "largest regret / MOSS's mean", own["regret"].max(), moss, 3)
        missed = int((~own["recommends_best"].astype(bool)).sum())
        what = "another arm than the drug recommended at the end"
        yield Goal(world, player, what, f"{missed} of {len(own)}", "0", missed == 0)
    sessions = by_player["session"]
    wrong, certain = int(sessions["wrongly_certain"].sum()), int(sessions["certain"].sum())
    figure = f"{wrong} of {len(sessions)} ({certain} certain)"
    yield Goal(world, "session", 'wrong "certain" in 3,000 rows', figure, "0", wrong == 0)


def _many_parents(world: str, by_player: Frames) -> Iterator[Goal]:
    moss = by_player["moss"]["regret"].mean()
    for player, own in _looking(by_player):
        yield _ratio(world, player, "mean regret / MOSS's", own["regret"].mean(), moss, 2)
        yield _rate(world, player, 'wrong "certain"', own["wrongly_certain"].astype(bool))
        yield _identified_wrongly(world, player, own)


def _confounded(world: str, by_player: Frames) -> Iterator[Goal]:
    thompson = by_player["thompson"]["regret"].mean()
    for player, own in _looking(by_player):
        left, gone = (
            own[column].fillna(float("inf")).median() for column in ("suspect_left", "suspect_gone")
        )
        what = "median rounds until X is ruled out as the only cause (until it is no candidate at all)"
        yield Goal(world, player, what, f"{left:,.0f} ({gone:,.0f})", "≤ 100", left <= 100)
        yield _ratio(world, player, "mean regret / Thompson's", own["regret"].mean(), thompson, 1.5)
        yield _identified_wrongly(world, player, own)


def _proxy(world: str, by_player: Frames) -> Iterator[Goal]:
    moss = by_player["moss"]["regret"].mean()
    for player, own in _looking(by_player):
        yield _ratio(world, player, "mean regret / MOSS's", own["regret"].mean(), moss, 1.2)
        yield _identified_wrongly(world, player, own)
    right, first = (by_player[player]["right"].astype(bool) for player in ("cn-ucb", "cn-ucb-sequential"))
    figure = f"{int(right.sum())} of {len(right)} (where it asks first, at any cost: {int(first.sum())})"
    yield Goal(world, "cn-ucb", "the parent identified", figure, "≥ .95", bool(right.mean() >= 0.95))


def _misleading_table(world: str, by_player: Frames) -> Iterator[Goal]:
    moss = by_player["moss"]["regret"].mean()
    for player, own in _looking(by_player):
        yield _ratio(world, player, "mean regret / MOSS's", own["regret"].mean(), moss, 2.5)
        yield _identified_wrongly(world, player, own)
    yield from _growth(world, by_player)


def _parity(world: str, by_player: Frames) -> Iterator[Goal]:
    for player, own in _looking(by_player):
        yield _identified_wrongly(world, player, own)


def _left_alone(world: str, by_player: Frames) -> Iterator[Goal]:
    moss = by_player["moss"]["regret"].mean()
    for player, own in by_player.items():
        missed = int((~own["recommends_best"].astype(bool)).sum())
        what = "another arm than do() recommended at the end"
        yield Goal(world, player, what, f"{missed} of {len(own)}", "0", missed == 0)
    for player, own in _looking(by_player):
        yield _ratio(world, player, "mean regret / MOSS's", own["regret"].mean(), moss, 2)


def _broken(world: str, by_player: Frames) -> Iterator[Goal]:
    for player, own in _looking(by_player):
        given_up = int(own["given_up"].sum())
        goal = _identified_wrongly(world, player, own)
        yield goal._replace(figure=f"{goal.figure} ({given_up} given up)")
        yield _rate(world, player, 'wrong "certain"', own["wrongly_certain"].astype(bool))


def _trees(world: str, by_player: Frames) -> Iterator[Goal]:
    screening = by_player["screening"]
    regret, pulls = BEFORE[world]
    yield _ratio(world, "screening", "mean regret / before", screening["regret"].mean(), regret, 1.5)
    yield _ratio(world, "screening", "median pulls / before", screening["pulls"].median(), pulls, 1.25)
    yield _identified_wrongly(world, "screening", screening)
    for player, own in _looking(by_player):
        if player != "screening":
            # Equal runs, of which an estimated graph may have fewer.
            same = screening[screening["run"].isin(own["run"])]["regret"].mean()
            yield _ratio(world, player, "mean regret / screening's", own["regret"].mean(), same, 1.5)


def _networks(world: str, by_player: Frames) -> Iterator[Goal]:
    regret, _ = BEFORE[world]
    for player, own in _looking(by_player):
        mean = own["regret"].mean()
        if regret > 0:
            yield _ratio(world, player, "mean regret / before", mean, regret, 2)
        else:
            # Below zero, twice as much would be less: what may be lost is as much again as is won.
            figure, goal = f"{mean:,.0f} / {regret:,.0f}", f"≤ {regret / 2:,.0f}"
            yield Goal(world, player, "mean regret / before", figure, goal, bool(mean <= regret / 2))


def _growth(world: str, by_player: Frames) -> Iterator[Goal]:
    for player, own in _looking(by_player):
        steepest = float(own["last_decade"].max())
        yield Goal(
            world,
            player,
            "steepest slope of log regret by log t, last factor of 10",
            f"{steepest:.2f}",
            f"≤ {_LONGEST_SLOPE:g}",
            steepest <= _LONGEST_SLOPE,
        )


_OF_ROW = {
    "drug": _drug,
    "many parents": _many_parents,
    "confounded": _confounded,
    "proxy": _proxy,
    "misleading table": _misleading_table,
    "parity": _parity,
    "do() is best": _left_alone,
    "broken": _broken,
    "trees": _trees,
    "networks": _networks,
    "pairs": _networks,
    "growth": _growth,
}
