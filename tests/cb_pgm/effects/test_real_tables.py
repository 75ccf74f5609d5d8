"""Real tables, and what is known of their answers."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cb_pgm import estimate_effects
from cb_pgm.cli import main
from discovery import DiscreteTable, Knowledge, read_csv
from discovery.estimation.settings import EstimateSettings

FEW = 30  # draws

#: Passengers and crew of the Titanic by class, sex and age: (drowned, saved), of the British Board of Trade.
TITANIC = {
    ("1st", "man", "adult"): (118, 57),
    ("1st", "man", "child"): (0, 5),
    ("1st", "woman", "adult"): (4, 140),
    ("1st", "woman", "child"): (0, 1),
    ("2nd", "man", "adult"): (154, 14),
    ("2nd", "man", "child"): (0, 11),
    ("2nd", "woman", "adult"): (13, 80),
    ("2nd", "woman", "child"): (0, 13),
    ("3rd", "man", "adult"): (387, 75),
    ("3rd", "man", "child"): (35, 13),
    ("3rd", "woman", "adult"): (89, 76),
    ("3rd", "woman", "child"): (17, 14),
    ("crew", "man", "adult"): (670, 192),
    ("crew", "woman", "adult"): (3, 20),
}


def titanic(path: Path) -> DiscreteTable:
    rows = [
        (*who, saved)
        for who, counts in TITANIC.items()
        for saved, times in zip(("no", "yes"), counts, strict=True)
        for _ in range(times)
    ]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("class", "sex", "age", "saved"), *rows])
    return read_csv(path, reward="saved=yes")


@pytest.mark.parametrize("required", [(), (("sex", "class"),)])
def test_the_first_class_saves_with_sex_as_its_cause_and_without(required, tmp_path: Path) -> None:
    """Less so if sex is a cause of class: then women in the first class are no part of its effect."""
    table = titanic(tmp_path / "titanic.csv")
    assert table.n_rows == 2201
    settings = EstimateSettings(knowledge=Knowledge(required=required))
    report = estimate_effects(table, settings=settings, not_settable=["sex", "age"], draws=FEW)
    assert report.decision.leader == {"class": "1st"}
    assert report.decision.is_decided
    first = next(arm for arm in report.arms if arm.state == "1st")
    assert first.seen.mean == pytest.approx(203 / 325)
    if required:
        assert first.mean == pytest.approx(0.47, abs=0.03)  # standardised to the sexes of all


def test_both_orders_of_columns_give_the_same_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Path("data/kidney_stones.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    texts = []
    for order in ((0, 1, 2), (1, 0, 2)):
        path = tmp_path / "stones.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([[row[column] for column in order] for row in [head, *rows]])
        assert main(["effects", str(path), "--reward", "success=yes", "--not-settable", "size"]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    assert "It hangs on the edge size — treatment" in texts[0]
    assert "Set treatment" not in texts[0]


def test_the_interval_of_a_seen_arm_is_that_of_its_rows() -> None:
    """Penguins: of Gentoo there are some 120, and how heavy they are is known to a hundred grams."""
    dropped = ["studyName", "Sample Number", "Individual ID", "Comments"]
    table = read_csv("data/penguins.csv", "Body Mass (g)", ignore=dropped, missing="drop", bins=3)
    variable = next(name for name in table.variables if name.startswith("Species"))
    others = [name for name in table.variables if name != variable]
    report = estimate_effects(table, not_settable=others, draws=FEW)
    best = report.arms[0]
    assert best.state.startswith("Gentoo")
    assert best.seen.rows > 110
    rewards = table.rewards[table.codes[:, table.variables.index(variable)] == 2]
    assert best.seen.rows == len(rewards)
    radius = 1.98 * rewards.std(ddof=1) / np.sqrt(len(rewards))
    assert best.seen.interval == pytest.approx((rewards.mean() - radius, rewards.mean() + radius), rel=0.002)
    assert f"{best.seen.rows} rows" in report.to_text()


@pytest.mark.slow
def test_the_same_recommendation_from_any_order_of_rows_and_columns_and_any_seed() -> None:
    """Unless P(best) says that it is close; 20 s."""
    for network, reward in (("asia", "xray=yes"), ("sachs", "Akt=HIGH"), ("asia", "dysp=yes")):
        table = read_csv(f"data/{network}.csv", reward=reward)
        rng = np.random.default_rng(0)
        found = []
        picked = rng.permutation(table.n_rows)[:1000]
        for seed in range(3):
            rows, columns = rng.permutation(picked), rng.permutation(len(table.variables))
            shuffled = replace(
                table,
                codes=np.asfortranarray(table.codes[rows][:, columns]),
                states={table.variables[column]: table.states[table.variables[column]] for column in columns},
                rewards=table.rewards[rows],
            )
            decision = estimate_effects(shuffled, seed=seed).decision
            found.append((decision.leader, decision.p_best))
        same = len({leader for leader, _ in found}) == 1
        assert same or max(p_best for _, p_best in found) < 0.6
