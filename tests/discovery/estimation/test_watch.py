"""A search that has to end early returns a valid graph, the best so far, and says so."""

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from graphs import random_dag, rows_from

from discovery.errors import EstimationError
from discovery.estimation.contingency import Contingency
from discovery.estimation.counted_scores import BDeu
from discovery.estimation.edge_confidence import edge_confidence
from discovery.estimation.estimation import estimate
from discovery.estimation.interventional import RegimeCounts
from discovery.estimation.score_search import ScoreSearch
from discovery.estimation.scores import class_score
from discovery.estimation.settings import EstimateSettings
from discovery.estimation.watch import SearchStopped, Watch
from discovery.table.discrete_table import DiscreteTable

SCORED = ("ges-boss", "ges", "boss")


class EndsAfter(Watch):
    """Ends the search at its tick of this number."""

    def __init__(self, ticks):
        super().__init__()
        self.left = ticks

    def tick(self, text=""):
        self.left -= 1
        if self.left < 0:
            self._reason = "this test"
        super().tick(text)


@pytest.fixture(scope="module")
def codes():
    rng = np.random.default_rng(0)
    return rows_from(random_dag(range(14), 0.3, rng), 2, 1000, rng).astype(np.int16)


@pytest.fixture
def interrupts():
    """Python's own answer to Ctrl-C; a program that was started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def table_of(codes):
    return DiscreteTable(codes, {f"v{i}": ("0", "1") for i in range(codes.shape[1])})


@pytest.mark.parametrize("method", SCORED)
def test_wherever_a_search_ends_its_graph_is_valid_and_no_longer_search_is_worse(method, codes):
    """With a fixed weight of the prior, so that all graphs have one score; building the class checks it."""
    counts = Contingency(codes, [2] * codes.shape[1])
    totals = []
    for ticks in (0, 5, 14, 20, 40, 80, 150, 300, 1000, 10**9):
        search = ScoreSearch(
            RegimeCounts(table_of(codes)), equivalent_sample_size=1.0, watch=EndsAfter(ticks)
        )
        best = search.run(method)
        totals.append(class_score(BDeu(counts), best.found))
        assert totals[-1] == pytest.approx(best.total)
    assert totals == sorted(totals)
    assert totals[0] < totals[-1]


@pytest.mark.parametrize("method", [*SCORED, "pc"])
def test_a_limit_of_time_is_said(method, codes):
    with pytest.warns(UserWarning, match="ended by the time limit of 1e-09 s"):
        found = estimate(table_of(codes), method, time_limit=1e-9)
    assert "best graph so far" in found.warnings[0]


def test_a_limit_that_suffices_changes_nothing(codes):
    assert estimate(table_of(codes), time_limit=600).graph == estimate(table_of(codes)).graph
    assert estimate(table_of(codes), time_limit=600).warnings == ()


def test_a_limit_is_above_zero(codes):
    with pytest.raises(EstimationError, match="time_limit above 0 seconds but found 0"):
        estimate(table_of(codes), time_limit=0)


@pytest.mark.usefixtures("interrupts")
def test_the_first_interrupt_ends_the_search_and_the_second_one_the_program():
    def interrupt(_text):
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    watch = Watch(progress=interrupt)
    watch._reported = 0.0
    with watch.interruptible():
        watch.tick("searching")
        with pytest.raises(SearchStopped):
            watch.tick("searching")
        with pytest.raises(KeyboardInterrupt):
            interrupt("")
    assert watch.reason == "an interrupt"
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("interrupts")
def test_without_leave_an_interrupt_is_an_interrupt(codes, monkeypatch):
    monkeypatch.setattr("discovery.estimation.watch._SECONDS_BETWEEN_REPORTS", 0)

    def interrupt(_text):
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        estimate(table_of(codes), "ges", progress=interrupt)
    with pytest.warns(UserWarning, match="ended by an interrupt"):
        estimate(table_of(codes), "ges", progress=interrupt, interruptible=True)


def test_progress_says_what_the_search_does(codes, monkeypatch):
    monkeypatch.setattr("discovery.estimation.watch._SECONDS_BETWEEN_REPORTS", 0)
    said = []
    estimate(table_of(codes), progress=said.append)
    assert said[0] == "GES inserts edges, 0 edges"
    assert any(text.startswith("GES deletes edges") for text in said)
    assert said[-1] == "BOSS from order 10 of 10"


def test_searches_on_resampled_tables_share_the_limit(tmp_path: Path) -> None:
    """Twenty searches that would take a second each take one in all, and what comes before and after."""
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=(2_000, 60)).astype(np.int16)
    codes[:, 1:] |= codes[:, :-1] & rng.integers(2, size=(2_000, 59))
    knowledge = tmp_path / "known.toml"
    knowledge.write_text("[search]\ntime_limit = 1.0\n")
    began = time.monotonic()
    edge_confidence(table_of(codes), EstimateSettings(knowledge=knowledge), resamples=20)
    assert time.monotonic() - began < 10
