"""Small inputs whose right answer is known: the answer, or the message that leads to it.

The counts of the Titanic, of Copenhagen's housing and of the kidney stones are published; the rest is made
up.
"""

import csv
import random
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from cb_pgm.cli.program import main

ANSWERS = Path(__file__).parent / "answers"
Ask = Callable[..., str]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """Run a command of the program; return what it wrote to both streams, in this order."""

    def asked(command: str, status: int = 0) -> str:
        words = [str(ANSWERS / word) if (ANSWERS / word).exists() else word for word in shlex.split(command)]
        if words[0] == "effects":
            words += ["--draws", "30"]
        assert main(words) == status
        return "".join(capsys.readouterr())

    return asked


def number_after(text: str, words: str) -> float:
    found = re.search(rf"{words}\s*(-?[\d,.]+\d)", text)
    assert found is not None, text
    return float(found[1].replace(",", ""))


def test_additive_causes_are_not_pulled_to_the_mean(ask: Ask, tmp_path: Path) -> None:
    random.seed(1)
    with (tmp_path / "add.csv").open("w") as file:
        file.write("a,b,c,d,e,y\n")
        for _ in range(400):
            states = [random.randrange(3) for _ in range(5)]
            reward = random.gauss(0, 1) + 2 * (states[0] - 1) + sum(states[1:]) - 4
            file.write(",".join(f"{name}{state}" for name, state in zip("abcde", states, strict=True)))
            file.write(f",{reward:.3f}\n")
    said = ask(f"effects {tmp_path / 'add.csv'} --reward y")
    assert "the best bet is a = a2" in said
    assert number_after(said, "expected y") == pytest.approx(2, abs=0.35)
    assert number_after(said, "gain over the baseline") == pytest.approx(2, abs=0.35)


@pytest.mark.parametrize(
    ("command", "rates"),
    [
        ("effects trial_headline_halved.csv --reward cured=yes --randomised arm", (10 / 14, 4 / 14)),
        ("effects ab_two_columns.csv --reward converted=yes --randomised variant", (9 / 19, 0.0)),
    ],
)
def test_a_trial_is_the_difference_of_its_arms(ask: Ask, command: str, rates: tuple[float, float]) -> None:
    said = ask(command)
    assert said.splitlines()[2].startswith("Set ")
    assert f"{rates[0]:.4g} against {rates[1]:.4g}" in said
    assert f"+{rates[0] - rates[1]:.4g}" in said
    assert "Basis: experimental" in said


@pytest.mark.parametrize(
    ("command", "rows", "baseline"),
    [
        ("effects titanic_counts.csv --reward Survived=Yes", "2,201", 711 / 2201),
        ("effects counts_housing.csv --reward Sat=High", "642", 0.377),
    ],
)
def test_a_table_of_counts_names_its_weights(ask: Ask, command: str, rows: str, baseline: float) -> None:
    assert "count each row so often (--weights Freq)" in ask(command, status=1)
    said = ask(f"{command} --weights Freq")
    assert f"From {rows} rows" in said
    assert number_after(said, r"Baseline \(no intervention\):") == pytest.approx(baseline, abs=1e-3)


def test_cells_that_are_no_numbers_are_named_as_cells(ask: Ask) -> None:
    command = "effects suppressed.csv --reward earn"
    said = ask(command, status=1)
    assert "add --na PrivacySuppressed --missing drop" in said.splitlines()[0]
    assert "earn=PrivacySuppressed" not in said
    assert "From 27 rows" in ask(f"{command} --na PrivacySuppressed --missing drop")


def test_dollars_are_numbers(ask: Ask) -> None:
    said = ask("effects us_dollar.csv --reward earn")
    assert "the best bet is treat = B" in said
    assert number_after(said, "expected earn") == pytest.approx(1108, abs=1)


def test_commas_in_one_column_settle_points_in_another(ask: Ask) -> None:
    said = ask("effects german_points.csv --reward umsatz --bins 3 --keep kampagne")
    assert "the best bet is kampagne = B" in said
    assert number_after(said, "expected umsatz") == pytest.approx(1340, abs=20)


def test_two_spellings_of_the_reward_are_said(ask: Ask) -> None:
    said = ask("effects reward_two_spellings.csv --reward bought=yes")
    assert "'Yes' and 'yes' of 'bought'" in said


def test_a_column_computed_from_the_reward_is_no_cause(ask: Ask) -> None:
    said = ask("effects leak_band.csv --reward spend", status=1)
    assert "high, whose values tell spend with no overlap" in said
    assert "--ignore high" in said
    assert "--keep high" in said


def test_knowledge_that_the_rows_refute_is_said(ask: Ask, tmp_path: Path) -> None:
    random.seed(5)
    with (tmp_path / "t.csv").open("w") as file:
        file.write("X,M,Y\n")
        for _ in range(4000):
            u, v = random.random() < 0.5, random.random() < 0.5
            x = random.random() < (0.9 if u else 0.1)
            m = random.random() < 0.05 + 0.45 * u + 0.45 * v
            y = random.random() < (0.9 if v else 0.1)
            file.write(f"{int(x)},{int(m)},{int(y)}\n")
    said = ask(f"effects {tmp_path / 't.csv'} --reward Y=1 --not-settable M --knowledge mbias.toml")
    assert "warning: the rows refute that M independent of X" in said
    assert "Set X" not in said


def test_a_treatment_that_depends_on_size_was_not_randomised(ask: Ask) -> None:
    said = ask(
        "effects data/kidney_stones.csv --reward success=yes --randomised treatment --not-settable size "
        "--knowledge size_is_root.toml"
    )
    assert "treatment wasn't set at random" in said
    assert "Set treatment" not in said


@pytest.mark.parametrize("graph", ["kidney_dag.json", "kidney_dag_with_reward.json"])
def test_the_directions_of_a_dag_count(ask: Ask, graph: str) -> None:
    said = ask(f"effects data/kidney_stones.csv --reward success=yes --not-settable size --graph {graph}")
    shown = dict(re.findall(r"^treatment = (A|B) .*?\)\s+.*? to [\d.]+\s+([\d.]+),", said, re.MULTILINE))
    assert float(shown["A"]) == pytest.approx(0.832, abs=0.005)
    assert float(shown["B"]) == pytest.approx(0.778, abs=0.005)


def test_the_front_door_is_never_set_nor_claimed_without_its_presumption(ask: Ask, tmp_path: Path) -> None:
    counts = {"yyn": 323, "yyy": 57, "nyn": 1, "nyy": 19, "ynn": 18, "yny": 2, "nnn": 38, "nny": 342}
    with (tmp_path / "t.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["smoking", "tar", "cancer"])
        for row, count in counts.items():
            rows.writerows([["yes" if state == "y" else "no" for state in row]] * count)
    said = ask(f"effects {tmp_path / 't.csv'} --reward cancer=yes --minimize")
    assert "Set " not in said
    assert "If nothing hidden acts on both, the best bet" in said


def test_a_row_whose_reward_is_missing_is_left_out_until_it_is_known(ask: Ask, tmp_path: Path) -> None:
    ask(f"session start {tmp_path / 's'} --states states.toml --horizon 50 --seed 1")
    ask(f"session ask {tmp_path / 's'} --batch 2")
    rows = (ANSWERS / "tell_reward_missing.csv").read_text()
    pull = re.search(r"set (\w+) = (\w+)", ask(f"session ask {tmp_path / 's'}"))
    assert pull is not None
    place = rows.splitlines()[0].split(",").index(pull[1])
    lines = [line.split(",") for line in rows.splitlines()]
    for line in lines[1:]:
        line[place] = pull[2]
    (tmp_path / "rows.csv").write_text("\n".join(map(",".join, lines)) + "\n")
    said = ask(f"session tell {tmp_path / 's'} {tmp_path / 'rows.csv'}", status=1)
    assert "leave the row out until its reward is known" in said
    assert "--allow" not in said
