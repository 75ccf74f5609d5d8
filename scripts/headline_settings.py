"""What the headline study plays: systems along n, K, the reward gap and T, by family, and real networks."""

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


@dataclass(frozen=True)
class Setting:
    """One row of the table: `instances` systems, each drawn anew, played for `horizon` rounds."""

    group: str
    name: str
    make: Maker
    horizon: int
    instances: int


def settings(quick: bool) -> list[Setting]:
    """Return all settings, or a few small ones that take a minute."""
    return _quick() if quick else _full()


def _full() -> list[Setting]:
    long, few = 100_000, 4
    rows = [
        Setting("n", f"random tree, n = {n}", _tree(n), long, count)
        for n, count in ((10, 10), (30, 10), (100, 10), (300, 5), (1000, 3))
    ]
    rows += [Setting("K", f"random tree, K = {k}", _tree(100, k), long, few) for k in (2, 5, 8)]
    rows += [
        Setting("Δ", f"random tree, Δ = {gap}", _tree(100, reward_gap=gap), long, few)
        for gap in (0.05, 0.1, 0.2)
    ]
    rows += [Setting("T", "random tree, n = 100, T = 10⁶", _tree(100), 1_000_000, 2)]
    rows += [Setting("family", name, make, horizon, few) for name, make, horizon in _families(long)]
    rows += [
        Setting("network", f"{name} {reward}", partial(_network, name, reward), long, few)
        for name, reward in NETWORKS
    ]
    return rows


def _quick() -> list[Setting]:
    short = 10_000
    rows = [Setting("n", f"random tree, n = {n}", _tree(n), short, 2) for n in (10, 30, 100)]
    rows += [Setting("K", "random tree, K = 5", _tree(100, 5), short, 1)]
    rows += [Setting("Δ", "random tree, Δ = 0.1", _tree(100, reward_gap=0.1), short, 1)]
    rows += [
        Setting("family", name, make, min(horizon, short), 1) for name, make, horizon in _families(short)[:4]
    ]
    rows += [
        Setting("network", f"{name} {reward}", partial(_network, name, reward), short, 1)
        for name, reward in (("asia", "xray=yes"), ("asia", "dysp=yes"), ("alarm", "CVP=LOW"))
    ]
    return rows


def _families(long: int) -> list[tuple[str, Maker, int]]:
    """Return the families of the paper and of those who came after: name, maker and horizon."""
    raps = {"noise": "bernoulli", "copy_probability": 0.9}
    return [
        ("causal forest, n = 100, K = 3", _drawn("forest", 100), long),
        ("chordal, n = 40, K = 3", _drawn("chordal", 40), long),
        ("random DAG, n = 40, K = 3", _drawn("random_dag", 40, expected_degree=2.0), long),
        ("Theorem 4 (ε = 0), n = 20, K = 3", _hard("lower_bound_effect_gap", long), long),
        ("Theorem 5 (Δ = 0), n = 20, K = 3", _hard("lower_bound_reward_gap", long), long),
        ("chain, n = 100, K = 3", _drawn("tree", 100, shape="chain"), long),
        ("binary tree, n = 100, K = 3", _drawn("tree", 100, shape="binary"), long),
        ("star, n = 100, K = 3", _drawn("tree", 100, shape="star"), long),
        *(
            (
                f"RAPS tree, n = 20, K = 2, {count} parent{'s' * (count > 1)}",
                _drawn("tree", 20, 2, reward_means=(0, 1), n_parents=count, **raps),
                long,
            )
            for count in (1, 2, 3)
        ),
        (
            "RAPS random DAG, n = 10, K = 4",
            _drawn("random_dag", 10, 4, reward_means=tuple(np.linspace(0, 1, 4)), **raps),
            long,
        ),
        ("dct chordal, n = 25, K = 2", _drawn("chordal", 25, 2), long),
        ("Dirichlet random DAG, n = 20, K = 2", _dirichlet, long),
        ("parallel bandit, N = 50, T = 400", _parallel, 400),
    ]


# -- makers: module-level, so that a job can be sent to another process --------------------------------------


def _tree(n: int, n_states: int = 3, **options: object) -> Maker:
    return _drawn("tree", n, n_states, **options)


def _drawn(family: str, n: int, n_states: int = 3, **options: object) -> Maker:
    return partial(_draw, family, n, n_states, options)


def _draw(
    family: str, n: int, n_states: int, options: dict[str, object], rng: np.random.Generator
) -> CausalSystem:
    system: CausalSystem = getattr(instances, family)(n, n_states, **options, seed=rng)
    return system


def _hard(family: str, horizon: int) -> Maker:
    return partial(_draw, family, 20, 3, {"horizon": horizon})


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
