"""The joint states that best separate two explanations for their cost, against a loop over all of them."""

import itertools

import numpy as np
import pytest
from scipy.special import rel_entr

from cb_pgm.evidence.losses import LOGARITHMIC
from cb_pgm.evidence.separation import best_cell


def _cell(variables: tuple[int, ...], states: dict[int, int], n_states: int) -> int:
    return sum(states[variable] * n_states**place for place, variable in enumerate(variables))


def _kullback_leibler(one: float, other: float) -> float:
    return float(rel_entr(one, other) + rel_entr(1 - one, 1 - other))


@pytest.mark.parametrize("scale", [0.5, LOGARITHMIC])
@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_best_of_all_joint_states_that_can_be_set(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    n_states, least = 3, 0.05
    first, second = ((0, 2), (1,)) if seed % 2 else ((1, 3), (0, 1))
    settable = rng.random((4, n_states)) < 0.8
    settable[:, 0] = True
    means = [rng.random(n_states ** len(chosen)) for chosen in (first, second)]
    together = sorted({*first, *second})
    found = []
    for states in itertools.product(range(n_states), repeat=len(together)):
        by_variable = dict(zip(together, states, strict=True))
        if all(settable[variable, state] for variable, state in by_variable.items()):
            one, other = (
                float(mean[_cell(chosen, by_variable, n_states)])
                for mean, chosen in zip(means, (first, second), strict=True)
            )
            worth = (one - other) ** 2 / scale if scale else _kullback_leibler(one, other)
            found.append((states, one, worth))
    highest = max(one for _, one, _ in found)
    wanted = max(found, key=lambda cell: cell[2] / (highest - cell[1] + least))
    states, worth = best_cell(together, settable, (first, means[0]), (second, means[1]), least, scale)
    assert states == wanted[0]
    assert worth == pytest.approx(wanted[2])


def test_explanations_that_agree_have_no_difference() -> None:
    means = np.array([0.1, 0.1])
    settable = np.ones((2, 2), dtype=np.bool_)
    _, worth = best_cell([0, 1], settable, ((0,), means), ((1,), means), 0.1, 0.5)
    assert worth == 0.0
