"""What looks the same but isn't, headers that aren't, rewards far off or beyond float64: said or refused."""

import numpy as np
import pandas as pd
import pytest

from discovery import TableError, read

RNG = np.random.default_rng(0)
ROWS = 60


def table(tmp_path, header="a,b,y", change=lambda rows: rows):
    rows = [[str(RNG.integers(2)), ["u", "v"][RNG.integers(2)], f"{RNG.normal():.4f}"] for _ in range(ROWS)]
    path = tmp_path / "t.csv"
    text = "\n".join([header, *(",".join(row) for row in change(rows))]) + "\n"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def with_field(column, value, row=30):
    def change(rows):
        rows[row][column] = value
        return rows

    return change


def warnings_of(path, reward="y"):
    return "\n".join(read(path, reward).warnings)


@pytest.mark.parametrize(
    "character",
    [
        "\ufeff",
        "\x0b",
        "\x0c",
        "\u2028",
        "\u200b",
        "\u200d",
        "\u202e",
        "\u2066",
        "\xad",
        "\x07",
        "\u3164",
        "\u2800",
        "\ufe0f",
        "\U000e0041",
        "\u2063",
    ],
)
def test_invisible_characters_are_said(character, tmp_path):
    said = warnings_of(table(tmp_path, change=with_field(1, f"u{character}x")))
    assert "the column 'b'" in said
    assert "invisible characters" in said
    assert character not in said
    assert "invisible" not in warnings_of(table(tmp_path))


def test_composed_beside_decomposed_spellings(tmp_path):
    def change(rows):
        rows[3][1], rows[4][1] = "caf\u00e9", "cafe\u0301"
        return rows

    said = warnings_of(table(tmp_path, change=change))
    assert "in 2 ways that look the same" in said
    assert r"caf\xe9" in said


def test_a_header_in_the_middle(tmp_path):
    path = table(tmp_path, header="a,b,c,y", change=lambda rows: [
        [*row[:2], str(i % 2), str(i % 3 % 2)] for i, row in enumerate(rows)
    ])  # fmt: skip
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:20], lines[0], *lines[20:]]) + "\n")
    assert "is repeated in 1 of its rows" in warnings_of(path, "y=1")


def test_a_first_line_that_looks_like_data(tmp_path):
    assert "looks like data" in warnings_of(table(tmp_path, header="0,u,0.25"), "0.25")
    assert "looks like data" not in warnings_of(table(tmp_path))


def test_a_first_row_that_occurs_again_is_data(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("0,u,1\n" + "1,v,0\n0,u,1\n0,v,1\n1,u,0\n" * 10)
    assert "looks like data" in warnings_of(path, "1")


def test_two_marks_of_missing_rewards(tmp_path):
    def change(rows):
        rows[3][2], rows[4][2] = "-999", "9999"
        return rows

    said = warnings_of(table(tmp_path, change=change))
    assert "2 rewards in 'y' are -999 or 9999, far off all others" in said
    assert "--na -999 9999 counts them as missing" in said


@pytest.mark.parametrize("value", ["-999", "99999", "-9999"])
def test_rewards_far_off_all_others(value, tmp_path):
    assert f"--na {value}" in warnings_of(table(tmp_path, change=with_field(2, value)))
    assert "far off" not in warnings_of(table(tmp_path))


def test_only_a_header(tmp_path):
    with pytest.raises(TableError, match="Expected rows below the header but found none"):
        read(table(tmp_path, change=lambda rows: []), "y")


def test_a_field_beyond_the_readers_limit(tmp_path):
    with pytest.raises(TableError, match="fields of at most 131,072 characters"):
        read(table(tmp_path, change=with_field(1, "x" * 200_000)), "y")


@pytest.mark.parametrize(
    ("scale", "shift", "said"),
    [(1e302, 0, "divide them all"), (1e-308, 0, "divide them all"), (1, 1e15, "subtract the same number")],
)
def test_rewards_that_float64_cannot_tell(scale, shift, said):
    frame = pd.DataFrame({"a": RNG.integers(0, 2, 100), "b": RNG.integers(0, 2, 100)})
    frame["y"] = (frame["a"] + RNG.normal(size=100)) * scale + shift
    with pytest.raises(TableError, match=said):
        read(frame, "y")


@pytest.mark.parametrize(("scale", "shift"), [(1e-12, 0.0), (1e90, 0.0), (1.0, 1e7), (1e-90, 0.0)])
def test_the_unit_of_the_rewards_changes_no_cause_and_no_gap(scale, shift):
    from cb_pgm.model.fitting import rehearse
    from cb_pgm.model.reward_parents import chosen_parents
    from discovery import estimate

    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (400, 3))
    noise = rng.normal(size=400)
    found = []
    for unit, begin in ((1.0, 0.0), (scale, shift)):
        frame = pd.DataFrame(codes, columns=["a", "b", "c"])
        frame["y"] = (codes[:, 0] + 0.5 * noise) * unit + begin
        chosen = read(frame, "y")
        system = rehearse(chosen, estimate(chosen, method="chow-liu").graph).system
        found.append((chosen_parents(chosen), system.reward_gap() / unit, system.best_arm()[0]))
    assert found[0][0] == found[1][0]
    assert found[0][1] == pytest.approx(found[1][1], rel=1e-6)
    assert found[0][1] > 0
    assert found[0][2] == found[1][2]
