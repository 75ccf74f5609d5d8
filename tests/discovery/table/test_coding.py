"""Numbers cut into intervals and rare states merged, on request and told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from discovery import DiscreteTable, TableError, read_csv


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    n = 500
    return pd.DataFrame(
        {
            "size": rng.normal(50, 10, n),
            "age": rng.integers(18, 90, n),
            "grade": rng.integers(1, 6, n),
            "town": rng.choice(list("abcdefgh"), n, p=[0.5, 0.3, 0.1, 0.05, 0.02, 0.01, 0.01, 0.01]),
        }
    )


@pytest.mark.parametrize("rule", ["quantile", "width"])
def test_only_columns_of_too_many_numbers_are_cut(frame: pd.DataFrame, rule: str) -> None:
    table = DiscreteTable.from_frame(frame, bins=4, bin_rule=rule)
    assert [len(table.states[v]) for v in ("size", "age", "grade")] == [4, 4, 5]
    assert table.states["grade"] == ("1", "2", "3", "4", "5")
    distinct = frame["age"].nunique()
    cut = f"'size' (500 into 4), 'age' ({distinct} into 4)"
    assert table.warnings == (f"columns of many numbers were cut into intervals by {rule}: {cut}",)


def test_intervals_hold_the_numbers_that_they_name(frame: pd.DataFrame) -> None:
    """A label is a promise: "2 to 3.5" holds 2 and what lies between, not 3.5."""
    table = DiscreteTable.from_frame(frame, bins=5)
    for column, variable in enumerate(("size", "age")):
        for code, label in enumerate(table.states[variable]):
            held = frame[variable][table.codes[:, column] == code]
            words = label.split()
            low = -np.inf if words[0] == "below" else float(words[0])
            high = np.inf if words[-1] == "above" else float(words[-1])
            assert held.min() >= low
            assert held.max() < high
            assert len(held) == pytest.approx(100, abs=12)


def test_missing_numbers_are_a_state_beside_the_intervals(frame: pd.DataFrame) -> None:
    frame.loc[:49, "size"] = np.nan
    table = DiscreteTable.from_frame(frame, bins=3, missing="state")
    assert table.states["size"][-1] == "missing"
    assert np.flatnonzero(table.codes[:, 0] == 3).tolist() == list(range(50))


def test_intervals_come_from_observational_rows(frame: pd.DataFrame) -> None:
    frame["set"] = np.where(np.arange(500) < 200, "size", "")
    shifted = frame.assign(size=frame["size"] + np.where(np.arange(500) < 200, 1_000.0, 0.0))
    table = DiscreteTable.from_frame(shifted, bins=3, intervention_column="set")
    alone = DiscreteTable.from_frame(shifted[200:].drop(columns="set"), bins=3)
    assert table.states["size"] == alone.states["size"]
    assert table.interventional is not None
    assert (table.interventional.codes[:, 0] == 2).all()


def test_more_numbers_than_codes_are_kept_as_numbers(tmp_path: Path) -> None:
    """Beyond 32,767 distinct values a column's texts aren't kept, whether blanks or gaps are among them or "
    "not."""
    rng = np.random.default_rng(0)
    n = 40_000
    values = rng.normal(size=n)
    frame = pd.DataFrame({"x": values, "b": rng.integers(0, 2, n), "gain": values[::-1]})
    frame.loc[[5, 39_999], "x"] = np.nan
    path = tmp_path / "long.csv"
    frame.to_csv(path, index=False, float_format="%.17g")
    table = read_csv(path, reward="gain", bins=4, missing="drop")
    kept = frame.dropna()
    assert np.array_equal(table.rewards, kept["gain"])  # type: ignore[arg-type]
    assert np.bincount(table.codes[:, 0]).tolist() == pytest.approx([len(kept) / 4] * 4, abs=1)
    with pytest.raises(TableError, match="found 39998 numbers in 39998 rows of 'x'"):
        read_csv(path, reward="gain", missing="drop")
    path.write_text(path.read_text() + "q39999,1,0\n")
    with pytest.raises(TableError, match=r"numbers and texts like 'q39999' in .*'x'.*\(--na q39999\)"):
        read_csv(path, reward="gain", missing="drop", bins=4)
    assert read_csv(path, reward="gain", missing="drop", bins=4, na="q39999").n_rows == len(kept)
    assert read_csv(path, ignore=["x"], bins=2).n_rows == n + 1


@pytest.mark.parametrize(("fewest", "kept"), [(30, "abc"), (0.05, "abc"), (20, "abcd"), (2, "abcdefgh")])
def test_rare_states_are_merged_into_one(frame: pd.DataFrame, fewest: float, kept: str) -> None:
    counts = frame["town"].value_counts()
    least = fewest if fewest >= 1 else fewest * 500
    kept = "".join(sorted(counts[counts >= least].index))
    table = DiscreteTable.from_frame(frame, ignore=["size", "age"], merge_rare=fewest)
    gone = [town for town in "abcdefgh" if town not in kept]
    assert table.states["town"] == ((*kept, "other") if gone else tuple(kept))
    if gone:
        assert (table.codes[:, 1] == len(kept)).sum() == counts[gone].sum()
        assert all(f"'{town}'" in table.warnings[0] for town in gone)


def test_one_rare_state_is_left_alone(frame: pd.DataFrame) -> None:
    town = ["a", "b"] * 249 + ["c", "b"]
    table = DiscreteTable.from_frame(frame.assign(town=town), ignore=["size", "age"], merge_rare=5)
    assert table.states["town"] == ("a", "b", "c")
    assert table.warnings == ()


def test_merging_makes_room_for_texts_but_not_for_numbers(frame: pd.DataFrame) -> None:
    rare = [f"t{i}" for i in range(100)]
    frame["town"] = ["a", "b", "c", "d"] * 100 + rare
    with pytest.raises(TableError, match="found 104 values"):
        DiscreteTable.from_frame(frame, bins=2)
    assert DiscreteTable.from_frame(frame, bins=2, merge_rare=2).states["town"] == (
        "a",
        "b",
        "c",
        "d",
        "other",
    )
    with pytest.raises(TableError, match="500 numbers in 500 rows of 'size'"):
        DiscreteTable.from_frame(frame, merge_rare=2)


def test_numbers_with_texts_among_them_get_a_hint(frame: pd.DataFrame) -> None:
    frame["size"] = frame["size"].astype(str)
    frame.loc[3, "size"] = "n/a"
    with pytest.raises(TableError, match=r"texts like 'n/a'.*count such texts as missing \(na=..n/a..\)"):
        DiscreteTable.from_frame(frame, bins=3)


def test_too_many_bins_for_the_rows_are_refused(frame: pd.DataFrame) -> None:
    with pytest.raises(
        TableError, match=r"(?s)add bins=3.*60 bins of 500 numbers in 500 rows of 'size': bins=3"
    ):
        DiscreteTable.from_frame(frame, bins=60)
