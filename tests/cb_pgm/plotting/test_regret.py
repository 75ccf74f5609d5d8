"""Regret plots: the frame holds what is shown, the picture shows the frame, nothing global changes."""

import re
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from pictures import ink, words

from cb_pgm.plotting.regret import OKABE_ITO, draw_regret, line_style, regret_bands, save


@pytest.fixture
def curves() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = [
        (policy, graph, run, number, float(number * rng.random()))
        for policy, graph in (("cn-ucb", "estimated"), ("cn-ucb", "oracle"), ("ucb", "none"))
        for run in range(20)
        for number in (1, 10, 100, 1000)
    ]
    return pd.DataFrame(rows, columns=["policy", "graph", "run", "round", "regret"])


def test_bands_are_means_and_quantiles_over_runs(curves):
    bands = regret_bands(curves)
    assert list(bands.columns) == ["policy", "graph", "round", "mean", "low", "high", "runs"]
    assert len(bands) == 3 * 4
    for row in bands.itertuples():
        chosen = curves.query("policy == @row.policy and graph == @row.graph and round == @row.round")[
            "regret"
        ]
        assert row.runs == len(chosen) == 20
        assert row.mean == pytest.approx(chosen.mean())
        assert (row.low, row.high) == pytest.approx(tuple(np.quantile(chosen, [0.1, 0.9])))


def test_the_picture_shows_the_frame_and_names_its_lines_and_its_band(curves):
    bands = regret_bands(curves)
    figure = draw_regret(bands, title="Reward CVP=NORMAL")
    (axes,) = figure.axes
    groups = list(bands.groupby(["policy", "graph"], sort=False))
    assert len(axes.get_lines()) == len(groups)
    for line, (_, part) in zip(axes.get_lines(), groups, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), part["round"])
        np.testing.assert_array_equal(line.get_ydata(), part["mean"])
    assert len({line.get_color() for line in axes.get_lines()}) == 3
    assert len({line.get_linestyle() for line in axes.get_lines()}) == 3  # told apart without colour too
    assert {line.get_color() for line in axes.get_lines()} <= set(OKABE_ITO)
    said = " ".join(text.get_text() for text in figure.legends[0].get_texts())
    assert all(name in said for name in ("cn-ucb, estimated graph", "cn-ucb, oracle graph", "ucb"))
    assert "20 runs" in axes.get_title(loc="left")
    assert "10–90 %" in axes.get_title(loc="left")
    assert len(axes.collections) == 3


@pytest.mark.parametrize("rounds", [4, 10, 50, 1000, 10**6])
def test_rounds_are_numbered_without_formulas_at_any_horizon(rounds):
    numbers = np.unique(np.geomspace(1, rounds, 9).astype(int))
    curves = pd.DataFrame({"policy": "$a_b$", "graph": "none", "run": 0, "round": numbers, "regret": numbers})
    figure = draw_regret(regret_bands(curves))
    figure.draw_without_rendering()
    (axes,) = figure.axes
    low, high = axes.get_xlim()
    labels = [
        label.get_text()
        for label in axes.get_xticklabels(which="both")
        if label.get_text() and low <= label.get_position()[0] <= high
    ]
    assert len(labels) >= 2
    assert all(re.fullmatch(r"\d+(\.\d+)?[kM]?", label) for label in labels), labels


def test_lines_are_listed_below_by_their_last_value(curves):
    figure = draw_regret(regret_bands(curves))
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    ends = [float(name.split("\u2002")[1].replace(",", "")) for name in named]
    assert len(named) == 3
    assert ends == sorted(ends, reverse=True)


def test_line_styles_differ_for_49_lines():
    assert len({str(line_style(index)) for index in range(49)}) == 49


def test_a_single_run_has_no_band(curves):
    figure = draw_regret(regret_bands(curves[curves["run"] == 0]))
    assert not figure.axes[0].collections
    assert "band" not in figure.axes[0].get_title(loc="left")


def test_files_are_the_same_every_time(curves, tmp_path):
    first, second = (save(draw_regret(regret_bands(curves)), tmp_path / name) for name in ("one", "two"))
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()
    png, svg = first
    assert ink(png) > 0.01
    assert all(any(name in text for text in words(svg)) for name in ("cn-ucb, oracle graph", "ucb"))


def test_drawing_leaves_matplotlibs_settings_alone(curves, tmp_path):
    before = dict(mpl.rcParams)
    save(draw_regret(regret_bands(curves)), tmp_path / "plot")
    assert dict(mpl.rcParams) == before


def test_pyplot_is_never_loaded():
    modules = "cb_pgm.plotting.regret, cb_pgm.plotting.graphs"
    code = f"import sys, {modules}; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
