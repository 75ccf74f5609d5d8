"""What a person can do in a session: ask, tell in parts and late, withdraw, stop, see where it stands."""

import csv
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from cb_pgm import Intervention, PolicyError, Session, SessionError
from cb_pgm.cli.program import main
from cb_pgm.policies.registry import POLICIES
from cb_pgm.session.state import OpenPull
from cb_pgm.session.status import Status
from discovery import read_csv

STATES = {
    "drug": ("low", "high"),
    "diet": ("none", "some", "strict"),
    "age": ("young", "old"),
    "recovered": ("no", "yes"),
}
Row = dict[str, str]


def start(folder: Path, **settings: object) -> Session:
    given = {"states": STATES, "reward": "recovered=yes", "policy": "ucb", "horizon": 60, "seed": 1}
    return Session.start(folder, **(given | settings))


def rows_of(pull: OpenPull, size: int | None = None, seed: int = 0) -> list[Row]:
    """Rows in which those on the high drug recover with probability .9, others with .2."""
    rng = np.random.default_rng([seed, pull.number])
    rows = []
    for _ in range(pull.left if size is None else size):
        row = {name: str(rng.choice(states)) for name, states in STATES.items()} | dict(pull.intervention)
        row["recovered"] = "yes" if rng.random() < (0.9 if row["drug"] == "high" else 0.2) else "no"
        rows.append(row)
    return rows


def play(session: Session, batch: int = 10) -> Status:
    while pulls := session.ask(batch=batch):
        session.tell(rows_of(pulls[0]), again=True)
    return session.status()


def as_csv(path: Path, rows: Sequence[Row]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


class TestAsk:
    def test_is_the_same_until_told(self, tmp_path: Path) -> None:
        with start(tmp_path) as session:
            (first,) = session.ask(batch=5)
            assert session.ask(batch=9) == (first,)
            assert first.left == 5
            session.tell(rows_of(first))
            (second,) = session.ask()
            assert second.number == 2
            assert second.intervention != first.intervention

    def test_asks_for_no_more_rows_than_the_horizon(self, tmp_path: Path) -> None:
        with start(tmp_path, horizon=23) as session:
            sizes = []
            while pulls := session.ask(batch=10):
                sizes.append(pulls[0].left)
                session.tell(rows_of(pulls[0]), again=True)
            assert sizes == [10, 10, 3]
            assert "all 23 rows" in session.status().over

    def test_open_pulls_use_up_the_horizon(self, tmp_path: Path) -> None:
        with start(tmp_path, horizon=23) as session:
            assert [pull.left for pull in session.ask(batch=10, pending=5)] == [10, 10, 3]
            assert session.status().over is None

    def test_gives_a_reason(self, tmp_path: Path) -> None:
        with start(tmp_path) as session:
            (pull,) = session.ask(batch=7)
            assert "not pulled yet" in pull.why

    def test_large_pulls_of_the_policy_are_asked_for_as_they_are(self, tmp_path: Path) -> None:
        settings = {"policy": "raps", "reward_gap": 0.5, "effect_gap": 0.5, "horizon": 10_000}
        with start(tmp_path, **settings) as session:
            assert session.ask(batch=5)[0].left > 100

    @pytest.mark.parametrize("wrong", [{"batch": 0}, {"pending": 0}])
    def test_refuses_less_than_one(self, tmp_path: Path, wrong: dict[str, int]) -> None:
        with start(tmp_path) as session, pytest.raises(SessionError, match="at least 1"):
            session.ask(**wrong)


class TestTell:
    def test_in_parts(self, tmp_path: Path) -> None:
        with start(tmp_path) as session:
            (pull,) = session.ask(batch=10)
            receipt = session.tell(rows_of(pull, 4))
            assert (receipt.rows, receipt.left) == (4, 6)
            (rest,) = session.ask(batch=10)
            assert (rest.number, rest.size, rest.left) == (1, 10, 6)
            assert session.tell(rows_of(rest)).left == 0
            assert session.ask()[0].number == 2

    def test_in_parts_that_close(self, tmp_path: Path) -> None:
        with start(tmp_path) as session:
            (pull,) = session.ask(batch=10)
            session.tell(rows_of(pull, 4), close=True)
            (following,) = session.ask(batch=10)
            assert following.number == 2
            assert session.status().told == 4

    def test_in_any_order_and_late(self, tmp_path: Path) -> None:
        with start(tmp_path) as session:
            pulls = session.ask(batch=4, pending=3)
            for pull in reversed(pulls):
                session.tell(rows_of(pull), pull.number)
                assert pull.number not in [still.number for still in session.status().open]
            assert session.status().told == 12

    def test_which_pull_must_be_said_where_several_are_open(self, tmp_path: Path) -> None:
        with start(tmp_path) as session:
            pulls = session.ask(batch=4, pending=2)
            with pytest.raises(SessionError, match=r"found none given; 1\b.*\b2 are open"):
                session.tell(rows_of(pulls[0]))

    def test_twice_is_refused(self, tmp_path: Path) -> None:
        with start(tmp_path) as session:
            (pull,) = session.ask(batch=4)
            session.tell(rows_of(pull))
            with pytest.raises(SessionError, match="pull 1 is finished; none is open: ask first"):
                session.tell(rows_of(pull), 1)
            with pytest.raises(SessionError, match="pull 9 was never asked for"):
                session.tell(rows_of(pull), 9)

    def test_the_same_part_twice_is_refused_unless_it_is_another(self, tmp_path: Path) -> None:
        with start(tmp_path / "trial") as session:
            (pull,) = session.ask(batch=4)
            part = as_csv(tmp_path / "rows.csv", rows_of(pull, 1))
            session.tell(part)
            with pytest.raises(SessionError, match=r"already: add --again"):
                session.tell(part)
            assert session.tell(part, again=True).left == 2

    def test_other_columns_and_any_order_of_columns(self, tmp_path: Path) -> None:
        with start(tmp_path / "trial") as session:
            (pull,) = session.ask(batch=3)
            rows = [
                {"patient": str(number), **dict(reversed(row.items()))}
                for number, row in enumerate(rows_of(pull))
            ]
            assert session.tell(as_csv(tmp_path / "rows.csv", rows)).rows == 3

    def test_numbers_fall_into_the_intervals_of_a_binned_table(self, tmp_path: Path) -> None:
        states = {"dose": ("below 2", "2 to 3.5", "3.5 and above"), "diet": ("none", "some")}
        with start(tmp_path, states=states, reward="gain", reward_range=(-5, 5)) as session:
            seen = []
            for value in ("-1e3", "2", "3.49", "3.5", "2 to 3.5"):
                (pull,) = session.ask(batch=1)
                if "dose" in pull.intervention:
                    value = pull.intervention["dose"]
                session.tell([{"dose": value, "diet": pull.intervention.get("diet", "none"), "gain": 1}])
                seen.append(value)
            session.export(tmp_path / "out.csv")
            told = [row["dose"] for row in csv.DictReader((tmp_path / "out.csv").open(newline=""))]
        names = {"-1e3": "below 2", "2": "2 to 3.5", "3.49": "2 to 3.5", "3.5": "3.5 and above"}
        assert told == [names.get(value, value) for value in seen]
        assert set(seen) & set(names)


class TestNoncompliance:
    def rows(self, pull: OpenPull) -> list[Row]:
        ((variable, state),) = pull.intervention.items()
        other = next(each for each in STATES[variable] if each != state)
        rows = rows_of(pull)
        rows[0][variable] = other
        return rows

    def test_is_refused_by_default(self, tmp_path: Path) -> None:
        with start(tmp_path, policy="screening") as session:
            (pull,) = session.ask(batch=6)
            (variable,) = pull.intervention
            with pytest.raises(SessionError, match=rf"row 1, column '{variable}'.*--allow-noncompliance"):
                session.tell(self.rows(pull))

    def test_is_refused_by_name_for_a_policy_that_cannot_use_it(self, tmp_path: Path) -> None:
        with start(tmp_path, policy="ucb") as session:
            (pull,) = session.ask(batch=6)
            with pytest.raises(SessionError, match="screening can, but found ucb"):
                session.tell(self.rows(pull), allow_noncompliance=True)

    def test_counts_for_screening_and_not_for_the_arm(self, tmp_path: Path) -> None:
        with start(tmp_path, policy="screening") as session:
            (pull,) = session.ask(batch=6)
            rows = self.rows(pull)
            receipt = session.tell(rows, allow_noncompliance=True)
            assert (receipt.rows, receipt.noncompliant, receipt.left) == (6, 1, 0)
            status = session.status()
            with session._log.reading() as trial:
                tested = trial.policy.hypotheses.rows.size
        assert (status.told, status.best_arm.rows) == (6, 5)
        assert status.best_arm.mean == np.mean([row["recovered"] == "yes" for row in rows[1:]])
        assert tested == 6


class TestWithdraw:
    def test_goes_on_without_the_rows(self, tmp_path: Path) -> None:
        with start(tmp_path) as session:
            (pull,) = session.ask(batch=5)
            session.withdraw(reason="ill")
            assert session.status().open == ()
            (again,) = session.ask(batch=5)
            assert (again.number, again.intervention) == (2, pull.intervention)
            assert session.status().told == 0

    def test_of_a_rest(self, tmp_path: Path) -> None:
        with start(tmp_path) as session:
            (pull,) = session.ask(batch=5)
            session.tell(rows_of(pull, 2))
            assert session.withdraw().left == 3
            assert session.status().told == 2

    @pytest.mark.parametrize("policy", ["ucb", "screening", "thompson"])
    def test_excluded_arms_are_not_asked_for_again(self, tmp_path: Path, policy: str) -> None:
        with start(tmp_path, policy=policy) as session:
            (first,) = session.ask(batch=4)
            session.tell(rows_of(first))
            (second,) = session.ask(batch=4)
            session.withdraw(exclude=True)
            before = session.status()
            assert before.excluded == (second.intervention,)
            assert before.told == 4
            while pulls := session.ask(batch=4):
                assert pulls[0].intervention != second.intervention
                session.tell(rows_of(pulls[0]), again=True)
            after = session.status()
        with Session.open(tmp_path) as session:
            assert session.status() == after

    def test_the_last_arm_is_not_excluded(self, tmp_path: Path) -> None:
        states = {"drug": ("low", "high"), "recovered": ("no", "yes")}
        with start(tmp_path, states=states) as session:
            session.ask()
            session.withdraw(exclude=True)
            session.ask()
            with pytest.raises(SessionError, match="the last one"):
                session.withdraw(exclude=True)


class TestStop:
    def test_ends_when_the_best_arm_is_certain(self, tmp_path: Path) -> None:
        """Two arms of means .2 and .9, and do() of .2: their intervals part long before 5,000 rows."""
        states = {"drug": ("low", "high"), "recovered": ("no", "yes")}
        with start(tmp_path, states=states, stop="best-arm", within=0.0, horizon=5000) as session:
            while pulls := session.ask(batch=10):
                rng = np.random.default_rng(pulls[0].number)
                drug = pulls[0].intervention.get("drug", "low")
                chance = 0.9 if drug == "high" else 0.2
                answers = ["yes" if rng.random() < chance else "no" for _ in range(pulls[0].left)]
                session.tell([{"drug": drug, "recovered": answer} for answer in answers], again=True)
            status = session.status()
        assert "drug = high" in status.over
        assert status.certain
        assert status.told < 1000
        assert status.best_arm.intervention == {"drug": "high"}
        assert status.best_arm.low <= 0.9 <= status.best_arm.high

    def test_open_pulls_may_still_be_told(self, tmp_path: Path) -> None:
        def row(pull: OpenPull) -> Row:
            drug = pull.intervention.get("drug", "low")
            return {"drug": drug, "recovered": "yes" if drug == "high" else "no"}

        states = {"drug": ("low", "high"), "recovered": ("no", "yes")}
        with start(tmp_path, states=states, stop="best-arm", horizon=5000) as session:
            last = None
            while session.status().over is None:
                pulls = session.ask(batch=40, pending=2)
                session.tell([row(pulls[0])] * pulls[0].left, pulls[0].number, again=True)
                last = pulls[1:]
            assert session.ask(pending=2) == last
            (pull,) = last
            session.tell([row(pull)] * pull.left, again=True)
            assert session.ask() == ()

    def test_is_never_certain_of_an_arm_that_was_not_done(self, tmp_path: Path) -> None:
        """On asia's table screening names `either` at once and its means part by the observations alone."""
        with Session.start(
            tmp_path, data="data/asia.csv", reward="xray=yes", horizon=50, stop="best-arm", seed=1
        ) as session:
            assert session.status().reward_variables == ("either",)
            assert session.status().over is None
            assert session.ask()

    def test_unknown_way(self, tmp_path: Path) -> None:
        with pytest.raises(SessionError, match="horizon or best-arm but found 'soon'"):
            start(tmp_path, stop="soon")


class TestStart:
    def test_minimize_turns_everything_back_for_the_person(self, tmp_path: Path) -> None:
        with start(tmp_path, minimize=True, horizon=600) as session:
            status = play(session)
        assert status.best_arm.mean < 0.35
        assert status.best_arm.low <= status.best_arm.mean <= status.best_arm.high
        assert status.best_arm.intervention == {"drug": "low"}

    def test_variables_that_cannot_be_set_are_never_asked_for(self, tmp_path: Path) -> None:
        with start(tmp_path, not_settable=["age", "drug"]) as session:
            while pulls := session.ask(batch=3):
                assert set(pulls[0].intervention) <= {"diet"}
                session.tell(rows_of(pulls[0]), again=True)

    def test_states_from_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "states.toml"
        file.write_text(
            'reward = "recovered=yes"\n[states]\n'
            'drug = ["low", "high"]\nrecovered = ["no", "yes"]\ndose = [1, 2]\n'
        )
        with Session.start(tmp_path / "trial", states=file, policy="screening", horizon=9) as session:
            assert session.settings.states == {"drug": ("low", "high"), "dose": ("1", "2")}
            assert session.settings.reward.states == ("no", "yes")

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"states": None}, "found neither"),
            ({"data": "data/asia.csv"}, "found both"),
            ({"policy": "cn-ucb"}, "Expected observations for cn-ucb"),
            ({"policy": "oracle"}, "found oracle"),
            ({"policy": "best"}, "found 'best'"),
            ({"reward": "recovered=maybe"}, "to hold 'maybe' but found no and yes"),
            ({"reward": "recovered"}, "recovered=STATE"),
            ({"reward": "weight"}, "--reward-range or --noise-scale"),
            ({"reward": None}, "Expected a reward"),
            ({"reward": "weight", "reward_range": (3, 1)}, "from low to high"),
            ({"horizon": 0}, "at least 1 row"),
            ({"failure_prob": 1.0}, "between 0 and 1"),
            ({"not_settable": ["sex"]}, "found 'sex'"),
            ({"states": {"drug": ["low"]}}, "at least two different states"),
            ({"states": {"drug": ["low", "low"]}}, "at least two different states"),
            ({"states": {}}, "found none"),
        ],
    )
    def test_refuses(self, tmp_path: Path, settings: dict[str, object], message: str) -> None:
        with pytest.raises((SessionError, PolicyError, ValueError), match=message):
            start(tmp_path / "trial", **settings)
        assert not (tmp_path / "trial").exists()

    def test_a_folder_holds_one_session(self, tmp_path: Path) -> None:
        start(tmp_path).close()
        before = (tmp_path / "session.sqlite").read_bytes()
        with pytest.raises(SessionError, match="found a session"):
            start(tmp_path)
        assert (tmp_path / "session.sqlite").read_bytes() == before

    def test_what_a_killed_start_left_does_not_count(self, tmp_path: Path) -> None:
        (tmp_path / "session.sqlite").touch()
        start(tmp_path).close()
        with Session.open(tmp_path) as session:
            assert session.ask()


class TestTable:
    """Starting from 400 rows of observation and 90 of earlier interventions."""

    @pytest.fixture
    def table(self, tmp_path: Path) -> Path:
        rng = np.random.default_rng(3)
        rows = []
        for number in range(490):
            row = {name: str(rng.choice(states)) for name, states in STATES.items()}
            row["set"] = ""
            if number >= 400:
                row["set"] = "drug" if number < 460 else "diet"
            row["recovered"] = "yes" if rng.random() < (0.9 if row["drug"] == "high" else 0.2) else "no"
            rows.append(row)
        return as_csv(tmp_path / "table.csv", rows)

    @pytest.mark.parametrize("policy", ["screening", "ucb", "thompson", "cn-ucb"])
    def test_earlier_interventions_warm_start_the_arms(
        self, table: Path, tmp_path: Path, policy: str
    ) -> None:
        read = read_csv(table, "recovered=yes", intervention_column="set")
        done = read.interventional
        drug, high = list(done.states).index("drug"), done.states["drug"].index("high")
        mine = done.rewards[(done.targets == drug) & (done.codes[:, drug] == high)]
        with Session.start(
            tmp_path / "trial",
            data=table,
            reward="recovered=yes",
            policy=policy,
            horizon=50,
            intervention_column="set",
            seed=1,
        ) as session:
            status = session.status()
            with session._log.reading() as trial:
                means = {arm: (rows, mean) for arm, rows, mean in trial.policy.means()}
        assert status.earlier == 90 + (400 if policy in ("screening", "cn-ucb") else 0)
        if policy in ("screening", "cn-ucb") and status.reward_variables:
            assert means[Intervention({"drug": "high"})][0] >= len(mine)
        else:
            assert means[Intervention({"drug": "high"})] == (len(mine), pytest.approx(mine.mean()))

    def test_observations_rule_out_variables_for_screening(self, table: Path, tmp_path: Path) -> None:
        common = {"data": table, "reward": "recovered=yes", "ignore": ["set"], "horizon": 50, "seed": 1}
        with Session.start(tmp_path / "warm", **common) as session:
            assert session.status().ruled_out == ("diet", "age")
        with Session.start(tmp_path / "cold", cold=True, **common) as session:
            assert session.status().ruled_out == ()
            assert session.status().earlier == 0

    def test_a_given_graph_is_used(self, table: Path, tmp_path: Path) -> None:
        graph = tmp_path / "graph.json"
        graph.write_text(
            json.dumps({"nodes": ["drug", "diet", "age"], "directed": [], "undirected": [["drug", "age"]]})
        )
        with Session.start(
            tmp_path / "trial",
            data=table,
            reward="recovered=yes",
            ignore=["set"],
            policy="cn-ucb",
            graph=graph,
            horizon=10,
        ) as session:
            assert session.settings.graph.undirected == (("drug", "age"),)

    def test_numeric_rewards_outside_of_the_range_are_refused(self, table: Path, tmp_path: Path) -> None:
        rows = list(csv.DictReader(table.open(newline="")))
        for number, row in enumerate(rows):
            row["gain"] = str(number % 7)
        as_csv(table, rows)
        common = {"data": table, "reward": "gain", "ignore": ["set"], "horizon": 10}
        with pytest.raises(SessionError, match="from 0 to 5 but found them from 0 to 6"):
            Session.start(tmp_path / "trial", reward_range=(0, 5), **common)
        with Session.start(tmp_path / "trial", reward_range=(0, 8), **common) as session:
            assert session.settings.noise_scale == 4.0
            (pull,) = session.ask()
            row = {name: values[0] for name, values in session.settings.states.items()}
            with pytest.raises(SessionError, match="a reward from 0 to 8"):
                session.tell([row | dict(pull.intervention) | {"gain": 9}])


def test_the_best_arm_is_found_and_said(tmp_path: Path) -> None:
    """500 rows in batches of 10 with a gap of .7: dozens of standard errors."""
    with start(tmp_path, policy="screening", horizon=500) as session:
        status = play(session)
    assert status.reward_variables == ("drug",)
    assert status.ruled_out == ("diet", "age")
    assert status.left == (("drug",),)
    assert status.best_arm.intervention == {"drug": "high"}
    text = status.to_text()
    for part in (
        "500 of 500 rows",
        "diet and age",
        "drug = high: mean",
        f"{status.best_arm.mean:.4g}",
        "Over",
    ):
        assert part in text


def test_export_can_be_read_as_a_table_with_interventions(tmp_path: Path) -> None:
    with start(tmp_path / "trial", horizon=120) as session:
        told: list[Row] = []
        while pulls := session.ask(batch=8):
            told += rows_of(pulls[0])
            session.tell(rows_of(pulls[0]), again=True)
        assert session.export(tmp_path / "out.csv") == 120
        with pytest.raises(SessionError, match="Expected a new file"):
            session.export(tmp_path / "out.csv")
        session.export(tmp_path / "out.csv", force=True)
    rows = list(csv.DictReader((tmp_path / "out.csv").open(newline="")))
    assert [{name: row[name] for name in STATES} for row in rows] == told
    set_rows = [row for row in rows if row["set"]]
    assert all(row["asked"] == f"{row['set']} = {row[row['set']]}" for row in set_rows)
    assert {row["asked"] for row in rows if not row["set"]} == {"nothing"}


def test_a_variable_may_be_called_like_a_column_of_the_export(tmp_path: Path) -> None:
    with start(tmp_path / "trial", states={"pull": ("0", "1"), "recovered": ("no", "yes")}) as session:
        (pull,) = session.ask()
        session.tell([{**pull.intervention, "recovered": "no"}])
        session.export(tmp_path / "out.csv")
    (row,) = csv.DictReader((tmp_path / "out.csv").open(newline=""))
    assert (row["pull_"], row["pull"], row["set"]) == ("1", pull.intervention["pull"], "pull")


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def run(*arguments: object) -> tuple[int, str, str]:
        code = main(["session", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_the_verbs_of_the_shell(tmp_path: Path, shell: Callable[..., tuple[int, str, str]]) -> None:
    toml = tmp_path / "states.toml"
    lines = [f"{name} = {json.dumps(list(states))}" for name, states in STATES.items()]
    toml.write_text("\n".join(['reward = "recovered=yes"', "[states]", *lines]))
    trial = tmp_path / "trial"
    options = ("--states", toml, "--horizon", 40, "--unit", "patients", "--not-settable", "age", "--seed", 1)
    code, out, err = shell("start", trial, *options)
    assert (code, err) == (0, "")
    assert f"cb-pgm session ask {trial}" in out
    code, out, _ = shell("ask", trial, "--batch", 8)
    asked = re.match(r"→ set (\S+ = \S+) .*8 patients\n.*why: ", out)
    assert asked is not None
    assert shell("ask", trial)[1] == out
    with Session.open(trial) as session:
        (pull,) = session.ask()
    code, out, _ = shell("tell", trial, as_csv(tmp_path / "rows.csv", rows_of(pull, 3)))
    assert re.search(r"3 patients of pull 1.* 5 ", out)
    assert re.search(rf"→ .*{asked[1]} .*5 patients.*\bof 8\b", shell("ask", trial)[1])
    assert re.search(r"pull 1\b.*\b5 rows", shell("withdraw", trial, "--reason", "ill")[1])
    code, out, _ = shell("status", trial)
    assert re.search(r"screening.*recovered=yes.*\b3 of 40 patients", out)
    code, out, _ = shell("export", trial, "--out", tmp_path / "out.csv")
    assert "Wrote 3 rows" in out


@pytest.mark.parametrize("verb", ["ask", "tell", "withdraw", "status", "export"])
def test_every_verb_prints_one_json_object(
    tmp_path: Path, shell: Callable[..., tuple[int, str, str]], verb: str
) -> None:
    trial = tmp_path / "trial"
    with start(trial) as session:
        (pull,) = session.ask(batch=4)
    more = {
        "tell": [as_csv(tmp_path / "rows.csv", rows_of(pull, 2))],
        "export": ["--out", tmp_path / "out.csv"],
    }
    code, out, _ = shell(verb, trial, *more.get(verb, []), "--json")
    assert code == 0
    assert isinstance(json.loads(out), dict)


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", "DIR", "--batch", "0"),
        ("ask", "DIR", "--pending", "some"),
        ("start", "DIR"),
        ("start", "DIR", "--states", "x.toml", "--data", "x.csv", "--horizon", "5"),
        ("start", "DIR", "--data", "x.csv", "--horizon", "5", "--policy", "oracle"),
        ("export", "DIR"),
        ("sing", "DIR"),
        (),
    ],
)
def test_wrong_usage_exits_with_2(arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["session", *arguments])
    assert stopped.value.code == 2


class TestOtherVersions:
    """A later version may choose other arms; a session that an earlier one started goes on all the same."""

    @staticmethod
    def played(folder: Path) -> None:
        with start(folder) as session:
            for _ in range(20):
                session.tell(rows_of(session.ask()[0]), again=True)

    def test_a_session_of_another_version_goes_on_from_its_rows(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("cb_pgm.session.setup.VERSION", "0.0.1")
        self.played(tmp_path)
        monkeypatch.setitem(POLICIES, "ucb", POLICIES["thompson"])
        with Session.open(tmp_path) as session:
            assert session.status().told == 20
            session.tell(rows_of(session.ask()[0]), again=True)
            assert session.status().told == 21

    def test_one_of_this_version_must_ask_for_the_same_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.played(tmp_path)
        monkeypatch.setitem(POLICIES, "ucb", POLICIES["thompson"])
        with pytest.raises(SessionError, match="as recorded"):
            Session.open(tmp_path)


def test_rewards_outside_of_the_tables_range_are_refused_by_default(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = tmp_path / "table.csv"
    lines = [f"{a},{b},{1 + (a + b + c) % 4}" for a, b, c in rng.integers(0, 2, (200, 3))]
    table.write_text("\n".join(["A,B,sales", *lines]))
    common = {"data": table, "reward": "sales", "horizon": 50, "seed": 0}
    beyond = {"A": "0", "B": "0", "sales": "300"}
    with Session.start(tmp_path / "observed", **common) as session:
        (pull,) = session.ask()
        with pytest.raises(SessionError, match=r"from 1 to 4.*300"):
            session.tell([beyond | dict(pull.intervention)])
        assert session.status().told == 0
    for name, setting in (("range", {"reward_range": (0, 500)}), ("noise", {"noise_scale": 20.0})):
        with Session.start(tmp_path / name, **common, **setting) as session:
            (pull,) = session.ask()
            assert session.tell([beyond | dict(pull.intervention)]).rows == 1
