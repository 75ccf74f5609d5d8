"""Screening: test from all rows which sets of variables can still be the reward's parents.

A set w of variables contains all the reward's parents iff the mean reward given all variables depends on w's
states alone. Let m_i be any prediction of the i-th reward that uses only the row's states and the rows before
it. Rule w out once

    min_f Σ (R_i − f(w_i))² / 2σ²  −  Σ (R_i − m_i)² / 2σ²  ≥  log(1/δ).

*The test is valid.* Let f* be the true mean given w. With e = R − f* and d = m − f*,
(R − f*)² − (R − m)² = 2ed − d², and E exp((2ed − d²)/2σ²) ≤ 1 for σ-subgaussian e given the row and the past.
So the exponential of the left side with f* in place of f is a test supermartingale, and the minimum over f
only lowers it. By Ville's inequality it ever reaches 1/δ with probability at most δ, under any choice of
pulls and at any stopping time. No union bound over the sets is needed, since only the true set counts.
Rewards in [0, 1] have the logarithmic loss instead of the squares, with the same proof
(`cb_pgm.evidence.losses`).

*The test is fast* if m predicts well. m is the average of experts' predictions, weighted by exp(−past loss).
The experts are the running means given the states of every candidate set, including those ruled out, and of
some larger sets, those that would have predicted the rows so far best. Without the larger sets the last
candidate could never be ruled out, since its own running mean can't predict better than its best fit. A
caller may add an expert of its own.

*It tests its own assumption* that the reward and a variable have no unobserved common cause. (Hidden causes
among the variables are harmless.) The regime of a row, whether w's states were set or only observed, is known
before the reward. Under the null hypothesis the mean given all variables and the intervention depends on w's
states alone. A prediction may therefore use the regime, and the proof holds unchanged: m_i still uses only
the row and the past. So each candidate gets a second expert from the first row in which it was set: the
running mean given its states and the regime, shrunk towards the one given its states. If a hidden cause
correlates the states and the reward in rows in which the states were only observed, this expert predicts
better and the candidate is ruled out. For the reward's true parents it has no systematic advantage. If such
an expert has the lowest loss when the last candidate is ruled out, the explanation is a hidden common cause,
a selection of rows or a drift; if another expert has, it is a further parent.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import PolicyError
from cb_pgm.evidence.losses import LOGARITHMIC
from cb_pgm.evidence.records import all_in_unit_interval
from cb_pgm.evidence.screening_loops import observe_rows, overall_mean, prior_rows, replay_rows

__all__ = ["Screening", "candidate_sets"]

_LARGER_SETS = 4  # sets of one more variable among the experts
_MOST_TRIED = 200  # such sets that are replayed when they are chosen
_REFRESH_GROWTH = 1.5  # and formed anew each time that the rows have grown by this factor
_MOST_SETS = 20_000
_REPEATED = 16  # rows of a call for which the array of setting numbers is prepared
_MOST_CODES = 2**24  # codes kept to replay the past to new experts; bounds memory


def candidate_sets(n: int, set_size: int) -> NDArray[np.int64]:
    """Return all sets of `set_size` out of n variables, int64 [m, set_size], in lexicographic order.

    Raises
    ------
    PolicyError
        If there are more than 20,000.
    """
    m = math.comb(n, set_size)
    if m > _MOST_SETS:
        raise PolicyError(
            f"Expected at most {_MOST_SETS:,} sets to screen but {set_size} out of {n} variables make "
            f"{m:,}: lower max_parents or leave variables out"
        )
    sets = list(itertools.combinations(range(n), set_size))
    return np.array(sets, dtype=np.int64).reshape(m, set_size)


class Screening:
    """The test, on all sets of `set_size` variables at once; O(sets) a row, compiled.

    Parameters
    ----------
    n_states
        The number of states of each of the n variables.
    set_size
        p ≥ 1: the candidates are all sets of p variables.
    failure_prob
        δ: the probability with which the reward's true parents (or any one set that contains them all) are
        ever ruled out.
    noise_scale
        σ, in units of the reward, such that the reward is σ-subgaussian about its mean given its parents.
    in_unit_interval
        Whether all rewards are expected in [0, 1], and the loss is logarithmic. From the first one outside on
        it is that of squares, and the test begins anew with the kept rows.

    Attributes
    ----------
    candidates
        int64 [m, p]: the candidate sets, as positions of variables, in lexicographic order.
    surviving
        bool [m]: the candidates not ruled out.
    left
        The number of surviving candidates.
    rows
        The number of rows tested so far. Where the loss is that of squares the first row only sets the origin
        of the rewards and isn't counted.
    fell_by_regime
        Whether no candidate is left and an expert that uses the regime had the lowest loss when the last one
        was ruled out.

    Raises
    ------
    PolicyError
        If there are more than 20,000 candidate sets.
    """

    def __init__(
        self,
        n_states: Sequence[int],
        set_size: int,
        failure_prob: float,
        noise_scale: float,
        *,
        in_unit_interval: bool = False,
    ) -> None:
        self.set_size = set_size
        self.threshold = -math.log(failure_prob)
        self.noise_scale = noise_scale
        self.candidates = candidate_sets(len(n_states), set_size)
        self._cards = tuple(n_states)
        self._n_states = max(n_states, default=1)
        self._begin(in_unit_interval)

    def _begin(self, in_unit_interval: bool) -> None:
        self.in_unit_interval = in_unit_interval
        n, m, set_size = len(self._cards), len(self.candidates), self.set_size
        self.surviving: NDArray[np.bool_] = np.ones(m, dtype=np.bool_)
        self.left = m
        self.rows = 0
        self.fell_by_regime = False

        self._n_larger = min(_LARGER_SETS, math.comb(n, set_size + 1))
        # Experts: the candidates, padded with −1 to one more variable, then the larger sets, which are all −1
        # until they are formed.
        self._experts: NDArray[np.int64] = np.full((m + self._n_larger, set_size + 1), -1, dtype=np.int64)
        self._experts[:m, :set_size] = self.candidates
        cells = self._n_states ** (set_size + 1)
        # The arrays for compiled code are grouped, since passing each array takes time in every round.
        # Rows and reward totals per joint state, then the same for rows in which the whole set was set.
        self._cells: NDArray[np.float64] = np.zeros((4, len(self._experts), cells))
        self._counts: NDArray[np.float64] = self._cells[0]
        self._sums: NDArray[np.float64] = self._cells[1]
        self._scores: NDArray[np.float64] = np.zeros((3, len(self._experts)))
        self._losses: NDArray[np.float64] = self._scores[0]
        self._fits: NDArray[np.float64] = self._scores[1]
        self._regime_losses: NDArray[np.float64] = self._scores[2]
        self._losses[m:] = np.inf
        self._regime_losses[:] = np.inf
        # Mixture's loss, reward total, rows, and the loss of the predictions that the caller gives, infinite
        # while there are none.
        self._sums_over_rows: NDArray[np.float64] = np.array([0.0, self._first_total, 0.0, np.inf])
        self._no_prediction = np.full(_REPEATED, np.nan)
        self._log_predicted: NDArray[np.float64] = np.empty(256)
        self._origin = 0.0 if in_unit_interval else math.nan
        self._log_codes: NDArray[np.int16] = np.empty((256, n), dtype=np.int16)
        self._log_rewards: NDArray[np.float64] = np.empty(256)
        self._log_settings: NDArray[np.int64] = np.empty(256, dtype=np.int64)
        self._logged = 0
        self._refresh_at = 16
        # Which variables were set: each combination has a number, and a row of `_set` [combinations, n].
        self._settings: dict[tuple[int, ...], int] = {(): 0}
        self._set: NDArray[np.bool_] = np.zeros((1, n), dtype=np.bool_)
        self._repeated = [np.full(_REPEATED, 0)]

    def observe(
        self,
        codes: NDArray[np.int16],
        rewards: NDArray[np.float64],
        set_variables: tuple[int, ...] = (),
        predicted: NDArray[np.float64] | None = None,
    ) -> None:
        """Test the candidates with further rows, in the order in which they were observed.

        Parameters
        ----------
        codes, rewards
            int16 [m, n], the state of each variable, and float64 [m].
        set_variables
            The positions of the variables that were set in all of these rows, in ascending order.
        predicted
            A further expert's prediction of each reward from the row's states and the rows before, float64
            [m]. None: there is none for these rows.
        """
        number = self._setting(set_variables)
        repeated = self._repeated[number]
        if len(rewards) > len(repeated):
            repeated = np.full(len(rewards), number)
        if predicted is None:
            predicted = self._no_prediction
            if len(rewards) > len(predicted):
                predicted = np.full(len(rewards), np.nan)
        self._observe_as(codes, rewards, repeated, predicted)

    def larger(self, set_size: int, failure_prob: float) -> Screening:
        """Return the test of the sets of another size, with all kept rows replayed.

        Raises
        ------
        PolicyError
            If there are more than 20,000 candidate sets.
        """
        larger = Screening(
            self._cards,
            set_size,
            failure_prob,
            self.noise_scale,
            in_unit_interval=self.in_unit_interval,
        )
        larger._settings, larger._set = dict(self._settings), self._set
        larger._repeated = list(self._repeated)
        larger._observe_as(*self._kept())
        return larger

    def _by_squares(self) -> None:
        """Begin anew with the loss that any rewards may have, by the kept rows."""
        kept, settings, set_in, repeated = self._kept(), self._settings, self._set, self._repeated
        self._begin(in_unit_interval=False)
        self._settings, self._set, self._repeated = settings, set_in, repeated
        self._observe_as(*kept)

    def _kept(
        self,
    ) -> tuple[NDArray[np.int16], NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
        """Return the kept rows as `_observe_as` takes them."""
        codes, rewards, _ = self.log()
        return codes, rewards, self._log_settings[: self._logged], self._log_predicted[: self._logged]

    @property
    def scale(self) -> float:
        """The scale of the loss (`cb_pgm.evidence.losses`)."""
        return LOGARITHMIC if self.in_unit_interval else 2.0 * self.noise_scale**2

    @property
    def _first_total(self) -> float:
        """The reward with which the mean of all starts: an even one, or the origin."""
        return 0.5 if self.in_unit_interval else 0.0

    def _setting(self, set_variables: tuple[int, ...]) -> int:
        number = self._settings.get(set_variables)
        if number is None:
            number = self._settings[set_variables] = len(self._settings)
            self._repeated.append(np.full(_REPEATED, number))
            if number >= len(self._set):
                self._set = np.concatenate([self._set, np.zeros_like(self._set)])
            self._set[number, list(set_variables)] = True
        return number

    def _observe_as(
        self,
        codes: NDArray[np.int16],
        rewards: NDArray[np.float64],
        settings: NDArray[np.int64],
        predicted: NDArray[np.float64],
    ) -> None:
        if self.in_unit_interval and len(rewards) and not all_in_unit_interval(rewards):
            self._by_squares()
        if math.isnan(self._origin) and len(rewards):
            self._origin = float(rewards[0])
            codes, rewards, settings, predicted = codes[1:], rewards[1:], settings[1:], predicted[1:]
        done, size = 0, len(rewards)
        while done < size:
            # Larger sets are formed between rows, at times that don't depend on how the rows are batched.
            end = min(size, done + self._refresh_at - self.rows)
            self._take(codes, rewards, settings, predicted, done, end)
            done = end

    def margins(self) -> NDArray[np.float64]:
        """Return the left side of the test for each candidate, in nats, float64 [m].

        A surviving candidate's is below `threshold`; those of candidates ruled out are meaningless.
        """
        margins: NDArray[np.float64] = self._fits[: len(self.candidates)] - self._sums_over_rows[0]
        return margins

    def losses(self) -> NDArray[np.float64]:
        """Return the loss of each expert's predictions, float64 [experts]; infinite until formed."""
        return self._losses

    def expert(self, position: int) -> tuple[int, ...]:
        """Return the variables of the expert at `position` of `losses`; the first m are the candidates."""
        return tuple(int(variable) for variable in self._experts[position] if variable >= 0)

    def predictions(self, position: int) -> NDArray[np.float64]:
        """Return the predictions of the expert at `position` per joint state, float64 [cells].

        The first variable's state changes fastest, with a stride of K, the largest number of states.
        """
        mean = overall_mean(self._sums_over_rows)
        sums, counts, prior = self._sums[position], self._counts[position], prior_rows(self.scale)
        predictions: NDArray[np.float64] = (sums + prior * mean) / (counts + prior)
        return predictions + self._origin

    def seen(self, position: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return rows and reward total per joint state of the expert at `position`, each float64 [cells]."""
        counts = self._counts[position]
        return counts, self._sums[position] + self._origin * counts

    def log(self, start: int = 0) -> tuple[NDArray[np.int16], NDArray[np.float64], NDArray[np.bool_]]:
        """Return the tested rows from position `start` on, as far as they are kept (at most 2²⁴ codes).

        Returns
        -------
        codes, rewards, was_set
            int16 [m, n], float64 [m], and bool [m, n]: which variables were set in each row.
        """
        kept = slice(start, self._logged)
        return (
            self._log_codes[kept],
            self._log_rewards[kept] + self._origin,
            self._set[self._log_settings[kept]],
        )

    def log_settings(self) -> tuple[NDArray[np.int64], tuple[tuple[int, ...], ...]]:
        """Return which variables were set in each row of `log`.

        Returns
        -------
        settings, set_variables
            int64 [m], each row's place in `set_variables`, which has the positions of the variables set.
        """
        return self._log_settings[: self._logged], tuple(self._settings)

    def _take(
        self,
        codes: NDArray[np.int16],
        rewards: NDArray[np.float64],
        settings: NDArray[np.int64],
        predicted: NDArray[np.float64],
        start: int,
        end: int,
    ) -> None:
        keep = self._logged == self.rows and (self._logged + end - start) * codes.shape[1] <= _MOST_CODES
        if keep and self._logged + end - start > len(self._log_rewards):
            self._make_room(self._logged + end - start)
        gone = observe_rows(
            codes,
            rewards,
            settings,
            predicted,
            self._set,
            start,
            end,
            self._origin,
            self._log_codes,
            self._log_rewards,
            self._log_settings,
            self._log_predicted,
            self._logged if keep else -1,
            self._experts,
            self._n_states,
            self._cells,
            self._scores,
            self.surviving,
            self._sums_over_rows,
            self.scale,
            self.threshold,
        )
        if gone:
            self.left -= gone
            if self.left == 0:
                without = min(self._losses.min(), self._sums_over_rows[3])
                self.fell_by_regime = bool(self._regime_losses.min() < without)
        self.rows += end - start
        if keep:
            self._logged += end - start
        if self.rows >= self._refresh_at:
            self._refresh_at = math.ceil(self._refresh_at * _REFRESH_GROWTH)
            if self._logged == self.rows and self._n_larger:
                self._form_larger()

    # -- larger sets -----------------------------------------------------------------------------------------

    def _form_larger(self) -> None:
        """Form the larger sets: those that would have predicted the kept rows best.

        All sets of the most promising variables are tried. These are the variables of the best candidate, the
        one with the lowest loss among those not ruled out, and those that add most to its predictions: a
        variable that adds much beside it may by itself explain less than a copy of the candidate's own.
        Sets without the best candidate are tried, too, since two further causes may cancel beside it.
        """
        m = len(self.candidates)
        losses = np.where(self.surviving, self._losses[:m], np.inf) if self.left else self._losses[:m]
        best = self.candidates[int(np.argmin(losses))]
        added = np.setdiff1d(np.arange(len(self._cards)), best)
        beside = self._replayed(np.column_stack([added, np.tile(best, (len(added), 1))]))[2]
        promising = [*best, *added[np.argsort(beside, kind="stable")]]
        while math.comb(len(promising), self.set_size + 1) > _MOST_TRIED:
            promising.pop()
        tried = np.array(list(itertools.combinations(promising, self.set_size + 1)))
        counts, sums, losses = self._replayed(tried)
        # The sets are chosen in hindsight, so each starts with the logarithm of the choice added.
        choice = math.log(len(tried))
        for position, chosen in enumerate(np.argsort(losses, kind="stable")[: self._n_larger], start=m):
            self._experts[position] = tried[chosen]
            self._counts[position], self._sums[position] = counts[chosen], sums[chosen]
            self._losses[position] = losses[chosen] + choice

    def _replayed(
        self, sets: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return what experts given these sets, int64 [m, p], would have now: counts, sums, losses."""
        codes, rewards = self._log_codes[: self._logged], self._log_rewards[: self._logged]
        counts, sums, losses = replay_rows(
            codes, rewards, sets, self._n_states, self.scale, self._first_total
        )
        return counts, sums, losses

    def _make_room(self, rows: int) -> None:
        while rows > len(self._log_rewards):
            self._log_codes = np.concatenate([self._log_codes, np.empty_like(self._log_codes)])
            self._log_rewards = np.concatenate([self._log_rewards, np.empty_like(self._log_rewards)])
            self._log_settings = np.concatenate([self._log_settings, np.empty_like(self._log_settings)])
            self._log_predicted = np.concatenate([self._log_predicted, np.empty_like(self._log_predicted)])
