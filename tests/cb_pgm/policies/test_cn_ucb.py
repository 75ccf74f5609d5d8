"""CN-UCB finds the reward variable as often and as soon as promised, and survives wrong graphs."""

import networkx as nx
import numpy as np
import pytest
from scipy.stats import binom

from cb_pgm import CNUCB, UCB, CausalSystem, instances, simulate, theory
from cb_pgm.errors import PolicyError
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
    """40 runs; the slow test below makes 1,000."""
    _check_finding(evidence, 40)


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


def test_with_screening_it_finds_what_the_search_alone_takes_long_for() -> None:
    """4 random trees of 30, T = 20,000, 3 s: all right, with at most half the regret of queries first."""
    lost = {"screening": 0.0, "sequential": 0.0}
    for seed in range(4):
        system = instances.tree(30, 3, seed=seed)
        for evidence in lost:
            run = simulate(_policy(system, evidence=evidence), system, 20_000, seed)
            lost[evidence] += run.regret
            assert evidence == "sequential" or run.reward_variables == system.reward_parents
    assert lost["screening"] <= lost["sequential"] / 2


def test_queries_beside_screening_are_bounded_at_all_times() -> None:
    """At most ¼√(arms · t) of t rounds while screening has sets left, counted from outside by `why`."""
    system = instances.tree(10, 2, seed=1, n_parents=5)
    policy = _policy(system).fresh(np.random.default_rng(0))
    rng, spent, t = np.random.default_rng(1), 0, 0
    while t < 4000:
        pull = policy.ask()
        if "moves the reward" in policy.why(pull):
            spent += pull.size
            assert policy.fallback is not None or spent <= 0.25 * np.sqrt(20 * t)
        policy.tell(pull, system.sample(pull.intervention, pull.size, rng))
        t += pull.size
    assert spent > 0


def test_a_hidden_cause_that_other_variables_show_does_not_mislead_the_search() -> None:
    """3 trees of 12: screening rules out every variable, queries on the true graph find the parent."""
    for seed in range(3):
        system = instances.proxy(12, 2, seed=seed)
        gaps = {"reward_gap": 0.1, "effect_gap": system.effect_gap()}
        policy = _policy(system, evidence="sequential", **gaps)
        named, _ = _pulls_to_find(policy, system, seed)
        assert named == system.reward_parents


def test_shares_of_the_failure_probability_add_up() -> None:
    system = instances.tree(4, 2, seed=0)
    for evidence, search_share in (("screening", 0.02), ("sequential", 0.04), ("fixed", 0.04)):
        policy = _policy(system, evidence=evidence, failure_prob=0.08)
        assert policy.budget.total == pytest.approx(0.08)
        assert policy.budget.search == policy.requirements.failure_prob == pytest.approx(search_share)
