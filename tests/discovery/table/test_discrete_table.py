"""What a person can rely on when a table is read: text stays text, rewards are right, nothing is guessed."""

from __future__ import annotations

import csv
import hashlib
import re
import string
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from discovery import DiscreteTable, TableError, read_csv

# fmt: off
ODD_TEXTS = (
    "None", "NA", "nan", "null", "True", "01", "1", "1.0", "1e3", "-0", "+1", "0x1F", "1_000", "1,5", "inf",
    "a,b", "a;b", "a|b", "a\tb", 'say "hi"', '""', "it's", "'quoted'", "two words", "a  b", "line\nbreak",
    "missing", "other", "#", "<7.5", "a=b", "-", "?", "\\", "\\N", "é", "日本",
)
# fmt: on


def write(
    path: Path,
    rows: list[list[str]],
    *,
    separator: str = ",",
    end: str = "\n",
    quoting: int = csv.QUOTE_MINIMAL,
) -> Path:
    """Write rows, the first being the header, as the csv module does."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)
    return path


def random_rows(
    rng: np.random.Generator, n_rows: int = 60, states: tuple[str, ...] = ("a", "b", "c")
) -> list[list[str]]:
    """Return a header of four columns and rows of independent states, every state in every column."""
    columns = [rng.permutation([*states, *rng.choice(states, n_rows - len(states))]) for _ in range(4)]
    return [["w", "x", "y", "z"], *([str(value) for value in row] for row in zip(*columns, strict=True))]


def decoded(table: DiscreteTable) -> list[list[str]]:
    """Return the table's rows as text."""
    columns = [
        np.array(states, dtype=object)[table.codes[:, i]] for i, states in enumerate(table.states.values())
    ]
    return [list(row) for row in zip(*columns, strict=True)]


class TestText:
    @pytest.mark.parametrize("seed", range(200))
    def test_every_text_comes_back_as_it_was_written(self, tmp_path: Path, seed: int) -> None:
        rng = np.random.default_rng(seed)
        states = tuple(str(text) for text in rng.choice(ODD_TEXTS, 4, replace=False))
        rows = random_rows(rng, states=states)
        path = write(
            tmp_path / "odd.csv",
            rows,
            separator=str(rng.choice([",", ";", "\t", "|"])),
            end=str(rng.choice(["\n", "\r\n"])),
            quoting=int(rng.choice([csv.QUOTE_ALL, csv.QUOTE_MINIMAL])),
        )
        if rng.random() < 0.3:
            path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
        table = read_csv(path, na="")
        assert table.variables == ("w", "x", "y", "z")
        assert decoded(table) == rows[1:]
        assert table.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()

    @pytest.mark.parametrize("quote", ["", '"'])
    @pytest.mark.parametrize("separator", [",", ";", "|"])
    def test_blanks_around_fields_do_not_count(self, tmp_path: Path, separator: str, quote: str) -> None:
        rng = np.random.default_rng(3)
        rows = random_rows(rng)
        blanks = lambda: " " * int(rng.integers(0, 3))  # noqa: E731
        lines = (separator.join(f"{blanks()}{quote}{text}{quote}{blanks()}" for text in row) for row in rows)
        path = tmp_path / "blanks.csv"
        path.write_text("\n\n".join(lines) + "\n  \n")
        assert decoded(read_csv(path)) == rows[1:]

    def test_blanks_and_quotes_within_quotes_are_kept(self, tmp_path: Path) -> None:
        rows = random_rows(np.random.default_rng(0), states=('he said "hi" , ok', 'a" ,b', "c"))
        assert decoded(read_csv(write(tmp_path / "quotes.csv", rows, quoting=csv.QUOTE_ALL))) == rows[1:]

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_line_ends_and_byte_order_marks(self, tmp_path: Path, encoding: str, end: str) -> None:
        rows = random_rows(np.random.default_rng(1), states=("é", "b"))
        path = tmp_path / "marked.csv"
        path.write_bytes(end.join(",".join(row) for row in rows).encode(encoding))
        assert decoded(read_csv(path)) == rows[1:]

    def test_states_are_sorted_as_numbers_where_all_are(self, tmp_path: Path) -> None:
        rows = [
            ["n", "t"],
            *([str(n), t] for n in (10, 9, -1, 2) for t in ("10", "9", "b") for _ in range(9)),
        ]
        table = read_csv(write(tmp_path / "sorted.csv", rows))
        assert table.states == {"n": ("-1", "2", "9", "10"), "t": ("10", "9", "b")}

    def test_codes_are_int16_with_contiguous_columns(self) -> None:
        table = read_csv("data/alarm.csv")
        assert table.codes.dtype == np.int16
        assert table.codes.shape == (table.n_rows, 37)
        assert table.codes.flags.f_contiguous

    def test_states_that_may_be_meant_as_one_are_kept_and_told(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        case = read_csv(write(tmp_path / "case.csv", random_rows(rng, states=("Yes", "yes", "no"))))
        assert case.states["w"] == ("Yes", "no", "yes")
        assert "'Yes' and 'yes' of 'w'" in case.warnings[0]
        path = write(tmp_path / "marker.csv", random_rows(rng, states=("1", "2", "NA")))
        with pytest.raises(TableError, match=r"missing \('NA' counted as missing\)"):
            read_csv(path)
        marker = read_csv(path, na="")
        assert marker.states["w"] == ("1", "2", "NA")
        assert "'NA' of 'w'" in marker.warnings[0]

    def test_a_pipe_is_read_once(self, tmp_path: Path) -> None:
        import os
        import threading

        fifo = tmp_path / "pipe"
        os.mkfifo(fifo)
        content = Path("data/asia.csv").read_bytes()
        writer = threading.Thread(target=fifo.write_bytes, args=(content,))
        writer.start()
        table = read_csv(fifo)
        writer.join()
        assert table.sha256 == hashlib.sha256(content).hexdigest()
        assert np.array_equal(table.codes, read_csv("data/asia.csv").codes)

    def test_progress_reaches_the_end(self) -> None:
        seen: list[tuple[int, int]] = []
        read_csv("data/alarm.csv", progress=lambda done, total: seen.append((done, total)))
        size = Path("data/alarm.csv").stat().st_size
        assert seen == sorted(seen)
        assert seen[-1] == (size, size)


class TestReward:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        rng = np.random.default_rng(5)
        rows = random_rows(rng)
        rows[0] = ["a", "a=b", "c", "gain"]
        for row in rows[1:]:
            row[3] = f"{rng.normal():.3f}"
        return write(tmp_path / "reward.csv", rows)

    def test_numbers_are_the_reward_and_not_a_variable(self, path: Path) -> None:
        table = read_csv(path, reward="gain")
        assert table.variables == ("a", "a=b", "c")
        assert table.rewards is not None
        assert np.array_equal(table.rewards, pd.read_csv(path)["gain"])
        assert table.reward == "gain"

    def test_a_state_pays_one_and_others_nothing(self, path: Path) -> None:
        table = read_csv(path, reward=" c = b ", ignore=["gain"])
        assert table.rewards is not None
        assert np.array_equal(table.rewards, (pd.read_csv(path)["c"] == "b").astype(float))
        assert table.variables == ("a", "a=b")

    @pytest.mark.parametrize(
        ("reward", "left"), [("a=b", ("a", "c")), ("a=b=c", ("a", "c")), ("a=c", ("a=b", "c"))]
    )
    def test_the_longest_column_name_counts(self, path: Path, reward: str, left: tuple[str, ...]) -> None:
        if reward == "a=b":
            with pytest.raises(TableError, match=r"finite numbers .*'a=b'"):
                read_csv(path, reward=reward, ignore=["gain"])
            return
        assert read_csv(path, reward=reward, ignore=["gain"]).variables == left

    @pytest.mark.parametrize(
        ("reward", "told"),
        [
            ("loss", "no column 'loss'"),
            ("GAIN", "did you mean 'gain'"),
            ("c", "c=STATE with one of 'a', 'b', 'c'"),
            ("c=d", "name one of 'a', 'b', 'c' (--reward)"),
            ("c=", "found ''"),
            ("", "no column ''"),
        ],
    )
    def test_a_reward_that_is_not_there_is_refused(self, path: Path, reward: str, told: str) -> None:
        with pytest.raises(TableError, match=re.escape(told)):
            read_csv(
                path, reward=reward, ignore=[] if reward == "gain" else ["gain"] if "c" in reward else []
            )

    @pytest.mark.parametrize("text", ["inf", "NAN", "1,5,2", "1_000", "x"])
    def test_rewards_are_finite_numbers(self, tmp_path: Path, text: str) -> None:
        rows = [[*row[:3], "1"] for row in random_rows(np.random.default_rng(0))]
        rows[0][3], rows[7][3] = "gain", text
        with pytest.raises(TableError, match=f"finite numbers in the reward column .*'{text}' in 'gain'"):
            read_csv(write(tmp_path / "gain.csv", rows, separator=";"), reward="gain", missing="drop")

    def test_rewards_that_never_change_are_told(self, tmp_path: Path) -> None:
        rows = [[*row[:3], "1"] for row in random_rows(np.random.default_rng(0))]
        rows[0][3] = "gain"
        (warning,) = read_csv(write(tmp_path / "same.csv", rows), reward="gain").warnings
        assert "reward is 1" in warning


class TestColumns:
    def test_constant_columns_are_dropped_and_told(self, tmp_path: Path) -> None:
        rows = [[*row, "k"] for row in random_rows(np.random.default_rng(0))]
        table = read_csv(write(tmp_path / "constant.csv", rows))
        assert table.variables == ("w", "x", "y", "z")
        assert table.constants == {"k": "k"}
        assert table.warnings == ("columns with one state only were dropped: 'k'",)

    def test_ignored_columns_are_not_read_at_all(self, tmp_path: Path) -> None:
        rows = [[*row, str(i), ""] for i, row in enumerate(random_rows(np.random.default_rng(0)))]
        rows[0][-2:] = ["id", "empty"]
        path = write(tmp_path / "ids.csv", rows)
        assert read_csv(path, ignore=["id", "empty"]).variables == ("w", "x", "y", "z")

    @pytest.mark.parametrize("seed", range(30))
    def test_a_column_with_its_states_renamed_is_left_out(self, tmp_path: Path, seed: int) -> None:
        rng = np.random.default_rng(seed)
        states = tuple("abcde"[: rng.integers(2, 6)])
        rows = random_rows(rng, states=states)
        twin = int(rng.integers(4))
        names = dict(zip(states, rng.permutation(list("pqrst"))[: len(states)], strict=True))
        rows = [[*row, str(names.get(row[twin], "twin"))] for row in rows]
        path = write(tmp_path / "twins.csv", rows)
        table = read_csv(path)
        assert table.variables == ("w", "x", "y", "z")
        assert f"left out: 'twin' (as '{rows[0][twin]}')" in table.warnings[-1]
        assert read_csv(path, keep="twin").variables == tuple(
            name for name in (*"wxyz", "twin") if name != rows[0][twin]
        )
        rewarded = read_csv(path, reward=f"{rows[0][twin]}=a")
        assert "twin" in rewarded.variables
        assert f"the reward '{rows[0][twin]}' is an exact function of 'twin'" in rewarded.warnings[-1]
        rows[5][4] = (
            rows[6][4] if rows[5][4] != rows[6][4] else next(n for n in names.values() if n != rows[5][4])
        )
        assert read_csv(write(path, rows)).variables[-1] == "twin"

    def test_twenty_numbers_are_states_and_twenty_one_are_not(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        for n, fits in ((20, True), (21, False)):
            rows = [["n", "b"], *([str(i % n), str(rng.integers(2))] for i in range(2_100))]
            path = write(tmp_path / "numbers.csv", rows)
            if fits:
                assert len(read_csv(path).states["n"]) == n
            else:
                with pytest.raises(
                    TableError, match=r"at most 20 different numbers.*found 21 numbers in 2100 rows"
                ):
                    read_csv(path)

    def test_a_tenth_of_the_rows_is_the_most_states(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        letters = string.ascii_letters
        for n_rows, fits in ((260, True), (259, False)):
            rows = [["t", "b"], *([letters[i % 26], str(rng.integers(2))] for i in range(n_rows))]
            path = write(tmp_path / "texts.csv", rows)
            if fits:
                assert len(read_csv(path).states["t"]) == 26
            else:
                with pytest.raises(TableError, match=r"a tenth as many.*found 26 values in 259 rows of 't'"):
                    read_csv(path)

    def test_every_column_with_too_many_states_is_named(self, tmp_path: Path) -> None:
        rows = [["i", "j k", "b"], *([f"i{i // 4}", f"j{i // 5}", str(i % 2)] for i in range(100))]
        with pytest.raises(TableError) as refusal:
            read_csv(write(tmp_path / "many.csv", rows))
        first, *others = str(refusal.value).splitlines()
        assert first.endswith(
            "found 2 problems in " + repr(str(tmp_path / "many.csv")) + ": decide on each, or add "
            "--ignore i 'j k'"
        )
        assert [line.partition(":")[0] for line in others] == [
            "  25 values in 100 rows of 'i'",
            "  20 values in 100 rows of 'j k'",
        ]


class TestFrame:
    def test_a_frame_gives_what_its_file_gives(self) -> None:
        path = "data/sachs.csv"
        from_file = read_csv(path, reward="Akt=LOW", ignore=["Raf"])
        from_frame = DiscreteTable.from_frame(pd.read_csv(path), reward="Akt=LOW", ignore=["Raf"])
        assert from_file.states == from_frame.states
        assert np.array_equal(from_file.codes, from_frame.codes)
        assert np.array_equal(from_file.rewards, from_frame.rewards)  # type: ignore[arg-type]

    def test_values_become_their_text(self) -> None:
        n = 60
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(
            {
                "bool": rng.random(n) < 0.5,
                "int": rng.integers(0, 3, n),
                "float": rng.integers(0, 3, n) * 0.5,
                "category": pd.Categorical(rng.choice(["lo", "hi"], n)),
                "mixed": rng.choice(np.array([1, True, "1 "], dtype=object), n),
                7: rng.choice(["NA", "None"], n),
            }
        )
        assert DiscreteTable.from_frame(frame, na="").states == {
            "bool": ("False", "True"),
            "int": ("0", "1", "2"),
            "float": ("0.0", "0.5", "1.0"),
            "category": ("hi", "lo"),
            "mixed": ("1", "True"),
            "7": ("NA", "None"),
        }

    def test_its_refusals_are_those_of_a_file(self) -> None:
        frame = pd.DataFrame({"a": [0, 1, None, 1] * 10, "b": [0, 1, 1, 1] * 10})
        with pytest.raises(TableError, match=r"10 of 40 missing.*data row 3 of column 'a' in the data frame"):
            DiscreteTable.from_frame(frame)
        with pytest.raises(TableError, match="'b' for columns 2 and 3"):
            DiscreteTable.from_frame(frame.assign(**{" b": 1}))
        with pytest.raises(TableError, match="rows below the header but found none"):
            DiscreteTable.from_frame(pd.DataFrame())

    def test_equal_content_has_an_equal_hash(self) -> None:
        frame = pd.read_csv("data/asia.csv")
        once, again = (DiscreteTable.from_frame(frame.copy()).sha256 for _ in range(2))
        frame.loc[0, "asia"] = "yes"
        assert once == again != DiscreteTable.from_frame(frame).sha256


def test_a_value_of_the_right_type_is_needed_for_each_setting() -> None:
    wrong: list[dict[str, object]] = [
        {"bins": 1},
        {"bins": 2.5},
        {"bins": True},
        {"missing": "guess"},
        {"bin_rule": "mean"},
    ]
    wrong += [
        {"merge_rare": 0},
        {"merge_rare": 1.5},
        {"merge_rare": -1},
        {"separator": ""},
        {"separator": '"'},
    ]
    for settings in wrong:
        with pytest.raises(TableError, match=r"^Expected .* but found [^\n]*$"):
            read_csv("data/asia.csv", **settings)  # type: ignore[arg-type]
