"""`--stop best-arm`: a session ends once an arm is known to be within a tolerance of the best."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cb_pgm import CausalSystem, Session
from cb_pgm.cli.program import main


def play(session: Session, most: int, seed: int) -> int:
    """Ask for batches of 5 and tell them until the session is over; the rows."""
    system, rng, rows = (
        CausalSystem.from_bif("data/asia.bif", reward="xray=yes"),
        np.random.default_rng(seed),
        0,
    )
    while rows < most and (pulls := session.ask(batch=5)):
        seen = system.sample(pulls[0].intervention, 5, rng)
        told = [
            {name: states[code] for (name, states), code in zip(system.states.items(), row, strict=True)}
            | {"xray": "yes" if reward else "no"}
            for row, reward in zip(seen.codes, seen.rewards, strict=True)
        ]
        session.tell(told, pulls[0].number)
        rows += 5
    return rows


def start(folder: Path, **settings: object) -> Session:
    states = {
        name: list(values)
        for name, values in CausalSystem.from_bif("data/asia.bif", reward="xray=yes").states.items()
    }
    known = {"reward": "xray=yes", "horizon": 1000, "seed": 1, "stop": "best-arm"}
    return Session.start(folder, states=states | {"xray": ["no", "yes"]}, **(known | settings))  # type: ignore[arg-type]


def test_asia_ends_below_150_rows_if_causes_are_assumed(tmp_path: Path) -> None:
    """Three seeds; the arm is one of the best, and the sentence names what it presumes."""
    system = CausalSystem.from_bif("data/asia.bif", reward="xray=yes")
    for seed in range(3):
        with start(tmp_path / str(seed), within=0.05, on="identified", seed=seed) as session:
            rows, status = play(session, 400, seed), session.status()
        assert rows < 150
        stop = status.to_dict()["stop"]
        assert stop["met"]
        assert (stop["within"], stop["basis"]) == (0.05, "identified")
        assert system.best_arm()[1] - system.mean_reward(stop["arm"]) <= 0.05
        assert status.over == (
            f"no arm is better than {' = '.join(*stop['arm'].items())} by more than 0.05, if the reward "
            "has one cause among the variables and no hidden one acts"
        )
        with Session.open(tmp_path / str(seed)) as session:
            assert session.status().over == status.over


def test_what_is_left_is_said(tmp_path: Path) -> None:
    with start(tmp_path / "s") as session:
        assert session.status().stop is not None
        play(session, 60, 1)
        status = session.status()
    stop = json.loads(json.dumps(status.to_dict()["stop"]))
    assert (stop["basis"], stop["within"], stop["met"]) == ("experimental", pytest.approx(0.1), False)
    assert "To stop" in status.to_text()
    with start(tmp_path / "h", stop="horizon") as session:
        assert session.status().stop is None


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--within", "0.1"], "give --stop best-arm"),
        (["--on", "identified"], "give --stop best-arm"),
        (["--stop", "best-arm", "--within", "-1"], "within"),
        (["--stop", "best-arm", "--on", "believed"], "--on"),
        (["--stop", "best-arm", "--on", "identified", "--policy", "ucb"], "identifies causes"),
    ],
)
def test_what_makes_no_sense_is_refused(
    flags: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.toml").write_text('reward = "y=1"\n[states]\na = ["0", "1"]\ny = ["0", "1"]\n')
    arguments = ["--states", str(tmp_path / "s.toml"), "--horizon", "50", *flags]
    try:
        status = main(["session", "start", str(tmp_path / "new"), *arguments])
    except SystemExit as end:
        status = int(end.code or 0)
    assert status in (1, 2)
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "new").exists()
