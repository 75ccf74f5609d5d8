"""What a session says of its own record, and a whole experiment with all that happens to one."""

import csv
from pathlib import Path

import numpy as np
import pytest
import sessions

from cb_pgm import Session, SessionError
from cb_pgm.session.state import OpenPull

STATES = {**sessions.STATES, "bought": ("no", "yes")}


def visitors(pull: OpenPull, rng: np.random.Generator, size: int) -> list[dict[str, str]]:
    """Visitors of whom .8 buy with the new banner and .3 with the old one, more of them at a desk."""
    rows = []
    for _ in range(size):
        row = {name: str(rng.choice(states)) for name, states in sessions.STATES.items()}
        row |= dict(pull.intervention)
        share = (0.8 if row["banner"] == "new" else 0.3) + (0.05 if row["device"] == "desk" else -0.05)
        row["bought"] = "yes" if rng.random() < share else "no"
        rows.append(row)
    return rows


def as_file(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.mark.parametrize("seed", [1, 2])
def test_a_thousand_visitors_told_late_twice_sorted_and_in_part(tmp_path: Path, seed: int) -> None:
    rng, told, late = np.random.default_rng(seed), 0, list[tuple[int, list[dict[str, str]]]]()
    settings = {"states": STATES, "reward": "bought=yes", "control": "do()", "unit": "visitors"}
    with Session.start(
        tmp_path / "shop", **settings, not_settable=["device", "day"], horizon=1000, seed=seed
    ) as session:
        missing = 0
        while pulls := session.ask(batch=20, pending=2):
            pull = pulls[-1]  # the first one may wait for rows that come late
            rows = sorted(visitors(pull, rng, pull.left), key=lambda row: row["bought"])  # sorted
            happens = pull.number % 10
            if happens == 3 and len(pulls) == 2 and len(late) < 4:  # half of the rows come late
                late.append((pull.number, rows[10:]))
                rows = rows[:10]
            elif happens == 7:  # rewards of some aren't known: these rows are left out, and never come
                with pytest.raises(SessionError, match="leave the row out"):
                    session.tell([rows[0] | {"bought": ""}, *rows[1:]], pull.number)
                missing += 2
                rows = rows[2:]
            path = as_file(tmp_path / "rows.csv", rows)
            receipt = session.tell(path, pull.number, close=happens == 7)
            told += receipt.rows
            if receipt.left:  # told twice: refused
                with pytest.raises(SessionError, match="told already"):
                    session.tell(path, pull.number)
            while late and (happens == 9 or receipt.left):
                number, rest = late.pop()
                told += session.tell(rest, number).rows
        status = session.status()
        assert session.export(tmp_path / "all.csv") == told == status.told
    assert status.best_arm.intervention == {"banner": "new"}
    gain = status.comparison.gain
    assert gain is not None
    assert 0 < gain.low < sessions.GAIN < gain.high
    assert {one.kind for one in status.irregularities} == {"untold"}
    assert sum(int(one.text.split()[0]) for one in status.irregularities) == missing
    with Session.start(tmp_path / "again", data=tmp_path / "all.csv", horizon=9, seed=1) as again:
        assert again.status().earlier == told


@pytest.mark.parametrize("kind", [kind for kind in sessions.KINDS if kind != "stationary"])
def test_what_disturbs_a_session_is_noticed(kind: str) -> None:
    assert sessions.play(kind, 0, 0)["noticed"] is not None


@pytest.mark.slow
def test_a_stationary_session_raises_no_more_alarms_than_it_may() -> None:
    runs = 60
    alarms = sum(sessions.play("stationary", number, 7)["noticed"] is not None for number in range(runs))
    assert alarms <= sessions.DELTA * runs + 3 * (sessions.DELTA * runs) ** 0.5


def test_failures_never_told_are_said_with_what_they_may_change(tmp_path: Path) -> None:
    settings = {"states": STATES, "reward": "bought=yes", "horizon": 100, "seed": 1}
    with Session.start(tmp_path, **settings) as session:
        (pull,) = session.ask(batch=20)
        row = visitors(pull, np.random.default_rng(1), 1)[0] | {"bought": "yes"}
        session.tell([row] * 8, close=True)
        (said,) = session.status().irregularities
    assert said.text.startswith("12 of 20 rows asked for with")
    assert "lies between 0.4 and 1" in said.text


def test_rows_still_to_come_are_not_missing(tmp_path: Path) -> None:
    settings = {"states": STATES, "reward": "bought=yes", "horizon": 100, "seed": 1}
    with Session.start(tmp_path, **settings) as session:
        (pull,) = session.ask(batch=20)
        session.tell(visitors(pull, np.random.default_rng(1), 5))
        assert session.status().irregularities == ()
