"""Every rival does its own job: KL-UCB, RAPS, C-UCB, learning the graph first, and the oracle."""

import math
from collections.abc import Iterator

import networkx as nx
import numpy as np
import pytest
from graphs import ordered_dags
from scipy.optimize import brentq
from scipy.stats import binom

from cb_pgm import (
    KLUCB,
    RAPS,
    UCB,
    CausalSystem,
    CausalUCB,
    Intervention,
    LearnGraphThenUCB,
    OracleUCB,
    Policy,
    Pull,
    instances,
    simulate,
    theory,
)
from cb_pgm.errors import PolicyError
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.policies.baselines.causal_ucb import parent_distributions
from cb_pgm.policies.baselines.printed import PrintedCNUCB
from cb_pgm.policies.baselines.raps import Reply, parent_search, raps_batch_size
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.registry import POLICIES, make_policy
from cb_pgm.search import Search, exact_answers
from cb_pgm.search.orientation import orient
from discovery import EssentialGraph


def _pulls(policy: Policy, system: CausalSystem, rounds: int, seed: int) -> Iterator[Pull]:
    """Play, and yield every pull after it was told."""
    rng = np.random.default_rng(seed)
    while rounds > 0:
        pull = policy.ask()
        size = min(pull.size, rounds)
        policy.tell(pull, system.sample(pull.intervention, size, rng))
        rounds -= size
        yield pull


class TestKLUCB:
    def test_index_by_hand(self) -> None:
        """Against Bernoulli bounds solved by Brent's method here, over 300 rounds."""
        system = instances.tree(3, 2, noise="bernoulli", seed=0)
        policy, rng = KLUCB(system.states, noise_scale=0.5, log_log_weight=3.0), np.random.default_rng(1)
        arms = policy.possible_arms
        seen: dict[Intervention, list[float]] = {arm: [] for arm in arms}
        for t in range(300):
            pull = policy.ask()
            if t >= len(arms):
                level = math.log(t) + 3 * math.log(max(math.log(t), 1))
                bounds = {arm: _bernoulli_bound(np.mean(seen[arm]), level / len(seen[arm])) for arm in arms}
                assert bounds[pull.intervention] == pytest.approx(max(bounds.values()), abs=1e-9)
            observations = system.sample(pull.intervention, 1, rng)
            seen[pull.intervention].append(float(observations.rewards[0]))
            policy.tell(pull, observations)

    def test_with_a_gaussian_divergence_it_is_ucb(self) -> None:
        system = instances.tree(5, 2, seed=1)
        rivals = [kind(system.states, noise_scale=system.noise_scale) for kind in (KLUCB, UCB)]
        of_kl, of_ucb = ([*_pulls(policy, system, 1000, seed=2)] for policy in rivals)
        assert of_kl == of_ucb

    def test_rewards_outside_of_the_unit_interval_make_the_divergence_gaussian(self) -> None:
        system = instances.tree(4, 2, noise=0.3, reward_means=[-1, 3], seed=1)
        rivals = [kind(system.states, noise_scale=0.5) for kind in (KLUCB, UCB)]
        of_kl, of_ucb = ([*_pulls(policy, system, 500, seed=2)] for policy in rivals)
        assert of_kl == of_ucb

    def test_low_means_cost_it_far_less_than_ucb(self) -> None:
        """Bernoulli means .02 and .06, 3 runs of 20,000 rounds each.

        Asymptotically an arm costs Δ/d(.02, .06) = 2.1·log T against UCB's 2σ²/Δ = 12.5·log T; asked is half.
        """
        system = instances.tree(2, 2, noise="bernoulli", reward_means=[0.02, 0.06], seed=3)
        regrets = {}
        for kind in (KLUCB, UCB):
            policy = kind(system.states, noise_scale=0.5)
            regrets[kind] = np.mean([simulate(policy, system, 20_000, seed).regret for seed in range(3)])
        assert regrets[KLUCB] < regrets[UCB] / 2

    def test_refuses_a_negative_weight(self) -> None:
        with pytest.raises(PolicyError, match="log_log_weight"):
            KLUCB({"A": ("0", "1")}, log_log_weight=-1)


def _bernoulli_bound(mean: float, most: float) -> float:
    def excess(q: float) -> float:
        terms = [(p, r) for p, r in ((mean, q), (1 - mean, 1 - q)) if p > 0]
        return sum(p * math.log(p / r) for p, r in terms) - most

    top = 1 - 1e-15
    return brentq(excess, max(mean, 1e-15), top, xtol=1e-14) if excess(top) > 0 else 1.0


class TestParentSearch:
    @pytest.mark.parametrize("shape", ["recursive", "chain", "star", "binary"])
    def test_probes_as_many_variables_as_expected(self, shape: str) -> None:
        """8 trees of 20 variables, 300 searches each; the mean within 4 standard errors.

        A variable is probed iff it is drawn before all those that would rule it out.
        """
        rng = np.random.default_rng(0)
        for seed in range(8):
            system = instances.tree(20, 2, shape=shape, seed=seed)
            (parent,) = system.reward_parents
            counts = [_probes(system.dag, parent, rng) for _ in range(300)]
            expected = sum(1 / len(_rulers(system.dag, parent, variable)) for variable in system.states)
            assert abs(np.mean(counts) - expected) < 4 * np.std(counts) / math.sqrt(300) + 1e-9

    def test_finds_a_parent_in_every_dag_of_five_nodes(self) -> None:
        rng = np.random.default_rng(1)
        for dag in ordered_dags(5):
            for parents in ({"X3"}, {"X1", "X5"}, {"X2", "X3", "X4"}):
                assert _search(dag, parents, rng)[0] in parents
        assert _search(nx.DiGraph([(0, 1)]), set(), rng)[0] is None


def _search(dag: nx.DiGraph, parents: set, rng: np.random.Generator) -> tuple[object, int]:
    """Return what a search with exact replies finds, and how many variables it probed."""
    below = {node: {node, *nx.descendants(dag, node)} for node in dag}
    search, reply, probes = parent_search(list(dag), rng), None, 0
    while True:
        try:
            variable = next(search) if reply is None else search.send(reply)
        except StopIteration as end:
            return end.value, probes
        probes += 1
        reply = Reply(bool(below[variable] & parents), below[variable])


def _probes(dag: nx.DiGraph, parent: str, rng: np.random.Generator) -> int:
    found, probes = _search(dag, {parent}, rng)
    assert found == parent
    return probes


def _rulers(dag: nx.DiGraph, parent: str, variable: str) -> set[str]:
    """Return the variables whose probe leaves `variable` out, itself among them."""
    above = {parent, *nx.ancestors(dag, parent)}
    rulers = {variable}
    for other in dag:
        kept = variable in nx.descendants(dag, other)
        if kept != (other in above):
            rulers.add(other)
    return rulers


class TestRAPS:
    def test_batch_by_hand(self) -> None:
        """Contexts: 1, and 1 + 3·2 with up to one of three binary variables held, and all 3³."""
        for max_parents, contexts in ((1, 1), (2, 7), (None, 27), (9, 27)):
            reward = 32 * 0.25 / 0.3**2 * math.log(8 * 6 * contexts / 0.1)
            assert raps_batch_size(
                3, 2, 0.3, 0.9, 0.1, noise_scale=0.5, max_parents=max_parents
            ) == math.ceil(reward)
        assert raps_batch_size(3, 2, 0.9, 0.1, 0.1) == math.ceil(8 / 0.1**2 * math.log(8 * 36 * 27 / 0.1))
        assert raps_batch_size(3, 2, 0.3, 0.0, 0.1) == math.inf

    def test_batch_grows_with_the_number_of_variables(self) -> None:
        batches = [raps_batch_size(n, 3, 0.3, 0.3, 0.05) for n in (1000, 2000)]
        assert batches[1] / batches[0] == pytest.approx(2, rel=0.01)

    @pytest.mark.parametrize("max_parents", [None, 1])
    @pytest.mark.parametrize("runs", [150, pytest.param(2000, marks=pytest.mark.slow)])
    def test_names_the_parent_as_often_as_promised(self, max_parents: int | None, runs: int) -> None:
        """Trees of 4 at δ = .2; failures: at most the binomial's 99.9 % point. 2,000 runs take 20 s."""
        wrong = 0
        for seed in range(runs):
            system = instances.tree(4, 2, noise="bernoulli", reward_means=[0, 1], seed=seed)
            policy = _raps(system, failure_prob=0.2, max_parents=max_parents).fresh(
                np.random.default_rng(seed)
            )
            most = (1 + 2 * 4) * policy.batch + (0 if max_parents else 2 * (1 + 2 * 3) * policy.batch)
            asked = sum(pull.size for pull in _until_ucb(policy, system, seed))
            assert asked <= most
            wrong += policy.reward_variables != system.reward_parents
        assert wrong <= binom.ppf(0.999, runs, 0.2)

    def test_names_two_parents(self) -> None:
        """20 runs on trees of 4 at δ = .05; failures: at most the binomial's 99.9 % point."""
        runs, wrong = 20, 0
        for seed in range(runs):
            system = instances.tree(
                4, 2, noise="bernoulli", reward_means=[0, 1], n_parents=2, reward_gap=0.2, seed=seed
            )
            policy = _raps(system).fresh(np.random.default_rng(seed))
            for _ in _until_ucb(policy, system, seed):
                pass
            wrong += policy.reward_variables != system.reward_parents
            if policy.reward_variables == system.reward_parents:
                assert set(policy.ask().intervention) == set(system.reward_parents)
        assert wrong <= binom.ppf(0.999, runs, 0.05)

    def test_pulls_every_arm_that_it_asks_about_b_times(self) -> None:
        system = instances.tree(5, 2, noise="bernoulli", reward_means=[0, 1], seed=0)
        policy = _raps(system)
        pulls: dict[Intervention, int] = {}
        for pull in _until_ucb(policy, system, 1):
            pulls[pull.intervention] = pulls.get(pull.intervention, 0) + pull.size
        assert set(pulls.values()) == {policy.batch}
        assert next(iter(pulls)) == {}

    def test_a_variable_stands_for_the_parent_below_it_that_cannot_be_set(self) -> None:
        system = instances.tree(3, 2, shape="chain", reward_depth=1, reward_means=[0, 1], noise=0.1, seed=0)
        top, parent, _ = nx.topological_sort(system.dag)
        settable = {name: states for name, states in system.states.items() if name != parent}
        policy = _raps(system, settable=settable)
        for _ in _until_ucb(policy, system, 2):
            pass
        assert policy.reward_variables == (top,)

    def test_without_a_gap_it_is_ucb_and_says_so(self) -> None:
        system = instances.tree(3, 2, seed=0)
        policy = RAPS(system.states, reward_gap=0.1, effect_gap=0.0)
        assert len(policy.ask().intervention) == 1
        assert "effect gap is 0" in policy.fallback

    def test_refuses_by_name(self) -> None:
        with pytest.raises(PolicyError, match="max_parents"):
            RAPS({"A": ("0", "1")}, reward_gap=0.1, effect_gap=0.1, max_parents=0)


def _raps(system: CausalSystem, **settings: object) -> RAPS:
    return RAPS(
        system.states,
        reward_gap=system.reward_gap(),
        effect_gap=_total_effect_gap(system),
        noise_scale=system.noise_scale,
        **settings,
    )


def _total_effect_gap(system: CausalSystem) -> float:
    """The least effect of any variable on any of its descendants: what RAPS takes for ε."""
    marginals = system.marginals().probabilities
    return min(
        (
            max(
                np.abs(system.interventional_distribution(below, {name: state}) - marginals[below]).max()
                for state in states
            )
            for name, states in system.states.items()
            for below in nx.descendants(system.dag, name)
        ),
        default=1.0,
    )


def _until_ucb(policy: Policy, system: CausalSystem, seed: int) -> Iterator[Pull]:
    """Play and yield all pulls of more than one row: those made to find out."""
    rng = np.random.default_rng(seed)
    while (pull := policy.ask()).size > 1:
        policy.tell(pull, system.sample(pull.intervention, pull.size, rng))
        yield pull


class TestCausalUCB:
    @pytest.mark.parametrize("n_parents", [1, 2])
    def test_distributions_of_the_parents_as_sampled(self, n_parents: int) -> None:
        """50,000 rows under each arm of a chain of 4: every probability within 5 standard errors."""
        system = instances.tree(4, 2, shape="chain", n_parents=n_parents, seed=1)
        columns = [list(system.states).index(name) for name in system.reward_parents]
        strides = [2, 1][-n_parents:]
        rng = np.random.default_rng(0)
        shares = parent_distributions(system)
        assert len(shares) == 8
        for arm, expected in shares.items():
            cells = system.sample(arm, 50_000, rng).codes[:, columns] @ strides
            seen = np.bincount(cells, minlength=2**n_parents) / 50_000
            assert (np.abs(seen - expected) <= 5 * np.sqrt(expected * (1 - expected) / 50_000) + 1e-12).all()

    def test_index_by_hand(self) -> None:
        system = instances.tree(4, 2, shape="chain", reward_depth=2, copy_probability=0.6, seed=1)
        shares = parent_distributions(system)
        policy = CausalUCB(
            system.states, system.reward_parents, shares, noise_scale=2.0, parent_noise_scale=1.0
        )
        column = list(system.states).index(system.reward_parents[0])
        rng = np.random.default_rng(3)
        seen: list[list[float]] = [[], []]
        under_do: list[float] = []
        for t in range(400):
            pull = policy.ask()
            if min(map(len, [*seen, under_do])) > 0:
                bounds = [np.mean(rewards) + math.sqrt(2 * math.log(t) / len(rewards)) for rewards in seen]
                index = {arm: float(share @ bounds) for arm, share in shares.items()}
                index[Intervention()] = np.mean(under_do) + 2 * math.sqrt(2 * math.log(t) / len(under_do))
                assert index[pull.intervention] == pytest.approx(max(index.values()), abs=1e-9)
            observations = system.sample(pull.intervention, 1, rng)
            seen[observations.codes[0, column]].append(float(observations.rewards[0]))
            if not pull.intervention:
                under_do.append(float(observations.rewards[0]))
            policy.tell(pull, observations)

    def test_beats_ucb_where_every_arm_teaches_all(self) -> None:
        """40 variables above two states of one parent, 3 runs of 5,000: 80 arms to learn against 2 numbers.

        UCB pulls each arm some 8 log T/gap² times, more than it has; asked is a fifth of its regret.
        """
        system = instances.tree(40, 2, reward_depth=2, seed=5)
        shares = parent_distributions(system)
        scale = system.noise_scale
        knowing = CausalUCB(system.states, system.reward_parents, shares, noise_scale=scale)
        plain = UCB(system.states, noise_scale=scale)
        regret = {
            policy: np.mean([simulate(policy, system, 5_000, seed).regret for seed in range(3)])
            for policy in (knowing, plain)
        }
        assert regret[knowing] < regret[plain] / 5

    def test_refuses_what_it_cannot_know(self) -> None:
        states = {"A": ("0", "1"), "B": ("0", "1")}
        half = np.array([0.5, 0.5])
        shares = {Intervention({name: state}): half for name in states for state in "01"}
        with pytest.raises(PolicyError, match="'C'"):
            CausalUCB(states, ["C"], shares)
        with pytest.raises(PolicyError, match=r"none for do\(B = 1\)"):
            CausalUCB(states, ["A"], {arm: share for arm, share in shares.items() if arm != {"B": "1"}})
        with pytest.raises(PolicyError, match="4 joint states"):
            CausalUCB(states, ["A", "B"], shares)


class TestOrient:
    def test_every_dag_of_five_nodes_is_learnt(self) -> None:
        for dag in ordered_dags(5):
            learnt, _ = _oriented(orient(EssentialGraph.from_dag(dag)), dag)
            assert sorted(learnt.closure().arrows()) == sorted(dag.edges)

    @pytest.mark.parametrize("shape", ["recursive", "chain", "star", "binary"])
    def test_a_tree_takes_a_logarithm_of_questions(self, shape: str) -> None:
        for n in (1, 2, 31, 200):
            dag = instances.tree(n, 2, shape=shape, seed=n).dag
            learnt, asked = _oriented(orient(EssentialGraph.from_dag(dag)), dag)
            assert sorted(learnt.closure().arrows()) == sorted(dag.edges)
            assert asked <= math.log2(n) + 1

    def test_only_what_can_be_set_is_asked_and_what_is_learnt_is_true(self) -> None:
        for seed in range(30):
            dag = instances.chordal(12, 2, seed=seed).dag
            settable = list(dag)[::2]
            learnt, _ = _oriented(orient(EssentialGraph.from_dag(dag), settable=settable), dag, settable)
            assert set(learnt.closure().arrows()) <= set(dag.edges)
            left = {node for line in learnt.closure().lines() for node in line}
            assert not left & set(settable)


def _oriented(
    asking: Search, dag: nx.DiGraph, settable: list[str] | None = None
) -> tuple[EssentialGraph, int]:
    answer, asked = exact_answers(dag, ()), 0
    try:
        query = next(asking)
        while True:
            assert settable is None or query.variable in settable
            asked += 1
            query = asking.send(answer(query))
    except StopIteration as end:
        return end.value, asked


class TestLearnGraphThenUCB:
    @pytest.mark.parametrize("evidence", ["fixed", "sequential"])
    @pytest.mark.parametrize("family", ["tree", "chordal", "random_dag"])
    @pytest.mark.parametrize("runs", [12, pytest.param(200, marks=pytest.mark.slow)])
    def test_learns_the_graph_and_names_the_parent(self, evidence: str, family: str, runs: int) -> None:
        """Graphs of 8 at δ = .05; failures: at most the binomial's 99.9 % point. 200 runs take 10 s each."""
        wrong = 0
        for seed in range(runs):
            system = getattr(instances, family)(8, 2, noise="bernoulli", reward_means=[0, 1], seed=seed)
            policy = _learn_graph(system, evidence=evidence)
            for _ in _until_ucb(policy, system, seed):
                pass
            arrows = sorted(policy.learnt.closure().arrows())
            wrong += arrows != sorted(system.dag.edges) or policy.reward_variables != system.reward_parents
            if policy.reward_variables:
                assert tuple(policy.ask().intervention) == policy.reward_variables
        assert wrong <= binom.ppf(0.999, runs, 0.05)

    def test_names_two_parents(self) -> None:
        system = instances.tree(
            6, 2, noise="bernoulli", reward_means=[0, 1], n_parents=2, reward_gap=0.2, seed=1
        )
        policy = _learn_graph(system, max_parents=2)
        for _ in _until_ucb(policy, system, 0):
            pass
        assert policy.reward_variables == system.reward_parents
        assert set(policy.ask().intervention) == set(system.reward_parents)

    def test_without_a_gap_it_is_ucb_and_says_so(self) -> None:
        system = instances.tree(4, 2, seed=0)
        policy = _learn_graph(system, effect_gap=0.0)
        assert policy.ask().size == 1
        assert "effect gap is 0" in policy.fallback

    def test_a_graph_without_lines_needs_no_effect_gap(self) -> None:
        """A → C ← B: all is known beforehand, only the reward is asked about."""
        states = dict.fromkeys("ABC", ("0", "1"))
        copying = 0.2 + 0.3 * np.add.outer([0.0, 1.0], [0.0, 1.0])
        tables = (np.array([0.5, 0.5]), np.array([0.5, 0.5]), np.stack([1 - copying, copying], axis=-1))
        model = DiscreteModel(states, ((), (), (0, 1)), tables)
        system = CausalSystem.from_model(model, Reward((2,), np.array([0.1, 0.9]), 1.0))
        assert system.essential_graph().undirected == ()
        policy = _learn_graph(system, effect_gap=0.0)
        for _ in _until_ucb(policy, system, 0):
            pass
        assert policy.reward_variables == system.reward_parents

    @pytest.mark.parametrize(("setting", "value"), [("evidence", "psychic"), ("max_parents", 0)])
    def test_refuses_settings_by_name(self, setting: str, value: object) -> None:
        with pytest.raises(PolicyError, match=setting):
            _learn_graph(instances.tree(4, 2, seed=0), **{setting: value})


def _learn_graph(system: CausalSystem, **settings: object) -> LearnGraphThenUCB:
    gaps = {"reward_gap": system.reward_gap(), "effect_gap": system.effect_gap()}
    return LearnGraphThenUCB(
        system.essential_graph(),
        system.states,
        system.marginals(),
        noise_scale=system.noise_scale,
        **gaps | settings,
    )


class TestOracleUCB:
    @pytest.mark.parametrize("n_parents", [1, 2])
    def test_pulls_the_parents_or_nothing(self, n_parents: int) -> None:
        system = instances.tree(6, 2, n_parents=n_parents, seed=0)
        policy = OracleUCB(system.states, system.reward_parents)
        assert policy.reward_variables == system.reward_parents
        for pull in _pulls(policy, system, 200, 0):
            assert set(pull.intervention) in (set(system.reward_parents), set())

    def test_says_when_a_parent_cannot_be_set(self) -> None:
        policy = OracleUCB({"A": ("0", "1"), "B": ("0", "1")}, ["B"], settable={"A": ("0", "1")})
        assert "B = 0 can not be set" in policy.fallback
        assert set(policy.ask().intervention) == {"A"}

    def test_refuses_unknown_parents_and_none(self) -> None:
        for parents in (["C"], []):
            with pytest.raises(PolicyError, match="parents"):
                OracleUCB({"A": ("0", "1")}, parents)


class TestRegistry:
    @pytest.mark.parametrize("name", ["kl-ucb", "raps", "learn-graph", "causal-ucb", "oracle"])
    def test_makes_every_rival_for_the_system_it_is_told(self, name: str) -> None:
        system = instances.tree(4, 2, seed=0)
        graph = system.essential_graph()
        context = PolicyContext.of_system(system, graph, system.marginals(), (1.0, 1.0))
        policy = make_policy(name, context)
        assert policy.name == name
        assert policy.noise_scale == system.noise_scale
        if name in ("raps", "learn-graph"):  # all edges of a tree are lines
            assert policy.requirements.effect_gap == system.effect_gap()
        if name == "raps":
            assert policy.requirements.reward_gap == system.reward_gap()
        assert POLICIES[name].needs_graph == (name == "learn-graph")

    @pytest.mark.parametrize("name", ["raps", "learn-graph", "causal-ucb", "oracle"])
    def test_refuses_what_is_not_known(self, name: str) -> None:
        with pytest.raises(PolicyError, match=name):
            make_policy(name, PolicyContext({"A": ("0", "1")}, 1.0))


class TestPrintedCNUCB:
    def _made(self, system: CausalSystem) -> PrintedCNUCB:
        graph = system.essential_graph()
        gaps = system.effective_gaps(graph)
        made = make_policy("cn-ucb-printed", PolicyContext.of_system(system, graph, system.marginals(), gaps))
        assert isinstance(made, PrintedCNUCB)
        return made

    def test_b_pulls_of_each_arm_asked_then_plain_ucb_on_the_parents_arms(self) -> None:
        """A tree of 5: each arm is pulled B times at once; then come the K arms, chosen as by UCB's index."""
        system = instances.tree(5, 2, noise="bernoulli", copy_probability=0.8, seed=0)
        policy, rng = self._made(system), np.random.default_rng(0)
        batch = theory.batch_size(
            5, 2, *system.effective_gaps(system.essential_graph()), 0.05, noise_scale=0.5
        )
        seen: dict[Intervention, list[float]] = {}
        while (pull := policy.ask()).size > 1:
            assert pull.size == batch
            rows = system.sample(pull.intervention, pull.size, rng)
            seen.setdefault(pull.intervention, []).extend(rows.rewards)
            policy.tell(pull, rows)
        assert policy.reward_variables == system.reward_parents
        (parent,) = system.reward_parents
        for _ in range(500):
            t = sum(map(len, seen.values()))
            pull = policy.ask()
            index = {
                arm: np.mean(seen[arm]) + 0.5 * math.sqrt(2 * math.log(t) / len(seen[arm]))
                for arm in (Intervention({parent: state}) for state in "01")
            }
            assert index[pull.intervention] == max(index.values())
            rows = system.sample(pull.intervention, 1, rng)
            seen[pull.intervention].extend(rows.rewards)
            policy.tell(pull, rows)

    def test_on_other_graphs_it_ends_in_a_clique_that_holds_the_parent(self) -> None:
        system = instances.chordal(8, 2, copy_probability=0.97, noise="bernoulli", seed=5)
        policy = self._made(system)
        run = simulate(policy, system, 400_000, seed=0)
        assert run.reward_variables in ((), system.reward_parents)
        assert run.fallback is None
        assert run.best_arm is not None
        assert tuple(run.best_arm.intervention) == system.reward_parents

    def test_says_when_not_all_can_be_set(self) -> None:
        system = instances.tree(4, 2, seed=0)
        made = CausalSystem.from_model(system.model, system.reward, settable={"X1": ("0",)})
        policy = self._made(made)
        policy.ask()
        assert "all states of all variables" in str(policy.fallback)
