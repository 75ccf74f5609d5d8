"""Tables as programs and people write them: read with the right values, or refused once with what to type."""

from __future__ import annotations

import gzip
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from discovery import DiscreteTable, TableError, TableSettings, read, read_csv

N = 60
A = [("x", "y", "z")[i % 3] for i in range(N)]
B = [("0", "1")[(i * i + i // 7) % 2] for i in range(N)]
#: Sixty amounts, no two alike.
AMOUNTS = [round(1_000.5 + 137.25 * i, 2) for i in range(N)]


def file(folder: Path, text: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def table(columns: dict[str, Sequence[object]], separator: str = ",") -> str:
    """Return the columns as the text of a file."""
    rows = zip(*columns.values(), strict=True)
    return "".join(separator.join(map(str, row)) + "\n" for row in (columns, *rows))


def decoded(found: DiscreteTable, name: str) -> list[str]:
    """Return a variable's state in each row."""
    return [found.states[name][code] for code in found.codes[:, found.variables.index(name)]]


def quoted(texts: Sequence[str]) -> list[str]:
    return [f'"{text}"' for text in texts]


def with_thousands(mark: str, decimal: str) -> list[str]:
    return [f"{one:,.2f}".replace(",", "T").replace(".", decimal).replace("T", mark) for one in AMOUNTS]


PLAIN = table({"a": A, "b": B})

#: Texts of files that hold the columns a and b, whatever else is around them.
SAME = {
    "R's write.csv": table({'""': quoted([str(i + 1) for i in range(N)]), "a": A, "b": B}),
    "R's write.csv with row names": table({'""': [f"car {i}" for i in range(N)], "a": A, "b": B}),
    "R's write.table": "a,b\n"
    + "".join(f'"{i}",{a},{b}\n' for i, (a, b) in enumerate(zip(A, B, strict=True))),
    "pandas' index": table({"": range(N), "a": A, "b": B}),
    "pandas' index read again": table({"Unnamed: 0": range(N), "a": A, "b": B}),
    "sep=": "sep=;\n" + table({"a": A, "b": B}, ";"),
    "sep= in capitals and quotes": '"SEP=|"\r\n' + table({"a": A, "b": B}, "|").replace("\n", "\r\n"),
    "a byte-order mark and sep=": "\ufeffsep=,\n" + PLAIN,
    "comments above": "# exported 2024, by hand\n#\n# 60 rows\n" + PLAIN,
    "comments below and between": PLAIN.replace("\nz,", "\n# checked\nz,", 1) + '# end, of "it, by hand\n',
    "a commented header": "# made by numpy\n# " + PLAIN,
    "separators at the ends of all lines": PLAIN.replace("\n", ",\n"),
    "an empty column": table({"a": A, "b": B, "notes": [""] * N}),
    "identifiers": table({"id": [f"P{i:03}" for i in range(N)], "a": A, "b": B}),
    "numbered rows": table({"a": A, "b": B, "case": range(1_000, 1_000 + N)}),
    "dates": table({"a": A, "b": B, "day": [f"2021-03-{i % 28 + 1:02}" for i in range(N)]}),
    "American dates": table({"a": A, "b": B, "day": [f"3/{i % 28 + 1}/21" for i in range(N)]}),
    "German dates": table({"a": A, "b": B, "day": [f"{i % 28 + 1}.03.2021" for i in range(N)]}),
    "names of months": table({"a": A, "b": B, "day": [f"{i % 28 + 1}-Mar-2021" for i in range(N)]}),
    "times": table({"a": A, "b": B, "at": [f"2021-03-01T{i % 24:02}:15:00Z" for i in range(N)]}),
    "a column twice": table({"a": A, "b": B, "again": ["no" if b == "0" else "yes" for b in B]}),
    "a constant": table({"a": A, "b": B, "country": ["NL"] * N}),
    "blank lines and blanks": PLAIN.replace("\n", " \n\n").replace(",", " ,  "),
}


@pytest.mark.parametrize("kind", SAME)
def test_what_is_around_a_table_does_not_matter(tmp_path: Path, kind: str) -> None:
    found = read_csv(file(tmp_path, SAME[kind]))
    assert found.variables == ("a", "b")
    assert decoded(found, "a") == A
    assert decoded(found, "b") == B
    about = any(word in kind for word in ("R's", "pandas", "comment", "column", "dates", "months", "times"))
    assert bool(found.warnings) == (about or kind.startswith(("ident", "numb", "a const", "separators")))


NUMBERS = {
    "decimal commas": ("table.csv", ";", [f"{one:.2f}".replace(".", ",") for one in AMOUNTS]),
    "decimal commas between tabs": ("table.tsv", "\t", [f"{one:.2f}".replace(".", ",") for one in AMOUNTS]),
    "decimal commas in quotes": (
        "table.csv",
        ",",
        quoted([f"{one:.1f}".replace(".", ",") for one in AMOUNTS]),
    ),
    "thousands with commas": ("table.csv", ",", quoted(with_thousands(",", "."))),
    "thousands with points": ("table.csv", ";", with_thousands(".", ",")),
    "thousands with blanks": ("table.csv", ",", with_thousands(" ", ".")),
    "thousands with narrow blanks": ("table.csv", ";", with_thousands("\u202f", ",")),
    "thousands with apostrophes": ("table.csv", ",", with_thousands("'", ".")),
    "per cent": ("table.csv", ",", [f"{one}%" for one in AMOUNTS]),
    "per cent after blanks": ("table.csv", ";", [f"{one:.2f} %".replace(".", ",") for one in AMOUNTS]),
    "dollars": ("table.csv", ",", quoted([f"${text}" for text in with_thousands(",", ".")])),
    "euros": ("table.csv", ";", [f"{text} €" for text in with_thousands(".", ",")]),
    "exponents": ("table.csv", ",", [f"{one:.6e}" for one in AMOUNTS]),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_are_read_however_they_are_written(tmp_path: Path, kind: str) -> None:
    name, separator, texts = NUMBERS[kind]
    path = file(tmp_path, table({"a": A, "b": B, "gain": texts}, separator), name)
    rewards = read_csv(path, reward="gain").rewards
    assert rewards is not None
    assert rewards.tolist() == pytest.approx(AMOUNTS, abs=0.06 if "quotes" in kind else 1e-3)
    binned = read_csv(path, bins=3)
    assert decoded(binned, "gain") == [binned.states["gain"][i // 20] for i in range(N)]


def test_few_numbers_stay_states_as_they_are_written(tmp_path: Path) -> None:
    """Their order is that of the numbers, and an ambiguous column goes with the others of its table."""
    columns = {"dose": ["1,5", "10", "2,25"] * 20, "size": ["1,000", "10,500"] * 30, "b": B}
    assert read_csv(file(tmp_path, table(columns, ";"))).states["dose"] == ("1,5", "2,25", "10")
    frame = pd.DataFrame(columns)
    reward = DiscreteTable.from_frame(frame, reward="size").rewards
    assert reward is not None
    assert set(reward) == {1.0, 10.5}
    reward = DiscreteTable.from_frame(frame[["size", "b"]].assign(a=A), reward="size").rewards
    assert reward is not None
    assert set(reward) == {1_000.0, 10_500.0}


class TestMissing:
    @pytest.mark.parametrize("text", ["NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", ".", ""])
    def test_the_usual_marks_count_as_missing(self, tmp_path: Path, text: str) -> None:
        marked = [text if i % 6 == 0 else a for i, a in enumerate(A)]
        path = file(tmp_path, table({"b": B, "a": marked}))
        with pytest.raises(TableError, match=r"10 of 60 missing.*--missing drop"):
            read_csv(path)
        found = read_csv(path, missing="drop")
        assert decoded(found, "a") == [a for i, a in enumerate(A) if i % 6]
        assert any(f"'{text}' of 'a' counted as missing" in line for line in found.warnings) == bool(text)

    def test_a_mark_can_be_a_state(self, tmp_path: Path) -> None:
        path = file(tmp_path, table({"b": B, "a": ["NA" if a == "x" else a for a in A]}))
        assert read_csv(path, na="").states["a"] == ("NA", "y", "z")
        assert read_csv(path, na=["none of these"]).states["a"] == ("NA", "y", "z")
        assert read_csv(path, missing="state").states["a"] == ("y", "z", "missing")

    def test_other_marks_can_be_named(self, tmp_path: Path) -> None:
        codes = ["-99" if i % 6 == 0 else str(i % 2) for i in range(N)]
        found = read_csv(file(tmp_path, table({"a": A, "b": codes})), na="-99", missing="state")
        assert found.states["b"] == ("0", "1", "missing")
        assert decoded(found, "b").count("missing") == 10

    def test_one_mark_among_numbers_is_advised_as_missing(self, tmp_path: Path) -> None:
        texts = ["n.d." if i % 6 == 0 else f"{one}" for i, one in enumerate(AMOUNTS)]
        path = file(tmp_path, table({"a": A, "b": B, "gain": texts}))
        for reward in (None, "gain"):
            with pytest.raises(TableError, match=r"--na n\.d\."):
                read_csv(path, reward=reward)
        assert read_csv(path, na="n.d.", missing="drop", bins=3).n_rows == 50


class TestIdentifiers:
    def test_keep_insists(self, tmp_path: Path) -> None:
        days = [("2021-03-01", "2021-03-02")[i % 2] for i in range(N)]
        path = file(tmp_path, table({"a": A, "case": range(N), "day": days}))
        with pytest.raises(TableError, match=r"only 'a' .*'case'.*--keep case"):
            read_csv(path)
        assert read_csv(path, keep=["case"], bins=3).variables == ("a", "case")
        assert read_csv(path, keep="day").states["day"] == ("2021-03-01", "2021-03-02")
        with pytest.raises(TableError, match=r"columns to keep.*did you mean 'day'.*--keep"):
            read_csv(path, keep="Day")
        with pytest.raises(TableError, match="'day' among both"):
            read_csv(path, keep="day", ignore="day")

    def test_measurements_are_none_however_many(self, tmp_path: Path) -> None:
        path = file(tmp_path, table({"a": A, "b": B, "gain": AMOUNTS}))
        with pytest.raises(TableError, match=r"60 numbers in 60 rows of 'gain'.*--bins 3"):
            read_csv(path)

    def test_identifiers_are_left_out_of_long_tables_too(self, tmp_path: Path) -> None:
        """Beyond 32,767 different texts, where they aren't kept."""
        n = 40_000
        rng = np.random.default_rng(0)
        columns = {"id": [f"p{i}" for i in range(n)], "a": rng.integers(0, 3, n), "b": rng.integers(0, 2, n)}
        found = read_csv(file(tmp_path, table(columns)))
        assert found.variables == ("a", "b")
        assert "identifiers were left out: 'id'" in found.warnings[0]
        with pytest.raises(TableError, match="40000 values in 40000 rows of 'id'"):
            read_csv(tmp_path / "table.csv", keep="id")

    def test_their_gaps_cost_no_rows(self, tmp_path: Path) -> None:
        ids = ["" if i % 2 else f"P{i}" for i in range(N)]
        assert read_csv(file(tmp_path, table({"id": ids, "a": A, "b": B}))).n_rows == N


class TestOneMessage:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        rng = np.random.default_rng(0)
        n = 200
        mass = [f"{one:.1f}" for one in rng.normal(4_000, 500, n)]
        mass[7] = "NA"
        return file(
            tmp_path,
            table(
                {
                    "island": rng.choice(["Torgersen", "Biscoe"], n),
                    "sex": ["?" if i % 20 == 0 else "MF"[i % 2] for i in range(n)],
                    "body mass": mass,
                    "nest": [f"N{i // 3}" for i in range(n)],
                    "comment": [f"seen by {i % 9}" if i % 4 == 0 else "" for i in range(n)],
                }
            ),
        )

    def test_it_names_every_problem_and_the_flags_that_solve_them(self, path: Path) -> None:
        with pytest.raises(TableError) as refusal:
            read_csv(path)
        first, *lines = str(refusal.value).splitlines()
        assert len(lines) == 5
        assert all(
            any(f"'{name}'" in line for line in lines) for name in ("sex", "body mass", "nest", "comment")
        )
        flags = shlex.split(first.partition("or add ")[2])
        assert flags == ["--missing", "drop", "--ignore", "comment", "nest", "--bins", "3"]
        found = read_csv(path, missing="drop", ignore=["comment", "nest"], bins=3)
        assert found.variables == ("island", "sex", "body mass")
        assert found.n_rows == 189

    def test_a_wrong_reward_is_one_of_them(self, path: Path) -> None:
        with pytest.raises(
            TableError, match=r"(?s)found 6 problems.*--reward island=Torgersen.*'Biscoe' in 'island'"
        ):
            read_csv(path, reward="island")

    def test_it_has_twenty_lines_at_most(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        path = file(tmp_path, table({f"v{i}": rng.normal(size=N) for i in range(50)}))
        with pytest.raises(TableError) as refusal:
            read_csv(path)
        lines = str(refusal.value).splitlines()
        assert len(lines) == 22
        assert lines[-1] == "  and 30 more"
        assert lines[0].endswith("or add --bins 3")

    def test_lines_of_wrong_width_are_counted(self, tmp_path: Path) -> None:
        with pytest.raises(TableError, match=r"found 1 in line 62 and 4 others in"):
            read_csv(file(tmp_path, PLAIN + "x\n" * 5))
        with pytest.raises(TableError, match=r"(?s)2 problems.*1 in line 62.*5 in line 64"):
            read_csv(file(tmp_path, PLAIN + "x\n" * 2 + "x,0,,,1\n"))

    def test_a_column_of_very_many_states_is_refused_before_anything_is_counted(self, tmp_path: Path) -> None:
        """Tables of the product of such states would need hundreds of gigabytes."""
        n = 20_000
        columns = {"a": [A[i % N] for i in range(n)], "ward": [f"w{i % 1600}" for i in range(n)]}
        with pytest.raises(
            TableError, match=r"at most 100.*1600 values in 20000 rows of 'ward'.*--ignore ward"
        ):
            read_csv(file(tmp_path, table(columns)))


class TestFormats:
    @pytest.mark.parametrize("name", ["table.csv.gz", "table.tsv.gz", "without an ending"])
    def test_compressed_text_is_read(self, tmp_path: Path, name: str) -> None:
        path = tmp_path / name
        text = table({"a": A, "b": B}, "\t" if "tsv" in name else ",")
        path.write_bytes(gzip.compress(text.encode()))
        found = read_csv(path)
        assert decoded(found, "a") == A

    def test_parquet_is_read(self, tmp_path: Path) -> None:
        pytest.importorskip("pyarrow")
        frame = pd.DataFrame({"a": A, "b": B, "gain": AMOUNTS})
        frame.loc[3, "a"] = None
        frame.to_parquet(tmp_path / "table.parquet")
        found = read_csv(tmp_path / "table.parquet", reward="gain", missing="drop")
        alone = DiscreteTable.from_frame(frame, reward="gain", missing="drop")
        assert found.states == alone.states
        assert np.array_equal(found.codes, alone.codes)
        (tmp_path / "cut.parquet").write_bytes((tmp_path / "table.parquet").read_bytes()[:300])
        with pytest.raises(TableError, match=r"damaged one in .*cut\.parquet"):
            read_csv(tmp_path / "cut.parquet")

    @pytest.mark.parametrize(
        ("begin", "kind"),
        [
            (b"PK\x03\x04", "an Excel workbook"),
            (b"\xd0\xcf\x11\xe0", "an old Excel workbook"),
            (b"SQLite format 3\0", "an SQLite database"),
            (b"\x89HDF\r\n", "an HDF5 file"),
            (b"\xfd7zXZ\0", "compressed by xz"),
            (b"<stata_dta>", "a Stata file"),
            (b"\x80\x04\x95", "a Python pickle"),
            (gzip.compress(b"X\n\0\0\0\3", mtime=0), "an R data file"),
            (b"<!DOCTYPE html>", "a web page"),
            (b'[{"a": 1}]', "a JSON file"),
        ],
    )
    def test_other_formats_are_refused_by_name(self, tmp_path: Path, begin: bytes, kind: str) -> None:
        path = tmp_path / "other.csv"
        path.write_bytes(begin if begin[:2] == b"\x1f\x8b" else begin + bytes(200))
        with pytest.raises(TableError, match=rf"found .*{kind}.* in .*other\.csv.*save the table as CSV"):
            read_csv(path)

    def test_a_file_and_its_frame_are_read_through_one_door(self, tmp_path: Path) -> None:
        path = file(tmp_path, table({"a": A, "b": B, "gain": AMOUNTS}))
        settings = TableSettings(bins=3)
        from_file, from_frame = read(path, None, settings), read(pd.read_csv(path), None, settings)
        assert from_file.states == from_frame.states
        assert np.array_equal(from_file.codes, from_frame.codes)


def test_a_hash_sign_can_begin_a_state_and_a_name(tmp_path: Path) -> None:
    text = table({"#a": ["#" + a for a in A], "b": B})
    assert decoded(read_csv(file(tmp_path, text)), "#a") == ["#" + a for a in A]


def test_warnings_are_lines_without_line_breaks(tmp_path: Path) -> None:
    for text in SAME.values():
        for line in read_csv(file(tmp_path, text)).warnings:
            assert re.fullmatch(r"[^\n]+", line)
