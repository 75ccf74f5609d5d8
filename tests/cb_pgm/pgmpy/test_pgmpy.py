"""The interface for users of pgmpy: its page is true, and what it does is what our own code does."""

import doctest
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pgmpy.base import DAG
from pgmpy.models import DiscreteBayesianNetwork
from pgmpy.readwrite import BIFReader
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from cb_pgm import CausalBanditError, CausalSystem
from cb_pgm.pgmpy import GES, PC, CausalBanditModel, CausalBanditPolicy, ChowLiu
from discovery import DiscreteTable, estimate

ROOT = Path(__file__).parents[3]


def test_its_page_prints_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / "cb_pgm/pgmpy/README.md").read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, "README.md", "README.md", 0)
    assert len(test.examples) >= 12
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed == 0


class TestEstimators:
    @pytest.fixture
    def frame(self) -> pd.DataFrame:
        return pd.read_csv(ROOT / "data/asia.csv", nrows=1500).drop(columns=["asia"])

    @pytest.mark.parametrize("kind", [GES, PC, ChowLiu])
    def test_fit_gives_the_graph_of_estimate(self, kind: type, frame: pd.DataFrame) -> None:
        method = {"GES": "ges", "PC": "pc", "ChowLiu": "chow-liu"}[kind.__name__]
        fitted = kind().fit(frame)
        expected = estimate(DiscreteTable.from_frame(frame), method).graph
        assert fitted.estimate_.graph == expected
        assert set(fitted.causal_graph_.nodes) == set(frame.columns)
        matrix = fitted.adjacency_matrix_.to_numpy()
        assert matrix.sum() == len(expected.directed) + 2 * len(expected.undirected)
        assert list(fitted.feature_names_in_) == list(frame.columns)

    @pytest.mark.parametrize("kind", [GES, PC, ChowLiu])
    def test_they_are_cloned_without_what_was_fitted(self, kind: type, frame: pd.DataFrame) -> None:
        fitted = kind().fit(frame)
        check_is_fitted(fitted)
        twin = clone(fitted)
        assert twin.get_params() == fitted.get_params()
        with pytest.raises(NotFittedError):
            check_is_fitted(twin)

    def test_an_array_has_columns_by_number(self) -> None:
        rng = np.random.default_rng(0)
        fitted = GES().fit(rng.integers(2, size=(200, 3)))
        assert list(fitted.feature_names_in_) == ["x0", "x1", "x2"]


class TestBandit:
    @pytest.fixture
    def network(self) -> DiscreteBayesianNetwork:
        return BIFReader(str(ROOT / "data/asia.bif")).get_model()

    @pytest.fixture
    def world(self, network: DiscreteBayesianNetwork) -> CausalSystem:
        return CausalSystem(network, reward="xray=yes")

    def play(self, policy: CausalBanditPolicy, world: CausalSystem, rounds: int) -> None:
        rng = np.random.default_rng(3)
        for _ in range(rounds):
            seen = world.sample(policy.select_action(), 1, rng)
            assert policy.select_action() == policy.select_action()
            names = world.states.items()
            row = {name: states[code] for (name, states), code in zip(names, seen.codes[0], strict=True)}
            policy.update({**row, "xray": "yes" if seen.rewards[0] else "no"})

    @pytest.mark.parametrize("name", ["screening", "moss", "cn-ucb"])
    def test_it_learns_from_observations_first(
        self, network: DiscreteBayesianNetwork, world: CausalSystem, name: str
    ) -> None:
        frame = pd.read_csv(ROOT / "data/asia.csv", nrows=3000)
        model = CausalBanditModel(network, "xray=yes", ["smoke", "either"])
        policy = CausalBanditPolicy(model, "maximize", 60, policy=name, seed=1).fit(frame)
        self.play(policy, world, 60)
        best = policy.status().best_arm
        assert best is not None
        assert set(best.intervention) <= {"smoke", "either"}
        with pytest.raises(CausalBanditError, match="budget"):
            policy.select_action()

    def test_only_the_interventions_of_the_space_are_selected(
        self, network: DiscreteBayesianNetwork, world: CausalSystem
    ) -> None:
        model = CausalBanditModel(network, "xray=yes", ["smoke", "either"])
        model.set_intervention_space({"either": ["no"], "smoke": ["yes"]})
        policy = CausalBanditPolicy(model, "minimize", 30, policy="ucb", seed=1).fit()
        actions = []
        for _ in range(30):
            actions.append(policy.select_action())
            row = {name: states[0] for name, states in world.states.items()} | actions[-1]
            policy.update(pd.DataFrame([{**row, "xray": "no"}]))
        assert all(action in [{}, *model.get_possible_interventions()] for action in actions)
        assert len({str(action) for action in actions}) == 3

    def test_what_is_not_known_is_refused(self, network: DiscreteBayesianNetwork) -> None:
        with pytest.raises(CausalBanditError, match="hard"):
            CausalBanditModel(None, "y", ["a"], intervention_type="soft")
        with pytest.raises(CausalBanditError, match="did you mean 'smoke'"):
            CausalBanditModel(network, "xray=yes", ["smok"])
        with pytest.raises(CausalBanditError, match="set_intervention_space"):
            CausalBanditModel(DAG([("a", "b")]), "b=1", ["a"]).get_possible_interventions()
        model = CausalBanditModel(network, "xray=yes", ["smoke"])
        with pytest.raises(CausalBanditError, match="maybe"):
            model.set_intervention_space({"smoke": ["maybe"]})
        with pytest.raises(CausalBanditError, match="call fit"):
            CausalBanditPolicy(model).select_action()
        with pytest.raises(CausalBanditError, match="select_action"):
            CausalBanditPolicy(model).fit().update({})
