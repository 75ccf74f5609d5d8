"""The program at its edges: closed streams, lines while it works, deep documents, hidden characters."""

import io
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cb_pgm.cli import console
from cb_pgm.cli.program import main
from cb_pgm.report.page import Page, Paragraph, Section, render

DEEP = "[" * 100_000
RUN = ["run", "data/asia.csv", "--reward", "xray=yes", "--policy", "ucb"]


def shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f"{sys.executable} -m cb_pgm {line}"], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )  # fmt: skip


def test_a_closed_stdout_is_said() -> None:
    done = shell("compare data/asia.bif data/asia.bif >&-")
    assert done.returncode == 1
    assert done.stderr == "error: Expected an open stdout but found it closed: redirect it to a file\n"


def test_a_closed_stderr_changes_nothing() -> None:
    closed, plain = (shell(f"compare data/asia.bif data/asia.bif {how}") for how in ("2>&-", ""))
    assert (closed.returncode, closed.stdout) == (0, plain.stdout)


def test_long_work_says_that_it_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "_SECONDS_BETWEEN_LINES", 0.05)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with console.waiting("Reading"), console.progress(200, "Playing") as step:
        step(50)
        time.sleep(0.2)
    said = sys.stderr.getvalue()
    assert "Playing: 50 of 200 rounds (25%), 0 s so far\n" in said
    assert "Reading, 0 s so far\n" in said


@pytest.mark.parametrize("text", [DEEP, '{"nodes": [' + "9" * 5_000 + "]}", '{"a":' * 50_000])
def test_deep_or_endless_json_ends_in_one_line(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "graph.json"
    path.write_text(text)
    assert main([*RUN, "--graph", str(path)]) == 1
    assert main(["compare", str(path), "data/asia.bif"]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 2
    assert "Traceback" not in said


def test_deep_toml_ends_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "deep.toml"
    path.write_text("a = " + DEEP)
    out = str(tmp_path / "out")
    assert main(["study", str(path), "--out", out]) == 1
    assert main([*RUN, "--knowledge", str(path)]) == 1
    assert main(["session", "start", out, "--states", str(path), "--horizon", "9"]) == 1
    assert capsys.readouterr().err.count("\n") == 3


@pytest.mark.parametrize("horizon", ["1e20", "1" + "0" * 5_000, "1e400", "nan"])
def test_an_endless_horizon_ends_in_one_line(horizon: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([*RUN, "--horizon", horizon])
    assert left.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_bif_with_an_undefined_parent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("data/asia.bif").read_text().replace("( tub | asia )", "( tub | ZZ )")
    (tmp_path / "x.bif").write_text(text)
    assert main(["compare", str(tmp_path / "x.bif"), "data/asia.bif"]) == 1
    said = capsys.readouterr().err
    assert "found 'ZZ' in line 30" in said
    assert "add a variable block" in said
    assert said.count("\n") == 1


def test_a_page_shows_directional_marks() -> None:
    name = "a\u202eb\u2066c\u200b\x07"
    text = f"Set {name} to <b>."
    html = render(Page("Run", name, text, [Section("s", "S", [Paragraph(text)])]))
    assert r"a\u202eb\u2066c\u200b\x07" in html
    assert not set("\u202e\u2066\u200b\x07") & set(html)
    assert "to &lt;b&gt;." in html


def test_control_characters_reach_no_svg(tmp_path: Path) -> None:
    from xml.etree import ElementTree

    from cb_pgm.plotting.regret import new_figure, save

    figure = new_figure(3, 2)
    figure.suptitle("a\x07b\x1b\u202ec")
    _, svg = save(figure, tmp_path / "x")
    text = svg.read_text(encoding="utf-8")
    ElementTree.fromstring(text)
    assert "\u202e" not in text


def test_a_name_steers_no_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\x1b[2J,b\n" + "0,0\n1,1\n0,0\n1,1\n0,1\n" * 20)
    command = ["discover", str(path), "--method", "chow-liu"]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(command) == 0
    assert main([*command, "--reward", "c\x1b[2J"]) == 1
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    assert r"a\x1b[2J" in said.out
