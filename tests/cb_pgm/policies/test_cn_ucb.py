"""CN-UCB finds the reward variable as often and as soon as promised, and survives wrong graphs."""

import networkx as nx
import numpy as np
import pytest
from scipy.stats import binom

from cb_pgm import CNUCB, UCB, CausalSystem, ScreeningUCB, instances, simulate, theory
from cb_pgm.errors import PolicyError
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from discovery import EssentialGraph


def _policy(system: CausalSystem, graph: EssentialGraph | None = None, **settings: object) -> CNUCB:
    graph = graph or system.essential_graph()
    reward_gap, effect_gap = system.effective_gaps(system.essential_graph())
    gaps = {"reward_gap": reward_gap, "effect_gap": effect_gap} | settings
    return CNUCB(graph, system.states, system.marginals(), noise_scale=system.noise_scale, **gaps)


def _pulls_to_find(policy: CNUCB, system: CausalSystem, seed: int) -> tuple[tuple[str, ...], int]:
    """Play until something is named or given up, and return that with the pulls it took."""
    policy, rng = policy.fresh(np.random.default_rng(seed)), np.random.default_rng([seed, 1])
    pulls = 0
    while True:
        pull = policy.ask()
        if policy.reward_variables or policy.result is not None or policy.fallback is not None:
            return policy.reward_variables, pulls
        policy.tell(pull, system.sample(pull.intervention, pull.size, rng))
        pulls += pull.size


def _check_finding(evidence: str, runs: int) -> None:
    """Random trees, n = 10–50, K = 2–3: right in ≥ 1 − δ of the runs (99.9 % binomial), within Lemma 1."""
    rng = np.random.default_rng(31)
    wrong = 0
    for run in range(runs):
        n, n_states = int(rng.integers(10, 51)), int(rng.integers(2, 4))
        system = instances.tree(n, n_states, noise=0.5, reward_gap=0.2, seed=run)
        policy = _policy(system, evidence=evidence)
        named, pulls = _pulls_to_find(policy, system, run)
        wrong += named != system.reward_parents
        needs = policy.requirements
        batch = theory.batch_size(
            n, n_states, needs.reward_gap, needs.effect_gap, needs.failure_prob, noise_scale=needs.noise_scale
        )
        assert pulls <= theory.exploration_bound(policy.graph, n_states, batch, kind="tree")
    assert wrong <= binom.ppf(0.999, runs, 0.05)


@pytest.mark.parametrize("evidence", ["fixed", "sequential", "screening"])
def test_finds_the_reward_variable_within_lemma_1(evidence: str) -> None:
    """20 runs; the slow test below makes 1,000."""
    _check_finding(evidence, 20)


@pytest.mark.slow
@pytest.mark.parametrize("evidence", ["fixed", "sequential", "screening"])
def test_finds_the_reward_variable_within_lemma_1_in_1000_runs(evidence: str) -> None:
    _check_finding(evidence, 1000)


def test_oracle_graph_of_alarm_names_lvedvolume() -> None:
    system = CausalSystem.from_bif("data/alarm.bif", reward="CVP=NORMAL")
    run = simulate(_policy(system), system, 20_000, seed=1)
    assert run.reward_variables == ("LVEDVOLUME",)
    assert run.fallback is None


def test_the_paper_variant_ends_in_a_clique_that_holds_the_reward_variable() -> None:
    system = instances.chordal(12, 2, seed=5)
    policy = _policy(system, variant="paper")
    run = simulate(policy, system, 5000, seed=0)
    assert run.reward_variables in ((), system.reward_parents)


def _wrong_graphs(dag: nx.DiGraph) -> dict[str, nx.DiGraph]:
    """The true graph with an edge missing, turned, added, or all edges but one cut away."""
    (tail, head), *_ = dag.edges
    missing, turned, extra, split = (dag.copy() for _ in range(4))
    missing.remove_edge(tail, head)
    turned.remove_edge(tail, head)
    turned.add_edge(head, tail)
    order = list(nx.topological_sort(dag))
    added = next(
        (a, b)
        for a in order
        for b in reversed(order)
        if order.index(a) < order.index(b) and not dag.has_edge(a, b)
    )
    extra.add_edge(*added)
    split.remove_edges_from(list(dag.edges)[1:])
    return {"missing": missing, "turned": turned, "extra": extra, "split": split}


@pytest.mark.parametrize("fault", ["missing", "turned", "extra", "split"])
def test_a_wrong_graph_is_survived(fault: str) -> None:
    """Regret from T = 10⁴ to 4·10⁴ grows no faster than UCB's, on a tree of 8 variables."""
    _check_growth(fault, trees=1, horizon=40_000)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["missing", "turned", "extra", "split"])
def test_a_wrong_graph_is_survived_for_a_million_rounds(fault: str) -> None:
    """The same from T = 10⁴ to 10⁶, over two trees, half a minute."""
    _check_growth(fault, trees=2, horizon=1_000_000)


def _check_growth(fault: str, trees: int, horizon: int) -> None:
    grown, of_ucb = 0.0, 0.0
    for seed in range(trees):
        system = instances.tree(8, 2, noise="bernoulli", seed=seed)
        graph = EssentialGraph.from_dag(_wrong_graphs(system.dag)[fault])
        run = simulate(_policy(system, graph), system, horizon, seed)
        ucb = simulate(UCB(system.states, noise_scale=system.noise_scale), system, horizon, seed)
        at = [int(np.searchsorted(one.rounds, 10_000)) for one in (run, ucb)]
        grown += run.regret - run.regrets[at[0]]
        of_ucb += ucb.regret - ucb.regrets[at[1]]
    assert grown <= of_ucb + 1


def test_refuses_a_graph_over_other_variables() -> None:
    system = instances.tree(4, 2, seed=0)
    other = EssentialGraph(["Y", *list(system.states)[1:]], [], [])
    with pytest.raises(PolicyError, match="'Y'"):
        _policy(system, other)


@pytest.mark.parametrize(
    ("setting", "value"),
    [("evidence", "psychic"), ("variant", "loud"), ("max_parents", 0), ("failure_prob", 0)],
)
def test_refuses_settings_by_name(setting: str, value: object) -> None:
    with pytest.raises(PolicyError, match=setting):
        _policy(instances.tree(4, 2, seed=0), **{setting: value})


@pytest.mark.slow
def test_beats_ucb_on_large_trees() -> None:
    """Random trees with n = 500, K = 3, T = 10⁶, σ = 1, equal δ: regret below UCB's, one tree, about 30 s."""
    system = instances.tree(500, 3, seed=2)
    cn_ucb = simulate(_policy(system, evidence="fixed"), system, 10**6, seed=0)
    ucb = simulate(UCB(system.states, noise_scale=system.noise_scale), system, 10**6, seed=0)
    assert cn_ucb.regret < ucb.regret


def test_asking_what_is_affordable_loses_less_than_asking_first() -> None:
    """3 random trees of 30, T = 10,000: all right, with at most half the regret of queries first."""
    lost = {"screening": 0.0, "sequential": 0.0}
    for seed in range(3):
        system = instances.tree(30, 3, seed=seed)
        for evidence in lost:
            run = simulate(_policy(system, evidence=evidence), system, 10_000, seed)
            lost[evidence] += run.regret
            assert evidence == "sequential" or run.reward_variables in ((), system.reward_parents)
    assert lost["screening"] <= lost["sequential"] / 2


def test_a_true_graph_costs_nothing_beside_play_without_one() -> None:
    """6 random trees of 20, T = 3,000: at most 1.2 times the regret of screening."""
    lost = {"cn-ucb": 0.0, "screening": 0.0}
    for seed in range(6):
        system = instances.tree(20, 2, seed=seed)
        screening = ScreeningUCB(system.states, noise_scale=system.noise_scale)
        for policy in (_policy(system), screening):
            lost[policy.name] += simulate(policy, system, 3000, seed).regret
    assert lost["cn-ucb"] <= 1.2 * lost["screening"]


# -- answers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("evidence", ["sequential", "fixed"])
def test_queries_come_first_and_what_they_rule_out_is_no_candidate(evidence: str) -> None:
    system = instances.tree(12, 2, noise=0.5, reward_gap=0.2, seed=3)
    policy = _policy(system, evidence=evidence).fresh(np.random.default_rng(0))
    rng, answers = np.random.default_rng(1), 0
    pull = policy.ask()
    while policy.result is None:
        assert policy.why(pull).startswith("to see whether X")
        policy.tell(pull, system.sample(pull.intervention, pull.size, rng))
        pull = policy.ask()
        ruled_out = {name for question in policy.story.questions for name in question.ruled_out}
        assert all(not ruled_out & set(names) for names in policy.candidates)
        answers = len(policy.story.questions)
    assert answers > 1
    assert policy.reward_variables == system.reward_parents
    assert policy.candidates == (system.reward_parents,)
    for _ in range(20):
        assert not policy.why(pull).startswith("to see whether")
        assert set(pull.intervention) in (set(), {*system.reward_parents})
        policy.tell(pull, system.sample(pull.intervention, pull.size, rng))
        pull = policy.ask()


def test_facts_of_a_wrong_graph_are_dropped_once_the_rows_refute_them() -> None:
    """A → B → C → R, but the graph has no edge: A moves the reward, so it is taken for the parent."""
    stay = np.array([[0.98, 0.02], [0.02, 0.98]])
    model = DiscreteModel(
        dict.fromkeys("ABC", ("0", "1")), ((), (0,), (1,)), (np.array([0.5, 0.5]), stay, stay)
    )
    system = CausalSystem.from_model(model, Reward((2,), np.array([0.2, 0.8]), None))
    policy = _policy(
        system, EssentialGraph(list("ABC"), [], []), evidence="sequential", priority="ABC", reward_gap=0.2
    )
    policy, rng = policy.fresh(np.random.default_rng(0)), np.random.default_rng(1)
    named = set()
    for _ in range(4000):
        pull = policy.ask()
        policy.tell(pull, system.sample(pull.intervention, pull.size, rng))
        named.add(policy.reward_variables)
    assert ("A",) in named
    assert policy.fallback is not None
    assert "can't depend on A alone, so the graph or a gap is wrong" in policy.fallback
    assert policy.reward_variables == ("C",)
    best = policy.best_arm()
    assert best is not None
    assert best.intervention == {"C": "1"}


def test_a_hidden_cause_that_other_variables_show_does_not_mislead_the_search() -> None:
    """3 trees of 12: screening rules out every variable, queries on the true graph find the parent."""
    for seed in range(3):
        system = instances.proxy(12, 2, seed=seed)
        gaps = {"reward_gap": 0.1, "effect_gap": system.effect_gap()}
        policy = _policy(system, evidence="sequential", **gaps)
        named, _ = _pulls_to_find(policy, system, seed)
        assert named == system.reward_parents


@pytest.mark.parametrize("evidence", ["screening", "sequential", "fixed"])
def test_shares_of_the_failure_probability_add_up(evidence: str) -> None:
    policy = _policy(instances.tree(4, 2, seed=0), evidence=evidence, failure_prob=0.08)
    assert policy.budget.total == pytest.approx(0.08)
    assert policy.budget.shares() == {
        "identification": 0.02,
        "invariance": 0.01,
        "search": 0.03,
        "intervals": 0.02,
    }
    assert policy.requirements.failure_prob == policy.budget.search
