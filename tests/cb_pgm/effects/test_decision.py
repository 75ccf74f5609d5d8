"""Which arm leads over graphs, on draws made up for it."""

import numpy as np
import pytest

from cb_pgm.effects.arms import Draws, arms_of
from cb_pgm.effects.canonical import canonical_rows
from cb_pgm.effects.decision import decide
from cb_pgm.effects.draws import MODELS_A_DRAW
from cb_pgm.effects.noise import reward_scale
from cb_pgm.effects.values import Decision
from cb_pgm.model.reward_unit import RewardUnit
from discovery import DiscreteTable

TABLES = 100


def _decision(gains: dict[str, tuple[float, float]], seed: int = 0) -> Decision:
    """Return the decision if the arms' gains have these means and standard deviations over draws, exactly."""
    rng = np.random.default_rng(seed)
    names = tuple(gains)
    codes = rng.integers(len(names), size=(60, 1)).astype(np.int16)
    rewards = (rng.random(60) < 0.5).astype(float)
    table = DiscreteTable(np.asfortranarray(np.repeat(codes, 2, axis=1)), {"a": names, "b": names}, rewards)
    rows = canonical_rows(table)
    arms = arms_of(rows, {"a": names}, ())
    drawn = rng.standard_normal((TABLES, len(names)))
    drawn = (drawn - drawn.mean(axis=0)) / drawn.std(axis=0)
    means, deviations = np.array(list(gains.values())).T
    gained = np.repeat(means + deviations * drawn, MODELS_A_DRAW, axis=0)
    draws = Draws(0.5 + gained, gained, (frozenset(),) * len(gained))
    unit = RewardUnit.of(table)
    return decide(
        rows, arms, draws, reward_scale(rows, [], None, None, unit),
        sign=1, failure_prob=0.05, power=0.8, assumed=False, rng=rng, unit=unit,
    )  # fmt: skip


def test_of_arms_that_the_draws_do_not_tell_apart_the_surest_leads() -> None:
    """The error of the difference is about .03 with 100 tables: .04 isn't told from 0, .1 is."""
    tied = _decision({"rare": (0.14, 0.3), "sure": (0.1, 0.02)})
    assert tied.leader == {"a": "sure"}
    assert tied.second == {"a": "rare"}
    assert tied.over_second is not None
    assert tied.over_second.gain == pytest.approx(-0.04)
    apart = _decision({"rare": (0.2, 0.3), "sure": (0.1, 0.02)})
    assert apart.leader == {"a": "rare"}


def test_an_arm_that_is_never_the_best_does_not_lead_however_sure_it_is() -> None:
    assert _decision({"rare": (0.01, 0.3), "none": (0.0, 0.0)}).leader == {"a": "rare"}


def test_of_equally_sure_arms_the_best_mean_leads_or_the_first_by_name() -> None:
    assert _decision({"x": (0.1, 0.0), "y": (0.2, 0.0)}).leader == {"a": "y"}
    assert _decision({"x": (0.2, 0.0), "y": (0.2, 0.0)}).leader == {"a": "x"}
