"""The causal graph over the variables that are observed, where a model also has hidden ones.

A hidden variable is a step on the way: an observed variable counts as a parent of another, or of the reward,
if an edge or a path through hidden variables alone leads to it (the directed part of the latent projection
[1]_). A hidden variable that leads to two observed variables so is a common cause of them. Without one the
observed variables' distribution factorises by this graph, under every intervention on observed variables.

References
----------
.. [1] T. Verma, J. Pearl, "Equivalence and synthesis of causal models", UAI 1990.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from cb_pgm.model.discrete_model import DiscreteModel, Reward

__all__ = ["ObservedGraph", "observed_graph"]


@dataclass(frozen=True)
class ObservedGraph:
    """The observed variables' causal graph, by the variables' numbers in the model.

    Attributes
    ----------
    parents
        For each observed variable, in variable order, the numbers of its observed parents.
    reward_parents
        The numbers of the reward's observed parents, increasing.
    common_causes
        For each hidden variable that is a common cause of two or more observed variables the numbers of these
        variables, increasing.
    confounders
        The hidden variables that are a common cause of two or more of the observed variables and the reward,
        increasing.
    """

    parents: dict[int, tuple[int, ...]]
    reward_parents: tuple[int, ...]
    common_causes: dict[int, tuple[int, ...]]
    confounders: tuple[int, ...]

    @property
    def edges(self) -> list[tuple[int, int]]:
        """Every edge as (parent, child), by child."""
        return [(parent, child) for child, above in self.parents.items() for parent in above]


def observed_graph(model: DiscreteModel, reward: Reward, hidden: Collection[int]) -> ObservedGraph:
    """Return the causal graph over the variables outside `hidden`; without hidden ones the model's own."""
    above: dict[int, tuple[int, ...]] = {}  # for each variable its observed parents

    def seen_through(parents: tuple[int, ...]) -> tuple[int, ...]:
        found: dict[int, None] = {}
        for parent in parents:
            found.update(dict.fromkeys(above[parent] if parent in hidden else (parent,)))
        return tuple(found)

    for v in model.order:
        above[v] = seen_through(model.parents[v])
    below: dict[int, set[int]] = {}  # for each hidden variable the observed ones that it leads to
    for v in reversed(model.order):
        if v in hidden:
            below[v] = set()
            for child in model.children[v]:
                below[v] |= below[child] if child in hidden else {child}
    moves_reward: set[int] = set()  # the hidden variables that lead to the reward through hidden ones alone
    for v in reversed(model.order):
        if v in hidden and (v in reward.parents or moves_reward.intersection(model.children[v])):
            moves_reward.add(v)
    return ObservedGraph(
        parents={v: above[v] for v in range(len(model.parents)) if v not in hidden},
        reward_parents=tuple(sorted(seen_through(reward.parents))),
        common_causes={v: tuple(sorted(below[v])) for v in sorted(below) if len(below[v]) > 1},
        confounders=tuple(v for v in sorted(below) if len(below[v]) + (v in moves_reward) > 1),
    )
