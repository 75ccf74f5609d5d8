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
