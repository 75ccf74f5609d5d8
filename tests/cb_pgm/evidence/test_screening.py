"""The screening test: the true parents are ruled out no more often than promised; all others are."""

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import entr
from scipy.stats import binom

from cb_pgm.evidence.screening import Screening

N_STATES = [2, 2, 3, 2]
MEANS = np.array([0.2, 0.5, 0.8])
RARE = np.array([0.005, 0.02, 0.08])
PARENT = 2


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


SCALES = {"gaussian": 1.0, "bernoulli": 0.5, "bounded": 0.8, "rare": 0.5, "within": 0.5}


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
    """2,000 runs stopped at a random time up to 400 rows, 2 s; at most the binomial's 99.9 % point at δ."""
    rng = np.random.default_rng(11)
    runs = 2000
    failures = 0
    for _ in range(runs):
        screening = Screening(N_STATES, 1, failure_prob, SCALES[kind], in_unit_interval=in_unit_interval)
        codes = _rows(rng, int(rng.integers(1, 401)))
        screening.observe(codes, _rewards(rng, codes, kind))
        failures += not screening.surviving[PARENT]
    assert failures <= binom.ppf(0.999, runs, failure_prob)


@pytest.mark.parametrize("runs", [500, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("failure_prob", [0.05, 0.2])
def test_under_pulls_chosen_against_it(failure_prob: float, runs: int) -> None:
    """Runs of 40 pulls of 4 rows each, 2,000 of them in 4 s; the adversary looks at the margins.

    It repeats an arm as long as the parent's margin grows, changes it at random otherwise, and stops once the
    parent is ruled out. At most the binomial's 99.9 % point at δ.
    """
    rng = np.random.default_rng(12)
    failures = 0
    arms = [(variable, state) for variable, k in enumerate(N_STATES) for state in range(k)]
    for _ in range(runs):
        screening = Screening(N_STATES, 1, failure_prob, 1.0)
        arm, margin = arms[rng.integers(len(arms))], 0.0
        for _ in range(40):
            codes = _rows(rng, 4, *arm)
            screening.observe(codes, _rewards(rng, codes, "gaussian"))
            if not screening.surviving[PARENT]:
                failures += 1
                break
            now = screening.margins()[PARENT]
            if now <= margin:
                arm = arms[rng.integers(len(arms))]
            margin = now
    assert failures <= binom.ppf(0.999, runs, failure_prob)


def test_everything_else_is_ruled_out() -> None:
    """20 runs of 6,000 rows under arms at random: only the parent is left in at least 18 (expected: 19)."""
    rng = np.random.default_rng(13)
    left = []
    for _ in range(20):
        screening = Screening(N_STATES, 1, 0.05, 1.0)
        for _ in range(600):
            variable = int(rng.integers(4))
            codes = _rows(rng, 10, variable, int(rng.integers(N_STATES[variable])))
            screening.observe(codes, _rewards(rng, codes, "gaussian"))
        left.append(screening.surviving.tolist())
    assert left.count([False, False, True, False]) >= 18


def test_two_additive_parents_leave_no_single_variable_but_their_pair() -> None:
    """20 runs of 4,000 rows: all singles go; of the pairs the true one stays in at least 18."""
    rng = np.random.default_rng(14)
    kept = 0
    for _ in range(20):
        singles, pairs = (Screening([2, 2, 2, 2], size, 0.05, 0.5) for size in (1, 2))
        codes = rng.integers(2, size=(4000, 4)).astype(np.int16)
        rewards = 0.3 * codes[:, 0] + 0.4 * codes[:, 1] + 0.5 * rng.standard_normal(4000)
        for screening in (singles, pairs):
            screening.observe(codes, rewards)
        assert not singles.surviving.any()
        assert pairs.surviving.sum() <= 1
        kept += bool(pairs.surviving[0])
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
        screening = Screening([2] * 8, 1, 0.05, 0.5)
        screening.observe(codes, rewards)
        assert screening.left == 0


@pytest.mark.parametrize("seed", range(10))
def test_two_causes_that_act_only_together_rule_out_the_first(seed: int) -> None:
    """Neither shows an effect beside the first parent; of 190 pairs only theirs predicts better."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(2, size=(3000, 20)).astype(np.int16)
    means = 0.3 + 0.2 * codes[:, 0] + 0.35 * (codes[:, 1] ^ codes[:, 2])
    screening = Screening([2] * 20, 1, 0.05, 0.5)
    screening.observe(codes, (rng.random(3000) < means).astype(float))
    assert screening.left == 0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_variables_have_few_larger_sets_or_none(n: int) -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(2, size=(200, n)).astype(np.int16)
    for set_size in range(1, n + 1):
        screening = Screening([2] * n, set_size, 0.05, 1.0)
        screening.observe(codes, codes[:, 0] + rng.standard_normal(200))
        assert screening.left >= 1
        assert len(screening.losses()) == len(screening.candidates) + min(4, math.comb(n, set_size + 1))


def test_batching_changes_nothing() -> None:
    rng = np.random.default_rng(15)
    codes = _rows(rng, 1000)
    rewards = _rewards(rng, codes, "gaussian")
    at_once, one_by_one = Screening(N_STATES, 1, 0.05, 1.0), Screening(N_STATES, 1, 0.05, 1.0)
    at_once.observe(codes, rewards)
    for row in range(1000):
        one_by_one.observe(codes[row : row + 1], rewards[row : row + 1])
    np.testing.assert_array_equal(at_once.margins(), one_by_one.margins())
    np.testing.assert_array_equal(at_once.surviving, one_by_one.surviving)


def test_fits_are_residual_sums_of_squares() -> None:
    """The first term of the test against group means computed here; the first row only sets the origin."""
    rng = np.random.default_rng(16)
    codes = _rows(rng, 300)
    rewards = _rewards(rng, codes, "gaussian") + 1000.0
    for size in (1, 2):
        screening = Screening(N_STATES, size, 1e-300, 0.7)  # none is ruled out
        screening.observe(codes, rewards)
        margins = screening.margins()
        fits = []
        for chosen in itertools.combinations(range(4), size):
            total = 0.0
            for states in itertools.product(*(range(N_STATES[variable]) for variable in chosen)):
                group = rewards[1:][(codes[1:, list(chosen)] == states).all(axis=1)]
                total += ((group - group.mean()) ** 2).sum() if len(group) else 0.0
            fits.append(total / (2 * 0.7**2))
        np.testing.assert_allclose(margins - margins[0], np.array(fits) - fits[0], atol=1e-6)


def test_fits_of_rewards_in_the_unit_interval_are_logarithmic_losses_of_means() -> None:
    rng = np.random.default_rng(16)
    codes = _rows(rng, 300)
    for kind in ("within", "rare"):
        rewards = _rewards(rng, codes, kind)
        screening = Screening(N_STATES, 2, 1e-300, 0.5, in_unit_interval=True)
        screening.observe(codes, rewards)
        fits = []
        for chosen in screening.candidates:
            groups = [
                rewards[(codes[:, chosen] == states).all(axis=1)]
                for states in itertools.product(*(range(N_STATES[variable]) for variable in chosen))
            ]
            fits.append(
                sum(
                    len(group) * float(entr(m) + entr(1 - m))
                    for group in groups
                    for m in [group.mean() if len(group) else 0.0]
                )
            )
        margins = screening.margins()
        np.testing.assert_allclose(margins - margins[0], np.array(fits) - fits[0], atol=1e-8)


def test_rare_rewards_are_screened_twice_as_fast_by_their_logarithmic_loss() -> None:
    """Reward 1 in .5, 2 and 8 % of the rows by the parent's state: 20 tables, rows until it alone is left."""
    rows: dict[bool, list[int]] = {True: [], False: []}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        codes = _rows(rng, 40_000)
        rewards = _rewards(rng, codes, "rare")
        for in_unit_interval, needed in rows.items():
            screening = Screening(N_STATES, 1, 0.05, 0.5, in_unit_interval=in_unit_interval)
            while screening.left > 1 and screening.rows + 100 < len(codes):
                block = slice(screening.rows + 1, screening.rows + 101)
                screening.observe(codes[block], rewards[block])
            assert screening.surviving[PARENT]
            needed.append(screening.rows)
    assert np.median(rows[False]) > 2 * np.median(rows[True])


def test_a_reward_outside_the_unit_interval_brings_the_squares_back() -> None:
    """The test that begins anew is that of squares over all rows, its rulings included."""
    rng = np.random.default_rng(21)
    codes = _rows(rng, 1200)
    rewards = _rewards(rng, codes, "bernoulli")
    rewards[800] = 1.5
    squares, switched = (
        Screening(N_STATES, 1, 0.05, 0.5, in_unit_interval=in_unit_interval)
        for in_unit_interval in (False, True)
    )
    for start in range(0, 1200, 100):
        block, done = slice(start, start + 100), (PARENT,) if start % 200 else ()
        for screening in (squares, switched):
            screening.observe(codes[block], rewards[block], done)
    assert not switched.in_unit_interval
    assert squares.left < len(N_STATES)
    np.testing.assert_array_equal(switched.surviving, squares.surviving)
    np.testing.assert_allclose(switched.margins(), squares.margins())


def test_neither_origin_nor_unit_of_the_reward_matters() -> None:
    rng = np.random.default_rng(17)
    codes = _rows(rng, 500)
    rewards = _rewards(rng, codes, "gaussian")
    plain, moved = Screening(N_STATES, 1, 0.05, 1.0), Screening(N_STATES, 1, 0.05, 3.0)
    plain.observe(codes, rewards)
    moved.observe(codes, 3.0 * rewards - 40.0)
    np.testing.assert_allclose(plain.margins(), moved.margins(), atol=1e-8)


def test_the_mixture_is_weighted_by_past_loss() -> None:
    """The second term of the test computed here, row by row, while the candidates are the only experts."""
    rng = np.random.default_rng(18)
    codes = _rows(rng, 15)
    rewards = _rewards(rng, codes, "gaussian")
    screening = Screening(N_STATES, 1, 1e-300, 0.7)
    screening.observe(codes, rewards)
    losses, mixture = np.zeros(4), 0.0
    seen: list[list[list[float]]] = [[[] for _ in range(k)] for k in N_STATES]
    for row in range(1, 15):
        reward = rewards[row] - rewards[0]
        overall = sum(rewards[1:row] - rewards[0]) / row
        groups = [seen[variable][codes[row, variable]] for variable in range(4)]
        predictions = np.array([(sum(group) + 4 * overall) / (len(group) + 4) for group in groups])
        weights = np.exp(-losses) / np.exp(-losses).sum()
        mixture += (reward - weights @ predictions) ** 2 / (2 * 0.7**2)
        losses += (reward - predictions) ** 2 / (2 * 0.7**2)
        for group in groups:
            group.append(reward)
    fits = [
        sum(((np.array(group) - np.mean(group)) ** 2).sum() for group in groups if group) / (2 * 0.7**2)
        for groups in seen
    ]
    np.testing.assert_allclose(screening.margins(), np.array(fits) - mixture, atol=1e-9)
    np.testing.assert_allclose(screening.losses()[:4], losses, atol=1e-9)


def test_an_outlier_of_a_thousand_scales_is_taken_in() -> None:
    rng = np.random.default_rng(19)
    codes = _rows(rng, 400)
    rewards = _rewards(rng, codes, "gaussian")
    rewards[200] = 1000.0
    screening = Screening(N_STATES, 1, 0.05, 1.0)
    screening.observe(codes, rewards)
    assert np.isfinite(screening.margins()).all()
    assert np.isfinite(screening.losses()[:4]).all()


def _proxy_rows(rng: np.random.Generator, size: int, state: int | None) -> tuple[NDArray[np.int16], ...]:
    """Rows of X ← U → R with U hidden, beside a coin; X = `state` if that is set. R is .2 or .8 by U."""
    hidden = rng.integers(2, size=size)
    copied = np.where(rng.random(size) < 0.9, hidden, 1 - hidden)
    proxy = copied if state is None else np.full(size, state)
    codes = np.stack([proxy, rng.integers(2, size=size)], axis=1).astype(np.int16)
    return codes, (rng.random(size) < 0.2 + 0.6 * hidden).astype(float)


def test_a_proxy_of_a_hidden_cause_falls_once_it_is_set() -> None:
    """20 runs of 3,000 seen rows: only the proxy is left; 300 set rows rule it out in each.

    The reward's mean is .74 where X = 1 is seen and .5 where it is set: .12 nats a row, and 12 are needed.
    """
    rng = np.random.default_rng(20)
    for _ in range(20):
        screening = Screening([2, 2], 1, 0.025, 0.5)
        screening.observe(*_proxy_rows(rng, 3000, None))
        assert screening.surviving.tolist() == [True, False]
        screening.observe(*_proxy_rows(rng, 300, 1), (0,))
        assert screening.left == 0
        assert screening.fell_by_regime


def test_a_parent_stays_however_often_it_is_set_and_a_second_one_is_told_from_a_hidden_cause() -> None:
    """Binary rewards of a parent; then with a second parent, which no expert for the regime can predict."""
    rng = np.random.default_rng(21)
    for means in (np.array([[0.2, 0.2], [0.8, 0.8]]), np.array([[0.1, 0.4], [0.6, 0.9]])):
        screening = Screening([2, 2], 1, 0.05, 0.5)
        for turn in range(400):
            codes = rng.integers(2, size=(10, 2)).astype(np.int16)
            if turn % 2:
                codes[:, 0] = turn // 2 % 2
            rewards = (rng.random(10) < means[codes[:, 0], codes[:, 1]]).astype(float)
            screening.observe(codes, rewards, (0,) if turn % 2 else ())
        assert screening.left == (1 if means[0, 0] == means[0, 1] else 0)
        assert not screening.fell_by_regime


@pytest.mark.slow
@pytest.mark.parametrize("failure_prob", [0.05, 0.2])
def test_under_pulls_of_the_parent_chosen_against_it(failure_prob: float) -> None:
    """1,000 runs of 60 pulls of 4 rows, half only seen; what is set is chosen by its margin."""
    rng = np.random.default_rng(22)
    runs, failures = 1000, 0
    for _ in range(runs):
        screening = Screening(N_STATES, 1, failure_prob, 1.0)
        state, margin = 0, 0.0
        for turn in range(60):
            chosen = (PARENT, state) if turn % 2 else (-1, 0)
            codes = _rows(rng, 4, *chosen)
            screening.observe(codes, _rewards(rng, codes, "gaussian"), (PARENT,) if turn % 2 else ())
            if not screening.surviving[PARENT]:
                failures += 1
                break
            now = screening.margins()[PARENT]
            state, margin = state if now > margin else int(rng.integers(3)), now
    assert failures <= binom.ppf(0.999, runs, failure_prob)


@pytest.mark.parametrize("failure_prob", [0.05, 0.2])
def test_with_an_expert_of_the_caller_that_knows_more_than_the_candidates(failure_prob: float) -> None:
    """1,000 runs of up to 300 rows; the expert knows the true means, or guesses by the last reward."""
    rng = np.random.default_rng(31)
    runs, failures = 1000, 0
    for run in range(runs):
        screening = Screening(N_STATES, 1, failure_prob, 1.0)
        last = 0.0
        for _ in range(int(rng.integers(1, 11))):
            codes = _rows(rng, 30)
            rewards = _rewards(rng, codes, "gaussian")
            predicted = MEANS[codes[:, PARENT]] if run % 2 else np.concatenate([[last], rewards[:-1]])
            screening.observe(codes, rewards, (), predicted)
            last = float(rewards[-1])
        failures += not screening.surviving[PARENT]
    assert failures <= binom.ppf(0.999, runs, failure_prob)


def test_an_expert_of_the_caller_rules_out_sooner_and_is_replayed_to_larger_sets() -> None:
    """The reward is the parity of three variables, which no expert of pairs can predict."""
    rng = np.random.default_rng(32)
    codes = rng.integers(2, size=(200, 4)).astype(np.int16)
    parity = codes[:, :3].sum(axis=1) % 2
    rewards = (rng.random(200) < 0.1 + 0.8 * parity).astype(float)
    alone, told = (Screening([2] * 4, 1, 0.05, 0.5) for _ in range(2))
    alone.observe(codes, rewards)
    told.observe(codes, rewards, (), 0.1 + 0.8 * parity)
    assert alone.left == 4
    assert told.left == 0
    assert not told.fell_by_regime
    assert told.larger(2, 0.05).left == 0
    assert told.larger(3, 0.05).candidates[told.larger(3, 0.05).surviving].tolist() == [[0, 1, 2]]


def test_an_expert_of_the_caller_may_end_and_begin_again() -> None:
    """It is some 500 nats ahead of all others when it ends, and so is the mixture when it begins again."""
    rng = np.random.default_rng(33)
    codes = rng.integers(2, size=(3000, 4)).astype(np.int16)
    means = (codes[:, :3].sum(axis=1) % 2).astype(float)
    rewards = means + 0.01 * rng.standard_normal(3000)
    screening = Screening([2] * 4, 1, 1e-300, 0.5)
    for start in range(0, 3000, 500):
        block = slice(start, start + 500)
        given = means[block] if start % 1000 == 0 else None
        screening.observe(codes[block], rewards[block], (), given)
    assert np.isfinite(screening.margins()).all()
    assert (screening.margins() > 300).all()


def test_larger_sets_have_seen_the_same_rows_and_settings() -> None:
    rng = np.random.default_rng(23)
    codes = _rows(rng, 400)
    rewards = _rewards(rng, codes, "gaussian")
    singles, pairs = (Screening(N_STATES, size, 1e-300, 1.0) for size in (1, 2))
    singles.observe(codes[:1], rewards[:1])
    for start in range(1, 400, 7):
        done = (0, 1) if start % 2 else (3,)
        for screening in (singles, pairs):
            screening.observe(codes[start : start + 7], rewards[start : start + 7], done)
    np.testing.assert_allclose(singles.larger(2, 1e-300).losses()[0], pairs.losses()[0], rtol=0.02)
