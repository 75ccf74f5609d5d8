"""A study's folder has one owner, its errors are in words, and the same study has the same numbers."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import cb_pgm
from cb_pgm.cli.program import main
from cb_pgm.errors import StudyError
from cb_pgm.study import Study, cells, run_study
from cb_pgm.study.results import ResultsFile

TREE = {"instance": "tree", "n": 4, "n_states": 2}
SMALL = {"horizons": 50, "runs": 2, "system": [TREE], "policy": [{"name": "ucb"}]}
TOML = """
horizons = {horizon}
runs = {runs}
[[system]]
network = "{network}"
reward = "xray=yes"
[[policy]]
name = "ucb"
"""


def written(path: Path, network: str, horizon: int = 50, runs: int = 2) -> Path:
    path.write_text(TOML.format(network=network, horizon=horizon, runs=runs))
    return path


def tables(folder: Path) -> tuple[bytes, bytes]:
    return (folder / "results.csv").read_bytes(), (folder / "curves.csv").read_bytes()


@pytest.mark.parametrize("how", [{}, {"resume": True}, {"force": True}])
def test_a_folder_in_use_is_refused_and_keeps_its_results(how: dict, tmp_path: Path) -> None:
    study, inner = Study.from_dict(SMALL), []

    def second(_: int) -> None:
        with pytest.raises(StudyError, match=rf"study running in it, process {os.getpid()} on .* since 20"):
            run_study(study, tmp_path, **({"resume": True} | how))
        inner.append((tmp_path / "results.jsonl").stat().st_ino)

    assert run_study(study, tmp_path, progress=second)["done"] == 2
    assert set(inner) == {(tmp_path / "results.jsonl").stat().st_ino}
    assert run_study(study, tmp_path, resume=True)["done"] == 2  # the lock ended with its holder


def test_two_that_start_in_one_new_folder(tmp_path: Path) -> None:
    """Of several that start at once, those that meet an owner are refused in words; none fails otherwise."""
    study, errors, ready = Study.from_dict(SMALL), [], threading.Barrier(4)

    def start() -> None:
        ready.wait()
        try:
            run_study(study, tmp_path / "out", resume=True)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) < 4
    assert all(isinstance(error, StudyError) and "found" in str(error) for error in errors)
    assert run_study(study, tmp_path / "out", resume=True) == {
        "cells": 2, "done": 2, "failed": 0, "left_out": 0,
    }  # fmt: skip


def test_force_deletes_only_its_own_files(tmp_path: Path) -> None:
    study = Study.from_dict(SMALL)
    run_study(study, tmp_path)
    (tmp_path / "results.jsonl.backup").write_text("mine")
    run_study(study, tmp_path, force=True)
    assert (tmp_path / "results.jsonl.backup").read_text() == "mine"


@pytest.mark.parametrize("content", [b"not a study at all" * 50, b"[1]\n", b'{"a": 1}\n', b""])
def test_what_is_no_study(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """It is refused by study and report in one line with the path; an empty file is an unbegun study."""
    file, path = written(tmp_path / "s.toml", "data/asia.bif"), tmp_path / "out" / "results.jsonl"
    path.parent.mkdir()
    path.write_bytes(content)
    for arguments in (
        ["report", str(path.parent)],
        ["study", str(file), "--out", str(path.parent), "--resume"],
    ):
        status = main(arguments)
        said = capsys.readouterr().err
        assert status == (0 if content == b"" and arguments[0] == "study" else 1), said
        assert status == 0 or (said.count("\n") == 1 and "results.jsonl" in said)
        assert status == 0 or path.read_bytes() == content


def test_a_full_disk_is_said_and_the_study_resumes(tmp_path: Path) -> None:
    """The file may grow only so far, as on a disk without room: the last line is half-written."""
    whole, out, toml = tmp_path / "whole", tmp_path / "out", tmp_path / "s.toml"
    study = Study.from_toml(written(toml, "data/asia.bif", runs=40))
    run_study(study, whole)
    room = (whole / "results.jsonl").stat().st_size // 2
    arguments = ["study", str(toml), "--out", str(out)]
    code = (
        f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))\n"
        f"from cb_pgm.cli.program import main; raise SystemExit(main({arguments!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "room on the disk for" in done.stderr.splitlines()[-1]
    assert not (out / "results.jsonl").read_bytes().endswith(b"\n")
    assert run_study(study, out, resume=True)["done"] == 40
    assert tables(out) == tables(whole)


def test_a_report_only_reads_also_a_half_written_line(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_study(Study.from_dict(SMALL), out)
    with (out / "results.jsonl").open("ab") as file:
        file.write(b'{"cell": 1, "row"')
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert main(["report", str(out), "--out", str(tmp_path / "report.html")]) == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_the_path_of_a_network_changes_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = Path("data/asia.bif").absolute()
    (tmp_path / "a" / "b").mkdir(parents=True)
    shutil.copy(network, tmp_path / "a" / "asia.bif")
    written(tmp_path / "a" / "s.toml", "asia.bif")
    written(tmp_path / "a" / "b" / "s.toml", str(network))
    monkeypatch.chdir(tmp_path / "a")
    for number, toml in enumerate(("s.toml", "../a/s.toml", "b/s.toml")):
        run_study(Study.from_toml(toml), tmp_path / str(number))
    assert tables(tmp_path / "0") == tables(tmp_path / "1") == tables(tmp_path / "2")


def test_a_changed_network_is_refused(tmp_path: Path) -> None:
    shutil.copy("data/asia.bif", tmp_path / "asia.bif")
    toml = written(tmp_path / "s.toml", "asia.bif")
    study = Study.from_toml(toml)
    run_study(study, tmp_path / "out")
    with open(tmp_path / "asia.bif", "a") as file:
        file.write("\n")
    with pytest.raises(StudyError, match=r"another content of .*asia.bif"):
        run_study(Study.from_toml(toml), tmp_path / "out", resume=True)
    cells.system_of.cache_clear()
    cells._network.cache_clear()
    run_study(study, tmp_path / "new")  # it was read before the change: its cells notice
    assert b"found it changed" in (tmp_path / "new" / "results.csv").read_bytes()


def test_the_commit_is_of_this_project_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed in an environment inside another repository, there is none, even where all is tracked."""
    repository = tmp_path / "theirs"
    copied = repository / "venv" / "site-packages" / "cb_pgm"
    shutil.copytree(
        Path(cb_pgm.__file__).parent, copied, ignore=shutil.ignore_patterns("__pycache__", "templates")
    )
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "theirs"]):
        subprocess.run([*git, *arguments], check=True, capture_output=True)
    code = "from cb_pgm.provenance import commit; print(commit())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=copied.parent, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(copied.parent)},
    )  # fmt: skip
    assert done.stdout.strip() == "None"
    monkeypatch.setenv("GIT_DIR", str(repository / ".git"))
    from cb_pgm.provenance import commit

    theirs = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    assert commit() != theirs.stdout.strip()


def test_a_large_grid_is_counted_before_it_is_made(tmp_path: Path) -> None:
    began = time.perf_counter()
    with pytest.raises(StudyError, match="found 2,000,000,000 in"):
        Study.from_dict(SMALL | {"runs": 2_000_000_000})
    with pytest.raises(StudyError, match="multiply to 1,000,000,000"):
        Study.from_dict(SMALL | {"system": [TREE | {key: [1] * 1000 for key in ("n", "n_states", "shape")}]})
    assert Study.from_dict(SMALL | {"runs": 5_000_000}).n_cells() == 5_000_000
    assert time.perf_counter() - began < 1


def test_a_policy_that_cannot_be_imported_is_refused_before_any_cell(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("raise RuntimeError('boom')\nclass P: pass")
    for name in ("nowhere.at_all:P", "json:P", "json:decoder", "../mine:P", "/tmp/mine:P", "mine.py:P", ":P"):
        with pytest.raises(StudyError, match="Expected"):
            run_study(Study.from_dict(SMALL | {"policy": [{"name": name}]}), tmp_path / "out")
        assert not (tmp_path / "out").exists()


HOSTILE = ("../../escaped", "/absolute", "a/b", "..", "con:aux", "x" * 400, "line\nbreak", "\x1b[31m")


def test_names_never_reach_a_path(tmp_path: Path) -> None:
    systems = [TREE | {"label": name, "n": 4 + number} for number, name in enumerate(HOSTILE)]
    policies = [{"name": "ucb", "label": name} for name in HOSTILE[:1]]
    out = tmp_path / "deep" / "er" / "out"
    study = SMALL | {"title": HOSTILE[0], "system": systems, "policy": policies}
    run_study(Study.from_dict(study), out)
    assert main(["report", str(out)]) == 0
    assert {path.name for path in out.iterdir()} == {
        "results.jsonl", "results.csv", "curves.csv", "report.html",
    }  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.slow
def test_a_signal_ends_the_workers_too(sent: signal.Signals, tmp_path: Path) -> None:
    """Two workers in the middle of long cells are gone soon after; about 8 seconds."""
    toml = written(tmp_path / "s.toml", str(Path("data/asia.bif").absolute()), horizon=20_000_000, runs=4)
    process = subprocess.Popen(
        [sys.executable, "-m", "cb_pgm", "study", str(toml), "--out", str(tmp_path / "out"), "--jobs", "2"],
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    while len(_members(process.pid)) < 3:
        time.sleep(0.1)
    time.sleep(2)
    process.send_signal(sent)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 128 + sent
    assert said.splitlines()[-1] == f"ended by {sent.name}"
    deadline = time.monotonic() + 10
    while _members(process.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _members(process.pid)


def _members(group: int) -> list[int]:
    """Return the processes of a session, from /proc."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == group and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def test_the_lock_ends_with_a_killed_process(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from cb_pgm.study.results import ResultsFile\n"
        "with ResultsFile.opened(Path(sys.argv[1])): print('owned', flush=True); time.sleep(60)"
    )
    file = tmp_path / "results.jsonl"
    process = subprocess.Popen([sys.executable, "-c", code, str(file)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    with pytest.raises(StudyError, match=f"process {process.pid} on"), ResultsFile.opened(file):
        pass
    process.kill()
    process.wait()
    process.stdout.close()
    with ResultsFile.opened(file):
        pass
