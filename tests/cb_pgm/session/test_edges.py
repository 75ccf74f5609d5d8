"""Rows told twice, outputs onto the session itself, SQLite's errors in words, reports that only read."""

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from cb_pgm import Session, SessionError
from cb_pgm.cli.program import main

STATES = {"a": ["0", "1"], "b": ["0", "1"], "y": ["0", "1"]}


def start(folder: Path, **more: object) -> Session:
    wanted = {"states": STATES, "reward": "y=1", "policy": "ucb", "horizon": 10_000, "seed": 1} | more
    return Session.start(folder, **wanted)


def rows(path: Path, intervention: dict, size: int) -> Path:
    setting = {"a": "0", "b": "0"} | dict(intervention)
    body = "".join(f"{setting['a']},{setting['b']},{n % 3 and 1}\n" for n in range(size))
    path.write_text("a,b,y\n" + body)
    return path


def test_a_file_told_twice(tmp_path: Path) -> None:
    """It is refused for a later pull too, written otherwise or reopened, unless a column tells them apart."""
    states = {"a": ["0", "1"]}
    with start(tmp_path / "s", states=states, reward="y", reward_range=(0, 9)):
        pass
    file, seen, refused = tmp_path / "rows.csv", set(), 0
    for _ in range(8):
        with Session.open(tmp_path / "s") as session:
            (pull,) = session.ask(batch=5)
            state = pull.intervention.get("a", "0")
            if state in seen:
                file.write_text("y,a\r\n" + "".join(f"{y}.0, {state}\r\n" for y in (1, 2, 3, 4, 5)))
                told = session.status().told
                with pytest.raises(SessionError, match=r"told already: add --again \(again=True in Python"):
                    session.tell(file)
                assert session.status().told == told
                refused += 1
                file.write_text(
                    "a,y,patient\n" + "".join(f"{state},{y},{pull.number}{y}\n" for y in (1, 2, 3, 4, 5))
                )
            else:
                file.write_text("a,y\n" + "".join(f"{state},{y}\n" for y in (1, 2, 3, 4, 5)))
            seen.add(state)
            assert session.tell(file).rows == 5
            more = session.ask(batch=5)[0]
            assert (
                session.tell([{"a": "0", **more.intervention, "y": 1}] * 5).rows == 5
            )  # a program's rows may be equal
    assert refused >= 4


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
        (pages,) = session._log._connection.execute("PRAGMA page_count").fetchone()
        session._log._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(SessionError, match=r"room on the disk for .*session\.sqlite but found it full"):
            session.tell(rows(tmp_path / "rows.csv", pull.intervention, 5_000))
    with Session.open(tmp_path / "s") as session:
        assert session.status().told == 0
        assert session.tell(tmp_path / "rows.csv").rows == 5_000


def test_a_report_of_a_killed_session(tmp_path: Path) -> None:
    """What a kill left half-written is undone."""
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
    assert main(["report", str(left), "--out", str(tmp_path / "report.html")]) == 0
    assert (left / "session.sqlite").read_bytes() == file.read_bytes()
    with Session.open(left) as session:
        assert session.status().told == 6


def test_a_folder_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    with start(tmp_path / "s") as session:
        session.ask()
    file = tmp_path / "s" / "session.sqlite"
    file.chmod(0o444)
    assert main(["session", "status", str(tmp_path / "s")]) == 0
    assert main(["report", str(tmp_path / "s"), "--out", str(tmp_path / "report.html")]) == 0


def test_commands_to_copy_are_quoted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "my trial; true"
    with start(folder):
        pass
    assert main(["session", "ask", str(folder)]) == 0
    assert f"cb-pgm session tell '{folder}' ROWS.csv" in capsys.readouterr().out
    assert main(["report", str(folder), "--out", str(tmp_path / "page.html")]) == 0
    assert "cb-pgm session ask &#39;" in (tmp_path / "page.html").read_text()


def test_an_export_says_that_a_spreadsheet_may_read_formulas(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with start(tmp_path / "s", states={"a": ["=1+1", "x"], "y": ["0", "1"]}):
        pass
    assert main(["session", "export", str(tmp_path / "s"), "--out", str(tmp_path / "rows.csv")]) == 0
    assert "may read '=1+1' as a formula" in capsys.readouterr().err
