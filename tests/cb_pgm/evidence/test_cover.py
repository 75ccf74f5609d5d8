"""What rows say of arms on other variables than the identified parents."""

import numpy as np

from cb_pgm.evidence.cover import Cover


def _rows(size: int, never: bool) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a parent and of another variable, both even coins unless the second `never` is 1."""
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=(size, 2)).astype(np.int16)
    if never:
        codes[:, 1] = 0
    return codes, 0.2 + 0.6 * codes[:, 0] + 0.5 * rng.standard_normal(size)


def test_a_state_seen_often_enough_is_covered_and_one_never_seen_is_not() -> None:
    for never in (False, True):
        cover = Cover([2, 2], [0], 0.01, 0.5)
        codes, rewards = _rows(2000, never)
        cover.add(codes, rewards, np.zeros((2000, 2), dtype=np.bool_))
        assert cover.rare().tolist() == [[False, False], [False, never]]
        bounds = cover.upper_bounds()
        assert bounds[1, 0] < 0.7
        assert (bounds[1, 1] == np.inf) == never


def test_an_effect_of_its_own_keeps_an_arm_uncovered() -> None:
    """Rows with 1 in the second variable yield .3 more than the parent explains; half of it stays."""
    cover = Cover([2, 2], [0], 0.01, 0.5)
    codes, rewards = _rows(4000, never=False)
    cover.add(codes, rewards + 0.3 * codes[:, 1], np.zeros((4000, 2), dtype=np.bool_))
    bounds = cover.upper_bounds()
    np.testing.assert_allclose(bounds[1, 1] - bounds[1, 0], 0.3, atol=0.1)


def test_rows_in_which_a_variable_was_set_do_not_make_its_state_common() -> None:
    cover = Cover([2, 2], [0], 0.01, 0.5)
    codes, rewards = _rows(100, never=True)
    cover.add(codes, rewards, np.zeros((100, 2), dtype=np.bool_))
    codes = np.tile(np.array([[0, 1]], dtype=np.int16), (900, 1))
    was_set = np.tile([False, True], (900, 1))
    cover.add(codes, np.zeros(900), was_set)
    assert cover.rare()[1].tolist() == [False, True]
    assert np.isfinite(cover.upper_bounds()[1, 1])


def test_contrasts_are_the_precision_of_a_regression_on_the_state() -> None:
    """Given w's states, the least squares estimate of an effect of v = x has the variance σ² / contrast."""
    rng = np.random.default_rng(5)
    codes = rng.integers(3, size=(200, 2)).astype(np.int16)
    codes[:, 1] = np.where(rng.random(200) < 0.6, codes[:, 0], codes[:, 1])
    was_set = np.zeros((200, 2), dtype=np.bool_)
    was_set[:70, 0] = True
    cover = Cover([3, 3], [0], 0.01, 0.5)
    cover.add(codes, rng.random(200), was_set)
    assert cover.set_rows == 70
    for state in range(3):
        design = np.column_stack([codes[:, 0] == cell for cell in range(3)] + [codes[:, 1] == state])
        variance = np.linalg.inv(design.T.astype(float) @ design)[-1, -1]
        np.testing.assert_allclose(cover.contrasts()[1, state], 1 / variance)
    np.testing.assert_allclose(cover.contrasts()[0], 0.0, atol=1e-12)
