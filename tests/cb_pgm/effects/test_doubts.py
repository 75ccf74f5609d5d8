"""Columns that come from the reward, trials that weren't, and knowledge that the rows refute."""

import json
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from answers import table_of

from cb_pgm import estimate_effects
from cb_pgm.cli import main

STONES = ["effects", "data/kidney_stones.csv", "--reward", "success=yes"]


@pytest.fixture
def spending(tmp_path: Path) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    treat, base = rng.integers(2, size=300), rng.integers(20, 200, size=300)
    extra = rng.integers(1, 40, size=300) + 20 * treat
    total = base + extra
    return pd.DataFrame({"treat": treat, "sex": rng.choice(list("mf"), 300), "total": total, "base": base,
                         "extra": extra})  # fmt: skip


def refused(frame: pd.DataFrame, path: Path, capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    """Return what `effects` says of the table in the way of errors."""
    frame.to_csv(path, index=False)
    code = main(["effects", str(path), "--reward", "total", "--bins", "3", "--draws", "3", *flags])
    assert code in (0, 1)
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("high", lambda frame: frame["total"] > 150),
        ("band", lambda frame: pd.cut(frame["total"], [0, 60, 120, 180, 300], labels=list("abcd"))),
        ("log", lambda frame: np.log(frame["total"]).round(4)),
        ("negative", lambda frame: -frame["total"]),
    ],
)
def test_a_column_computed_from_the_reward_is_refused_with_the_flags(
    name, column, spending, tmp_path, capsys
):
    frame = spending.drop(columns=["base", "extra"]).assign(**{name: column})
    message = refused(frame, tmp_path / "t.csv", capsys)
    assert f"--ignore {name})" in message
    assert f"--keep {name})" in message
    for flag in ("--ignore", "--keep"):
        assert not refused(frame, tmp_path / "t.csv", capsys, flag, name).startswith("error")


def test_the_parts_of_a_sum_and_the_sum_of_parts_are_refused(spending, tmp_path, capsys):
    message = refused(spending, tmp_path / "t.csv", capsys)
    assert "--ignore base extra)" in message
    part = spending.rename(columns={"total": "sum", "base": "total"})  # the reward is a part
    assert "--ignore sum extra)" in refused(part, tmp_path / "t.csv", capsys)


def test_the_factors_of_a_product_are_refused(spending, tmp_path, capsys):
    frame = spending.assign(total=spending["base"] * spending["extra"])
    assert "--ignore base extra)" in refused(frame, tmp_path / "t.csv", capsys)


def test_a_column_that_explains_nearly_all_is_the_first_warning(spending, tmp_path, capsys):
    frame = spending.drop(columns=["base", "extra"])
    frame["level"] = pd.cut(
        frame["total"] + np.random.default_rng(1).normal(0, 2, 300), 8, labels=list("abcdefgh")
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert main(["effects", str(tmp_path / "t.csv"), "--reward", "total", "--draws", "3", "--json"]) == 0
    warnings = json.loads(capsys.readouterr().out)["warnings"]
    assert warnings[0].startswith("level alone explains 9")
    assert "--ignore level" in warnings[0]


def test_ordinary_causes_are_none_of_these(capsys):
    """Neither a small table in which two states happen not to overlap, nor a strong cause."""
    for command in (
        ["effects", "data/asia.csv", "--reward", "xray=yes", "--draws", "2"],
        ["effects", "data/kidney_stones.csv", "--reward", "success=yes", "--draws", "2"],
    ):
        assert main(command) == 0
        assert "computed from" not in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(5))
def test_several_causes_are_not_taken_for_effects(seed):
    """Six causes of a sum: their edges may point either way for want of rows to fill their joint states."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (400, 6))
    rewards = rng.normal(size=(6, 3))[np.arange(6), codes].sum(axis=1) + rng.normal(size=400)
    table = table_of(rewards, **{f"x{i}": codes[:, i] for i in range(6)})
    assert not [line for line in estimate_effects(table, draws=2).warnings if "edge from it" in line]


def test_an_effect_of_the_reward_is_named():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (1500, 3))
    rewards = codes @ [1.0, 1.2, 0.8] + rng.normal(size=1500)
    child = (rewards + rng.normal(size=1500) > rewards.mean()).astype(int)
    table = table_of(rewards, child=child, **{f"x{i}": codes[:, i] for i in range(3)})
    warnings = estimate_effects(table, draws=2).warnings
    assert any(
        "edge from it to child: the reward acts on child, or something hidden" in line for line in warnings
    )


def test_a_treatment_that_depends_on_what_it_cannot_act_on_was_not_set_at_random(tmp_path, capsys):
    """Stones were there before the treatment; on five copies of the rows B would be "set"."""
    rows = pd.read_csv("data/kidney_stones.csv")
    pd.concat([rows] * 5).to_csv(tmp_path / "five.csv", index=False)
    (tmp_path / "known.toml").write_text('roots = ["size"]\n', encoding="utf-8")
    command = ["effects", str(tmp_path / "five.csv"), "--reward", "success=yes", "--randomised", "treatment"]
    assert main([*command, "--not-settable", "size", "--draws", "20"]) == 0
    assert "unless treatment acts on size, it wasn't set at random" in capsys.readouterr().out
    known = ["--knowledge", str(tmp_path / "known.toml")]
    assert main([*command, "--not-settable", "size", "--draws", "20", *known]) == 0
    text = capsys.readouterr().out
    assert "warning: treatment depends on size" in text
    assert "Set " not in text
    assert "treatment = A" in text.split("If nothing hidden acts on both")[1]


def test_knowledge_that_the_rows_refute_is_named(tmp_path, capsys):
    """M-bias: X ← U → M ← V → Y, U and V hidden. X and M aren't adjacent, yet the rows depend."""
    rng = random.Random(5)
    lines = ["X,M,Y"]
    for _ in range(4000):
        u, v = rng.random() < 0.5, rng.random() < 0.5
        x, m = rng.random() < (0.9 if u else 0.1), rng.random() < 0.05 + 0.45 * u + 0.45 * v
        lines.append(f"{int(x)},{int(m)},{int(rng.random() < (0.9 if v else 0.1))}")
    (tmp_path / "m.csv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "m.toml").write_text('forbidden = [["X", "M"], ["M", "X"]]\n', encoding="utf-8")
    command = ["effects", str(tmp_path / "m.csv"), "--reward", "Y=1", "--not-settable", "M", "--draws", "5"]
    assert main([*command, "--knowledge", str(tmp_path / "m.toml"), "--json"]) == 0
    warnings = json.loads(capsys.readouterr().out)["warnings"]
    assert "the rows refute that M independent of X" in warnings[0]
    assert "something hidden acts on both, rows were selected, or it is wrong" in warnings[0]
