"""Rows that don't fit are refused in one line that names line and column, and nothing of them is recorded."""

import csv
import io
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from cb_pgm import Session, SessionError
from cb_pgm.cli.program import main

STATES = {"drug": ("low", "high"), "diet": ("none", "some", "strict"), "age": ("young", "old")}
COLUMNS = (*STATES, "recovered")
Grid = list[list[str]]


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pull 1 is finished; of pull 2, do(drug = high) for 8 rows, the first two are told."""
    folder = tmp_path_factory.mktemp("session") / "trial"
    states = {**STATES, "recovered": ("no", "yes")}
    with Session.start(
        folder, states=states, reward="recovered=yes", policy="ucb", horizon=90, seed=1
    ) as session:
        for left in (8, 2):
            (pull,) = session.ask(batch=8)
            session.tell([dict(zip(COLUMNS, row, strict=True)) for row in good(pull.intervention, left)])
        (pull,) = session.ask()
        assert (pull.number, pull.intervention, pull.left) == (2, {"drug": "high"}, 6)
    return folder


def good(intervention: dict[str, str], size: int, seed: int = 0) -> Grid:
    rng = random.Random(seed)
    rows = []
    for _ in range(size):
        row = {name: rng.choice(states) for name, states in STATES.items()} | dict(intervention)
        rows.append([*row.values(), rng.choice(("no", "yes"))])
    return rows


def text(rows: Sequence[Sequence[str]]) -> str:
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    return written.getvalue()


# Each spoils a good file: a header and 2 to 6 rows. It returns bytes and what the message must name.
Spoiler = Callable[[Grid, random.Random], tuple[bytes, Sequence[str]]]


def _field(column: int, values: Sequence[str]) -> Spoiler:
    def spoil(rows: Grid, rng: random.Random) -> tuple[bytes, Sequence[str]]:
        row = rng.randrange(1, len(rows))
        rows[row][column] = rng.choice(values)
        return text(rows).encode(), (f"line {row + 1}", f"column {COLUMNS[column]!r}")

    return spoil


def _missing_column(rows: Grid, rng: random.Random) -> tuple[bytes, Sequence[str]]:
    column = rng.randrange(len(COLUMNS))
    name = rows[0][column]
    return text([[*row[:column], *row[column + 1 :]] for row in rows]).encode(), (repr(name), "header")


def _misspelt_column(rows: Grid, rng: random.Random) -> tuple[bytes, Sequence[str]]:
    column = rng.randrange(len(COLUMNS))
    name = rows[0][column]
    rows[0][column] = name.upper() if rng.random() < 0.5 else name + "s"
    return text(rows).encode(), (repr(name), "header")


def _column_twice(rows: Grid, rng: random.Random) -> tuple[bytes, Sequence[str]]:
    column, other = rng.sample(range(len(COLUMNS)), 2)
    rows[0][column] = rows[0][other]
    return text(rows).encode(), (repr(rows[0][other]), "header")


def _ragged(rows: Grid, rng: random.Random) -> tuple[bytes, Sequence[str]]:
    row = rng.randrange(1, len(rows))
    if rng.random() < 0.5:
        rows[row].append("more")
    else:
        rows[row].pop()
    return text(rows).encode(), (f"line {row + 1}",)


def _too_many(rows: Grid, rng: random.Random) -> tuple[bytes, Sequence[str]]:
    more = good({"drug": "high"}, rng.randrange(7, 30), rng.randrange(99))
    return text([rows[0], *more]).encode(), ("pull 2", str(len(more)))


def _no_rows(rows: Grid, rng: random.Random) -> tuple[bytes, Sequence[str]]:
    return text(rows[:1]).encode(), ("0",)


def _empty(rows: Grid, rng: random.Random) -> tuple[bytes, Sequence[str]]:
    return b"\n" * rng.randrange(3), ("empty",)


def _binary(rows: Grid, rng: random.Random) -> tuple[bytes, Sequence[str]]:
    content = bytearray(text(rows).encode())
    content[rng.randrange(len(content))] = rng.choice((0, 0xFF))
    return bytes(content), ("rows.csv",)


def _open_quote(rows: Grid, rng: random.Random) -> tuple[bytes, Sequence[str]]:
    content = text(rows)
    return (content[: content.rindex("\r\n", 0, -2) + 2] + '"' + "high,none,young,yes\n").encode(), ("line",)


SPOILERS: dict[str, Spoiler] = {
    "noncompliance": _field(0, ["low"]),
    "unknown state of the set variable": _field(0, ["High", "hi gh", "1"]),
    "unknown state": _field(1, ["lots", "None", "0", "nan", "‑none", "some'; DROP TABLE events; --"]),
    "empty state": _field(2, ["", "  "]),
    "unknown state of the reward": _field(3, ["maybe", "1", "True", "YES"]),
    "empty reward": _field(3, [""]),
    "missing column": _missing_column,
    "misspelt column": _misspelt_column,
    "column twice": _column_twice,
    "ragged": _ragged,
    "too many rows": _too_many,
    "no rows": _no_rows,
    "empty file": _empty,
    "binary": _binary,
    "open quote": _open_quote,
}


@pytest.mark.parametrize("seed", range(14))
@pytest.mark.parametrize("kind", SPOILERS)
def test_a_malformed_file_is_refused_in_one_line(
    kind: str, seed: int, trial: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """15 kinds, 14 files each: 210 in all, 3 s."""
    rng = random.Random(f"{kind} {seed}")
    rows = [list(COLUMNS), *good({"drug": "high"}, rng.randrange(2, 7), seed)]
    content, named = SPOILERS[kind](rows, rng)
    (tmp_path / "rows.csv").write_bytes(content)
    before = state(trial)
    assert main(["session", "tell", str(trial), str(tmp_path / "rows.csv")]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: Expected ")
    assert captured.err.count("\n") == 1
    for part in named:
        assert part in captured.err
    assert state(trial) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pull", "1"], "pull 1 is finished"),
        (["--pull", "3"], "pull 3 was never asked for"),
        (["--allow-noncompliance"], "found ucb"),
    ],
)
def test_a_good_file_for_another_pull(
    arguments: list[str], message: str, trial: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rows.csv").write_text(text([COLUMNS, *good({"drug": "high"}, 3, 5)]))
    before = state(trial)
    assert main(["session", "tell", str(trial), str(tmp_path / "rows.csv"), *arguments]) == 1
    assert message in capsys.readouterr().err
    assert state(trial) == before


@pytest.mark.parametrize("path", ["", "nothing.csv", ".", "no\0where", "a" * 5000])
def test_a_file_that_is_not_there(
    path: str, trial: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = state(trial)
    assert main(["session", "tell", str(trial), str(tmp_path) + "/" + path]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert state(trial) == before


@pytest.mark.parametrize("verb", ["ask", "tell", "withdraw", "status", "export"])
@pytest.mark.parametrize("folder", ["nowhere", "file", "../../../etc", "x\0y", "empty"])
def test_a_folder_without_a_session(
    verb: str, folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("text")
    (tmp_path / "empty").mkdir()
    more = {"tell": ["rows.csv"], "export": ["--out", str(tmp_path / "out.csv")]}
    assert main(["session", verb, str(tmp_path / "empty" / ".." / folder), *more.get(verb, [])]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "file"]
    assert not any((tmp_path / "empty").iterdir())


def test_lines_are_counted_as_an_editor_does(trial: Path, tmp_path: Path) -> None:
    """Blank lines, a quoted line break and another separator come before the fault."""
    lines = [
        "note;drug;diet;age;recovered",
        "",
        '"two\nlines";high;none;young;yes',
        " ;high;none;young;no",
        "x;high;nothing;young;no",
    ]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    with Session.open(trial) as session, pytest.raises(SessionError, match=r"in line 6, column 'diet'"):
        session.tell(tmp_path / "rows.csv")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "found no 'drug'"),
        (["text"], "as mappings"),
        ([{"drug": "high"}], "found no 'diet'"),
        (
            [
                {"drug": "high", "diet": "none", "age": "old", "recovered": "no"},
                {"drug": "high", "diet": "none", "age": "old"},
            ],
            "in row 2",
        ),
        ([{"drug": "high", "diet": "none", "age": None, "recovered": "no"}], "found nothing in row 1"),
    ],
)
def test_mappings(rows: list, message: str, trial: Path) -> None:
    before = state(trial)
    with Session.open(trial) as session, pytest.raises(ValueError, match=message):
        session.tell(rows)
    assert state(trial) == before


@pytest.mark.parametrize("value", ["yes", "", "1,5", "nan", "inf", "1e999", "0x10", "1_000"])
def test_rewards_that_are_no_numbers(value: str, tmp_path: Path) -> None:
    states = {"drug": ("low", "high")}
    with Session.start(tmp_path, states=states, reward="gain", noise_scale=1.0, horizon=9) as session:
        (pull,) = session.ask(batch=2)
        before, row = state(tmp_path), {"drug": "low"} | dict(pull.intervention)
        with pytest.raises(
            SessionError, match=r"a number as the reward but found .* in row 2, column 'gain'"
        ):
            session.tell([row | {"gain": "1.5"}, row | {"gain": value}])
        assert state(tmp_path) == before


def test_as_a_process(trial: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(text([COLUMNS, ["low", "none", "old", "no"]]))
    before = state(trial)
    command = [
        sys.executable,
        "-m",
        "cb_pgm",
        "session",
        "tell",
        str(trial),
        str(tmp_path / "rows.csv"),
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "line 2, column 'drug'" in done.stderr
    assert state(trial) == before


def state(folder: Path) -> dict[str, str]:
    """Every file in the folder, hashed."""
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}
