"""Missing values and interventions: which rows and columns are used, and that nothing else changes."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from discovery import DiscreteTable, EstimationError, TableError, estimate, read_csv

#: The discretised measurements of Sachs et al. (2005), which aren't part of the project: tab-separated, with
#: a column INT: 0, or the number of the protein that was set.
SACHS = os.environ.get("SACHS_INTERVENTIONAL", "")


@pytest.fixture
def frame() -> pd.DataFrame:
    """Return 400 rows of four variables with three states and a reward."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.choice(["a", "b", "c"], (400, 4)), columns=["w", "x", "y", "z"])
    return frame.assign(gain=rng.normal(size=400).round(3))


class TestMissing:
    @pytest.fixture
    def gaps(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the frame with a tenth of the fields of w and x, and five rewards, empty."""
        rng = np.random.default_rng(3)
        for column in ("w", "x"):
            frame.loc[rng.random(400) < 0.1, column] = None
        frame.loc[rng.choice(400, 5, replace=False), "gain"] = np.nan
        return frame

    @pytest.fixture
    def path(self, gaps: pd.DataFrame, tmp_path: Path) -> Path:
        gaps.to_csv(tmp_path / "gaps.csv", index=False)
        return tmp_path / "gaps.csv"

    def test_empty_fields_are_refused_and_counted(self, gaps: pd.DataFrame, path: Path) -> None:
        empty = gaps.isna()
        row = int(np.argmax(empty["w"])) + 1
        with pytest.raises(TableError) as refusal:
            read_csv(path, reward="gain")
        first, *others = str(refusal.value).splitlines()
        assert first.endswith("decide on each, or add --missing drop")
        assert others[0].startswith(
            f"  {empty['w'].sum()} of 400 missing, the first in data row {row} of column 'w'"
        )
        assert [line.split(" missing")[0].split()[0] for line in others] == [
            str(empty[name].sum()) for name in ("w", "x", "gain")
        ]

    def test_dropping_keeps_the_complete_rows(self, gaps: pd.DataFrame, path: Path) -> None:
        table = read_csv(path, reward="gain", missing="drop")
        complete = DiscreteTable.from_frame(gaps.dropna(), reward="gain")
        assert np.array_equal(table.codes, complete.codes)
        assert table.states == complete.states
        assert np.array_equal(table.rewards, complete.rewards)  # type: ignore[arg-type]
        assert f"{400 - len(gaps.dropna())} of 400 rows" in table.warnings[0]

    def test_missing_becomes_a_state_but_never_a_reward(self, gaps: pd.DataFrame, path: Path) -> None:
        table = read_csv(path, reward="gain", missing="state")
        rewarded = gaps[gaps["gain"].notna()]
        assert table.states["w"] == ("a", "b", "c", "missing")
        assert table.states["y"] == ("a", "b", "c")
        assert np.array_equal(table.codes[:, 0] == 3, rewarded["w"].isna())
        assert np.array_equal(table.rewards, rewarded["gain"])  # type: ignore[arg-type]
        assert "5 of 400 rows" in table.warnings[0]
        assert "'w', 'x'" in table.warnings[1]

    def test_the_new_state_gets_a_name_of_its_own(self, gaps: pd.DataFrame) -> None:
        table = DiscreteTable.from_frame(
            gaps.replace({"w": {"a": "missing"}}), missing="state", ignore=["gain"]
        )
        assert table.states["w"] == ("b", "c", "missing", "missing_")

    def test_states_that_only_dropped_rows_show_are_gone(self, frame: pd.DataFrame) -> None:
        frame.loc[[3, 7], "w"] = "rare"
        frame.loc[[3, 7], "x"] = None
        table = DiscreteTable.from_frame(frame, missing="drop", ignore=["gain"])
        assert table.states["w"] == ("a", "b", "c")
        assert table.codes[:, 0].max() == 2

    def test_a_column_that_is_always_empty_is_left_out(self, frame: pd.DataFrame) -> None:
        frame["void"] = None
        table = DiscreteTable.from_frame(frame, ignore=["gain"])
        assert table.n_rows == 400
        assert table.warnings == ("columns of no values were left out: 'void'",)

    def test_rows_without_a_value_in_one_column_of_two_are_blamed_on_it(self, frame: pd.DataFrame) -> None:
        """A table of which too few rows are left says which column takes them."""
        frame.loc[10:, "x"] = None
        frame.loc[:5, "w"] = None
        with pytest.raises(TableError, match=r"found 4 in the data frame \(396 of 400 .*most in 'x' \(390\)"):
            DiscreteTable.from_frame(frame, missing="drop", ignore=["gain"])
        frame.loc[[3, 4], "gain"] = np.nan
        table = DiscreteTable.from_frame(frame, missing="state", reward="gain")
        assert "2 of 400 rows were left out for missing values, most in 'gain' (2)" in table.warnings


class TestInterventions:
    @pytest.fixture
    def mixed(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the frame with half of its rows under an intervention on w, x or y, entered in every way."""
        rng = np.random.default_rng(4)
        target = rng.choice([0, 0, 0, 1, 2, 3], 400)
        entries = [["", "0", "0.0"], ["w", "1", "1.0"], ["x", "2", " 2 "], ["y", "3", "y "]]
        frame["set"] = [str(rng.choice(entries[which])) for which in target]
        return frame.assign(truth=target)

    def test_only_observational_rows_feed_the_table(self, mixed: pd.DataFrame) -> None:
        table = DiscreteTable.from_frame(
            mixed, reward="gain", ignore=["truth"], intervention_column="set", merge_rare=2
        )
        observed = mixed[mixed["truth"] == 0].drop(columns=["set", "truth"])
        alone = DiscreteTable.from_frame(observed, reward="gain", merge_rare=2)
        assert np.array_equal(table.codes, alone.codes)
        assert table.states == alone.states
        assert np.array_equal(table.rewards, alone.rewards)  # type: ignore[arg-type]

    def test_the_others_are_kept_with_what_was_set(self, mixed: pd.DataFrame) -> None:
        table = DiscreteTable.from_frame(mixed, reward="gain", ignore=["truth"], intervention_column="set")
        others = mixed[mixed["truth"] > 0]
        rows = table.interventional
        assert rows is not None
        assert len(rows) == len(others)
        assert np.array_equal(rows.targets, others["truth"] - 1)
        assert np.array_equal(rows.rewards, others["gain"])  # type: ignore[arg-type]
        for column, (variable, states) in enumerate(rows.states.items()):
            assert list(np.array(states)[rows.codes[:, column]]) == list(others[variable])

    def test_states_that_nobody_saw_without_intervening_come_after(self, mixed: pd.DataFrame) -> None:
        where = (mixed["truth"] == 2).to_numpy()
        mixed.loc[where, "x"] = "Above all"
        table = DiscreteTable.from_frame(mixed, ignore=["gain", "truth"], intervention_column="set")
        rows = table.interventional
        assert rows is not None
        assert table.states["x"] == ("a", "b", "c")
        assert rows.states["x"] == ("a", "b", "c", "Above all")
        assert (rows.codes[rows.targets == 1, 1] == 3).all()
        assert any("'Above all' of 'x'" in line for line in table.warnings)

    def test_rows_under_interventions_on_columns_that_are_gone_are_left_out(
        self, mixed: pd.DataFrame
    ) -> None:
        settings = {"ignore": ["gain", "truth", "x"], "intervention_column": "set"}
        table = DiscreteTable.from_frame(mixed, **settings)  # type: ignore[arg-type]
        lost = int((mixed["truth"] == 2).sum())
        assert table.n_rows == (mixed["truth"] == 0).sum()
        assert table.interventional is not None
        assert len(table.interventional) == (mixed["truth"] > 0).sum() - lost
        assert table.warnings == (f"{lost} rows in which an ignored column was set were left out",)
        mixed.loc[mixed["truth"] == 0, "w"] = "a"
        constant = DiscreteTable.from_frame(mixed, **settings)  # type: ignore[arg-type]
        assert constant.constants == {"w": "a"}
        assert constant.interventional is not None
        assert set(constant.interventional.targets) == {0}
        assert constant.variables[0] == "y"

    @pytest.mark.parametrize(
        ("entry", "told"),
        [
            ("v", "no column 'v'"),
            ("W", "did you mean 'w'"),
            ("8", "'8' where the data frame has columns 1 to 7"),
            ("-1", "'-1' where"),
            ("1.5", "'1.5' where"),
            ("set", "'set', which is the intervention column itself"),
        ],
    )
    def test_an_entry_that_is_no_variable_is_refused(
        self, mixed: pd.DataFrame, entry: str, told: str
    ) -> None:
        mixed.loc[11, "set"] = entry
        with pytest.raises(TableError, match=rf"{told}.*, in data row 12 of the intervention column"):
            DiscreteTable.from_frame(mixed, reward="gain", intervention_column="set")

    @pytest.mark.parametrize("entry", ["gain", "5"])
    def test_rows_in_which_the_reward_was_set_are_left_out(self, mixed: pd.DataFrame, entry: str) -> None:
        before = DiscreteTable.from_frame(mixed, reward="gain", intervention_column="set", bins=3)
        mixed.loc[11, "set"] = entry
        table = DiscreteTable.from_frame(mixed, reward="gain", intervention_column="set", bins=3)
        assert "1 rows in which the reward was set were left out" in table.warnings
        total = table.n_rows + (0 if table.interventional is None else len(table.interventional))
        assert total == before.n_rows + len(before.interventional or ()) - 1

    def test_names_come_before_numbers(self, mixed: pd.DataFrame) -> None:
        mixed["set"] = np.where(mixed["truth"] == 0, "", "1")
        frame = mixed.rename(columns={"z": "1"})
        table = DiscreteTable.from_frame(frame, ignore=["gain", "truth"], intervention_column="set")
        assert table.interventional is not None
        assert set(table.interventional.targets) == {3}
        frame.loc[0, "set"] = "0"
        with pytest.raises(TableError, match="'0', which is also a column's name"):
            DiscreteTable.from_frame(
                frame.rename(columns={"w": "0"}), ignore=["gain", "truth"], intervention_column="set"
            )

    def test_rows_that_were_all_set_are_read_but_give_no_graph(self, mixed: pd.DataFrame) -> None:
        table = DiscreteTable.from_frame(
            mixed.assign(set="w"), "gain", ignore=["truth"], intervention_column="set", bins=3
        )
        assert table.n_rows == 0
        assert table.interventional is not None
        assert len(table.interventional) == len(mixed)
        with pytest.raises(EstimationError, match=r"at least 20 observational rows .* found 0"):
            estimate(table)

    @pytest.mark.skipif(not SACHS, reason="SACHS_INTERVENTIONAL doesn't name the file")
    def test_the_measurements_of_sachs(self) -> None:
        table = read_csv(SACHS, intervention_column="INT")
        assert table.n_rows == 1_800
        assert table.interventional is not None
        targets = np.bincount(table.interventional.targets, minlength=11)
        assert {table.variables[i]: int(m) for i, m in enumerate(targets) if m} == {
            "Mek": 600,
            "PIP2": 600,
            "Akt": 600,
            "PKA": 600,
            "PKC": 1_200,
        }


def test_one_message_has_columns_computed_from_the_reward_too() -> None:
    rng = np.random.default_rng(1)
    wage = rng.lognormal(size=200)
    frame = pd.DataFrame(
        {"age": rng.normal(size=200), "a": [0, 1] * 100, "lwage": np.log(wage), "wage": wage}
    )
    with pytest.raises(TableError) as caught:
        DiscreteTable.from_frame(frame, reward="wage")
    assert 'add ignore=["lwage"], bins=3' in str(caught.value).splitlines()[0]
    assert DiscreteTable.from_frame(frame, reward="wage", ignore="lwage", bins=3).variables == ("age", "a")
