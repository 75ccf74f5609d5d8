"""End commands by signals at random moments: how long that takes, and what is left behind.

    python scripts/signals.py [--times 60] [--seed 1]

SIGTERM comes at a random moment in the life of each command in turn; it must end within two seconds and leave
no process, no temporary folder and no half-written file. Then commands with worker processes are killed by
SIGKILL, which no program can answer: their workers must end within five seconds.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARK = "CB_PGM_SIGNALS"  # marks our processes by their environment
STUDY = """
runs = 40
horizons = [20_000]
[[system]]
instance = "tree"
n = [20]
[[policy]]
name = ["cn-ucb", "ucb", "screening"]
"""
ALARM = [str(ROOT / "data/penguins.csv"), "--reward", "Body Mass (g)", "--missing", "drop", "--bins", "3"]
ALARM += ["--ignore", "studyName", "Sample Number", "Individual ID", "Comments"]
ASIA = [str(ROOT / "data/asia.csv"), "--reward", "xray=yes"]
#: Commands to be ended, without cb-pgm; {out} is a new path, {work} has the files of `prepare`.
COMMANDS = (
    ["run", *ASIA, "--horizon", "50000", "--seed", "1", "--out", "{out}"],
    ["run", *ALARM, "--horizon", "20000", "--seed", "1", "--out", "{out}"],
    ["effects", *ALARM, "--seed", "0", "--out", "{out}"],
    ["effects", *ALARM, "--seed", "0", "--jobs", "2"],
    ["discover", *ASIA, "--bootstrap", "100", "--out", "{out}"],
    ["discover", *ASIA, "--bootstrap", "100", "--jobs", "2"],
    ["plan", "--horizon", "5000", "--n", "20"],
    ["study", "{work}/study.toml", "--out", "{out}"],
    ["study", "{work}/study.toml", "--out", "{out}", "--jobs", "2"],
    ["study", "{work}/study.toml", "--out", "{out}", "--dask", "local"],
    ["session", "start", "{out}", "--data", *ASIA, "--horizon", "500", "--policy", "cn-ucb"],
    ["session", "ask", "{work}/session"],
    ["session", "status", "{work}/session"],
    ["report", "{work}/run", "--out", "{out}.html"],
    ["replay", "{work}/log.csv", "--intervention-column", "set", "--reward", "y=1", "--runs", "50"],
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--times", type=int, default=60, help="SIGTERMs in all (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the moments (default: 1)")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        prepare(work)
        life: dict[int, float] = {}
        for number in range(options.times):
            place = number % len(COMMANDS)
            if place not in life:
                life[place] = lasts(work, place)
            moment = rng.uniform(0, life[place])
            took, status, left = ended(work, place, moment, signal.SIGTERM, 2.0)
            fault = took > 2 or bool(left)
            bad += fault
            sys.stdout.write(
                f"{'FAULT ' if fault else ''}SIGTERM after {moment:.2f} of {life[place]:.2f} s: "
                f"status {status} in {took:.2f} s, left {left}: {' '.join(COMMANDS[place][:3])}\n"
            )
            sys.stdout.flush()
        for place, command in enumerate(COMMANDS):
            if "--jobs" in command or "--dask" in command:
                took, status, left = ended(work, place, 0.7 * life[place], signal.SIGKILL, 5.0)
                bad += bool(left)
                sys.stdout.write(f"SIGKILL: status {status}, left {left}: {' '.join(command)}\n")
    sys.stdout.write(f"{bad} of {options.times} with a fault\n")
    sys.exit(bad > 0)


def prepare(work: Path) -> None:
    (work / "temporary").mkdir()
    (work / "study.toml").write_text(STUDY)
    rows = [f"{n % 2},{n // 2 % 2},{n * n % 3 % 2},{('', 'a', 'b')[n % 3]}\n" for n in range(300)]
    (work / "log.csv").write_text("a,b,y,set\n" + "".join(rows))
    start = ["session", "start", str(work / "session"), "--data", *ASIA, "--horizon", "500"]
    run = ["run", *ASIA, "--horizon", "500", "--out", str(work / "run")]
    for command in ([*start, "--policy", "cn-ucb"], run):
        process = spawn(work, command)
        _, said = process.communicate()
        if process.returncode:
            sys.exit(said)


def spawn(work: Path, command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "cb_pgm", *command], cwd=work, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT), MARK: str(work), "TMPDIR": str(work / "temporary")},
    )  # fmt: skip


def filled(work: Path, place: int, number: object) -> list[str]:
    return [part.format(out=work / f"out-{place}-{number}", work=work) for part in COMMANDS[place]]


def lasts(work: Path, place: int) -> float:
    """Return how long a command lasts, at most 12 seconds."""
    begun = time.monotonic()
    process = spawn(work, filled(work, place, "whole"))
    try:
        process.communicate(timeout=12)
        if process.returncode:
            sys.exit(f"{' '.join(COMMANDS[place])} failed")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    clear(work)
    return time.monotonic() - begun


def ended(
    work: Path, place: int, moment: float, number: int, patience: float
) -> tuple[float, int, list[str]]:
    """End a command by a signal after a moment; return how long that took, its status, and what is left."""
    before = {path.name for path in work.iterdir()}
    process = spawn(work, filled(work, place, time.monotonic_ns()))
    time.sleep(moment)
    begun = time.monotonic()
    process.send_signal(number)
    process.wait()
    took = time.monotonic() - begun
    while ours(work) and time.monotonic() - begun < patience:
        time.sleep(0.1)
    left = [f"process {pid}" for pid in ours(work)]
    if number == signal.SIGTERM:  # of a killed program nothing can clean up the files
        left += [path.name for path in (work / "temporary").iterdir()]
        left += [
            path.name for path in work.iterdir() if path.name not in before and path.name.startswith(".")
        ]
    clear(work)
    return took, process.returncode, left


def clear(work: Path) -> None:
    for pid in ours(work):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    for path in [*(work / "temporary").iterdir(), *work.glob("out-*"), *work.glob(".*")]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def ours(work: Path) -> list[int]:
    """Return the processes that have our mark in their environment."""
    mark, found = f"{MARK}={work}".encode(), []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


if __name__ == "__main__":
    main()
