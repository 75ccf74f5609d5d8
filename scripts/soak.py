"""Soak sessions and studies: processes, kills, a full disk, two studies on one folder, a long session.

    python scripts/soak.py [--minutes N] [--write-results]

Each part takes its share of the time. It counts the rows that were acknowledged and those that are kept
after all; it compares results with those of an undisturbed study byte by byte; and every line on stderr
must be one of the program's own sentences.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from results_page import add_option, markdown_table, write_section

from cb_pgm import Session

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
# Tells rows until it is killed; each acknowledged one is a line on stdout.
TELLER = """
import sys
from cb_pgm import Session, SessionError
with Session.open(sys.argv[1], timeout=60) as session:
    while True:
        for pull in session.ask(batch=int(sys.argv[2]), pending=8):
            row = {"a": "0", "b": "0", "y": "1"} | dict(pull.intervention)
            try:
                print(session.tell([row] * pull.left, pull.number, again=True).rows, flush=True)
            except SessionError as error:
                if "full" in str(error):
                    raise
                # Otherwise another process told this pull first.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0, help="time in all (default: 10)")
    add_option(parser)
    options = parser.parse_args()
    seconds = options.minutes * 60
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for part, share in ((killed_tellers, 0.3), (full_disk, 0.1), (studies, 0.4), (long_session, 0.2)):
            began = time.monotonic()
            (work / part.__name__).mkdir()
            outcome = part(work / part.__name__, share * seconds)
            rows += [(*row, f"{time.monotonic() - began:.0f} s") for row in outcome]
            sys.stderr.write(f"{rows[-1]}\n")
    table = markdown_table(["what", "disturbed", "acknowledged", "kept", "raw errors", "time"], rows)
    sys.stdout.write(f"{table}\n")
    if options.write_results:
        write_section("soak", table)
    counts = [(int(row[2].replace(",", "")), int(row[3].replace(",", ""))) for row in rows]
    if any(kept < acknowledged for acknowledged, kept in counts) or any(row[4] != "0" for row in rows):
        sys.exit("Expected all that was acknowledged to be kept, and no raw error, but found otherwise")


def killed_tellers(work: Path, seconds: float) -> Iterator[tuple[str, ...]]:
    """Four processes tell rows to one session, and are killed at random moments."""
    start(work / "session")
    rng, end = random.Random(1), time.monotonic() + seconds
    acknowledged = kills = raw = 0
    while time.monotonic() < end:
        tellers = [
            spawn(work, [sys.executable, "-c", TELLER, str(work / "session"), str(rng.randint(1, 40))])
            for _ in range(4)
        ]
        time.sleep(rng.uniform(3.0, 8.0))
        for teller in rng.sample(tellers, 4):
            teller.kill()
            kills += 1
        for teller in tellers:
            out, said = teller.communicate()
            # A line may have been cut, and a kill may come between the commit and the line: see below.
            acknowledged += sum(int(line) for line in out.split("\n")[:-1])
            raw += is_raw(said)
    with Session.open(work / "session") as session:
        kept = session.status().told
        exported = session.export(work / "rows.csv")
    # A kill may hide the acknowledgement of the one tell under way, so more may be kept but never less.
    raw += exported != kept
    yield (
        "rows of a session told by 4 processes",
        f"{kills} kills",
        f"{acknowledged:,}",
        f"{kept:,}",
        str(raw),
    )


def full_disk(work: Path, seconds: float) -> Iterator[tuple[str, ...]]:
    """A file-size limit, as on a full disk, hits sessions and studies; both go on when there is room."""
    end, filled, raw, acknowledged, kept = time.monotonic() + seconds, 0, 0, 0, 0
    raw_of_sessions = 0
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
        try:
            output, said = told.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            told.kill()
            output, said = told.communicate()
        acknowledged += sum(int(line) for line in output.split("\n")[:-1])
        filled += "full" in said
        raw_of_sessions += is_raw(said)
        with Session.open(session) as opened:
            kept += opened.status().told
        cut = spawn(work, [*limited, "-m", "cb_pgm", "study", str(toml), "--out", str(out)])
        raw += "Traceback" in cut.communicate()[1]
        raw += "Traceback" in program(work, "study", str(toml), "--out", str(out), "--resume")
        same += tables(out) == tables(whole)
        total += 1
        shutil.rmtree(session)
        shutil.rmtree(out)
    counts = f"{acknowledged:,}", f"{kept:,}", str(raw_of_sessions)
    yield ("rows of sessions on a full disk", f"{filled} full", *counts)
    yield "studies resumed after a full disk", f"{total} full", str(total), str(same), str(raw)


def studies(work: Path, seconds: float) -> Iterator[tuple[str, ...]]:
    """Two studies at a time on one folder, killed and resumed, and in the end equal to an undisturbed one."""
    toml = work / "study.toml"
    toml.write_text(STUDY)
    whole = work / "whole"
    program(work, "study", str(toml), "--out", str(whole))
    rng, end = random.Random(2), time.monotonic() + seconds
    kills = refused = raw = same = total = 0
    while not total or time.monotonic() < end:
        out = work / f"out-{total}"
        command = [sys.executable, "-m", "cb_pgm", "study", str(toml), "--out", str(out), "--resume"]
        for _ in range(2):
            two = [spawn(work, [*command, "--jobs", str(jobs)]) for jobs in (1, 2)]
            time.sleep(rng.uniform(1.0, 6.0))
            for one in two:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(one.pid, rng.choice((signal.SIGKILL, signal.SIGTERM)))
                kills += 1
                said = one.communicate()[1]
                refused += "study running in it" in said
                raw += "Traceback" in said
        raw += "Traceback" in program(work, *command[3:])
        same += tables(out) == tables(whole)
        total += 1
        shutil.rmtree(out)
    yield (
        "studies, two at a time on one folder, byte-equal", f"{kills} kills, {refused} refused",
        str(total), str(same), str(raw),
    )  # fmt: skip


def long_session(work: Path, seconds: float) -> Iterator[tuple[str, ...]]:
    """One row a tell, 100,000 of them or as many as fit the time; reopened now and then."""
    start(work / "session")
    end, acknowledged, opened = time.monotonic() + seconds, 0, 0
    while acknowledged < 100_000 and time.monotonic() < end:
        opened += 1
        with Session.open(work / "session") as session:
            for _ in range(10_000):
                (pull,) = session.ask()
                row = {"a": "0", "b": "0", "y": str(acknowledged % 2)} | dict(pull.intervention)
                acknowledged += session.tell([row], again=True).rows
                if time.monotonic() > end:
                    break
    with Session.open(work / "session") as session:
        kept = session.status().told
    # An error of any kind would have ended the script.
    yield "single rows told to one session", f"opened {opened} times", f"{acknowledged:,}", f"{kept:,}", "0"


def start(folder: Path) -> None:
    """Start a session without observations."""
    Session.start(folder, states=STATES, reward="y=1", policy="ucb", horizon=10_000_000, seed=1).close()


def spawn(work: Path, command: list[str]) -> subprocess.Popen[str]:
    """Start a process in a group of its own."""
    return subprocess.Popen(
        command, cwd=work, env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def program(work: Path, *arguments: str) -> str:
    """Run the program to its end and return what it wrote to stderr."""
    return spawn(work, [sys.executable, "-m", "cb_pgm", *arguments]).communicate()[1]


def is_raw(said: str) -> bool:
    """Whether a program using the package ended in another error than one of the package's own."""
    return "Traceback" in said and not said.rstrip().splitlines()[-1].startswith("cb_pgm.errors.")


def tables(folder: Path) -> list[bytes]:
    """Return the tables of a study; empty if they aren't there."""
    try:
        return [(folder / name).read_bytes() for name in ("results.csv", "curves.csv")]
    except FileNotFoundError:
        return []


if __name__ == "__main__":
    main()
