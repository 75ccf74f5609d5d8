"""The compiled loops of the posterior over hypotheses: add rows, replay them to further sets, and draw.

`cb_pgm.evidence.hypotheses` explains what is tallied. `geometry` is int64 [m, 2w + 1] for sets of up to w
variables: the positions of a set's variables, then −1; their strides; and where its joint states begin among
those of all sets.
"""

# ruff: noqa: NPY002  # compiled code draws from a generator of its own, seeded at each call

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cb_pgm.evidence.losses import added_loss, loss, loss_of_mean

__all__ = ["add_rows", "draw", "rank_sets", "replay_rows", "weigh"]

# Columns of `tallies`, per joint state: rows and reward total; the same of the rows in which all of the set
# was set.
ROWS, TOTAL, SET_ROWS, SET_TOTAL = range(4)
# Columns of `scores`, per set: log weight; what a split adds to it; the lead of the mixture over the set's
# best fit; and the lead that refutes it, NaN for a set larger than those looked for.
WEIGHT, SPLIT_WEIGHT, LEAD, LIMIT = range(4)
# Places of `sums`: log weight of arms, total of all rewards, rows.
FLAT, ALL_TOTAL, ALL_ROWS = range(3)
# What `draw` returns first.
OF_SETS, OF_NOVEL, OF_ARMS = range(3)

# Places of `odds`.
SPLIT, NOVEL = range(2)
_NEGLIGIBLE = -40.0  # a log weight from which on a hypothesis counts; all weights together are 1


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]  # numba carries no types
def _cell(codes: NDArray[np.int16], row: int, geometry: NDArray[np.int64], number: int) -> int:
    """Return the place of a row's joint state of a set; −1 if it is unknown."""
    width = geometry.shape[1] // 2
    cell: int = geometry[number, 2 * width]
    for position in range(width):
        variable = geometry[number, position]
        if variable < 0:
            break
        if codes[row, variable] < 0:
            return -1
        cell += geometry[number, width + position] * codes[row, variable]
    return cell


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]
def _all_set(is_set: NDArray[np.bool_], row: int, geometry: NDArray[np.int64], number: int) -> bool:
    """Return whether all variables of a set are marked in a row of bool [rows, n]."""
    for position in range(geometry.shape[1] // 2):
        variable = geometry[number, position]
        if variable < 0:
            break
        if not is_set[row, variable]:
            return False
    return True


@njit(cache=True)  # type: ignore[untyped-decorator]
def add_rows(
    codes: NDArray[np.int16],
    rewards: NDArray[np.float64],
    start: int,
    end: int,
    origin: float,
    is_set: NDArray[np.bool_],
    arm: int,
    geometry: NDArray[np.int64],
    tallies: NDArray[np.float64],
    scores: NDArray[np.float64],
    refuted: NDArray[np.bool_],
    novel: NDArray[np.float64],
    arms: NDArray[np.float64],
    sums: NDArray[np.float64],
    odds: NDArray[np.float64],
    scale: float,
    prior: float,
    kept_codes: NDArray[np.int16],
    kept_values: NDArray[np.float64],
    kept_places: NDArray[np.int64],
    kept: int,
    setting: int,
) -> int:
    """Add rows `start` to `end` of one intervention; return how many sets they refute.

    `is_set`, bool [1, n], marks the variables set, `arm` is the arm's number or −1, `prior` the rows at the
    mean of all rewards from which means start, `kept` where the rows are kept from, or −1. The other arrays
    are those of `Hypotheses` and `KeptRows`.
    """
    m, last, n, gone = len(geometry), geometry.shape[1] - 1, codes.shape[1], 0
    cells = np.empty(m, dtype=np.int64)
    gains, gains_apart = np.empty(m), np.empty(m)
    for row in range(start, end):
        reward = rewards[row] - origin
        # Rewards in [0, 1] start from an even one, others from the origin.
        mean = (sums[ALL_TOTAL] + (0.5 if scale == 0.0 else 0.0)) / (sums[ALL_ROWS] + 1.0)

        # Each set's prediction by all rows with its joint state, and by those of them that were set, or
        # not, as this one. The weights before the row and after it give the mixture's prediction and its
        # probability.
        before, after, mixed = 0.0, 0.0, 0.0
        for number in range(m):
            if number < n:  # the single variables come first, in their order
                state = codes[row, number]
                cell = geometry[number, last] + state if state >= 0 else -1
            else:
                cell = -1 if geometry[number, 0] < 0 else _cell(codes, row, geometry, number)
            cells[number] = cell
            if cell < 0:
                continue
            rows, total = tallies[cell, ROWS], tallies[cell, TOTAL]
            by_state = (total + prior * mean) / (rows + prior)
            gain = -loss(reward, by_state, scale)
            gains[number] = gain
            by_regime, same, set_rows = by_state, gain, tallies[cell, SET_ROWS]
            if set_rows > 0.0:
                set_total = tallies[cell, SET_TOTAL]
                if not _all_set(is_set, 0, geometry, number):
                    set_rows, set_total = rows - set_rows, total - set_total
                by_regime = (set_total + prior * by_state) / (set_rows + prior)
                same = -loss(reward, by_regime, scale)
            gains_apart[number] = same
            if scores[number, WEIGHT] > _NEGLIGIBLE:
                weight = math.exp(scores[number, WEIGHT])
                before += weight
                after += weight * math.exp(gain)
                mixed += weight * by_state
            log_weight = scores[number, WEIGHT] + scores[number, SPLIT_WEIGHT]
            if log_weight > _NEGLIGIBLE:
                weight = odds[SPLIT] * math.exp(log_weight)
                before += weight
                after += weight * math.exp(same)
                mixed += weight * by_regime
        by_arm = mean
        if 0 <= arm < len(arms):
            by_arm = (arms[arm, 1] + prior * mean) / (arms[arm, 0] + prior)
            flat = math.exp(sums[FLAT])
            before += flat
            after += flat * math.exp(-loss(reward, by_arm, scale))
            mixed += flat * by_arm
        if before > 0.0 and after > 0.0:
            mixed, gained = mixed / before, math.log(after / before)
        else:  # no set has all of its states known, or all have lost more than numbers hold
            mixed = mean
            gained = -loss(reward, mean, scale)
        lost = loss(reward, mixed, scale)

        # Weights move by what each gave to this reward beyond the mixture; so they add up to 1 at all times.
        for number in range(m):
            cell = cells[number]
            if cell < 0:
                continue
            count, total = tallies[cell, ROWS], tallies[cell, TOTAL]
            scores[number, WEIGHT] += gains[number] - gained
            scores[number, SPLIT_WEIGHT] += gains_apart[number] - gains[number]
            scores[number, LEAD] += added_loss(reward, count, total, scale) - lost
            if scores[number, LEAD] >= scores[number, LIMIT] and not refuted[number]:
                refuted[number] = True
                gone += 1
            tallies[cell, ROWS] = count + 1.0
            tallies[cell, TOTAL] = total + reward
            if _all_set(is_set, 0, geometry, number):
                tallies[cell, SET_ROWS] += 1.0
                tallies[cell, SET_TOTAL] += reward

        for variable in range(n):
            if cells[variable] >= 0:
                novel[cells[variable]] += gains[variable] - gained
        if 0 <= arm < len(arms):
            gain = -loss(reward, by_arm, scale) - gained
            sums[FLAT] += gain
            if arm == len(arms) - 1:  # do(), if it is an arm
                novel[len(novel) - 1] += gain
            arms[arm, 0] += 1.0
            arms[arm, 1] += reward
        sums[ALL_TOTAL] += reward
        sums[ALL_ROWS] += 1.0
        if kept >= 0:
            place = kept + row - start
            kept_codes[place] = codes[row]
            kept_values[place, 0], kept_values[place, 1] = rewards[row], gained
            kept_places[place, 0], kept_places[place, 1] = arm, setting
    return gone


@njit(cache=True)  # type: ignore[untyped-decorator]
def rank_sets(
    codes: NDArray[np.int16],
    values: NDArray[np.float64],
    origin: float,
    geometry: NDArray[np.int64],
    n_cells: NDArray[np.int64],
    scale: float,
    prior: float,
) -> NDArray[np.float64]:
    """Return how well each set explains the kept rows, in nats less what its means cost to learn, float64
    [m].

    This is about what it would have gained, in a tenth of the time. `n_cells` is the number of its joint
    states.
    """
    scores = np.zeros(len(geometry))
    for number in range(len(geometry)):
        rows, totals = np.zeros(n_cells[number]), np.zeros(n_cells[number])
        first = geometry[number, geometry.shape[1] - 1]
        for row in range(len(codes)):
            cell = _cell(codes, row, geometry, number)
            if cell >= 0:
                rows[cell - first] += 1.0
                totals[cell - first] += values[row, 0] - origin
        for cell in range(n_cells[number]):
            scores[number] -= loss_of_mean(rows[cell], totals[cell], scale)
            scores[number] -= 0.5 * math.log1p(rows[cell] / prior)
    return scores


@njit(cache=True)  # type: ignore[untyped-decorator]
def replay_rows(
    codes: NDArray[np.int16],
    values: NDArray[np.float64],
    was_set: NDArray[np.bool_],
    origin: float,
    geometry: NDArray[np.int64],
    tallies: NDArray[np.float64],
    scale: float,
    prior: float,
) -> NDArray[np.float64]:
    """Return what each set would have given to the kept rewards beyond the mixture, in nats, float64 [m].

    Its rows and totals are written to `tallies`, which has zeros. `was_set` is bool [rows, n].
    """
    m = len(geometry)
    gained, sum_of_all = np.zeros(m), 0.0
    for row in range(len(codes)):
        reward = values[row, 0] - origin
        mean = (sum_of_all + (0.5 if scale == 0.0 else 0.0)) / (row + 1.0)
        for number in range(m):
            cell = _cell(codes, row, geometry, number)
            if cell < 0:
                continue
            rows, total = tallies[cell, ROWS], tallies[cell, TOTAL]
            by_state = (total + prior * mean) / (rows + prior)
            gained[number] -= loss(reward, by_state, scale) + values[row, 1]
            tallies[cell, ROWS] = rows + 1.0
            tallies[cell, TOTAL] = total + reward
            if _all_set(was_set, row, geometry, number):
                tallies[cell, SET_ROWS] += 1.0
                tallies[cell, SET_TOTAL] += reward
        sum_of_all += reward
    return gained


@njit(cache=True)  # type: ignore[untyped-decorator]
def _mean(rows: float, total: float, mean: float, scale: float, prior: float) -> float:
    """Draw a mean reward from its posterior, given rows and their total."""
    if scale == 0.0:
        return np.random.beta(total + 1.0, max(rows - total, 0.0) + 1.0)
    spread = math.sqrt(scale / 2.0 / (rows + prior))
    return (total + prior * mean) / (rows + prior) + spread * np.random.standard_normal()


@njit(cache=True)  # type: ignore[untyped-decorator]
def weigh(
    geometry: NDArray[np.int64],
    settable: NDArray[np.bool_],
    tallies: NDArray[np.float64],
    scores: NDArray[np.float64],
    closed: NDArray[np.bool_],
    excluded: NDArray[np.bool_],
    novel: NDArray[np.float64],
    arms: NDArray[np.float64],
    odds: NDArray[np.float64],
    novelty: NDArray[np.float64],
) -> tuple[float, float, float, float]:
    """Return the weights of open sets, of splits, of larger sets and of novel states, as `draw` has them.

    Those of the states that can be set go to `novelty`, float64 [states of all variables, then do()], up to
    a factor.
    """
    of_sets, of_split, larger, of_novel, rarities = 0.0, 0.0, 0.0, 0.0, 1.0
    for number in range(len(geometry)):
        if not closed[number]:
            of_sets += math.exp(scores[number, WEIGHT])
        if math.isnan(scores[number, LIMIT]):
            if geometry[number, 0] >= 0:
                larger += math.exp(scores[number, WEIGHT])
        elif not excluded[number] and scores[number, WEIGHT] + scores[number, SPLIT_WEIGHT] > _NEGLIGIBLE:
            # A split may be what refuted a set, so refuted sets count here.
            of_split += odds[SPLIT] * math.exp(scores[number, WEIGHT] + scores[number, SPLIT_WEIGHT])
    for cell in range(len(novel)):
        if cell < len(novel) - 1:
            rarity = 1.0 / (1.0 + tallies[cell, ROWS] - tallies[cell, SET_ROWS])
        else:
            rarity = 1.0 / (1.0 + arms[len(arms) - 1, 0]) if settable[cell] else 0.0
        rarities += rarity
        novelty[cell] = rarity * math.exp(min(novel[cell], 60.0)) if settable[cell] else 0.0
        of_novel += novelty[cell]
    return of_sets, of_split, larger, of_novel * odds[NOVEL] / rarities * of_sets


@njit(cache=True)  # type: ignore[untyped-decorator]
def _best_state(
    number: int,
    is_split: bool,
    geometry: NDArray[np.int64],
    n_states: NDArray[np.int64],
    settable: NDArray[np.bool_],
    tallies: NDArray[np.float64],
    mean: float,
    scale: float,
    prior: float,
) -> tuple[int, float]:
    """Draw means of a set's joint states; return the best one that can be set, with its mean.

    It is −1 if a mean that can't be had by setting it is higher: that of a state that can't be set, or, if
    the set is split, of one where it is observed. Other arms mix such means, so one of them may be better.
    """
    width, size, first = geometry.shape[1] // 2, 1, geometry[number, geometry.shape[1] - 1]
    for position in range(width):
        if geometry[number, position] >= 0:
            size *= n_states[geometry[number, position]]
    best, highest, elsewhere = -1, -np.inf, -np.inf
    for place in range(size):
        cell, can_be_set = first + place, True
        for position in range(width):
            variable = geometry[number, position]
            if variable >= 0:
                state = place // geometry[number, width + position] % n_states[variable]
                can_be_set &= settable[geometry[variable, 2 * width] + state]
        rows, total = tallies[cell, ROWS], tallies[cell, TOTAL]
        if is_split:
            seen, seen_total = rows - tallies[cell, SET_ROWS], total - tallies[cell, SET_TOTAL]
            elsewhere = max(elsewhere, _mean(seen, seen_total, mean, scale, prior))
            rows, total = tallies[cell, SET_ROWS], tallies[cell, SET_TOTAL]
        drawn = _mean(rows, total, mean, scale, prior)
        if not can_be_set:
            elsewhere = max(elsewhere, drawn)
        elif drawn > highest:
            best, highest = place, drawn
    return (best, highest) if highest >= elsewhere else (-1, elsewhere)


@njit(cache=True)  # type: ignore[untyped-decorator]
def draw(
    seed: int,
    geometry: NDArray[np.int64],
    n_states: NDArray[np.int64],
    settable: NDArray[np.bool_],
    tallies: NDArray[np.float64],
    scores: NDArray[np.float64],
    closed: NDArray[np.bool_],
    excluded: NDArray[np.bool_],
    novel: NDArray[np.float64],
    arms: NDArray[np.float64],
    sums: NDArray[np.float64],
    odds: NDArray[np.float64],
    scale: float,
    prior: float,
) -> tuple[int, int, int]:
    """Draw a hypothesis, then means under it; return its kind, and what is best.

    OF_SETS: the set's number and its joint state. OF_NOVEL: 0 and the state's place among those of all
    variables, behind which is do(). OF_ARMS: nothing; the arms are to be played by their own rows.

    `settable`, bool [states of all variables, then do()], marks those that can be set, `closed`, bool [m],
    the sets that aren't played, `excluded` those of them of which a split isn't, either.
    """
    # Compiled code has a generator of its own, and NumPy's would take ten times as long to be handed over.
    np.random.seed(seed)
    novelty = np.empty(len(novel))
    of_sets, of_split, larger, of_novel = weigh(
        geometry, settable, tallies, scores, closed, excluded, novel, arms, odds, novelty
    )
    left = np.random.random() * (of_sets + of_novel + of_split + larger + math.exp(sums[FLAT]))
    is_split = of_sets + of_novel <= left < of_sets + of_novel + of_split
    if left >= of_sets + of_novel + of_split or (of_sets <= 0.0 and not is_split):
        return OF_ARMS, 0, 0

    # A set, and the best of its joint states by means drawn.
    chosen, rest = -1, left - of_sets - of_novel if is_split else np.random.random() * of_sets
    for number in range(len(geometry)):
        weight = 0.0
        if not is_split:
            weight = 0.0 if closed[number] else math.exp(scores[number, WEIGHT])
        elif not (excluded[number] or math.isnan(scores[number, LIMIT])):
            weight = odds[SPLIT] * math.exp(scores[number, WEIGHT] + scores[number, SPLIT_WEIGHT])
        rest -= weight
        if weight > 0.0:
            chosen = number
        if rest < 0.0:
            break
    mean = (sums[ALL_TOTAL] + (0.5 if scale == 0.0 else 0.0)) / (sums[ALL_ROWS] + 1.0)
    best, highest = _best_state(chosen, is_split, geometry, n_states, settable, tallies, mean, scale, prior)
    if best < 0:
        return OF_ARMS, 0, 0

    # A novel state replaces it where its own mean, drawn, is higher.
    if of_sets <= left < of_sets + of_novel:
        rest = np.random.random() * novelty.sum()
        for cell in range(len(novel)):
            rest -= novelty[cell]
            if rest < 0.0:
                if cell < len(novel) - 1:
                    rows, total = tallies[cell, ROWS], tallies[cell, TOTAL]
                else:
                    rows, total = arms[len(arms) - 1, 0], arms[len(arms) - 1, 1]
                if _mean(rows, total, mean, scale, prior) > highest:
                    return OF_NOVEL, 0, cell
                break
    return OF_SETS, chosen, best
