"""Rows told twice, outputs onto the session itself, SQLite's errors in words, reports that only read."""

import os
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from cb_pgm import Session, SessionError
from cb_pgm.cli.program import main
from cb_pgm.session.storage import log

STATES = {"a": ["0", "1"], "b": ["0", "1"], "y": ["0", "1"]}


def start(folder: Path, **more: object) -> Session:
    wanted = {"states": STATES, "reward": "y=1", "policy": "ucb", "horizon": 10_000, "seed": 1} | more
    return Session.start(folder, **wanted)


def rows(path: Path, intervention: dict, size: int) -> Path:
    setting = {"a": "0", "b": "0"} | dict(intervention)
    body = "".join(f"{setting['a']},{setting['b']},{n % 3 and 1}\n" for n in range(size))
    path.write_text("a,b,y\n" + body)
    return path


@pytest.mark.parametrize("few", [2, 10_000])
def test_the_rows_of_an_arm_told_twice(few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later pull of the same arm refuses the file, from a snapshot too; --again takes it."""
    monkeypatch.setattr(log, "_FEW", few)
    seen: dict = {}
    with start(tmp_path / "s"):
        pass
    refused = 0
    for number in range(12):
        with Session.open(tmp_path / "s") as session:
            (pull,) = session.ask(batch=6)
            file = rows(tmp_path / "rows.csv", pull.intervention, 6)
            if pull.intervention in seen:
                told = session.status().told
                with pytest.raises(SessionError, match=r"do\(.*already: add --again"):
                    session.tell(file)
                assert session.status().told == told
                refused += 1
            seen[pull.intervention] = number
            assert session.tell(file, again=True).rows == 6
    assert refused >= 7


def test_mappings_told_twice(tmp_path: Path) -> None:
    """A later pull refuses equal rows, as mappings or CSV, written otherwise too, unless a number differs."""
    states = {"a": ["0", "1"]}
    with start(tmp_path / "s", states=states, reward="y", reward_range=(0, 9)) as session:
        seen = set()
        refused = 0
        for _ in range(8):
            (pull,) = session.ask(batch=5)
            ((variable, state),) = pull.intervention.items()
            told = [{variable: state, "y": y} for y in (1, 2, 3, 4, 5)]
            if state in seen:
                file = tmp_path / "rows.csv"
                file.write_text("y,a\r\n" + "".join(f"{y}.0, {state}\r\n" for y in (1, 2, 3, 4, 5)))
                for same in (told, [{"y": 1.0 * row["y"], variable: state} for row in told], file):
                    with pytest.raises(
                        SessionError, match=r"has already: add --again \(again=True in Python"
                    ):
                        session.tell(same, pull.number)
                refused += 1
                told = [{**row, "patient": 10 * pull.number + n} for n, row in enumerate(told)]
            seen.add(state)
            assert session.tell(told).rows == 5
    assert refused >= 5


@pytest.mark.parametrize("batch", [1, 2, 8])
def test_rows_that_a_program_makes_are_not_told_twice(batch: int, tmp_path: Path) -> None:
    """Rows with 16 equally likely contents pass in 400 rows without a single refusal, however few at once."""
    rng = np.random.default_rng(batch)
    states = {name: ["0", "1"] for name in "abc"}
    with start(tmp_path / "s", states=states, reward="y", reward_range=(0, 1), policy="moss") as session:
        for _ in range(400 // batch):
            (pull,) = session.ask(batch=batch)
            drawn = rng.integers(0, 2, size=(pull.left, 4))
            rows = [{**dict(zip("abcy", map(str, row), strict=True)), **pull.intervention} for row in drawn]
            session.tell(rows)


@pytest.mark.parametrize("link", ["same", "symbolic", "hard", "journal"])
def test_an_export_never_hits_the_session(link: str, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    with start(folder) as session:
        (pull,) = session.ask(batch=6)
        session.tell(rows(tmp_path / "rows.csv", pull.intervention, 6))
    own = folder / "session.sqlite"
    before = own.read_bytes()
    out = own if link == "same" else tmp_path / "out.csv"
    if link == "symbolic":
        out.symlink_to(own)
    elif link == "hard":
        os.link(own, out)
    elif link == "journal":
        out = folder / "session.sqlite-journal"
    status = main(["session", "export", str(folder), "--out", str(out), "--force"])
    assert status == 1
    assert own.read_bytes() == before
    with Session.open(folder) as session:
        assert session.status().told == 6
    if link != "journal":
        assert main(["report", str(folder), "--out", str(out), "--force"]) == 1
        assert own.read_bytes() == before


def test_a_failed_export_leaves_the_file_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with start(tmp_path / "s") as session:
        (pull,) = session.ask(batch=6)
        session.tell(rows(tmp_path / "rows.csv", pull.intervention, 6))
        out = tmp_path / "out.csv"
        out.write_text("before")

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("csv.writer", full)
        with pytest.raises(OSError, match=r"out\.csv"):
            session.export(out, force=True)
    assert out.read_text() == "before"
    assert {path.name for path in tmp_path.iterdir()} == {"s", "out.csv", "rows.csv"}


def test_a_full_disk_is_said_and_keeps_what_was_told(tmp_path: Path) -> None:
    with start(tmp_path / "s") as session:
        (pull,) = session.ask(batch=5_000)
        (pages,) = session._store._connection.execute("PRAGMA page_count").fetchone()
        session._store._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(SessionError, match=r"room on the disk for .*session\.sqlite but found it full"):
            session.tell(rows(tmp_path / "rows.csv", pull.intervention, 5_000))
    with Session.open(tmp_path / "s") as session:
        assert session.status().told == 0
        assert session.tell(tmp_path / "rows.csv").rows == 5_000


def test_a_report_of_a_killed_session_changes_nothing(tmp_path: Path) -> None:
    """A rollback journal left by a kill is rolled back in a copy; the folder stays as it is."""
    with start(tmp_path / "s") as session:
        (pull,) = session.ask(batch=6)
        session.tell(rows(tmp_path / "rows.csv", pull.intervention, 6))
    file = tmp_path / "s" / "session.sqlite"
    left = tmp_path / "left"
    left.mkdir()
    writer = sqlite3.connect(file, isolation_level=None)
    writer.execute("PRAGMA cache_size = 1")
    writer.execute("PRAGMA cache_spill = 1")
    writer.execute("BEGIN")
    writer.execute("CREATE TABLE big (a)")
    writer.executemany("INSERT INTO big VALUES (?)", [("x" * 3000,)] * 500)
    for path in (file, file.with_name("session.sqlite-journal")):
        shutil.copy(path, left)
    writer.execute("ROLLBACK")
    writer.close()
    before = {path.name: path.read_bytes() for path in left.iterdir()}
    assert set(before) == {"session.sqlite", "session.sqlite-journal"}
    assert main(["report", str(left), "--out", str(tmp_path / "report.html")]) == 0
    assert {path.name: path.read_bytes() for path in left.iterdir()} == before
