"""`cb-pgm effects` on the command line, and its picture."""

import contextlib
import json
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.patches import PathPatch

from cb_pgm import plots
from cb_pgm.cli import main

STONES = ["effects", "data/kidney_stones.csv", "--reward", "success=yes", "--draws", "10"]


def test_it_prints_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*STONES, "--not-settable", "size"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Which intervention has the highest mean of success=yes? From 700 rows")
    assert "It hangs on the edge size — treatment" in text


def test_it_takes_knowledge_and_a_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "known.toml").write_text('required = [["size", "treatment"]]\n', encoding="utf-8")
    (tmp_path / "graph.json").write_text(
        '{"nodes": ["size", "treatment"], "directed": [], "undirected": [["size", "treatment"]], '
        '"background": [["treatment", "size"]]}',
        encoding="utf-8",
    )
    for flag, name, best in (("--knowledge", "known.toml", "A"), ("--graph", "graph.json", "B")):
        assert main([*STONES, "--not-settable", "size", flag, str(tmp_path / name), "--json"]) == 0
        content = json.loads(capsys.readouterr().out)
        assert content["recommendation"]["grounds"] == "assumed"
        assert content["arms"][0]["state"] == best


def test_out_holds_the_answer_and_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "answer"
    assert main([*STONES, "--out", str(folder)]) == 0
    assert capsys.readouterr().out == (folder / "effects.txt").read_text(encoding="utf-8")
    assert (folder / "effects.png").stat().st_size > 10_000
    assert (folder / "graphs.png").stat().st_size > 5_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answer"]
    content = json.loads((folder / "effects.json").read_text(encoding="utf-8"))
    assert len(content["arms"]) == 4
    assert main([*STONES, "--out", str(folder)]) == 1
    assert "--force" in capsys.readouterr().err


def test_nothing_is_left_of_an_interrupted_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cb_pgm.plotting.drawn_graph.draw_drawn_graph", interrupted)  # all else is written
    with contextlib.suppress(SystemExit, KeyboardInterrupt):
        main([*STONES, "--out", str(tmp_path / "answer")])
    assert list(tmp_path.iterdir()) == []


def test_a_range_that_is_turned_round_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([*STONES, "--reward-range", "1", "0"])
    assert "--reward-range: expected the lower end first" in capsys.readouterr().err


def test_an_edge_is_as_wide_as_often_it_is_drawn_and_marked_if_it_decides() -> None:
    answer = {
        "edges": [
            {"edge": ["a", "b"], "forward": 0.4, "backward": 0.6},
            {"edge": ["b", "c"], "forward": 0.5, "backward": 0.02},
            {"edge": ["a", "c"], "forward": 0.05, "backward": 0.02},
        ],
        "hangs_on": [{"edge": ["a", "b"]}],
    }
    frame = plots.drawn_edges_frame(answer)
    assert frame.to_dict("list") == {
        "source": ["b", "b"],
        "target": ["a", "c"],
        "directed": [False, True],
        "share": [1.0, 0.52],
        "deciding": [True, False],
    }
    axes = plots.draw_drawn_graph(frame, ["a", "b", "c", "d"], marked=["a"]).axes[0]
    widths = sorted(patch.get_linewidth() for patch in axes.patches if isinstance(patch, PathPatch))
    assert widths == pytest.approx([0.52 * 4.5, 4.5])
    assert {text.get_text() for text in axes.texts} == {"a", "b", "c", "d"}


def test_the_frame_has_a_row_for_each_arm_and_ground() -> None:
    arm = {
        **{"variable": "drug", "state": "yes", "bounds": [0.1, 0.9], "mean": 0.5, "interval": [0.4, 0.6]},
        "set": {"rows": 30, "mean": 0.55, "interval": [0.3, 0.8]},
    }
    frame = plots.effects_frame({"arms": [arm, {**arm, "state": "no", "set": None}]})
    assert frame["ground"].value_counts().to_dict() == {
        "nothing assumed": 2,
        "over graphs": 2,
        "measured": 1,
    }
    figure = plots.draw_effects(frame, 0.45, reward="well")
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    own = figure.legends[0].get_window_extent(renderer)
    assert not own.overlaps(figure._supxlabel.get_window_extent(renderer))
    assert not own.overlaps(figure.axes[0].get_window_extent(renderer))
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["drug = yes", "drug = no"]
    assert isinstance(frame, pd.DataFrame)
