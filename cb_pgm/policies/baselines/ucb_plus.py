"""UCB+: UCB over random interventions that set m variables at once, without a graph or the reward's parents.

Source: Shahverdikondori, Etesami & Kiyavash, "Graph learning is suboptimal in causal bandits" (AISTATS 2026),
and the authors' code for it, which has the constants of their experiments. If the reward has k ≤ m parents of
v states each, a random intervention sets all of them to their best states with probability
C(m, k)/(C(n, k)·vᵏ), so a moderate number of random interventions has such a one among them with high
probability. UCB+ with unknown k starts with about √T random interventions and halves them from phase to
phase, and each earlier phase stays in the game as one more arm, which repeats a random pull of that phase.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cb_pgm.errors import PolicyError
from cb_pgm.evidence.records import total_of
from cb_pgm.model.intervention import Intervention, Observations, Pull, States
from cb_pgm.policies.arms import UNIT_INTERVAL_SCALE, ArmTotals
from cb_pgm.policies.baselines.random_sets import FIRST_HORIZON, RandomSets
from cb_pgm.policies.context import PolicyContext

__all__ = ["UCBPlus", "UnknownKUCBPlus"]

_MOST_ARMS = 1_000_000


class UCBPlus(RandomSets):
    """Play UCB on random interventions on m variables, enough of them for k parents, and share every row.

    The number of interventions is min{all, ⌈vᵏ·C(n, k)/C(m, k)·ln √T⌉}, or all of them if k > m. Each row
    counts for every intervention all of whose states it shows, set or seen. do() is one more arm, by the rows
    in which nothing was set. The index is
    mean + σ√(.4·ln T/(C(n, m)·rows)), with the constant of the authors' code, which is far below UCB's 2.

    Parameters
    ----------
    states, noise_scale, settable
        As in `Policy`; n and v are the number of settable variables and the largest number of their states.
    n_parents
        k, the number of the reward's parents.
    set_size
        m, the number of variables that every intervention sets; None: 3. At most all that can be set.
    horizon
        T, the number of rounds; None: unknown. T is then 1,024 at first, and whenever it is reached it is
        doubled, which adds interventions.

    Raises
    ------
    PolicyError
        If a number is less than 1, no variable can be set, or there are more than a million interventions.

    Notes
    -----
    O(interventions · m) a round.
    """

    name = "ucb-plus"

    def __init__(self, states: States, *, n_parents: int = 1, **settings: Any) -> None:
        super().__init__(states, **settings)
        if n_parents < 1:
            raise PolicyError(f"Expected n_parents of at least 1 but found {n_parents}")
        self.n_parents = min(n_parents, len(self.settable))
        if (size := self._n_arms(self.horizon or FIRST_HORIZON)) > _MOST_ARMS:
            raise PolicyError(
                f"Expected at most {_MOST_ARMS:,} interventions for {self.name} but found {size:,}: give a "
                f"smaller set_size or fewer parents"
            )

    @classmethod
    def from_context(cls, context: PolicyContext, **settings: Any) -> Self:
        return super().from_context(context, **({"n_parents": context.max_parents} | settings))

    def _n_arms(self, horizon: int) -> int:
        n, m, k = len(self.settable), self.set_size, self.n_parents
        if k > m:
            return self._n_all
        most_states = max(map(len, self.settable.values()))
        chance = math.comb(m, k) / (math.comb(n, k) * float(most_states) ** k)
        return min(self._n_all, max(1, math.ceil(math.log(max(horizon, 2)) / 2 / chance)))

    def _begin(self, rng: np.random.Generator) -> None:
        self._arms = ArmTotals(self._with_do(()))
        super()._begin(rng)

    def _start_horizon(self) -> None:
        before = self._arms
        missing = min(self._n_arms(self._horizon), _MOST_ARMS) + self.plays_do - len(before.arms)
        arms = (*before.arms, *itertools.islice(self._order, max(missing, 0)))
        self._arms = ArmTotals(arms)
        self._arms.rows[: len(before.arms)] = before.rows
        self._arms.totals[: len(before.arms)] = before.totals
        self._arms.rounds = before.rounds
        self._pulls = [Pull(arm) for arm in arms]
        variables = {name: place for place, name in enumerate(self.states)}
        # do() has a code that no row shows.
        self._columns = np.zeros((len(arms), self.set_size), dtype=np.int64)
        self._codes = np.full((len(arms), self.set_size), -1, dtype=np.int16)
        for place, arm in enumerate(arms):
            if arm:
                self._columns[place] = [variables[name] for name in arm]
                self._codes[place] = [self.states[name].index(state) for name, state in arm.items()]

    def _next_pull(self) -> Pull:
        rows, totals = self._arms.rows, self._arms.totals
        if not rows.all():
            return self._pulls[int(np.argmin(rows > 0))]
        return self._pulls[int(np.argmax(totals / rows + self._width(rows, math.log(max(self._horizon, 2)))))]

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull:
        with self._arms.counting(under_way):
            return self._next_pull()

    def why(self, pull: Pull) -> str:
        seen = self._arms.describe(pull.intervention, self.mean_text)
        return f"the highest upper confidence bound of the random interventions: {seen} that show its states"

    def _credit(self, intervention: Intervention, observations: Observations) -> None:
        arms = self._arms
        if not intervention and self.plays_do:
            arms.add(intervention, observations.rewards)
        else:
            arms.rounds += len(observations)
        _credit_rows(
            observations.codes, observations.rewards, self._columns, self._codes, arms.rows, arms.totals
        )


class UnknownKUCBPlus(RandomSets):
    """Play UCB in phases, in each on fewer random interventions, the best so far, and on repeats of phases.

    With r = ⌈log₂ √T⌉, phase i has 2^(r+i)·⌈vn/m⌉ rounds, the 2^(r−i+1) tried interventions of the highest
    means, and one arm for each earlier phase, which repeats a random pull of that phase. The last of
    ⌈log₂ √(Tm/(vn))⌉ phases lasts to the end. The index is mean + σ√(.4·ln t/(C(n, m)·rows)) after t rounds.
    Rows aren't shared. do() is one more arm, in every phase.

    Parameters
    ----------
    states, noise_scale, settable, set_size
        As in `UCBPlus`.
    horizon
        T, the number of rounds; None: unknown. T is then 1,024 at first, and whenever it is reached it grows
        fourfold and the phases begin again, half of their interventions being the best so far.

    Raises
    ------
    PolicyError
        If a number is less than 1 or no variable can be set.
    """

    name = "ucb-plus-unknown-k"
    _horizon_growth = 4

    def _begin(self, rng: np.random.Generator) -> None:
        self._tried = {Intervention(): 0}  # every intervention drawn, by its number
        self._rows: NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        self._totals: NDArray[np.float64] = np.zeros(1)
        super()._begin(rng)

    def _start_horizon(self) -> None:
        n, m = len(self.settable), self.set_size
        ratio = math.ceil(max(map(len, self.settable.values())) * n / m)
        self._halvings = math.ceil(math.log2(max(self._horizon, 2)) / 2)
        self._n_phases = max(1, math.ceil(math.log2(max(self._horizon / ratio, 2)) / 2))
        self._phase_rounds = [2 ** (self._halvings + i) * ratio for i in range(1, self._n_phases + 1)]
        self._repeats: list[_Repeat] = []
        self._repeated: int | None = None  # the earlier phase of which a pull is being repeated
        first = 2**self._halvings
        self._enter(1, self._best(first // 2), first)

    def _enter(self, phase: int, kept: Sequence[int], size: int) -> None:
        """Begin a phase with do(), the interventions `kept` and random ones up to `size`."""
        fresh = list(itertools.islice(self._order, max(0, size - len(kept))))
        numbers = range(len(self._tried), len(self._tried) + len(fresh))
        self._tried |= dict(zip(fresh, numbers, strict=True))
        self._interventions = tuple(self._tried)
        grown = np.zeros(len(fresh), dtype=np.int64)
        self._rows, self._totals = np.append(self._rows, grown), np.append(self._totals, grown.astype(float))
        self._open = np.array([*([0] if self.plays_do else []), *kept, *numbers], dtype=np.int64)
        self._phase, self._played = phase, np.zeros(len(self._rows), dtype=np.int64)

    def _best(self, size: int) -> list[int]:
        """Return the numbers of the tried interventions with the highest means, at most `size`; not do()."""
        tried = 1 + np.flatnonzero(self._rows[1:])
        order = np.argsort(-self._totals[tried] / self._rows[tried], kind="stable")
        return [int(number) for number in tried[order[:size]]]

    def _next_pull(self) -> Pull:
        rows = np.append(
            self._rows[self._open], np.array([one.rows for one in self._repeats], dtype=np.int64)
        )
        totals = np.append(self._totals[self._open], [one.total for one in self._repeats])
        bounds = totals / np.maximum(rows, 1) + self._width(rows, max(1.0, math.log(max(self._rounds, 1))))
        # As in the authors' code the highest possible mean, not infinity, stands for an arm without rows.
        bounds[rows == 0] = 1.0 if self.noise_scale == UNIT_INTERVAL_SCALE else np.inf
        highest = int(np.argmax(bounds))
        self._repeated = None
        if highest < len(self._open):
            return Pull(self._interventions[self._open[highest]])
        self._repeated = highest - len(self._open)
        shares = np.cumsum(self._repeats[self._repeated].played)
        number = int(np.searchsorted(shares, self._draw.integers(shares[-1]), side="right"))
        return Pull(self._interventions[number])

    def why(self, pull: Pull) -> str:
        if self._repeated is not None:
            return f"a repeated pull of phase {self._repeated + 1}, which has the highest upper bound"
        return f"the highest upper confidence bound of the {len(self._open)} arms of this phase"

    def _credit(self, intervention: Intervention, observations: Observations) -> None:
        number = self._tried.get(intervention)
        if number is None:
            return
        size, total = len(observations), total_of(observations.rewards)
        self._rows[number] += size
        self._totals[number] += total
        self._played[number] += size
        if self._repeated is not None:
            self._repeats[self._repeated].add(size, total)
            self._repeated = None
        if self._phase < self._n_phases and self._played.sum() >= self._phase_rounds[self._phase - 1]:
            self._repeats.append(_Repeat(self._played))
            size = 2 ** (self._halvings - self._phase)
            self._enter(self._phase + 1, self._best(size), size)


class _Repeat:
    """The arm that repeats a random pull of a phase: how often each intervention was played in it."""

    def __init__(self, played: NDArray[np.int64]) -> None:
        self.played = played
        self.rows, self.total = 0, 0.0

    def add(self, rows: int, total: float) -> None:
        self.rows += rows
        self.total += total


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba carries no types
def _credit_rows(
    codes: NDArray[np.int16],
    rewards: NDArray[np.float64],
    columns: NDArray[np.int64],
    states: NDArray[np.int16],
    rows: NDArray[np.int64],
    totals: NDArray[np.float64],
) -> None:
    """Add each row of `codes` [rows, n] to the arms whose `states` [arms, m] it shows in their `columns`."""
    for row in range(len(codes)):
        for arm in range(len(columns)):
            shown = True
            for place in range(columns.shape[1]):
                if codes[row, columns[arm, place]] != states[arm, place]:
                    shown = False
                    break
            if shown:
                rows[arm] += 1
                totals[arm] += rewards[row]
