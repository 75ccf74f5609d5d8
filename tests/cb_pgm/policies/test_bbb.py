"""BBB against its formulas by hand, and exact parent-set posteriors against enumeration."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from scipy.stats import betabinom

from cb_pgm import CausalSystem, Intervention, Observations, PolicyError, Pull, instances, simulate
from cb_pgm.policies.baselines.bbb import BackdoorBandit, backdoor_estimate
from cb_pgm.policies.thompson import ThompsonSampling
from discovery import EssentialGraph
from discovery.estimation.contingency import Contingency
from discovery.estimation.counted_scores import BDeu
from discovery.estimation.parent_sets import exact_parent_sets, likely_parent_sets, local_parent_sets


def _rows(pairs: dict[tuple[int, int], tuple[int, int]]) -> Observations:
    """Rows of two binary variables: (x, z) → (rows of reward 1, rows of reward 0)."""
    codes, rewards = [], []
    for cell, (ones, zeros) in pairs.items():
        codes += [cell] * (ones + zeros)
        rewards += [1.0] * ones + [0.0] * zeros
    return Observations(np.array(codes, dtype=np.int16), np.array(rewards))


class TestBackdoorEstimate:
    def test_mean_and_worth_by_hand(self) -> None:
        rows, totals = np.array([[30.0, 10.0], [20.0, 40.0]]), np.array([[12.0, 9.0], [5.0, 20.0]])
        mean, worth = backdoor_estimate(rows, totals)
        for x in range(2):
            cells = [(rows[x, z] + 0.25, totals[x, z] + 0.125) for z in range(2)]
            chances = [(rows[:, z].sum() + 0.5) / 101 for z in range(2)]
            p = [total / size for size, total in cells]
            m = sum(chance * each for chance, each in zip(chances, p, strict=True))
            v = sum(c * c * q * (1 - q) / size for c, q, (size, _) in zip(chances, p, cells, strict=True))
            v += sum(c * (q - m) ** 2 for c, q in zip(chances, p, strict=True)) / 101
            assert mean[x] == pytest.approx(m)
            assert worth[x] == pytest.approx(m * (1 - m) / v)

    def test_without_adjustment_a_row_is_worth_a_row(self) -> None:
        mean, worth = backdoor_estimate(np.array([[800.0], [200.0]]), np.array([[200.0], [100.0]]))
        assert mean == pytest.approx([0.25, 0.5], abs=1e-3)
        assert worth == pytest.approx([800, 200], abs=1)

    def test_the_worth_is_the_variance_over_drawn_tables(self) -> None:
        """2,000 tables of 1,000 rows: the variance of m within 5 standard errors, √(2/2000) of it each."""
        rng = np.random.default_rng(0)
        chances = np.array([[0.3, 0.1], [0.2, 0.4]])
        p = np.array([[0.4, 0.9], [0.25, 0.5]])
        found = []
        for _ in range(2000):
            rows = rng.multinomial(1000, chances.ravel()).reshape(2, 2)
            found.append(backdoor_estimate(rows.astype(float), rng.binomial(rows, p).astype(float)))
        means, worth = np.array(found)[:, 0], np.array(found)[:, 1]
        assert means.mean(axis=0) == pytest.approx(p @ chances.sum(axis=0), abs=5 * 0.03 / math.sqrt(2000))
        variance = means.mean(axis=0) * (1 - means.mean(axis=0)) / worth.mean(axis=0)
        assert variance == pytest.approx(means.var(axis=0), rel=5 * math.sqrt(2 / 2000))


class TestParentSets:
    def test_exact_probabilities_are_those_of_all_orders(self) -> None:
        """Four variables: every order, and every choice of parents before each variable, by enumeration."""
        rng = np.random.default_rng(1)
        system = instances.random_dag(4, 2, seed=1)
        codes = system.sample({}, 60, rng).codes
        score = BDeu(Contingency(codes, [2] * 4)).local_score
        weights: list[dict[tuple[int, ...], float]] = [{} for _ in range(4)]
        for order in itertools.permutations(range(4)):
            choices = []
            for place, _ in enumerate(order):
                before = sorted(order[:place])
                sizes = range(len(before) + 1)
                choices.append([z for size in sizes for z in itertools.combinations(before, size)])
            for chosen in itertools.product(*choices):
                log = sum(score(v, z) for v, z in zip(order, chosen, strict=True))
                for v, z in zip(order, chosen, strict=True):
                    weights[v][z] = weights[v].get(z, 0.0) + math.exp(log + 100)
        found = exact_parent_sets(4, score)
        for v, (sets, chances) in enumerate(found):
            total = sum(weights[v].values())
            for z, chance in zip(sets, chances, strict=True):
                assert chance == pytest.approx(weights[v][z] / total, rel=1e-3)
            assert chances.sum() == pytest.approx(1)

    def test_the_true_parents_are_among_the_likely_ones(self) -> None:
        """20,000 rows of earthquake: the collider's parents are the most likely ones."""
        system = CausalSystem.from_bif("data/earthquake.bif", reward="MaryCalls=True")
        sets, chances = likely_parent_sets(
            system.sample({}, 20_000, np.random.default_rng(0)).codes, system.states
        )[list(system.states).index("Alarm")]
        columns = tuple(sorted(list(system.states).index(name) for name in ("Burglary", "Earthquake")))
        assert sets[int(np.argmax(chances))] == columns
        assert chances.max() > 0.5

    def test_local_sets_are_those_of_the_class(self) -> None:
        for seed in range(6):
            dag = instances.chordal(6, 2, seed=seed).dag
            graph, names = EssentialGraph.from_dag(dag), list(dag.nodes)
            edges = list(graph.directed)
            lines = list(graph.undirected)
            members = [set() for _ in names]
            for flips in itertools.product((False, True), repeat=len(lines)):
                directed = [(b, a) if flip else (a, b) for flip, (a, b) in zip(flips, lines, strict=True)]
                other = nx.DiGraph()
                other.add_nodes_from(names)
                other.add_edges_from([*edges, *directed])
                if nx.is_directed_acyclic_graph(other) and EssentialGraph.from_dag(other) == graph:
                    for v, name in enumerate(names):
                        members[v].add(tuple(sorted(names.index(one) for one in other.predecessors(name))))
            found = local_parent_sets(graph, names)
            assert [set(sets) for sets, _ in found] == members


STATES = {"X": ("0", "1"), "Z": ("0", "1")}
TABLE = _rows({(0, 0): (12, 28), (0, 1): (18, 2), (1, 0): (4, 6), (1, 1): (27, 3)})


class TestBackdoorBandit:
    def test_posterior_of_the_parent_sets_by_hand(self) -> None:
        policy = BackdoorBandit(STATES, observed=TABLE)
        policy.ask()
        rewards = {"0": [1.0, 0.0, 0.0, 1.0, 1.0, 1.0], "1": [0.0, 1.0, 0.0]}
        for state, seen in rewards.items():
            rows = Observations(np.zeros((len(seen), 2), dtype=np.int16), np.array(seen))
            policy.tell(Pull(Intervention({"X": state})), rows)
        sets, chances = likely_parent_sets(TABLE.codes, STATES)[0]
        assert set(sets) == {(), (1,)}
        weights = []
        for chosen, chance in zip(sets, chances, strict=True):
            z = TABLE.codes[:, 1] if chosen else np.zeros(100, dtype=int)
            cells = [[(TABLE.codes[:, 0] == x) & (z == y) for y in range(1 + len(chosen))] for x in (0, 1)]
            rows = np.array([[cell.sum() for cell in row] for row in cells], dtype=float)
            totals = np.array([[TABLE.rewards[cell].sum() for cell in row] for row in cells])
            for x, (m, worth) in enumerate(backdoor_estimate(rows, totals).T):
                counted = min(worth, 9)  # X was set in nine rows
                seen = rewards[str(x)]
                ones = int(sum(seen))
                order_matters = math.comb(len(seen), ones)
                likelihood = betabinom.pmf(ones, len(seen), m * counted, (1 - m) * counted)
                chance *= likelihood / order_matters
            weights.append(chance)
        expected = np.cumsum(weights) / np.sum(weights)
        assert policy._priors is not None
        assert policy._priors[0].cumulated == pytest.approx(expected)

    def test_draws_are_of_the_mixture(self) -> None:
        """1,500 draws without any rows but the table: do(X) wins as often as the mixture of Betas says."""
        policy = BackdoorBandit(STATES, observed=TABLE).fresh(np.random.default_rng(0))
        wins: dict[Intervention, int] = {}
        for _ in range(1500):
            policy._pending = None
            arm = policy.ask().intervention
            wins[arm] = wins.get(arm, 0) + 1
        rng, highest = np.random.default_rng(1), np.full(1500, -1.0)
        winner = np.zeros(1500, dtype=int)
        for v in range(2):
            prior = policy._priors[v]
            sets = np.searchsorted(prior.cumulated, rng.random(1500), side="right")
            for x in range(2):
                m, worth = prior.means[sets, x], np.minimum(prior.worth[sets, x], 1)
                draws = rng.beta(m * worth, (1 - m) * worth)
                winner = np.where(draws > highest, 2 * v + x, winner)
                highest = np.maximum(highest, draws)
        shares = np.bincount(winner, minlength=4) / 1500
        seen = [wins.get(Intervention({v: s}), 0) / 1500 for v in "XZ" for s in "01"]
        assert np.abs(np.array(seen) - shares).max() < 5 * math.sqrt(0.5 / 1500)

    def test_rows_before_the_first_pull_are_the_same_as_a_table(self) -> None:
        warm = BackdoorBandit(STATES).fresh(np.random.default_rng(0))
        assert warm.warm_start(Intervention(), TABLE)
        told = BackdoorBandit(STATES, observed=TABLE).fresh(np.random.default_rng(0))
        assert [warm.next_pull() for _ in range(50)] == [told.next_pull() for _ in range(50)]

    def test_a_table_saves_most_of_the_regret(self) -> None:
        """Asia, 10,000 rows: less than half of Thompson sampling's regret in 1,000 rounds, 3 runs each."""
        system = CausalSystem.from_bif("data/asia.bif", reward="xray=yes")
        table = system.sample({}, 10_000, np.random.default_rng(9))
        warm = BackdoorBandit(system.states, observed=table)
        cold = ThompsonSampling(system.states, noise_scale=0.5)
        regrets = {
            policy.name: np.mean([simulate(policy, system, 1000, seed).regret for seed in range(3)])
            for policy in (warm, cold)
        }
        assert regrets["bbb"] < regrets["thompson"] / 2

    def test_refuses_other_rewards(self) -> None:
        with pytest.raises(PolicyError, match="but found 1"):
            BackdoorBandit(STATES, noise_scale=1.0)
        policy = BackdoorBandit(STATES)
        rows = Observations(np.zeros((1, 2), dtype=np.int16), np.array([2.0]))
        with pytest.raises(PolicyError, match=r"in \[0, 1\]"):
            policy.tell(policy.ask(), rows)
        with pytest.raises(PolicyError, match=r"in \[0, 1\]"):
            policy.warm_start(Intervention(), rows)
