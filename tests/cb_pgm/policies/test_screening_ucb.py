"""ScreeningUCB: what it plays, names and says, where its assumptions hold and where they fail."""

import itertools
import math
import re
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from cb_pgm import (
    MOSS,
    UCB,
    CausalSystem,
    Intervention,
    Observations,
    Pull,
    ScreeningUCB,
    instances,
    simulate,
)
from cb_pgm.errors import PolicyError
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.policies.baselines.ucb_plus import UCBPlus
from cb_pgm.policies.posterior import PosteriorSampling


def _screening(system: CausalSystem, **settings: Any) -> ScreeningUCB:
    return ScreeningUCB(
        system.states,
        noise_scale=system.noise_scale,
        parent_noise_scale=system.conditional_noise_scale,
        **settings,
    )


@pytest.mark.parametrize(("n", "n_parents", "max_parents"), [(20, 4, 1), (30, 6, 2), (10, 5, 3)])
def test_more_parents_than_it_looks_for(n: int, n_parents: int, max_parents: int) -> None:
    """2 systems each, T = 20,000, 10 s: at most 3 times UCB's regret in all; at size 1 it always says so."""
    lost: dict[str, float] = {"ucb": 0.0, "screening": 0.0}
    for seed in range(2):
        system = instances.tree(n, 2, seed=seed, n_parents=n_parents)
        screening = ScreeningUCB(system.states, noise_scale=system.noise_scale, max_parents=max_parents)
        for policy in (screening, UCB(system.states, noise_scale=system.noise_scale)):
            run = simulate(policy, system, 20_000, np.random.SeedSequence(seed))
            lost[policy.name] += run.regret
            if policy.name == "screening" and max_parents == 1:
                assert "no single variable explains the reward" in str(run.fallback)
    assert lost["screening"] <= 3 * lost["ucb"]


def _drug_world(others: int) -> CausalSystem:
    """P(well) = .1, .35, .6 by severity, .95 with the drug, which nobody takes by themselves."""
    even = np.full(3, 1 / 3)
    states = {"severity": ("low", "mid", "high"), "drug": ("no", "yes")}
    states |= {f"other{index}": ("0", "1", "2") for index in range(others)}
    tables = (even, np.array([1.0, 0.0]), *(even,) * others)
    means = np.array([[0.1, 0.95], [0.35, 0.95], [0.6, 0.95]])
    model = DiscreteModel(states, ((),) * len(tables), tables)
    return CausalSystem.from_model(model, Reward((0, 1), means, None))


@pytest.mark.parametrize("runs", [10, pytest.param(100, marks=pytest.mark.slow)])
def test_a_drug_that_nobody_takes_by_themselves_is_found(runs: int) -> None:
    """T = 10,000, 10 runs in 3 s: 98 of 100 lose at most 3 times what MOSS does.

    On average it loses less than MOSS. A run in a hundred has bad luck with its first rows of the drug.
    """
    system = _drug_world(6)
    lost: dict[str, list[float]] = {"moss": [], "screening": []}
    for policy in (
        MOSS(system.states, noise_scale=0.5),
        ScreeningUCB(system.states, noise_scale=0.5, parent_noise_scale=0.5),
    ):
        for seed in range(runs):
            run = simulate(policy, system, 10_000, seed)
            lost[policy.name].append(run.regret)
            assert run.best_arm is not None
            assert run.best_arm.intervention == {"drug": "yes"}
    assert np.mean(lost["screening"]) <= np.mean(lost["moss"])
    assert np.quantile(lost["screening"], 0.98) <= 3 * np.mean(lost["moss"])


def test_once_set_rows_refute_what_observed_rows_showed_only_set_rows_count() -> None:
    """X and Z copy a hidden cause of the reward: 5,000 observed rows name X, setting it refutes that."""
    rng = np.random.default_rng(3)
    policy = ScreeningUCB({"Z": ("0", "1"), "X": ("0", "1")}, noise_scale=0.5).fresh(rng)

    def rows(size: int, do: Intervention) -> Observations:
        cause = rng.integers(2, size=size)
        noisy = [np.where(rng.random(size) < keep, cause, 1 - cause) for keep in (0.7, 0.95)]
        columns = [
            np.full(size, int(do[name])) if name in do else column
            for name, column in zip(("Z", "X"), noisy, strict=True)
        ]
        rewards = (rng.random(size) < 0.2 + 0.6 * cause).astype(float)
        return Observations(np.stack(columns, axis=1).astype(np.int16), rewards)

    policy.warm_start(Intervention(), rows(5000, Intervention()))
    assert policy.reward_variables == ("X",)
    assert {known.grounds for known in policy.identified()} == {"assumed"}
    assert policy.assumption == "observed, not set often enough to exclude a hidden common cause"
    assert policy.estimates() == ()
    pulls = 0
    while policy.fallback is None and pulls < 1000:
        pull = policy.ask()
        policy.tell(pull, rows(1, pull.intervention))
        pulls += 1
    assert "hidden common cause" in str(policy.fallback)
    assert policy.reward_variables == policy.identified() == ()
    assert all(known.rows <= pulls and known.grounds == "measured" for known in policy.estimates())


def test_shares_of_the_failure_probability_add_up() -> None:
    budget = ScreeningUCB({"A": ("0", "1")}, failure_prob=0.08).budget
    assert budget.total == pytest.approx(0.08)
    assert budget.shares() == {"identification": 0.04, "invariance": 0.02, "intervals": 0.02}


@pytest.mark.parametrize("failure_prob", [0.05, 0.2])
@pytest.mark.parametrize("runs", [30, pytest.param(1000, marks=pytest.mark.slow)])
def test_measured_intervals_hold_whatever_was_identified(failure_prob: float, runs: int) -> None:
    """Runs of 300 rounds after 300 observed rows, with a hidden cause; looked at every 20 rounds.

    At most the binomial's 99.9 % point at the intervals' share of δ, and nothing set has its mean from rows
    in which it was only observed.
    """
    system = instances.confounded(seed=0)
    policy = ScreeningUCB(system.states, noise_scale=0.5, failure_prob=failure_prob)
    truth = {Intervention({name: state}): mean for (name, state), mean in system.arm_means().items()}
    truth[Intervention()] = system.mean_reward()
    missed = 0
    for seed in range(runs):
        rng = np.random.default_rng([seed, 5])
        played = policy.fresh(rng)
        played.warm_start(Intervention(), system.sample({}, 300, rng))
        wrong = False
        for t in range(300):
            pull = played.ask()
            played.tell(pull, system.sample(pull.intervention, 1, rng))
            if t % 20 == 19:
                wrong |= any(
                    not known.low <= truth[known.intervention] <= known.high for known in played.estimates()
                )
        missed += wrong
    assert missed <= binom.ppf(0.999, runs, policy.budget.intervals)


@pytest.mark.slow
@pytest.mark.parametrize("failure_prob", [0.05, 0.2])
def test_identifies_a_wrong_variable_no_more_often_than_promised(failure_prob: float) -> None:
    """1,000 random trees of 6 and 400 rounds each, two minutes; counted if the parent is ever ruled out."""
    wrong = 0
    for seed in range(1000):
        system = instances.tree(6, 2, noise=0.5, seed=seed)
        policy = ScreeningUCB(system.states, noise_scale=system.noise_scale, failure_prob=failure_prob)
        rng = np.random.default_rng([seed, 6])
        policy = policy.fresh(rng)
        for _ in range(400):
            pull = policy.ask()
            policy.tell(pull, system.sample(pull.intervention, 1, rng))
        wrong += policy.rules_out(system.reward_parents)
    assert wrong <= binom.ppf(0.999, 1000, policy.budget.identification)


@pytest.mark.parametrize(
    ("n_parents", "n_systems", "horizon"),
    [
        (2, 4, 2000),
        (3, 3, 2000),
        *(
            pytest.param(k, 20, horizon, marks=pytest.mark.slow)
            for k in (1, 2, 3)
            for horizon in (2000, 10_000)
        ),
    ],
)
def test_it_loses_no_more_than_ucb_plus_told_the_number_of_parents(
    n_parents: int, n_systems: int, horizon: int
) -> None:
    """On that policy's own systems; the best arm may set all parents."""
    lost: list[list[float]] = [[], []]
    for seed in range(n_systems):
        system = instances.random_tables(n_parents=n_parents, seed=500 * n_parents + seed)
        players = (
            ScreeningUCB(
                system.states,
                noise_scale=0.5,
                parent_noise_scale=system.conditional_noise_scale,
                max_parents=3,
            ),
            UCBPlus(system.states, n_parents=n_parents, noise_scale=0.5, horizon=horizon),
        )
        for player, losses in zip(players, lost, strict=True):
            losses.append(simulate(player, system, horizon, seed).regret)
    differences = np.subtract(*lost)
    # With one parent the two are about as good after 2,000 rounds.
    allowed = 2 * differences.std() / math.sqrt(n_systems) if n_parents == 1 else 0.0
    assert differences.mean() < allowed


def test_a_variable_that_cannot_have_shown_an_effect_is_only_assumed_to_have_none() -> None:
    """B is hardly ever 1 by itself, and nobody sets it: A alone explains every row."""
    rng = np.random.default_rng(6)
    policy = ScreeningUCB(dict.fromkeys("ABC", ("0", "1")), noise_scale=0.5)

    def told(size: int, share: float, **settings: str) -> None:
        columns = [rng.random(size) < chance for chance in (0.5, share, 0.5)]
        codes = np.stack(columns, axis=1).astype(np.int16)
        for name, state in settings.items():
            codes[:, "ABC".index(name)] = int(state)
        rewards = (rng.random(size) < 0.1 + 0.5 * codes[:, 0] + 0.3 * codes[:, 1]).astype(float)
        policy.warm_start(Intervention(settings), Observations(codes, rewards))

    told(200, 0.01)
    assert policy.reward_variables == ("A",)
    assert policy.assumption == "observed, not set often enough to exclude a hidden common cause"
    for state in ("0", "1"):
        told(300, 0.01, A=state)
    assert policy.reward_variables == ("A",)
    assert (
        policy.assumption == "B varied too little to show an effect of a tenth of the rewards' range beside A"
    )
    assert policy.grounds == "assumed"
    assert {known.grounds for known in policy.identified()} == {"assumed"}
    told(1000, 0.5)  # once it varies, its effect shows
    assert policy.reward_variables == ()


def test_a_single_parent_is_identified_once_everything_else_has_varied() -> None:
    system = instances.tree(10, seed=1)
    policy = ScreeningUCB(
        system.states, noise_scale=system.noise_scale, parent_noise_scale=system.conditional_noise_scale
    )
    result = simulate(policy, system, 20_000, seed=2)
    assert result.reward_variables == system.reward_parents
    assert result.grounds == "identified"


def test_every_joint_arm_that_was_set_is_measured() -> None:
    system = instances.random_tables(n_parents=2, seed=3)
    policy = ScreeningUCB(system.states, noise_scale=0.5, max_parents=2).fresh(np.random.default_rng(0))
    rng = np.random.default_rng(1)
    pulled: dict[Intervention, list[float]] = {}
    for _ in range(400):
        pull = policy.ask()
        rows = system.sample(pull.intervention, 1, rng)
        policy.tell(pull, rows)
        pulled.setdefault(pull.intervention, []).append(float(rows.rewards[0]))
    known = {one.intervention: one for one in policy.estimates()}
    assert {arm for arm in pulled if len(arm) > 1} <= known.keys() == pulled.keys()
    assert all(known[arm].rows == len(rewards) for arm, rewards in pulled.items())
    assert all(known[arm].mean == pytest.approx(np.mean(rewards)) for arm, rewards in pulled.items())


@pytest.mark.slow
def test_intervals_hold_however_many_arms_join() -> None:
    """1,000 runs, 15 s: arms whose mean is 0 join one by one, and no interval may ever lie beside it."""
    rng = np.random.default_rng(8)
    states = dict.fromkeys("ABCD", ("0", "1"))
    failed = 0
    for _ in range(1000):
        policy = ScreeningUCB(states, noise_scale=1.0, max_parents=2).fresh(rng)
        pairs = [
            Intervention({first: one, second: other})
            for first, second in itertools.combinations("ABCD", 2)
            for one in "01"
            for other in "01"
        ]
        arms = [*(Intervention({name: state}) for name in states for state in "01"), *pairs]
        missed = False
        for joined in range(1, len(arms) + 1):
            for told in arms[:joined]:
                codes = np.zeros((2, 4), dtype=np.int16)
                policy.tell(Pull(told, 2), Observations(codes, rng.standard_normal(2)))
            missed = missed or any(
                abs(known.mean) > known.high - known.mean for known in policy.estimates(0.2)
            )
        failed += missed
    assert failed <= binom.ppf(0.999, 1000, 0.2)


# -- a table that misleads -----------------------------------------------------------------------------------


def test_no_state_is_identified_that_was_not_set() -> None:
    """5,000 rows show a hidden indication; states are identified by the rows in which they were set."""
    for seed in range(3):
        system = instances.indication(2, seed=seed)
        policy, rng = _screening(system).fresh(np.random.default_rng(seed)), np.random.default_rng([seed, 1])
        policy.warm_start(Intervention(), system.sample({}, 5000, rng))
        assert policy.reward_variables == ("dose",)
        assert policy.grounds == "assumed"
        was_set: dict[Intervention, int] = {}
        for _ in range(600):
            pull = policy.ask()
            was_set[pull.intervention] = was_set.get(pull.intervention, 0) + 1
            policy.tell(pull, system.sample(pull.intervention, 1, rng))
            for known in policy.identified():
                # A tenth of the rewards' range takes 50 rows for each nat of log(1/δ).
                enough = 50 * math.log(1 / policy.budget.identification)
                assert known.grounds == "assumed" or was_set.get(known.intervention, 0) >= enough


def test_states_are_identified_one_by_one() -> None:
    """A is the parent: A = 0 was set in 300 rows, A = 1 only observed."""
    rng = np.random.default_rng(2)
    policy = ScreeningUCB(dict.fromkeys("AB", ("0", "1")), noise_scale=0.5)

    def told(size: int, **settings: str) -> None:
        codes = rng.integers(2, size=(size, 2)).astype(np.int16)
        for name, state in settings.items():
            codes[:, "AB".index(name)] = int(state)
        rewards = (rng.random(size) < 0.2 + 0.5 * codes[:, 0]).astype(float)
        policy.warm_start(Intervention(settings), Observations(codes, rewards))

    told(1000)
    told(300, A="0")
    grounds = {known.intervention["A"]: known.grounds for known in policy.identified()}
    assert grounds == {"0": "identified", "1": "assumed"}
    assert policy.grounds == "assumed"  # it's the best state that the play relies on
    told(300, A="1")
    assert {known.grounds for known in policy.identified()} == {"identified"}
    assert policy.grounds == "identified"


def test_rows_that_somebody_sorted_by_their_rewards_rule_out_no_cause() -> None:
    """40 tables of 600 rows, zeros first; half are those of a pull. Rows of one kind are in no order."""
    states = dict.fromkeys("ABC", ("0", "1"))
    for seed in range(40):
        rng = np.random.default_rng(seed)
        codes = rng.integers(2, size=(600, 3)).astype(np.int16)
        rewards = (rng.random(600) < 0.3 + 0.4 * codes[:, 0]).astype(float)
        order = np.argsort(rewards, kind="stable")
        rows = Observations(codes[order], rewards[order])
        policy = ScreeningUCB(states, noise_scale=0.5).fresh(rng)
        if seed % 2:
            policy.warm_start(Intervention(), rows)
        else:
            policy.tell(Pull(Intervention(), 600), rows)
        assert not policy.rules_out(("A",))
        assert policy.rules_out(("B",))


# -- playing -------------------------------------------------------------------------------------------------


def test_asking_first_names_sooner() -> None:
    """Trees of 30, 8 runs of up to 3,000 rounds each: the median of rounds to the name."""
    rounds: dict[str, list[float]] = {"regret": [], "identify": []}
    for seed in range(8):
        system = instances.tree(30, 2, seed=seed)
        for explore, needed in rounds.items():
            run = simulate(_screening(system, explore=explore), system, 3000, seed)
            needed.append(run.interventions_to_find or 3000)
            assert run.reward_variables in ((), system.reward_parents)
    assert np.median(rounds["identify"]) < np.median(rounds["regret"]) / 2


def test_refuses_another_exploration() -> None:
    with pytest.raises(PolicyError, match="explore to be regret, identify or best-arm"):
        ScreeningUCB({"A": ("0", "1")}, explore="fame")  # type: ignore[arg-type]


def test_the_reasons_for_pulls_read_as_sentences() -> None:
    system = instances.tree(6, 2, noise="bernoulli", seed=4)
    policy, rng = _screening(system).fresh(np.random.default_rng(0)), np.random.default_rng(1)
    reasons = set()
    for _ in range(400):
        pull = policy.ask()
        reasons.add(policy.why(pull))
        policy.tell(pull, system.sample(pull.intervention, 1, rng))
    kinds = (
        r"likely causes: (X\d \d?\.\d\d(, X\d \.\d\d)*); this state has the highest draw",
        r"likely causes: none stands out; this state has the highest draw",
        r"it best tells X\d, the likeliest cause, from X\d, the likeliest other one",
        r"the highest upper confidence bound: .+",
    )
    assert all(any(re.fullmatch(kind, reason) for kind in kinds) for reason in reasons)
    (parent,) = system.reward_parents
    assert any(reason.startswith(f"likely causes: {parent}") for reason in reasons)


def test_pulls_beside_open_ones_spread_and_need_no_rows_in_between() -> None:
    """30 pulls are open before the first row: at least 6 of 12 arms; later most are the best one."""
    system = instances.tree(6, 2, noise="bernoulli", seed=4)
    policy, rng = _screening(system).fresh(np.random.default_rng(0)), np.random.default_rng(1)
    for turn in range(15):
        pulls: list[Pull] = [policy.ask()]
        while len(pulls) < 30:
            beside = policy.ask_beside(pulls)
            assert beside is not None
            pulls.append(beside)
        if turn == 0:
            assert len({pull.intervention for pull in pulls}) >= 6
        for pull in reversed(pulls):
            policy.tell(pull, system.sample(pull.intervention, pull.size, rng))
    means = [system.mean_reward(pull.intervention) for pull in pulls]
    assert np.mean(np.isclose(means, system.best_arm()[1])) > 0.8


def test_a_state_that_cannot_be_set_is_reached_through_another_variable() -> None:
    """R depends on B, a copy of A in .9 of the rows; only A and C can be set: A = 1 is best, and found."""
    tables = (np.full(2, 0.5), np.array([[0.9, 0.1], [0.1, 0.9]]), np.full(2, 0.5))
    model = DiscreteModel(dict.fromkeys("ABC", ("0", "1")), ((), (0,), ()), tables)
    settable = dict.fromkeys("AC", ("0", "1"))
    system = CausalSystem.from_model(model, Reward((1,), np.array([0.2, 0.8]), None), settable=settable)
    run = simulate(_screening(system, settable=settable), system, 2000, 0)
    assert run.best_arm is not None
    assert run.best_arm.intervention == {"A": "1"}
    assert run.regret < 2000 * 0.24 / 5  # a fifth of what pulls at random lose


def test_sets_alone_lose_less_where_they_are_right_and_are_never_told_where_not() -> None:
    """Posterior sampling beside screening: trees of 20; then X, which only shows a hidden cause of R."""
    lost = {"posterior-sampling": 0.0, "screening": 0.0}
    for seed in range(4):
        system = instances.tree(20, 2, noise="bernoulli", seed=seed)
        for kind in (PosteriorSampling, ScreeningUCB):
            policy = kind(system.states, noise_scale=0.5)
            lost[policy.name] += simulate(policy, system, 3000, seed).regret
    assert lost["posterior-sampling"] < 1.2 * lost["screening"]
    system = instances.confounded(seed=0)
    run = simulate(PosteriorSampling(system.states, noise_scale=0.5), system, 2000, 0)
    assert run.fallback is None
    assert run.reward_variables == ()
