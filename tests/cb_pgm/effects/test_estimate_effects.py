"""What `estimate_effects` says of tables whose answer is known."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cb_pgm
from cb_pgm import CausalSystem, estimate_effects
from cb_pgm.effects.text import scale_sentences
from cb_pgm.errors import CausalBanditError
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from discovery import DiscreteTable, InterventionalRows, Knowledge, read_csv
from discovery.estimation.settings import EstimateSettings

FEW = 30  # draws


def trial(rates=(0.660, 0.803, 0.792, 0.772), rows=2139, seed=0) -> DiscreteTable:
    """Return a randomised trial: an arm drawn at random, and the patient's state, which matters as much."""
    rng = np.random.default_rng(seed)
    arm, state = rng.integers(len(rates), size=rows), rng.integers(2, size=rows)
    rewards = (rng.random(rows) < np.array(rates)[arm] + 0.1 * (state - 0.5)).astype(float)
    states = {"arms": tuple("0123"[: len(rates)]), "cd4": ("high", "low")}
    return DiscreteTable(np.asfortranarray(np.column_stack([arm, state]).astype(np.int16)), states, rewards)


def kidney(order=("size", "treatment"), rows=None) -> DiscreteTable:
    table = read_csv("data/kidney_stones.csv", reward="success=yes")
    columns = [table.variables.index(name) for name in order]
    picked = np.arange(table.n_rows) if rows is None else rows
    return replace(
        table,
        codes=np.asfortranarray(table.codes[picked][:, columns]),
        states={name: table.states[name] for name in order},
        rewards=table.rewards[picked],
    )


# -- Charig's kidney stones ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stones():
    return estimate_effects(kidney(), not_settable=["size"], draws=FEW)


def test_the_order_of_columns_and_rows_changes_nothing(stones):
    shuffled = np.random.default_rng(1).permutation(700)
    again = estimate_effects(kidney(("treatment", "size"), shuffled), not_settable=["size"], draws=FEW)
    assert again.to_text() == stones.to_text()
    assert again.to_dict() == stones.to_dict()


def test_the_choice_of_a_treatment_hangs_on_the_undirected_edge(stones):
    (edge,) = stones.hangs_on
    assert edge.edge == ("size", "treatment")
    assert edge.best_if_forward == {"treatment": "A"}
    assert edge.best_if_backward == {"treatment": "B"}
    assert 0.3 < edge.share < 0.7
    assert f"in {edge.forward} of {edge.forward + edge.backward} graphs it is size → treatment" in (
        stones.to_text()
    )


def test_no_treatment_is_recommended(stones):
    assert not stones.decision.is_decided
    assert stones.to_dict()["recommendation"]["intervention"] is None
    assert "Undecided" in stones.to_text()
    assert "Set treatment" not in stones.to_text()


@pytest.mark.parametrize("seed", [1, 2])
def test_another_seed_decides_no_treatment_either(seed):
    again = estimate_effects(kidney(), not_settable=["size"], draws=FEW, seed=seed)
    assert not again.decision.is_decided
    assert [edge.edge for edge in again.hangs_on] == [("size", "treatment")]


@pytest.mark.parametrize("seed", range(3))
def test_with_the_edge_known_treatment_a_is_recommended(seed):
    """The textbook's adjusted means; over B the gain is almost decided, over what is done now it is."""
    known = EstimateSettings(knowledge=Knowledge(required=[["size", "treatment"]]))
    report = estimate_effects(kidney(), settings=known, not_settable=["size"], seed=seed)
    decision = report.decision
    assert decision.leader == {"treatment": "A"}
    assert decision.grounds == "assumed"
    assert decision.is_decided
    assert decision.mean == pytest.approx(0.833, abs=0.005)
    assert decision.over_second.gain == pytest.approx(0.833 - 0.779, abs=0.006)
    assert "If nothing hidden acts on both, the best bet is treatment = A: " in report.to_text()
    assert not report.is_searched
    assert report.hangs_on == ()


# -- a randomised trial --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_the_arms_of_a_trial_are_measured(seed):
    table = trial(seed=seed)
    report = estimate_effects(table, randomised=["arms"], not_settable=["cd4"], draws=FEW)
    first = report.arms[0]
    rewards = table.rewards[table.codes[:, 0] == int(first.state)]
    assert report.decision.grounds == "measured"
    assert report.decision.leader == first.intervention != {"arms": "0"}
    assert report.decision.interval == first.set_rows.interval
    assert first.set_rows.mean == pytest.approx(rewards.mean())
    assert first.set_rows.rows == len(rewards)
    assert report.arms[-1].state == "0"
    assert report.arms[-1].p_best == 0


def test_an_arm_of_a_trial_that_is_far_better_is_recommended():
    report = estimate_effects(trial((0.3, 0.8), 600), randomised=["arms"], not_settable=["cd4"], draws=FEW)
    decision = report.decision
    assert decision.is_decided
    assert decision.leader == {"arms": "1"}
    low, high = decision.over_second.interval
    assert low < 0.5 < high
    assert decision.p_best == 1
    assert "Set arms = 1." in report.to_text()


def test_the_lowest_mean_is_the_best_when_minimizing():
    report = estimate_effects(
        trial((0.3, 0.8), 600), randomised=["arms"], not_settable=["cd4"], minimize=True, draws=FEW
    )
    assert report.decision.leader == {"arms": "0"}
    assert report.decision.gain.gain > 0
    assert report.decision.mean < 0.4


def test_nothing_is_recommended_where_nothing_matters():
    report = estimate_effects(trial((0.5, 0.5), 600), randomised=["arms"], not_settable=["cd4"], draws=FEW)
    assert not report.decision.is_decided


# -- what it rests on ----------------------------------------------------------------------------------------


def chain(rows: int, seed: int) -> tuple[CausalSystem, DiscreteTable]:
    """Return a system A → B → reward and a table of it."""
    flip = np.array([[0.8, 0.2], [0.2, 0.8]])
    states = {"A": ("no", "yes"), "B": ("no", "yes"), "C": ("no", "yes")}
    model = DiscreteModel(states, ((), (0,), ()), (np.array([0.5, 0.5]), flip, np.array([0.3, 0.7])))
    system = CausalSystem.from_model(model, Reward((1,), np.array([0.2, 0.7]), None))
    drawn = system.sample({}, rows, np.random.default_rng(seed))
    return system, DiscreteTable(np.asfortranarray(drawn.codes), states, drawn.rewards)


def test_the_only_cause_is_identified_by_its_rows():
    system, table = chain(3000, 0)
    report = estimate_effects(table, draws=FEW)
    decision = report.decision
    assert decision.grounds == "identified"
    assert decision.leader == {"B": "yes"}
    assert decision.interval[0] <= system.mean_reward({"B": "yes"}) <= decision.interval[1]
    assert decision.mean == pytest.approx(table.rewards[table.codes[:, 1] == 1].mean())


@pytest.mark.parametrize("seed", range(4))
def test_the_stronger_one_of_two_causes_is_no_only_cause(seed):
    """Screening often leaves B alone in 600 rows, but where B = yes was seen A = yes is more frequent."""
    table_of_b = np.array([[0.9, 0.1], [0.3, 0.7]])
    states = {"A": ("no", "yes"), "B": ("no", "yes"), "C": ("no", "yes")}
    tables = (np.array([0.8, 0.2]), table_of_b, np.array([0.3, 0.7]))
    means = np.array([[0.1, 0.4], [0.2, 0.9]])
    system = CausalSystem.from_model(
        DiscreteModel(states, ((), (0,), ()), tables), Reward((0, 1), means, None)
    )
    drawn = system.sample({}, 600, np.random.default_rng(seed))
    table = DiscreteTable(np.asfortranarray(drawn.codes), states, drawn.rewards)
    settings = EstimateSettings(knowledge=Knowledge(required=[("A", "B")]))
    decision = estimate_effects(table, settings=settings, not_settable=["A"], draws=FEW).decision
    truth = system.mean_reward({"B": "yes"})
    assert table.rewards[table.codes[:, 1] == 1].mean() > truth + 0.05
    assert decision.leader == {"B": "yes"}
    assert decision.grounds == "assumed"
    assert decision.interval[0] <= truth <= decision.interval[1]


def test_all_that_is_true_of_a_chain_is_covered():
    system, table = chain(1000, 3)
    report = estimate_effects(table, draws=FEW)
    for arm in report.arms:
        truth = system.mean_reward(arm.intervention)
        assert arm.bounds[0] <= truth <= arm.bounds[1]
        assert arm.interval[0] - 0.02 <= truth <= arm.interval[1] + 0.02


def test_rows_in_which_a_variable_was_set_are_measured(tmp_path: Path):
    rng = np.random.default_rng(0)
    lines = ["drug,mood,well,was"]
    for row in range(400):
        was = "drug" if row % 2 else ""
        drug = rng.integers(2)
        well = rng.random() < (0.9 if drug else 0.2)
        lines.append(
            f"{'yes' if drug else 'no'},{rng.choice(['up', 'down'])},{'yes' if well else 'no'},{was}"
        )
    (tmp_path / "rows.csv").write_text("\n".join(lines), encoding="utf-8")
    table = read_csv(tmp_path / "rows.csv", "well=yes", intervention_column="was")
    report = estimate_effects(table, not_settable=["mood"], draws=FEW)
    assert report.set_rows == 200
    assert report.decision.grounds == "measured"
    assert report.decision.leader == {"drug": "yes"}
    assert sum(arm.set_rows.rows for arm in report.arms) == 200


def test_set_rows_that_contradict_the_graphs_are_named():
    rng = np.random.default_rng(0)
    hidden = rng.integers(2, size=2000)
    x = np.where(rng.random(2000) < 0.9, hidden, 1 - hidden)
    was_set = np.arange(2000) < 1000
    x[was_set] = rng.integers(2, size=1000)
    rewards = (rng.random(2000) < 0.2 + 0.6 * hidden).astype(float)
    other = rng.integers(2, size=2000)
    codes = np.asfortranarray(np.column_stack([x, other]).astype(np.int16))
    states = {"X": ("0", "1"), "Y": ("0", "1")}
    table = DiscreteTable(codes[~was_set], states, rewards[~was_set])
    rows = InterventionalRows(codes[was_set], states, rewards[was_set], np.zeros(1000, np.int16))
    report = estimate_effects(replace(table, interventional=rows), not_settable=["Y"], draws=FEW, graphs=True)
    assert not report.decision.is_decided
    assert report.decision.grounds == "measured"
    for arm in report.arms:
        assert arm.set_rows.interval[0] < 0.5 < arm.set_rows.interval[1]
    assert any("a hidden cause or a wrong graph" in warning for warning in report.warnings)


def test_a_reward_with_an_effect_is_named():
    rng = np.random.default_rng(0)
    a, b = rng.integers(2, size=(2, 2000))
    reward = (rng.random(2000) < 0.1 + 0.4 * a + 0.4 * b).astype(float)
    effect = np.where(rng.random(2000) < 0.9, reward, 1 - reward)
    codes = np.asfortranarray(np.column_stack([a, b, effect]).astype(np.int16))
    states = dict.fromkeys(("cause", "cause2", "effect"), ("0", "1"))
    report = estimate_effects(DiscreteTable(codes, states, reward), draws=5)
    assert any("edge from it to effect" in warning for warning in report.warnings)


# -- numeric rewards -----------------------------------------------------------------------------------------


def numeric(rows=400, heavy=False) -> DiscreteTable:
    rng = np.random.default_rng(5)
    x, y = rng.integers(2, size=(2, rows))
    noise = rng.standard_t(2, rows) if heavy else rng.standard_normal(rows)
    codes = np.asfortranarray(np.column_stack([x, y]).astype(np.int16))
    return DiscreteTable(codes, {"X": ("0", "1"), "Y": ("0", "1")}, 10 + 2 * x + noise)


def test_sigma_is_that_of_the_residuals():
    report = estimate_effects(numeric(), draws=FEW)
    assert report.scale.residual == pytest.approx(1, abs=0.15)
    assert report.scale.tail_factor < 1.3
    assert report.scale.low == numeric().rewards.min()
    assert "--noise-scale" in report.to_text()
    assert "--reward-range" in report.to_text()
    assert report.decision.leader == {"X": "1"}


def test_heavy_tails_widen_sigma():
    report = estimate_effects(numeric(heavy=True), draws=5)
    assert report.scale.tail_factor > 1.3
    assert f", {report.scale.deviation:.4g}, times" in scale_sentences(report.scale)[0]
    assert f"σ = {report.scale.deviation:.4g}, the residual's" in report.to_text()


def test_sigma_and_range_can_be_given():
    report = estimate_effects(numeric(), noise_scale=3.0, reward_range=(0, 30), draws=5)
    assert (report.scale.residual, report.scale.low, report.scale.high) == (3.0, 0, 30)
    with pytest.raises(CausalBanditError, match="widen the reward range"):
        estimate_effects(numeric(), reward_range=(10, 11), draws=5)


# -- as a value ----------------------------------------------------------------------------------------------


def test_any_number_of_processes_gives_the_same_answer(stones):
    again = estimate_effects(kidney(), not_settable=["size"], draws=FEW, jobs=2)
    assert again.to_dict() == stones.to_dict()


@pytest.mark.slow
def test_a_cluster_gives_the_same_answer(stones):
    again = estimate_effects(kidney(), not_settable=["size"], draws=FEW, dask="local")
    assert again.to_dict() == stones.to_dict()


@pytest.mark.slow
def test_a_cluster_that_is_not_there_is_refused():
    with pytest.raises(CausalBanditError, match=r"Expected a Dask scheduler at tcp://127\.0\.0\.1:9"):
        estimate_effects(kidney(), draws=2, dask="tcp://127.0.0.1:9")


def test_the_json_is_complete(stones):
    content = json.loads(json.dumps(stones.to_dict(), allow_nan=False))
    assert list(content) == [
        *("do_nothing", "arms", "edges", "hangs_on", "contrasts", "recommendation", "warnings")
    ]
    assert list(content["arms"][0]) == [
        *("variable", "state", "seen", "set", "bounds", "mean", "interval", "p_best", "p_better")
    ]
    assert list(content["hangs_on"][0]) == ["edge", "share", "best_if_forward", "best_if_backward"]
    assert list(content["recommendation"]) == [
        *("intervention", "grounds", "basis", "mean", "interval", "gain", "gain_interval", "p_best", "next")
    ]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"not_settable": ["sise"]}, "did you mean 'size'"),
        ({"randomised": ["treatmen"]}, "did you mean 'treatment'"),
        ({"settable": {"treatment": ["C"]}}, "found 'C'"),
        ({"not_settable": ["size", "treatment"]}, "no arm to compare"),
        ({"draws": 0}, "at least one draw"),
        ({"power": 1.0}, "a power between 0 and 1"),
        ({"graph": cb_pgm.instances.tree(3, seed=1).essential_graph()}, "only one of the two"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(CausalBanditError, match=message):
        estimate_effects(kidney(), **{"draws": 2, **settings})


def test_progress_counts_the_draws():
    steps = []
    estimate_effects(kidney(), draws=4, progress=steps.append)
    assert steps == [1] * 4
