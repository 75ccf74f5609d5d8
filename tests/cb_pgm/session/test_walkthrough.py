"""The walk-through of a session in README.md, line by line: what is typed prints what is shown."""

import csv
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from cb_pgm import Session
from cb_pgm.cli.program import main
from cb_pgm.session.state import OpenPull

TITLE = "## A real experiment"
MORE = re.compile(r"# .*\b(six|thirteen) more")
NUMBERS = {"six": 6, "thirteen": 13}


def walkthrough() -> list[tuple[str, list[str]]]:
    """Return the first block of the section: each command, and what README says it prints."""
    lines = iter(Path("README.md").read_text(encoding="utf-8").splitlines())
    steps: list[tuple[str, list[str]]] = []
    for line in lines:
        if line == TITLE:
            break
    for line in lines:
        if line.startswith("## ") or (steps and line and not line.startswith("    ")):
            break
        if line.startswith(("    $ ", "    # ")):
            steps.append((line[4:].removeprefix("$ "), []))
        elif steps and steps[-1][0].endswith("\\"):
            steps[-1] = (f"{steps[-1][0][:-1]} {line.strip()}", [])
        elif steps and line:
            steps[-1][1].append(line[4:])
    return steps


def measure(pull: OpenPull) -> None:
    """Write rows.csv: patients of whom .8 recover on the high drug, .3 on the low one; the rest is chance."""
    rng = np.random.default_rng(pull.number)
    states = {"drug": ("low", "high"), "diet": ("none", "some", "strict"), "age": ("young", "old")}
    with open("rows.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*states, "recovered"])
        for _ in range(pull.left):
            row = {name: str(rng.choice(values)) for name, values in states.items()} | dict(pull.intervention)
            recovered = rng.random() < (0.8 if row["drug"] == "high" else 0.3)
            writer.writerow([*row.values(), "yes" if recovered else "no"])


def one_more_batch() -> None:
    with Session.open("trial") as session:
        (pull,) = session.ask(batch=25)
        measure(pull)
        session.tell("rows.csv")


def do(command: str, shown: list[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Do what a line of the walk-through says, and return what it prints."""
    name, *arguments = shlex.split(command)
    more = MORE.match(command)
    if more:
        for _ in range(NUMBERS[more[1]]):
            one_more_batch()
        return []
    if name == "cat":
        Path(arguments[0]).write_text("\n".join(shown) + "\n", encoding="utf-8")
        return shown
    if name == "head":
        return Path(arguments[-1]).read_text(encoding="utf-8").splitlines()[: int(arguments[0][1:])]
    assert name == "cb-pgm"
    assert main(arguments) == 0
    if "ask" in arguments:
        with Session.open("trial") as session:
            measure(session.ask()[0])
    return capsys.readouterr().out.splitlines()


def test_it_is_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = walkthrough()
    monkeypatch.chdir(tmp_path)
    assert [shlex.split(command)[2] for command, _ in steps if "session" in command].count("tell") >= 1
    for command, shown in steps:
        assert do(command, shown, capsys) == shown
