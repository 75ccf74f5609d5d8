"""Random DAGs with random tables, in which the reward depends on a few variables in a random way."""

from __future__ import annotations

import numpy as np

from cb_pgm.errors import CausalSystemError
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.model.system import CausalSystem

__all__ = ["random_tables"]


def random_tables(
    n: int = 8,
    n_states: int = 3,
    *,
    n_parents: int = 1,
    parent_effect: float = 0.7,
    edge_probability: float | None = None,
    seed: int | np.random.Generator | None = None,
) -> CausalSystem:
    """Return a system whose graph, tables and reward are drawn at random, on which UCB+ was evaluated.

    Parameters
    ----------
    n, n_states
        The number of variables and of each one's states, v.
    n_parents
        The number of the reward's parents, k.
    parent_effect
        α: each row of a variable's table is (1 − α) times a row that all its parents' states share, plus α
        times a row of its own.
    edge_probability
        The probability of an edge between two variables; None: 2/n, at most 1.
    seed
        Everything is drawn from it.

    Notes
    -----
    All rows are uniform over the simplex. The reward is 0 or 1, with a uniform mean of its own for each joint
    state of its parents. Source: Shahverdikondori, Etesami & Kiyavash, "Graph learning is suboptimal in
    causal bandits" (AISTATS 2026), whose experiments have n = 8, v = 3, α = .7 and sets of m = 3 variables.

    Examples
    --------
    >>> system = random_tables(n_parents=2, seed=0)
    >>> len(system.states), len(system.reward_parents), system.reward.means.shape
    (8, 2, (3, 3))
    """
    if n < 1 or n_states < 2:
        found = f"n={n}, n_states={n_states}"
        raise CausalSystemError(f"Expected at least 1 variable with at least 2 states but found {found}")
    if not 1 <= n_parents <= n:
        raise CausalSystemError(f"Expected n_parents from 1 to {n} but found {n_parents}")
    if edge_probability is None:
        edge_probability = min(1.0, 2 / n)
    for name, value in (("parent_effect", parent_effect), ("edge_probability", edge_probability)):
        if not 0 <= value <= 1:
            raise CausalSystemError(f"Expected {name} from 0 to 1 but found {value}")
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    above: list[tuple[int, ...]] = [()] * n
    for position in range(1, n):
        edges = rng.random(position) < edge_probability
        above[order[position]] = tuple(int(v) for v in np.sort(order[:position][edges]))
    row = np.ones(n_states)
    tables = []
    for parents in above:
        shared, own = rng.dirichlet(row), rng.dirichlet(row, size=(n_states,) * len(parents))
        tables.append((1 - parent_effect) * shared + parent_effect * own)
    model = DiscreteModel(
        states=dict.fromkeys((f"X{v + 1}" for v in range(n)), tuple(map(str, range(n_states)))),
        parents=tuple(above),
        tables=tuple(tables),
    )
    chosen = tuple(sorted(int(v) for v in rng.choice(n, n_parents, replace=False)))
    means = rng.random((n_states,) * n_parents)
    return CausalSystem.from_model(model, Reward(chosen, means, None))
