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
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cb_pgm.errors import PolicyError
from cb_pgm.evidence.records import Records
from cb_pgm.model.intervention import Intervention, Observations, Pull, States
from cb_pgm.policies.arms import UNIT_INTERVAL_SCALE, ArmTotals, joint_arms
from cb_pgm.policies.base import Policy
from cb_pgm.policies.context import PolicyContext

__all__ = ["UCBPlus", "UnknownKUCBPlus"]

_FIRST_HORIZON = 1024  # taken for the number of rounds while it is unknown
_SET_SIZE = 3  # m in the experiments of UCB+'s authors
_EXPLORATION = 0.4  # their code has .1/C(n, m) for rewards in [0, 1], whose σ² is ¼
_MOST_LISTED = 20_000  # interventions that are listed and shuffled; of more, random ones are drawn
_MOST_ARMS = 1_000_000


class _RandomSets(Policy):
    """Base class: UCB over random interventions on m variables each, of which none is drawn twice, and do().

    `_made` holds all interventions drawn so far, by the rows in which they were made. A subclass draws them
    in `_start_horizon`, which is called again with a longer `_horizon` when the horizon is unknown and the
    one in use is reached.
    """

    _horizon_growth = 2

    def __init__(
        self,
        states: States,
        *,
        set_size: int | None = None,
        horizon: int | None = None,
        noise_scale: float = 0.5,
        settable: States | None = None,
    ) -> None:
        super().__init__(states, noise_scale=noise_scale, settable=settable)
        for name, value in (("set_size", set_size), ("horizon", horizon)):
            if value is not None and value < 1:
                raise PolicyError(f"Expected a {name} of at least 1 but found {value}")
        if not self.settable:
            raise PolicyError(f"Expected a variable that can be set for {self.name} but found none")
        self.set_size = min(_SET_SIZE if set_size is None else set_size, len(self.settable))
        self.horizon = horizon
        self._cards = [len(values) for values in self.settable.values()]
        self._n_all = _sets_of_states(self._cards, self.set_size)

    def begin(self, rng: np.random.Generator) -> None:
        self._draw = rng
        self._order = self._random_order(rng)
        self._made = ArmTotals(self._with_do(()))
        self._records = Records(self.states)  # of interventions that weren't drawn, too
        self._horizon = self.horizon or _FIRST_HORIZON
        self._start_horizon()

    @abstractmethod
    def _start_horizon(self) -> None:
        """Draw interventions for `_horizon` rounds in all."""

    @abstractmethod
    def _credit(self, intervention: Intervention, observations: Observations) -> None:
        """Count the rows for the arms that they are rows of, besides `_made`."""

    def _random_order(self, rng: np.random.Generator) -> Iterator[Intervention]:
        """Yield all interventions that set m variables in random order."""
        if self._n_all <= _MOST_LISTED:
            sets = itertools.combinations(self.settable, self.set_size)
            arms = [arm for names in sets for arm in joint_arms(self.settable, names)]
            yield from (arms[place] for place in rng.permutation(len(arms)))
            return
        names, cards = tuple(self.settable), self._cards
        most = math.prod(sorted(cards)[-self.set_size :])
        drawn: set[Intervention] = set()
        while len(drawn) < self._n_all:
            chosen = np.sort(rng.choice(len(names), self.set_size, replace=False))
            # A set of variables is as likely as it has joint states, so all interventions are equally likely.
            if rng.random() * most > math.prod(cards[v] for v in chosen):
                continue
            arm = Intervention({names[v]: self.settable[names[v]][rng.integers(cards[v])] for v in chosen})
            if arm not in drawn:
                drawn.add(arm)
                yield arm

    def learn(self, intervention: Intervention, observations: Observations) -> None:
        self._made.add(intervention, observations.rewards)
        self._records.add(intervention, observations)
        self._credit(intervention, observations)
        while self.horizon is None and self._made.rounds >= self._horizon:
            self._horizon *= self._horizon_growth
            self._start_horizon()

    @property
    def sets_several(self) -> bool:
        return True

    def means(self) -> Iterable[tuple[Intervention, int, float]]:
        return ((arm, record.rows, record.mean) for arm, record in self._records if record.rows)

    def _bounds(
        self, rows: NDArray[np.int64], totals: NDArray[np.float64], log_rounds: float
    ) -> NDArray[np.float64]:
        """Return mean + σ√(.4·log_rounds/(C(n, m)·rows)) of each arm."""
        weight = _EXPLORATION / math.comb(len(self.settable), self.set_size)
        rows = np.maximum(rows, 1)
        return totals / rows + self.noise_scale * np.sqrt(weight * log_rounds / rows)


class UCBPlus(_RandomSets):
    """Play UCB on random interventions on m variables, enough of them for k parents, and share every row.

    The number of interventions is min{all, ⌈vᵏ·C(n, k)/C(m, k)·ln √T⌉}, or all of them if k > m. Each row
    counts for every intervention all of whose states it shows, set or seen. do() is one more arm, by the rows
    in which nothing was set. The index is mean + σ√(.4·ln T/(C(n, m)·rows)), with the constant of the
    authors' code, which is far below UCB's 2.

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
        if (size := self._n_arms(self.horizon or _FIRST_HORIZON)) > _MOST_ARMS:
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
        chance = math.comb(m, k) / (math.comb(n, k) * float(max(self._cards)) ** k)
        return min(self._n_all, max(1, math.ceil(math.log(max(horizon, 2)) / 2 / chance)))

    def begin(self, rng: np.random.Generator) -> None:
        self._shown = ArmTotals(self._with_do(()))  # by the rows that show an intervention's states
        super().begin(rng)

    def _start_horizon(self) -> None:
        missing = min(self._n_arms(self._horizon), _MOST_ARMS) + self.plays_do - len(self._shown.arms)
        more = tuple(itertools.islice(self._order, max(missing, 0)))
        self._made, self._shown = self._made.extended(more), self._shown.extended(more)
        arms, column = self._shown.arms, {name: place for place, name in enumerate(self.states)}
        self._pulls = [Pull(arm) for arm in arms]
        # do() has a code that no row shows.
        self._columns = np.zeros((len(arms), self.set_size), dtype=np.int64)
        self._codes = np.full((len(arms), self.set_size), -1, dtype=np.int16)
        for place, arm in enumerate(arms):
            for at, (name, state) in enumerate(arm.items()):
                self._columns[place, at] = column[name]
                self._codes[place, at] = self.states[name].index(state)

    def next_pull(self) -> Pull:
        rows = self._shown.rows
        if not rows.all():
            return self._pulls[int(np.argmin(rows > 0))]
        bounds = self._bounds(rows, self._shown.totals, math.log(max(self._horizon, 2)))
        return self._pulls[int(np.argmax(bounds))]

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull:
        with self._shown.counting(under_way):
            return self.next_pull()

    def why(self, pull: Pull) -> str:
        seen = self._shown.describe(pull.intervention, self.mean_text)
        return f"the highest upper confidence bound of the random interventions: {seen} that show its states"

    def _credit(self, intervention: Intervention, observations: Observations) -> None:
        shown = self._shown
        if intervention:
            shown.rounds += len(observations)
        else:
            shown.add(intervention, observations.rewards)
        _credit_rows(
            observations.codes, observations.rewards, self._columns, self._codes, shown.rows, shown.totals
        )


class UnknownKUCBPlus(_RandomSets):
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

    def _start_horizon(self) -> None:
        ratio = math.ceil(max(self._cards) * len(self.settable) / self.set_size)
        self._halvings = math.ceil(math.log2(max(self._horizon, 2)) / 2)
        n_phases = max(1, math.ceil(math.log2(max(self._horizon / ratio, 2)) / 2))
        # The numbers of rounds after which a phase ends; the last one doesn't.
        self._phase_rounds = [2 ** (self._halvings + i) * ratio for i in range(1, n_phases)]
        self._repeats: list[_Repeat] = []
        self._repeated: int | None = None  # the earlier phase of which a pull is being repeated
        first = 2**self._halvings
        self._enter(self._best(first // 2), first)

    def _enter(self, kept: Sequence[int], size: int) -> None:
        """Begin a phase with do(), the interventions `kept` and random ones up to `size`."""
        drawn = len(self._made.arms)
        self._made = self._made.extended(tuple(itertools.islice(self._order, max(0, size - len(kept)))))
        numbers = range(drawn, len(self._made.arms))
        self._open = np.array([*([0] if self.plays_do else []), *kept, *numbers], dtype=np.int64)
        self._played = np.zeros(len(self._made.arms), dtype=np.int64)

    def _best(self, size: int) -> list[int]:
        """Return the numbers of the tried interventions with the highest means, at most `size`; not do()."""
        rows, totals, start = self._made.rows, self._made.totals, int(self.plays_do)
        tried = start + np.flatnonzero(rows[start:])
        order = np.argsort(-totals[tried] / rows[tried], kind="stable")
        return [int(number) for number in tried[order[:size]]]

    def next_pull(self) -> Pull:
        made, repeats = self._made, self._repeats
        rows = np.append(made.rows[self._open], [one.rows for one in repeats]).astype(np.int64)
        totals = np.append(made.totals[self._open], [one.total for one in repeats])
        bounds = self._bounds(rows, totals, max(1.0, math.log(max(made.rounds, 1))))
        # As in the authors' code the highest possible mean, not infinity, stands for an arm without rows.
        bounds[rows == 0] = 1.0 if self.noise_scale == UNIT_INTERVAL_SCALE else np.inf
        highest = int(np.argmax(bounds))
        self._repeated = None
        if highest < len(self._open):
            return Pull(made.arms[self._open[highest]])
        self._repeated = highest - len(self._open)
        shares = np.cumsum(repeats[self._repeated].played)
        return Pull(made.arms[int(np.searchsorted(shares, self._draw.integers(shares[-1]), side="right"))])

    def why(self, pull: Pull) -> str:
        if self._repeated is not None:
            return f"a repeated pull of phase {self._repeated + 1}, which has the highest upper bound"
        return f"the highest upper confidence bound of the {len(self._open)} arms of this phase"

    def _credit(self, intervention: Intervention, observations: Observations) -> None:
        number = self._made.position(intervention)
        if number is None:
            return
        self._played[number] += len(observations)
        if self._repeated is not None:
            self._repeats[self._repeated].rows += len(observations)
            self._repeats[self._repeated].total += float(observations.rewards.sum())
            self._repeated = None
        phase = len(self._repeats)
        if phase < len(self._phase_rounds) and self._played.sum() >= self._phase_rounds[phase]:
            self._repeats.append(_Repeat(self._played))
            size = 2 ** (self._halvings - phase - 1)
            self._enter(self._best(size), size)


@dataclass
class _Repeat:
    """The arm that repeats a random pull of a phase, and how often each intervention was played in it."""

    played: NDArray[np.int64]
    rows: int = 0
    total: float = 0.0


def _sets_of_states(cards: Sequence[int], size: int) -> int:
    """Return how many joint states all sets of `size` variables have, by elementary symmetric polynomials."""
    counts = [1, *([0] * size)]
    for card in cards:
        for place in range(size, 0, -1):
            counts[place] += counts[place - 1] * card
    return counts[size]


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
