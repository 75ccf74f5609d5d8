"""A session comes back to its last completed verb, whatever happened, and to exactly the same policy."""

import contextlib
import csv
import gc
import io
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cb_pgm import CausalSystem, Observations, Pull, Session, SessionBusyError, SessionError
from cb_pgm.cli.program import main
from cb_pgm.policies.registry import POLICIES
from cb_pgm.session.events import Rows, Told
from cb_pgm.session.log import FILE_NAME

REAL = [name for name, kind in POLICIES.items() if not kind.is_oracle]
QUICK = ("screening", "cn-ucb")
HORIZON, BATCH = 2000, 40
SYSTEM = CausalSystem.from_bif("data/asia.bif", reward="xray=yes")


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Path], Path]:
    """Return a function that puts a session just begun into a folder; each policy's is set up once."""
    folder = tmp_path_factory.mktemp("started")

    def put(policy: str, where: Path) -> Path:
        if not (folder / policy).exists():
            with Session.start(
                folder / policy,
                data="data/asia.csv",
                reward="xray=yes",
                policy=policy,
                method="chow-liu",
                horizon=HORIZON,
                reward_gap=0.5,
                effect_gap=0.5,
                seed=5,
            ):
                pass
        shutil.copytree(folder / policy, where)
        return where

    return put


def world(intervention: dict[str, str], size: int, pull: int) -> list[list[str]]:
    """Return a header and the rows that come of a pull: always the same ones for the same pull."""
    seen = SYSTEM.sample(intervention, size, np.random.default_rng([7, pull]))
    states = list(SYSTEM.states.values())
    rows = [
        [*(values[code] for values, code in zip(states, codes, strict=True)), "yes" if reward else "no"]
        for codes, reward in zip(seen.codes.tolist(), seen.rewards.tolist(), strict=True)
    ]
    return [[*SYSTEM.states, "xray"], *rows]


def mappings(intervention: dict[str, str], size: int, pull: int) -> list[dict[str, str]]:
    header, *rows = world(dict(intervention), size, pull)
    return [dict(zip(header, row, strict=True)) for row in rows]


def shell(*arguments: str) -> dict:
    """Do a verb as the command line does, and return what it printed."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(["session", *arguments, "--json"]) == 0
    return json.loads(printed.getvalue())


def drive(folder: Path, batch: int = BATCH) -> None:
    """Ask and tell until the session is over, going by nothing but what the session says."""
    while pulls := shell("ask", str(folder), "--batch", str(batch))["pulls"]:
        pull, file = pulls[0], folder / "rows.csv"
        with file.open("w", newline="") as opened:
            csv.writer(opened).writerows(world(pull["set"], pull["left"], pull["pull"]))
        shell("tell", str(folder), str(file), "--pull", str(pull["pull"]), "--again")


def driven(folder: Path) -> Path:
    drive(folder)
    return folder


def outcome(folder: Path) -> tuple[dict, list[list[str]]]:
    """Return all that a session knows, and all its rows without the time at which they were told."""
    with Session.open(folder) as session:
        session.export(folder / "out.csv", force=True)
        with (folder / "out.csv").open(newline="") as file:
            rows = list(csv.reader(file))
        place = rows[0].index("told_at")
        return session.status().to_dict(), [[*row[:place], *row[place + 1 :]] for row in rows]


@pytest.mark.parametrize("policy", REAL)
def test_rebuilt_before_every_verb_it_equals_an_uninterrupted_policy(
    policy: str, started: Callable[[str, Path], Path], tmp_path: Path
) -> None:
    folder = started(policy, tmp_path / "trial")
    with Session.open(folder) as session:
        settings, log_ = session.settings, session._log
        with log_.reading():
            earlier = [event for event, _ in log_.events()]
    plain = settings.new_policy()
    for event in earlier:
        plain.warm_start(event.intervention, settings.observations(event.rows))
    told = 0
    for number in range(1, 16):
        pull = plain.ask()
        size = min(max(pull.size, BATCH), HORIZON - told)
        with Session.open(folder) as session:
            (asked,) = session.ask(batch=BATCH)
        assert (asked.number, asked.intervention, asked.left) == (number, pull.intervention, size)
        header, *rows = world(dict(pull.intervention), size, number)
        with Session.open(folder) as session:
            session.tell(mappings(pull.intervention, size, number))
        codes = [
            [settings.states[name].index(row[header.index(name)]) for name in settings.states] for row in rows
        ]
        rewards = [float(row[-1] == "yes") for row in rows]
        seen = Observations(np.array(codes, dtype=np.int16), np.array(rewards))
        plain.tell(Pull(pull.intervention, size), seen)
        told += size
        if told == HORIZON:
            break
    with Session.open(folder) as session:
        status = session.status()
    assert status.told == told
    assert status.reward_variables == plain.reward_variables
    best = max(plain.estimates(), key=lambda arm: arm.low)
    assert (status.best_arm.intervention, status.best_arm.mean) == (best.intervention, best.mean)


@pytest.mark.parametrize(
    "policy",
    [
        name if name in ("screening", "cn-ucb") else pytest.param(name, marks=pytest.mark.slow)
        for name in REAL
    ],
)
def test_any_verbs_in_any_order_rebuilt_or_not(
    policy: str, started: Callable[[str, Path], Path], tmp_path: Path
) -> None:
    """40 verbs at random, up to three pulls open, in parts, withdrawn, excluded: once reopened, once not."""
    reopened, kept = (started(policy, tmp_path / name) for name in ("reopened", "kept"))
    rng = random.Random(policy)
    with Session.open(kept) as session:
        for _ in range(40):
            with Session.open(reopened) as again:
                pending = rng.randint(1, 3)
                pulls = session.ask(batch=12, pending=pending)
                assert again.ask(batch=12, pending=pending) == pulls
                if not pulls:
                    assert session.status().over
                    break
                pull = rng.choice(pulls)
                chance = rng.random()
                for each in (session, again):
                    if chance < 0.15:
                        each.withdraw(pull.number)
                    elif chance < 0.2 and len(pull.intervention) == 1 and len(each.status().excluded) < 3:
                        each.withdraw(pull.number, exclude=True)
                    else:
                        size = pull.left if chance < 0.7 else min(pull.left, 5)
                        rows = mappings(pull.intervention, size, pull.number)
                        each.tell(rows, pull.number, close=chance > 0.9, again=True)
                assert again.status() == session.status()
    assert outcome(reopened) == outcome(kept)


def test_where_nothing_can_be_asked_it_is_noted_once(
    started: Callable[[str, Path], Path], tmp_path: Path
) -> None:
    """A fixed budget: once all arms of its question are under way, the next question depends on them."""
    folder = started("cn-ucb-fixed", tmp_path / "trial")
    with Session.open(folder) as session:
        pulls = session.ask(pending=50)
        assert 1 < len(pulls) < 50
        assert session.status().over is None
        before = (folder / FILE_NAME).read_bytes()
        assert session.ask(pending=50) == pulls
        assert (folder / FILE_NAME).read_bytes() == before
        for pull in pulls:
            session.tell(mappings(pull.intervention, pull.left, pull.number), pull.number)
        assert session.ask()


@pytest.mark.parametrize(
    "policy", [name if name == "screening" else pytest.param(name, marks=pytest.mark.slow) for name in REAL]
)
def test_killed_at_50_random_moments_it_ends_like_the_unbroken_one(
    policy: str, started: Callable[[str, Path], Path], tmp_path: Path
) -> None:
    """2,000 rows in batches of 40, verb by verb through the command line in a forked process, 5 s a policy.

    The process is killed after a random time, on average an 80th of what the whole takes, and begun again;
    when the session is over before 50 kills another one begins.
    """
    unbroken = started(policy, tmp_path / "unbroken")
    begin = time.perf_counter()
    drive(unbroken)
    pause = (time.perf_counter() - begin) / 40
    expected, kills, delays = outcome(unbroken), 0, random.Random(policy)
    for attempt in range(20):
        folder = started(policy, tmp_path / f"broken{attempt}")
        while True:
            child = in_child(lambda folder=folder: drive(folder))
            time.sleep(delays.uniform(0, pause))
            os.kill(child, signal.SIGKILL)
            if not os.WIFSIGNALED(status := os.waitpid(child, 0)[1]):
                assert status == 0
                break
            kills += 1
            if kills == 50:
                drive(folder)
                break
        assert outcome(folder) == expected
        if kills == 50:
            return
    pytest.fail(f"only {kills} kills hit in 20 sessions")


def test_killed_at_every_statement_of_a_verb(started: Callable[[str, Path], Path], tmp_path: Path) -> None:
    """Killed right before the n-th statement that SQLite runs, for all n: ask and tell happen once or not."""
    whole = started("screening", tmp_path / "whole")

    def verbs(session: Session) -> None:
        (pull,) = session.ask(batch=5)
        if pull.number == 1:
            session.tell(mappings(pull.intervention, 5, 1))

    with Session.open(whole) as session:
        verbs(session)
    expected = outcome(whole)
    survived = False
    for statement in range(1, 100):
        folder = started("screening", tmp_path / f"killed{statement}")

        def killed(folder: Path = folder, statement: int = statement) -> None:
            session, seen = Session.open(folder), iter(range(1, statement))
            session._log._connection.set_trace_callback(
                lambda _: next(seen, None) or os.kill(os.getpid(), signal.SIGKILL)
            )
            verbs(session)

        survived = not os.WIFSIGNALED(os.waitpid(in_child(killed), 0)[1])
        with Session.open(folder) as session:
            if session.status().told == 0:
                verbs(session)
        assert outcome(folder) == expected
        if survived:
            break
    assert survived
    assert statement > 8


@pytest.mark.slow
def test_killed_as_a_real_process(started: Callable[[str, Path], Path], tmp_path: Path) -> None:
    """The real program, a process a verb, 25 kills at any time of its life: about a minute.

    The first `tell`, which isn't hit, and each that escapes say how long a life is: it holds on any machine.
    """
    unbroken, broken = (started("screening", tmp_path / name) for name in ("unbroken", "broken"))
    drive(unbroken)
    expected, rng, kills, life = outcome(unbroken), random.Random(3), 0, 0.0
    command = [sys.executable, "-m", "cb_pgm", "session"]
    while True:
        pulls = shell("ask", str(broken), "--batch", str(BATCH))["pulls"]
        if not pulls:
            break
        file = tmp_path / "rows.csv"
        with file.open("w", newline="") as opened:
            csv.writer(opened).writerows(world(pulls[0]["set"], pulls[0]["left"], pulls[0]["pull"]))
        if kills == 25:
            shell("tell", str(broken), str(file))
            continue
        begun = time.monotonic()
        process = subprocess.Popen([*command, "tell", str(broken), str(file)], stdout=subprocess.DEVNULL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(rng.uniform(0, 1.1 * life) if life else None)
            life = time.monotonic() - begun
        process.kill()
        kills += process.wait() == -signal.SIGKILL
    assert kills == 25
    assert outcome(broken) == expected


def test_a_long_session_opens_quickly(tmp_path: Path) -> None:
    """6,000 pulls of one row: opened within a second of CPU, a quarter being usual."""
    states = {"a": ("0", "1"), "b": ("0", "1")}
    with (
        Session.start(
            tmp_path, states=states, reward="r", reward_range=(0, 1), policy="ucb", horizon=6_000, seed=1
        ) as session,
        session._log.writing() as trial,
    ):
        for _ in range(6_000):
            session._log.ask(trial, 1)
            row = Rows(np.zeros((1, 2), dtype=np.int16), np.zeros(1), np.ones(1, dtype=np.bool_))
            session._log.record(trial, Told(next(iter(trial.open)), row, False, ""))
    gc.collect()
    gc.disable()  # a collection goes over all that pytest has loaded
    try:
        begin = time.process_time()
        with Session.open(tmp_path) as session:
            took = time.process_time() - begin
            assert session.status().told == 6_000
    finally:
        gc.enable()
    assert took < 1.0


def test_a_session_of_version_1_goes_on(started: Callable[[str, Path], Path], tmp_path: Path) -> None:
    """It had a hash for each event, and a table of snapshots; looking at it changes nothing."""
    folder = started("screening", tmp_path / "trial")
    with Session.open(folder) as session:
        before = session.status()
    for statement in (
        "ALTER TABLE events RENAME TO without",
        "CREATE TABLE events (number INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, "
        "pull INTEGER, intervention TEXT, size INTEGER, note TEXT, flag INTEGER, codes BLOB, fields BLOB, "
        "complied BLOB, chain BLOB NOT NULL)",
        "INSERT INTO events SELECT *, x'00' FROM without",
        "DROP TABLE without",
        "CREATE TABLE snapshot (number INTEGER, chain BLOB, content BLOB, digest BLOB)",
        "PRAGMA user_version = 1",
    ):
        changed(folder, statement)
    assert Session.open(folder).status() == before
    drive(folder)
    assert outcome(folder) == outcome(driven(started("screening", tmp_path / "new")))


ENDLESS = "WITH RECURSIVE endless(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless)"


@pytest.mark.parametrize(
    "statements",
    [
        [
            "ALTER TABLE settings RENAME TO own",
            f"CREATE VIEW settings AS {ENDLESS} SELECT content FROM own, endless",
        ],
        ["CREATE TRIGGER more AFTER INSERT ON events BEGIN DELETE FROM events; END"],
        ["ALTER TABLE events ADD COLUMN computed AS (hex(zeroblob(400000000)))"],
        ["CREATE INDEX of_events ON events (hex(at))"],
    ],
)
def test_sql_of_others_is_never_run(
    statements: list[str], started: Callable[[str, Path], Path], tmp_path: Path
) -> None:
    folder = started("ucb", tmp_path / "trial")
    for statement in statements:
        changed(folder, statement)
    with pytest.raises(SessionError, match="tables of a session but found others"):
        Session.open(folder)


def test_a_policy_that_answers_otherwise_is_noticed(
    started: Callable[[str, Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = started("ucb", tmp_path / "trial")
    with Session.open(folder) as session:
        session.ask()
    from cb_pgm.policies.index_policies import UCB

    monkeypatch.setattr(UCB, "next_pull", lambda policy: policy._pulls[-1])
    with pytest.raises(SessionError, match="use the versions of cb-pgm and numpy"):
        Session.open(folder)


def test_versions_and_other_files(tmp_path: Path, started: Callable[[str, Path], Path]) -> None:
    folder = started("ucb", tmp_path / "trial")
    changed(folder, "PRAGMA user_version = 4")
    with pytest.raises(SessionError, match="version 3 at most but found 4"):
        Session.open(folder)
    with pytest.raises(SessionError, match="found none in"):
        Session.open(tmp_path)
    for content in (b"not a database, but long enough for one to be looked for in it" * 20, b""):
        other = tmp_path / str(len(content))
        other.mkdir()
        (other / FILE_NAME).write_bytes(content)
        with pytest.raises(SessionError):
            Session.open(other)
    changed(tmp_path / "0", "CREATE TABLE mine (x)")
    with pytest.raises(SessionError, match="found nothing"):
        Session.open(tmp_path / "0")
    changed(tmp_path / "0", "PRAGMA application_id = 5")
    with pytest.raises(SessionError, match="another kind of data"):
        Session.open(tmp_path / "0")


class TestTwoProcesses:
    def test_tells_of_two_pulls_lose_nothing(
        self, started: Callable[[str, Path], Path], tmp_path: Path
    ) -> None:
        """10 rounds of two processes that tell their pull at the same moment."""
        folder = started("ucb", tmp_path / "trial")
        for turn in range(10):
            with Session.open(folder) as session:
                pulls = session.ask(batch=3, pending=2)
            assert len(pulls) == 2
            at_once([lambda pull=pull: tell(folder, pull) for pull in pulls])
            with Session.open(folder) as session:
                assert session.status().told == 6 * (turn + 1)
                assert session.status().open == ()

    def test_only_one_of_two_tells_of_the_same_pull_counts(
        self, started: Callable[[str, Path], Path], tmp_path: Path
    ) -> None:
        folder = started("ucb", tmp_path / "trial")
        for turn in range(10):
            with Session.open(folder) as session:
                (pull,) = session.ask(batch=3)
            codes = at_once([lambda pull=pull: tell(folder, pull)] * 2)
            assert sorted(codes) == [0, 1]
            with Session.open(folder) as session:
                assert session.status().told == 3 * (turn + 1)

    def test_one_that_waits_too_long_is_refused_by_name(
        self, started: Callable[[str, Path], Path], tmp_path: Path
    ) -> None:
        folder = started("ucb", tmp_path / "trial")
        with Session.open(folder, timeout=0.1) as session, contextlib.closing(connected(folder)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(
                SessionBusyError, match=r"session.sqlite to be free but found another process"
            ):
                session.ask()
            other.execute("ROLLBACK")
            assert session.ask()

    def test_each_sees_what_the_other_did(self, started: Callable[[str, Path], Path], tmp_path: Path) -> None:
        folder = started("screening", tmp_path / "trial")
        with Session.open(folder) as one, Session.open(folder) as other:
            for session, listener in [(one, other), (other, one)] * 5:
                (pull,) = session.ask(batch=4)
                assert listener.ask(batch=9) == (pull,)
                rows = mappings(pull.intervention, 4, pull.number)
                listener.tell(rows)
                assert one.status() == other.status()


def tell(folder: Path, pull) -> None:
    with Session.open(folder) as session:
        try:
            session.tell(mappings(pull.intervention, pull.left, pull.number), pull.number)
        except SessionError as error:
            assert "is finished" in str(error)  # noqa: PT017 - in a child
            os._exit(1)


def in_child(work: Callable[[], None]) -> int:
    """Run `work` in a forked process and return its number; it exits with 0, or 9 if something went wrong."""
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    finally:
        os._exit(9)


def at_once(works: list[Callable[[], None]]) -> list[int]:
    """Run all in processes that begin at the same moment, and return their exit codes."""
    gate, start = os.pipe()

    def waiting(work: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            os.close(start)
            os.read(gate, 1)
            work()

        return run

    children = [in_child(waiting(work)) for work in works]
    os.close(gate)
    os.close(start)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def connected(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / FILE_NAME, isolation_level=None)


def changed(folder: Path, statement: str, expect: int | None = None) -> None:
    """Change a session's file behind its back; so many rows must be affected."""
    with contextlib.closing(connected(folder)) as connection:
        affected = connection.execute(statement).rowcount
        assert expect is None or affected == expect
