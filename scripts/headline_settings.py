"""What the headline study plays: systems along n, K, the reward gap and T, families, worlds that mislead, and
real networks with a table before the first pull, or none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from cb_pgm import CausalSystem, instances
from cb_pgm.model.discrete_model import DiscreteModel, Reward

Maker = Callable[[np.random.Generator], CausalSystem]

#: Network and reward; the last two have two causes of the reward.
NETWORKS = (
    ("cancer", "Xray=negative"),
    ("earthquake", "MaryCalls=True"),
    ("asia", "xray=yes"),
    ("child", "GruntingReport=no"),
    ("child", "CO2Report=<7.5"),
    ("insurance", "ILiCost=Thousand"),
    ("insurance", "OtherCar=False"),
    ("alarm", "CVP=LOW"),
    ("alarm", "HISTORY=TRUE"),
    ("asia", "dysp=yes"),
    ("alarm", "EXPCO2=LOW"),
)


#: Played in every row, in the order of the table.
COMMON = (
    "ucb",
    "moss",
    "kl-ucb",
    "thompson",
    "raps",
    "cn-ucb-fixed",
    "cn-ucb",
    "screening",
    "posterior-sampling",
    "causal-ucb",
    "oracle",
)
#: Two more of those that search the graph, on systems of one cause.
SEARCHES = ("cn-ucb-sequential", "learn-graph")
#: More for rewards of 0 and 1; for rows in which sets of variables may be set; where there are hidden causes.
FROM_A_TABLE = ("bbb",)
SETS = ("ucb-plus", "ucb-plus-unknown-k")
HIDDEN = ("pomis",)


@dataclass(frozen=True)
class Setting:
    """One row of the table: `instances` systems, each drawn anew, played for `horizon` rounds.

    Attributes
    ----------
    rows
        The number of rows recorded under do() that policies learn from before their first pull.
    also
        Policies that are played beside `COMMON`.
    most_parents
        The largest number of parents that policies consider, but for UCB+ with known k, RAPS and oracles;
        None: the true number.
    """

    group: str
    name: str
    make: Maker
    horizon: int
    instances: int
    rows: int = 0
    also: tuple[str, ...] = ()
    most_parents: int | None = None


def settings(quick: bool) -> list[Setting]:
    """Return all settings, or a few small ones that take a minute."""
    return _quick() if quick else _full()


def _full() -> list[Setting]:
    long, short, few = 100_000, 20_000, 3
    rows = [
        Setting("n", f"random tree, n = {n}", drawn("tree", n, 3), long, count, also=SEARCHES)
        for n, count in ((10, 5), (30, 5), (100, 5), (300, 2), (1000, 1))
    ]
    rows += [
        Setting("K", f"random tree, K = {k}", drawn("tree", 100, k), short, few, also=SEARCHES)
        for k in (2, 5, 8)
    ]
    rows += [
        Setting(
            "Δ", f"random tree, Δ = {gap}", drawn("tree", 100, 3, reward_gap=gap), 50_000, 2, also=SEARCHES
        )
        for gap in (0.05, 0.1, 0.2)
    ]
    rows += [Setting("T", "random tree, n = 100, T = 10⁶", drawn("tree", 100, 3), 1_000_000, 1)]
    rows += [
        Setting("family", name, make, horizon, few, also=SEARCHES) for name, make, horizon in _families(short)
    ]
    rows += _worlds(10_000, few)
    for name, reward in NETWORKS:
        rows += _network_rows(name, reward, 10_000, 2, (0, 1_000, 10_000))
    return rows


def _quick() -> list[Setting]:
    short = 3_000
    rows = [Setting("n", f"random tree, n = {n}", drawn("tree", n, 3), short, 1) for n in (10, 30, 100)]
    rows += [
        Setting("family", name, make, min(horizon, short), 1) for name, make, horizon in _families(short)[1:3]
    ]
    rows += _worlds(short, 1)
    for name, reward in (("asia", "xray=yes"), ("asia", "dysp=yes"), ("alarm", "CVP=LOW")):
        rows += _network_rows(name, reward, short, 1, (0, 1_000))
    return rows


def _network_rows(name: str, reward: str, horizon: int, runs: int, tables: tuple[int, ...]) -> list[Setting]:
    return [
        Setting(
            "network",
            f"{name} {reward}, {rows:,} rows" if rows else f"{name} {reward}",
            partial(_network, name, reward),
            horizon,
            runs,
            rows,
            FROM_A_TABLE,
        )
        for rows in tables
    ]


def _worlds(horizon: int, runs: int) -> list[Setting]:
    """Return the rows in which an assumption of somebody's fails."""
    hidden = FROM_A_TABLE + HIDDEN
    worlds: list[tuple[str, Maker, tuple[str, ...], int | None]] = [
        ("proxy of a hidden cause: Z → U → reward, U → X", drawn("confounded"), hidden, 1),
        ("hidden cause of the reward and of a proxy, n = 20", drawn("proxy", weights=(0.4, 0.4)), hidden, 1),
        ("random DAG, n = 10, 2 hidden causes of 1 each", drawn("hidden_dag", n=10, n_children=1), hidden, 1),
        ("random DAG, n = 10, 2 hidden common causes", drawn("hidden_dag", n=10, n_children=2), hidden, 1),
        ("a drug that nobody takes by itself", drawn("interaction"), FROM_A_TABLE, 1),
        ("the drug among 6 others", drawn("interaction", n_others=6), FROM_A_TABLE, 1),
        ("a copy of the parent, n = 8", copy_of_parent, FROM_A_TABLE, 1),
    ]
    worlds += [
        (f"tree, n = 8, {k} parents, one allowed", drawn("many_parents", n_parents=k), FROM_A_TABLE, 1)
        for k in (2, 4)
    ]
    worlds += [
        (
            f"UCB+'s systems, n = 8, v = 3, k = {k}",
            drawn("random_tables", n_parents=k),
            SETS + FROM_A_TABLE,
            3,
        )
        for k in (1, 2, 3)
    ]
    return [
        Setting("world", name, make, horizon, runs, also=also, most_parents=most)
        for name, make, also, most in worlds
    ]


def _families(long: int) -> list[tuple[str, Maker, int]]:
    """Return the families of the paper and of those who came after: name, maker and horizon."""
    raps = {"noise": "bernoulli", "copy_probability": 0.9}
    return [
        ("causal forest, n = 100, K = 3", drawn("forest", 100), long),
        ("chordal, n = 40, K = 3", drawn("chordal", 40), long),
        ("random DAG, n = 40, K = 3", drawn("random_dag", 40, expected_degree=2.0), long),
        ("Theorem 4 (ε = 0), n = 20, K = 3", drawn("lower_bound_effect_gap", 20, 3, horizon=long), long),
        ("Theorem 5 (Δ = 0), n = 20, K = 3", drawn("lower_bound_reward_gap", 20, 3, horizon=long), long),
        ("chain, n = 100, K = 3", drawn("tree", 100, shape="chain"), long),
        ("binary tree, n = 100, K = 3", drawn("tree", 100, shape="binary"), long),
        ("star, n = 100, K = 3", drawn("tree", 100, shape="star"), long),
        *(
            (
                f"RAPS tree, n = 20, K = 2, {count} parent{'s' * (count > 1)}",
                drawn("tree", 20, 2, reward_means=(0, 1), n_parents=count, **raps),
                long,
            )
            for count in (1, 2, 3)
        ),
        (
            "RAPS random DAG, n = 10, K = 4",
            drawn("random_dag", 10, 4, reward_means=tuple(np.linspace(0, 1, 4)), **raps),
            long,
        ),
        ("dct chordal, n = 25, K = 2", drawn("chordal", 25, 2), long),
        ("Dirichlet random DAG, n = 20, K = 2", _dirichlet, long),
        ("parallel bandit, N = 50, T = 400", _parallel, 400),
    ]


# -- makers: module-level, so that a job can be sent to another process --------------------------------------


def drawn(family: str, *sizes: int, **options: object) -> Maker:
    """Return what draws a system of one of the families of `instances`."""
    return partial(_draw, family, sizes, options)


def _draw(
    family: str, sizes: tuple[int, ...], options: dict[str, object], rng: np.random.Generator
) -> CausalSystem:
    system: CausalSystem = getattr(instances, family)(*sizes, **options, seed=rng)
    return system


def _network(name: str, reward: str, rng: np.random.Generator) -> CausalSystem:
    return CausalSystem.from_bif(f"data/{name}.bif", reward=reward)


def _dirichlet(rng: np.random.Generator) -> CausalSystem:
    """Each row of a table is .3 of the variable's own distribution and .7 of a fresh Dirichlet(1) draw."""
    drawn = instances.random_dag(20, 2, expected_degree=2.0, seed=rng)
    tables = []
    for table in drawn.model.tables:
        base, fresh = rng.dirichlet([1, 1]), rng.dirichlet([1, 1], size=table.shape[:-1])
        tables.append(0.3 * base + 0.7 * fresh)
    model = DiscreteModel(drawn.model.states, drawn.model.parents, tuple(tables))
    means = 0.3 * rng.random() + 0.7 * rng.random(drawn.reward.means.shape)
    return CausalSystem.from_model(model, Reward(drawn.reward.parents, means, None))


def _parallel(rng: np.random.Generator) -> CausalSystem:
    """50 variables without edges; the reward's mean is ½, but .8 with X1 at 1, where it is only when set."""
    states = dict.fromkeys((f"X{v + 1}" for v in range(50)), ("0", "1"))
    never, even = np.array([1.0, 0.0]), np.array([0.5, 0.5])
    model = DiscreteModel(states, ((),) * 50, (never, never, *(even,) * 48))
    return CausalSystem.from_model(model, Reward((0,), np.array([0.5, 0.8]), None))


def copy_of_parent(rng: np.random.Generator) -> CausalSystem:
    """Return a tree of 7 with a copy of the reward's parent, which no row under do() tells from it."""
    tree = instances.tree(7, 3, seed=rng)
    model, (parent,) = tree.model, tree.reward.parents
    return with_first(model, ("0", "1", "2"), parent, np.eye(3), tree.reward)


def with_first(
    model: DiscreteModel,
    states: tuple[str, ...],
    above: int,
    table: np.ndarray,
    reward: Reward,
    hidden: tuple[str, ...] = (),
) -> CausalSystem:
    """Return the system with one more variable, W, before all others, where it wins every tie."""
    moved = DiscreteModel(
        {"W": states, **model.states},
        ((above + 1,), *(tuple(parent + 1 for parent in parents) for parents in model.parents)),
        (table, *model.tables),
    )
    parents = tuple(parent + 1 for parent in reward.parents)
    return CausalSystem.from_model(moved, Reward(parents, reward.means, reward.noise), hidden=hidden)
