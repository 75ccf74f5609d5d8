"""Tables without rows in which nothing was set: what was measured is said, and nothing else."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cb_pgm import EffectsReport, estimate_effects, plots
from cb_pgm.cli import main
from cb_pgm.errors import CausalBanditError
from discovery import DiscreteTable, InterventionalRows

STATES = {"arm": ("a", "b", "c"), "mood": ("down", "up")}
FEW = 20  # draws


def log(
    rates: dict[str, float], rows: int | dict[str, int] = 400, untouched: int = 0, seed: int = 0
) -> DiscreteTable:
    """Return a log in which the arm was set in every row but `untouched` ones; the mood plays no part."""
    rng = np.random.default_rng(seed)
    each = dict.fromkeys(rates, rows) if isinstance(rows, int) else rows
    arms = [STATES["arm"].index(name) for name, times in each.items() for _ in range(times)]
    arms += [0] * untouched
    codes = np.column_stack([arms, rng.integers(2, size=len(arms))]).astype(np.int16)
    means = np.array([rates.get(name, 0.0) for name in STATES["arm"]])
    rewards = (rng.random(len(arms)) < means[codes[:, 0]]).astype(float)
    done = len(arms) - untouched
    given = InterventionalRows(
        np.asfortranarray(codes[:done]), STATES, rewards[:done], np.zeros(done, dtype=np.int16)
    )
    return DiscreteTable(
        np.asfortranarray(codes[done:]), STATES, rewards[done:], reward="well=yes", interventional=given
    )


def write(path: Path, table: DiscreteTable) -> Path:
    """Write a log as a CSV file."""
    done = table.interventional
    lines = ["arm,mood,well,INT"]
    for codes, rewards, what in ((done.codes, done.rewards, "arm"), (table.codes, table.rewards, "")):
        for (arm, mood), reward in zip(codes.tolist(), rewards.tolist(), strict=True):
            lines.append(f"{STATES['arm'][arm]},{STATES['mood'][mood]},{'yes' if reward else 'no'},{what}")
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def clear() -> EffectsReport:
    return estimate_effects(log({"a": 0.2, "b": 0.8, "c": 0.5}), draws=FEW)


def test_the_best_arm_is_measured(clear: EffectsReport) -> None:
    decision = clear.decision
    assert decision.grounds == "measured"
    assert decision.leader == {"arm": "b"}
    assert decision.second == {"arm": "c"}
    assert decision.is_decided
    assert decision.over_nothing is None
    assert decision.gain == decision.over_second
    low, high = decision.over_second.interval
    assert low < 0.3 < high
    assert decision.p_best == 1
    assert clear.do_nothing is None
    assert clear.do_nothing_interval is None
    assert [arm.state for arm in clear.arms] == ["b", "c", "a"]
    for arm, rate in zip(clear.arms, (0.8, 0.5, 0.2), strict=True):
        assert arm.set_rows.rows == 400
        assert arm.set_rows.interval[0] < rate < arm.set_rows.interval[1]
        assert arm.bounds[0] < rate < arm.bounds[1]
        assert (arm.mean, arm.interval, arm.seen, arm.p_better) == (None, None, None, None)
    assert clear.hangs_on == clear.edges == ()
    assert any("mood" in warning and "never set" in warning for warning in clear.warnings)


def test_the_text_says_what_is_known_and_what_is_not(clear: EffectsReport) -> None:
    text = clear.to_text()
    assert text.startswith(
        "Which intervention has the highest mean of well=yes? From 1,200 rows in which a variable was set."
    )
    assert "Set arm = b. well=yes: 0.8 against 0.195 under arm = a, the control" in text
    assert "over the closest rival, arm = c: " in text
    assert "graph" not in text.split("warning:")[0]
    for absent in ("nan", "None", "inf", "P(better)", "over graphs, 90 %", "seen (rows)"):
        assert absent not in text
    assert clear.decision.next == ()


def test_the_json_has_null_where_there_is_nothing(clear: EffectsReport) -> None:
    content = json.loads(json.dumps(clear.to_dict(), allow_nan=False))
    assert content["do_nothing"] == {"mean": None, "interval": None}
    first = content["arms"][0]
    assert first["seen"] == {"rows": 0, "mean": None}
    assert first["set"]["rows"] == 400
    assert [first[key] for key in ("mean", "interval", "p_better")] == [None, None, None]
    recommendation = content["recommendation"]
    assert recommendation["intervention"] == {"arm": "b"}
    assert recommendation["grounds"] == "measured"
    assert recommendation["gain"] == pytest.approx(0.3, abs=0.1)
    assert recommendation["interval"] == first["set"]["interval"]


def test_without_a_clear_difference_nothing_is_recommended() -> None:
    report = estimate_effects(log({"a": 0.2, "b": 0.5, "c": 0.5}), draws=FEW)
    assert not report.decision.is_decided
    assert "Undecided: no intervention has a gain over all others whose interval excludes 0." in (
        report.to_text()
    )
    content = report.to_dict()["recommendation"]
    assert (content["intervention"], content["mean"], content["interval"]) == (None, None, None)
    assert "arm = b" in report.decision.next[0]
    assert "arm = c" in report.decision.next[0]
    assert "arm = a" not in report.decision.next[0]


@pytest.mark.parametrize("seed", range(3))
def test_an_arm_with_few_rows_is_not_ruled_out_by_them(seed: int) -> None:
    """Three rows without success don't say that the arm has few; nor do three successes lead."""
    for rate in (0.0, 1.0):
        table = log({"a": 0.5, "b": 0.6, "c": rate}, {"a": 400, "b": 400, "c": 3}, seed=seed)
        report = estimate_effects(table, draws=FEW)
        assert report.decision.leader["arm"] in ("a", "b")
        assert not report.decision.is_decided
        assert report.arms[-1].state == "c"
        assert report.arms[-1].p_best < 1


def test_two_rows_give_an_interval_in_proportion() -> None:
    """By the scale of the rewards; the variance of two rows by itself is hardly known."""
    table = log({"a": 0.5, "b": 0.9, "c": 0.0}, {"a": 400, "b": 400, "c": 2}, untouched=1)
    decision = estimate_effects(table, draws=FEW).decision
    for compared in (decision.over_nothing, decision.over_second):
        low, high = compared.interval
        assert 0.5 < high - low < 3


def test_a_wrong_arm_is_rarely_recommended() -> None:
    """Three equal arms: whichever is recommended is so without a reason; at most in δ of the tables."""
    tables, delta = 300, 0.05
    wrong = sum(
        estimate_effects(log(dict.fromkeys("abc", 0.5), 100, seed=seed), draws=1).decision.is_decided
        for seed in range(tables)
    )
    assert wrong <= tables * delta + 3 * np.sqrt(tables * delta * (1 - delta))


def test_few_untouched_rows_give_do_nothing_a_mean_and_no_graphs() -> None:
    report = estimate_effects(log({"a": 0.2, "b": 0.8}, untouched=10), draws=FEW)
    assert report.rows == 10
    assert report.models == 0
    assert report.do_nothing is not None
    assert report.decision.leader == {"arm": "b"}
    assert report.decision.over_nothing.interval[0] > -0.5
    assert report.arms[0].p_better > 0.8
    assert "From 800 rows in which a variable was set and 10 rows in which none was." in report.to_text()


def test_a_single_arm_has_nothing_to_be_compared_with() -> None:
    report = estimate_effects(log({"b": 0.8}), draws=FEW)
    assert report.decision.gain is None
    assert not report.decision.is_decided
    assert report.to_dict()["recommendation"]["gain"] is None
    assert report.to_text()


def test_the_lowest_mean_and_numeric_rewards() -> None:
    table = log({"a": 0.2, "b": 0.8, "c": 0.5})
    done = table.interventional
    numeric = replace(done, rewards=10 * done.rewards + np.random.default_rng(1).normal(size=len(done)))
    report = estimate_effects(replace(table, interventional=numeric), minimize=True, draws=FEW)
    assert report.decision.leader == {"arm": "a"}
    assert report.decision.gain.interval[0] < 3 < report.decision.gain.interval[1]


def test_rewards_that_are_all_the_same_are_refused() -> None:
    """But that all arms of an experiment always succeed is a result."""
    done = log({"a": 1.0, "b": 1.0})
    assert not estimate_effects(done, draws=FEW).decision.is_decided
    equal = replace(
        done, interventional=replace(done.interventional, rewards=0 * done.interventional.rewards + 7)
    )
    for table, settings in ((done, {"graphs": True}), (equal, {})):
        with pytest.raises(CausalBanditError, match="rewards that differ"):
            estimate_effects(table, draws=FEW, **settings)


def test_the_picture_has_no_line_for_doing_nothing(clear: EffectsReport) -> None:
    frame = plots.effects_frame(clear.to_dict())
    assert set(frame["basis"]) == {"bounds", "set"}
    figure = plots.draw_effects(frame, None, reward="well=yes")
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["no-assumption bounds", "experimental (rows set)"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "log.csv", log({"a": 0.2, "b": 0.8, "c": 0.5}))
    command = ["effects", str(path), "--reward", "well=yes", "--intervention-column", "INT", "--draws", "5"]
    assert main([*command, "--out", str(tmp_path / "out")]) == 0
    assert "Set arm = b." in capsys.readouterr().out
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == [
        "effects.json", "effects.png", "effects.svg", "effects.txt", "report.html"
    ]  # fmt: skip
    assert main(["run", str(path), "--reward", "well=yes", "--intervention-column", "INT"]) == 1
    message = capsys.readouterr().err.strip()
    assert message.count("\n") == 0
    assert "cb-pgm effects" in message
