"""The posterior over hypotheses: against plain Python, and what it finds, grows and draws."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from numpy.typing import NDArray

from cb_pgm.errors import PolicyError
from cb_pgm.evidence.hypotheses import Beliefs, Hypotheses
from cb_pgm.evidence.tuned import SETS_ALONE, Tuned

N_STATES = [2, 3, 2]
EVERYTHING = np.ones(sum(N_STATES) + 1, dtype=np.bool_)  # all states, then do()
ODDS = Tuned(split=0.3, novel=0.4, arms=0.2)
#: What is set, and the number of the arm: do() is the last one, and −1 are rows that nobody asked for.
SETTINGS: list[tuple[dict[int, int], int]] = [({}, -1), ({0: 1}, 0), ({1: 2}, 1), ({}, 2), ({0: 1, 2: 0}, -1)]


def _density(reward: float, prediction: float, sigma: float | None) -> float:
    """Up to a factor that is the same for all hypotheses; σ None: the logarithmic loss."""
    if sigma is None:
        return prediction**reward * (1 - prediction) ** (1 - reward)
    return math.exp(-((reward - prediction) ** 2) / (2 * sigma**2))


class PlainPosterior:
    """Sets of one and two of three variables, by their definition: every tally is a list of rows."""

    def __init__(self, sigma: float | None, origin: float, odds: Tuned) -> None:
        self.sigma, self.origin, self.odds = sigma, origin, odds
        self.prior_rows = 1.0 if sigma is None else odds.prior_rows
        self.sets = [*itertools.combinations(range(3), 1), *itertools.combinations(range(3), 2)]
        self.weight = dict.fromkeys(self.sets, 1 / (2 * 3))
        self.apart = dict.fromkeys(self.sets, 1.0)
        self.flat = odds.arms
        self.novel: dict[tuple[int, ...], float] = defaultdict(lambda: 1.0)  # by state; do() is ()
        self.rows: list[tuple[tuple[int, ...], float, frozenset[int], int]] = []

    def _predictions(
        self, chosen: tuple[int, ...], codes: tuple[int, ...], done: frozenset[int]
    ) -> tuple[float, float]:
        """By all rows with the set's joint state, and by those that were set, or not, as this one."""
        same = [row for row in self.rows if all(row[0][v] == codes[v] for v in chosen)]
        by_state = self._mean([reward for _, reward, _, _ in same], self._overall())
        were_set = [set(chosen) <= row[2] for row in same]
        if not any(were_set):
            return by_state, by_state
        like = [row[1] for row, was in zip(same, were_set, strict=True) if was == (set(chosen) <= done)]
        return by_state, self._mean(like, by_state)

    def _overall(self) -> float:
        return (sum(row[1] for row in self.rows) + 0.5 * (self.sigma is None)) / (len(self.rows) + 1)

    def _mean(self, rewards: list[float], start: float) -> float:
        return (sum(rewards) + self.prior_rows * start) / (len(rewards) + self.prior_rows)

    def _split(self, chosen: tuple[int, ...]) -> float:
        return self.odds.split * self.apart[chosen]

    def total(self) -> float:
        """The weight of all sets, with splits and arms."""
        return self.flat + sum(self.weight[s] * (1 + self._split(s)) for s in self.sets)

    def add(self, codes: tuple[int, ...], reward: float, done: frozenset[int], arm: int) -> None:
        reward -= self.origin
        awake = [s for s in self.sets if all(codes[v] >= 0 for v in s)]
        asleep = sum(self.weight[s] * (1 + self._split(s)) for s in self.sets if s not in awake)
        asleep += self.flat * (arm < 0)
        before, overall = self.total() - asleep, self._overall()
        densities = {}
        for s in awake:
            by_state, by_regime = (
                _density(reward, mean, self.sigma) for mean in self._predictions(s, codes, done)
            )
            self.weight[s] *= by_state
            self.apart[s] *= by_regime / by_state
            densities[s] = by_state
        if arm >= 0:
            by_arm = self._mean([row[1] for row in self.rows if row[3] == arm], overall)
            self.flat *= _density(reward, by_arm, self.sigma)
        after = sum(self.weight[s] * (1 + self._split(s)) for s in awake)
        after += self.flat * (arm >= 0)
        gained = after / before if before > 0 else _density(reward, overall, self.sigma)
        for s in awake:
            self.weight[s] /= gained
        for v in range(3):
            if codes[v] >= 0:
                self.novel[v, codes[v]] *= densities[v,] / gained
        if arm >= 0:
            self.flat /= gained
        if arm == 2:
            self.novel[()] *= _density(reward, by_arm, self.sigma) / gained
        self.rows.append((codes, reward, done, arm))

    def beliefs(self) -> Beliefs:
        of_sets = dict(self.weight)
        split = sum(self.weight[s] * self._split(s) for s in self.sets)
        by_nature = {
            (v, state): sum(codes[v] == state and v not in done for codes, _, done, _ in self.rows)
            for v in range(3)
            for state in range(N_STATES[v])
        }
        rarity: dict[tuple[int, ...], float] = {key: 1 / (1 + rows) for key, rows in by_nature.items()}
        rarity[()] = 1 / (1 + sum(row[3] == 2 for row in self.rows))
        novel = sum(share * self.novel[key] for key, share in rarity.items())
        novel *= self.odds.novel * sum(of_sets.values()) / (1 + sum(rarity.values()))
        total = sum(of_sets.values()) + split + novel + self.flat
        likeliest = sorted(of_sets.items(), key=lambda item: -item[1])
        return Beliefs(
            tuple((tuple("ABC"[v] for v in s), weight / total) for s, weight in likeliest),
            hidden=split / total,
            novel=novel / total,
            arms=self.flat / total,
            larger=0.0,
        )


def _random_rows(
    rng: np.random.Generator, unknown: float
) -> list[tuple[tuple[int, ...], float, dict[int, int], int]]:
    """15 rows, after which sets of three would grow; fields that weren't set are unknown at random."""
    rows = []
    for _ in range(15):
        done, arm = SETTINGS[rng.integers(len(SETTINGS))]
        codes = [-1 if rng.random() < unknown else int(rng.integers(k)) for k in N_STATES]
        for variable, state in done.items():
            codes[variable] = state
        rows.append((tuple(codes), float(rng.random() < 0.3 + 0.2 * codes[0]), done, arm))
    return rows


@pytest.mark.parametrize("unknown", [0.0, 0.4])
@pytest.mark.parametrize("sigma", [None, 0.5, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_posterior_of_its_definition(sigma: float | None, unknown: float, seed: int) -> None:
    """15 rows, of a table, three arms and a joint setting; σ None: the logarithmic loss."""
    rng = np.random.default_rng(seed)
    known = Hypotheses(N_STATES, 2, 3, sigma or 0.5, in_unit_interval=sigma is None, tuned=ODDS)
    rows = _random_rows(rng, unknown)
    plain = PlainPosterior(sigma, 0.0 if sigma is None else rows[0][1], ODDS)
    at_first = plain.total()
    for codes, reward, done, arm in rows:
        known.add(np.array([codes], dtype=np.int16), np.array([reward]), tuple(sorted(done)), arm)
        plain.add(codes, reward, frozenset(done), arm)
    expected = {s: math.log(plain.weight[s]) for s in plain.sets}
    found = {known.variables(number): known.log_weights[number] for number in range(known.enumerated)}
    assert found == pytest.approx(expected)
    beliefs, wanted = known.beliefs("ABC", 6), plain.beliefs()
    assert dict(beliefs.sets) == pytest.approx(dict(wanted.sets))
    for kind in ("hidden", "novel", "arms", "larger"):
        assert getattr(beliefs, kind) == pytest.approx(getattr(wanted, kind))
    assert sum(share for _, share in beliefs.sets) + beliefs.hidden + beliefs.novel + beliefs.arms == (
        pytest.approx(1.0)
    )
    # What one hypothesis wins the others lose, so weights can't run away.
    assert plain.total() == pytest.approx(at_first)


def test_the_predictions_of_a_set_are_the_means_of_its_joint_states() -> None:
    """Drawn to the mean of all rewards as if by so many rows; the first variable's state changes fastest."""
    rng = np.random.default_rng(4)
    codes = np.stack([rng.integers(k, size=60) for k in N_STATES], axis=1).astype(np.int16)
    rewards = 7.0 + rng.standard_normal(60)
    known = Hypotheses(N_STATES, 2, 1, 1.0, in_unit_interval=False, tuned=ODDS)
    known.add(codes, rewards)
    number = known.place((0, 1))
    assert number is not None
    overall = 7.0 + (rewards.sum() - 60 * rewards[0]) / 61 + rewards[0] - 7.0
    for state in itertools.product(range(2), range(3)):
        group = rewards[(codes[:, :2] == state).all(axis=1)]
        at = state[0] + 2 * state[1]
        rows, totals = known.seen(number)
        assert (rows[at], totals[at]) == (len(group), pytest.approx(group.sum()))
        expected = (group.sum() + ODDS.prior_rows * overall) / (len(group) + ODDS.prior_rows)
        assert known.means(number)[at] == pytest.approx(expected)
    np.testing.assert_array_equal(known.places(number, codes), codes[:, 0] + 2 * codes[:, 1])


def test_a_row_counts_for_the_sets_whose_states_it_has() -> None:
    """Rows without C leave all sets with C as likely as they were, and their tallies, too."""
    rng = np.random.default_rng(5)
    known = Hypotheses([2, 2, 2], 2, 3, 0.5, in_unit_interval=True)
    codes = rng.integers(2, size=(15, 3)).astype(np.int16)
    codes[:, 2] = -1
    before = known.log_weights.copy()
    known.add(codes, codes[:, 0].astype(float))
    with_c = np.isin(known.sets, [2]).any(axis=1)
    np.testing.assert_array_equal(known.log_weights[with_c], before[with_c])
    assert known.log_weights[0] > before[0] > before[1] > known.log_weights[1] or (
        known.log_weights[0] > before[0] == before[1] > known.log_weights[1]
    )
    assert sum(known.seen(2)[0]) == 0
    assert sum(known.seen(0)[0]) == 15


@pytest.mark.parametrize("n", [2, 20])
def test_batches_equal_single_rows(n: int) -> None:
    """Over the times at which larger sets grow, and through a reward outside of [0, 1]."""
    rng = np.random.default_rng(6)
    codes = rng.integers(2, size=(120, n)).astype(np.int16)
    codes[:, 0] = 1
    rewards = (rng.random(120) < 0.3 + 0.4 * codes[:, 1]).astype(float)
    rewards[70] = -1.0
    at_once, singly = (Hypotheses([2] * n, 1, 3, 0.5, in_unit_interval=True) for _ in range(2))
    for start in (0, 60):
        done, arm = ((0,), 1) if start else ((), -1)
        at_once.add(codes[start : start + 60], rewards[start : start + 60], done, arm)
        for row in range(start, start + 60):
            singly.add(codes[row : row + 1], rewards[row : row + 1], done, arm)
    np.testing.assert_array_equal(at_once.sets, singly.sets)
    np.testing.assert_array_equal(at_once.log_weights, singly.log_weights)
    assert at_once.beliefs([f"X{i}" for i in range(n)], 5) == singly.beliefs([f"X{i}" for i in range(n)], 5)


def test_a_reward_outside_of_the_unit_interval_gives_the_same_as_starting_with_squares() -> None:
    rng = np.random.default_rng(7)
    rows = [row for _ in range(20) for row in _random_rows(rng, 0.2)]
    squares, switched = (Hypotheses(N_STATES, 1, 3, 0.5, in_unit_interval=unit) for unit in (False, True))
    for turn, (codes, reward, done, arm) in enumerate(rows):
        told = np.array([reward if turn != 250 else 1.2])
        for known in (squares, switched):
            known.add(np.array([codes], dtype=np.int16), told, tuple(sorted(done)), arm)
    assert not switched.in_unit_interval
    np.testing.assert_array_equal(switched.sets, squares.sets)
    np.testing.assert_allclose(switched.log_weights, squares.log_weights)
    for kind in ("hidden", "novel", "arms", "larger"):
        assert getattr(switched.beliefs("ABC", 3), kind) == pytest.approx(
            getattr(squares.beliefs("ABC", 3), kind)
        )


# -- sets that grow ------------------------------------------------------------------------------------------


def test_a_pair_shows_as_a_larger_set_where_single_variables_are_looked_for() -> None:
    """20 variables, XOR of two beside a main effect of one: no single variable predicts as well."""
    rng = np.random.default_rng(8)
    codes = rng.integers(2, size=(600, 20)).astype(np.int16)
    means = 0.2 + 0.2 * codes[:, 4] + 0.4 * (codes[:, 4] ^ codes[:, 11])
    known = Hypotheses([2] * 20, 1, 41, 0.5, in_unit_interval=True)
    known.add(codes, (rng.random(600) < means).astype(float))
    assert known.variables(int(np.argmax(known.log_weights))) == (4, 11)
    beliefs = known.beliefs([f"X{i}" for i in range(20)], 5)
    assert beliefs.larger > 0.9
    assert beliefs.arms >= beliefs.larger


def test_a_set_that_has_grown_weighs_as_one_that_was_there_from_the_start() -> None:
    """But for its prior; also in the rows after it has joined."""
    rng = np.random.default_rng(9)
    codes = rng.integers(2, size=(100, 4)).astype(np.int16)
    rewards = 0.5 * codes[:, 0] + 0.5 * codes[:, 1] + 0.3 * rng.standard_normal(100)
    odds = Tuned(split=0.0, novel=0.0, arms=0.01)
    grown, enumerated = (
        Hypotheses([2] * 4, size, 1, 0.5, in_unit_interval=False, tuned=odds) for size in (1, 2)
    )
    for known in (grown, enumerated):
        for start in range(0, 100, 10):
            known.add(
                codes[start : start + 10], rewards[start : start + 10], (0, 1) if start % 20 else (), -1
            )
    weights = []
    for known, prior_of_pair, prior_of_one in ((grown, 0.01 / 6, 1 / 4), (enumerated, 1 / 12, 1 / 8)):
        pair, one = known.place((0, 1)), known.place((0,))
        assert pair is not None
        assert one is not None
        weights.append(
            known.log_weights[pair] - known.log_weights[one] - math.log(prior_of_pair / prior_of_one)
        )
        assert known.set_rows(pair).sum() == 50
    assert weights[0] == pytest.approx(weights[1])


@pytest.mark.parametrize(("n", "size"), [(100, 3), (300, 2)])
def test_more_sets_than_are_enumerated_grow(n: int, size: int) -> None:
    """161,700 triples of 100 variables, 44,850 pairs of 300: the true one has main effects, and is found."""
    rng = np.random.default_rng(10)
    codes = rng.integers(2, size=(900, n)).astype(np.int16)
    parents = tuple(int(v) for v in np.sort(rng.choice(n, size, replace=False)))
    means = 0.1 + 0.8 / size * codes[:, list(parents)].sum(axis=1)
    known = Hypotheses([2] * n, size, 1, 0.5, in_unit_interval=True, tuned=Tuned(novel=0.0))
    assert known.enumerated_size == size - 1
    known.add(codes, (rng.random(900) < means).astype(float))
    (found, share), *_ = known.beliefs([str(v) for v in range(n)], 3).sets
    assert found == tuple(map(str, parents))
    assert share > 0.9


def test_what_cannot_be_kept_is_refused() -> None:
    for changes, message in (
        ({"max_size": 0}, "max_parents from 1 to 3"),
        ({"max_size": 4}, "max_parents from 1 to 3"),
        ({"n_states": [2] * 20_001}, "at most 20,000 variables"),
        ({"n_states": [2000] * 3, "max_size": 2}, "joint states of all sets"),
    ):
        settings = {"n_states": [2, 2, 2], "max_size": 1} | changes
        with pytest.raises(PolicyError, match=message):
            Hypotheses(settings["n_states"], settings["max_size"], 3, 0.5, in_unit_interval=True)


# -- draws ---------------------------------------------------------------------------------------------------


def _told(odds: Tuned, rows: int = 60) -> Hypotheses:
    rng = np.random.default_rng(11)
    known = Hypotheses(N_STATES, 2, 8, 0.5, in_unit_interval=True, tuned=odds)
    for _ in range(rows):
        codes = np.array([[rng.integers(k) for k in N_STATES]], dtype=np.int16)
        arm = int(rng.integers(2))
        codes[0, 0] = arm
        known.add(codes, np.array([float(rng.random() < 0.45 + 0.1 * arm)]), (0,), arm)
    return known


def _within(count: int, draws: int, share: float) -> bool:
    return abs(count / draws - share) <= 4.5 * math.sqrt(share * (1 - share) / draws) + 1e-9


def test_hypotheses_are_drawn_as_often_as_they_are_likely() -> None:
    """4,000 draws; sets and the rest within 4.5 standard errors."""
    known, draws = _told(Tuned(split=0.0, novel=0.0, arms=0.1)), 4000
    beliefs = known.beliefs("ABC", 6)
    found = [known.draw(seed, EVERYTHING) for seed in range(draws)]
    kinds = Counter(one.kind for one in found)
    assert _within(kinds["arms"], draws, beliefs.arms)
    drawn = Counter(tuple("ABC"[variable] for variable, _ in one.states) for one in found if one.states)
    assert set(drawn) <= {names for names, _ in beliefs.sets}
    for names, share in beliefs.sets:
        assert _within(drawn[names], draws, share)


@pytest.mark.parametrize("share_observed", [0.2, 0.9])
def test_a_state_whose_set_rows_differ_is_worth_what_they_say(share_observed: float) -> None:
    """A = 1 has mean .7 when set, A = 0 .4. Where A = 1 is observed it has .2 or .9.

    An arm that makes it likely may then be better than all that can be had by setting A, so arms are played.
    """
    rng = np.random.default_rng(13)
    known = Hypotheses(N_STATES, 1, 8, 0.5, in_unit_interval=True, tuned=Tuned(novel=0.0, arms=0.0))
    codes = np.stack([rng.integers(k, size=1200) for k in N_STATES], axis=1).astype(np.int16)
    for state, mean in ((0, 0.4), (1, share_observed)):
        rows = codes[:600][codes[:600, 0] == state]
        known.add(rows, (rng.random(len(rows)) < mean).astype(float))
    for state, mean in ((0, 0.4), (1, 0.7)):
        rows = codes[600:][codes[600:, 0] == state]
        known.add(rows, (rng.random(len(rows)) < mean).astype(float), (0,), state)
    assert known.beliefs("ABC", 1).hidden > 0.9
    found = Counter(known.draw(seed, EVERYTHING) for seed in range(300)).most_common(1)[0][0]
    assert (found.kind, found.states) == (("sets", ((0, 1),)) if share_observed < 0.7 else ("arms", ()))


def test_a_state_that_nature_never_takes_is_tried() -> None:
    """1,000 rows show that A = 1 is the best cause; B = 2 never occurs, and is set in some of the draws."""
    rng = np.random.default_rng(12)
    codes = np.stack([rng.integers(2, size=1000) for _ in N_STATES], axis=1).astype(np.int16)
    rewards = (rng.random(1000) < 0.2 + 0.5 * codes[:, 0]).astype(float)
    known = Hypotheses(N_STATES, 1, 8, 0.5, in_unit_interval=True)
    known.add(codes, rewards)
    found = Counter(known.draw(seed, EVERYTHING) for seed in range(4000))
    novel = {one.states: count for one, count in found.items() if one.kind == "novel"}
    assert max(novel, key=lambda states: novel[states]) == ((1, 2),)
    share = known.beliefs("ABC", 1).novel
    tried = novel[((1, 2),)] + sum(count for one, count in found.items() if one.kind == "do()")
    # Its mean is drawn from [0, 1], and is higher than .7 in three draws of ten. So is that of do().
    assert 0.2 * share <= tried / 4000 <= share


def test_a_state_that_cannot_be_set_is_not_drawn() -> None:
    known = _told(Tuned())
    for variable, first in ((0, 0), (1, 2), (2, 5)):
        settable = EVERYTHING.copy()
        settable[first + 1] = False
        drawn = {state for seed in range(500) for state in known.draw(seed, settable).states}
        assert (variable, 1) not in drawn
        assert (variable, 0) in drawn
    nothing = known.draw(0, np.zeros_like(EVERYTHING))
    assert nothing.kind == "arms"


def test_sets_that_are_left_out_or_refuted_are_not_drawn() -> None:
    known = _told(Tuned())
    without_c: NDArray[np.bool_] = np.isin(known.sets, [2]).any(axis=1)
    known.exclude(without_c)
    drawn = {variable for seed in range(500) for variable, _ in known.draw(seed, EVERYTHING).states}
    assert drawn == {0, 1}
    assert all("C" not in names for names, _ in known.beliefs("ABC", 6).sets)
    known.include_all()
    assert {variable for seed in range(500) for variable, _ in known.draw(seed, EVERYTHING).states} == {
        0,
        1,
        2,
    }


def test_sets_alone_have_no_doubts() -> None:
    known = _told(SETS_ALONE)
    beliefs = known.beliefs("ABC", 6)
    assert sum(share for _, share in beliefs.sets) == pytest.approx(1.0)
    assert {known.draw(seed, EVERYTHING).kind for seed in range(300)} == {"sets"}
