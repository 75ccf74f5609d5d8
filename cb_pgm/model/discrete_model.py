"""A causal model as plain arrays.

pgmpy's networks are translated into it, and instances are built from it directly. Variables are numbered in a
fixed order. Each has a table P(variable | parents), whose axes are its parents, in the order of
``parents[v]``, and last the variable itself. The reward is one more factor: a mean for each joint state of
its parents.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalSystemError
from discovery.wording import listed

__all__ = ["ROUNDING", "DiscreteModel", "Reward"]

# Published networks round their tables: rows whose sum is this close to 1 are rescaled, others are refused.
# It is .001 and a hair, since .999 differs from 1 by a little more than that in binary.
ROUNDING = 1e-3 + 1e-9


@dataclass(frozen=True, eq=False)
class DiscreteModel:
    """Variables, their states, their parents and a table for each.

    Attributes
    ----------
    states
        Every variable's states, in variable order.
    parents
        For each variable the numbers of its parents.
    tables
        For each variable float64 [states of parents[v][0], ..., states of v]; the last axis sums to 1.

    Raises
    ------
    CausalSystemError
        If a table has the wrong shape, an entry is negative or not finite, a row doesn't sum to 1 (rounding
        below .001 is scaled away), or the parents form a cycle.
    """

    states: dict[str, tuple[str, ...]]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[NDArray[np.float64], ...]

    def __post_init__(self) -> None:
        scaled: dict[int, NDArray[np.float64]] = {}  # instances share one table between many variables
        for v, table in enumerate(self.tables):
            self._check_shape(v, table)
            if id(table) not in scaled:
                scaled[id(table)] = self._scaled(v, table)
        object.__setattr__(self, "tables", tuple(scaled[id(table)] for table in self.tables))
        if len(self.order) < len(self.variables):
            stuck = sorted(set(range(len(self.variables))) - set(self.order))
            names = listed([self.variables[v] for v in stuck], most=5)
            raise CausalSystemError(f"Expected an acyclic graph but found a cycle among or above {names}")

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables' names, in order."""
        return tuple(self.states)

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """How many states each variable has."""
        return tuple(len(values) for values in self.states.values())

    @cached_property
    def index(self) -> dict[str, int]:
        """Each variable's number."""
        return {variable: v for v, variable in enumerate(self.states)}

    @cached_property
    def codes(self) -> tuple[dict[str, int], ...]:
        """For each variable the number of each of its states."""
        return tuple({state: code for code, state in enumerate(values)} for values in self.states.values())

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For each variable the numbers of its children, increasing."""
        children: list[list[int]] = [[] for _ in self.parents]
        for child, parents in enumerate(self.parents):
            for parent in parents:
                children[parent].append(child)
        return tuple(tuple(numbers) for numbers in children)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """A topological order; among variables that are ready the lowest number first."""
        waiting = [len(parents) for parents in self.parents]
        ready = [v for v, count in enumerate(waiting) if count == 0]
        order = []
        while ready:
            v = heapq.heappop(ready)
            order.append(v)
            for child in self.children[v]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    heapq.heappush(ready, child)
        return tuple(order)

    @cached_property
    def rank(self) -> tuple[int, ...]:
        """Each variable's place in `order`."""
        rank = [0] * len(self.order)
        for place, v in enumerate(self.order):
            rank[v] = place
        return tuple(rank)

    @cached_property
    def ancestry(self) -> tuple[int, ...]:
        """For each variable a bit mask of its ancestors, itself included."""
        masks = [0] * len(self.parents)
        for v in self.order:
            mask = 1 << v
            for parent in self.parents[v]:
                mask |= masks[parent]
            masks[v] = mask
        return tuple(masks)

    def _check_shape(self, v: int, table: NDArray[np.float64]) -> None:
        expected = (*(self.cards[parent] for parent in self.parents[v]), self.cards[v])
        if table.shape != expected or self.cards[v] == 0:
            raise CausalSystemError(
                f"Expected a table of shape {expected} (parents first) for {self.variables[v]!r} "
                f"but found {table.shape}"
            )

    def _scaled(self, v: int, table: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = table.sum(axis=-1, keepdims=True)
        worst = float(np.abs(sums - 1).max())
        if not worst <= ROUNDING or float(table.min()) < 0:
            found = f"a negative entry {table.min():g}" if table.min() < 0 else f"a sum off by {worst:g}"
            raise CausalSystemError(
                f"Expected probabilities that sum to 1 in every row of the table of {self.variables[v]!r} "
                f"but found {found}: correct the table"
            )
        scaled: NDArray[np.float64] = table / sums
        return scaled


@dataclass(frozen=True, eq=False)
class Reward:
    """The reward's mean given its parents' states, and its noise.

    Attributes
    ----------
    parents
        The numbers of the reward's parents, increasing.
    means
        float64 [states of parents[0], ...], in the reward's unit.
    noise
        The standard deviation of Gaussian noise, in the reward's unit; None for a Bernoulli reward, which is
        1 with probability `means` and otherwise 0.
    """

    parents: tuple[int, ...]
    means: NDArray[np.float64]
    noise: float | None

    def __post_init__(self) -> None:
        if not np.isfinite(self.means).all():
            raise CausalSystemError("Expected finite reward means but found one that is not")
        if self.noise is None and not (self.means.min() >= 0 and self.means.max() <= 1):
            raise CausalSystemError(
                f"Expected means in [0, 1] for a Bernoulli reward but found {self.means.min():g} to "
                f"{self.means.max():g}: rescale them or give a Gaussian noise"
            )
        if self.noise is not None and not (math.isfinite(self.noise) and self.noise >= 0):
            raise CausalSystemError(f"Expected a noise of at least 0 or 'bernoulli' but found {self.noise}")

    @property
    def noise_scale(self) -> float:
        """σ for which the reward is σ-subgaussian about its mean under every intervention."""
        if self.noise is None:
            return 0.5
        return math.hypot(self.noise, float(self.means.max() - self.means.min()) / 2)

    @property
    def conditional_noise_scale(self) -> float:
        """σ for which the reward is σ-subgaussian about its mean given its parents' states."""
        return 0.5 if self.noise is None else self.noise
