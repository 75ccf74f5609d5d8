"""Random systems of random tables: their laws, and equal seeds."""

from __future__ import annotations

import numpy as np
import pytest

from cb_pgm import CausalSystem, CausalSystemError, instances
from cb_pgm.study import Study


def test_equal_seeds_give_equal_systems() -> None:
    one, same, other = (instances.random_tables(n_parents=2, seed=seed) for seed in (1, 1, 2))
    assert one.arm_means() == same.arm_means()
    assert one.arm_means() != other.arm_means()
    assert one.noise_scale == 0.5


def test_degrees_and_means_are_of_their_laws() -> None:
    """200 systems: 8·7/2·(2/8) = 7 edges, reward means of ½, each within 5 standard errors."""
    systems = [instances.random_tables(seed=seed) for seed in range(200)]
    edges = [system.dag.number_of_edges() for system in systems]
    assert abs(np.mean(edges) - 7) < 5 * np.sqrt(28 * 0.25 * 0.75 / 200)
    means = np.concatenate([system.reward.means for system in systems])
    assert abs(means.mean() - 0.5) < 5 * np.sqrt(1 / 12 / 600)


@pytest.mark.parametrize("effect", [0.0, 0.5, 1.0])
def test_the_parent_effect_is_the_share_of_a_row_of_its_own(effect: float) -> None:
    """Rows of a table differ in variance by 2·effect²·Var of a uniform share, 1/18; 2,000 tables at least."""
    differences = []
    for seed in range(150):
        for parents, table in _tables(instances.random_tables(20, parent_effect=effect, seed=seed)):
            if len(parents) == 1:
                differences.append(table[0, 0] - table[1, 0])
    assert np.var(differences) == pytest.approx(2 * effect**2 / 18, rel=0.3, abs=1e-20)


def _tables(system: CausalSystem) -> zip:
    return zip(system.model.parents, system.model.tables, strict=True)


def test_studies_know_it() -> None:
    study = Study.from_dict(
        {
            "system": [{"instance": "random_tables", "n_parents": [1, 2], "parent_effect": 0.7}],
            "policy": [{"name": "ucb-plus"}],
        }
    )
    assert len(list(study.cells())) == 2


@pytest.mark.parametrize(
    ("settings", "name"),
    [({"n": 0}, "n=0"), ({"n_parents": 9}, "n_parents"), ({"parent_effect": 1.1}, "parent_effect")],
)
def test_refuses_by_name(settings: dict[str, float], name: str) -> None:
    with pytest.raises(CausalSystemError, match=name):
        instances.random_tables(**settings)
