"""Sets of arms that policies play, and the statistics per arm that index policies share."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import PolicyError
from cb_pgm.evidence.records import Records, all_in_unit_interval, total_of
from cb_pgm.model.intervention import Intervention, States
from cb_pgm.policies.indices import highest_index

__all__ = [
    "UNIT_INTERVAL_SCALE",
    "ArmTotals",
    "checked_parents",
    "joint_arms",
    "parent_arms",
    "single_variable_arms",
]

UNIT_INTERVAL_SCALE = 0.5  # σ of rewards in [0, 1], and of no other interval


def single_variable_arms(states: States) -> tuple[Intervention, ...]:
    """Return all interventions on a single variable, in variable order, then state order.

    Examples
    --------
    >>> [str(arm) for arm in single_variable_arms({"A": ("0", "1"), "B": ("x",)})]
    ['do(A = 0)', 'do(A = 1)', 'do(B = x)']
    """
    return tuple(Intervention({variable: state}) for variable in states for state in states[variable])


def joint_arms(states: States, variables: Sequence[str]) -> tuple[Intervention, ...]:
    """Return all interventions that set every one of `variables`, the last one's states changing fastest.

    Examples
    --------
    >>> [str(arm) for arm in joint_arms({"A": ("0", "1"), "B": ("x", "y")}, ("A", "B"))][:2]
    ['do(A = 0, B = x)', 'do(A = 0, B = y)']
    """
    choices = itertools.product(*(states[variable] for variable in variables))
    return tuple(Intervention(dict(zip(variables, chosen, strict=True))) for chosen in choices)


class ArmTotals:
    """Rows and reward totals per arm, and the arm with the highest upper confidence bound.

    There are two indices. UCB's is mean + σ√(2 log t / n_a), where t counts all rounds so far (Auer,
    Cesa-Bianchi & Fischer 2002, for σ-subgaussian rewards). Anytime MOSS replaces log t by log⁺(t/(A·n_a)),
    where A is the number of arms; for rewards in [0, 1] it replaces the divergence of Gaussian
    distributions by that of Bernoulli distributions (`cb_pgm.policies.indices`). Both pull every arm once
    first, and break ties in the order of `arms`.

    Attributes
    ----------
    arms
        The interventions, in order.
    rows
        int64 [len(arms)]: the number of rows of each arm.
    totals
        float64 [len(arms)]: the sum of the rewards of each arm.
    rounds
        t: the number of rounds so far, including those under other interventions.
    in_unit_interval
        Whether all rewards so far lie in [0, 1].
    """

    __slots__ = ("_position", "arms", "in_unit_interval", "rounds", "rows", "totals")

    def __init__(self, arms: Sequence[Intervention]) -> None:
        self.arms = tuple(arms)
        self._position = {arm: position for position, arm in enumerate(self.arms)}
        self.rows: NDArray[np.int64] = np.zeros(len(self.arms), dtype=np.int64)
        self.totals: NDArray[np.float64] = np.zeros(len(self.arms))
        self.rounds = 0
        self.in_unit_interval = True

    @classmethod
    def of(cls, arms: Sequence[Intervention], records: Records, rounds: int) -> ArmTotals:
        """Return the totals of `arms` after `rounds` rounds, taken from `records`."""
        totals = cls(arms)
        for position, arm in enumerate(totals.arms):
            record = records[arm]
            totals.rows[position], totals.totals[position] = record.rows, record.total
        totals.rounds = rounds
        totals.in_unit_interval = records.in_unit_interval
        return totals

    def extended(self, arms: Sequence[Intervention]) -> ArmTotals:
        """Return the same totals with further arms, which have no rows."""
        totals, n = ArmTotals((*self.arms, *arms)), len(self.arms)
        totals.rows[:n], totals.totals[:n] = self.rows, self.totals
        totals.rounds, totals.in_unit_interval = self.rounds, self.in_unit_interval
        return totals

    def add(self, intervention: Intervention, rewards: NDArray[np.float64]) -> None:
        """Count `rewards`, float64 [m], for their arm; under any other intervention they only add to t."""
        size = len(rewards)
        self.rounds += size
        if self.in_unit_interval and size:
            self.in_unit_interval = all_in_unit_interval(rewards)
        position = self._position.get(intervention)
        if position is not None:
            self.rows[position] += size
            self.totals[position] += total_of(rewards)

    def position(self, intervention: Intervention) -> int | None:
        """Return the position of an arm; None for any other intervention."""
        return self._position.get(intervention)

    def highest_bound(self, noise_scale: float) -> int:
        """Return the position of the highest UCB index."""
        return self._highest(False, False, noise_scale)

    def highest_moss(self, noise_scale: float) -> int:
        """Return the position of the highest anytime MOSS index."""
        return self._highest(True, self.in_unit_interval and noise_scale == UNIT_INTERVAL_SCALE, noise_scale)

    def _highest(self, of_moss: bool, bernoulli: bool, noise_scale: float) -> int:
        scale = float(noise_scale)
        return int(highest_index(of_moss, bernoulli, 0.0, scale, self.rows, self.totals, self.rounds))

    @contextmanager
    def counting(self, under_way: Mapping[Intervention, int]) -> Iterator[None]:
        """Count pending rows as if each had the mean reward of its arm so far, within the ``with`` block.

        An arm without rows is given the mean of all rows.
        """
        before = self.rows, self.totals, self.rounds
        overall = self.totals.sum() / max(self.rows.sum(), 1)
        self.rows, self.totals = self.rows.copy(), self.totals.copy()
        for intervention, size in under_way.items():
            self.rounds += size
            position = self._position.get(intervention)
            if position is not None:
                rows = self.rows[position]
                mean = self.totals[position] / rows if rows else overall
                self.rows[position] += size
                self.totals[position] += size * mean
        try:
            yield
        finally:
            self.rows, self.totals, self.rounds = before

    def describe(self, intervention: Intervention, mean_text: Callable[[float], str]) -> str:
        """Describe the rows of an arm: "mean 0.62 in 40 rows", by `mean_text`; or "not pulled yet"."""
        position = self._position.get(intervention)
        if position is None or not self.rows[position]:
            return "not pulled yet"
        rows = int(self.rows[position])
        mean = mean_text(float(self.totals[position]) / rows)
        return f"mean {mean} in {rows:,} row{'s' if rows > 1 else ''}"

    def __iter__(self) -> Iterator[tuple[Intervention, int, float]]:
        """Yield (arm, rows, mean reward) of every arm pulled so far."""
        for position in np.flatnonzero(self.rows):
            rows = int(self.rows[position])
            yield self.arms[position], rows, float(self.totals[position]) / rows


def parent_arms(
    states: States, settable: States, parents: Sequence[str]
) -> tuple[tuple[Intervention, ...], str | None]:
    """Return arms among which the best one is if `parents` are the reward's, and why they are all arms.

    These are the parents' joint states. Where a state of a parent can't be set, another variable may be the
    only way to reach it, so all single-variable arms are returned with the reason. Otherwise the reason is
    None. do() isn't among them, which can be better where something hidden causes a parent and the reward.

    Examples
    --------
    >>> states = {"A": ("0", "1"), "B": ("0", "1")}
    >>> [str(arm) for arm in parent_arms(states, states, ["B"])[0]]
    ['do(B = 0)', 'do(B = 1)']
    >>> parent_arms(states, {"A": ("0", "1")}, ["B"])[1]
    'the reward depends on B, and B = 0 can not be set, so all arms are played'
    """
    for parent in parents:
        for state in states[parent]:
            if state not in settable.get(parent, ()):
                reason = f"the reward depends on {parent}, and {parent} = {state} can not be set"
                return single_variable_arms(settable), f"{reason}, so all arms are played"
    return joint_arms(settable, parents), None


def checked_parents(states: States, parents: Collection[str]) -> tuple[str, ...]:
    """Return `parents` in variable order.

    Raises
    ------
    PolicyError
        If `parents` is empty or contains an unknown variable.
    """
    unknown = [name for name in parents if name not in states]
    if unknown or not parents:
        found = f"unknown {unknown[0]!r}" if unknown else "none"
        raise PolicyError(f"Expected the reward's parents among the variables but found {found}")
    return tuple(name for name in states if name in parents)
