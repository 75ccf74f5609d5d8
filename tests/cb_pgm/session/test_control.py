"""A control that is measured whatever the policy prefers, settings that change, and how the arms compare."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from cb_pgm import Session, SessionError
from cb_pgm.cli.program import main
from cb_pgm.policies.registry import POLICIES
from cb_pgm.session.state import OpenPull

STATES = {
    "drug": ("low", "high"),
    "diet": ("none", "some", "strict"),
    "age": ("young", "old"),
    "recovered": ("no", "yes"),
}
PLAYABLE = [name for name, kind in POLICIES.items() if not (kind.is_oracle or kind.needs_graph)]


def start(folder: Path, **settings: object) -> Session:
    given = {"states": STATES, "reward": "recovered=yes", "horizon": 300, "seed": 1, "not_settable": ["age"]}
    return Session.start(folder, **(given | settings))


def rows_of(pull: OpenPull, rng: np.random.Generator) -> list[dict[str, str]]:
    rows = []
    for _ in range(pull.left):
        row = {name: str(rng.choice(states)) for name, states in STATES.items()} | dict(pull.intervention)
        row["recovered"] = "yes" if rng.random() < (0.8 if row["drug"] == "high" else 0.3) else "no"
        rows.append(row)
    return rows


def play(session: Session, batch: int = 1, most: int = 10**6) -> list[OpenPull]:
    rng, done = np.random.default_rng(5), []
    while len(done) < most and (pulls := session.ask(batch=batch)):
        done.append(pulls[0])
        session.tell(rows_of(pulls[0], rng))
    return done


@pytest.mark.parametrize("policy", PLAYABLE)
def test_every_policy_gives_the_control_its_share(tmp_path: Path, policy: str) -> None:
    gaps = {"reward_gap": 0.3, "effect_gap": 0.3}
    with start(tmp_path, policy=policy, control="drug=low", horizon=600, **gaps) as session:
        pulls = play(session, batch=5)
        rows = sum(pull.size for pull in pulls if pull.intervention == {"drug": "low"})
        assert rows >= 60
        assert session.status().told == 600


@pytest.mark.parametrize(("batch", "share"), [(1, 0.1), (25, 0.1), (25, 0.3), (7, 0.5)])
def test_the_control_has_no_more_than_its_share_if_the_policy_avoids_it(
    tmp_path: Path, batch: int, share: float
) -> None:
    with start(tmp_path, policy="ucb", control="drug=low", control_share=share) as session:
        pulls = play(session, batch)
    reserved = [pull for pull in pulls if pull.why.startswith("the control")]
    assert 0 < sum(pull.size for pull in reserved) <= np.ceil(share * 300)
    rows = sum(pull.size for pull in pulls if pull.intervention == {"drug": "low"})
    assert rows >= np.ceil(share * 300) - batch


def test_the_gain_over_the_control_has_its_interval(tmp_path: Path) -> None:
    with start(tmp_path, control="do()", horizon=2000) as session:
        play(session, batch=10)
        status = session.status()
    gain = status.comparison.gain
    assert gain is not None
    assert status.best_arm.intervention == {"drug": "high"}
    assert gain.against == {}
    assert 0 < gain.low < 0.25 < gain.high  # .8 against (.8 + .3) / 2
    assert 0 < status.comparison.p_best <= 1
    told = status.to_dict()
    assert told["gain"]["against"] == {}
    assert told["second_best"]["intervention"] != told["best_arm"]["intervention"]
    assert json.dumps(told["irregularities"]) == "[]"
    text = status.to_text()
    assert "over no intervention" in text
    assert "P(best)" in text


def test_a_session_without_a_control_says_if_the_gain_is_unknown(tmp_path: Path) -> None:
    with start(tmp_path, policy="ucb") as session:
        play(session, batch=10, most=2)
        assert "unknown: no control was named" in session.status().to_text()


def test_minimizing_a_gain_is_positive(tmp_path: Path) -> None:
    with start(tmp_path, control="do()", minimize=True) as session:
        play(session, batch=10)
        gain = session.status().comparison.gain
    assert gain is not None
    assert gain.gain > 0


@pytest.mark.parametrize(
    ("control", "message"),
    [("age=old", "as the control"), ("drug", "drug=low"), ("drug=huge", "drug = huge"), ("x=1", "x = 1")],
)
def test_a_control_that_cannot_be_set_is_refused(tmp_path: Path, control: str, message: str) -> None:
    with pytest.raises(SessionError, match=message):
        start(tmp_path, control=control)


def test_an_excluded_control_is_not_asked_for(tmp_path: Path) -> None:
    with start(tmp_path, control="drug=low", policy="ucb") as session:
        while (pull := session.ask(batch=10)[0]).intervention != {"drug": "low"}:
            session.tell(rows_of(pull, np.random.default_rng(1)))
        session.withdraw(exclude=True)
        assert all(pull.intervention != {"drug": "low"} for pull in play(session, batch=10))


def test_rows_that_did_not_comply_are_no_rows_of_the_control(tmp_path: Path) -> None:
    with start(tmp_path, control="do()") as session:
        (pull,) = session.ask(batch=10)
        wrong = [row | {"drug": "low", "diet": "none"} for row in rows_of(pull, np.random.default_rng(1))]
        session.tell(wrong, allow_noncompliance=True)
        assert session.status().best_arm is None


def test_the_horizon_moves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with start(tmp_path / "s", horizon=20, policy="ucb") as session:
        play(session, batch=10)
        assert session.status().over
    assert main(["session", "extend", str(tmp_path / "s"), "--horizon", "50"]) == 0
    assert "20 of 50 rows recorded" in capsys.readouterr().out
    with Session.open(tmp_path / "s") as session:
        assert sum(pull.size for pull in play(session, batch=10)) == 30
        with pytest.raises(SessionError, match="at least 50 rows"):
            session.extend(40)


NUMERIC = {"drug": ("low", "high"), "diet": ("none", "some")}


class TestRewardRange:
    def start(self, folder: Path) -> Session:
        return Session.start(folder, states=NUMERIC, reward="y", reward_range=(0.0, 1.0), horizon=90, seed=1)

    def tell(self, session: Session, reward: float) -> None:
        (pull,) = session.ask()
        session.tell([{"drug": "low", "diet": "none"} | dict(pull.intervention) | {"y": reward}])

    def test_it_changes_and_all_rows_are_kept(self, tmp_path: Path) -> None:
        with self.start(tmp_path / "s") as session:
            self.tell(session, 0.7)
            with pytest.raises(SessionError, match="from 0 to 1"):
                self.tell(session, 3.0)
            session.set(reward_range=(0, 5))
            self.tell(session, 3.0)
            assert session.settings.noise_scale == 2.5
            before = session.status().to_text()
            with pytest.raises(SessionError, match=r"0\.7 to 3"):
                session.set(reward_range=(0, 2))
        with Session.open(tmp_path / "s") as session:
            assert session.status().to_text() == before
            self.tell(session, 5.0)

    def test_by_the_command_line(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.start(tmp_path / "s").close()
        assert main(["session", "set", str(tmp_path / "s"), "--reward-range", "-1", "3"]) == 0
        assert "between -1 and 3; the noise scale is 2" in capsys.readouterr().out

    def test_rewards_of_a_state_have_none(self, tmp_path: Path) -> None:
        with start(tmp_path) as session, pytest.raises(SessionError, match="numeric reward"):
            session.set(reward_range=(0, 2))


@pytest.mark.parametrize("text", ["", "NA"])
def test_a_missing_reward_is_left_out_until_it_is_known(tmp_path: Path, text: str) -> None:
    with start(tmp_path) as session:
        (pull,) = session.ask(batch=2)
        first, second = rows_of(pull, np.random.default_rng(1))
        with pytest.raises(SessionError, match="leave the row out until its reward is known"):
            session.tell([first, second | {"recovered": text}])
        assert session.tell([first]).left == 1
        assert session.tell([second]).left == 0


def test_rows_sorted_by_reward_rule_out_no_cause(tmp_path: Path) -> None:
    rng, found = np.random.default_rng(3), []
    for seed in range(5):
        with start(tmp_path / f"s{seed}", seed=seed, horizon=1000) as session:
            while pulls := session.ask(batch=50):
                rows = sorted(rows_of(pulls[0], rng), key=lambda row: row["recovered"])
                path = tmp_path / "rows.csv"
                with path.open("w", newline="") as file:
                    writer = csv.DictWriter(file, rows[0])
                    writer.writeheader()
                    writer.writerows(rows)
                session.tell(path, again=True)
            status = session.status()
            found.append("drug" in (status.ruled_out or ()) or bool(status.irregularities))
    assert not any(found)


class TestExport:
    def test_comes_back_with_no_flags(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        with start(tmp_path / "s", control="do()", minimize=True, unit="patients", policy="ucb") as session:
            play(session, batch=10, most=20)
            session.export(tmp_path / "rows.csv")
        lines = (tmp_path / "rows.csv").read_text().splitlines()
        (tmp_path / "rows.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
        export = str(tmp_path / "rows.csv")
        assert main(["session", "start", str(tmp_path / "t"), "--data", export, "--horizon", "99"]) == 0
        assert "to lower recovered=yes in 99 patients" in capsys.readouterr().out
        with Session.open(tmp_path / "t") as again:
            can_set = {name: set(states) for name, states in again.settings.settable.items()}
            assert can_set == {name: set(STATES[name]) for name in ("drug", "diet")}  # also those never set
            assert again.settings.minimize
        for command in ("replay", "effects"):
            assert main([command, export]) == 0
        assert "lowest mean of recovered=yes" in capsys.readouterr().out

    def test_keeps_the_range_and_states_that_nature_produced(self, tmp_path: Path) -> None:
        with Session.start(
            tmp_path / "s", states=NUMERIC, reward="y", reward_range=(0, 9), horizon=90, seed=1
        ) as session:
            session.add_state("drug", "none")
            rng = np.random.default_rng(1)
            for _ in range(30):
                (pull,) = session.ask()
                row = {name: str(rng.choice(states)) for name, states in NUMERIC.items()}
                session.tell([row | dict(pull.intervention) | {"y": float(rng.integers(3))}])
            session.export(tmp_path / "rows.csv")
        with Session.start(tmp_path / "t", data=tmp_path / "rows.csv", horizon=90, seed=1) as again:
            assert again.settings.reward.limits == (0, 9)
            assert again.settings.states["drug"] == ("high", "low", "none")
            assert set(again.settings.settable["drug"]) == {"low", "high"}

    def test_damaged_settings_are_refused(self, tmp_path: Path) -> None:
        with start(tmp_path / "s", policy="ucb") as session:
            play(session, batch=10, most=3)
            session.export(tmp_path / "rows.csv")
        text = (tmp_path / "rows.csv").read_text().replace('""minimize"": false', '""minimize"": 7')
        (tmp_path / "rows.csv").write_text(text)
        with pytest.raises(SessionError, match="true or false at minimize"):
            Session.start(tmp_path / "t", data=tmp_path / "rows.csv", horizon=9)
