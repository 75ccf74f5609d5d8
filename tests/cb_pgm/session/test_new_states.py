"""States that a session didn't begin with: merged ones, numbers written otherwise, new and unknown ones."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cb_pgm import Intervention, Session, SessionError, estimate_effects, read_table
from cb_pgm.cli.program import main
from cb_pgm.model.intervention import Observations
from cb_pgm.policies.posterior import ScreeningUCB
from cb_pgm.session.events import Earlier, Event
from cb_pgm.session.replay import replay_log
from cb_pgm.session.setup import Setup
from cb_pgm.session.state import SessionState
from discovery import read_csv

STATES = {"drug": ("low", "high"), "site": ("1", "2"), "recovered": ("no", "yes")}


def start(folder: Path, policy: str, **settings: object) -> Session:
    given = {"states": STATES, "reward": "recovered=yes", "horizon": 200, "seed": 1}
    return Session.start(folder, policy=policy, **(given | settings))


def played(session: Session, rows: int, seed: int = 0) -> None:
    """Play rows in which the high drug helps."""
    rng = np.random.default_rng(seed)
    done = 0
    while done < rows and (pulls := session.ask(batch=10)):
        (pull,) = pulls
        told = []
        for _ in range(pull.left):
            row = {"drug": str(rng.choice(STATES["drug"])), "site": str(rng.choice(STATES["site"]))}
            row |= dict(pull.intervention)
            row["recovered"] = "yes" if rng.random() < (0.9 if row["drug"] == "high" else 0.2) else "no"
            told.append(row)
        done += session.tell(told, again=True).rows


def write(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def rare(tmp_path: Path) -> Path:
    """A table with two rare colours, which --merge-rare 10 merges into "other"."""
    colours = ["red"] * 40 + ["blue"] * 40 + ["green"] * 3 + ["7"] * 4
    rows = [
        {"colour": colour, "size": "10"[i % 2], "win": "ny"[(i * i + i // 5) % 2]}
        for i, colour in enumerate(colours)
    ]
    return write(tmp_path / "rare.csv", rows)


class TestTell:
    def test_a_merged_state_means_the_one_it_was_merged_into(self, tmp_path: Path, rare: Path) -> None:
        with Session.start(
            tmp_path / "s", data=rare, reward="win=y", merge_rare=10, policy="ucb", horizon=50, seed=1
        ) as session:
            (pull,) = session.ask(batch=4)
            told = dict(pull.intervention)
            rows = [
                {"colour": colour, "size": size, "win": "y"} | told
                for colour, size in (("green", "1"), ("7.0", "1.0"), ("other", "0"), ("red", "0"))
            ]
            assert session.tell(rows).rows == 4
            session.export(tmp_path / "rows.csv")
        exported = list(csv.DictReader((tmp_path / "rows.csv").open()))
        for row, colour, size in zip(exported, ("other", "other", "other", "red"), "1100", strict=True):
            assert (told.get("colour", colour), told.get("size", size)) == (row["colour"], row["size"])

    @pytest.mark.parametrize("policy", ["screening", "moss"])
    def test_a_state_of_nature_can_be_added(self, tmp_path: Path, policy: str) -> None:
        with start(tmp_path, policy) as session:
            played(session, 40)
            (pull,) = session.ask(batch=5)
            row = {"drug": "low", "site": "3", "recovered": "no"} | dict(pull.intervention)
            if "site" not in pull.intervention:
                with pytest.raises(SessionError, match=r"'3'.*add-state"):
                    session.tell([row])
            before = session.status()
            session.add_state("site", "3")
            after = session.status()
            assert (after.told, after.open, after.best_arm) == (before.told, before.open, before.best_arm)
            session.tell([{**row, "site": pull.intervention.get("site", "3")}])
        with Session.open(tmp_path) as session:
            assert session.settings.states["site"] == ("1", "2", "3")
            assert "3" not in session.settings.settable["site"]
            assert session.status().told == before.told + 1
            played(session, 200)
            assert session.status().over is not None

    @pytest.mark.parametrize(("variable", "state"), [("sit", "3"), ("site", "2"), ("site", " ")])
    def test_only_a_new_state_of_a_variable_is_added(self, tmp_path: Path, variable: str, state: str) -> None:
        with start(tmp_path, "ucb") as session, pytest.raises(SessionError, match="Expected a"):
            session.add_state(variable, state)

    def test_unknown_fields_are_taken_by_policies_that_can_do_without(self, tmp_path: Path) -> None:
        for policy, ok in (("moss", True), ("screening", True), ("raps", False)):
            with start(tmp_path / policy, policy, reward_gap=0.1, effect_gap=0.1) as session:
                (pull,) = session.ask(batch=3)
                rows = [{"drug": "", "site": "9", "recovered": "yes"} | dict(pull.intervention)]
                if ok:
                    with pytest.raises(SessionError, match="allow-unknown"):
                        session.tell(rows)
                    session.tell(rows, allow_unknown=True)
                    ((name, _),) = pull.intervention.items()
                    with pytest.raises(SessionError, match=name):
                        session.tell([{**rows[0], name: ""}], allow_unknown=True)
                    session.export(tmp_path / policy / "rows.csv")
                    (row,) = csv.DictReader((tmp_path / policy / "rows.csv").open())
                    assert [row[other] for other in ("drug", "site") if other != name] == [""]
                else:
                    with pytest.raises(SessionError, match="Expected a policy that can use rows"):
                        session.tell(rows, allow_unknown=True)


def test_screening_counts_a_row_with_an_unknown_field_for_its_arm_only(tmp_path: Path) -> None:
    """Of 60 rows every third lacks the site: the arms have all rewards, the test has the other rows."""
    with start(tmp_path / "unknown", "screening") as session:
        told = 0
        while told < 60:
            (pull,) = session.ask(batch=3)
            rows = []
            for _ in range(pull.left):
                row = {"drug": "low", "site": "1", "recovered": "yes"} | dict(pull.intervention)
                if told % 3 == 0 and "site" not in pull.intervention:
                    row["site"] = ""
                rows.append(row)
                told += 1
            session.tell(rows, allow_unknown=True, again=True)
        status = session.status()
    with Session.open(tmp_path / "unknown") as session:
        assert session.status() == status
        session.add_state("site", "3")  # a new policy learns from all rows again
        assert session.status().told == status.told
        assert session.status().best_arm == status.best_arm


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_screening_names_the_cause_from_the_rows_that_are_complete(share: float) -> None:
    rng = np.random.default_rng(0)
    states = {"drug": ("low", "high"), "site": ("1", "2")}
    policy = ScreeningUCB(states, noise_scale=0.5, explore="identify").fresh(rng)
    complete = 0
    for _ in range(600):
        pull = policy.ask()
        codes = rng.integers(2, size=(1, 2)).astype(np.int16)
        for place, (name, states) in enumerate(policy.states.items()):
            if name in pull.intervention:
                codes[0, place] = states.index(pull.intervention[name])
        rewards = (rng.random(1) < (0.9 if codes[0, 0] else 0.2)).astype(float)
        if rng.random() < share:
            policy.tell_rewards(pull.intervention, rewards)
        else:
            complete += 1
            policy.tell(pull, Observations(codes, rewards))
    assert policy.reward_variables == ("drug",)
    assert sum(rows for _, rows, _ in policy.means()) == 600


def test_ask_says_that_another_pull_is_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start(tmp_path, "ucb").close()
    assert main(["session", "ask", str(tmp_path), "--batch", "3"]) == 0
    assert "already" not in capsys.readouterr().out
    assert main(["session", "ask", str(tmp_path), "--batch", "25"]) == 0
    assert (
        "Pull 1 with 3 rows to come was open already: --batch 25 holds for new pulls"
        in capsys.readouterr().out
    )


class TestExport:
    @pytest.fixture
    def export(self, tmp_path: Path) -> Path:
        with start(tmp_path / "first", "screening") as session:
            played(session, 200)
            session.export(tmp_path / "export.csv")
        return tmp_path / "export.csv"

    def test_is_read_as_the_log_that_it_is(self, export: Path) -> None:
        table = read_table(export, "recovered=yes")
        assert set(table.variables) == {"drug", "site"}
        assert table.interventional is not None
        assert len(table.interventional) + table.n_rows == 200
        assert not any("told_at" in warning and "date" in warning for warning in table.warnings)

    def test_is_replayed_and_starts_another_session(self, export: Path, tmp_path: Path) -> None:
        setup = Setup(data=export, reward="recovered=yes", horizon=100, seed=1)
        report = replay_log(setup, ["moss", "screening"], fewest=5, runs=3)
        assert list(report.to_frame()["policy"]) == ["moss"] * 3 + ["screening"] * 3
        assert "moss, screening" in report.to_text().replace(" and ", ", ")
        alone = replay_log(setup, ["screening"], fewest=5, runs=3)
        assert report.by_policy()["screening"] == list(alone.runs)
        with Session.start(
            tmp_path / "second", data=export, reward="recovered=yes", horizon=50, policy="moss", seed=1
        ) as session:
            assert session.status().earlier > 0
            best = session.status().best_arm
            assert best is not None
            assert best.intervention == Intervention({"drug": "high"})

    def test_is_studied(self, export: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["effects", str(export), "--reward", "recovered=yes"]) == 0
        text = capsys.readouterr().out
        assert "in which a variable was set" in text
        assert "drug = high looks best" in text or "Set drug = high" in text
        assert "Basis: experimental;" in text

    def test_rows_of_other_interventions_than_asked_for_are_left_out(self, export: Path) -> None:
        lines = export.read_text().splitlines()
        fields = lines[1].split(",")
        lines[1] = ",".join([*fields[:2], "", *fields[3:]])
        export.write_text("\n".join(lines))
        table = read_table(export, "recovered=yes")
        assert any("1 rows with another intervention" in warning for warning in table.warnings)


class TestALogWithoutUntouchedRows:
    @pytest.fixture
    def log(self, tmp_path: Path) -> Path:
        rng = np.random.default_rng(3)
        rows = []
        for name in ("a", "b"):
            for state in "01":
                for _ in range(60):
                    row = {"a": str(rng.integers(2)), "b": str(rng.integers(2)), name: state}
                    rows.append(
                        row | {"INT": name, "y": "01"[int(rng.random() < 0.2 + 0.6 * (row["a"] == "1"))]}
                    )
        return write(tmp_path / "log.csv", rows)

    @pytest.mark.parametrize("policy", ["screening", "moss", "thompson"])
    def test_is_replayed_and_starts_a_session(self, log: Path, tmp_path: Path, policy: str) -> None:
        setup = Setup(data=log, reward="y=1", intervention_column="INT", horizon=10**6, policy=policy, seed=1)
        report = replay_log(setup)
        assert report.observations == 0
        assert report.best.intervention == Intervention({"a": "1"})
        with Session.start(
            tmp_path / "s",
            data=log,
            reward="y=1",
            intervention_column="INT",
            horizon=9,
            policy=policy,
            seed=1,
        ) as session:
            assert session.status().earlier == 240

    def test_a_policy_on_a_graph_is_refused_with_what_to_do(self, log: Path) -> None:
        setup = Setup(data=log, reward="y=1", intervention_column="INT", horizon=9, policy="cn-ucb")
        with pytest.raises(Exception, match=r"at least 20 rows in which nothing was set.*screening"):
            replay_log(setup)


def test_the_rows_held_out_are_drawn_at_random_by_the_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were they the last ones, a log sorted by the reward would leave only rewards of 0 to learn from."""
    rows = [{"a": "01"[i % 2], "b": "01"[i // 2 % 2], "INT": "", "y": "0"} for i in range(100)]
    rows += [{**row, "y": "1"} for row in rows]
    rows += [{"a": "1", "b": "0", "INT": "a", "y": "01"[i % 2]} for i in range(40)]
    log = write(tmp_path / "log.csv", rows)
    learned: list[float] = []
    apply = SessionState.apply

    def spied(self: SessionState, event: Event, **how: bool) -> None:
        if isinstance(event, Earlier):
            learned.append(float(event.rows.fields.mean()))
        apply(self, event, **how)

    monkeypatch.setattr(SessionState, "apply", spied)
    setup = Setup(
        data=log, reward="y=1", intervention_column="INT", horizon=10**6, policy="screening", seed=1
    )
    assert replay_log(setup, hold_out=0.5) == replay_log(setup, hold_out=0.5)
    replay_log(replace(setup, seed=2), hold_out=0.5)
    assert learned[0] == learned[1] != learned[2]
    assert all(0.3 < mean < 0.7 for mean in learned)


@pytest.mark.parametrize("reward", ["y", "y=1"])
def test_a_missing_reward_is_dropped_with_its_row(tmp_path: Path, reward: str) -> None:
    rows = [
        {"a": "01"[i % 2], "b": "01"[i // 3 % 2], "y": "NA" if i < 10 else "01"[i // 2 % 2]}
        for i in range(60)
    ]
    table = read_csv(write(tmp_path / "t.csv", rows), reward, missing="drop")
    assert table.n_rows == 50
    assert any("10 of 60 rows were left out for missing values" in warning for warning in table.warnings)
    assert estimate_effects(table, draws=5).rows == 50
