"""PC with a counted test: causal-learn's own result, on wide tables too, no v-structures from knowledge."""

import networkx as nx
import numpy as np
import pytest
from causallearn.search.ConstraintBased import PC
from causallearn.utils import cit
from causallearn.utils.PCUtils import SkeletonDiscovery
from graphs import random_dag, rows_from

from discovery.estimation import pc_search
from discovery.estimation.causal_learn import read_matrix
from discovery.estimation.contingency import Contingency
from discovery.estimation.counted_scores import GSquare
from discovery.estimation.pc_search import PCSettings, run_pc
from discovery.estimation.watch import Watch

RULES = [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (2, 2), (2, 3), (2, 4)]


def counted(codes, n_states, **settings):
    test = GSquare(Contingency(codes, [n_states] * codes.shape[1])).test
    return run_pc(codes, lambda x, y, given: test(x, y, given).p_value, PCSettings(**settings))


def causal_learns_own(codes, alpha=0.01, **rules):
    return read_matrix(PC.pc(codes, alpha, "gsq", show_progress=False, **rules).G.graph)


def from_d_separation(dag, **settings):
    codes = np.zeros((2, len(dag)), dtype=np.int16)
    return run_pc(
        codes, lambda x, y, given: float(nx.is_d_separator(dag, {x}, {y}, set(given))), PCSettings(**settings)
    )


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
    assert ours.undirected


def test_a_limit_of_time_leaves_the_larger_sets_out():
    rng = np.random.default_rng(0)
    codes = rows_from(random_dag(range(9), 0.6, rng), 2, 2000, rng)
    test = GSquare(Contingency(codes, [2] * 9)).test
    asked = []

    def p_value(x, y, given):
        asked.append(len(given))
        return test(x, y, given).p_value

    watch = Watch(time_limit=1e-9)
    found = run_pc(codes, p_value, PCSettings(), watch)
    assert max(asked) == 1
    assert watch.reason == "the time limit of 1e-09 s"
    assert found == counted(codes, 2, max_conditions=1)


def test_causal_learn_is_unchanged_afterwards():
    rng = np.random.default_rng(0)
    codes = rows_from(random_dag(range(5), 0.5, rng), 2, 200, rng)
    modules = (PC, cit, SkeletonDiscovery)
    before, tests = [dict(vars(module)) for module in modules], dict(cit._custom_ci_tests)
    counted(codes, 2)
    counted(codes, 2, forbidden=((0, 1),))

    def fails(x, y, given):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_pc(codes, fails, PCSettings())
    assert [dict(vars(module)) for module in modules] == before
    assert cit._custom_ci_tests == tests


def test_a_causal_learn_without_the_hook_uses_its_own_test_and_says_so(monkeypatch):
    rng = np.random.default_rng(1)
    codes = rows_from(random_dag(range(6), 0.4, rng), 2, 500, rng)
    expected = causal_learns_own(codes, uc_rule=2, uc_priority=2)
    monkeypatch.delattr(cit, "register_ci_test")
    found = counted(codes, 2)
    assert (found.directed, found.undirected) == (expected.directed, expected.undirected)
    assert len(found.warnings) == 1
    assert "its own G² test" in found.warnings[0]


@pytest.mark.parametrize("rule", [0, 1, 2])
def test_forbidding_what_is_not_there_makes_no_v_structure(rule):
    """0 → 1 → 2 with 0 and 2 known not to be adjacent: causal-learn's own PC makes 0 → 1 ← 2 of it."""
    found = from_d_separation(nx.DiGraph([(0, 1), (1, 2)]), uc_rule=rule, forbidden=((0, 2),))
    assert (found.directed, found.undirected) == ((), ((0, 1), (1, 2)))


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
        without = from_d_separation(dag, uc_rule=rule)
        assert from_d_separation(dag, uc_rule=rule, required=required, forbidden=forbidden) == without


def test_a_forbidden_pair_that_nothing_separates_makes_no_v_structure():
    dag = nx.DiGraph([(0, 1), (0, 2), (1, 2)])
    assert from_d_separation(dag, uc_rule=0, forbidden=((0, 2),)).directed == ()


def test_a_hub_ends_in_smaller_conditioning_sets_not_in_hours(monkeypatch):
    monkeypatch.setattr(pc_search, "allowed_tests", lambda n_variables: 9000)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (1000, 19)).astype(np.int16)
    for effect in range(1, 18):
        codes[:, effect] = codes[:, 0] ^ (rng.random(1000) < 0.2)
    found = counted(codes, 2)
    assert set(found.undirected) >= {(0, effect) for effect in range(1, 18)}
    assert len(found.warnings) == 1
    assert "larger than 2 after 9,000 tests" in found.warnings[0]


def test_no_larger_conditioning_sets_than_asked_for():
    rng = np.random.default_rng(2)
    codes = rows_from(random_dag(range(7), 0.9, rng), 2, 3000, rng)
    test = GSquare(Contingency(codes, [2] * 7)).test
    sizes = set()

    def p_value(x, y, given):
        sizes.add(len(given))
        return test(x, y, given).p_value

    run_pc(codes, p_value, PCSettings(max_conditions=1))
    assert sizes == {0, 1}
