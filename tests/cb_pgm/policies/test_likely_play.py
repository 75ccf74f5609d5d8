"""The play on likely sets: what it draws, and when other arms compete with it."""

import numpy as np
import pytest

from cb_pgm.evidence.likelihoods import SetLikelihoods
from cb_pgm.model.intervention import Intervention
from cb_pgm.policies.arms import ArmTotals, SingleArms
from cb_pgm.policies.likely_play import LikelyPlay

_STATES = dict.fromkeys("ABC", ("0", "1"))


def _play(
    settable: dict[str, tuple[str, ...]], max_size: int = 1
) -> tuple[LikelyPlay, SetLikelihoods, ArmTotals]:
    likelihoods = SetLikelihoods([2, 2, 2], max_size, 0.5, in_unit_interval=True)
    singles = SingleArms(_STATES, settable)
    return LikelyPlay(_STATES, 0.5, likelihoods, singles), likelihoods, ArmTotals(singles.arms)


def test_sets_are_drawn_as_often_as_the_posterior_says_and_leave_no_trace() -> None:
    play, likelihoods, _ = _play(dict(_STATES))
    likelihoods.log_weights[:] = np.log([0.6, 0.3, 0.1])
    drawn = [play.draw(rounds) for rounds in range(1000)]
    shares = [drawn.count((variable,)) / 1000 for variable in range(3)]
    assert shares == pytest.approx([0.6, 0.3, 0.1], abs=0.01)
    assert play.draw(17) == play.draw(17) == drawn[17]


def test_a_set_with_a_state_that_cannot_be_set_is_not_played() -> None:
    play, likelihoods, _ = _play({"A": ("0",), "B": ("0", "1"), "C": ("0", "1")})
    likelihoods.log_weights[:] = np.log([0.98, 0.01, 0.01])
    assert play.draw(0) == ()


def test_a_state_that_nothing_shows_is_tried_after_as_many_rounds_as_there_are_arms() -> None:
    """A explains all rows; C is never 1 unless it is set, so only setting it can tell what it does."""
    play, likelihoods, arms = _play(dict(_STATES))
    rng = np.random.default_rng(0)
    tried = 0
    for rounds in range(60):
        play.draw(rounds)
        arm = play.next_arm(arms, {})
        codes = np.array([[*rng.integers(2, size=2), 0]], dtype=np.int16)
        for name, state in arm.items():
            codes[0, "ABC".index(name)] = int(state)
        reward = (rng.random(1) < 0.2 + 0.6 * codes[0, 0]).astype(float)
        likelihoods.add(codes, reward)
        arms.add(arm, reward)
        play.add(arm, reward, arms.rounds)
        if arm == Intervention({"C": "1"}) and likelihoods.log_weights[0] > likelihoods.log_weights[2] + 2:
            assert rounds >= 6
            tried += 1
    assert 1 <= tried <= 10


def test_pending_rows_count_as_if_they_had_the_mean_of_their_cell() -> None:
    play, likelihoods, arms = _play(dict(_STATES), max_size=2)
    likelihoods.add(np.zeros((1, 3), dtype=np.int16), np.array([0.5]))
    number = len(likelihoods.sets) - 1
    likelihoods.log_weights[:] = -100.0
    likelihoods.log_weights[number] = 0.0
    chosen = set()
    pending: dict[Intervention, int] = {}
    for _ in range(4):
        assert play.draw(1) == (1, 2)
        arm = play.next_arm(arms, pending)
        pending[arm] = 30
        chosen.add(arm)
    assert len(chosen) == 4  # every joint state is asked for, since those pending have rows enough
