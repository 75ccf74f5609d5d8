"""The worlds of `scripts/hard_worlds`: systems that mislead, and who plays on them.

A world belongs to a row of the table. Most break an assumption of the policies that look for the reward's
parents; the rows `trees`, `networks` and `growth` break none and show what care costs there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from headline_settings import Setting, copy_of_parent, drawn, with_first
from headline_settings import settings as headline_settings

from cb_pgm import CausalSystem, instances
from cb_pgm.instances.copy_model import copy_table
from cb_pgm.model.discrete_model import DiscreteModel, Reward

Maker = Callable[[np.random.Generator], CausalSystem]

TABLE_ROWS = 10_000
MISLEADING_ROWS = 5000
SESSION_ROWS = 3000


@dataclass(frozen=True)
class Player:
    """A policy as it plays.

    Attributes
    ----------
    label, policy
        Its name in the table, and its name in `cb_pgm.policies.registry.POLICIES`.
    max_parents
        As in `PolicyContext`; None: as many parents as the reward has.
    estimated
        Whether its graph is estimated by GES from 10,000 rows; otherwise it is the true one.
    table_rows
        How many rows under do() it has seen before the first pull.
    session
        Whether it plays a session that ends when the best arm is certain.
    """

    label: str
    policy: str
    max_parents: int | None = 1
    estimated: bool = False
    table_rows: int = 0
    session: bool = False


@dataclass(frozen=True)
class World:
    """A way to draw systems, and what is played on them.

    Attributes
    ----------
    row, name
        The row of the table, and the world's name in it.
    make
        Draws a system.
    horizon, runs
        T, and how many runs of each player; `sessions` for those that play sessions.
    players
        Who plays.
    n_systems
        How many systems are drawn, for the runs in turn; None: one for each run.
    suspect
        A variable that looks like a cause of the reward and isn't.
    told_scale
        What the policies are told of σ, as a multiple of the true one.
    disturbed
        "t3": the reward's noise has the t(3) distribution with the standard deviation that policies are told;
        "drift": the reward's mean rises by .5 in the course of the rounds; "carry-over": in half of the
        rounds the reward is one of the arm before; "change": from a third of the rounds on the reward's means
        are in reverse order, and regret is against the best arm of the time.
    selected_by
        The variable by which the rows of tables are selected (`selected_rows`); empty: they aren't.
    seeded_as
        The headline's name of the setting, whose systems these are; empty for others.
    """

    row: str
    name: str
    make: Maker
    horizon: int
    runs: int
    players: tuple[Player, ...]
    n_systems: int | None = None
    sessions: int = 0
    suspect: str | None = None
    told_scale: float = 1.0
    disturbed: Literal["t3", "drift", "carry-over", "change"] | None = None
    selected_by: str = ""
    seeded_as: str = ""


SCREENING, CN_UCB = Player("screening", "screening"), Player("cn-ucb", "cn-ucb")
CN_UCB_GES = Player("cn-ucb (GES)", "cn-ucb", estimated=True)
MOSS, THOMPSON, UCB = Player("moss", "moss"), Player("thompson", "thompson"), Player("ucb", "ucb")
ASKS_FIRST = Player("cn-ucb-sequential", "cn-ucb-sequential")  # whatever its questions cost
SESSION = Player("session", "screening", session=True)
LOOKING = (SCREENING, CN_UCB)
RIVALS = (MOSS, THOMPSON, UCB)


PAIRS = ("asia dysp=yes", "alarm EXPCO2=LOW")

_HORIZON_BEFORE = 100_000  # of the runs in `BEFORE`

#: Mean regret and median pulls of screening without closing, with UCB's index, on the same systems.
BEFORE: dict[str, tuple[float, float]] = {
    "random tree, n = 10": (182, 373),
    "random tree, n = 30": (195, 332),
    "random tree, n = 100": (209, 494),
    "random tree, n = 300": (208, 434),
    "random tree, n = 1000": (253, 540),
    "causal forest, n = 100, K = 3": (195, 354),
    "chordal, n = 40, K = 3": (192, 365),
    "chain, n = 100, K = 3": (241, 568),
    "star, n = 100, K = 3": (246, 598),
    "cancer Xray=negative": (14, 51),
    "earthquake MaryCalls=True": (18, 43),
    "asia xray=yes": (14, 28),
    "child GruntingReport=no": (18, 58),
    "child CO2Report=<7.5": (12, 42),
    "insurance ILiCost=Thousand": (109, 584),
    "insurance OtherCar=False": (68, 278),
    "alarm CVP=LOW": (31, 42),
    "alarm HISTORY=TRUE": (37, 56),
    "asia dysp=yes": (-9200, 666),
    "alarm EXPCO2=LOW": (-1900, 126),
}


def worlds(runs: int, quick: bool) -> list[World]:
    """Return all worlds with that many runs, or smaller ones that take a minute."""
    made = [
        *_drug(runs),
        *_many_parents(runs),
        *_confounded(runs),
        *_proxies(runs),
        *_misleading_tables(runs),
        *_parity(runs),
        *_left_alone(runs),
        *_broken(runs),
        *_headline(runs),
        *_growth(runs),
    ]
    if not quick:
        return made
    return [_quick(world) for world in made if world.name not in _SLOW and world.row != "pairs"]


_LARGE = ("random tree, n = 300", "random tree, n = 1000")
_SLOW = (
    *_LARGE,
    "chain, n = 100, K = 3",
    "star, n = 100, K = 3",
    "causal forest, n = 100, K = 3",
    "insurance OtherCar=False",
    "alarm HISTORY=TRUE",
    "child CO2Report=<7.5",
)


def _quick(world: World) -> World:
    players = tuple(player for player in world.players if not player.estimated or world.n_systems is None)
    horizon = min(world.horizon, 100_000 if world.row == "growth" else 3000)
    runs = max(1, min(world.runs, 4, world.runs // 10))
    return replace(
        world, players=players, horizon=horizon, runs=runs, sessions=min(world.sessions, 4), n_systems=None
    )


def _drug(runs: int) -> list[World]:
    several = (("never taken", 0, 0.0), ("taken by .005", 0, 0.005), ("taken by .02", 0, 0.02))
    return [
        World(
            "drug",
            f"drug {name}",
            drawn("interaction", others, drug_taken=taken),
            10_000,
            runs,
            # Where the drug is never taken GES's graph lacks it, as the true one has no edge to it.
            (*LOOKING, *(() if name == "never taken" else (CN_UCB_GES,)), *RIVALS, SESSION),
            sessions=3 * runs if name == "never taken" else runs // 2,
        )
        for name, others, taken in (*several, ("never taken, six more variables", 6, 0.0))
    ]


def _many_parents(runs: int) -> list[World]:
    looking = [
        replace(player, label=f"{player.label}, {most} allowed", max_parents=most)
        for most in (1, 2)
        for player in LOOKING
    ]
    return [
        World(
            "many parents",
            f"tree of 8, {count} parents",
            drawn("many_parents", 8, 3, n_parents=count),
            20_000,
            runs,
            (*looking, *RIVALS),
        )
        for count in (2, 3, 4)
    ]


def _confounded(runs: int) -> list[World]:
    with_table = tuple(replace(player, table_rows=TABLE_ROWS) for player in LOOKING)
    return [
        World(
            "confounded",
            f"Z → U → reward, U → X, {name}",
            drawn("confounded"),
            10_000,
            runs,
            (*players, *RIVALS),
            suspect="X",
        )
        for name, players in (("no table", LOOKING), ("10,000 rows before", with_table))
    ]


def _proxies(runs: int) -> list[World]:
    return [
        World(
            "proxy",
            f"proxy, weights {w:g} and {h:g}",
            drawn("proxy", 20, 2, weights=(w, h)),
            10_000,
            runs,
            (*LOOKING, ASKS_FIRST, *RIVALS),
        )
        for w, h in ((0.4, 0.4), (0.2, 0.6))
    ]


def _misleading_tables(runs: int) -> list[World]:
    with_table = tuple(replace(player, table_rows=MISLEADING_ROWS) for player in LOOKING)
    simpson, indication = (drawn(family) for family in ("simpson", "indication"))
    made = World(
        "misleading table", "indication, 5,000 rows before", indication, 20_000, runs, (*with_table, *RIVALS)
    )
    return [
        made,
        replace(
            made,
            name="selected rows, 5,000 before",
            make=drawn("selection"),
            selected_by="B",
            suspect="B",
        ),
        replace(made, name="Simpson, 5,000 rows before", make=simpson, suspect="size"),
        replace(made, name="Simpson, no table", make=simpson, suspect="size", players=(*LOOKING, *RIVALS)),
    ]


def _parity(runs: int) -> list[World]:
    return [
        World(
            "parity",
            f"XOR of {count} out of 6",
            drawn("xor", 6, n_parents=count),
            10_000,
            runs,
            (*(replace(player, max_parents=None) for player in LOOKING), *RIVALS),
        )
        for count in (2, 3)
    ]


def _left_alone(runs: int) -> list[World]:
    return [
        World("do() is best", name, drawn(family, *sizes), 10_000, runs, (*LOOKING, *RIVALS))
        for name, family, sizes in (
            ("a chain under a hidden cause, n = 4", "hidden_chain", (4,)),
            ("an informed choice", "informed_choice", ()),
        )
    ]


def _broken(runs: int) -> list[World]:
    plain = drawn("tree", 8, 3)
    bernoulli = drawn("tree", 8, 3, noise="bernoulli")
    made = World("broken", "", plain, 10_000, runs, (*LOOKING, MOSS))
    return [
        replace(made, name="reward causes a variable", make=reward_causes_variable),
        replace(made, name="copy of the parent", make=copy_of_parent),
        replace(made, name="t(3) noise", disturbed="t3"),
        replace(made, name="drift", disturbed="drift"),
        replace(made, name="carry-over", make=bernoulli, disturbed="carry-over"),
        replace(made, name="the best arm changes at a third", make=bernoulli, disturbed="change"),
        replace(made, name="σ understated by a tenth", told_scale=0.9),
    ]


def _headline(runs: int) -> list[World]:
    return [
        World(
            _headline_row(setting),
            setting.name,
            setting.make,
            _HORIZON_BEFORE,
            min(runs, 4 if setting.name == "random tree, n = 1000" else 30),
            _headline_players(setting),
            n_systems=min(setting.instances, 3 if setting.name in _SLOW else 10),
            seeded_as=setting.name,
        )
        for setting in headline_settings(quick=False)
        if setting.name in BEFORE
    ]


def _headline_row(setting: Setting) -> str:
    return "trees" if setting.group != "network" else "pairs" if setting.name in PAIRS else "networks"


def _headline_players(setting: Setting) -> tuple[Player, ...]:
    screening, cn_ucb = (replace(player, max_parents=None) for player in LOOKING)
    if setting.group == "network":
        return (screening,)
    # GES takes some 20 s with 100 variables, and far longer beyond.
    return (screening, cn_ucb) if setting.name in _LARGE else (screening, cn_ucb, CN_UCB_GES)


def _growth(runs: int) -> list[World]:
    players = (*LOOKING, MOSS)
    tree = drawn("tree", 20, 3)
    drug = drawn("interaction", 0)
    return [
        World("growth", name, make, 1_000_000, max(1, runs // 50), players)
        for name, make in (("random tree, n = 20, T = 10⁶", tree), ("drug never taken, T = 10⁶", drug))
    ]


# -- makers: module-level, so that a job can be sent to another process --------------------------------------


def reward_causes_variable(rng: np.random.Generator) -> CausalSystem:
    """Return a tree of 7 with rewards of 0 or 1, and a variable that shows the reward in .9 of the rows."""
    tree = instances.tree(7, 3, noise="bernoulli", seed=rng)
    (parent,), means = tree.reward.parents, tree.reward.means
    model = DiscreteModel(
        {**tree.model.states, "U": ("0", "1")},
        (*tree.model.parents, (parent,)),
        (*tree.model.tables, np.column_stack([1 - means, means])),
    )
    reward = Reward((len(model.parents) - 1,), np.array([0.0, 1.0]), None)
    shown = copy_table(2, 1, 0.8)
    return with_first(model, ("0", "1"), len(model.parents) - 1, shown, reward, hidden=("U",))
