"""Fixed and sequential evidence answer as infinitely many samples would, at the promised rate and cost."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from cb_pgm import CausalSystem, Intervention, instances
from cb_pgm.evidence.base import Evidence, Requirements, contrasts
from cb_pgm.evidence.fixed import FixedEvidence
from cb_pgm.evidence.sequential import SequentialEvidence
from cb_pgm.search import Probe, Query, exact_answers
from cb_pgm.theory import batch_size
from discovery import Marginals

KINDS = {"fixed": FixedEvidence, "sequential": SequentialEvidence}


@pytest.fixture(scope="module")
def earthquake() -> CausalSystem:
    return CausalSystem.from_bif("data/earthquake.bif", reward="MaryCalls=True")


def _evidence(kind: str, system: CausalSystem, *, failure_prob: float = 0.05, **changes: object) -> Evidence:
    needs = {"reward_gap": system.reward_gap(), "effect_gap": system.effect_gap(), **changes}
    marginals = needs.pop("marginals", system.marginals())
    return KINDS[kind](
        system.states,
        system.settable,
        marginals,
        Requirements(failure_prob=failure_prob, noise_scale=system.noise_scale, **needs),
    )


def _answer(
    evidence: Evidence, system: CausalSystem, query: Query, rng: np.random.Generator
) -> tuple[Probe, int]:
    evidence.begin(query)
    pulls = 0
    while (pull := evidence.next_pull()) is not None:
        evidence.add(pull.intervention, system.sample(pull.intervention, pull.size, rng))
        pulls += pull.size
    return evidence.probe(), pulls


def _all_queries(system: CausalSystem) -> list[Query]:
    """Every variable, all that it is adjacent to undecided."""
    skeleton = system.dag.to_undirected()
    return [Query(name, tuple(skeleton[name])) for name in system.states]


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_wrong_no_more_often_than_promised(kind: str, earthquake: CausalSystem) -> None:
    """60 runs over all four variables at δ = .2; runs with any wrong answer: at most the 99.9 % point."""
    exact = exact_answers(earthquake.dag, earthquake.reward_parents)
    rng = np.random.default_rng(21)
    runs = 60
    wrong = 0
    for _ in range(runs):
        evidence = _evidence(kind, earthquake, failure_prob=0.2)
        queries = _all_queries(earthquake)
        wrong += any(_answer(evidence, earthquake, query, rng)[0] != exact(query) for query in queries)
    assert wrong <= binom.ppf(0.999, runs, 0.2)


@pytest.mark.slow
@pytest.mark.parametrize("failure_prob", [0.05, 0.2])
def test_sequential_answers_are_wrong_no_more_often_than_promised_in_2000_runs(failure_prob: float) -> None:
    """2,000 runs, all variables of a random tree asked in random order, 10 s; the 99.9 % point at δ."""
    rng = np.random.default_rng(28)
    runs = 2000
    wrong = 0
    systems = [instances.tree(4, 2, noise="bernoulli", seed=seed) for seed in range(20)]
    for run in range(runs):
        system = systems[run % len(systems)]
        exact = exact_answers(system.dag, system.reward_parents)
        evidence = _evidence("sequential", system, failure_prob=failure_prob)
        queries = _all_queries(system)
        order = rng.permutation(len(queries))
        wrong += any(_answer(evidence, system, queries[i], rng)[0] != exact(queries[i]) for i in order)
    assert wrong <= binom.ppf(0.999, runs, failure_prob)


def test_fixed_evidence_pulls_b_of_each_arm_and_none_twice(earthquake: CausalSystem) -> None:
    rng = np.random.default_rng(22)
    evidence = _evidence("fixed", earthquake)
    batch = batch_size(4, 2, earthquake.reward_gap(), earthquake.effect_gap(), 0.05, noise_scale=0.5)
    query = Query("Alarm", ("Burglary",))
    _, first = _answer(evidence, earthquake, query, rng)
    _, again = _answer(evidence, earthquake, query, rng)
    assert (first, again) == (3 * batch, 0)  # do() and the two states of Alarm


def test_observations_with_rewards_save_the_pulls_of_do(earthquake: CausalSystem) -> None:
    exact = earthquake.marginals()
    marginals = Marginals(exact.probabilities, rows=10**6, reward_mean=earthquake.mean_reward({}))
    for kind in KINDS:
        evidence = _evidence(kind, earthquake, marginals=marginals)
        _answer(evidence, earthquake, Query("Alarm"), np.random.default_rng(23))
        assert evidence.records[Intervention()].rows == 0


def test_sequential_evidence_is_cheaper(earthquake: CausalSystem) -> None:
    rng = np.random.default_rng(24)
    pulls = {
        kind: sum(_answer(evidence, earthquake, query, rng)[1] for query in _all_queries(earthquake))
        for kind in KINDS
        for evidence in [_evidence(kind, earthquake)]
    }
    assert pulls["sequential"] < pulls["fixed"] / 2


def test_gaps_that_no_number_of_pulls_is_enough_for(earthquake: CausalSystem) -> None:
    coarse = Marginals(earthquake.marginals().probabilities, rows=50, reward_mean=None)
    assert "effect gap is 0" in str(_evidence("fixed", earthquake, effect_gap=0.0).impossible())
    assert "reward gap is 0" in str(_evidence("sequential", earthquake, reward_gap=0.0).impossible())
    assert "50 observations are too coarse" in str(
        _evidence("fixed", earthquake, effect_gap=0.01, marginals=coarse).impossible()
    )
    assert _evidence("fixed", earthquake).impossible() is None


def test_marginals_from_few_rows_are_made_up_for_by_pulls_of_do(earthquake: CausalSystem) -> None:
    """Sequential evidence goes on where the fixed budget must refuse: rows under do() count too."""
    rng = np.random.default_rng(25)
    seen = earthquake.sample({}, 50, rng)
    shares = {
        name: np.bincount(seen.codes[:, i], minlength=2) / 50 for i, name in enumerate(earthquake.states)
    }
    marginals = Marginals(shares, rows=50, reward_mean=None)
    evidence = _evidence("sequential", earthquake, marginals=marginals, effect_gap=0.28)
    probe, _ = _answer(evidence, earthquake, Query("Alarm", ("Burglary", "JohnCalls")), rng)
    assert probe == Probe(True, {"JohnCalls"})
    assert evidence.records[Intervention()].rows > 50


def test_held_variables_hide_what_they_block() -> None:
    """A → B → reward: with B held, A moves nothing; at every state of B that is looked into."""
    states = {"A": ("0", "1"), "B": ("0", "1", "2")}
    plan = contrasts(Query("A", fixed={"B": None}), states)
    assert [dict(contrast.base) for contrast in plan] == [{"B": state} for state in "012"]
    assert all(
        dict(arm) == {"A": state, **contrast.base}
        for contrast in plan
        for arm, state in zip(contrast.arms, "01", strict=True)
    )
    assert [dict(c.base) for c in contrasts(Query("A", fixed={"B": "2"}), states)] == [{"B": "2"}]


def test_a_hidden_parent_shows_at_another_state_of_the_held_one() -> None:
    """Reward a∧b with a held: at a = 0 nothing moves, at a = 1 b does."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    network = DiscreteBayesianNetwork()
    network.add_nodes_from(["a", "b"])
    network.add_cpds(*(TabularCPD(name, 2, [[0.5], [0.5]], state_names={name: ["0", "1"]}) for name in "ab"))
    means = {(a, b): 0.1 + 0.8 * (a == b == "1") for a, b in itertools.product("01", "01")}
    system = CausalSystem(network, reward_variable=("a", "b"), reward_means=means, noise="bernoulli")
    for kind in KINDS:
        evidence = _evidence(kind, system, reward_gap=0.4, effect_gap=1.0)
        probe, _ = _answer(evidence, system, Query("b", fixed={"a": None}), np.random.default_rng(26))
        assert probe.is_ancestor
        assert evidence.records[Intervention({"b": "1", "a": "1"})].rows > 0


def test_requirements_refuse_what_cannot_be() -> None:
    for changes in ({"reward_gap": -0.1}, {"effect_gap": math.nan}, {"failure_prob": 1.0}):
        with pytest.raises(ValueError, match=next(iter(changes))):
            Requirements(
                **{"reward_gap": 0.1, "effect_gap": 0.1, "failure_prob": 0.1, "noise_scale": 1.0} | changes
            )


def test_coarse_marginals_do_not_stand_in_the_way_of_held_contrasts(earthquake: CausalSystem) -> None:
    """An error of the marginals that suits the effect gap at one state of what is held suits it at all."""
    exact = earthquake.marginals()
    marginals = Marginals(exact.probabilities, rows=800, reward_mean=earthquake.mean_reward({}))
    evidence = _evidence("fixed", earthquake, marginals=marginals, effect_gap=0.15)
    assert evidence.impossible() is None
    query = Query("Alarm", fixed={"Burglary": None, "JohnCalls": None, "Earthquake": None})
    probe, _ = _answer(evidence, earthquake, query, np.random.default_rng(27))
    assert probe.is_ancestor
