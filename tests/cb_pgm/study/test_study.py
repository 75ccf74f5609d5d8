"""Studies: the same numbers however they are played, killed and resumed; every key checked; errors kept."""

import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cb_pgm import UCB, instances
from cb_pgm.cli.program import main
from cb_pgm.errors import StudyError
from cb_pgm.policies.context import PolicyContext
from cb_pgm.report import write_report
from cb_pgm.study import Study, cells, config, run_study
from cb_pgm.study.cells import play_cell
from cb_pgm.study.results import Results
from cb_pgm.study.tables import TABLE_KEYS
from discovery import estimate

SMALL = {
    "title": "small",
    "seed": 3,
    "runs": 2,
    "horizons": [200, 500],
    "system": [
        {"instance": "tree", "n": [4, 6], "n_states": 2, "noise": "bernoulli"},
        {"network": "data/asia.bif", "reward": "xray=yes"},
    ],
    "graph": [{"source": "oracle"}, {"source": "estimated", "method": "chow-liu", "rows": 300}],
    "policy": [{"name": "cn-ucb"}, {"name": "ucb"}],
}


class Failing(UCB):
    """A policy that raises on its first pull in systems with more than five variables."""

    def ask(self):
        if len(self.states) > 5:
            raise RuntimeError("no\nthanks")
        return super().ask()


def make_ucb(context: PolicyContext) -> UCB:
    return UCB(context.states, noise_scale=context.noise_scale)


def _results(folder: Path) -> tuple[bytes, bytes]:
    return (folder / "results.csv").read_bytes(), (folder / "curves.csv").read_bytes()


def _toml(path: Path, study: dict) -> Path:
    """Write the little TOML that the tests need."""
    lines = [f"{key} = {value!r}".replace("'", '"') for key, value in study.items() if not _is_table(value)]
    for kind, tables in study.items():
        if _is_table(tables):
            for table in tables:
                lines.append(f"[[{kind}]]")
                lines += [f"{key} = {value!r}".replace("'", '"') for key, value in table.items()]
    path.write_text("\n".join(lines))
    return path


def _is_table(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plain")
    assert run_study(Study.from_dict(SMALL), folder, jobs=1) == {
        "cells": 36,
        "done": 36,
        "failed": 0,
        "left_out": 0,
    }
    return folder


def test_tables_are_tidy(plain: Path) -> None:
    results = pd.read_csv(plain / "results.csv")
    curves = pd.read_csv(plain / "curves.csv")
    assert len(results) == 36
    assert not results.duplicated(["system", "graph", "policy", "horizon", "run"]).any()
    assert set(results["graph"]) == {"oracle", "chow-liu 300 rows", "none"}
    last = curves.groupby(["system", "graph", "policy", "horizon", "run"])["regret"].last()
    np.testing.assert_allclose(
        last.sort_values().to_numpy(), results["regret"].sort_values().to_numpy(), rtol=1e-9
    )


def test_two_processes_give_the_same_tables(plain: Path, tmp_path: Path) -> None:
    run_study(Study.from_dict(SMALL), tmp_path, jobs=2)
    assert _results(tmp_path) == _results(plain)


@pytest.mark.slow
def test_dask_gives_the_same_tables(plain: Path, tmp_path: Path) -> None:
    run_study(Study.from_dict(SMALL), tmp_path, dask="local")
    assert _results(tmp_path) == _results(plain)


@pytest.mark.slow
def test_a_dask_worker_killed_in_the_middle_loses_nothing(plain: Path, tmp_path: Path) -> None:
    """A real scheduler and two worker processes on loopback; one gets SIGKILL after the third result."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        finished: list[int] = []

        def progress(step: int) -> None:
            finished.append(step)
            if len(finished) == 3:
                os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

        study = Study.from_dict(SMALL)
        counts = run_study(study, tmp_path, dask=cluster.scheduler_address, progress=progress)
    assert counts == {"cells": 36, "done": 36, "failed": 0, "left_out": 0}
    assert len(finished) == 36
    assert _results(tmp_path) == _results(plain)


def test_adding_a_policy_or_a_run_changes_no_other_number(plain: Path, tmp_path: Path) -> None:
    more = SMALL | {"runs": 3, "policy": [{"name": "thompson"}, *SMALL["policy"]], "horizons": [200]}
    run_study(Study.from_dict(more), tmp_path)
    what = ["system", "graph", "policy", "horizon", "run"]
    both = pd.read_csv(plain / "results.csv").merge(pd.read_csv(tmp_path / "results.csv"), on=what)
    assert len(both) == 18
    np.testing.assert_array_equal(both["regret_x"], both["regret_y"])


@pytest.mark.slow
def test_killed_at_random_moments_and_resumed_it_is_the_same(plain: Path, tmp_path: Path) -> None:
    """SIGKILL at a random moment after a few more cells, six times in two processes; then to the end.

    On a busy machine it may come to its end before the last kills; at least two come in the middle.
    """
    file, out = _toml(tmp_path / "study.toml", SMALL), tmp_path / "out"
    command = [sys.executable, "-m", "cb_pgm", "study", str(file), "--out", str(out), "--resume"]
    rng = np.random.default_rng(0)
    done = [0]
    for jobs in (1, 2) * 3:
        process = subprocess.Popen(
            [*command, "--jobs", str(jobs)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        wanted = done[-1] + int(rng.integers(1, 5))
        while _cells_done(out) < wanted and process.poll() is None:
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.02))
        with suppress(ProcessLookupError):  # it may have ended
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        done.append(_cells_done(out))
    assert sum(0 < cells < 36 for cells in done) >= 2
    assert done == sorted(done)
    subprocess.run(command, check=True, capture_output=True)
    assert _results(out) == _results(plain)


def _cells_done(out: Path) -> int:
    """How many cells a study's file holds; 0 while there is none."""
    file = out / "results.jsonl"
    return len(Results.read(file).cells) if file.exists() else 0


@pytest.mark.slow
def test_a_cell_costs_little_beside_its_rounds(tmp_path: Path) -> None:
    """1,000 cells of 50 rounds take at most 5 ms each of CPU, all in; about 4 seconds."""
    study = Study.from_dict(
        {
            "runs": 500,
            "horizons": 50,
            "system": [{"network": "data/asia.bif", "reward": "xray=yes"}],
            "policy": [{"name": "ucb"}, {"name": "thompson"}],
        }
    )
    play_cell(next(study.cells()), study.seed)  # compiles, and reads the network
    start = time.process_time()
    assert run_study(study, tmp_path) == {"cells": 1000, "done": 1000, "failed": 0, "left_out": 0}
    assert (time.process_time() - start) / 1000 <= 0.005


def test_an_estimate_is_made_once_for_all_that_use_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = []
    monkeypatch.setattr(cells, "estimate", lambda *a, **k: made.append(k["method"]) or estimate(*a, **k))
    study = {
        "seed": 11,
        "runs": 3,
        "horizons": [50, 100],
        "system": [{"instance": "tree", "n": 4, "n_states": 2}],
        "graph": [{"source": "estimated", "method": ["chow-liu", "ges"], "rows": [100, 200, 300, 400, 500]}],
        "policy": [{"name": "cn-ucb"}, {"name": "cn-ucb-fixed"}],
    }
    assert run_study(Study.from_dict(study), tmp_path)["failed"] == 0
    assert len(made) == 3 * 2 * 5


def test_the_oracle_may_have_the_marginals_of_rows(tmp_path: Path) -> None:
    study = {
        "horizons": 50,
        "system": [{"instance": "tree", "n": 4, "n_states": 2, "noise": "bernoulli"}],
        "graph": [{"source": "oracle"}, {"source": "oracle", "rows": 100}],
        "policy": [{"name": "cn-ucb"}, {"name": "oracle"}, {"name": "ucb"}],
    }
    assert run_study(Study.from_dict(study), tmp_path)["failed"] == 0
    results = pd.read_csv(tmp_path / "results.csv", keep_default_na=False)
    assert results[["policy", "graph", "method", "rows"]].values.tolist() == [
        ["cn-ucb", "oracle", "oracle", ""],
        ["cn-ucb", "oracle 100 rows", "oracle", "100"],
        ["oracle", "oracle", "", ""],
        ["ucb", "none", "", ""],
    ]


def test_a_failed_cell_is_recorded_and_stops_no_other(tmp_path: Path) -> None:
    study = Study.from_dict(
        {
            "horizons": 100,
            "system": [{"instance": "tree", "n": [4, 6], "n_states": 2}],
            "policy": [{"name": f"{__name__}:Failing"}, {"name": "ucb"}],
        }
    )
    sys.modules.setdefault(__name__, sys.modules[Failing.__module__])
    assert run_study(study, tmp_path) == {"cells": 4, "done": 4, "failed": 1, "left_out": 0}
    results = pd.read_csv(tmp_path / "results.csv")
    assert results["error"].dropna().tolist() == ["RuntimeError: no thanks"]
    assert results["regret"].notna().sum() == 3


def test_a_policy_of_ones_own_may_be_a_function(tmp_path: Path) -> None:
    sys.modules.setdefault(__name__, sys.modules[make_ucb.__module__])
    one = {"horizons": 100, "system": [{"instance": "tree", "n": 4, "n_states": 2}]}
    counts = run_study(
        Study.from_dict(one | {"policy": [{"name": f"{__name__}:make_ucb", "label": "mine"}]}), tmp_path
    )
    assert counts == {"cells": 1, "done": 1, "failed": 0, "left_out": 0}
    assert pd.read_csv(tmp_path / "results.csv")["policy"].tolist() == ["mine"]


def test_resuming_refuses_a_changed_study_and_a_used_folder(plain: Path, tmp_path: Path) -> None:
    study = Study.from_dict(SMALL)
    before = _results(plain)
    with pytest.raises(StudyError, match="--resume goes on"):
        run_study(study, plain)
    with pytest.raises(StudyError, match="changed one"):
        run_study(Study.from_dict(SMALL | {"seed": 4}), plain, resume=True)
    assert run_study(study, plain, resume=True) == {"cells": 36, "done": 36, "failed": 0, "left_out": 0}
    assert _results(plain) == before
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(StudyError, match="Expected an empty or new folder"):
        run_study(study, tmp_path, resume=True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sytem": []}, "did you mean 'system'"),
        ({"runs": 0}, "a whole number from 1 to .* at runs but found 0"),
        ({"runs": True}, "runs"),
        ({"horizons": [1.5]}, "horizons"),
        ({"horizons": []}, "at least one at horizons"),
        ({"title": 3}, "a text at title"),
        ({"failure_prob": 2}, "between 0 and 1 at failure_prob"),
        ({"system": []}, r"at least one \[\[system\]\]"),
        ({"system": [{"instance": "treee", "n": 3}]}, "treee"),
        ({"system": [{"instance": "tree", "n": 3, "nstates": 2}]}, "did you mean 'n_states'"),
        ({"system": [{"instance": "forest", "n_states": 2}]}, "Expected n but found none, in"),
        ({"system": [{"instance": "lower_bound_effect_gap", "n": 3}]}, "n_states but found none"),
        ({"system": [{"instance": "tree", "n": 3, "seed": 1}]}, "seed"),
        ({"system": [{"network": "nowhere.bif", "reward": "a=b"}]}, "nowhere.bif"),
        ({"system": [{"network": "data/asia.bif"}]}, "reward"),
        ({"graph": [{"source": "estimated", "method": "gess"}]}, "gess"),
        ({"graph": [{"source": "dreamt"}]}, "dreamt"),
        ({"policy": [{"name": "ucbb"}]}, "did you mean 'ucb'"),
        ({"policy": [{"name": "ucb"}, {"name": "ucb"}]}, "twice"),
        ({"policy": [{"name": "screening", "max_parents": 0}]}, "a whole number .* at max_parents"),
    ],
)
def test_every_key_and_value_is_checked(change: dict, said: str) -> None:
    with pytest.raises(StudyError, match=said):
        Study.from_dict(SMALL | change)


def test_every_key_is_documented() -> None:
    """The page that users read names every key of every part, those of the families from their signatures."""
    documented = re.findall(r"^(\w[\w, ;]*) : ", config.__doc__ or "", flags=re.MULTILINE)
    words = {word for line in documented for word in re.split("[,;] ", line)}
    families = {key for name in instances.__all__ for key in config._instance_keys(name)}
    assert words == families | {
        *("title", "seed", "runs", "horizons", "failure_prob"),
        *("network", "reward", "instance", "label", "source", "method", "rows", "name", "max_parents"),
        *TABLE_KEYS,
    }


def test_the_example_of_the_documentation_is_a_study() -> None:
    """Its example, with a policy that exists in place of the reader's own."""
    lines = re.findall(r"^    (\[\[.*|\w+ = .*)$", config.__doc__ or "", flags=re.MULTILINE)
    text = "\n".join(lines).replace("my_package.my_module:MyPolicy", "cb_pgm:UCB")
    study = Study.from_dict(tomllib.loads(text))
    assert [len(study.systems), len(study.graphs), len(study.policies)] == [3, 5, 2]


def test_toml_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = [{"instance": "tree", "n": 4}]
    smaller = {"runs": 1, "horizons": [100], "system": tree, "graph": [{"source": "oracle"}]}
    file = _toml(tmp_path / "study.toml", SMALL | smaller)
    options = ["--out", str(tmp_path / "out")]
    assert main(["study", str(file), *options]) == 0
    assert "2 of 2 cells" in capsys.readouterr().out
    assert main(["study", str(file), *options]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    (tmp_path / "bad.toml").write_text("runs = = 2")
    assert main(["study", str(tmp_path / "bad.toml"), *options]) == 1
    assert "bad.toml" in capsys.readouterr().err


def test_policies_start_from_as_many_rows_as_the_study_says(tmp_path: Path) -> None:
    """Rows come from the graph's table, else from the system's; a cold study has none."""
    asia = {"network": "data/asia.bif", "reward": "xray=yes", "rows": 500}
    chosen = SMALL | {"runs": 1, "horizons": [200], "system": [asia]}
    chosen["policy"] = [{"name": "cn-ucb"}, {"name": "screening"}, {"name": "ucb"}]
    study = Study.from_dict(chosen)
    assert [part.label for part in study.systems] == ["asia xray=yes, 500 rows"]
    used, means = {}, {}
    for played in (study, study.cold()):
        for cell in played.cells():
            row = play_cell(cell, study.seed).row
            used.setdefault((row["policy"], row["graph"]), []).append(row["started_from"])
            means.setdefault((row["policy"], row["graph"]), []).append(row["reward_gap"])
    assert used == {
        ("cn-ucb", "oracle"): [500, 0],
        ("cn-ucb", "chow-liu 300 rows"): [300, 0],
        ("screening", "none"): [500, 0],
        ("ucb", "none"): [0, 0],  # it can't use rows in which nothing was set
    }
    assert all(warm == cold for warm, cold in means.values())


def test_by_default_policies_start_from_as_many_rows_as_the_largest_table() -> None:
    chosen = SMALL | {"system": [{"instance": "tree", "n": 4}, {"instance": "tree", "n": 5, "rows": 0}]}
    assert [part.get("rows") for part in Study.from_dict(chosen).systems] == [300, None]
    assert [part.label for part in Study.from_dict(chosen).systems] == ["tree(n=4)", "tree(n=5, rows=0)"]
    assert [part.get("rows") for part in Study.from_dict(chosen).cold().systems] == [None, None]


def test_where_hidden_causes_leave_no_true_graph_only_its_cells_are_left_out(tmp_path: Path) -> None:
    study = Study.from_dict(
        {
            "horizons": 100,
            "system": [{"instance": "hidden_dag", "n": 5, "n_children": [1, 2], "n_parents": 1}],
            "graph": [{"source": "oracle"}, {"source": "estimated", "rows": 200}],
            "policy": [{"name": "cn-ucb"}, {"name": "screening"}],
        }
    )
    assert run_study(study, tmp_path) == {"cells": 6, "done": 6, "failed": 0, "left_out": 1}
    results = pd.read_csv(tmp_path / "results.csv")
    (left_out,) = results[results["left_out"].notna()].to_dict("records")
    assert (left_out["policy"], left_out["graph"]) == ("cn-ucb", "oracle")
    assert "n_children=2" in left_out["system"]
    assert results.loc[results["left_out"].isna(), "regret"].notna().all()
    assert "Not played, since no graph is true" in write_report(tmp_path).read_text()
