"""Reading a result runs no code: a policy is imported only if it is installed or a person names it."""

import json
import sqlite3
import sys
from contextlib import closing
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from cb_pgm import Session
from cb_pgm.cli.program import main

OWN = """
from cb_pgm.policies.index_policies import UCB

class Mine(UCB):
    name = "mine"
"""
HOSTILE = ("{own}:Mine", "os:system(command='touch {mark}')", "antigravity:fly", "this:s", "{own}", "")


class Imports:
    """An import hook that finds nothing, and keeps the names of the modules looked for."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        self.names.append(name)
        return None


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module that can be imported, from the folder of the session and current folder."""
    name = f"own_{tmp_path.name.strip('_')}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return name


@pytest.fixture
def session(tmp_path: Path) -> Path:
    table = "".join(f"{n % 2},{n // 2 % 2},{n % 3 and 1}\n" for n in range(60))
    (tmp_path / "t.csv").write_text("a,b,y\n" + table)
    with Session.start(
        tmp_path / "s", data=tmp_path / "t.csv", reward="y=1", policy="ucb", horizon=100, seed=1
    ) as started:
        rows = [{"a": "0", "b": "0", "y": "1"}]
        started.ask()
        started.withdraw()
        (pull,) = started.ask()
        started.tell([rows[0] | dict(pull.intervention)])
    return tmp_path / "s"


def renamed(folder: Path, policy: str) -> None:
    """Write another policy's name into the session, as somebody could who sends it."""
    with closing(sqlite3.connect(folder / "session.sqlite")) as file:
        (text,) = file.execute("SELECT content FROM settings").fetchone()
        file.execute("UPDATE settings SET content = ?", (json.dumps(json.loads(text) | {"policy": policy}),))
        file.commit()


@pytest.mark.parametrize("policy", HOSTILE)
def test_reading_a_session_imports_nothing_that_it_names(
    policy: str, own: str, session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    policy = policy.format(own=own, mark=mark)
    renamed(session, policy)
    (tmp_path / "rows.csv").write_text("a,b,y\n0,0,1\n")
    hook = Imports()
    monkeypatch.setattr(sys, "meta_path", [hook, *sys.meta_path])
    out = str(tmp_path / "out.csv")
    for verb in (["status"], ["export", "--out", out], ["ask"], ["tell", "rows.csv"], ["withdraw"]):
        main(["session", verb[0], str(session), *verb[1:]])
    main(["report", str(session)])
    assert not mark.exists()
    assert not {own, "antigravity", "this"} & set(hook.names)
    assert own not in sys.modules


def test_a_policy_of_ones_own_is_named_again(
    own: str, tmp_path: Path, session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without its name the session can be looked at and exported; with it, it goes on."""
    folder, name = str(tmp_path / "mine"), f"{own}:Mine"
    start = ["session", "start", folder, "--data", "t.csv", "--reward", "y=1", "--horizon", "9"]
    assert main([*start, "--policy", name, "--seed", "1"]) == 0
    assert main(["session", "ask", folder]) == 1
    assert "name it yourself if you trust it (--policy" in capsys.readouterr().err
    assert main(["session", "ask", folder, "--policy", f"{own}:Other"]) == 1
    assert f"Expected the session's policy, '{name}'" in capsys.readouterr().err
    assert main(["session", "ask", folder, "--policy", name]) == 0
    assert main(["session", "status", folder]) == 0
    assert "isn't loaded" in capsys.readouterr().out
    assert main(["session", "status", folder, "--policy", name]) == 0
    assert "isn't loaded" not in capsys.readouterr().out
    assert main(["session", "export", folder, "--out", "rows.csv"]) == 0
    assert main(["report", folder]) == 0


def test_an_installed_plug_in_needs_no_second_word(own: str, tmp_path: Path, session: Path) -> None:
    about = tmp_path / "mine-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[cb_pgm.policies]\nmine = {own}:Mine\n")
    start = ["session", "start", "mine", "--data", "t.csv", "--reward", "y=1", "--horizon", "9"]
    assert main([*start, "--policy", "mine", "--seed", "1"]) == 0
    assert main(["session", "ask", "mine"]) == 0
