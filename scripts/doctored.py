"""Doctor the files of a session, a study and a run, and read them: one line each, and no code is run.

    python scripts/doctored.py [--ways 200] [--seed 1] [--only session|study|run]

Each way changes one thing as somebody could who sends such a folder: a value gets another type, is dropped,
huge, or a text with a meaning elsewhere; a policy gets the name of a module; rows get more bytes. Each folder
is read in a process of its own, with all commands that read it. What must hold: exit status 0 or 1, at most
one line on stderr, in our own words; no module imported that the file names; at most 5 seconds of CPU time
and 1 GB.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from cb_pgm import Session
from cb_pgm.cli.program import main as program

SECONDS, MEMORY = 5.0, 2**30
OWN_LINE = re.compile(r"(error: Expected .* but found .*)?", re.DOTALL)
POLICIES = (
    "hostile:Policy",
    "os:system(command='touch mark')",
    "subprocess:Popen(args='touch mark', shell=True)",
    "antigravity:fly",
    "this:s",
    "hostile",
    "cb_pgm.policies.index_policies:UCB",
    "../hostile:Policy",
)
OTHERS: tuple[Any, ...] = (
    *(None, True, -1, 0, 3, 10**18, 10**400, 1e308, -0.5, 5e-324, float("nan"), float("inf"), "", "text"),
    *("=1+1", "\x00", "a\nb", "{{ 7 * 7 }}", "<script>", "x" * 10**6, [], {}, [[]], [None] * 5, {"": 0}),
    *([1] * 10**5, "../../etc/passwd", "\ud800"),
)
STUDY = """
title = "doctored"
runs = 2
horizons = [200]
[[system]]
instance = "tree"
n = [4, 5]
[[policy]]
name = ["cn-ucb", "ucb"]
"""


class Imports:
    """An import hook that finds nothing, and keeps the names of what was looked for."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        self.names.append(name)
        return None


def prepare(work: Path) -> None:
    """Make a session, a study and a run's folder, whole and true."""
    (work / "hostile.py").write_text("open('mark', 'w').close()\nPolicy = None\n")
    (work / "study.toml").write_text(STUDY)
    table = "".join(f"{n % 2},{n // 2 % 2},{n * n % 3 % 2}\n" for n in range(80))
    (work / "t.csv").write_text("a,b,y\n" + table)
    policies = ("screening", "cn-ucb")
    for policy in policies:
        with Session.start(
            work / f"session-{policy}", data=work / "t.csv", reward="y=1", policy=policy, horizon=90, seed=1
        ) as session:
            for number in range(6):
                pull = session.ask(batch=4, pending=2)[0]
                row = {"a": "0", "b": "1", "y": str(number % 2)} | dict(pull.intervention)
                session.tell([row] * 4, pull.number)
            session.withdraw(session.ask(pending=2)[0].number, reason="ill")
            session.add_state("b", "2")
            session.ask(pending=2)
    quiet("study", str(work / "study.toml"), "--out", str(work / "study"))
    table_of = ["run", "data/kidney_stones.csv", "--reward", "success=yes", "--not-settable", "size"]
    quiet(*table_of, "--horizon", "200", "--seed", "1", "--out", str(work / "run"))


def quiet(*arguments: str) -> None:
    """Run the program in a process of its own, since this one is to be forked and must have no threads."""
    subprocess.run([sys.executable, "-m", "cb_pgm", *arguments], check=True, capture_output=True)


# -- what is changed -----------------------------------------------------------------------------------------


def doctored(kind: str, work: Path, folder: Path, rng: random.Random) -> tuple[str, list[list[str]]]:
    """Copy a folder of that kind and change one thing; return what it was, and the commands that read it."""
    change, commands = {"session": _session, "study": _study, "run": _run}[kind](work, folder, rng)
    return change, [*commands, ["report", str(folder), "--out", str(folder / "page.html")]]


def _session(work: Path, folder: Path, rng: random.Random) -> tuple[str, list[list[str]]]:
    shutil.copytree(work / rng.choice(("session-screening", "session-cn-ucb")), folder)
    verbs = [["status"], ["export", "--out", str(folder / "rows.csv")], ["ask"], ["withdraw", "--pull", "2"]]
    commands = [["session", verb, str(folder), *more] for verb, *more in verbs]
    with contextlib.closing(sqlite3.connect(folder / "session.sqlite")) as file:
        (text,) = file.execute("SELECT content FROM settings").fetchone()
        settings = json.loads(text)
        if rng.random() < 0.15:
            settings["policy"] = change = rng.choice(POLICIES)
            file.execute("UPDATE settings SET content = ?", (json.dumps(settings),))
        elif rng.random() < 0.5:
            change, settings = changed(settings, rng)
            text = json.dumps(settings) if rng.random() < 0.95 else json.dumps(settings)[:-20]
            file.execute("UPDATE settings SET content = ?", (text.encode("utf-8", "surrogatepass"),))
            file.execute("UPDATE settings SET content = CAST(content AS TEXT)")
        else:
            (last,) = file.execute("SELECT max(number) FROM events").fetchone()
            number, change = rng.randint(1, last), rng.choice(_EVENTS)
            file.execute(change.replace("{n}", str(number)))
            change = f"{change} ({number})"
        file.commit()
    return change, commands


_COLUMNS = ("at", "kind", "pull", "intervention", "size", "note", "flag", "codes", "fields", "complied")
_TO = ("7", "-3", "9000000000000000000", "'text'", "x'00ff'", "NULL", "zeroblob(50000000)", "''", "2.5")
_EVENTS = (
    *(f"UPDATE OR IGNORE events SET {name} = {to} WHERE number = {{n}}" for name in _COLUMNS for to in _TO),
    *(f"UPDATE events SET kind = '{kind}' WHERE number = {{n}}" for kind in ("told", "asked", "state")),
    'UPDATE events SET intervention = \'{"a": "9"}\' WHERE number = {n}',
    "UPDATE events SET intervention = '{\"a\": 1}' WHERE number = {n}",
    "UPDATE events SET intervention = '" + "[" * 100_000 + "' WHERE number = {n}",
    "DELETE FROM events WHERE number = {n}",
    *("DROP TABLE events", "DROP TABLE settings", "DELETE FROM settings", "PRAGMA user_version = 9"),
    *("PRAGMA application_id = 1", "ALTER TABLE events DROP COLUMN codes", "PRAGMA user_version = 1"),
)


def _study(work: Path, folder: Path, rng: random.Random) -> tuple[str, list[list[str]]]:
    shutil.copytree(work / "study", folder)
    path = folder / "results.jsonl"
    lines = path.read_text().splitlines()
    place = rng.randrange(len(lines))
    if rng.random() < 0.1:
        change, lines[place] = f"line {place} cut", lines[place][: len(lines[place]) // 2]
    else:
        change, content = changed(json.loads(lines[place]), rng)
        lines[place] = json.dumps(content)
    path.write_text("\n".join(lines) + "\n")
    resume = ["study", str(work / "study.toml"), "--out", str(folder), "--resume"]
    return f"line {place}: {change}", [resume]


def _run(work: Path, folder: Path, rng: random.Random) -> tuple[str, list[list[str]]]:
    shutil.copytree(work / "run", folder)
    path = folder / rng.choice(("result.json", "report.json", "settings.json", "result.json", "regret.csv"))
    if path.suffix == ".csv":
        lines = path.read_text().splitlines()
        place = rng.randrange(len(lines))
        fields = lines[place].split(",")
        fields[rng.randrange(len(fields))] = str(rng.choice(OTHERS[:-1]))[:1000]
        lines[place] = ",".join(fields)
        path.write_text("\n".join(lines))
        return f"{path.name} line {place}: {lines[place][:60]!r}", []
    change, content = changed(json.loads(path.read_text()), rng)
    path.write_text(json.dumps(content))
    return f"{path.name} {change}", []


def changed(content: Any, rng: random.Random) -> tuple[str, Any]:
    """Return a copy of JSON with one value anywhere in it changed, and what was changed in words."""
    content = copy.deepcopy(content)
    places = list(_places(content, ""))
    # All depths alike, for else most changes would hit the longest list.
    depth = rng.choice(sorted({where.count("/") for _, _, where in places}))
    holder, key, where = rng.choice([place for place in places if place[2].count("/") == depth])
    if rng.random() < 0.2:
        del holder[key]
        return f"{where} dropped", content
    if isinstance(holder[key], list) and rng.random() < 0.3:
        holder[key] = holder[key] * rng.choice((2, 10_000 // max(1, len(holder[key]))))
        return f"{where} repeated", content
    holder[key] = rng.choice(POLICIES) if str(key) in ("policy", "policies", "name") else rng.choice(OTHERS)
    return f"{where} = {str(holder[key])[:30]!r}", content


def _places(content: Any, where: str) -> Iterator[tuple[Any, Any, str]]:
    items = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in items:
        yield content, key, f"{where}/{key}"
        if isinstance(value, dict | list):
            yield from _places(value, f"{where}/{key}")


# -- reading in a process of its own ------------------------------------------------------------------------


def faults_of(folder: Path, commands: list[list[str]]) -> list[str]:
    """Read a folder with all commands, in a forked process each; return what is wrong with how it went."""
    faults = []
    for command in commands:
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            with os.fdopen(writer, "w") as pipe:
                pipe.write(_read(folder, command))
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            said = pipe.read()
        _, status = os.waitpid(child, 0)
        said += f"ended with {status}" if status else ""
        if said:
            faults.append(f"{' '.join(command[:2])}: {said}")
    return faults


def _read(folder: Path, command: list[str]) -> str:
    """Run a command, and return what is wrong with how it went; nothing if all is well."""
    os.chdir(folder.parent)
    signal.alarm(60)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    hook = Imports()
    sys.meta_path.insert(0, hook)
    sys.path.insert(0, str(folder.parent))
    begun, out, err = time.process_time(), io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = program(command)
    except BaseException:  # whatever escapes is what is looked for
        return traceback.format_exc()
    took, said = time.process_time() - begun, err.getvalue().strip()
    named = {name.split(".")[0] for name in hook.names} & {"hostile", "antigravity", "this"}
    if status not in (0, 1) or "\n" in said or (status == 1 and not OWN_LINE.fullmatch(said)) or named:
        return f"status {status}, imported {named}, said {said[:300]!r}"
    if (folder.parent / "mark").exists():
        return "it ran code"
    return f"took {took:.1f} s" if took > SECONDS else ""


def attacks(kind: str, ways: int, seed: int, work: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each way in words, with its faults."""
    for way in range(ways):
        folder = work / f"{kind}-{way}"
        change, commands = doctored(kind, work, folder, random.Random(f"{kind} {seed} {way}"))
        yield change, faults_of(folder, commands)
        shutil.rmtree(folder)


def main(report: Callable[[str], object] = print) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--ways", type=int, default=200, help="ways of each kind (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the ways (default: 1)")
    parser.add_argument("--only", choices=("session", "study", "run"), help="one kind only")
    options = parser.parse_args()
    failed: Counter[str] = Counter()
    kinds = [options.only] if options.only else ["session", "study", "run"]
    with tempfile.TemporaryDirectory() as made:
        prepare(Path(made))
        for module in ("pandas", "matplotlib.pyplot", "cb_pgm.report.run_page", "cb_pgm.report.study_page"):
            import_module(module)  # once, and not in each process
        for kind in kinds:
            for change, faults in attacks(kind, options.ways, options.seed, Path(made)):
                failed[kind] += bool(faults)
                for fault in faults:
                    report(f"{kind} | {change[:200]} | {fault.strip().splitlines()[-1][:400]}")
    for kind in kinds:
        report(f"{kind}: {failed[kind]} of {options.ways} ways with a fault")
    if sum(failed.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
