"""Files that can't be read as a table: the refusal says where, and what to do, in a line for each problem."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from discovery import TableError, read_csv

Rows = list[list[str]]
Damage = Callable[[Rows, np.random.Generator], bytes]


def sound_rows(rng: np.random.Generator) -> Rows:
    """Return a header of 3 to 7 columns and 40 to 90 rows of independent letters."""
    width, height = int(rng.integers(3, 8)), int(rng.integers(40, 91))
    return [
        [f"v{i}" for i in range(width)],
        *([str(s) for s in rng.choice(["a", "b", "c"], width)] for _ in range(height)),
    ]


def joined(rows: Rows, separator: str = ",") -> bytes:
    return "".join(separator.join(row) + "\n" for row in rows).encode()


def somewhere(rows: Rows, rng: np.random.Generator) -> tuple[int, int]:
    """Return a data row and a column of it."""
    return int(rng.integers(1, len(rows))), int(rng.integers(len(rows[0])))


def a_field_less(rows: Rows, rng: np.random.Generator) -> bytes:
    row, column = somewhere(rows, rng)
    del rows[row][column]
    return joined(rows)


def a_field_more(rows: Rows, rng: np.random.Generator) -> bytes:
    row, column = somewhere(rows, rng)
    rows[row].insert(column, "a")
    return joined(rows)


def an_empty_field(rows: Rows, rng: np.random.Generator) -> bytes:
    row, column = somewhere(rows, rng)
    rows[row][column] = " " * int(rng.integers(3))
    return joined(rows)


def a_name_twice(rows: Rows, rng: np.random.Generator) -> bytes:
    one, other = rng.choice(len(rows[0]), 2, replace=False)
    rows[0][one] = f" {rows[0][other]}"
    return joined(rows)


def no_name(rows: Rows, rng: np.random.Generator) -> bytes:
    rows[0][somewhere(rows, rng)[1]] = " " * int(rng.integers(3))
    return joined(rows)


def a_nul_byte(rows: Rows, rng: np.random.Generator) -> bytes:
    content = joined(rows)
    place = int(rng.integers(len(content)))
    return content[:place] + b"\0" + content[place:]


def compressed(rows: Rows, rng: np.random.Generator) -> bytes:
    return bz2.compress(joined(rows))


def compressed_and_cut(rows: Rows, rng: np.random.Generator) -> bytes:
    content = gzip.compress(joined(rows))
    return content[: int(rng.integers(10, len(content)))]


def random_bytes(rows: Rows, rng: np.random.Generator) -> bytes:
    return rng.bytes(int(rng.integers(1, 5_000)))


def an_open_quote(rows: Rows, rng: np.random.Generator) -> bytes:
    row, column = somewhere(rows, rng)
    rows[row][column] = '"a'
    return joined(rows)


def text_after_a_quote(rows: Rows, rng: np.random.Generator) -> bytes:
    row, column = somewhere(rows, rng)
    rows[row][column] = '"a"b'
    return joined(rows)


def only_twins(rows: Rows, rng: np.random.Generator) -> bytes:
    renamed = {"a": "1", "b": "2", "c": "3"}
    return joined([[row[0], renamed.get(row[0], "twin")] for row in rows])


def many_texts(rows: Rows, rng: np.random.Generator) -> bytes:
    return joined([[*row, f"t{number // 2}"] for number, row in enumerate(rows)])


def only_an_identifier(rows: Rows, rng: np.random.Generator) -> bytes:
    return joined([[row[0], f"id{number}"] for number, row in enumerate(rows)])


def a_measurement(rows: Rows, rng: np.random.Generator) -> bytes:
    return joined([[*row, f"{rng.normal():.4f}" if number else "size"] for number, row in enumerate(rows)])


def few_rows(rows: Rows, rng: np.random.Generator) -> bytes:
    return joined(rows[: int(rng.integers(2, 21))])


def no_rows(rows: Rows, rng: np.random.Generator) -> bytes:
    return joined(rows[:1])


def one_column(rows: Rows, rng: np.random.Generator) -> bytes:
    return joined([row[:1] for row in rows])


def one_variable(rows: Rows, rng: np.random.Generator) -> bytes:
    return joined([[row[0], f"c{number == 0}"] for number, row in enumerate(rows)])


def blanks_as_separators(rows: Rows, rng: np.random.Generator) -> bytes:
    return joined(rows, " ")


def nothing(rows: Rows, rng: np.random.Generator) -> bytes:
    return b" \n" * int(rng.integers(4))


def separators_at_the_ends_of_rows(rows: Rows, rng: np.random.Generator) -> bytes:
    return joined([rows[0], *([*row, ""] for row in rows[1:])])


def two_separators(rows: Rows, rng: np.random.Generator) -> bytes:
    return joined([[row[0], f"{row[1]};{row[2]}", *row[3:]] for row in rows])


DAMAGES = [
    (a_field_less, "fields, as in the header"),
    (a_field_more, "fields, as in the header"),
    (an_empty_field, "a value in every field"),
    (a_name_twice, "each column name once"),
    (no_name, "a name for every column"),
    (a_nul_byte, "NUL byte"),
    (compressed, "compressed by bzip2"),
    (compressed_and_cut, "read to its end"),
    (random_bytes, ""),
    (an_open_quote, "quotes that open and close"),
    (text_after_a_quote, "quotes that open and close"),
    (only_twins, "equal to another"),
    (many_texts, "values in"),
    (only_an_identifier, "left out as identifiers"),
    (a_measurement, "numbers in"),
    (few_rows, "at least 20 rows"),
    (no_rows, "rows below the header"),
    (one_column, "at least 2 columns"),
    (one_variable, "at least 2 variables"),
    (blanks_as_separators, "at least 2 columns"),
    (nothing, "the file is empty"),
    (separators_at_the_ends_of_rows, "remove the separator"),
    (two_separators, "one separator"),
]


@pytest.mark.parametrize(("damage", "told"), DAMAGES, ids=[damage.__name__ for damage, _ in DAMAGES])
def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path, damage: Damage, told: str) -> None:
    """25 files each; the undamaged ones are read."""
    path = tmp_path / "damaged.csv"
    for seed in range(25):
        rng = np.random.default_rng(seed)
        rows = sound_rows(rng)
        path.write_bytes(joined(rows))
        assert read_csv(path).n_rows == len(rows) - 1
        path.write_bytes(damage(rows, rng))
        with pytest.raises(TableError) as refusal:
            read_csv(path)
        message = str(refusal.value)
        assert len(message.splitlines()) == 1, message
        assert told in message, message
        assert message.startswith("Expected ")
        assert " but found " in message
        assert str(path) in message


def test_the_line_at_fault_is_named(tmp_path: Path) -> None:
    """Lines are counted as an editor does: blank ones and those within quotes too."""
    rows = [["x", "y"], ["a", '"two\nlines"'], ["b", "c"]] * 1
    path = tmp_path / "lines.csv"
    path.write_bytes(b"\n" + joined(rows) + b"\nlonely\n")
    with pytest.raises(TableError, match="found 1 in line 7"):
        read_csv(path)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("no/such/file.csv", "No such file"),
        (".", "Is a directory"),
        ("", "No such file"),
        ("a\0b", "null byte"),
        ("/dev/null", "the file is empty"),
        ("two\nlines", "No such file"),
    ],
)
def test_a_path_that_cannot_be_read_is_refused(path: str, told: str) -> None:
    with pytest.raises(TableError, match=f"^Expected [^\n]*{told}[^\n]*$"):
        read_csv(path)


def test_a_line_without_end_is_refused_before_it_fills_the_memory() -> None:
    with pytest.raises(TableError, match="end every row with a line break"):
        read_csv("/dev/zero")


def test_columns_named_in_settings_must_exist() -> None:
    for settings in ({"ignore": ["Asia"]}, {"reward": "Asia=yes"}, {"intervention_column": "Asia"}):
        with pytest.raises(TableError, match=r"no column 'Asia' in 'data/asia\.csv': did you mean 'asia'"):
            read_csv("data/asia.csv", **settings)  # type: ignore[arg-type]
    with pytest.raises(TableError, match="the reward column 'asia' but found it ignored"):
        read_csv("data/asia.csv", reward="asia=yes", ignore="asia")
    with pytest.raises(TableError, match="'asia' as the intervention column and in another role"):
        read_csv("data/asia.csv", reward="asia=yes", intervention_column="asia")


def test_a_separator_that_cannot_be_told_can_be_named(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [["u;v", "w;x"], *([f"{a};{b}", f"{c};{d}"] for a, b, c, d in rng.choice(["p", "q"], (60, 4)))]
    path = tmp_path / "either.csv"
    path.write_bytes(joined(rows))
    with pytest.raises(TableError, match="comma and semicolon each split"):
        read_csv(path)
    assert read_csv(path, separator=",").variables == ("u;v", "w;x")
    assert read_csv(path, separator=";").variables == ("u", "v,w", "x")
    path.write_bytes(joined(rows, " "))
    assert read_csv(path, separator=" ").variables == ("u;v", "w;x")
