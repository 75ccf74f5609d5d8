"""Whatever unit rewards are in, the answer is the same, in that unit."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cb_pgm import Pipeline, Session, estimate_effects
from cb_pgm.cli.program import main
from cb_pgm.model.reward_unit import RewardUnit
from discovery import DiscreteTable

UNITS = [(1e160, 0.0), (1e-300, 0.0), (1e-12, 0.0), (-1e200, 0.0), (1.0, 1e9)]


def frame(scale: float = 1.0, shift: float = 0.0, *, binary: bool = False) -> pd.DataFrame:
    """Rows in which b raises y by 1 and c is its child; a moves b."""
    rng = np.random.default_rng(3)
    a = rng.integers(2, size=400)
    b = np.where(rng.random(400) < 0.8, a, 1 - a)
    c = np.where(rng.random(400) < 0.7, b, 1 - b)
    y = (rng.random(400) < 0.3 + 0.4 * b) * 1.0 if binary else np.round(b + rng.normal(0, 0.5, 400), 3)
    return pd.DataFrame({"a": a.astype(str), "b": b.astype(str), "c": c.astype(str), "y": scale * y + shift})


def asked(scale: float, shift: float) -> dict[str, bool]:
    return {"minimize": scale < 0}


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize(("scale", "shift"), UNITS)
def test_effects_in_any_unit(scale: float, shift: float, binary: bool) -> None:
    plain, other = (
        estimate_effects(
            DiscreteTable.from_frame(frame(*unit, binary=binary), reward="y"), draws=4, **asked(*unit)
        )
        for unit in ((1.0, 0.0), (scale, shift))
    )
    near = {"rel": 1e-6, "abs": 1e-6}
    assert other.decision.leader == plain.decision.leader
    assert other.decision.grounds == plain.decision.grounds
    assert other.scale.parents == plain.scale.parents
    assert (other.decision.mean - shift) / scale == pytest.approx(plain.decision.mean, **near)
    assert sorted((end - shift) / scale for end in other.decision.interval) == pytest.approx(
        plain.decision.interval, **near
    )
    gain, ends = other.decision.over_nothing.gain, other.decision.over_nothing.interval
    assert gain / abs(scale) == pytest.approx(plain.decision.over_nothing.gain, **near)
    assert [end / abs(scale) for end in ends] == pytest.approx(plain.decision.over_nothing.interval, **near)
    assert other.scale.residual / abs(scale) == pytest.approx(plain.scale.residual, **near)
    # A lowered reward has its rows in another order, so other rows are drawn: arms that don't lead may swap.
    same = {str(arm.intervention): arm for arm in plain.arms}
    assert {str(arm.intervention) for arm in other.arms} == same.keys()
    for one in other.arms:
        two = same[str(one.intervention)]
        assert sorted((end - shift) / scale for end in one.bounds) == pytest.approx(two.bounds, **near)


@pytest.mark.parametrize(("scale", "shift"), UNITS)
def test_a_run_in_any_unit(scale: float, shift: float, tmp_path: Path) -> None:
    settings = {"policies": ("screening", "moss"), "horizon": 200, "seed": 1, "draws": 2}
    plain, other = (
        Pipeline(frame(*unit), "y", **settings, **asked(*unit)).run() for unit in ((1.0, 0.0), (scale, shift))
    )
    for one, two in zip(other.to_dict()["policies"], plain.to_dict()["policies"], strict=True):
        assert one.pop("regret") / abs(scale) == pytest.approx(two.pop("regret"), rel=1e-6)
        assert one == two
    regrets = other.curves()["regret"] / abs(scale)
    assert regrets.to_numpy() == pytest.approx(plain.curves()["regret"].to_numpy(), rel=1e-6, abs=1e-6)
    assert max(map(len, other.to_text().splitlines())) < 400


@pytest.mark.parametrize("policy", ["screening", "cn-ucb", "moss"])
@pytest.mark.parametrize(("scale", "shift"), UNITS)
def test_a_session_in_any_unit(scale: float, shift: float, policy: str, tmp_path: Path) -> None:
    seen = []
    for name, unit in (("plain", (1.0, 0.0)), ("other", (scale, shift))):
        data = frame(*unit)
        settings = {"data": data, "reward": "y", "policy": policy, "horizon": 200, "seed": 1}
        with Session.start(tmp_path / name, **settings, **asked(*unit)) as session:
            pulls = []
            for _ in range(6):
                (pull,) = session.ask(batch=4)
                (variable, state) = next(iter(pull.intervention.items()), ("a", "0"))
                rows = data[data[variable] == state].iloc[: pull.left]
                told = rows.to_dict("records")
                session.tell(told, again=True, close=True)
                pulls.append((pull.intervention, len(told)))
            status = session.status()
            best = status.best_arm or status.best_if_identified
        seen.append((pulls, status.reward_variables, best))
    (pulls, causes, best), (same_pulls, same_causes, same) = seen
    assert (pulls, causes, best.intervention) == (same_pulls, same_causes, same.intervention)
    found = [
        (value - shift) / scale for value in (same.mean, *sorted((same.low, same.high), reverse=scale < 0))
    ]
    assert found == pytest.approx([best.mean, best.low, best.high], rel=1e-5, abs=1e-6)


def test_a_plan_in_any_unit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for number, (scale, shift) in enumerate([(1.0, 0.0), *(unit for unit in UNITS if unit[0] > 0)]):
        path = tmp_path / f"{number}.csv"
        frame(scale, shift).to_csv(path, index=False)
        command = ["plan", "--data", str(path), "--reward", "y", "--horizon", "200", "--runs", "2", "--json"]
        assert main([*command, "--policy", "ucb", "screening"]) == 0
        plan = json.loads(capsys.readouterr().out)
        gaps = [plan[which]["reward_gap"] / scale for which in ("printed", "effective")]
        regrets = [one["regret"] / scale for one in plan["forecasts"]]
        found.append([plan["noise_scale"] / scale, *gaps, *regrets])
    for other in found[1:]:
        assert other[:3] == pytest.approx(found[0][:3], rel=1e-6)
        # The content of a table seeds the draws, so that the regrets differ but for their size.
        assert 0 < other[3] < 4 * found[0][3]


def test_the_text_shows_the_digits_in_which_means_differ() -> None:
    table = DiscreteTable.from_frame(frame(1.0, 1e9), reward="y")
    report = estimate_effects(table, draws=4)
    lines = report.to_text().splitlines()
    low, high = report.decision.interval
    assert f"1,000,000,00{low - 1e9:.3f} to 1,000,000,00{high - 1e9:.3f}" in lines[2]


def test_what_fills_the_unit_interval() -> None:
    table = DiscreteTable.from_frame(frame(2e5, -7.0), reward="y")
    unit = RewardUnit.of(table)
    inside = unit.table(table).rewards
    assert (inside.min(), inside.max()) == (0.0, 1.0)
    assert [unit.outside(reward) for reward in inside] == pytest.approx(table.rewards.tolist())
    assert RewardUnit.of(DiscreteTable.from_frame(frame(binary=True), reward="y")) == RewardUnit()
