"""Systems with hidden causes, in which a variable that moves nothing may look like a cause of the reward.

Rewards are 0 or 1. Hidden variables are U, or U1, U2 and so on; the other variables, and their order, are
drawn from `seed`.
"""

from __future__ import annotations

import numpy as np

from cb_pgm.errors import CausalSystemError
from cb_pgm.instances.copy_model import copy_table
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.model.system import CausalSystem

__all__ = ["confounded", "hidden_dag", "proxy"]

Seed = int | np.random.Generator | None

_HIDDEN = "U"


def confounded(
    *,
    reward_means: tuple[float, float] = (0.1, 0.9),
    cause_agreement: float = 0.9,
    proxy_agreement: float = 0.87,
    seed: Seed = None,
) -> CausalSystem:
    """Return the system Z → U → reward, U → X with U hidden: X tells the reward's mean but doesn't move it.

    Parameters
    ----------
    reward_means
        The reward's mean (m0, m1) for U = 0 and U = 1, in [0, 1].
    cause_agreement
        The probability that U takes Z's state. Z is 0 or 1 with probability .5 each.
    proxy_agreement
        The probability that X takes U's state.
    seed
        The order of Z and X is drawn from it.

    Notes
    -----
    E[R | do(X = x)] = (m0 + m1)/2, .5 as it stands. Among rows seen under do() the mean at X = 1 is
    m0 + (m1 − m0) · proxy_agreement, .796. E[R | do(Z = 1)] = m0 + (m1 − m0) · cause_agreement, .82. The true
    graph over the observed variables is Z → X, and the reward's observed parent is Z.

    Examples
    --------
    >>> system = confounded(seed=0)
    >>> {arm: round(mean, 3) for arm, mean in sorted(system.arm_means().items())}
    {('X', '0'): 0.5, ('X', '1'): 0.5, ('Z', '0'): 0.18, ('Z', '1'): 0.82}
    >>> system.hidden, system.reward_parents, list(system.dag.edges)
    (('U',), ('Z',), [('Z', 'X')])
    """
    for name, value in (("cause_agreement", cause_agreement), ("proxy_agreement", proxy_agreement)):
        _check_probability(name, value)
    names = [("Z", "X")[place] for place in np.random.default_rng(seed).permutation(2)]
    place = {name: number for number, name in enumerate((*names, _HIDDEN))}
    parents = {"Z": (), _HIDDEN: (place["Z"],), "X": (place[_HIDDEN],)}
    tables = {
        "Z": np.array([0.5, 0.5]),
        _HIDDEN: copy_table(2, 1, 2 * cause_agreement - 1),
        "X": copy_table(2, 1, 2 * proxy_agreement - 1),
    }
    model = DiscreteModel(
        states=dict.fromkeys(place, ("0", "1")),
        parents=tuple(parents[name] for name in place),
        tables=tuple(tables[name] for name in place),
    )
    reward = Reward((place[_HIDDEN],), np.array(reward_means, dtype=np.float64), None)
    return CausalSystem.from_model(model, reward, hidden=(_HIDDEN,))


def proxy(
    n: int = 20,
    n_states: int = 2,
    *,
    weights: tuple[float, float] = (0.4, 0.4),
    copy_probability: float = 0.95,
    proxy_agreement: float = 0.8,
    seed: Seed = None,
) -> CausalSystem:
    """Return a tree whose reward has one parent in it and a hidden cause, which moves another variable too.

    Parameters
    ----------
    n, n_states
        The number of observed variables and of each one's states, K. The hidden variable has K states too.
    weights
        How much the reward's mean rises from the lowest to the highest state of the parent, and of the hidden
        cause: (w, h), together at most 1.
    copy_probability
        The probability c with which a variable takes the state of its parent in the tree; otherwise it takes
        a uniform state.
    proxy_agreement
        The probability with which the proxy takes the state of the hidden cause; otherwise it behaves as the
        others.
    seed
        The tree (each variable's parent is any earlier one, uniformly), the names X1 to Xn, the reward's
        parent and the proxy are drawn from it. The proxy is no ancestor of the reward's parent.

    Notes
    -----
    The reward's mean is .5 + w (x/(K−1) − .5) + h (u/(K−1) − .5) at state x of the parent and u of the hidden
    cause. So E[R | do(A = x)] = .5 + w · cᵈ · (x/(K−1) − .5) where A is the parent (d = 0) or an ancestor d
    edges above it, and .5 under any other arm, the proxy's too. The true graph over the observed variables is
    the tree.

    Examples
    --------
    >>> system = proxy(6, weights=(0.2, 0.6), seed=0)
    >>> (parent,), hidden = system.reward_parents, system.hidden_reward_parents
    >>> round(system.mean_reward({parent: "1"}), 12), hidden
    (0.6, ('U',))
    >>> sorted({round(mean, 3) for arm, mean in system.arm_means().items() if arm[0] != parent})
    [0.405, 0.5, 0.595]
    """
    if n < 2 or n_states < 2:
        found = f"n={n}, n_states={n_states}"
        raise CausalSystemError(f"Expected at least 2 variables with at least 2 states but found {found}")
    w, h = weights
    if min(weights) < 0 or w + h > 1:
        raise CausalSystemError(f"Expected weights of at least 0, together at most 1, but found {w} and {h}")
    for name, value in (("copy_probability", copy_probability), ("proxy_agreement", proxy_agreement)):
        _check_probability(name, value)
    rng = np.random.default_rng(seed)
    above = [-1, *(int(rng.integers(position)) for position in range(1, n))]
    lines = [_line(above, position) for position in range(n)]
    pairs = [(parent, other) for parent in range(n) for other in range(n) if other not in lines[parent]]
    reward_parent, moved = pairs[int(rng.integers(len(pairs)))]

    number = rng.permutation(n)
    parents: list[tuple[int, ...]] = [()] * (n + 1)
    tables = [copy_table(n_states, 0, 0.0)] * (n + 1)
    copies = copy_table(n_states, 1, copy_probability)
    for position in range(1, n):
        parents[number[position]] = (int(number[above[position]]),)
        tables[number[position]] = copies
    parents[number[moved]] += (n,)
    follows_hidden = np.eye(n_states)[None, :, :]
    tables[number[moved]] = proxy_agreement * follows_hidden + (1 - proxy_agreement) * copies[:, None, :]
    model = DiscreteModel(
        states=dict.fromkeys((*(f"X{v + 1}" for v in range(n)), _HIDDEN), tuple(map(str, range(n_states)))),
        parents=tuple(parents),
        tables=tuple(tables),
    )
    steps = np.linspace(-0.5, 0.5, n_states)
    reward = Reward((int(number[reward_parent]), n), 0.5 + w * steps[:, None] + h * steps[None, :], None)
    return CausalSystem.from_model(model, reward, hidden=(_HIDDEN,))


def hidden_dag(
    n: int,
    n_states: int = 2,
    *,
    n_hidden: int = 2,
    n_children: int = 2,
    hidden_weight: float = 0.4,
    expected_degree: float = 2.0,
    n_parents: int = 1,
    copy_probability: float = 0.9,
    seed: Seed = None,
) -> CausalSystem:
    """Return a random DAG with hidden causes: each moves some of its variables, and may move the reward.

    Parameters
    ----------
    n, n_states
        The number of observed variables and of each one's states, K. Hidden variables have K states too.
    n_hidden
        The number of hidden variables. They are roots, uniform over their states.
    n_children
        The number of observed variables that each hidden one causes. With 1 the essential graph of the
        observed variables is true; with more it is not (`CausalSystem.hidden_common_causes`).
    hidden_weight
        The share h of the reward's mean that is the hidden variables', each an equal part of it; 0: they
        don't move the reward.
    expected_degree
        The number of edges between observed variables expected at one of them, in and out together.
    n_parents
        The number of observed parents of the reward, k.
    copy_probability
        The probability with which a variable takes the state of one of its parents, each as likely, hidden
        ones among them; otherwise it takes a uniform state.
    seed
        The DAG, the names X1 to Xn, the children of the hidden variables and the reward's parents are drawn
        from it.

    Notes
    -----
    The reward's mean is the weighted average of f, from .1 to .9 in equal steps, over the states of its
    observed parents (1 − h together) and of the hidden variables (h together). Under do(A = x) it is
    .5 + (1 − h) · (f(x) − .5) · s / k, where s is the sum over the parents of the probability that copying,
    followed backwards from the parent, comes through A.

    Examples
    --------
    >>> system = hidden_dag(6, n_children=1, seed=0)
    >>> system.hidden, system.hidden_reward_parents, system.hidden_common_causes
    (('U1', 'U2'), ('U1', 'U2'), {})
    >>> sorted(hidden_dag(6, n_children=3, seed=0).hidden_common_causes)
    ['U1', 'U2']
    """
    if n < 1 or n_states < 2 or n_hidden < 1:
        found = f"n={n}, n_states={n_states}, n_hidden={n_hidden}"
        raise CausalSystemError(
            f"Expected at least 1 variable of at least 2 states and 1 hidden one but found {found}"
        )
    for name, number in (("n_children", n_children), ("n_parents", n_parents)):
        if not 1 <= number <= n:
            raise CausalSystemError(f"Expected {name} from 1 to {n} but found {number}")
    for name, value in (("copy_probability", copy_probability), ("hidden_weight", hidden_weight)):
        _check_probability(name, value)
    if not 0 <= expected_degree <= n - 1:
        raise CausalSystemError(f"Expected an expected_degree from 0 to {n - 1} but found {expected_degree}")
    rng = np.random.default_rng(seed)
    order = [int(v) for v in rng.permutation(n)]  # a topological order of the variables' numbers
    joined = rng.random((n, n)) < expected_degree / max(n - 1, 1)
    parents = {v: {u for u in order[:place] if joined[u, v]} for place, v in enumerate(order)}
    hidden = range(n, n + n_hidden)
    for cause in hidden:
        for child in rng.choice(n, n_children, replace=False):
            parents[int(child)].add(cause)
    chosen = sorted(int(v) for v in rng.choice(n, n_parents, replace=False))

    names = (*(f"X{v + 1}" for v in range(n)), *(f"{_HIDDEN}{number + 1}" for number in range(n_hidden)))
    above = tuple(tuple(sorted(parents.get(v, ()))) for v in range(n + n_hidden))
    model = DiscreteModel(
        states=dict.fromkeys(names, tuple(map(str, range(n_states)))),
        parents=above,
        tables=tuple(copy_table(n_states, len(own), copy_probability) for own in above),
    )
    weights = [(1 - hidden_weight) / n_parents] * n_parents
    if hidden_weight:
        chosen += hidden
        weights += [hidden_weight / n_hidden] * n_hidden
    steps = np.linspace(0.1, 0.9, n_states)
    means = np.sum(np.meshgrid(*(weight * steps for weight in weights), indexing="ij"), axis=0)
    reward = Reward(tuple(chosen), np.clip(means, 0, 1), None)
    return CausalSystem.from_model(model, reward, hidden=[names[v] for v in hidden])


def _line(above: list[int], position: int) -> set[int]:
    """Return a position in the tree and its ancestors."""
    line = set()
    while position >= 0:
        line.add(position)
        position = above[position]
    return line


def _check_probability(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise CausalSystemError(f"Expected {name} from 0 to 1 but found {value}: it is a probability")
