"""Soak sessions and studies: processes, kills, a full disk, two studies on one folder, a long session.

Each part takes its share of the time. It counts the rows that were acknowledged and those that are kept
after all; it compares results with those of an undisturbed study byte by byte; and every line on stderr
must be one of the program's own sentences.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from results_page import markdown_table
from results_run import Run

from cb_pgm import Session

__all__ = ["add_options", "make"]

ROOT = Path(__file__).resolve().parent.parent
STATES = {"a": ["0", "1"], "b": ["0", "1", "2"], "y": ["0", "1"]}
STUDY = """
title = "soak"
seed = 7
runs = 6
horizons = [2_000, 20_000]
[[system]]
instance = "tree"
n = [5, 8]
noise = "bernoulli"
[[policy]]
name = ["ucb", "thompson"]
"""
# Tells rows until it is killed or refused, as on a full disk; what is acknowledged is a line on stdout.
TELLER = """
import sys
from cb_pgm import Session, SessionError

def tell(session, batch):
    for pull in session.ask(batch=batch, pending=8):
        row = {"a": "0", "b": "0", "y": "1"} | dict(pull.intervention)
        try:
            print(session.tell([row] * pull.left, pull.number, again=True).rows, flush=True)
        except SessionError as error:
            if "Expected an open pull" not in str(error):  # else another process told this pull first
                raise

try:
    with Session.open(sys.argv[1], timeout=60) as session:
        while True:
            tell(session, int(sys.argv[2]))
except SessionError as error:
    sys.exit(f"error: {error}")
"""
# What cb-pgm itself writes to stderr: its one line of an error, its farewell, its notes.
OWN = re.compile(
    r"error: Expected .* but found .*|ended by SIG(TERM|HUP)|interrupted.*|warning: .*|.* s so far"
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add --minutes."""
    parser.add_argument("--minutes", type=float, default=10.0, help="time in all (default: 10)")


def make(run: Run) -> dict[str, str]:
    """Return the section "soak"; a row that is lost, or an error that isn't in words, ends the program."""
    minutes = 0.5 if run.quick else getattr(run.given, "minutes", 10.0)
    rows: list[tuple[str, ...]] = []
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for part, share in ((killed_tellers, 0.3), (full_disk, 0.1), (studies, 0.4), (long_session, 0.2)):
            began = time.monotonic()
            (work / part.__name__).mkdir()
            outcome = part(work / part.__name__, share * 60 * minutes, run.seed)
            rows += [(*row, f"{time.monotonic() - began:.0f} s") for row in outcome]
            sys.stderr.write(f"{part.__name__} has ended\n")
    table = markdown_table(["what", "disturbed", "acknowledged", "kept", "raw errors", "time"], rows)
    counts = [(int(row[2].replace(",", "")), int(row[3].replace(",", ""))) for row in rows]
    if any(kept < acknowledged for acknowledged, kept in counts) or any(row[4] != "0" for row in rows):
        sys.exit(
            f"{table}\nExpected all that was acknowledged to be kept and no raw error but found otherwise"
        )
    lasted = (time.monotonic() - started) / 60
    return {"soak": f"Ran with --minutes {minutes:g}; it took {lasted:.1f} minutes.\n\n{table}"}


def killed_tellers(work: Path, seconds: float, seed: int) -> Iterator[tuple[str, ...]]:
    """Four processes tell rows to one session, and are killed at random moments."""
    start(work / "session")
    rng, end, slowness = random.Random(seed + 1), time.monotonic() + seconds, time_to_start(work)
    acknowledged = kills = raw = 0
    while time.monotonic() < end:
        tellers = [
            spawn(work, [sys.executable, "-c", TELLER, str(work / "session"), str(rng.randint(1, 40))])
            for _ in range(4)
        ]
        time.sleep(slowness * rng.uniform(2.0, 8.0))
        for teller in rng.sample(tellers, 4):
            teller.kill()
            kills += 1
        for teller in tellers:
            out, said = teller.communicate()
            # A line may have been cut, and a kill may come between the commit and the line: see below.
            acknowledged += sum(int(line) for line in out.split("\n")[:-1])
            raw += raw_lines(said)
    # A kill may hide the acknowledgement of the one tell under way, so more may be kept but never less.
    with Session.open(work / "session") as session:
        kept = min(session.status().told, session.export(work / "rows.csv"))
    yield (
        "rows of a session told by 4 processes",
        f"{kills} kills",
        f"{acknowledged:,}",
        f"{kept:,}",
        str(raw),
    )


def full_disk(work: Path, seconds: float, _: int) -> Iterator[tuple[str, ...]]:
    """A file-size limit, as on a full disk, hits sessions and studies; both go on when there is room."""
    end = time.monotonic() + seconds
    filled = cuts = raw = raw_studies = acknowledged = kept = 0
    toml = work / "study.toml"
    toml.write_text(STUDY)
    whole = work / "whole"
    program(work, "study", str(toml), "--out", str(whole))
    same = total = 0
    while not total or time.monotonic() < end:
        session, out = work / f"session-{total}", work / f"study-{total}"
        start(session)
        limit = 60 + 8 * total % 200  # kilobytes
        limited = ["sh", "-c", 'trap "" XFSZ; ulimit -f "$0"; exec "$@"', str(limit * 2), sys.executable]
        told = spawn(work, [*limited, "-c", TELLER, str(session), "30"])
        output, said = told.communicate()
        acknowledged += sum(int(line) for line in output.split("\n")[:-1])
        filled += told.returncode == 1
        raw += raw_lines(said)
        with Session.open(session) as opened:
            (pull,) = opened.ask()[:1]  # there is room again
            row = {"a": "0", "b": "0", "y": "1"} | dict(pull.intervention)
            acknowledged += opened.tell([row] * pull.left, pull.number, again=True).rows
            kept += opened.status().told
        cut = spawn(work, [*limited, "-m", "cb_pgm", "study", str(toml), "--out", str(out)])
        raw_studies += raw_lines(cut.communicate()[1])
        cuts += cut.returncode == 1
        raw_studies += raw_lines(program(work, "study", str(toml), "--out", str(out), "--resume"))
        same += tables(out) == tables(whole)
        total += 1
        shutil.rmtree(session)
        shutil.rmtree(out)
    yield "rows of sessions on a full disk", f"{filled} full", f"{acknowledged:,}", f"{kept:,}", str(raw)
    yield "studies resumed after a full disk", f"{cuts} full", str(total), str(same), str(raw_studies)


def studies(work: Path, seconds: float, seed: int) -> Iterator[tuple[str, ...]]:
    """Two studies at a time on one folder, killed and resumed, and in the end equal to an undisturbed one."""
    toml = work / "study.toml"
    toml.write_text(STUDY)
    whole = work / "whole"
    began = time.monotonic()
    program(work, "study", str(toml), "--out", str(whole))
    undisturbed = time.monotonic() - began
    rng, end = random.Random(seed + 2), time.monotonic() + seconds
    kills = refused = raw = same = total = 0
    while not total or time.monotonic() < end:
        out = work / f"out-{total}"
        command = [sys.executable, "-m", "cb_pgm", "study", str(toml), "--out", str(out), "--resume"]
        for _ in range(2):
            two = [spawn(work, [*command, "--jobs", str(jobs)]) for jobs in (1, 2)]
            time.sleep(undisturbed * rng.uniform(0.3, 1.5))
            for one in two:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(one.pid, rng.choice((signal.SIGKILL, signal.SIGTERM)))
                kills += 1
                said = one.communicate()[1]
                refused += "study running in it" in said
                raw += raw_lines(said)
        raw += raw_lines(program(work, *command[3:]))
        same += tables(out) == tables(whole)
        total += 1
        shutil.rmtree(out)
    yield (
        "studies, two at a time on one folder, byte-equal", f"{kills} kills, {refused} refused",
        str(total), str(same), str(raw),
    )  # fmt: skip


def long_session(work: Path, seconds: float, _: int) -> Iterator[tuple[str, ...]]:
    """One row a tell, 100,000 of them or as many as fit the time; reopened now and then.

    In memory where the machine has a file system there: otherwise it would measure how fast a disk syncs.
    """
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else work) as folder:
        yield _told_one_by_one(Path(folder) / "session", seconds)


def _told_one_by_one(folder: Path, seconds: float) -> tuple[str, ...]:
    start(folder)
    end, acknowledged, openings, raw = time.monotonic() + seconds, 0, 0, 0
    while acknowledged < 100_000 and time.monotonic() < end:
        openings += 1
        try:
            with Session.open(folder) as session:
                for _ in range(10_000):
                    (pull,) = session.ask()
                    row = {"a": "0", "b": "0", "y": str(acknowledged % 2)} | dict(pull.intervention)
                    acknowledged += session.tell([row], again=True).rows
                    if time.monotonic() > end:
                        break
        except Exception as error:  # whatever comes is counted, and the session opened anew
            raw += 1
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
    with Session.open(folder) as session:
        kept = session.status().told
    return (
        "single rows told to one session",
        f"{openings} openings",
        f"{acknowledged:,}",
        f"{kept:,}",
        str(raw),
    )


def start(folder: Path) -> None:
    """Start a session without observations."""
    Session.start(folder, states=STATES, reward="y=1", policy="ucb", horizon=10_000_000, seed=1).close()


def time_to_start(work: Path) -> float:
    """Return the seconds that a process takes to import the package: longer on a busy machine."""
    began = time.monotonic()
    spawn(work, [sys.executable, "-c", "from cb_pgm import Session"]).communicate()
    return time.monotonic() - began


def spawn(work: Path, command: list[str]) -> subprocess.Popen[str]:
    """Start a process in a group of its own."""
    return subprocess.Popen(
        command, cwd=work, env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def raw_lines(said: str) -> int:
    """Count the lines on stderr that aren't cb-pgm's own, and show them."""
    raw = [line for line in said.splitlines() if not OWN.fullmatch(line)]
    for line in raw:
        sys.stderr.write(f"raw: {line}\n")
    return len(raw)


def program(work: Path, *arguments: str) -> str:
    """Run the program to its end and return what it wrote to stderr."""
    return spawn(work, [sys.executable, "-m", "cb_pgm", *arguments]).communicate()[1]


def tables(folder: Path) -> list[bytes]:
    """Return the tables of a study; empty if they aren't there."""
    try:
        return [(folder / name).read_bytes() for name in ("results.csv", "curves.csv")]
    except FileNotFoundError:
        return []
