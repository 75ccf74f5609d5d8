"""What several test files here need: hostile names, and folders to report on."""

import csv
from pathlib import Path

import numpy as np
import pytest

from cb_pgm import CausalSystem, Session
from cb_pgm.pipeline import Pipeline
from cb_pgm.report import write_report
from cb_pgm.report.run_folder import write_run
from cb_pgm.study import Study, run_study

#: Column names that a careless page would take for its own text.
HOSTILE = (
    "<script>alert(1)</script>",
    "a\"b'c&d;--><!--",
    r"$\frac{1}$ $x",
    "</style></svg><h1>pwned",
    "{{7*7}}{% raw %}",
    "_bell\x07\u202e",
    "long " * 25 + "end",
    're"w<b>ard',
)


@pytest.fixture(scope="session")
def hostile_names() -> tuple[str, ...]:
    return HOSTILE


@pytest.fixture(scope="session")
def report_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of each kind with its report.html: run, rehearsal (hostile names), study, session, open."""
    root = tmp_path_factory.mktemp("reports")
    folders = {kind: root / kind for kind in ("run", "rehearsal", "study", "session", "open")}
    for folder in folders.values():
        folder.mkdir()
    settings = {"horizon": 2000, "runs": 2, "seed": 1, "policies": ("cn-ucb-sequential", "screening", "ucb")}
    asia = Pipeline("data/asia.csv", "xray=yes", truth="data/asia.bif", **settings)
    write_run(asia.run(), folders["run"])
    table = _hostile_table(root / "<i>hostile.csv")
    reward = f"{HOSTILE[-1]}=<b onload=alert(3)>yes"
    write_run(Pipeline(table, reward, draws=5, **settings).run(), folders["rehearsal"])
    run_study(Study.from_dict(_STUDY), folders["study"])
    _play_session(
        folders["session"], 150, data="data/asia.csv", reward="xray=yes", policy="cn-ucb-sequential"
    )
    states = {"<i>drug</i>": ["<b>low", "high&"], "recovered": ["no", "yes"]}
    Session.start(folders["open"], states=states, reward="recovered=yes", horizon=9, seed=1).close()
    for folder in folders.values():
        write_report(folder)
    return folders


_STUDY = {
    "title": "<em>Small</em> & hostile",
    "seed": 3,
    "runs": 3,
    "horizons": [300],
    "system": [
        {"instance": "tree", "n": 6, "n_states": 2, "noise": "bernoulli", "label": "<u>trees</u>"},
        {"network": "data/asia.bif", "reward": "xray=yes"},
    ],
    "graph": [
        {"source": "oracle", "rows": [50, 300]},
        {"source": "estimated", "method": ["chow-liu", "ges"], "rows": [50, 300]},
    ],
    "policy": [
        {"name": "cn-ucb-sequential"},
        {"name": "ucb"},
        {"name": "math:sqrt", "label": "<s>mine"},
    ],
}


def _hostile_table(path: Path) -> Path:
    """Write 600 rows of a chain over the hostile names; the third column causes the reward, the last."""
    rng = np.random.default_rng(0)
    column = rng.random(600) < 0.5
    columns = []
    for name in HOSTILE[:-1]:
        column = np.where(rng.random(600) < 0.9, column, rng.random(600) < 0.5)
        columns.append([f"<i>{name[:2]}{int(value)}" for value in column])
        if len(columns) == 3:
            cause = column
    rewarded = rng.random(600) < np.where(cause, 0.9, 0.1)
    columns.append(["<b onload=alert(3)>yes" if value else "no" for value in rewarded])
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HOSTILE, *zip(*columns, strict=True)])
    return path


def _play_session(folder: Path, rows: int, **settings: object) -> None:
    """Start a session on asia and tell it so many rows drawn from the network."""
    system = CausalSystem.from_bif("data/asia.bif", "xray=yes")
    rng = np.random.default_rng(0)
    with Session.start(folder, horizon=1000, seed=1, unit="patients", **settings) as session:
        while session.status().told < rows:
            (pull,) = session.ask(batch=10)
            seen = system.sample(pull.intervention, pull.left, rng)
            session.tell(
                [
                    {
                        name: states[code]
                        for (name, states), code in zip(system.states.items(), codes, strict=True)
                    }
                    | {"xray": "yes" if reward else "no"}
                    for codes, reward in zip(seen.codes, seen.rewards, strict=True)
                ]
            )
