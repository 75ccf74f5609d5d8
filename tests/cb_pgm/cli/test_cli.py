"""The program as a person meets it: help at once, one line for an error, the right exit status."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pictures import ink, words

import cb_pgm
from cb_pgm.cli.program import main
from cb_pgm.cli.usage import COMMANDS
from cb_pgm.model.bif import read_bif_model
from cb_pgm.policies.registry import POLICIES

ASIA = ["data/asia.csv", "--reward", "xray=yes"]


def cb_pgm_process(*arguments: str, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "cb_pgm", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **options)


def failure(capsys, *arguments: str) -> str:
    """Run what must fail with exit status 1 and nothing on stdout, and return its one line on stderr."""
    assert main(list(arguments)) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert err.startswith("error: ")
    return err


# -- help and usage ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)])
def test_help_answers_at_once_and_loads_nothing_heavy(arguments):
    """One process each; at most half a second of its own CPU time."""
    code = (
        "import sys\n"
        "from cb_pgm.cli.program import main\n"
        "try:\n"
        f"    main({arguments!r})\n"
        "except SystemExit as done:\n"
        "    heavy = {'numpy', 'pandas', 'pgmpy', 'matplotlib', 'numba', 'scipy'} & set(sys.modules)\n"
        "    sys.exit(f'{done.code} {heavy}' if done.code or heavy else None)\n"
    )
    before = os.times()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    after = os.times()
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert after.children_user + after.children_system - before.children_user - before.children_system < 0.5


def test_help_names_every_command(capsys):
    assert all(f" {name} " in shown(capsys, "--help") for name in COMMANDS)


def shown(capsys, *arguments: str) -> str:
    with pytest.raises(SystemExit) as done:
        main(list(arguments))
    assert done.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", [*COMMANDS, "session start", "session tell"])
def test_help_fits_two_screens_and_ends_in_an_example(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    text = shown(capsys, *command.split(), "--help")
    flags = [line.split()[0] for line in text.splitlines() if line.startswith("  --")]
    assert len(flags) <= 22
    assert text.count("\n") <= 80
    if command in ("run", "effects", "discover", "replay", "plan", "session start"):
        assert "\nexample: cb-pgm " in text
        whole = shown(capsys, *command.split(), "--help-all")
        assert {"--separator", "--merge-rare", "--keep", *flags} <= set(whole.split())


def test_the_first_flags_of_run_are_those_that_most_need(capsys):
    text = shown(capsys, "run", "--help")
    flags = [line.split()[0] for line in text.splitlines() if line.startswith("  --")]
    assert {"--reward", "--ignore", "--missing", "--bins", "--not-settable", "--policy"} <= set(flags[:10])


def test_a_flag_has_the_default_and_the_first_sentence_of_its_field(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert "the seed of all randomness (default: drawn, and recorded)" in shown(capsys, "run", "--help")
    assert "rounds of each run (default: 100,000)" in shown(capsys, "run", "--help")
    assert "the seed of all randomness (default: 0)" in shown(capsys, "effects", "--help")


def test_policies_are_explained_by_a_command_of_their_own(capsys):
    assert main(["policies"]) == 0
    assert all(f"{name} " in capsys.readouterr().out for name in ["screening"])
    assert main(["policies", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == set(POLICIES)


def test_the_version_is_the_packages(capsys):
    with pytest.raises(SystemExit) as done:
        main(["--version"])
    assert done.value.code == 0
    assert capsys.readouterr().out == f"cb-pgm {cb_pgm.__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["walk"],
        ["run"],
        ["run", "data/asia.csv"],
        ["run", *ASIA, "--polcy", "ucb"],
        ["run", *ASIA, "--policy", "magic"],
        ["run", *ASIA, "--pol", "ucb"],
        ["run", *ASIA, "--horizon", "0"],
        ["run", *ASIA, "--horizon", "1.5"],
        ["run", *ASIA, "--runs", "-1"],
        ["run", *ASIA, "--seed", "one"],
        ["effects", *ASIA, "--failure-prob", "1"],
        ["replay", *ASIA, "--reward-gap", "0"],
        ["run", *ASIA, "--noise-scale", "nan"],
        ["run", *ASIA, "--reward-range", "1"],
        ["run", *ASIA, "--reward-range", "2", "1"],
        ["run", *ASIA, "--missing", "guess"],
        ["discover"],
        ["compare", "one.json"],
    ],
)
def test_wrong_usage_is_2_and_says_how(arguments, capsys):
    with pytest.raises(SystemExit) as done:
        main(arguments)
    assert done.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "--help)" in err


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["rum"], "did you mean 'run'?"),
        (["run", *ASIA, "--policy", "cnucb"], "did you mean 'cn-ucb'?"),
        (["run", *ASIA, "--polcy", "ucb"], "did you mean '--policy'?"),
        (["run", *ASIA, "--missing", "drp"], "did you mean 'drop'?"),
        (["session", "strt"], "did you mean 'start'?"),
        (["session", "ask", "nowhere", "--bach", "3"], "did you mean '--batch'?"),
        (["run", "data/asia.csv"], "Expected --reward but found none"),
    ],
)
def test_wrong_usage_names_what_was_meant(arguments, meant, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert meant in capsys.readouterr().err


# -- errors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["run", "nowhere.csv", "--reward", "a"], "nowhere.csv"),
        (["run", "data", "--reward", "a"], "data"),
        (["run", "data/asia.csv", "--reward", "xrai=yes"], "xrai"),
        (["run", "data/asia.csv", "--reward", "xray=maybe"], "maybe"),
        (["run", "data/asia.csv", "--reward", "xray"], "xray"),
        (["run", *ASIA, "--graph", "nowhere.json"], "nowhere.json"),
        (["run", *ASIA, "--truth", "nowhere.bif"], "nowhere.bif"),
        (["run", *ASIA, "--truth", "data/asia.csv"], "data/asia.csv"),
        (["run", *ASIA, "--truth", "data/cancer.bif"], "xray"),
        (["run", *ASIA, "--ignore", "smok"], "smok"),
        (["run", *ASIA, "--not-settable", "age"], "age"),
        (["run", *ASIA, "--out", "README.md"], "README.md"),
        (["run", *ASIA, "--out", "data"], "data"),
        (["discover", "nowhere.csv"], "nowhere.csv"),
        (["discover", "data/asia.csv", "--out", "README.md"], "README.md"),
        (["compare", "nowhere.json", "data/asia.bif"], "nowhere.json"),
        (["compare", "data/cancer.bif", "data/asia.bif"], "in data/cancer.bif"),
    ],
)
def test_an_error_is_one_line_that_names_what_is_wrong(arguments, names, capsys):
    assert names in failure(capsys, *arguments)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"a,b\n",
        b"\x00\x01\x02\xff" * 100,
        b"a,b,r\n1,2,3\n1,2\n" * 30,
        b"a,a,r\n" + b"1,2,0\n2,1,1\n" * 30,
        b"a,b,r\n" + b"x,y,0\nz,,1\nz,y,1\nx,w,0\n" * 30,  # an empty field
        b"a,b,r\n" + b"x,y,low\nz,w,high\nx,w,low\n" * 30,  # a reward that is no number
        b"a,b,r\n" + b"x,y,1\nz,w,1\nx,w,1\n" * 30,  # the same reward everywhere
        b"a,b,r\n" + b"x,y,0\nz,w,1\nx,w,1\n" * 3,  # nine rows
    ],
)
def test_an_odd_table_is_refused_in_one_line(content, tmp_path, capsys):
    path = tmp_path / "odd.csv"
    path.write_bytes(content)
    failure(capsys, "run", str(path), "--reward", "r")


def test_debug_shows_where_it_went_wrong(capsys):
    assert main(["run", "nowhere.csv", "--reward", "a", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err
    assert main(["--debug", "run", "nowhere.csv", "--reward", "a"]) == 1
    assert "Traceback" in capsys.readouterr().err


# -- results -----------------------------------------------------------------------------------------------


def test_json_is_one_object_on_stdout_and_notes_go_to_stderr(capsys):
    assert main(["run", *ASIA, "--truth", "data/asia.bif", "--horizon", "500", "--seed", "1", "--json"]) == 0
    out, err = capsys.readouterr()
    content = json.loads(out)
    assert content["seed"] == 1
    assert [row["graph"] for row in content["policies"]] == ["estimated", "oracle", "none", "none"]
    assert f"{content['truth']['effective_reward_gap']:.4g} on the mean reward" in err
    assert "Traceback" not in err
    assert "Warning" not in err


def test_out_leaves_everything_and_is_not_written_over_by_mistake(tmp_path, capsys):
    folder = tmp_path / "runs" / "asia"
    arguments = ["run", *ASIA, "--horizon", "300", "--runs", "2", "--seed", "5", "--out", str(folder)]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    names = {path.name for path in folder.iterdir()}
    pictures = {f"{name}.{kind}" for name in ("regret", "graph") for kind in ("png", "svg")}
    assert names >= {"result.json", "settings.json", "summary.txt", "regret.csv", *pictures}
    assert ink(folder / "regret.png") > 0.01
    assert {"either", "tub", "lung"} <= set(words(folder / "graph.svg"))
    assert (folder / "summary.txt").read_text() in printed
    settings = json.loads((folder / "settings.json").read_text())
    assert settings["settings"]["seed"] == 5
    assert len(settings["data"]["sha256"]) == 64
    assert settings["versions"]["cb-pgm"] == cb_pgm.__version__
    assert (folder / "regret.csv").read_text().startswith("policy,graph,run,round,regret\n")
    result = json.loads((folder / "result.json").read_text())
    assert len(result["policies"]) == 6

    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert "--force" in failure(capsys, *arguments)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert main([*arguments, "--force", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["policies"] == result["policies"]
    for picture in pictures:
        assert before[folder / picture] == (folder / picture).read_bytes()


def test_a_refused_run_leaves_no_folder(tmp_path, capsys):
    folder = tmp_path / "new"
    failure(capsys, "run", "nowhere.csv", "--reward", "a", "--out", str(folder))
    assert not folder.exists()


def test_discover_run_and_compare_go_together(tmp_path, capsys):
    graph, printed = tmp_path / "graph.json", tmp_path / "printed.json"
    assert main(["discover", *ASIA, "--out", str(graph), "--json"]) == 0
    out = capsys.readouterr().out
    printed.write_text(out)
    assert json.loads(out)["method"] == "ges-boss"
    assert json.loads(graph.read_text())["nodes"] == json.loads(out)["nodes"]
    for path in (graph, printed):
        assert main(["run", *ASIA, "--graph", str(path), "--horizon", "50", "--seed", "1", "--json"]) == 0
        content = json.loads(capsys.readouterr().out)
        assert content["graph"]["directed"] == json.loads(out)["directed"]
    assert main(["compare", str(graph), str(printed), "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["shd"] == 0
    assert scores["skeleton"]["f1"] == 1
    assert scores["parent_aid"] == scores["ancestor_aid"] == {"wrong": 0, "share": 0.0}
    assert "--force" in failure(capsys, "discover", *ASIA, "--out", str(graph))
    assert main(["discover", *ASIA, "--out", str(tmp_path / "folder")]) == 0
    assert {path.name for path in (tmp_path / "folder").iterdir()} == {"graph.json", "graph.png", "graph.svg"}
    assert "→" in capsys.readouterr().out


def test_discover_prints_the_graph_in_the_forms_of_other_programs(tmp_path, capsys):
    command = ["discover", *ASIA]
    assert main([*command, "--format", "dot"]) == 0
    assert capsys.readouterr().out.startswith("digraph {")
    assert main([*command, "--format", "dagitty", "--out", str(tmp_path / "asia.bif")]) == 0
    assert capsys.readouterr().out.startswith("pdag {")
    assert set(read_bif_model(tmp_path / "asia.bif").variables) < {*read_bif_model("data/asia.bif").variables}
    assert "--format" in failure(capsys, *command, "--format", "dot", "--json")


def test_compare_reads_networks(capsys):
    assert main(["compare", "data/earthquake.bif", "data/earthquake.bif"]) == 0
    assert "distance 0" in capsys.readouterr().out


# -- processes ---------------------------------------------------------------------------------------------


def test_the_module_is_the_program():
    done = cb_pgm_process("discover", *ASIA)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "4 directed" in done.stdout


def _heed_interrupts() -> None:
    """Undo what a shell does to commands that it runs in the background: they ignore interrupts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_an_interrupted_run_says_so_in_one_line_and_can_be_started_again(tmp_path):
    folder = tmp_path / "out"
    command = [sys.executable, "-m", "cb_pgm", "run", *ASIA, "--horizon", "1e9", "--out", str(folder)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_heed_interrupts,
    )
    try:
        deadline = time.monotonic() + 90
        # A temporary folder is made right before the first pull.
        while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == "interrupted"
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_a_closed_pipe_is_no_error():
    command = (
        f"{sys.executable} -m cb_pgm discover data/asia.csv --json | head -c 10; echo ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.endswith("0\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told_in_one_line(tmp_path):
    graph = tmp_path / "graph.json"
    graph.write_text('{"nodes": ["a", "b"], "directed": [], "undirected": [["a", "b"]]}')
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "cb_pgm", "compare", str(graph), str(graph)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "No space left" in done.stderr


TABLE_COMMANDS = {
    "run": ["run", "CSV"],
    "discover": ["discover", "CSV"],
    "replay": ["replay", "CSV"],
    "plan": ["plan", "--data", "CSV"],
    "session start": ["session", "start", "FOLDER", "--data", "CSV", "--horizon", "10"],
}


@pytest.mark.parametrize("command", TABLE_COMMANDS)
def test_a_messy_table_is_refused_once_and_taken_with_the_flags_advised(command, tmp_path, capsys):
    """Every command that reads a table names all its problems, a line each, and takes the same flags."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.normal(size=300).round(3) for name in ("blood pressure", "weight")})
    frame["sex"] = np.where(np.arange(300) % 30 == 0, "NA", rng.choice(["m", "f"], 300))
    frame["drug"] = rng.choice(["a", "b"], 300)
    frame["recovered"] = rng.choice(["yes", "no"], 300)
    frame["set"] = np.where(np.arange(300) < 150, "drug", "")
    frame.to_csv(tmp_path / "messy.csv", index=False)
    places = {"CSV": str(tmp_path / "messy.csv"), "FOLDER": str(tmp_path / "session")}
    arguments = [places.get(word, word) for word in TABLE_COMMANDS[command]]
    arguments += ["--reward", "recovered=yes", "--intervention-column", "set"]
    if command in ("run", "plan"):
        arguments += ["--horizon", "50", "--policy", "ucb"]
    assert main(arguments) == 1
    first, *lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("  ") for line in lines)
    flags = shlex.split(first.partition("or add ")[2])
    assert flags == ["--missing", "drop", "--bins", "3"]
    assert main([*arguments, *flags]) == 0
    assert "warning: 'NA' of 'sex' counted as missing" in capsys.readouterr().err


def test_help_breaks_no_name_at_its_hyphens(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    shown = capsys.readouterr().out
    assert all(name in shown for name in POLICIES)
