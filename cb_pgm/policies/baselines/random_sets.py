"""Base class of policies that play random interventions on several variables at once (UCB+)."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import PolicyError
from cb_pgm.evidence.records import Records
from cb_pgm.model.intervention import Intervention, Observations, States
from cb_pgm.policies.arms import joint_arms
from cb_pgm.policies.base import Policy

__all__ = ["FIRST_HORIZON", "RandomSets"]

FIRST_HORIZON = 1024  # taken for the number of rounds while it is unknown
_SET_SIZE = 3  # m in the experiments of UCB+'s authors
_EXPLORATION = 0.4  # their code has .1/C(n, m) for rewards in [0, 1], whose σ² is ¼
_MOST_LISTED = 20_000  # interventions that are listed and shuffled; of more, random ones are drawn


class RandomSets(Policy):
    """Base class: UCB over random interventions on m variables each, of which none is drawn twice.

    It keeps the rows in which each intervention was made, for `means`. A subclass chooses arms from `_order`
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
        self._n_all = _sets_of_states([len(values) for values in self.settable.values()], self.set_size)
        self._weight = _EXPLORATION / math.comb(len(self.settable), self.set_size)

    def _begin(self, rng: np.random.Generator) -> None:
        self._draw = rng
        self._order = self._random_order(rng)
        self._records = Records(self.states)
        self._rounds = 0
        self._horizon = self.horizon or FIRST_HORIZON
        self._start_horizon()

    @abstractmethod
    def _start_horizon(self) -> None:
        """Prepare for `_horizon` rounds in all."""

    @abstractmethod
    def _credit(self, intervention: Intervention, observations: Observations) -> None:
        """Count the rows for the arms that they are rows of."""

    def _random_order(self, rng: np.random.Generator) -> Iterator[Intervention]:
        """Yield all interventions that set m variables in random order."""
        if self._n_all <= _MOST_LISTED:
            sets = itertools.combinations(self.settable, self.set_size)
            arms = [arm for names in sets for arm in joint_arms(self.settable, names)]
            yield from (arms[place] for place in rng.permutation(len(arms)))
            return
        names = tuple(self.settable)
        cards = [len(self.settable[name]) for name in names]
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

    def _learn(self, intervention: Intervention, observations: Observations) -> None:
        self._rounds += len(observations)
        self._records.add(intervention, observations)
        self._credit(intervention, observations)
        while self.horizon is None and self._rounds >= self._horizon:
            self._horizon *= self._horizon_growth
            self._start_horizon()

    @property
    def sets_several(self) -> bool:
        return True

    def means(self) -> Iterable[tuple[Intervention, int, float]]:
        for intervention, record in self._records:
            if record.rows:
                yield intervention, record.rows, record.mean

    def _width(self, rows: NDArray[np.int64], log_rounds: float) -> NDArray[np.float64]:
        width: NDArray[np.float64] = self.noise_scale * np.sqrt(
            self._weight * log_rounds / np.maximum(rows, 1)
        )
        return width


def _sets_of_states(cards: Sequence[int], size: int) -> int:
    """Return how many joint states all sets of `size` variables have, by elementary symmetric polynomials."""
    counts = [1, *([0] * size)]
    for card in cards:
        for place in range(size, 0, -1):
            counts[place] += counts[place - 1] * card
    return counts[size]
