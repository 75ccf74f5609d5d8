"""The screening test: the true parents are ruled out no more often than promised; all others are."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import entr
from scipy.stats import binom

from cb_pgm.evidence.hypotheses import Hypotheses
from cb_pgm.evidence.hypotheses_loops import LEAD
from cb_pgm.evidence.screening import Screening, has_power, told_apart
from cb_pgm.evidence.tuned import Tuned

N_STATES = [2, 2, 3, 2]
ARMS = [(variable, state) for variable, k in enumerate(N_STATES) for state in range(k)]
MEANS = np.array([0.2, 0.5, 0.8])
RARE = np.array([0.005, 0.02, 0.08])
PARENT = 2
SCALES = {"gaussian": 1.0, "bernoulli": 0.5, "bounded": 0.8, "rare": 0.5, "within": 0.5}


class Watched(Screening):
    """The test with a posterior of its own."""

    def __init__(
        self,
        n_states: list[int],
        size: int,
        failure_prob: float,
        noise_scale: float,
        *,
        in_unit_interval: bool = False,
        tuned: Tuned = Tuned(),  # noqa: B008
    ) -> None:
        arms = sum(n_states) + 1
        self.known = Hypotheses(
            n_states, size, arms, noise_scale, in_unit_interval=in_unit_interval, tuned=tuned
        )
        super().__init__(self.known, failure_prob)

    def observe(
        self,
        codes: NDArray[np.int16],
        rewards: NDArray[np.float64],
        set_variables: tuple[int, ...] = (),
        arm: int = -1,
    ) -> None:
        self.known.add(codes, rewards, set_variables, arm)
        self.update()

    def leads(self, size: int = 1) -> NDArray[np.float64]:
        """The mixture's lead over the best fit of each set of one size."""
        return self.known._scores[self.known.sizes == size, LEAD]

    def refutes(self, *variables: int) -> bool:
        place = self.known.place(variables)
        assert place is not None
        return bool(self.known.refuted[place])


def _rows(rng: np.random.Generator, size: int, variable: int = -1, state: int = 0) -> NDArray[np.int16]:
    """Rows of 0 → 1 → 2 → 3, each copying its parent's state (mod its own number) with probability .8."""
    codes = np.zeros((size, 4), dtype=np.int16)
    for i, k in enumerate(N_STATES):
        fresh = rng.integers(k, size=size)
        codes[:, i] = fresh if i == 0 else np.where(rng.random(size) < 0.8, codes[:, i - 1] % k, fresh)
        if i == variable:
            codes[:, i] = state
    return codes


def _rewards(rng: np.random.Generator, codes: NDArray[np.int16], kind: str) -> NDArray[np.float64]:
    means = RARE[codes[:, PARENT]] if kind == "rare" else MEANS[codes[:, PARENT]]
    if kind == "within":  # uniform on as much of [0, 1] as lies evenly about the mean
        return means + np.minimum(means, 1 - means) * (2 * rng.random(len(codes)) - 1)
    if kind in ("bernoulli", "rare"):
        return (rng.random(len(codes)) < means).astype(float)
    if kind == "bounded":  # uniform on [0, 2·mean], inside [0, 1.6]: ½·1.6-subgaussian
        return 2 * means * rng.random(len(codes))
    return means + rng.standard_normal(len(codes))


@pytest.mark.parametrize(
    ("kind", "in_unit_interval"),
    [
        *((kind, False) for kind in SCALES),
        *((kind, True) for kind in ("bernoulli", "rare", "within", "gaussian")),
    ],
)
@pytest.mark.parametrize("failure_prob", [0.05, 0.2])
def test_the_parent_is_ruled_out_no_more_often_than_promised(
    kind: str, in_unit_interval: bool, failure_prob: float
) -> None:
    """1,000 runs stopped at a random time up to 400 rows, 2 s; at most the binomial's 99.9 % point at δ."""
    rng = np.random.default_rng(11)
    runs = 1000
    failures = 0
    for _ in range(runs):
        screening = Watched(N_STATES, 1, failure_prob, SCALES[kind], in_unit_interval=in_unit_interval)
        codes = _rows(rng, int(rng.integers(1, 401)))
        screening.observe(codes, _rewards(rng, codes, kind))
        failures += screening.refutes(PARENT)
    assert failures <= binom.ppf(0.999, runs, failure_prob)


@pytest.mark.parametrize("runs", [500, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("failure_prob", [0.05, 0.2])
def test_under_pulls_chosen_against_it(failure_prob: float, runs: int) -> None:
    """Runs of 40 pulls of 4 rows each; the adversary looks at the leads.

    It repeats an arm as long as the lead over the parent grows, changes it at random otherwise, and stops
    once the parent is ruled out. Half of the runs say which variable was set, and that is often the parent.
    At most the binomial's 99.9 % point at δ.
    """
    rng = np.random.default_rng(12)
    failures = 0
    for run in range(runs):
        screening = Watched(N_STATES, 1, failure_prob, 1.0)
        arm, lead = int(rng.integers(len(ARMS))), 0.0
        for _ in range(40):
            codes = _rows(rng, 4, *ARMS[arm])
            done = (ARMS[arm][0],) if run % 2 else ()
            screening.observe(codes, _rewards(rng, codes, "gaussian"), done, arm if run % 2 else -1)
            if screening.refutes(PARENT):
                failures += 1
                break
            now = screening.leads()[PARENT]
            if now <= lead:
                arm = int(rng.integers(len(ARMS)))
            lead = now
    assert failures <= binom.ppf(0.999, runs, failure_prob)


@pytest.mark.slow
@pytest.mark.parametrize("odds", [Tuned(), Tuned(split=1e3, novel=0.4, arms=1e3)])
@pytest.mark.parametrize("failure_prob", [0.05, 0.2])
def test_under_pulls_of_the_parent_chosen_against_it(failure_prob: float, odds: Tuned) -> None:
    """1,000 runs of 60 pulls of 4 rows, half only observed; what is set is chosen by its lead.

    The promise holds whatever prior odds hypotheses have on which setting differs from observing.
    """
    rng = np.random.default_rng(22)
    runs, failures = 1000, 0
    for _ in range(runs):
        screening = Watched(N_STATES, 1, failure_prob, 1.0, tuned=odds)
        state, lead = 0, 0.0
        for turn in range(60):
            chosen, done, arm = ((PARENT, state), (PARENT,), 4 + state) if turn % 2 else ((-1, 0), (), 9)
            codes = _rows(rng, 4, *chosen)
            screening.observe(codes, _rewards(rng, codes, "gaussian"), done, arm)
            if screening.refutes(PARENT):
                failures += 1
                break
            now = screening.leads()[PARENT]
            state, lead = state if now > lead else int(rng.integers(3)), now
    assert failures <= binom.ppf(0.999, runs, failure_prob)


@pytest.mark.parametrize("failure_prob", [0.05, 0.2])
def test_a_true_pair_is_ruled_out_no_more_often_than_its_size_allows(failure_prob: float) -> None:
    """1,000 runs of up to 400 rows; sizes 1 and 2 have half of δ each."""
    rng = np.random.default_rng(24)
    runs, failures = 1000, 0
    for _ in range(runs):
        screening = Watched(N_STATES, 2, failure_prob, 0.5, in_unit_interval=True)
        codes = _rows(rng, int(rng.integers(1, 401)))
        means = 0.1 + 0.3 * codes[:, 2] + 0.2 * codes[:, 3]
        screening.observe(codes, (rng.random(len(codes)) < means).astype(float))
        failures += screening.refutes(2, 3)
    assert failures <= binom.ppf(0.999, runs, failure_prob / 2)


def test_everything_else_is_ruled_out() -> None:
    """20 runs of 6,000 rows under arms at random: only the parent is left in at least 18 (expected: 19)."""
    rng = np.random.default_rng(13)
    left = []
    for _ in range(20):
        screening = Watched(N_STATES, 1, 0.05, 1.0)
        for _ in range(600):
            arm = int(rng.integers(len(ARMS)))
            codes = _rows(rng, 10, *ARMS[arm])
            screening.observe(codes, _rewards(rng, codes, "gaussian"), ARMS[arm][:1], arm)
        left.append(screening.candidates)
    assert left.count(((PARENT,),)) >= 18


def test_two_additive_parents_leave_no_single_variable_but_their_pair() -> None:
    """20 runs of 4,000 rows: all singles go; of the pairs the true one stays in at least 18."""
    rng = np.random.default_rng(14)
    kept = 0
    for _ in range(20):
        screening = Watched([2, 2, 2, 2], 2, 0.05, 0.5)
        codes = rng.integers(2, size=(4000, 4)).astype(np.int16)
        rewards = 0.3 * codes[:, 0] + 0.4 * codes[:, 1] + 0.5 * rng.standard_normal(4000)
        screening.observe(codes, rewards)
        assert screening.set_size == 2
        assert screening.left <= 1
        kept += screening.candidates == ((0, 1),)
    assert kept >= 18


def test_copies_of_a_parent_hide_no_second_one() -> None:
    """Six noisy copies of the first parent explain more than the second, whose effect is all its own.

    All single variables go in 20 of 20 runs of 4,000 rows; so they do if the two only act together.
    """
    rng = np.random.default_rng(21)
    for run in range(20):
        codes = rng.integers(2, size=(4000, 8)).astype(np.int16)
        codes[:, 1:7] = np.where(rng.random((4000, 6)) < 0.9, codes[:, :1], codes[:, 1:7])
        second = codes[:, 7] if run % 2 else codes[:, 0] ^ codes[:, 7]
        rewards = 0.8 * codes[:, 0] + 0.25 * second + 0.5 * rng.standard_normal(4000)
        screening = Watched([2] * 8, 1, 0.05, 0.5)
        screening.observe(codes, rewards)
        assert screening.left == 0


@pytest.mark.parametrize("seed", range(10))
def test_two_causes_that_act_only_together_rule_out_the_first(seed: int) -> None:
    """Neither shows an effect beside the first parent; of 190 pairs only theirs predicts better."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(2, size=(3000, 20)).astype(np.int16)
    means = 0.3 + 0.2 * codes[:, 0] + 0.35 * (codes[:, 1] ^ codes[:, 2])
    screening = Watched([2] * 20, 1, 0.05, 0.5)
    screening.observe(codes, (rng.random(3000) < means).astype(float))
    assert screening.left == 0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_variables_have_few_sets(n: int) -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(2, size=(200, n)).astype(np.int16)
    for size in range(1, n + 1):
        screening = Watched([2] * n, size, 0.05, 1.0)
        screening.observe(codes, codes[:, 0] + rng.standard_normal(200))
        assert screening.left >= 1
        assert screening.known.enumerated == sum(math.comb(n, k) for k in range(1, size + 1))


@pytest.mark.parametrize("kind", ["gaussian", "bernoulli"])
def test_batching_changes_nothing(kind: str) -> None:
    rng = np.random.default_rng(15)
    codes = _rows(rng, 1000)
    rewards = _rewards(rng, codes, kind)
    at_once, one_by_one = (Watched(N_STATES, 1, 0.05, 0.5, in_unit_interval=True) for _ in range(2))
    at_once.observe(codes, rewards, (PARENT,), 3)
    for row in range(1000):
        one_by_one.observe(codes[row : row + 1], rewards[row : row + 1], (PARENT,), 3)
    np.testing.assert_array_equal(at_once.leads(), one_by_one.leads())
    np.testing.assert_array_equal(at_once.known.log_weights, one_by_one.known.log_weights)
    assert at_once.candidates == one_by_one.candidates


def _groups(
    codes: NDArray[np.int16], rewards: NDArray[np.float64], size: int
) -> list[list[NDArray[np.float64]]]:
    """The rewards by joint state, for each set of one size."""
    return [
        [
            group
            for states in itertools.product(*(range(N_STATES[variable]) for variable in chosen))
            if len(group := rewards[(codes[:, list(chosen)] == states).all(axis=1)])
        ]
        for chosen in itertools.combinations(range(4), size)
    ]


def test_fits_are_residual_sums_of_squares() -> None:
    """Leads differ by the fits, which are computed here from group means, of rewards far from 0."""
    rng = np.random.default_rng(16)
    codes = _rows(rng, 300)
    rewards = _rewards(rng, codes, "gaussian") + 1000.0
    screening = Watched(N_STATES, 2, 1e-300, 0.7)
    screening.observe(codes, rewards)
    base = screening.leads()[0]
    squares = [
        [sum(((group - group.mean()) ** 2).sum() for group in groups) / (2 * 0.7**2) for groups in sets]
        for sets in (_groups(codes, rewards, 1), _groups(codes, rewards, 2))
    ]
    for size in (1, 2):
        expected = np.array(squares[size - 1]) - squares[0][0]
        np.testing.assert_allclose(screening.leads(size) - base, expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["within", "rare"])
def test_fits_of_rewards_in_the_unit_interval_are_logarithmic_losses_of_means(kind: str) -> None:
    rng = np.random.default_rng(16)
    codes = _rows(rng, 300)
    rewards = _rewards(rng, codes, kind)
    screening = Watched(N_STATES, 2, 1e-300, 0.5, in_unit_interval=True)
    screening.observe(codes, rewards)
    fits = [
        sum(len(group) * float(entr(group.mean()) + entr(1 - group.mean())) for group in groups)
        for groups in _groups(codes, rewards, 2)
    ]
    leads = screening.leads(2)
    np.testing.assert_allclose(leads - leads[0], np.array(fits) - fits[0], atol=1e-8)


def test_rare_rewards_are_screened_twice_as_fast_by_their_logarithmic_loss() -> None:
    """Reward 1 in .5, 2 and 8 % of the rows by the parent's state: 20 tables, rows until it alone is left."""
    rows: dict[bool, list[int]] = {True: [], False: []}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        codes = _rows(rng, 40_000)
        rewards = _rewards(rng, codes, "rare")
        for in_unit_interval, needed in rows.items():
            screening, start = Watched(N_STATES, 1, 0.05, 0.5, in_unit_interval=in_unit_interval), 0
            while screening.left > 1 and start < len(codes):
                screening.observe(codes[start : start + 100], rewards[start : start + 100])
                start += 100
            assert not screening.refutes(PARENT)
            needed.append(start)
    assert np.median(rows[False]) > 2 * np.median(rows[True])


def test_a_reward_outside_the_unit_interval_brings_the_squares_back() -> None:
    """The test that begins anew is that of squares over all rows, its rulings included."""
    rng = np.random.default_rng(21)
    codes = _rows(rng, 1200)
    rewards = _rewards(rng, codes, "bernoulli")
    rewards[800] = 1.5
    squares, switched = (
        Watched(N_STATES, 1, 0.05, 0.5, in_unit_interval=in_unit_interval)
        for in_unit_interval in (False, True)
    )
    for start in range(0, 1200, 100):
        block, done = slice(start, start + 100), (PARENT,) if start % 200 else ()
        for screening in (squares, switched):
            screening.observe(codes[block], rewards[block], done)
    assert not switched.known.in_unit_interval
    assert squares.left < len(N_STATES)
    assert switched.candidates == squares.candidates
    np.testing.assert_allclose(switched.leads(), squares.leads())
    np.testing.assert_allclose(switched.known.log_weights, squares.known.log_weights)


def test_neither_origin_nor_unit_of_the_reward_matters() -> None:
    rng = np.random.default_rng(17)
    codes = _rows(rng, 500)
    rewards = _rewards(rng, codes, "gaussian")
    plain, moved = Watched(N_STATES, 1, 0.05, 1.0), Watched(N_STATES, 1, 0.05, 3.0)
    plain.observe(codes, rewards)
    moved.observe(codes, 3.0 * rewards - 40.0)
    np.testing.assert_allclose(plain.leads(), moved.leads(), atol=1e-8)
    np.testing.assert_allclose(plain.known.log_weights, moved.known.log_weights, atol=1e-8)


def test_an_outlier_of_a_thousand_scales_is_taken_in() -> None:
    rng = np.random.default_rng(19)
    codes = _rows(rng, 400)
    rewards = _rewards(rng, codes, "gaussian")
    rewards[200] = 1000.0
    screening = Watched(N_STATES, 1, 0.05, 1.0)
    screening.observe(codes, rewards, (PARENT,), 3)
    assert np.isfinite(screening.leads()).all()
    assert np.isfinite(screening.known.log_weights[screening.known.sizes == 1]).all()


# -- rows in which states were set, and observed -------------------------------------------------------------


def _proxy_rows(rng: np.random.Generator, size: int, state: int | None) -> tuple[NDArray[np.int16], ...]:
    """Rows of X ← U → R with U hidden, beside a coin; X = `state` if that is set. R is .2 or .8 by U."""
    hidden = rng.integers(2, size=size)
    copied = np.where(rng.random(size) < 0.9, hidden, 1 - hidden)
    proxy = copied if state is None else np.full(size, state)
    codes = np.stack([proxy, rng.integers(2, size=size)], axis=1).astype(np.int16)
    return codes, (rng.random(size) < 0.2 + 0.6 * hidden).astype(float)


def test_a_proxy_of_a_hidden_cause_falls_once_it_is_set() -> None:
    """20 runs of 3,000 observed rows: only the proxy is left; 400 set rows rule it out in each.

    The reward's mean is .74 where X = 1 is observed and .5 where it is set: .12 nats a row, and 12 are
    needed. The median is 170 rows.
    """
    rng = np.random.default_rng(20)
    for _ in range(20):
        screening = Watched([2, 2], 1, 0.025, 0.5)
        screening.observe(*_proxy_rows(rng, 3000, None))
        assert screening.candidates == ((0,),)
        screening.observe(*_proxy_rows(rng, 400, 1), (0,), 1)
        assert screening.left == 0
        beliefs = screening.known.beliefs("XY", 5)
        assert beliefs.hidden > beliefs.larger


def test_a_parent_stays_however_often_it_is_set_and_a_second_one_is_told_from_a_hidden_cause() -> None:
    """Binary rewards of a parent; then with a second parent, which no regime explains."""
    rng = np.random.default_rng(21)
    for means in (np.array([[0.2, 0.2], [0.8, 0.8]]), np.array([[0.1, 0.4], [0.6, 0.9]])):
        screening = Watched([2, 2], 1, 0.05, 0.5)
        for turn in range(400):
            codes = rng.integers(2, size=(10, 2)).astype(np.int16)
            if turn % 2:
                codes[:, 0] = turn // 2 % 2
            rewards = (rng.random(10) < means[codes[:, 0], codes[:, 1]]).astype(float)
            screening.observe(codes, rewards, (0,) if turn % 2 else ())
        one = means[0, 0] == means[0, 1]
        assert screening.left == one
        beliefs = screening.known.beliefs("XY", 5)
        assert beliefs.hidden <= (0.05 if one else beliefs.larger)


# -- what rows could have shown ------------------------------------------------------------------------------


def test_a_difference_of_a_tenth_of_the_range_needs_so_many_rows() -> None:
    """A mean that is .1 off costs .1² / 2σ² nats a row, with σ = ½."""
    assert has_power(np.array([149.0, 150.0]), 3.0).tolist() == [False, True]


def test_told_apart_is_the_precision_of_a_regression_on_the_state() -> None:
    rng = np.random.default_rng(9)
    codes = _rows(rng, 200)
    screening = Watched(N_STATES, 1, 0.05, 1.0)
    screening.observe(codes, rng.random(200))
    told = told_apart(screening.known.rows, screening.known.n_states, (PARENT,))
    groups = np.eye(3)[codes[:, PARENT]]
    for variable in (0, 1, 3):
        for state in range(N_STATES[variable]):
            design = np.column_stack([groups, codes[:, variable] == state]).astype(float)
            np.testing.assert_allclose(
                told[variable][state], 1 / np.linalg.inv(design.T @ design)[-1, -1], rtol=1e-9
            )
    np.testing.assert_allclose(told[PARENT], 0.0, atol=1e-9)
