"""Random systems whose gaps are known, on trees, forests, chordal graphs and random DAGs.

`tree`, `forest`, `chordal` and `random_dag` draw a graph, on which every variable copies one of its parents
or is drawn anew (`cb_pgm.instances.copy_model` derives the means and gaps). Besides the graph's own settings
all families take

copy_probability
    With this probability a variable takes the state of one of its parents, each as likely; otherwise a
    uniform state. None: .95, or what `effect_gap` asks for.
reward_means
    The mean reward for each of the K states of the reward's parent; None: from .1 to .9 in equal steps. With
    several parents the reward's mean is the average over the parents.
noise
    The standard deviation of the Gaussian noise (1), or "bernoulli" for rewards of 0 and 1.
reward_gap
    Δ of Assumption 3: the means are scaled about their average (and shifted, where needed to stay in [0, 1])
    so that the reward gap is exactly this. The reward's parents are drawn among those for which it can be.
effect_gap
    ε of Assumption 2: the effect gap is at least this, and exactly this where no variable has two parents.
n_parents
    How many parents the reward has (1), drawn uniformly.
seed
    The source of all randomness: equal seeds give equal systems.

and raise `CausalSystemError` for settings that are out of range or can't be reached. States are "0" to "K−1".
Variables are X1 to Xn, named at random, so that their order says nothing about the graph.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, Unpack, get_args

import numpy as np

from cb_pgm.errors import CausalSystemError
from cb_pgm.instances.copy_model import CopyOptions, copying_system
from cb_pgm.model.system import CausalSystem
from discovery.wording import listed

__all__ = ["chordal", "forest", "random_dag", "tree"]

Shape = Literal["recursive", "chain", "star", "binary"]
Seed = int | np.random.Generator | None


def tree(
    n: int,
    n_states: int = 3,
    *,
    shape: Shape = "recursive",
    reward_depth: int | None = None,
    seed: Seed = None,
    **options: Unpack[CopyOptions],
) -> CausalSystem:
    """Return a system on a directed tree.

    Parameters
    ----------
    n, n_states
        The number of variables and of each one's states, K.
    shape
        "recursive": each variable's parent is any earlier one, uniformly; "chain"; "star": all others are
        children of the root; "binary": every variable has up to two children, level by level.
    reward_depth
        The number of edges between the root and the reward's parents; None: any.
    seed, options
        See the module.

    Examples
    --------
    >>> system = tree(20, n_states=2, reward_gap=0.2, effect_gap=0.4, seed=1)
    >>> round(system.reward_gap(), 12), round(system.effect_gap(), 12)
    (0.2, 0.4)
    """
    rng = _rng(n, seed)
    if shape not in get_args(Shape):
        raise CausalSystemError(
            f"Expected the shape {listed(get_args(Shape), last='or')} but found {shape!r}"
        )
    parents = [_tree_parent(position, shape, rng) for position in range(n)]
    if reward_depth is None:
        return copying_system(parents, n_states, rng, **options)
    depths = [0] * n
    for position, above in enumerate(parents):
        depths[position] = 1 + depths[above[0]] if above else 0
    candidates = [position for position in range(n) if depths[position] == reward_depth]
    if not candidates:
        raise CausalSystemError(f"Expected a reward_depth from 0 to {max(depths)} but found {reward_depth}")
    return copying_system(parents, n_states, rng, candidates=candidates, **options)


def forest(
    n: int,
    n_states: int = 3,
    *,
    n_components: int | None = None,
    seed: Seed = None,
    **options: Unpack[CopyOptions],
) -> CausalSystem:
    """Return a system whose essential graph has trees as its chain components, with arrows between them.

    Parameters
    ----------
    n, n_states
        The number of variables and of each one's states.
    n_components
        The number of chain components; None: one for every five variables.
    seed, options
        See the module.

    Notes
    -----
    Every component is a random recursive tree. Half of them are sources; the variables of any other all have
    the same two parents, drawn from those before that aren't adjacent, so each arrow is in a v-structure and
    none directs an edge within.
    """
    rng = _rng(n, seed)
    n_components = max(1, n // 5) if n_components is None else n_components
    if not 1 <= n_components <= n:
        raise CausalSystemError(f"Expected n_components from 1 to {n} but found {n_components}")
    starts = [0, *sorted(int(cut) + 1 for cut in rng.choice(n - 1, n_components - 1, replace=False)), n]
    parents: list[tuple[int, ...]] = []
    for first, last in pairwise(starts):
        shared = _not_adjacent(parents, rng) if first and rng.random() < 0.5 else ()
        parents += [
            (*shared, *((first + int(rng.integers(position)),) if position else ()))
            for position in range(last - first)
        ]
    return copying_system(parents, n_states, rng, **options)


def chordal(
    n: int, n_states: int = 3, *, max_clique: int = 4, seed: Seed = None, **options: Unpack[CopyOptions]
) -> CausalSystem:
    """Return a system on a moral DAG: its essential graph is one undirected, connected, chordal component.

    Parameters
    ----------
    n, n_states
        The number of variables and of each one's states.
    max_clique
        The largest number of variables that are all adjacent; 2 gives trees.
    seed, options
        See the module.

    Notes
    -----
    Each variable takes a random one before it and up to ``max_clique - 2`` of that one's parents, their
    number uniform, as its own. Parents are always adjacent, so there is no v-structure. Takes time linear in
    n.
    """
    rng = _rng(n, seed)
    if max_clique < 2:
        raise CausalSystemError(f"Expected a max_clique of at least 2 but found {max_clique}")
    parents: list[tuple[int, ...]] = [()]
    for position in range(1, n):
        neighbour = int(rng.integers(position))
        above = parents[neighbour]
        n_more = int(rng.integers(min(max_clique - 2, len(above)) + 1))
        parents.append((*(int(other) for other in rng.permutation(above)[:n_more]), neighbour))
    return copying_system(parents, n_states, rng, **options)


def random_dag(
    n: int,
    n_states: int = 3,
    *,
    expected_degree: float = 2.0,
    max_parents: int = 8,
    seed: Seed = None,
    **options: Unpack[CopyOptions],
) -> CausalSystem:
    """Return a system on a random DAG after Erdős and Rényi: each pair is joined with the same probability.

    Parameters
    ----------
    n, n_states
        The number of variables and of each one's states.
    expected_degree
        The number of edges expected at a variable, in and out together.
    max_parents
        A variable that would get more parents gets this many of them, at random.
    seed, options
        See the module.
    """
    rng = _rng(n, seed)
    if not 0 <= expected_degree <= max(n - 1, 0):
        raise CausalSystemError(f"Expected an expected_degree from 0 to {n - 1} but found {expected_degree}")
    joined = expected_degree / max(n - 1, 1)
    parents = []
    for position in range(n):
        n_above = min(int(rng.binomial(position, joined)), max_parents)
        parents.append(
            tuple(int(other) for other in rng.choice(position, n_above, replace=False)) if n_above else ()
        )
    return copying_system(parents, n_states, rng, **options)


def _rng(n: int, seed: Seed) -> np.random.Generator:
    if n < 1:
        raise CausalSystemError(f"Expected at least one variable but found n={n}")
    return np.random.default_rng(seed)


def _tree_parent(position: int, shape: Shape, rng: np.random.Generator) -> tuple[int, ...]:
    if position == 0:
        return ()
    if shape == "recursive":
        return (int(rng.integers(position)),)
    return ({"chain": position - 1, "star": 0, "binary": (position - 1) // 2}[shape],)


def _not_adjacent(parents: list[tuple[int, ...]], rng: np.random.Generator) -> tuple[int, ...]:
    """Draw two variables without an edge between them; none where there are too few."""
    for _ in range(20 if len(parents) > 1 else 0):
        a, b = sorted(int(position) for position in rng.choice(len(parents), 2, replace=False))
        if a not in parents[b]:
            return (a, b)
    return ()
