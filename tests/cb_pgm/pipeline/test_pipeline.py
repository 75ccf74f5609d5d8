"""From a CSV to an outcome in one call: the promised shape, the same numbers every time, misfits refused."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cb_pgm
from cb_pgm import CausalBanditError
from cb_pgm.pipeline import Pipeline
from discovery import EssentialGraph

ASIA = Pipeline("data/asia.csv", "xray=yes", truth="data/asia.bif", horizon=2000, seed=1)


def changed(**settings) -> Pipeline:
    return replace(ASIA, **settings)


def rewritten(path: Path, change) -> Path:
    """Write data/asia.csv to `path`, each row (the header is row 0) passed through `change(number, row)`."""
    with open("data/asia.csv", newline="") as given, path.open("w", newline="") as made:
        writer = csv.writer(made)
        for number, row in enumerate(csv.reader(given)):
            writer.writerow(change(number, row))
    return path


def comparable(report) -> str:
    content = report.to_dict()
    content["graph"]["seconds"] = 0
    return json.dumps(content)


@pytest.fixture(scope="module")
def report():
    return changed(policies=("cn-ucb", "ucb", "thompson"), runs=2).run()


def test_the_object_has_the_promised_shape(report):
    content = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert list(content) == [
        "data",
        "warnings",
        "graph",
        "truth",
        "rehearsal",
        "horizon",
        "seed",
        "effects",
        "recommendation",
        "policies",
    ]
    assert content["effects"] is None  # the truth is known
    assert list(content["recommendation"]) == [
        *("intervention", "grounds", "basis", "mean", "interval", "gain", "gain_interval", "p_best", "next")
    ]
    assert content["data"]["rows"] == 10_000
    assert content["data"]["reward"] == "xray=yes"
    assert "xray" not in content["data"]["variables"]
    assert set(content["graph"]) == {"method", "directed", "undirected", "repairs", "seconds"}
    assert content["rehearsal"] is False
    assert [(row["policy"], row["graph"], row["run"]) for row in content["policies"]] == [
        (policy, graph, run)
        for policy, graph in (
            ("cn-ucb", "estimated"),
            ("cn-ucb", "oracle"),
            ("ucb", "none"),
            ("thompson", "none"),
        )
        for run in (0, 1)
    ]
    for row in content["policies"]:
        assert set(row) == {
            "policy", "graph", "run", "reward_variables", "correct", "interventions_to_find", "regret",
            "best_arm", "fallback", "grounds", "failure_shares", "started_from",
        }  # fmt: skip
        assert row["regret"] >= 0
        assert set(row["best_arm"]) == {"variable", "state", "grounds"}
        assert row["grounds"] in (("identified", "assumed") if row["reward_variables"] else (None,))
        assert row["best_arm"]["grounds"] in ("measured", row["grounds"])
        if row["policy"] != "cn-ucb":
            assert (row["reward_variables"], row["correct"], row["interventions_to_find"]) == ([], None, None)


def test_the_summary_has_a_row_per_entry(report):
    summary = report.summary()
    assert summary["regret"].tolist() == [row["regret"] for row in report.to_dict()["policies"]]
    assert set(summary["policy"]) == {"cn-ucb", "ucb", "thompson"}


def test_the_truth_is_told_as_it_is(report):
    system = cb_pgm.CausalSystem.from_bif("data/asia.bif", reward="xray=yes")
    truth = report.to_dict()["truth"]
    (arm,), mean = system.best_arm()[0].items(), system.best_arm()[1]
    assert truth["reward_parents"] == ["either"]
    assert (truth["best_arm"]["variable"], truth["best_arm"]["state"]) == arm
    assert truth["best_mean"] == pytest.approx(mean)
    assert truth["observational_mean"] == pytest.approx(system.mean_reward({}))
    gaps = truth["reward_gap"], truth["effect_gap"]
    assert gaps == pytest.approx((system.reward_gap(), system.effect_gap()))
    effective = truth["effective_reward_gap"], truth["effective_effect_gap"]
    assert effective == pytest.approx(system.effective_gaps(system.essential_graph()))
    assert 0 <= truth["arrow_f1"] <= 1
    assert 0 <= truth["skeleton_f1"] <= 1


def test_the_oracle_graph_names_the_cause_and_learns_what_it_is_worth(report):
    for played in report.played:
        if played.graph == "oracle":
            assert played.outcome.reward_variables == ("either",)
            assert report.task.correct(played) is True
            assert played.outcome.regret < 300  # always choosing wrong costs 0.87 a round, 2,000 rounds


def test_equal_runs_are_equal(report):
    again = changed(policies=("cn-ucb", "ucb", "thompson"), runs=2).run()
    assert comparable(again) == comparable(report)
    np.testing.assert_array_equal(again.curves().to_numpy(), report.curves().to_numpy())


def test_a_policy_or_a_run_more_changes_no_other_number(report):
    alone = changed(policies=("thompson",), runs=1).run()
    (thompson,) = alone.to_dict()["policies"]
    assert thompson in report.to_dict()["policies"]


def test_a_drawn_seed_is_kept_and_gives_the_run_again_and_another_seed_another_run():
    rehearsal = changed(truth=None, policies=("thompson",), horizon=200, seed=None)
    first = rehearsal.run()
    again = replace(rehearsal, seed=first.task.seed).run()
    other = replace(rehearsal, seed=first.task.seed + 1).run()
    assert comparable(first) == comparable(again)
    assert first.to_dict()["policies"] != other.to_dict()["policies"]


def test_curves_end_at_the_regret_and_grow_towards_it(report):
    curves = report.curves()
    assert list(curves.columns) == ["policy", "graph", "run", "round", "regret"]
    for played in report.played:
        own = curves[
            (curves["policy"] == played.policy)
            & (curves["graph"] == played.graph)
            & (curves["run"] == played.run)
        ]
        assert own["round"].is_monotonic_increasing
        assert own["round"].iloc[-1] == 2000
        assert own["regret"].iloc[-1] == pytest.approx(played.outcome.regret)


def test_the_recommendation_never_rests_on_the_oracle(report):
    found = report.recommendation
    assert found is not None
    assert "oracle" not in found.source
    assert found.interval[0] <= found.mean <= found.interval[1]
    assert found.mean > 0.9
    assert found.is_decided
    assert found.gain_interval[0] > 0
    text = report.to_text()
    assert f"Set {' and '.join(f'{v} = {s}' for v, s in found.leader.items())}." in text
    assert "Next:" in text


def test_the_best_arm_over_all_policies_is_compared(report):
    """Also one of a policy that lost more: the arm with the best lower bound, whoever pulled it."""
    lows = [
        played.outcome.best_arm.low for played in report.played if played.graph != "oracle" and not played.run
    ]
    assert report.recommendation.interval[0] == pytest.approx(max(0, *lows))


def test_nothing_is_set_without_a_gain():
    """After a few rounds no arm's interval lies above do(): that is said, and the JSON has null."""
    report = changed(policies=("ucb",), horizon=12, cold=True).run()
    assert "Undecided" in report.to_text()
    assert "Set " not in report.to_text()
    recommended = report.to_dict()["recommendation"]
    assert recommended["intervention"] is None
    assert recommended["gain_interval"][0] <= 0
    assert recommended["mean"] == pytest.approx(0.11, abs=0.01)  # of doing nothing


# -- the table first -------------------------------------------------------------------------------


def test_the_table_names_the_cause_before_the_first_pull():
    warm, cold = (changed(policies=("screening",), cold=cold).run() for cold in (False, True))
    for report, rows, first in ((warm, 10_000, True), (cold, 0, False)):
        (entry,) = report.to_dict()["policies"]
        assert entry["started_from"] == rows
        assert (entry["interventions_to_find"] == 0) == first
        assert entry["correct"] is True
    assert "learn from 10,000 rows of the table" in warm.to_text()
    assert "--cold" in cold.to_text()


def test_rows_in_which_a_variable_was_set_are_counted_for_their_arms(tmp_path):
    """In a rehearsal as many rows of each intervention are drawn from the model; random ones count as set."""
    rng = np.random.default_rng(2)
    lines = ["arm,state,well,who"]
    for row in range(600):
        arm, state = rng.integers(2), rng.integers(3)
        who = "" if row < 400 else "arm"
        lines.append(f"{arm},{state},{int(rng.random() < 0.3 + 0.4 * arm)},{who}")
    path = tmp_path / "set.csv"
    path.write_text("\n".join(lines))
    settings = {"policies": ("ucb", "screening"), "horizon": 50, "seed": 1, "draws": 3}
    set_rows = Pipeline(path, "well", intervention_column="who", **settings).run()
    assert [played.outcome.started_from for played in set_rows.played] == [200, 600]
    trial = Pipeline(path, "well", ignore=("who",), randomised=("arm",), **settings).run()
    assert [played.outcome.started_from for played in trial.played] == [600, 600]
    assert trial.recommendation.basis == "experimental"
    assert trial.to_dict()["recommendation"]["intervention"] == {"arm": "1"}
    with pytest.raises(CausalBanditError, match="did you mean 'arm'"):
        Pipeline(path, "well", ignore=("who",), randomised=("arms",), **settings).prepare()


# -- a rehearsal -----------------------------------------------------------------------------------


def test_a_rehearsal_recommends_by_what_the_table_says():
    """Nothing of the pulls goes into it: neither the seed nor the policies change it."""
    stones = Pipeline("data/kidney_stones.csv", "success=yes", not_settable=("size",), horizon=200, draws=20)
    reports = [
        replace(stones, seed=seed, policies=policies).run()
        for seed, policies in ((1, ("ucb",)), (2, ("screening", "thompson")))
    ]
    found = [report.to_dict() for report in reports]
    assert found[0]["recommendation"] == found[1]["recommendation"] == found[0]["effects"]["recommendation"]
    assert found[0]["recommendation"]["intervention"] is None
    assert [edge["edge"] for edge in found[0]["effects"]["hangs_on"]] == [["size", "treatment"]]
    text = reports[1].to_text()
    assert "Undecided" in text
    assert "Set " not in text
    assert "It hangs on the edge size — treatment" in text
    assert "rows each" in text


def test_nothing_is_right_or_wrong_in_a_fitted_model():
    report = changed(truth=None, policies=("screening",), draws=3).run()
    assert [entry["correct"] for entry in report.to_dict()["policies"]] == [None]
    assert "right" not in report.to_text().split("Recommendation")[0]
    assert report.to_dict()["policies"][0]["reward_variables"] == ["either"]


@pytest.mark.slow
def test_on_alarm_the_oracle_graph_names_the_cause():
    """One run each, 2,000 rounds, about 5 seconds; δ = .05 for a wrong name, none seen with this seed."""
    settings = {"truth": "data/alarm.bif", "policies": ("cn-ucb",), "horizon": 2000, "seed": 1}
    report = Pipeline("data/alarm.csv", "CVP=NORMAL", **settings).run()
    named = {played.graph: played.outcome.reward_variables for played in report.played}
    assert named["oracle"] == ("LVEDVOLUME",)
    truth = report.to_dict()["truth"]
    assert truth["reward_parents"] == ["LVEDVOLUME"]
    assert truth["effective_effect_gap"] == 1


# -- minimizing ------------------------------------------------------------------------------------


def test_minimizing_a_state_is_maximizing_its_absence():
    lowest = changed(minimize=True).run()
    content = lowest.to_dict()
    system = cb_pgm.CausalSystem.from_bif("data/asia.bif", reward="xray=yes")
    assert content["truth"]["best_mean"] == pytest.approx(min(system.arm_means().values()))
    assert content["truth"]["observational_mean"] == pytest.approx(system.mean_reward({}))
    assert content["truth"]["reward_gap"] == pytest.approx(system.reward_gap())
    found = lowest.recommendation
    assert found is not None
    assert 0 <= found.interval[0] <= found.mean <= found.interval[1] <= 1
    assert found.gain > 0
    assert found.mean < system.mean_reward({})


def test_minimizing_numbers_is_maximizing_their_negatives(tmp_path):
    def table(path, sign):
        rng = np.random.default_rng(0)
        lines = ["a,b,reward"]
        for a, b in rng.integers(0, 2, size=(400, 2)):
            lines.append(f"{a},{b},{sign * (5 + 2 * a + rng.normal()):.6f}")
        path.write_text("\n".join(lines))
        return path

    settings = {"policies": ("ucb", "thompson"), "horizon": 500, "seed": 1, "draws": 10}
    low = Pipeline(table(tmp_path / "low.csv", 1), "reward", minimize=True, **settings).run()
    high = Pipeline(table(tmp_path / "high.csv", -1), "reward", **settings).run()
    for one, other in zip(low.to_dict()["policies"], high.to_dict()["policies"], strict=True):
        assert one.pop("regret") == pytest.approx(other.pop("regret"))
        assert one == other
    assert low.recommendation is not None
    assert high.recommendation is not None
    assert low.recommendation.mean == pytest.approx(-high.recommendation.mean)
    assert low.recommendation.interval[0] == pytest.approx(-high.recommendation.interval[1])
    assert low.recommendation.gain == pytest.approx(high.recommendation.gain)
    assert "minimized" in low.to_text()


# -- graphs ----------------------------------------------------------------------------------------


def test_the_estimated_graph_given_as_a_file_gives_the_same_run(report, tmp_path):
    path = tmp_path / "graph.json"
    path.write_text(report.task.graph.graph.to_json())
    given = changed(policies=("cn-ucb", "ucb", "thompson"), runs=2, graph=path).run().to_dict()
    assert given["policies"] == report.to_dict()["policies"]
    assert given["graph"]["method"] == "given"


def test_the_true_graph_given_in_another_order_is_the_oracles(report, tmp_path):
    truth = report.task.system.essential_graph()
    path = tmp_path / "graph.json"
    path.write_text(EssentialGraph(reversed(truth.nodes), truth.directed, truth.undirected).to_json())
    content = changed(graph=path, policies=("cn-ucb",)).run().to_dict()
    assert content["truth"]["shd"] == 0
    estimated, oracle = content["policies"]
    assert estimated["reward_variables"] == oracle["reward_variables"] == ["either"]


# -- what doesn't fit ------------------------------------------------------------------------------


def test_states_that_no_row_shows_and_constant_columns_are_fine(tmp_path):
    column = Path("data/asia.csv").read_text().splitlines()[0].split(",").index("asia")
    table = rewritten(
        tmp_path / "t.csv",
        lambda n, row: [*row[:column], row[column] if n == 0 else "no", *row[column + 1 :]],
    )
    report = changed(csv=table).run()
    content = report.to_dict()
    assert "asia" in " ".join(content["warnings"])
    assert report.task.graph.graph.adjacent("asia", "tub") is False
    assert [row["reward_variables"] for row in content["policies"] if row["graph"] == "estimated"] == [
        ["either"]
    ]


def test_several_causes_are_said_and_looked_for():
    content = changed(reward="dysp=yes", horizon=100).run().to_dict()
    assert content["truth"]["reward_parents"] == ["bronc", "either"]
    assert any("2 causes" in warning for warning in content["warnings"])


def test_a_budget_that_doesnt_fit_is_said_before_the_first_pull():
    rehearsal = changed(truth=None, policies=("cn-ucb-fixed", "ucb"), horizon=100_000)
    assert not any("horizon" in warning for warning in rehearsal.prepare().warnings)
    doesnt = replace(rehearsal, horizon=100).prepare().warnings
    assert any("horizon of 100" in warning and "cn-ucb-fixed" in warning for warning in doesnt)
    (screened,) = budget_warnings_of(replace(rehearsal, policies=("cn-ucb",), horizon=10))
    assert "screening, on the same rows" in screened
    assert "no cause" not in screened


def budget_warnings_of(rehearsal: Pipeline) -> list[str]:
    return [warning for warning in rehearsal.prepare().warnings if "horizon" in warning]


def test_a_policy_that_is_none_is_refused_with_the_names():
    with pytest.raises(CausalBanditError, match=r"cn-ucb, .*oracle.*'magic'"):
        changed(policies=("magic",)).prepare()


def test_variables_that_cant_be_set_are_never_recommended():
    rehearsal = changed(
        truth=None, not_settable=("either", "lung"), policies=("ucb", "thompson", "screening"), draws=2
    )
    for played in rehearsal.run().played:
        assert not set(played.outcome.best_arm.intervention) & {"either", "lung"}
    with pytest.raises(CausalBanditError, match="'age'"):
        replace(rehearsal, not_settable=("age",)).prepare()


# -- numeric rewards -------------------------------------------------------------------------------


@pytest.fixture
def numeric_table(tmp_path) -> Path:
    rng = np.random.default_rng(4)
    lines = ["a,b,c,sales"]
    for a, b, c in rng.integers(0, 3, size=(600, 3)):
        lines.append(f"{a},{b},{c},{10 + 3 * a + rng.normal():.4f}")
    path = tmp_path / "numeric.csv"
    path.write_text("\n".join(lines))
    return path


def test_a_numeric_reward_is_rehearsed(numeric_table):
    report = Pipeline(numeric_table, "sales", horizon=2000, seed=0, draws=10).run()
    content = report.to_dict()
    assert content["rehearsal"] is True
    assert content["truth"] is None
    assert report.task.system.reward_parents == ("a",)
    found = report.recommendation
    assert found is not None
    assert dict(found.leader) == {"a": "2"}
    assert found.interval[0] < 16 < found.interval[1]  # the true mean at a = 2
    assert found.interval[1] - found.interval[0] < 1  # the rows', not from half the range
    text = report.to_text()
    assert "the residual's standard deviation given a, " in text
    assert "for heavy tails" in text
    assert "(--noise-scale changes it)" in text
    assert "(--reward-range changes that)" in text


def test_the_noise_scale_comes_from_the_residuals_or_as_given(numeric_table):
    ranged = Pipeline(numeric_table, "sales", reward_range=(0, 30), seed=0).prepare()
    width = ranged.unit.width
    assert 1 <= ranged.context.parent_noise_scale * width <= 1.2  # 1, times the factor for heavy tails
    means_from_10_to_16 = pytest.approx(np.hypot(1.1, 3), abs=0.1)
    assert ranged.context.noise_scale * width == means_from_10_to_16
    assert (ranged.scale.low, ranged.scale.high) == pytest.approx((0, 30), abs=1e-9)
    assert ranged.warnings == ()
    given = Pipeline(numeric_table, "sales", noise_scale=0.5, seed=0).prepare()
    assert given.context.noise_scale * given.unit.width == pytest.approx(0.5)
    assert any("0.5 is below" in warning for warning in given.warnings)
    with pytest.raises(CausalBanditError, match="widen the reward range"):
        Pipeline(numeric_table, "sales", reward_range=(0, 12), seed=0).prepare()


def test_a_constant_reward_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,r\n" + "x,y,1\nz,w,1\nx,w,1\n" * 20)
    with pytest.raises(CausalBanditError, match="1 in every row"):
        Pipeline(path, "r").prepare()


# -- hidden variables ----------------------------------------------------------------------------------------


def test_a_hidden_common_cause_leaves_the_oracle_graph_out_and_says_so():
    settings = {"reward": "dysp=yes", "hidden": ("smoke",), "policies": ("cn-ucb", "screening", "oracle")}
    report = changed(**settings, horizon=300).run()
    content = report.to_dict()
    assert [(row["policy"], row["graph"]) for row in content["policies"]] == [
        ("cn-ucb", "estimated"),
        ("screening", "none"),
        ("oracle", "oracle"),
    ]
    assert "smoke" not in content["data"]["variables"]
    assert (content["truth"]["hidden"], content["truth"]["shd"]) == (["smoke"], None)
    said = [
        line for line in content["warnings"] if line.startswith("smoke is hidden and causes lung and bronc")
    ]
    assert len(said) == 1
    assert "hidden: smoke" in report.to_text()
    without = changed(**settings | {"hidden": ("asia",)}, horizon=50).prepare()
    assert [entry.graph for entry in without.entries] == ["estimated", "oracle", "none", "oracle"]
    assert without.graph_scores is not None


def test_hidden_columns_of_the_table_may_be_there_or_not(tmp_path):
    narrow = rewritten(tmp_path / "narrow.csv", lambda _, row: row[:2] + row[3:])
    reports = [
        changed(csv=csv, reward="dysp=yes", hidden=("smoke",), policies=("cn-ucb",), horizon=300).run()
        for csv in ("data/asia.csv", narrow)
    ]
    assert comparable(reports[0]) == comparable(reports[1])


def test_hidden_variables_that_cannot_be_are_refused():
    for settings, message in (
        ({"truth": None, "hidden": ("smoke",)}, "true network in which smoke can be hidden"),
        ({"hidden": ("smok",)}, "did you mean 'smoke'"),
        ({"hidden": ("xray",)}, "hidden but found 'xray'"),
        ({"hidden": ("asia", "tub", "smoke", "lung", "bronc", "either", "dysp")}, "found none: hide fewer"),
        (
            {"hidden": ("smoke",), "not_settable": ("smoke",)},
            "can't be set to be in the table but found 'smoke'",
        ),
        (
            {"hidden": ("asia", "tub", "smoke", "lung", "either"), "policies": ("oracle",)},
            "only oracles are to be played",
        ),
    ):
        with pytest.raises(CausalBanditError, match=message):
            changed(**settings).prepare()


def test_where_nothing_that_can_be_set_moves_the_reward_no_gap_is_named(tmp_path):
    """The reward follows z, which can't be set, and x acts on nothing."""
    rng = np.random.default_rng(0)
    z, x = rng.integers(2, size=(2, 150))
    rows = zip(z, x, (rng.random(150) < 0.2 + 0.6 * z).astype(int), strict=True)
    path = tmp_path / "t.csv"
    path.write_text("z,x,y\n" + "".join(f"z{a},x{b},{c}\n" for a, b, c in rows), encoding="utf-8")
    both = Pipeline(path, "y=1", policies=("moss",), horizon=10, draws=5, seed=1)
    assert "no effect to detect" not in both.run().to_text()
    fixed = replace(both, not_settable=("z",))
    assert (
        "Gaps    no effect to detect: nothing that can be set moves the mean reward of the fitted model"
        in (fixed.run().to_text())
    )


@pytest.mark.parametrize(
    ("csv", "reward", "minimize"),
    [
        ("data/kidney_stones.csv", "success=yes", False),
        ("data/asia.csv", "dysp=yes", True),
        (None, "sales", False),
        (None, "sales", True),
    ],
)
def test_the_model_that_is_played_has_the_parents_and_the_noise_of_the_answer(
    csv, reward, minimize, numeric_table
):
    made = Pipeline(
        csv or numeric_table, reward, policies=("moss",), horizon=10, draws=3, minimize=minimize, seed=0
    )
    report = made.run()
    assert report.effects.scale == report.task.scale
    assert report.effects.scale.parents == tuple(sorted(report.task.system.reward_parents))
