"""Tables with one treatment and one outcome; and numbers told as the session's table writes them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from cb_pgm import Session
from cb_pgm.cli.program import main

#: A trial of 38: no sale in 19 with A, 9 in 19 with B.
TRIAL = [("A", "no")] * 19 + [("B", "no")] * 10 + [("B", "yes")] * 9

STATES = {"variant": ("A", "B"), "converted": ("no", "yes")}


def said(capsys: pytest.CaptureFixture[str], *command: object) -> str:
    main([str(word) for word in command])
    return capsys.readouterr().out


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    path = tmp_path / "trial.csv"
    path.write_text("variant,converted\n" + "".join(f"{arm},{answer}\n" for arm, answer in TRIAL))
    return path


def test_every_command_takes_a_table_of_two_columns(trial: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reward = "--reward", "converted=yes"
    found = json.loads(said(capsys, "effects", trial, *reward, "--draws", 20, "--json"))
    seen = {arm["state"]: arm["seen"] for arm in found["arms"]}
    assert seen["A"]["mean"] == 0
    assert seen["B"]["mean"] == pytest.approx(9 / 19)
    run = json.loads(said(capsys, "run", trial, *reward, "--horizon", 300, "--seed", 1, "--json"))
    assert run["policies"][0]["reward_variables"] in ([], ["variant"])
    assert "1 variable;" in said(capsys, "discover", trial, *reward)
    assert "2 variables;" in said(capsys, "discover", trial)
    assert "screening" in said(
        capsys, "plan", "--data", trial, *reward, "--horizon", 300, "--runs", 2, "--seed", 1
    )


def test_a_session_of_one_variable_comes_back_from_its_export(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session.start(
        tmp_path / "first", states=STATES, reward="converted=yes", horizon=60, policy="moss"
    )
    while pulls := session.ask(batch=20):
        arms = [dict(pulls[0].intervention).get("variant", "AB"[i % 2]) for i in range(pulls[0].left)]
        answers = ["yes" if arm == "B" and i % 3 else "no" for i, arm in enumerate(arms)]
        session.tell([{"variant": a, "converted": b} for a, b in zip(arms, answers, strict=True)], again=True)
    export = tmp_path / "export.csv"
    assert session.export(export) == 60
    again = Session.start(tmp_path / "again", data=export, reward="converted=yes", horizon=60)
    assert again.settings.states == {"variant": ("A", "B")}
    assert json.loads(said(capsys, "effects", export, "--reward", "converted=yes", "--draws", 20, "--json"))[
        "arms"
    ]


def test_a_session_reads_numbers_as_its_table_writes_them(tmp_path: Path) -> None:
    """In the table "12,5" settles that "1.395" is thirteen hundred; a row by itself settles nothing."""
    sales = ["1.395" if i % 2 else "600" for i in range(40)]
    lines = [f"{'AB'[i % 2]};{'xyz'[i % 3]};{i},5;{sold}" for i, sold in enumerate(sales)]
    table, rows = tmp_path / "table.csv", tmp_path / "rows.csv"
    table.write_text("arm;weather;share;sales\n" + "\n".join(lines) + "\n")
    session = Session.start(
        tmp_path / "session",
        data=table,
        reward="sales",
        bins=2,
        horizon=20,
        policy="moss",
        not_settable=("share",),
    )
    (pull,) = session.ask()
    row = {"arm": "B", "weather": "x", "share": "38,5"} | dict(pull.intervention)
    rows.write_text(";".join([*row, "sales"]) + "\n" + ";".join([*row.values(), "1.395"]) + "\n")
    session.tell(rows)
    session.export(tmp_path / "export.csv")
    (told,) = csv.DictReader((tmp_path / "export.csv").open())
    assert float(told["sales"]) == 1_395
    assert told["share"] == session.settings.states["share"][1]
