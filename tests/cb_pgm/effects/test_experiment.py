"""A trial's answer: contrasts of its arms by their own rows."""

import csv
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cb_pgm import EffectsReport, estimate_effects
from cb_pgm.cli import main
from cb_pgm.errors import CausalBanditError
from discovery import DiscreteTable, TableError
from discovery.table.discrete_table import read


def write(path: Path, **columns: object) -> str:
    pd.DataFrame(columns).to_csv(path, index=False)
    return str(path)


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[dict[str, object], str]:
    """Return the JSON and the text of `cb-pgm effects`."""
    assert main(["effects", *arguments, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert main(["effects", *arguments]) == 0
    return content, capsys.readouterr().out


def trial(rates, rows, seed) -> DiscreteTable:
    """Return the rows of an experiment with as many arms as there are rates, all set at random."""
    rng = np.random.default_rng(seed)
    counts = [rows] * len(rates) if isinstance(rows, int) else rows
    arm = np.repeat(np.arange(len(rates)), counts)
    rewards = np.concatenate([(rng.random(n) < p).astype(float) for p, n in zip(rates, counts, strict=True)])
    return DiscreteTable(
        np.asfortranarray(arm[:, None].astype(np.int16)), {"arm": tuple("abcd"[: len(rates)])}, rewards
    )


# -- right values --------------------------------------------------------------------------------------------


def small_trial(path: Path) -> str:
    """28 patients: 10 of 14 cured by the drug, 4 of 14 by the placebo."""
    return write(
        path,
        arm=["drug"] * 14 + ["placebo"] * 14,
        sex=list("fm") * 14,
        cured=["yes"] * 10 + ["no"] * 4 + ["yes"] * 4 + ["no"] * 10,
    )


def test_a_small_trial_is_the_difference_of_its_arms(tmp_path, capsys):
    path = small_trial(tmp_path / "t.csv")
    content, text = answered(capsys, path, "--reward", "cured=yes", "--randomised", "arm")
    (contrast,) = content["contrasts"]
    assert contrast["difference"] == pytest.approx(6 / 14)
    assert contrast["interval"] == pytest.approx([0.0598, 0.6669], abs=1e-4)  # Newcombe's
    assert [contrast[key] for key in ("variable", "state", "against", "basis")] == [
        *("arm", "drug", "placebo", "experimental")
    ]
    assert content["recommendation"]["basis"] == "experimental"
    assert content["recommendation"]["gain"] == pytest.approx(6 / 14)
    assert (
        "Set arm = drug. cured=yes: 0.7143 against 0.2857 under arm = placebo, the control: +0.4286" in text
    )
    assert "graph" not in text


def test_one_treatment_and_one_outcome_are_enough(tmp_path, capsys):
    path = write(tmp_path / "ab.csv", variant=list("AB") * 19, converted=["no", "yes"] * 9 + ["no"] * 20)
    content, text = answered(capsys, path, "--reward", "converted=yes", "--randomised", "variant")
    (contrast,) = content["contrasts"]
    assert contrast["difference"] == pytest.approx(9 / 19)
    assert 0.2 < contrast["interval"][0] < contrast["interval"][1] < 0.7
    assert "Set variant = B" in text


def test_every_row_with_an_arm_and_a_reward_counts(tmp_path, capsys):
    """Twelve rows, one without its reward, others without a covariate, and an identifier."""
    path = write(
        tmp_path / "t.csv",
        id=range(12),
        arm=["new", "old"] * 6,
        age=[None, 31, 40, None, 52, 63, 71, 22, 38, None, 45, 55],
        score=[9, 5, 8, 4, 9.5, 5.5, 8.5, 4.5, 9, 5, None, 4],
    )
    content, text = answered(capsys, path, "--reward", "score", "--randomised", "arm", "--control", "old")
    rows = {arm["state"]: arm["set"]["rows"] for arm in content["arms"]}
    assert rows == {"new": 5, "old": 6}
    assert content["contrasts"][0]["difference"] == pytest.approx(8.8 - 28 / 6)
    assert "Set arm = new" in text
    assert any("1 of 12 rows" in warning for warning in content["warnings"])


def test_a_published_trial_gives_its_published_contrast(capsys):
    """LaLonde's earnings, Dehejia & Wahba's sample: 1,794 dollars."""
    content, _ = answered(capsys, "tests/cb_pgm/effects/nsw.csv", "--reward", "re78", "--randomised", "treat")
    assert content["contrasts"][0]["difference"] == pytest.approx(1794, abs=1)
    assert content["contrasts"][0]["interval"] == pytest.approx([479, 3109], abs=10)


def test_the_control_is_named_so_or_the_most_frequent_or_given():
    rng = np.random.default_rng(0)

    def of(states, control=()):
        code = rng.integers(len(states), size=300)
        code[:60] = 1
        codes = np.asfortranarray(code[:, None].astype(np.int16))
        table = DiscreteTable(codes, {"arm": states}, rng.random(300))
        return estimate_effects(table, randomised=["arm"], control=control).controls["arm"]

    assert of(("Placebo", "x", "y")) == "Placebo"
    assert of(("x", "y", "none")) == "none"
    assert of(("0.0", "1.0", "2.0")) == "0.0"
    assert of(("x", "y", "z")) == "y"
    assert of(("x", "y", "z"), ["z"]) == "z"
    assert of(("x", "y", "z"), ["arm=x"]) == "x"
    with pytest.raises(CausalBanditError, match="choose x, y or z"):
        of(("x", "y", "z"), ["w"])


def test_blocks_are_compared_within(tmp_path, capsys):
    """The treatment is more frequent in the poor block: pooled it looks harmful, within blocks it helps."""
    rows = [("poor", "yes", 3)] * 30 + [("poor", "no", 2)] * 10
    rows += [("rich", "yes", 9)] * 10 + [("rich", "no", 8)] * 30
    rng = np.random.default_rng(0)
    path = write(
        tmp_path / "b.csv",
        block=[row[0] for row in rows],
        help=[row[1] for row in rows],
        grade=[row[2] + rng.normal(0, 0.5) for row in rows],
    )
    arguments = (path, "--reward", "grade", "--randomised", "help")
    pooled, _ = answered(capsys, *arguments)
    within, text = answered(capsys, *arguments, "--block", "block")
    assert pooled["contrasts"][0]["difference"] < -1
    assert within["contrasts"][0]["difference"] == pytest.approx(1, abs=0.4)
    assert within["contrasts"][0]["interval"][0] > 0
    assert "Set help = yes" in text


def test_pairs_are_the_paired_t_test():
    rng = np.random.default_rng(1)
    pairs = 40
    level = rng.normal(0, 5, pairs)
    one, other = level + 1 + rng.normal(0, 1, pairs), level + rng.normal(0, 1, pairs)
    codes = np.column_stack([np.repeat([0, 1], pairs), np.tile(np.arange(pairs), 2)]).astype(np.int16)
    states = {"arm": ("new", "old"), "pair": tuple(map(str, range(pairs)))}
    table = DiscreteTable(np.asfortranarray(codes), states, np.concatenate([one, other]))
    report = estimate_effects(table, randomised=["arm"], block=["pair"], control=["old"])
    difference = one - other
    radius = 2.0227 * difference.std(ddof=1) / np.sqrt(pairs)
    (contrast,) = report.contrasts
    assert contrast.difference == pytest.approx(difference.mean())
    assert contrast.interval == pytest.approx(
        (difference.mean() - radius, difference.mean() + radius), rel=1e-3
    )


def test_blocks_that_lack_an_arm_count_for_the_others(tmp_path, capsys):
    """The best arm leads although it has two rows fewer than the others."""
    rng = np.random.default_rng(3)
    block, arm = np.repeat(np.arange(10), 6), np.tile(["control", "one", "two"], 20)
    kept = ~((block == 3) & (arm == "two"))
    grown = block + 1.0 * (arm == "one") + 2.0 * (arm == "two") + rng.normal(0, 1, 60)
    path = write(tmp_path / "t.csv", block=[f"b{b}" for b in block[kept]], arm=arm[kept], y=grown[kept])
    content, text = answered(capsys, path, "--reward", "y", "--randomised", "arm", "--block", "block")
    assert "Set arm = two" in text
    assert "within blocks" in text
    assert content["recommendation"]["p_best"] > 0.95
    truths = {"one": 1, "two": 2}
    for contrast in content["contrasts"]:
        low, high = contrast["interval"]
        assert low < truths[contrast["state"]] < high
        assert high - low < 2  # the blocks' own differences are out


def test_blocks_without_two_arms_are_said_to_be_left_out(tmp_path, capsys):
    rng = np.random.default_rng(0)
    block = np.repeat(np.arange(8), 10)
    path = write(tmp_path / "t.csv", block=[f"b{b}" for b in block], arm=np.where(block < 4, "a", "b"),
                 y=rng.normal(0, 1, 80))  # fmt: skip
    content, _ = answered(capsys, path, "--reward", "y", "--randomised", "arm", "--block", "block")
    assert "where whole blocks were assigned, the intervals are too short" in content["warnings"][0]


def test_a_log_of_few_rows_answers(tmp_path, capsys):
    """Twelve rows of one variable, in six of which it was set; and four rows an arm of two variables."""
    path = write(tmp_path / "one.csv", set=["drug"] * 6 + [""] * 6, drug=list("aaabbbababab"),
                 well=[1, 1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0])  # fmt: skip
    content, text = answered(capsys, path, "--reward", "well=1", "--intervention-column", "set")
    assert [arm["set"]["rows"] for arm in content["arms"]] == [3, 3]
    assert content["contrasts"][0]["difference"] == pytest.approx(-2 / 3)
    assert "graph" not in text
    path = write(tmp_path / "two.csv", set=["drug"] * 8 + ["diet"] * 8,
                 drug=list("aaaabbbb") + list("ab") * 4, diet=list("xy") * 4 + list("xxxxyyyy"),
                 gain=[*range(8), *range(8)])  # fmt: skip
    content, _ = answered(capsys, path, "--reward", "gain", "--intervention-column", "set")
    assert {one["variable"]: one["difference"] for one in content["contrasts"]} == {"drug": 4, "diet": 4}


def test_an_arm_whose_rewards_are_missing_is_named(tmp_path, capsys):
    rng = np.random.default_rng(0)
    path = write(tmp_path / "t.csv", arm=["a"] * 20 + ["b"] * 20 + ["c"] * 10,
                 y=[*rng.normal(5, 1, 40), *[None] * 10])  # fmt: skip
    content, _ = answered(capsys, path, "--reward", "y", "--randomised", "arm")
    assert any("y is missing in 100% of the rows with arm = c" in line for line in content["warnings"])


# -- constant and separated arms -----------------------------------------------------------------------------


def counts(*arms: tuple[int, int]) -> EffectsReport:
    """Return the answer for arms given as (successes, rows)."""
    rewards = np.concatenate([np.arange(rows) < hits for hits, rows in arms]).astype(float)
    code = np.repeat(np.arange(len(arms)), [rows for _, rows in arms]).astype(np.int16)
    table = DiscreteTable(np.asfortranarray(code[:, None]), {"arm": tuple("abc"[: len(arms)])}, rewards)
    return estimate_effects(table, randomised=["arm"])


def test_an_arm_whose_rewards_are_all_equal_has_an_interval():
    assert not counts((25, 25), (380, 400)).decision.is_decided
    clear = counts((40, 40), (0, 40))
    assert clear.decision.is_decided
    assert clear.contrasts[0].interval[0] < -0.85
    for report in (clear, counts((39, 40), (0, 40)), counts((40, 40), (1, 40))):
        for contrast in report.contrasts:
            assert -1 <= contrast.interval[0] < contrast.interval[1] <= 1


def test_arms_that_all_succeed_are_a_result():
    report = counts((20, 20), (20, 20))
    assert report.contrasts[0].difference == 0
    assert report.contrasts[0].interval == pytest.approx((-0.161, 0.161), abs=1e-3)
    assert not report.decision.is_decided


def test_arms_without_overlap_are_no_reason_to_leave_the_treatment_out(tmp_path, capsys):
    path = write(tmp_path / "t.csv", arm=["new"] * 40 + ["old"] * 40, ok=[1] * 40 + [0] * 40)
    content, text = answered(capsys, path, "--reward", "ok=1", "--randomised", "arm", "--control", "old")
    assert "Set arm = new. ok=1: 1 against 0 under arm = old" in text
    assert not content["warnings"]


@pytest.mark.parametrize("rows", [10, 25, 60])
def test_equal_arms_are_rarely_told_apart(rows):
    """Also where one of them shows the same reward in all rows."""
    tables, delta, wrong = 400, 0.05, 0
    for seed in range(tables):
        table = trial([0.97, 0.97], [rows, 400], seed)
        if np.ptp(table.rewards):
            wrong += estimate_effects(table, randomised=["arm"]).decision.is_decided
    assert wrong <= tables * delta + 3 * np.sqrt(tables * delta * (1 - delta))


def test_intervals_of_contrasts_rarely_miss():
    """2 to 4 arms of 10 to 500 rows, rewards of 0 and 1 at any rate and skewed ones; 6 % in the whole."""
    rng = np.random.default_rng(11)
    missed = total = wrong = 0
    tables = 500
    for number in range(tables):
        k = int(rng.integers(2, 5))
        sizes = np.exp(rng.uniform(np.log(10), np.log(500), k)).astype(int)
        if number % 2:
            means = np.exp(rng.normal(0, 0.5, k))
            parts = [mean * rng.exponential(1, n) for mean, n in zip(means, sizes, strict=True)]
        else:
            means = rng.uniform(0.01, 0.99, k)
            parts = [(rng.random(n) < mean).astype(float) for mean, n in zip(means, sizes, strict=True)]
        rewards = np.concatenate(parts)
        if np.ptp(rewards) == 0:
            continue
        code = np.repeat(np.arange(k), sizes).astype(np.int16)
        table = DiscreteTable(np.asfortranarray(code[:, None]), {"arm": tuple("abcd"[:k])}, rewards)
        report = estimate_effects(table, randomised=["arm"])
        place = {state: means["abcd".index(state)] for state in "abcd"[:k]}
        for contrast in report.contrasts:
            truth = place[contrast.state] - place[contrast.against]
            missed += not contrast.interval[0] <= truth <= contrast.interval[1]
            total += 1
        if report.decision.is_decided:
            wrong += place[report.decision.leader["arm"]] < max(place.values())
    assert missed <= 0.06 * total + 2 * np.sqrt(0.06 * total)
    assert wrong <= 0.05 * tables


# -- in time, and what is said -------------------------------------------------------------------------------


def test_the_answer_of_a_trial_comes_at_once(tmp_path):
    path = small_trial(tmp_path / "t.csv")
    command = [sys.executable, "-c", "import sys; from cb_pgm.cli import main; code = main(sys.argv[1:]); "
               "assert not {'pgmpy', 'causallearn'} & set(sys.modules); sys.exit(code)"]  # fmt: skip
    began = time.process_time()
    subprocess.run(
        [*command, "effects", path, "--reward", "cured=yes", "--randomised", "arm"], check=True, timeout=60
    )
    assert time.process_time() - began < 2


def test_columns_of_a_trial_that_are_not_there_are_named(tmp_path):
    path = small_trial(tmp_path / "t.csv")
    with pytest.raises(TableError, match="did you mean 'arm'"):
        read(path, "cured=yes", trial=["amr"])


def test_graphs_are_drawn_beside_a_trial_if_asked(tmp_path, capsys):
    path = small_trial(tmp_path / "t.csv")
    arguments = (path, "--reward", "cured=yes", "--randomised", "arm", "--graphs", "--draws", "4")
    content, text = answered(capsys, *arguments)
    assert content["recommendation"]["basis"] == "experimental"
    assert {arm["variable"] for arm in content["arms"]} == {"arm", "sex"}
    assert "Set arm = drug" in text
    assert "If nothing hidden acts on both" in text


def test_differences_too_small_to_be_worth_it_are_not_chased():
    report = counts((5000, 10_000), (5005, 10_000))
    (advice,) = report.decision.next
    assert "the smallest worth having (--worth)" in advice
    assert "can't be said" in counts((3, 5), (2, 5)).decision.next[0]


def test_the_rows_advised_are_those_for_the_rewards_standard_deviation():
    """Whatever their tails: 16 (σ/d)² an arm for power .8, here for a tenth of the standard deviation."""
    rng = np.random.default_rng(0)
    rewards = rng.lognormal(9, 1.3, 600)
    codes = np.asfortranarray(np.repeat([0, 1], 300).astype(np.int16)[:, None])
    report = estimate_effects(DiscreteTable(codes, {"arm": ("a", "b")}, rewards), randomised=["arm"])
    assert " 1,5" in report.decision.next[0] or " 1,6" in report.decision.next[0]


def test_rows_of_a_file_count_in_any_order(tmp_path, capsys):
    path = Path(small_trial(tmp_path / "t.csv"))
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    np.random.default_rng(0).shuffle(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    content, _ = answered(capsys, str(path), "--reward", "cured=yes", "--randomised", "arm")
    assert content["contrasts"][0]["difference"] == pytest.approx(6 / 14)


def test_a_log_of_many_arms_answers_and_numbers_without_repeats_are_cut(tmp_path, capsys):
    """Fifteen versions in 120 rows; and 160 doses in 160 rows, of which none can be compared."""
    rng = np.random.default_rng(9)
    version = rng.choice(15, 120)
    path = write(tmp_path / "log.csv", set=["version"] * 120, version=[f"v{v}" for v in version],
                 click=(rng.random(120) < 0.4).astype(int))  # fmt: skip
    content, _ = answered(capsys, path, "--reward", "click", "--intervention-column", "set")
    assert sum(arm["set"]["rows"] for arm in content["arms"]) == 120
    dose = rng.uniform(0, 10, 160)
    path = write(tmp_path / "dose.csv", dose=dose, y=dose + rng.normal(0, 3, 160))
    arguments = ["effects", path, "--reward", "y", "--randomised", "dose"]
    assert main(arguments) == 1
    assert "two values for three rows" in (said := capsys.readouterr().err)
    assert "--bins 3" in said
    assert main([*arguments, "--bins", "3"]) == 0


def test_arms_without_any_variance_have_intervals_with_width():
    rewards = np.repeat([3.0, 4.0, 5.5], 20)
    codes = np.asfortranarray(np.repeat([0, 1, 2], 20).astype(np.int16)[:, None])
    report = estimate_effects(DiscreteTable(codes, {"arm": ("a", "b", "c")}, rewards), randomised=["arm"])
    for interval in [one.interval for one in report.contrasts] + [arm.bounds for arm in report.arms]:
        assert interval[1] - interval[0] > 0.1
    assert report.decision.is_decided
