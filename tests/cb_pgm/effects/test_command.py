"""`cb-pgm effects` on the command line, and its picture."""

import contextlib
import json
from pathlib import Path

import pytest
from pictures import words

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


@pytest.mark.parametrize("reward", [[], [["size", "success"], ["treatment", "success"]]])
def test_the_directions_of_a_dag_count_and_it_may_have_the_reward(
    reward: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The textbook's adjusted means: A .832, B .778."""
    nodes = ["size", "treatment", *(["success"] if reward else [])]
    content = {"nodes": nodes, "directed": [["size", "treatment"], *reward]}
    (tmp_path / "dag.json").write_text(json.dumps(content), encoding="utf-8")
    command = ["effects", "data/kidney_stones.csv", "--reward", "success=yes", "--not-settable", "size"]
    assert main([*command, "--graph", str(tmp_path / "dag.json"), "--json"]) == 0
    means = {arm["state"]: arm["mean"] for arm in json.loads(capsys.readouterr().out)["arms"]}
    assert means == pytest.approx({"A": 0.832, "B": 0.778}, abs=0.008)


def test_out_holds_the_answer_and_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "answer"
    assert main([*STONES, "--out", str(folder)]) == 0
    assert capsys.readouterr().out == (folder / "effects.txt").read_text(encoding="utf-8")
    assert (folder / "effects.png").stat().st_size > 10_000
    assert (folder / "graphs.png").stat().st_size > 5_000
    assert {"size", "treatment", "success=yes"} <= set(words(folder / "graphs.svg"))
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "What raises success=yes" in page
    assert page.count("<img") == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answer"]
    content = json.loads((folder / "effects.json").read_text(encoding="utf-8"))
    assert len(content["arms"]) == 4
    assert main([*STONES, "--out", str(folder)]) == 1
    assert "--force" in capsys.readouterr().err


def test_nothing_is_left_of_an_interrupted_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cb_pgm.report.effects_folder.render", interrupted)  # all else is written
    with contextlib.suppress(SystemExit, KeyboardInterrupt):
        main([*STONES, "--out", str(tmp_path / "answer")])
    assert list(tmp_path.iterdir()) == []


def test_a_range_that_is_turned_round_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([*STONES, "--reward-range", "1", "0"])
    assert "--reward-range: expected the lower end first" in capsys.readouterr().err


def test_the_frame_has_a_row_for_each_arm_and_basis_and_no_number_is_cut() -> None:
    state = "46.8 and above"
    arm = {
        **{"variable": "Culmen Length of every penguin there (mm)", "state": state, "bounds": [0.1, 0.9]},
        **{"mean": 0.5, "interval": [0.4, 0.6], "seen": {"rows": 9, "mean": 0.52}},
        "set": {"rows": 30, "mean": 0.55, "interval": [0.3, 0.8]},
    }
    frame = plots.effects_frame({"arms": [arm, {**arm, "state": "no", "set": None}]})
    assert frame["basis"].value_counts().to_dict() == {"bounds": 2, "graphs": 2, "seen": 2, "set": 1}
    figure = plots.draw_effects(frame, 0.45, reward="well", title="Penguins", level="95 %")
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    (axes,) = figure.axes
    assert not figure.legends[0].get_window_extent(renderer).overlaps(axes.get_window_extent(renderer))
    assert axes.get_title(loc="left") == "Penguins"
    labels = [text.get_text() for text in axes.texts]
    assert labels == [f"Culmen Length of every penguin … = {end}" for end in (state, "no")]
    for text in axes.texts:
        assert text.get_window_extent(renderer).x1 < figure.bbox.x1
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "no-assumption bounds, 95 %" in named
    assert "graph-averaged, 95 %" in named
