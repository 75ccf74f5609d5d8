"""Play while several sets of variables may still be the reward's parents: the best cell of a likely set."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cb_pgm.evidence.likelihoods import SetLikelihoods
from cb_pgm.evidence.records import total_of
from cb_pgm.evidence.screening import Screening
from cb_pgm.model.intervention import Intervention, States
from cb_pgm.policies.arms import ArmTotals, SingleArms
from cb_pgm.policies.indices import highest_index

__all__ = ["LikelyPlay"]

# Rounds per arm on one variable after which these arms compete with the play on likely sets.
_PATIENCE = 32
# The multiples of the golden ratio are evenly spread modulo 1, however many there are.
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


class LikelyPlay:
    """Draw a set from the posterior of the reward's parents, and play anytime MOSS over its joint states.

    The sets are those of up to `max_parents` variables that screening hasn't ruled out. Each is drawn with
    its posterior probability (`SetLikelihoods`), as in Thompson sampling. The likeliest set alone would leave
    out the cells of all other sets that explain the rows about as well, among them states that no variable
    takes without intervention. Within the set, all rows with a cell's states count, set or observed.

    If no set explains the reward, or several can't be told apart, the best arm may be on none of their
    variables. Therefore, after 32 rounds per arm on one variable, all A of these arms compete by anytime
    MOSS, by the rows in which each was set, and the play on likely sets is one more arm among them. Arms
    whose state no row had without being set compete after A rounds already, since nothing else would ever
    tell what they do.

    Parameters
    ----------
    states, noise_scale
        As in `Policy`.
    likelihoods
        The posterior; the caller adds the rows.
    singles
        All arms on one variable.
    """

    def __init__(
        self,
        states: States,
        noise_scale: float,
        likelihoods: SetLikelihoods,
        singles: SingleArms,
    ) -> None:
        self._states = states
        self._names = tuple(states)
        self._noise_scale = noise_scale
        self._likelihoods = likelihoods
        n_states = likelihoods.n_states
        self._exists: NDArray[np.bool_] = np.array(
            [np.arange(n_states) < len(values) for values in states.values()], dtype=np.bool_
        )
        playable = (likelihoods.sets < 0) | np.take(singles.whole, likelihoods.sets)
        self._playable: NDArray[np.bool_] = np.asarray(playable.all(axis=1))
        self._open: NDArray[np.bool_] = np.ones(len(likelihoods.sets), dtype=np.bool_)
        self._drawn = 0
        self._known: dict[tuple[int, int], Intervention] = {}  # arms by set and cell
        self._first_pass, self._patience = len(singles.arms), _PATIENCE * len(singles.arms)
        self._codes = singles.codes
        # do() stands for the play on likely sets.
        self._rivals = ArmTotals((*singles.arms, Intervention()))
        self._last: Intervention | None = None

    def follow(self, screening: Screening) -> None:
        """Leave out the sets that screening has ruled out."""
        starts, size = self._likelihoods.starts, screening.set_size
        self._open[: starts[size - 1]] = False
        self._open[starts[size - 1] : starts[size]] = screening.surviving

    def likeliest(self) -> int:
        """Return the number of the likeliest set that isn't ruled out."""
        return int(np.argmax(np.where(self._open, self._likelihoods.log_weights, -np.inf)))

    def draw(self, rounds: int) -> tuple[int, ...]:
        """Draw a set, and return the positions of its variables; empty if a state of it can't be set.

        A state that can't be set may be reached through other variables, so that no arm of the set may be
        the best. The draw is the point number `rounds` of an evenly spread sequence, so it leaves no trace.
        """
        self._drawn = self._likelihoods.draw(self._open, rounds * _GOLDEN % 1.0)
        return self._likelihoods.variables(self._drawn) if self._playable[self._drawn] else ()

    def next_arm(self, singles: ArmTotals, under_way: Mapping[Intervention, int]) -> Intervention:
        """Return the arm to play: a joint arm of the set drawn last, or an arm on one variable.

        Parameters
        ----------
        singles
            The arms on one variable, with the rows in which each was set, and all rounds.
        under_way
            The number of pending rows of each intervention; each counts as if it had its cell's mean reward.
        """
        rival = self._rival(singles) if singles.rounds >= self._first_pass else None
        arm = rival or self._arm_of(self._best_cell(singles.rounds, under_way))
        if not under_way:  # otherwise the pull may only be imagined
            self._last = arm if rival is None else None
        return arm

    def add(self, intervention: Intervention, rewards: NDArray[np.float64], rounds: int) -> None:
        """Count rows for the play on likely sets if it chose the last arm, and no other rows were awaited."""
        if intervention == self._last and rounds >= self._first_pass:
            self._rivals.rows[-1] += len(rewards)
            self._rivals.totals[-1] += total_of(rewards)

    def named(self, variables: Iterable[int], states: Iterable[int]) -> Intervention:
        """Return the intervention that sets the variables at these positions to the states at these."""
        chosen = zip(variables, states, strict=True)
        return Intervention({self._names[v]: self._states[self._names[v]][state] for v, state in chosen})

    def _arm_of(self, cell: int) -> Intervention:
        arm = self._known.get((self._drawn, cell))
        if arm is None:
            variables = self._likelihoods.variables(self._drawn)
            n_states = self._likelihoods.n_states
            states = [cell // n_states**place % n_states for place in range(len(variables))]
            arm = self._known[self._drawn, cell] = self.named(variables, states)
        return arm

    def _rival(self, singles: ArmTotals) -> Intervention | None:
        """Return the arm on one variable to play instead of a likely set's cell; None if there is none."""
        rivals = self._rivals
        rivals.rows[:-1], rivals.totals[:-1] = singles.rows, singles.totals
        rivals.rounds, rivals.in_unit_interval = singles.rounds, self._likelihoods.in_unit_interval
        open_arms = None
        if singles.rounds < self._patience:
            # The first sets are those of one variable.
            seen = self._likelihoods.rows[self._codes] - singles.rows
            open_arms = np.append(seen == 0, True)
            if not open_arms[:-1].any():
                return None
        position = rivals.highest_moss(self._noise_scale, open_arms)
        return singles.arms[position] if position < len(singles.arms) else None

    def _best_cell(self, rounds: int, under_way: Mapping[Intervention, int]) -> int:
        likelihoods, number = self._likelihoods, self._drawn
        rows, totals = likelihoods.rows[number], likelihoods.totals[number]
        if under_way:
            rows, totals = self._with_pending(rows.copy(), totals.copy(), under_way)
        return int(
            _highest_cell(
                likelihoods.sets[number],
                self._exists,
                rows,
                totals,
                float(max(rounds, 1)),
                0.0 if likelihoods.in_unit_interval else self._noise_scale,
            )
        )

    def _with_pending(
        self, rows: NDArray[np.float64], totals: NDArray[np.float64], under_way: Mapping[Intervention, int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        overall = totals.sum() / max(rows.sum(), 1.0)
        names = [self._names[variable] for variable in self._likelihoods.variables(self._drawn)]
        for intervention, size in under_way.items():
            if all(name in intervention for name in names):
                cell = sum(
                    self._states[name].index(intervention[name]) * self._likelihoods.n_states**place
                    for place, name in enumerate(names)
                )
                totals[cell] += size * (totals[cell] / rows[cell] if rows[cell] else overall)
                rows[cell] += size
        return rows, totals


@njit(cache=True)  # type: ignore[untyped-decorator]  # numba carries no types
def _highest_cell(
    variables: NDArray[np.int64],
    exists: NDArray[np.bool_],
    rows: NDArray[np.float64],
    totals: NDArray[np.float64],
    rounds: float,
    noise_scale: float,
) -> int:
    """Return the cell of the highest anytime MOSS index; a `noise_scale` of 0 means rewards in [0, 1]."""
    n_states, size, cells = exists.shape[1], 0, 1
    for variable in variables:
        if variable >= 0:
            size += 1
            cells *= n_states
    open_cells = np.ones(cells, dtype=np.bool_)
    for cell in range(cells):
        left = cell
        for place in range(size):
            open_cells[cell] &= exists[variables[place], left % n_states]
            left //= n_states
    best: int = highest_index(
        True, noise_scale == 0.0, 0.0, noise_scale, rows[:cells], totals[:cells], rounds, open_cells
    )
    return best
