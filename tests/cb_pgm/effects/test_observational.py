"""Answers from observations alone: that they add up, and what they presume."""

import numpy as np
import pytest
from answers import HIDDEN, PRESUMED, table_of, unpresumed

from cb_pgm import estimate_effects
from cb_pgm.effects.draws import Source, draw_models
from cb_pgm.model.canonical import canonical_rows
from cb_pgm.model.reward_parents import likely_parents
from discovery import DiscreteTable
from discovery.estimation.settings import EstimateSettings

# -- several causes ----------------------------------------------------------------------------------------


def additive(causes: int, rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, DiscreteTable]:
    """Return effects [causes, 3] of mean 0, the codes, and a table whose reward is their sum and noise."""
    rng = np.random.default_rng([causes, rows, seed])
    effects = rng.normal(size=(causes, 3))
    effects -= effects.mean(axis=1, keepdims=True)
    codes = rng.integers(3, size=(rows, causes))
    rewards = effects[np.arange(causes), codes].sum(axis=1) + rng.normal(size=rows)
    return effects, codes, table_of(rewards, **{f"x{i}": codes[:, i] for i in range(causes)})


def by_regression(codes: np.ndarray, rewards: np.ndarray) -> np.ndarray:
    """Return the arms' means [causes, 3] by least squares on the causes' states."""
    rows, causes = codes.shape
    shown = (codes[:, :, None] == np.arange(3)).reshape(rows, -1)
    effects = np.linalg.lstsq(np.column_stack([np.ones(rows), shown]), rewards, rcond=None)[0][1:]
    effects = effects.reshape(causes, 3)
    shares = shown.mean(axis=0).reshape(causes, 3)
    return rewards.mean() + effects - (effects * shares).sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("causes", "rows"), [(3, 200), (5, 400), (8, 300)])
def test_effects_that_add_up_are_not_pulled_to_the_mean(causes, rows):
    covered, errors, usual = [], [], []
    tables = 10
    for seed in range(tables):
        effects, codes, table = additive(causes, rows, seed)
        report = estimate_effects(table, draws=25)
        known = by_regression(codes, table.rewards)
        for arm in report.arms:
            place = int(arm.variable[1:]), int(arm.state)
            covered.append(arm.interval[0] <= effects[place] <= arm.interval[1])
            errors.append(arm.mean - effects[place])
            usual.append(known[place] - effects[place])
    assert np.mean(covered) >= 0.85
    assert np.std(errors) <= 1.15 * np.std(usual)


def test_the_strongest_of_five_causes_has_its_whole_effect():
    """400 rows; a = 2 adds 2. Their mean is .18 above the truth, so that least squares says 2.27 as well."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, (400, 5))
    rewards = ((codes - 1) @ [2, 1.5, 1.2, 1, 1] + rng.normal(0, 1, 400)).round(3)
    table = table_of(rewards, **{name: codes[:, i] for i, name in enumerate("abcde")})
    decision = estimate_effects(table, draws=40).decision
    assert decision.leader == {"a": "2"}
    assert decision.over_nothing.interval[0] < 2 < decision.over_nothing.interval[1]
    assert decision.over_nothing.gain == pytest.approx(2, abs=0.2)
    assert decision.mean == pytest.approx(by_regression(codes, rewards)[0, 2], abs=0.1)


def test_expected_mean_baseline_and_gain_add_up():
    _, _, table = additive(5, 400, 1)
    report = estimate_effects(table, draws=20)
    decision = report.decision
    assert decision.mean == pytest.approx(report.do_nothing + decision.over_nothing.gain)
    for arm in report.arms:
        own = [c for c in report.contrasts if (c.variable, c.state) == (arm.variable, arm.state)]
        against = {(a.variable, a.state): a.mean for a in report.arms}
        for contrast in own:
            difference = arm.mean - against[contrast.variable, contrast.against]
            assert contrast.difference == pytest.approx(difference)


@pytest.mark.parametrize(("causes", "rows"), [(3, 200), (6, 500)])
def test_the_models_have_the_mean_that_the_rows_have(causes, rows):
    """Before they are moved to it."""
    _, _, table = additive(causes, rows, 3)
    data = canonical_rows(table)
    sets = likely_parents(data.all_codes, data.all_rewards, data.cards)
    models = draw_models(Source(data, EstimateSettings(), None, sets), 20, 0)
    error = table.rewards.std() / np.sqrt(rows)
    assert models.do_nothing.mean() == pytest.approx(table.rewards.mean(), abs=2 * error)


@pytest.mark.parametrize("seed", range(6))
def test_the_arm_that_leads_is_not_called_worse(seed):
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(3, size=150) for name in "abc"}
    table = table_of(rng.random(150) < 0.3 + 0.1 * columns["a"] * (columns["b"] == 1), **columns)
    report = estimate_effects(table, draws=10)
    assert report.decision.over_second.gain >= -1e-12
    assert all(0 <= end <= 1 for arm in report.arms for end in (*arm.interval, *arm.bounds))
    assert "-0 " not in report.to_text()


# -- what is presumed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", HIDDEN)
def test_no_line_claims_an_effect_without_its_presumption(kind):
    for seed in range(4):
        report = estimate_effects(HIDDEN[kind][0](np.random.default_rng(seed)), draws=8)
        text = report.to_text()
        for part in text.split("\n\n")[1].splitlines():
            if "best bet" in part or "looks best" in part:
                assert part.lower().startswith(PRESUMED)
        assert not unpresumed(report), unpresumed(report)
        assert "no rows were selected" in text
        assert "To settle it, randomise between" in text
        if report.decision.is_decided:
            assert "E-value" in text


def test_the_e_value_is_that_of_its_paper():
    """VanderWeele & Ding's example: a risk ratio of 3.9 has the E-value 7.26."""
    from cb_pgm.effects.decision import _of_ratio

    assert _of_ratio(3.9) == pytest.approx(7.26, abs=0.005)
    assert _of_ratio(0.8) == 1
