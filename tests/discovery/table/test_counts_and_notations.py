"""Tables of counts, one convention of numbers for a table, encodings, titles: read as meant, or said.

The right answers are known: the counts are published or small enough to count by hand.
"""

from __future__ import annotations

import gzip
import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discovery import DiscreteTable, TableError, read_csv
from discovery.table import files
from discovery.table.discrete_table import read
from discovery.table.settings import TableSettings


def read_frame(frame: pd.DataFrame, reward: str | None = None, **settings: Any) -> DiscreteTable:
    """Read a frame as the command line reads a file: advice names its flags."""
    return read(frame, reward, TableSettings(**settings))


#: The survivors and the lost of the Titanic, as in R's datasets: class, sex, age, lost, survived.
TITANIC = [
    ("1st", "Male", "Child", 0, 5), ("2nd", "Male", "Child", 0, 11), ("3rd", "Male", "Child", 35, 13),
    ("Crew", "Male", "Child", 0, 0), ("1st", "Female", "Child", 0, 1), ("2nd", "Female", "Child", 0, 13),
    ("3rd", "Female", "Child", 17, 14), ("Crew", "Female", "Child", 0, 0), ("1st", "Male", "Adult", 118, 57),
    ("2nd", "Male", "Adult", 154, 14), ("3rd", "Male", "Adult", 387, 75), ("Crew", "Male", "Adult", 670, 192),
    ("1st", "Female", "Adult", 4, 140), ("2nd", "Female", "Adult", 13, 80), ("3rd", "Female", "Adult", 89,
    76), ("Crew", "Female", "Adult", 3, 20),
]  # fmt: skip
N = 30
ARMS = ["A" if i % 3 else "B" for i in range(N)]
SEXES = ["mf"[i // 3 % 2] for i in range(N)]


def file(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def table(columns: dict[str, list[str]], separator: str = ",") -> str:
    return "".join(separator.join(row) + "\n" for row in (columns, *zip(*columns.values(), strict=True)))


def means(found: DiscreteTable, variable: str) -> dict[str, float]:
    """Return the mean reward of the rows that show each state."""
    assert found.rewards is not None
    codes = found.codes[:, found.variables.index(variable)]
    states = enumerate(found.states[variable])
    return {state: float(found.rewards[codes == code].mean()) for code, state in states}


class TestCounts:
    @pytest.fixture
    def titanic(self) -> pd.DataFrame:
        rows = [
            (*row[:3], answer, n) for row in TITANIC for answer, n in zip(("No", "Yes"), row[3:], strict=True)
        ]
        return pd.DataFrame(rows, columns=["Class", "Sex", "Age", "Survived", "Freq"])

    def test_each_row_stands_for_as_many_as_it_counts(self, titanic: pd.DataFrame) -> None:
        found = read_frame(titanic, "Survived=Yes", weights="Freq")
        assert found.variables == ("Class", "Sex", "Age")
        assert (found.n_rows, found.rewards.sum()) == (2_201, 711)  # type: ignore[union-attr]
        assert means(found, "Sex")["Female"] == pytest.approx(344 / 470)
        long = titanic.loc[titanic.index.repeat(titanic["Freq"])].drop(columns="Freq")
        alone = read_frame(long, "Survived=Yes")
        assert np.array_equal(found.codes, alone.codes)

    @pytest.mark.parametrize("reward", [None, "Survived=Yes"])
    @pytest.mark.parametrize("name", ["Freq", "n", "people"])
    def test_a_table_of_counts_is_recognised(
        self, titanic: pd.DataFrame, reward: str | None, name: str
    ) -> None:
        named = titanic.rename(columns={"Freq": name})
        with pytest.raises(
            TableError, match=rf"counts of rows in '{name}'.*\(--weights {name}\).*--keep {name}"
        ):
            read_frame(named, reward)
        kept = read_frame(named, reward, keep=name, bins=2, ignore="Class")
        assert name in kept.variables

    def test_one_message_has_its_other_problems_too(self, titanic: pd.DataFrame) -> None:
        titanic.loc[5, "Age"] = None
        with pytest.raises(TableError, match="add --weights Freq --missing drop"):
            read_frame(titanic)

    def test_other_whole_numbers_are_not_counts(self) -> None:
        rng = np.random.default_rng(0)
        rows = list(itertools.product("ab", "cd", "ef")) * 10
        frame = pd.DataFrame(rows, columns=["x", "y", "z"]).assign(age=rng.integers(18, 90, 80))
        assert read_frame(frame, bins=2).variables == ("x", "y", "z", "age")

    @pytest.mark.parametrize(
        ("odd", "told"), [("-1", "'-1'"), ("2.5", "'2.5'"), ("x", "'x'"), ("1e17", "100,0")]
    )
    def test_counts_are_whole_and_fit_into_memory(self, titanic: pd.DataFrame, odd: str, told: str) -> None:
        titanic["Freq"] = [*map(str, titanic["Freq"][:-1]), odd]
        with pytest.raises(TableError, match=f"{told}.*--weights"):
            read_frame(titanic, weights="Freq")
        with pytest.raises(TableError, match=r"no column 'freq'.*did you mean 'Freq'"):
            read_frame(titanic, weights="freq")


class TestNumbers:
    def test_one_column_settles_the_marks_of_all(self, tmp_path: Path) -> None:
        """Beside "24,61", "1.395" is thirteen hundred and ninety-five."""
        sales = [f"1.{i + 300}" if i % 2 else str(i + 600) for i in range(N)]
        columns = {
            "arm": ["AB"[i % 2] for i in range(N)],
            "share": [f"{i},{i % 9 + 1}" for i in range(N)],
            "sales": sales,
        }
        found = read_csv(file(tmp_path, table(columns, ";")), "sales", bins=3)
        assert means(found, "arm")["B"] == pytest.approx(1_315)
        assert found.decimal == ","
        assert found.warnings[0].startswith("columns of many numbers")

    @pytest.mark.parametrize(
        ("separator", "text", "value", "taken"),
        [
            (";", "1.395", 1.395, "decimals ('1.395' as 1.395), not separators of thousands"),
            (";", "1,395", 1.395, "decimals ('1,395' as 1.395), not separators of thousands"),
            (",", '"1,395"', 1395, "separators of thousands ('1,395' as 1395), not decimals"),
            (",", "1.395", 1.395, ""),
        ],
    )
    def test_where_nothing_settles_it_that_is_said(
        self, tmp_path: Path, separator: str, text: str, value: float, taken: str
    ) -> None:
        columns = {"arm": ARMS, "sex": SEXES, "sales": [text, "644"] * (N // 2)}
        found = read_csv(file(tmp_path, table(columns, separator)), "sales")
        assert max(found.rewards) == max(value, 644)  # type: ignore[arg-type]
        assert value in found.rewards  # type: ignore[operator]
        assert [line for line in found.warnings if "no column settles it" in line] == (
            [f"'sales' is taken to have {taken}: no column settles it"] if taken else []
        )

    @pytest.mark.parametrize(
        ("texts", "values"),
        [
            (["US$ 1,090.14", "US$ 923.18"], [1090.14, 923.18]),
            (["1.090,14 EUR", "923,18 EUR"], [1090.14, 923.18]),
            (["-€5", "€ 7.5"], [-5, 7.5]),
            (["£1,000", "£20"], [1000, 20]),
            (["12 kr", "1 500 kr"], [12, 1500]),
            (["5 %", "-7.5%"], [5, -7.5]),
            (["1.5k", "950", "2M", "3 K"], [1500, 950, 2e6, 3000]),
            (["0", "$5.50"], [0, 5.5]),
        ],
    )
    def test_currencies_per_cent_and_scales(self, texts: list[str], values: list[float]) -> None:
        n = len(texts) * 10
        frame = pd.DataFrame(
            {"a": [i % 2 for i in range(n)], "b": [i // 2 % 2 for i in range(n)], "y": texts * 10}
        )
        found = read_frame(frame, "y")
        assert found.rewards is not None
        assert found.rewards.tolist() == pytest.approx(values * 10)

    def test_odd_cells_of_a_numeric_reward_are_named_as_cells(self, tmp_path: Path) -> None:
        earned = [f'"{26 + i % 9},{447 + i}"' if i % 14 != 4 else "PrivacySuppressed" for i in range(N)]
        earned[0] = "NA"
        path = file(tmp_path, table({"treat": ARMS, "sex": SEXES, "earn": earned}))
        with pytest.raises(TableError) as refusal:
            read_csv(path, "earn")
        first, *others = str(refusal.value).splitlines()
        assert first.endswith("add --na NA PrivacySuppressed --missing drop")
        assert "2 of 29 cells that are none, 'PrivacySuppressed' in 'earn'" in others[0]
        assert "earn=" not in str(refusal.value)
        found = read_csv(path, "earn", na=["NA", "PrivacySuppressed"], missing="drop")
        assert found.n_rows == N - 3
        assert found.rewards is not None
        assert found.rewards.min() > 26_000

    @pytest.mark.parametrize(
        ("texts", "alike"), [(["no", "yes", "Yes"], "'Yes' and 'yes'"), (["0", "1", "1.0"], "'1' and '1.0'")]
    )
    def test_look_alike_states_of_the_reward_are_said(self, texts: list[str], alike: str) -> None:
        frame = pd.DataFrame({"a": ARMS, "b": SEXES, "y": texts * (N // 3)})
        found = read_frame(frame, f"y={texts[1]}")
        assert any(f"look like one are kept apart: {alike} of 'y'" in line for line in found.warnings)


class TestText:
    def test_other_encodings_are_recognised_and_said(self, tmp_path: Path) -> None:
        text = table({"stadt": ["Köln" if i % 3 else "Öhringen" for i in range(N)], "größe": SEXES})
        found = read_csv(file(tmp_path, text.encode("cp1252")))
        assert found.states["stadt"] == ("Köln", "Öhringen")
        assert found.variables == ("stadt", "größe")
        assert any("read as Windows-1252, as in 'größe', 'Öhringen'" in line for line in found.warnings)
        assert not read_csv(file(tmp_path, text)).warnings

    def test_an_encoding_can_be_named(self, tmp_path: Path) -> None:
        path = file(
            tmp_path,
            table({"город": ["Москва" if i % 3 else "Тула" for i in range(N)], "x": SEXES}).encode("koi8-r"),
        )
        found = read_csv(path, encoding="koi8-r")
        assert found.states["город"] == ("Москва", "Тула")
        assert not found.warnings
        with pytest.raises(TableError, match=r"text in ascii but found the byte .*\(--encoding\)"):
            read_csv(path, encoding="ascii")
        with pytest.raises(TableError, match=r"an encoding that Python knows.*'utf-9'"):
            read_csv(path, encoding="utf-9")
        with pytest.raises(TableError, match="UTF-8 or Windows-1252 but found the byte 0x81"):
            read_csv(file(tmp_path, b"a,b\n" + b"\x81,x\ny,z\n" * 20))

    @pytest.mark.parametrize("title", ["Sales of 2024\n", "Sales, by week\n\n", "Sales\nby: hand\n2024\n"])
    def test_lines_above_the_header_are_skipped_on_request(self, tmp_path: Path, title: str) -> None:
        path = file(tmp_path, title + table({"arm": ARMS, "sex": SEXES, "w": [str(i % 2) for i in range(N)]}))
        lines = title.count("\n")
        with pytest.raises(TableError, match=rf"looks like the header below it.*\(--skip-rows {lines}\)"):
            read_csv(path)
        assert read_csv(path, skip_rows=lines).variables == ("arm", "sex", "w")

    def test_what_unpacks_to_too_much_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen: list[tuple[int, int]] = []
        path = file(tmp_path, gzip.compress(b"a,b\n" + b"x,y\nz,w\nx,w\nz,y\n" * 100_000), "table.csv.gz")
        assert read_csv(path, progress=lambda *done: seen.append(done)).n_rows == 400_000
        assert seen[-1] == (path.stat().st_size, path.stat().st_size)
        monkeypatch.setattr(files, "MOST_TEXT", 1 << 20)
        monkeypatch.setattr(files, "MOST_UNPACKED", 1 << 20)
        with pytest.raises(TableError, match=r"at most 1,048,576 bytes once it is unpacked .*: unpack it"):
            read_csv(path)
        liar = path.read_bytes()[:-4] + b"\x10\0\0\0"  # where gzip says how much it unpacks to
        with pytest.raises(TableError, match="found more than 1,048,576 bytes"):
            read_csv(file(tmp_path, liar, "liar.csv.gz"))
        pd.DataFrame({"a": ["x"] * 400_000, "b": ["y", "z"] * 200_000}).to_parquet(tmp_path / "table.parquet")
        with pytest.raises(TableError, match=r"found 6,400,000 bytes"):
            read_csv(tmp_path / "table.parquet")

    def test_tables_much_wider_than_long_are_refused(self) -> None:
        draw = random.Random(0)
        frame = pd.DataFrame({f"v{i}": draw.choices("ab", k=20) for i in range(201)})
        with pytest.raises(
            TableError, match="at most 10 columns for each row but found 201 columns and 20 rows"
        ):
            read_frame(frame)
        assert len(read_frame(frame, ignore="v0").variables) > 150


class TestRows:
    def test_the_message_says_what_dropping_leaves_and_offers_the_cheaper_way_first(self) -> None:
        n = 482
        frame = pd.DataFrame({f"v{i}": [(row >> i) % 2 for row in range(n)] for i in range(6)})
        frame["age"] = [None if row % 5 < 2 else row % 3 for row in range(n)]
        frame["sex"] = ["m" if row % 7 else None for row in range(n)]
        frame["sex"] = frame["sex"].where(frame.index % 2 == 0, "f")
        complete = frame.dropna()
        without = frame.drop(columns="age").dropna()
        with pytest.raises(TableError) as refusal:
            read_frame(frame)
        first, age, _ = str(refusal.value).splitlines()
        assert first.endswith("add --ignore age --missing drop")
        assert ": --ignore age, --missing drop or --missing state" in age
        assert age.endswith(
            f"--missing drop leaves {len(complete)} of {n} rows, and {len(without)} with --ignore age"
        )
        dropped = read_frame(frame, missing="drop")
        assert dropped.n_rows == len(complete)
        assert (
            f"most in 'age' ({frame['age'].isna().sum()}): --ignore age keeps {len(without)}"
            in dropped.warnings[0]
        )

    def test_only_columns_in_use_cost_rows(self) -> None:
        frame = pd.DataFrame(
            {"arm": ARMS, "sex": SEXES, "note": ["seen" if i % 2 else None for i in range(N)]}
        )
        assert read_frame(frame, missing="drop").n_rows == N
        assert read_frame(frame, missing="state").states["note"] == ("seen", "missing")

    def test_a_text_that_may_be_a_state_can_be_kept(self) -> None:
        frame = pd.DataFrame(
            {"masonry": ["None", "Brick", "Stone"] * 20, "x": ["a", "b"] * 30, "y": [None, *"zw" * 29, "z"]}
        )
        with pytest.raises(TableError, match=r"'None' counted as missing.*or --na \"\""):
            read_frame(frame)

    @pytest.mark.parametrize("name", ["id", "Patient ID", "caseId", "Sample Number", "visit_no"])
    def test_names_say_what_identifies_also_where_it_repeats(self, name: str) -> None:
        frame = pd.DataFrame({"arm": ARMS * 10, "sex": SEXES * 10, name: [7 * i // 3 for i in range(N * 10)]})
        found = read_frame(frame, bins=3)
        assert found.variables == ("arm", "sex")
        assert f"identifiers were left out: '{name}'" in found.warnings[0]

    def test_amounts_are_no_identifiers_however_they_differ(self) -> None:
        income = random.Random(0).sample(range(20_000, 90_000), N * 10)
        frame = pd.DataFrame({"arm": ARMS * 10, "income": income, "running": range(N * 10)})
        assert read_frame(frame, bins=3).variables == ("arm", "income")


def test_one_variable_beside_the_reward_is_enough() -> None:
    frame = pd.DataFrame({"variant": ARMS, "converted": ["yes" if i % 5 == 0 else "no" for i in range(N)]})
    found = read_frame(frame, "converted=yes")
    assert found.variables == ("variant",)
    with pytest.raises(TableError, match="at least one variable that varies but found none"):
        read_frame(frame.assign(variant="A"), "converted=yes")


def test_row_names_of_r_are_no_sign_of_another_encoding(tmp_path: Path) -> None:
    rows = "".join(f'"{i}",{arm},{sex}\n' for i, (arm, sex) in enumerate(zip(ARMS, SEXES, strict=True)))
    assert not any("UTF-8" in line for line in read_csv(file(tmp_path, "arm,sex\n" + rows)).warnings)
