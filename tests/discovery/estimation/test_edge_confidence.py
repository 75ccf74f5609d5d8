"""Edges counted over resampled tables: shares that add up, the same for any number of processes."""

import numpy as np
import pytest
from graphs import random_dag, rows_from

from discovery import DiscreteTable, EstimationError, Knowledge, edge_confidence, estimate
from discovery.estimation.settings import EstimateSettings


def table_of(codes):
    states = {f"v{i}": ("0", "1") for i in range(codes.shape[1])}
    return DiscreteTable(np.asfortranarray(codes), states)


def drawn_table(seed, n_rows=400, n=5):
    rng = np.random.default_rng(seed)
    return table_of(rows_from(random_dag(range(n), 0.4, rng), 2, n_rows, rng))


def test_shares_are_of_the_resampled_tables_and_add_up():
    found = edge_confidence(drawn_table(1), resamples=8)
    assert found.edges
    for edge in found.edges:
        assert edge.adjacent == pytest.approx(edge.forwards + edge.backwards + edge.undirected)
        assert 0 < edge.adjacent <= 1
        assert edge.adjacent * 8 == pytest.approx(round(edge.adjacent * 8))


def test_the_order_of_the_rows_does_not_matter():
    table = drawn_table(3)
    shuffled = table_of(table.codes[np.random.default_rng(0).permutation(table.n_rows)])
    assert edge_confidence(table, resamples=5) == edge_confidence(shuffled, resamples=5)


@pytest.mark.slow
def test_the_number_of_processes_does_not_matter():
    table = drawn_table(4)
    assert edge_confidence(table, resamples=6, jobs=2) == edge_confidence(table, resamples=6)


def test_another_seed_draws_other_tables():
    table = drawn_table(5, n_rows=60)
    assert edge_confidence(table, resamples=20, seed=1) != edge_confidence(table, resamples=20, seed=2)


def test_a_strong_edge_is_in_all_graphs_and_a_weak_one_in_some():
    rng = np.random.default_rng(6)
    x, z = rng.integers(0, 2, 300), rng.integers(0, 2, 300)
    strong = x ^ (rng.random(300) < 0.1)
    weak = np.where(rng.random(300) < 0.22, z, rng.integers(0, 2, 300))
    found = edge_confidence(table_of(np.stack([x, strong, z, weak], 1).astype(np.int16)), resamples=30)
    assert found.between("v0", "v1").adjacent == 1
    assert found.between("v1", "v0").undirected == found.share("v1", "v0", directed=False)
    assert 0.2 < found.between("v2", "v3").adjacent < 1


def test_known_directions_count_as_directions():
    table = drawn_table(7)
    one, other = (estimate(table).graph.directed + estimate(table).graph.undirected)[0]
    settings = EstimateSettings(knowledge=Knowledge(required=[(other, one)]))
    assert edge_confidence(table, settings, resamples=4).share(other, one, directed=True) == 1


def test_no_resamples_are_refused():
    with pytest.raises(EstimationError, match="at least one resampled table"):
        edge_confidence(drawn_table(9), resamples=0)
