"""The studies' scripts run through, leave what they say, and count right."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scaling
from pictures import ink, words

SCRIPTS = Path(__file__).parents[1] / "scripts"


def run(script: str, *arguments: str) -> str:
    command = [sys.executable, str(SCRIPTS / script), "--quick", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_estimated_vs_oracle(tmp_path):
    """About a minute. Its frame holds what its results say of each system, method and number of rows."""
    said = run("estimated_vs_oracle.py", "--out", str(tmp_path))
    frame = pd.read_csv(tmp_path / "by_rows.csv")
    results = pd.read_csv(tmp_path / "results.csv").query("policy == 'cn-ucb'")
    assert len(frame) == 2 * 4 * 2  # systems, methods with the true graph, numbers of rows
    means = results.groupby(["system", "method", "rows"])["regret"].mean()
    for row in frame.itertuples():
        assert row.regret == pytest.approx(means[row.system, row.method, row.rows], rel=1e-4)
        assert 0 <= row.right <= 1
        assert row.low <= row.regret <= row.high
    assert all(name in said for name in (*frame["system"], "ges", "pc", "chow-liu", "screening", "ucb"))
    assert ink(tmp_path / "by_rows.png") > 0.01
    drawn = " ".join(words(tmp_path / "by_rows.svg"))
    assert all(name in drawn for name in (*frame["system"], "ges", "pc", "chow-liu"))
    page = (tmp_path / "report.html").read_text("utf-8")
    assert all(name in page for name in frame["system"])
    assert run("estimated_vs_oracle.py", "--out", str(tmp_path)) == said  # resumed: nothing left to play


@pytest.mark.slow
def test_scaling(tmp_path):
    """About 15 seconds. Every curve of the configuration is measured and gets its exponent."""
    said = run("scaling.py", "--out", str(tmp_path))
    times = pd.read_csv(tmp_path / "times.csv")
    assert set(times["along"]) == {"n", "rows", "n_states", "rounds"}
    assert (times["seconds"] >= 0).all()
    found = pd.read_csv(tmp_path / "growth.csv")
    assert len(found) == times[["along", "what"]].drop_duplicates().shape[0]
    assert all(what in said for what in found["what"])
    assert ink(tmp_path / "growth.png") > 0.01
    drawn = " ".join(words(tmp_path / "growth.svg"))
    assert all(what in drawn for what in found["what"])


def test_growth_finds_the_exponent_of_a_power_law():
    sizes = np.array([10, 100, 1000, 10_000])
    times = pd.DataFrame(
        {"along": "n", "what": "job", "size": sizes, "repeat": 0, "seconds": 1e-6 * sizes**1.5}
    )
    found = scaling.growth(pd.concat([times, times.assign(repeat=1)]))
    assert found["exponent"].tolist() == pytest.approx([1.5])
    assert found["largest"].tolist() == [10_000]
    assert found["seconds"].tolist() == pytest.approx([1.0])


def test_growth_is_drawn_for_every_job_that_is_configured():
    """Every name of the configuration is a job, and every curve gets a line."""
    import tomllib

    configuration = tomllib.loads((SCRIPTS / "scaling.toml").read_text("utf-8"))
    curves = [(along, what) for along, jobs in configuration["along"].items() for what in jobs]
    assert {what for _, what in curves} <= set(scaling.JOBS)
    times = pd.DataFrame(
        [(along, what, size, 0, size * 1e-5) for along, what in curves for size in (2, 4, 8)],
        columns=["along", "what", "size", "repeat", "seconds"],
    )
    figure = scaling.draw_growth(times, configuration["held"])
    assert sum(len(axes.get_lines()) for axes in figure.axes) == len(curves)
