"""Systems fitted to tables, and policies of one's own by their dotted names, in studies and runs."""

import contextlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cb_pgm import CausalBanditError
from cb_pgm.cli.program import main
from cb_pgm.errors import PolicyError, StudyError
from cb_pgm.pipeline import Pipeline
from cb_pgm.policies.registry import own_policy
from cb_pgm.study import Study, run_study
from cb_pgm.study.cells import play_cell
from discovery import TableError

KIDNEY = {"table": "data/kidney_stones.csv", "reward": "success=yes"}


def study(system: dict[str, object], policy: dict[str, object]) -> Study:
    return Study.from_dict({"horizons": 100, "system": [system], "policy": [policy]})


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module that Python can import, with both kinds of policies."""
    (tmp_path / "mine_of_a_test.py").write_text(
        "from cb_pgm import UCB\n\n\n"
        "class Mine(UCB):\n"
        "    '''A policy of one's own.'''\n\n"
        "    def __init__(self, states, *, width=1.0, **settings):\n"
        "        super().__init__(states, **settings)\n"
        "        self.width = width\n\n\n"
        "def function(context, scale=1.0):\n"
        "    return UCB(context.states, noise_scale=context.noise_scale * scale, settable=context.settable)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return "mine_of_a_test"


@pytest.mark.parametrize("command", [["study", "--help-toml"], ["run", "--help"]])
def test_the_help_says_that_a_dotted_name_runs_code(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with contextlib.suppress(SystemExit):
        main(command)
    said = " ".join(capsys.readouterr().out.split())
    assert "runs code: it is imported from where Python" in said
    assert "from nowhere else" in said


class TestTables:
    @pytest.mark.parametrize(("scale", "shift"), [(1e160, 0.0), (1e-300, 0.0), (1.0, 1e9)])
    def test_any_unit_of_the_rewards(self, scale: float, shift: float) -> None:
        rng = np.random.default_rng(0)
        plain = pd.DataFrame({"a": rng.integers(2, size=200), "b": rng.integers(2, size=200)})
        plain["y"] = (plain["a"] + rng.normal(size=200)).round(3)
        rows = [
            play_cell(next(one.cells()), one.seed).row
            for frame in (plain, plain.assign(y=scale * plain["y"] + shift))
            for one in [study({"table": frame, "reward": "y", "label": "t"}, {"name": "moss"})]
        ]
        for key in ("noise_scale", "reward_gap"):
            assert rows[1][key] / scale == pytest.approx(rows[0][key], rel=1e-6)
        # The content of a table seeds the draws, so that the regrets differ but for their size.
        assert 0 < rows[1]["regret"] / scale < 100 * rows[0]["reward_gap"]

    def test_a_file_and_its_frame_play_the_same_but_for_their_draws(self) -> None:
        frame = pd.read_csv("data/kidney_stones.csv")
        of_file = study(KIDNEY, {"name": "ucb"})
        of_frame = study({**KIDNEY, "table": frame}, {"name": "ucb"})
        results = [play_cell(next(one.cells()), one.seed) for one in (of_file, of_frame)]
        assert [result.error for result in results] == [None, None]
        assert results[0].row["reward_gap"] == results[1].row["reward_gap"]
        assert of_frame.systems[0].label == "data frame success=yes"
        json.dumps(of_frame.to_dict())

    def test_it_is_a_system_beside_others(self, tmp_path: Path) -> None:
        content = {
            "horizons": 50,
            "system": [
                {**KIDNEY, "not_settable": ["size"]},
                {"network": "data/asia.bif", "reward": "xray=yes"},
            ],
            "graph": [{"source": "estimated", "rows": 100, "method": "chow-liu"}],
            "policy": [{"name": ["screening", "cn-ucb"]}],
        }
        assert run_study(Study.from_dict(content), tmp_path / "study") == {
            "cells": 4,
            "done": 4,
            "failed": 0,
            "left_out": 0,
        }

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"table": "data/nothing.csv"}, "a file but found none"),
            ({"bin": 3}, "did you mean 'bins'"),
            ({"method": "gse"}, "one of .* at method"),
            ({"reward": "success=maybe"}, "maybe"),
            ({"network": "data/asia.bif"}, "one of network, table and instance"),
        ],
    )
    def test_what_cannot_be_read_is_refused_before_anything_is_played(
        self, change: dict[str, object], said: str
    ) -> None:
        with pytest.raises((StudyError, TableError), match=said):
            study(KIDNEY | change, {"name": "ucb"})


class TestOwnPolicies:
    @pytest.mark.parametrize("policy", ["Mine", "Mine(width=2)", "function", "function(scale=.5)"])
    def test_they_run(self, own: str, policy: str) -> None:
        name = f"{own}:{policy}"
        report = Pipeline("data/kidney_stones.csv", "success=yes", policies=[name], horizon=50, seed=1).run()
        assert list(report.summary()["policy"]) == [name]

    def test_the_command_line_takes_them(self, own: str, capsys: pytest.CaptureFixture[str]) -> None:
        options = ["--reward", "success=yes", "--horizon", "50", "--seed", "1"]
        assert main(["run", "data/kidney_stones.csv", *options, "--policy", f"{own}:Mine(width=2)"]) == 0
        assert f"{own}:Mine(width=2)" in capsys.readouterr().out

    def test_settings_of_a_study_are_keywords(self, own: str) -> None:
        many = study(KIDNEY, {"name": f"{own}:Mine", "width": [1.0, 2.0]})
        assert [part.label for part in many.policies] == [f"{own}:Mine(width=1.0)", f"{own}:Mine(width=2.0)"]
        assert all(play_cell(cell, 0).error is None for cell in many.cells())

    @pytest.mark.parametrize(
        ("policy", "said"),
        [
            ("no_such_module:Mine", "No module named 'no_such_module'"),
            ("{own}:Min", "no attribute 'Min'"),
            ("{own}:Mine(widht=2)", "'widht'"),
            ("{own}:function(scal=2)", "did you mean 'scale'"),
            ("{own}:Mine(2)", "only keywords"),
            ("{own}:Mine(width=open('x'))", "module:attribute"),
            ("{own}:", "module:attribute"),
        ],
    )
    def test_what_cannot_be_imported_is_refused_before_anything_is_played(
        self, own: str, policy: str, said: str
    ) -> None:
        name = policy.format(own=own)
        if "widht" not in name:  # Mine passes other keywords on
            with pytest.raises(PolicyError, match=said):
                own_policy(name)
            with pytest.raises(StudyError, match=said):
                study(KIDNEY, {"name": name})
        with pytest.raises((CausalBanditError, TypeError), match=said):
            Pipeline("data/kidney_stones.csv", "success=yes", policies=[name], horizon=50).run()
