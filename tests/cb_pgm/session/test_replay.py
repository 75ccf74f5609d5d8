"""Replays of logged interventions: rows drawn without replacement, arms as logged, an honest end."""

import csv
import json
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from cb_pgm import Intervention
from cb_pgm.cli.program import main
from cb_pgm.errors import CausalBanditError, SessionError
from cb_pgm.policies.registry import POLICIES
from cb_pgm.session.replay import replay_log
from cb_pgm.session.replay_report import ReplayReport
from cb_pgm.session.setup import Setup
from cb_pgm.session.state import SessionState, ToldRows

REAL = [name for name, kind in POLICIES.items() if not (kind.is_oracle or kind.sets_several)]
ARMS = {("drug", "low"): 60, ("drug", "high"): 150, ("diet", "some"): 80, ("age", "old"): 3}
SACHS = os.environ.get("SACHS_INTERVENTIONAL")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """400 rows of observation and `ARMS`; the reward has mean .9 on the high drug, else .2."""
    rng = np.random.default_rng(11)
    states = {"drug": ("low", "high"), "diet": ("none", "some"), "age": ("young", "old")}
    rows = []
    for (variable, state), size in {("", ""): 400, **ARMS}.items():
        for _ in range(size):
            row = {name: str(rng.choice(values)) for name, values in states.items()}
            if variable:
                row[variable] = state
            chance = 0.9 if row["drug"] == "high" else 0.2
            rows.append({**row, "set": variable, "recovered": "yes" if rng.random() < chance else "no"})
    path = tmp_path_factory.mktemp("log") / "log.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def setup(log: Path, **settings: object) -> Setup:
    given = {"horizon": 10**6, "policy": "ucb", "seed": 1, "reward_gap": 0.5, "effect_gap": 0.5}
    return Setup(data=log, reward="recovered=yes", intervention_column="set", **(given | settings))


def test_a_policy_that_sets_several_variables_is_refused(log: Path) -> None:
    with pytest.raises(SessionError, match="one variable at a time, as logged, but found ucb-plus"):
        replay_log(setup(log, policy="ucb-plus"))


class TestEveryPolicy:
    @pytest.fixture(params=REAL)
    def policy(self, request: pytest.FixtureRequest) -> str:
        return request.param

    def test_asks_only_for_logged_arms_and_draws_each_row_once(
        self, policy: str, log: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        told: Counter[tuple[Intervention, bytes]] = Counter()
        tell = SessionState._tell

        def recorded(trial: SessionState, rows: ToldRows) -> None:
            seen = trial.settings.observations(rows.rows)
            for codes, reward in zip(seen.codes, seen.rewards, strict=True):
                told[rows.intervention, codes.tobytes() + reward.tobytes()] += 1
            tell(trial, rows)

        monkeypatch.setattr(SessionState, "_tell", recorded)
        report = replay_log(setup(log, policy=policy), fewest=1, hold_out=0.5)
        (run,) = report.runs
        assert [arm.intervention for arm in report.arms] == [{name: state} for name, state in sorted_arms()]
        for arm, drawn in zip(report.arms, run.pulled, strict=True):
            assert drawn <= arm.rows
            assert drawn == sum(n for (done, _), n in told.items() if done == arm.intervention)
        assert run.observed == sum(n for (done, _), n in told.items() if not done) <= 200
        assert told

    def test_same_seed_same_replay(self, policy: str, log: Path) -> None:
        first, second = (replay_log(setup(log, policy=policy, seed=4), runs=2).to_dict() for _ in range(2))
        assert first == second


def sorted_arms() -> list[tuple[str, str]]:
    """The arms in variable order, then state order."""
    return [("drug", "high"), ("drug", "low"), ("diet", "some"), ("age", "old")]


def test_finds_the_best_arm_and_ends_when_it_has_no_rows_left(log: Path) -> None:
    """150 rows of the best arm, gap .7: whichever run, UCB is sure of it."""
    report = replay_log(setup(log), runs=5)
    assert report.best.intervention == {"drug": "high"}
    for run in report.runs:
        assert "drug = high" in run.ended
        assert run.pulled[0] == 150
        assert run.status.best_arm.intervention == {"drug": "high"}
        assert run.status.best_arm.mean == pytest.approx(report.arms[0].mean)
        means = np.array([arm.mean for arm in report.arms])
        assert run.regret == pytest.approx((means.max() - means) @ run.pulled)
        assert run.mean > means.mean()


def test_runs_draw_rows_in_different_orders(log: Path) -> None:
    first, second = replay_log(setup(log, horizon=60), runs=2).runs
    assert (first.pulled, first.mean) != (second.pulled, second.mean)


def test_arms_with_few_rows_are_left_out(log: Path) -> None:
    report = replay_log(setup(log))
    assert [arm.intervention for arm in report.left_out] == [{"age": "old"}]
    assert {"age": "old"} not in [arm.intervention for arm in report.arms]
    with pytest.raises(CausalBanditError, match=r"1000 rows but found none .*--fewest-rows"):
        replay_log(setup(log), fewest=1000)


def test_the_horizon_ends_it(log: Path) -> None:
    (run,) = replay_log(setup(log, horizon=40), batch=7).runs
    assert sum(run.pulled) == 40
    assert "40 rows" in run.ended


def test_variables_that_cannot_be_set_are_left_alone(log: Path) -> None:
    report = replay_log(setup(log, not_settable=["drug"]), fewest=1)
    assert {next(iter(arm.intervention)) for arm in report.arms} == {"diet", "age"}


def test_minimize(log: Path) -> None:
    report = replay_log(setup(log, minimize=True))
    assert report.best.mean == min(arm.mean for arm in report.arms)
    assert report.runs[0].regret >= 0


def test_nothing_set_has_no_rows_unless_some_are_held_out(log: Path) -> None:
    """Sequential evidence with marginals of 20 rows must look at do() itself."""
    wanting = {"policy": "cn-ucb-sequential", "effect_gap": 0.3, "reward_gap": 0.3}
    (run,) = replay_log(setup(log, **wanting), hold_out=0.95).runs
    assert run.observed > 0
    assert run.observed <= 380


@pytest.mark.parametrize(
    "wrong", [{"runs": 0}, {"fewest": 0}, {"batch": 0}, {"hold_out": 1.0}, {"hold_out": -0.1}]
)
def test_refuses(log: Path, wrong: dict[str, float]) -> None:
    with pytest.raises(CausalBanditError, match=f"found .*{next(iter(wrong.values()))}"):
        replay_log(setup(log), **wrong)


def test_refuses_a_table_without_interventions(log: Path) -> None:
    with pytest.raises(CausalBanditError, match="--intervention-column"):
        replay_log(Setup(data=log, reward="recovered=yes", horizon=9, ignore=["set"]))


def test_the_command(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["replay", str(log), "--reward", "recovered=yes", "--intervention-column", "set", "--seed", "1"]
    assert main([*command, "--policy", "ucb", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["best_in_log"] == {"drug": "high"}
    assert content["runs"][0]["best_arm"]["intervention"] == {"drug": "high"}
    assert main([*command, "--policy", "ucb"]) == 0
    out = capsys.readouterr().out
    assert "drug = high" in out
    assert main([*command, "--runs", "3"]) == 0
    assert "3 replays" in capsys.readouterr().out
    assert main([*command, "--fewest-rows", "999"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.skipif(SACHS is None, reason="SACHS_INTERVENTIONAL names no file")
class TestSachs:
    """On the protein measurements of Sachs et al. (2005): Erk high, Akt left out, which Erk causes."""

    def replay(self, policy: str) -> ReplayReport:
        return replay_log(
            Setup(
                data=SACHS,
                reward="Erk=3",
                ignore=["Akt"],
                intervention_column="INT",
                policy=policy,
                horizon=10**6,
                seed=1,
            ),
            runs=5,
            fewest=100,
        )

    @pytest.mark.parametrize("policy", ["ucb", "screening", "thompson"])
    def test_inhibiting_pkc_is_found_best(self, policy: str) -> None:
        report = self.replay(policy)
        assert report.observations == 1800
        assert report.best.intervention == {"PKC": "1"}
        for run in report.runs:
            assert run.status.best_arm.intervention == {"PKC": "1"}
            assert run.mean > np.mean([arm.mean for arm in report.arms])

    def test_no_single_protein_explains_erk(self) -> None:
        for run in self.replay("screening").runs:
            assert "no single variable explains the reward" in run.status.fallback
