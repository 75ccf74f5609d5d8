"""The posterior over what the reward may depend on: four kinds of hypotheses in one tally.

Every hypothesis predicts the next reward from the row's states and the rows before. Its weight is its prior
times the probability that it gave to all rewards in advance, all on the scale of one loss
(`cb_pgm.evidence.losses`). What rows couldn't have shown keeps its prior until it is tried.

sets
    The mean reward depends on the states of one set of variables alone, set or observed. Every size is as
    likely, and every set of a size, since nothing else is known of them.
split
    A set predicts rewards, but rows in which all of it was set differ from those in which it was observed
    (odds `split`). Its states are then worth what the rows in which they were set say, and a state that was
    only observed is set now and then: what a hidden cause or a selection of rows pretends is found out. Other
    arms are played where one of its states promises more when it is observed than any when it is set.
novel
    As the sets say, except that all rows with one state of one variable have a mean of their own. The odds
    are 1 / (1 + rows in which nature took the state), shared by the states that it never took: what is
    common has shown what it does, a drug that nobody takes by itself hasn't (odds `novel` of all of them).
    do() is among them, with the rows in which it was asked for: where something hidden acts, nothing set may
    be better than whatever is.
arms
    The arms have nothing in common (odds `arms`): each one has its own mean, do() among them. Sets of one
    variable more than are looked for have the same prior together and the same play, since they say, too,
    that no set that is looked for explains the reward.

Sets of all sizes up to the largest are enumerated as long as they are at most 20,000. Larger ones grow:
each time that the rows have grown by half, sets of the variables that add most to the likeliest set of one
variable less are replayed on the kept rows, and those that would have predicted them best join. What is
lost by that: causes none of which shows without the others aren't found, and no set of such a size can be
named, since the others of its size weren't tested.

The mixture of all hypotheses is also the prediction with which the test compares
(`cb_pgm.evidence.screening`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import PolicyError
from cb_pgm.evidence import hypotheses_loops as loops
from cb_pgm.evidence.kept_rows import KeptRows
from cb_pgm.evidence.losses import LOGARITHMIC, divergences
from cb_pgm.evidence.records import all_in_unit_interval
from cb_pgm.evidence.tuned import Tuned

__all__ = ["Beliefs", "Drawn", "Hypotheses"]

_MOST_SETS = 20_000
_MOST_CELLS = 2**22  # joint states of all sets: bounds memory, 40 bytes each


_NAMEABLE = 0.005  # a probability that isn't written as .00


@dataclass(frozen=True)
class Drawn:
    """What is best under the hypothesis drawn.

    Attributes
    ----------
    kind
        "sets", "novel", "do()" or "arms".
    states
        The positions of the variables to set, and that of each one's state; empty for "do()", and for "arms",
        which are to be played by their own rows.
    """

    kind: str
    states: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Beliefs:
    """What is believed at one time; the probabilities of sets and of the other kinds add up to 1.

    Attributes
    ----------
    sets
        The likeliest sets of variables on which alone the reward may depend, each with its probability, the
        likeliest first. Sets that a test refuted aren't among them.
    hidden
        The probability that rows in which a cause is set differ from those in which it is observed: a hidden
        common cause, or a selection of rows.
    novel
        That a state which nature hardly ever shows has an effect of its own.
    arms
        That no set that is looked for explains the reward.
    larger
        The part of `arms` that is due to sets of one variable more.
    """

    sets: tuple[tuple[tuple[str, ...], float], ...]
    hidden: float
    novel: float
    arms: float
    larger: float

    def __str__(self) -> str:
        """Return "drug .71, diet .22; something hidden .03"; what is below .005 is left out."""
        others = {
            "something hidden": self.hidden,
            "an effect of what was hardly ever tried": self.novel,
            "none of the causes looked for": self.arms,
        }
        doubts = [f"{what} {_chance(share)}" for what, share in others.items() if share >= _NAMEABLE]
        return "; ".join([self.causes, *doubts])

    @property
    def causes(self) -> str:
        """The likely causes alone: "drug .71, diet .22"."""
        likely = [(names, share) for names, share in self.sets if share >= _NAMEABLE]
        text = ", ".join(f"{' and '.join(names)} {_chance(share)}" for names, share in likely)
        return text or "none stands out"

    def to_dict(self) -> dict[str, object]:
        """Return all of it, ready for JSON."""
        sets = [{"variables": list(names), "probability": share} for names, share in self.sets]
        return {"sets": sets, "hidden": self.hidden, "novel": self.novel, "arms": self.arms}


class Hypotheses:
    """All hypotheses with their tallies; O(sets + variables) a row, compiled.

    Parameters
    ----------
    n_states
        The number of states of each of the n variables.
    max_size
        p, the largest number of variables of a set that is looked for.
    n_arms
        The number of arms that may have nothing in common; do() is the last, if it is one.
    noise_scale
        σ of the reward given its parents, in units of the reward.
    in_unit_interval
        Whether rewards are expected in [0, 1]. Their loss is then logarithmic, otherwise it is that of
        squares. One reward outside changes that, and all kept rows are added anew.

    Attributes
    ----------
    sets
        int64 [m, p + 1]: the positions of each set's variables, ascending, then −1. Smaller sets come
        first, in lexicographic order, then places for sets that grow, all −1 until one has.
    sizes
        int64 [m]: the number of variables of each set, grown or to be.
    enumerated, enumerated_size
        The number of sets that were there from the start, and the largest size of which all are.
    refuted
        bool [m]: the sets whose lead has ever reached its limit (`limit`).
    closed
        bool [m]: the sets that aren't played: refuted, left out (`exclude`), or larger than those looked for.
    rows
        The rows so far.

    Raises
    ------
    PolicyError
        If `max_size` isn't from 1 to n, or there are more than 20,000 variables or 2²² joint states.
    """

    def __init__(
        self,
        n_states: Sequence[int],
        max_size: int,
        n_arms: int,
        noise_scale: float,
        *,
        in_unit_interval: bool,
        tuned: Tuned = Tuned(),  # noqa: B008
    ) -> None:
        n = len(n_states)
        if not 1 <= max_size <= n:
            raise PolicyError(f"Expected max_parents from 1 to {n} variables but found {max_size}")
        self.n_states: NDArray[np.int64] = np.asarray(n_states, dtype=np.int64)
        self.max_size, self.noise_scale, self._n_arms, self._tuned = max_size, noise_scale, n_arms, tuned
        self._odds = np.array([tuned.split, tuned.novel])
        sizes = range(1, min(max_size + (tuned.arms > 0), n) + 1)
        counts = np.cumsum([math.comb(n, size) for size in sizes])
        self.enumerated_size = int(np.sum(counts[:max_size] <= _MOST_SETS))
        if not self.enumerated_size:
            raise PolicyError(f"Expected at most {_MOST_SETS:,} variables but found {n:,}: leave some out")
        self.enumerated = int(counts[self.enumerated_size - 1])
        enumerated = [
            np.array(list(itertools.combinations(range(n), size)), dtype=np.int64)
            for size in sizes[: self.enumerated_size]
        ]
        grown = sizes[self.enumerated_size :]
        m, width = self.enumerated + tuned.larger_sets * len(grown), sizes[-1]
        self._geometry: NDArray[np.int64] = np.full((m, 2 * width + 1), -1, dtype=np.int64)
        self.sizes: NDArray[np.int64] = np.repeat(
            sizes, [*map(len, enumerated), *[tuned.larger_sets] * len(grown)]
        )
        self._prior: NDArray[np.float64] = np.full(m, -np.inf)
        for size, found in enumerate(enumerated, start=1):
            self._geometry[self.sizes == size, :size] = found
            self._prior[self.sizes == size] = -math.log(max_size * len(found))
        cells = np.where(self.sets >= 0, self.n_states[self.sets], 1).prod(axis=1)
        for size in grown:  # a grown set has room for the largest one of its size
            cells[self.sizes == size] = np.sort(self.n_states)[-size:].prod()
        ends = np.cumsum(cells)
        if ends[-1] > _MOST_CELLS:
            raise PolicyError(
                f"Expected at most {_MOST_CELLS:,} joint states of all sets but found {ends[-1]:,}: lower "
                f"max_parents, merge states or leave variables out"
            )
        self._geometry[:, -1] = ends - cells
        self._set_strides(self._geometry)
        self._n_cells = int(ends[-1])
        self._limits: NDArray[np.float64] = np.where(self.sizes > max_size, np.nan, np.inf)
        self._excluded: NDArray[np.bool_] = np.zeros(m, dtype=np.bool_)
        self._begin(in_unit_interval)

    @property
    def sets(self) -> NDArray[np.int64]:
        return self._geometry[:, : self._geometry.shape[1] // 2]

    def _set_strides(self, geometry: NDArray[np.int64]) -> None:
        width = geometry.shape[1] // 2
        sets = geometry[:, :width]
        joint = np.where(sets >= 0, self.n_states[sets], 1)
        geometry[:, width] = 1
        geometry[:, width + 1 : 2 * width] = np.cumprod(joint[:, :-1], axis=1)

    def _begin(self, in_unit_interval: bool) -> None:
        m = len(self.sizes)
        self.in_unit_interval = in_unit_interval
        self._scale = LOGARITHMIC if in_unit_interval else 2.0 * self.noise_scale**2
        # The logarithmic loss makes much of extreme means, so they have to be learnt fast.
        self._prior_rows = 1.0 if in_unit_interval else self._tuned.prior_rows
        self._origin = 0.0 if in_unit_interval else math.nan
        self._tallies: NDArray[np.float64] = np.zeros((self._n_cells, 4))
        self._scores: NDArray[np.float64] = np.zeros((m, 4))
        self._scores[:, loops.WEIGHT] = self._prior
        self._scores[:, loops.LIMIT] = self._limits
        self._geometry[self.enumerated :, : self._geometry.shape[1] // 2] = -1
        self.refuted: NDArray[np.bool_] = np.zeros(m, dtype=np.bool_)
        self._novel: NDArray[np.float64] = np.zeros(int(self.n_states.sum()) + 1)
        self._arms: NDArray[np.float64] = np.zeros((self._n_arms, 2))
        self._sums = np.array([_log(self._tuned.arms), 0.0, 0.0])
        self._grow_at = 16.0
        self.rows = KeptRows(len(self.n_states))
        self._close()

    # -- learning --------------------------------------------------------------------------------------------

    def add(
        self,
        codes: NDArray[np.int16],
        rewards: NDArray[np.float64],
        set_variables: tuple[int, ...] = (),
        arm: int = -1,
    ) -> int:
        """Add rows of one intervention in their order, and return how many sets they refute.

        Parameters
        ----------
        codes, rewards
            int16 [m, n], −1 where a state is unknown, and float64 [m]. A row counts for the sets whose states
            it has.
        set_variables
            The positions of the variables that were set, ascending.
        arm
            The number of its arm; −1 if it is none, as a joint setting.
        """
        rows, done, gone = len(rewards), 0, 0
        if self.in_unit_interval and rows and not all_in_unit_interval(rewards):
            gone = self._by_squares()
        if rows and math.isnan(self._origin):
            self._origin = float(rewards[0])
        kept = self.rows
        setting, is_set = kept.setting(set_variables)
        while done < rows:
            # Larger sets are formed between rows, at times that don't depend on how rows are batched.
            end = min(rows, done + max(1, math.ceil(self._grow_at - self._sums[loops.ALL_ROWS])))
            place = kept.size if kept.make_room(end - done) else -1
            gone += loops.add_rows(
                codes,
                rewards,
                done,
                end,
                self._origin,
                is_set,
                arm,
                self._geometry,
                self._tallies,
                self._scores,
                self.refuted,
                self._novel,
                self._arms,
                self._sums,
                self._odds,
                self._scale,
                self._prior_rows,
                kept.codes,
                kept.values,
                kept.places,
                place,
                setting,
            )
            if place >= 0:
                kept.size += end - done
            done = end
            if self._sums[loops.ALL_ROWS] >= self._grow_at:
                self._grow_at *= self._tuned.growth
                self._grow()
        if gone:
            self._close()
        return gone

    def _by_squares(self) -> int:
        """Begin anew with the loss that any rewards may have, by the kept rows; return how many sets fall."""
        kept, before = self.rows, self.refuted
        self._begin(in_unit_interval=False)
        gone = sum(
            self.add(kept.codes[rows], kept.values[rows, 0], set_variables, arm)
            for rows, arm, set_variables in kept.blocks()
        )
        self.rows.complete &= kept.complete
        self.refuted |= before
        return gone

    # -- sets that grow --------------------------------------------------------------------------------------

    def _grow(self) -> None:
        """Form the larger sets: of those tried the ones that would have predicted the kept rows best."""
        if not self.rows.complete:
            return
        n = len(self.n_states)
        for size in range(self.enumerated_size + 1, self.sets.shape[1] + 1):
            block = np.flatnonzero(self.sizes == size)
            smaller = np.flatnonzero((self.sizes == size - 1) & (self.sets[:, 0] >= 0))
            if not len(smaller):
                return
            open_ones = smaller[~self.refuted[smaller]]
            among = open_ones if len(open_ones) else smaller
            best = self.variables(int(among[np.argmax(self._scores[among, loops.WEIGHT])]))
            beside = np.setdiff1d(np.arange(n), best)
            extended = np.sort(np.column_stack([beside, np.tile(best, (len(beside), 1))]), axis=1)
            promising = beside[np.argsort(-self._rank(extended), kind="stable")]
            promising = promising[: _most_of(size, self._tuned.most_tried)]
            tried = list(itertools.combinations(sorted([*best, *promising]), size))
            sets = np.array(tried, dtype=np.int64)
            sets = sets[np.argsort(-self._rank(sets), kind="stable")[: len(block)]]
            gains, geometry, tallies = self._replay(sets)
            prior = _log(self._tuned.arms if size > self.max_size else 1.0 / self.max_size)
            for number, place in enumerate(block[: len(sets)]):
                found = geometry[number]
                count = int(np.prod(self.n_states[sets[number]]))
                self._geometry[place, :-1] = found[:-1]
                cells = slice(self._geometry[place, -1], self._geometry[place, -1] + count)
                self._tallies[cells] = tallies[found[-1] : found[-1] + count]
                self._scores[place] = 0.0
                self._scores[place, loops.LIMIT] = self._limits[place]
                self._scores[place, loops.WEIGHT] = prior - math.log(math.comb(n, size)) + gains[number]
        self._close()

    def _geometry_of(self, sets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the geometry of these sets, int64 [m, size], and the number of joint states of each."""
        geometry = np.full((len(sets), self._geometry.shape[1]), -1, dtype=np.int64)
        geometry[:, : sets.shape[1]] = sets
        self._set_strides(geometry)
        cells = self.n_states[sets].prod(axis=1)
        geometry[:, -1] = np.cumsum(cells) - cells
        return geometry, cells

    def _rank(self, sets: NDArray[np.int64]) -> NDArray[np.float64]:
        geometry, cells = self._geometry_of(sets)
        kept = self.rows
        scores: NDArray[np.float64] = loops.rank_sets(
            kept.codes[: kept.size],
            kept.values,
            self._origin,
            geometry,
            cells,
            self._scale,
            self._prior_rows,
        )
        return scores

    def _replay(
        self, sets: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
        """Return what these sets, int64 [m, size], gain on the kept rows, their geometry and tallies."""
        geometry, cells = self._geometry_of(sets)
        tallies, kept = np.zeros((int(cells.sum()), 4)), self.rows
        gains = loops.replay_rows(
            kept.codes[: kept.size],
            kept.values,
            kept.was_set(),
            self._origin,
            geometry,
            tallies,
            self._scale,
            self._prior_rows,
        )
        return gains, geometry, tallies

    # -- what is believed ------------------------------------------------------------------------------------

    def limit(self, size: int, lead: float) -> None:
        """Let sets of a size be refuted once the mixture's lead over their best fit reaches `lead` nats."""
        if size <= self.enumerated_size:
            self._limits[self.sizes == size] = self._scores[self.sizes == size, loops.LIMIT] = lead

    def draw(self, seed: int, settable: NDArray[np.bool_]) -> Drawn:
        """Draw a hypothesis and means under it, from a seed below 2³², and return what is best to be set.

        `settable`, bool [states of all variables, one after the other, then do()], marks what can be set.
        """
        kind, number, place = loops.draw(
            seed,
            self._geometry,
            self.n_states,
            settable,
            self._tallies,
            self._scores,
            self.closed,
            self._excluded,
            self._novel,
            self._arms,
            self._sums,
            self._odds,
            self._scale,
            self._prior_rows,
        )
        if kind == loops.OF_ARMS:
            return Drawn("arms")
        if kind == loops.OF_NOVEL and place == self.n_states.sum():
            return Drawn("do()")
        if kind == loops.OF_NOVEL:
            variable = int(np.searchsorted(self._geometry[: len(self.n_states), -1], place, side="right")) - 1
            return Drawn("novel", ((variable, int(place - self._geometry[variable, -1])),))
        width = self.sets.shape[1]
        return Drawn(
            "sets",
            tuple(
                (variable, int(place // self._geometry[number, width + position] % self.n_states[variable]))
                for position, variable in enumerate(self.variables(number))
            ),
        )

    def exclude(self, sets: NDArray[np.bool_]) -> None:
        """Leave sets out, bool [m], since it is known that they don't hold the reward's parents."""
        self._excluded |= sets
        self._close()

    def include_all(self) -> None:
        """Take back all that was left out."""
        self._excluded[:] = False
        self._close()

    def _close(self) -> None:
        self.closed: NDArray[np.bool_] = (
            self.refuted | self._excluded | (self.sizes > self.max_size) | (self.sets[:, 0] < 0)
        )

    def place(self, variables: Sequence[int]) -> int | None:
        """Return the number of a set by its variables' positions, ascending; None if it isn't there."""
        wanted = np.full(self.sets.shape[1], -1, dtype=np.int64)
        if len(variables) > len(wanted):
            return None
        wanted[: len(variables)] = variables
        found = np.flatnonzero((self.sets == wanted).all(axis=1))
        return int(found[0]) if len(found) else None

    def seen(self, number: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return rows and reward total of each joint state of a set, each float64 [cells]."""
        rows, totals = self._joint(number)[:, : loops.SET_ROWS].T
        return rows, totals + rows * (0.0 if math.isnan(self._origin) else self._origin)

    def set_rows(self, number: int) -> NDArray[np.float64]:
        """Return the rows in which all of a set was set, of each joint state, float64 [cells]."""
        rows: NDArray[np.float64] = self._joint(number)[:, loops.SET_ROWS]
        return rows

    def _joint(self, number: int) -> NDArray[np.float64]:
        first, size = self._geometry[number, -1], int(np.prod(self.n_states[list(self.variables(number))]))
        tallies: NDArray[np.float64] = self._tallies[first : first + size]
        return tallies

    def beliefs(self, names: Sequence[str], most: int) -> Beliefs:
        """Return what is believed, with the `most` likeliest sets, by the variables' names."""
        of_sets = np.where(self.closed, 0.0, np.exp(self.log_weights))
        of_split, larger, of_novel = loops.weigh(
            self._geometry,
            np.ones(len(self._novel), dtype=np.bool_),
            self._tallies,
            self._scores,
            self.closed,
            self._excluded,
            self._novel,
            self._arms,
            self._odds,
            np.empty(len(self._novel)),
        )[1:]
        arms = larger + math.exp(self._sums[loops.FLAT])
        total = of_sets.sum() + of_split + of_novel + arms
        likeliest = np.argsort(-of_sets, kind="stable")[:most]
        return Beliefs(
            tuple(
                (tuple(names[v] for v in self.variables(int(number))), float(of_sets[number] / total))
                for number in likeliest
                if of_sets[number] > 0.0
            ),
            hidden=float(of_split / total),
            novel=float(of_novel / total),
            arms=float(arms / total),
            larger=float(larger / total),
        )

    @property
    def log_weights(self) -> NDArray[np.float64]:
        """float64 [m]: log of each set's posterior probability."""
        weights: NDArray[np.float64] = self._scores[:, loops.WEIGHT]
        return weights

    def means(self, number: int) -> NDArray[np.float64]:
        """Return a set's predictions of the reward per joint state, float64 [cells].

        The first variable's state changes fastest.
        """
        rows, totals = self._joint(number)[:, : loops.SET_ROWS].T
        overall = (self._sums[loops.ALL_TOTAL] + 0.5 * self.in_unit_interval) / (
            self._sums[loops.ALL_ROWS] + 1
        )
        means: NDArray[np.float64] = (totals + self._prior_rows * overall) / (rows + self._prior_rows)
        return means + (0.0 if math.isnan(self._origin) else self._origin)

    def places(self, number: int, codes: NDArray[np.int16]) -> NDArray[np.int64]:
        """Return the joint state of a set in each row as `means` orders them, −1 if unknown; int64 [rows]."""
        variables, width = list(self.variables(number)), self.sets.shape[1]
        strides = self._geometry[number, width : width + len(variables)]
        states = codes[:, variables]
        return np.where((states >= 0).all(axis=1), states @ strides, -1)

    def divergence(self, first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how many nats a row tells the first prediction from the second if the first is right."""
        return divergences(first, second, self._scale)

    def variables(self, number: int) -> tuple[int, ...]:
        """Return the positions of a set's variables."""
        return tuple(int(variable) for variable in self.sets[number] if variable >= 0)


def _chance(share: float) -> str:
    return f"{share:.2f}".removeprefix("0")


def _log(odds: float) -> float:
    return math.log(odds) if odds > 0.0 else -math.inf


def _most_of(size: int, most_tried: int) -> int:
    """Return how many variables beside a set of one variable less are combined, within so many sets."""
    most = 1
    while math.comb(most + size, size) <= most_tried:
        most += 1
    return most
