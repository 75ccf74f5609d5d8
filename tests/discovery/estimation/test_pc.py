"""PC with a counted test: causal-learn's own result, on wide tables too, no v-structures from knowledge."""

import networkx as nx
import numpy as np
import pytest
from causallearn.search.ConstraintBased import PC
from graphs import random_dag, rows_from

from discovery.estimation import pc
from discovery.estimation.causal_learn import read_matrix
from discovery.estimation.contingency import Contingency
from discovery.estimation.counted_scores import GSquare
from discovery.estimation.pc import run_pc, stable_skeleton
from discovery.estimation.settings import EstimateSettings
from discovery.estimation.watch import Watch

RULES = [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (2, 2), (2, 3), (2, 4)]


def edges_of(matrix):
    return set(read_matrix(matrix, range(len(matrix))).edges)


def p_values(codes, n_states):
    test = GSquare(Contingency(codes, [n_states] * codes.shape[1])).test
    return lambda x, y, given: test(x, y, given).p_value


def counted(codes, n_states, **settings):
    matrix, notes = run_pc(codes.shape[1], p_values(codes, n_states), EstimateSettings(**settings))
    assert notes == ()
    return edges_of(matrix)


def causal_learns_own(codes, alpha=0.01, **rules):
    return edges_of(PC.pc(codes, alpha, "gsq", show_progress=False, **rules).G.graph)


def d_separation(dag):
    return lambda x, y, given: float(nx.is_d_separator(dag, {x}, {y}, set(given)))


def from_d_separation(dag, rule, **known):
    return edges_of(run_pc(len(dag), d_separation(dag), EstimateSettings(uc_rule=rule), **known)[0])


@pytest.mark.parametrize(("rule", "priority"), RULES)
def test_the_result_is_causal_learns_own(rule, priority):
    rng = np.random.default_rng(10 * rule + priority)
    for _ in range(4):
        codes = rows_from(random_dag(range(8), 0.4, rng), 2, int(rng.choice([200, 2000])), rng)
        expected = causal_learns_own(codes, uc_rule=rule, uc_priority=priority)
        assert counted(codes, 2, uc_rule=rule, uc_priority=priority) == expected


def test_on_forty_variables_too():
    rng = np.random.default_rng(0)
    codes = rows_from(random_dag(range(40), 0.03, rng), 2, 300, rng)
    ours = counted(codes, 2, alpha=0.001)
    assert ours == causal_learns_own(codes, alpha=0.001, uc_rule=2, uc_priority=2)
    assert any(marks == "—" for _, _, marks in ours)


def test_a_limit_of_time_leaves_the_larger_sets_out():
    rng = np.random.default_rng(0)
    codes = rows_from(random_dag(range(9), 0.6, rng), 2, 2000, rng)
    test, asked = p_values(codes, 2), []

    def p_value(x, y, given):
        asked.append(len(given))
        return test(x, y, given)

    watch = Watch(time_limit=1e-9)
    matrix, _ = run_pc(9, p_value, EstimateSettings(), watch=watch)
    assert max(asked) == 1
    assert watch.reason == "the time limit of 1e-09 s"
    assert edges_of(matrix) == counted(codes, 2, max_conditions=1)


@pytest.mark.parametrize("rule", [0, 1, 2])
def test_forbidding_what_is_not_there_makes_no_v_structure(rule):
    """0 → 1 → 2 with 0 and 2 known not to be adjacent: causal-learn's own PC makes 0 → 1 ← 2 of it."""
    found = from_d_separation(nx.DiGraph([(0, 1), (1, 2)]), rule, forbidden=((0, 2),))
    assert found == {(0, 1, "—"), (1, 2, "—")}


@pytest.mark.parametrize("rule", [0, 1, 2])
def test_true_knowledge_of_adjacencies_leaves_the_class_alone(rule):
    """40 random DAGs with exact tests: a few seconds."""
    rng = np.random.default_rng(rule)
    for _ in range(40):
        dag = random_dag(range(6), 0.4, rng)
        pairs = [(i, j) for i in range(6) for j in range(i + 1, 6) if rng.random() < 0.4]
        joined = {tuple(sorted(edge)) for edge in dag.edges}
        required = tuple(pair for pair in pairs if pair in joined)
        forbidden = tuple(pair for pair in pairs if pair not in joined)
        without = from_d_separation(dag, rule)
        assert from_d_separation(dag, rule, required=required, forbidden=forbidden) == without


def test_a_forbidden_pair_that_nothing_separates_makes_no_v_structure():
    dag = nx.DiGraph([(0, 1), (0, 2), (1, 2)])
    found = from_d_separation(dag, 0, forbidden=((0, 2),))
    assert {marks for _, _, marks in found} == {"—"}


def test_a_hub_ends_in_smaller_conditioning_sets_not_in_hours(monkeypatch):
    monkeypatch.setattr(pc, "allowed_tests", lambda n_variables: 9000)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (1000, 19)).astype(np.int16)
    for effect in range(1, 18):
        codes[:, effect] = codes[:, 0] ^ (rng.random(1000) < 0.2)
    matrix, (warning,) = run_pc(19, p_values(codes, 2), EstimateSettings())
    assert edges_of(matrix) >= {(0, effect, "—") for effect in range(1, 18)}
    assert "larger than 2 after 9,000 tests" in warning


def test_the_order_of_the_variables_does_not_matter_to_the_skeleton():
    rng = np.random.default_rng(4)
    codes = rows_from(random_dag(range(8), 0.5, rng), 3, 300, rng)
    order = rng.permutation(8)

    def pairs(codes, names):
        found = stable_skeleton(8, p_values(codes, 3), 0.1).neighbours
        return {frozenset((int(names[x]), int(names[y]))) for x, others in enumerate(found) for y in others}

    assert pairs(codes, range(8)) == pairs(codes[:, order], order)


def test_known_pairs_are_kept_or_left_out_without_a_test():
    def independent(x, y, given):
        assert {x, y} != {1, 2}
        return 1.0

    def dependent(x, y, given):
        assert {x, y} != {0, 3}
        return 0.0

    assert stable_skeleton(4, independent, 0.05, required=[(2, 1)]).neighbours == ((), (2,), (1,), ())
    found = stable_skeleton(4, dependent, 0.05, forbidden=[(3, 0)]).neighbours
    assert found == ((1, 2), (0, 2, 3), (0, 1, 3), (1, 2))
