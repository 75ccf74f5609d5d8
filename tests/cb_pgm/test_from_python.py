"""What Python's users hand over and get back: graphs, networks and frames; what doesn't fit is refused."""

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from pgmpy.base import DAG, PDAG
from pgmpy.factors.continuous import LinearGaussianCPD
from pgmpy.models import DiscreteMarkovNetwork, LinearGaussianBayesianNetwork

from cb_pgm import (
    CNUCB,
    CausalBanditError,
    CausalSystem,
    Pipeline,
    Session,
    compare,
    estimate_effects,
    simulate,
)
from cb_pgm.pgmpy import CausalBanditModel, CausalBanditPolicy
from cb_pgm.policies import Policy
from discovery import DiscoveryError, DiscreteTable, EssentialGraph, read_csv

KIDNEY = nx.DiGraph([("size", "treatment")])


def linear_gaussian() -> LinearGaussianBayesianNetwork:
    network = LinearGaussianBayesianNetwork([("A", "B")])
    network.add_cpds(LinearGaussianCPD("A", [0], 1), LinearGaussianCPD("B", [0, 1], 1, ["A"]))
    return network


class TestGraphs:
    def test_of_networkx_and_pgmpy(self) -> None:
        collider = [("A", "B"), ("C", "B")]
        for graph in (nx.DiGraph(collider), DAG(collider), PDAG(directed_ebunch=collider)):
            assert set(EssentialGraph.of(graph).directed) == set(collider)
        for graph in (nx.Graph([("A", "B")]), PDAG(undirected_ebunch=[("A", "B")])):
            assert [set(edge) for edge in EssentialGraph.of(graph).undirected] == [{"A", "B"}]

    def test_come_back_as_they_were_given(self) -> None:
        graph = EssentialGraph("ABCD", [("A", "C"), ("B", "C")], [("B", "D")])
        for given in (graph, graph.to_networkx(), graph.to_pgmpy()):
            again = EssentialGraph.of(given)
            assert set(again.directed) == set(graph.directed)
            assert {frozenset(edge) for edge in again.undirected} == {frozenset("BD")}

    @pytest.mark.parametrize("as_graph", [lambda dag: dag, lambda dag: DAG(list(dag.edges))])
    @pytest.mark.parametrize("reward", [[], [("size", "success"), ("treatment", "success")]])
    def test_answer_a_table(self, as_graph: Callable[[Any], Any], reward: list[tuple[str, str]]) -> None:
        table = read_csv("data/kidney_stones.csv", "success=yes")
        graph = as_graph(nx.DiGraph([*KIDNEY.edges, *reward]))
        report = estimate_effects(table, graph=graph, not_settable=["size"], draws=20)
        means = report.to_frame().set_index("state")["mean"]
        assert means.round(2).to_dict() == {"A": 0.83, "B": 0.78}

    def test_run_and_search(self) -> None:
        report = Pipeline(
            "data/kidney_stones.csv", "success=yes", policies=["cn-ucb"], graph=KIDNEY, horizon=50, seed=1
        ).run()
        assert set(report.summary()["graph"]) == {"estimated"}
        system = CausalSystem.from_bif("data/asia.bif", "xray=yes")
        policy = CNUCB(system.dag, system.states, system.marginals(), reward_gap=0.1, effect_gap=0.1)
        assert simulate(policy, system, 100, seed=1).horizon == 100

    @pytest.mark.parametrize(
        ("graph", "message"),
        [
            ("size -> treatment", "but found str: convert it"),
            (nx.MultiDiGraph([("size", "treatment")]), "but found MultiDiGraph"),
            (nx.DiGraph([("size", "treatmnt")]), "did you mean 'treatment'"),
            (DAG([("U", "size"), ("U", "treatment")], latents={"U"}), "the latent U"),
            (nx.DiGraph([("a", "b"), ("b", "c"), ("c", "a")]), "cycle|variables"),
        ],
    )
    def test_that_do_not_fit_are_refused(self, graph: Any, message: str) -> None:
        table = read_csv("data/kidney_stones.csv", "success=yes")
        with pytest.raises((DiscoveryError, OSError), match=f"{message}|No such file"):
            estimate_effects(table, graph=graph, not_settable=["size"], draws=5)


class TestNetworks:
    @pytest.mark.parametrize(
        ("network", "message"),
        [
            (linear_gaussian(), "found LinearGaussianBayesianNetwork, whose variables aren't discrete"),
            (DAG([("A", "B")]), "found DAG, which has no such tables"),
            (DiscreteMarkovNetwork([("A", "B")]), "found DiscreteMarkovNetwork, which has no such tables"),
            (nx.DiGraph([("A", "B")]), "found DiGraph, which has no such tables"),
            ("data/asia.bif", "found the path 'data/asia.bif': read it by CausalSystem.from_bif"),
        ],
    )
    def test_of_other_kinds_are_refused_in_a_sentence(self, network: Any, message: str) -> None:
        with pytest.raises(CausalBanditError, match=message):
            CausalSystem(network, reward="B=1")

    def test_latents_are_hidden_and_come_back(self) -> None:
        network = CausalSystem.from_bif("data/asia.bif", "dysp=yes").network()
        network.latents = {"smoke"}
        system = CausalSystem(network, reward="reward=1")
        assert system.hidden == ("smoke",)
        assert "smoke" not in system.settable
        assert system.network().latents == {"smoke"}
        assert system.network({"either": "yes"}).latents == {"smoke"}
        again = CausalSystem(system.network(), reward=f"{system.reward_node}=1")
        assert again.arm_means() == pytest.approx(system.arm_means())


class TestAnswers:
    def test_have_frames_and_short_names(self) -> None:
        table = read_csv("data/kidney_stones.csv", "success=yes")
        report = estimate_effects(table, not_settable=["size"], draws=10)
        assert repr(report).startswith("EffectsReport(2 arms, ")
        assert list(report.to_frame()["state"]) == [arm.state for arm in report.arms]

    def test_of_a_session_are_short(self, tmp_path: Any) -> None:
        states = {"a": ("0", "1"), "b": ("0", "1"), "y": ("0", "1")}
        with Session.start(tmp_path, states=states, reward="y=1", horizon=9, seed=1) as session:
            assert repr(session.status()) == "Status(0 of 9 rows recorded, best arm none yet)"

    def test_advise_in_terms_of_python(self) -> None:
        network = CausalSystem.from_bif("data/cancer.bif", "Xray=positive").network()
        model = CausalBanditModel(network, "reward=1", ["Smoker"])
        policy = CausalBanditPolicy(model, budget=10, policy="moss", seed=1).fit()
        row = {"Pollution": None, "Cancer": "False", "Dyspnoea": "True", "reward": "1"}
        row |= policy.select_action()
        with pytest.raises(CausalBanditError) as caught:
            policy.update(row)
        assert "--" not in str(caught.value)
        assert "allow_unknown=True" in str(caught.value)
        policy.update(row, allow_unknown=True)

    def test_of_a_table_name_keywords(self) -> None:
        rng = np.random.default_rng(1)
        frame = pd.DataFrame({"a b": rng.normal(size=99), "c": ["x", None, "y"] * 33, "y": [0, 1, 0] * 33})
        with pytest.raises(DiscoveryError) as caught:
            DiscreteTable.from_frame(frame, reward="y")
        said = str(caught.value)
        assert "--" not in said
        assert 'missing="drop"' in said
        assert "bins=3" in said


def test_policies_have_four_methods_named_in_public() -> None:
    assert Policy.__abstractmethods__ == {"begin", "next_pull", "learn", "means"}
    assert all(f"``{name}(" in (Policy.__doc__ or "") for name in Policy.__abstractmethods__)


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(CausalBanditError, match=r"found str: read one by discovery.read_csv"):
        estimate_effects("data/asia.csv")  # type: ignore[arg-type]


class Page:
    """A page whose colour decides how many click."""

    states = settable = {"colour": ("red", "blue")}  # noqa: RUF012

    def mean_reward(self, do: Any) -> float:
        return {"red": 0.2, "blue": 0.5}.get(do.get("colour"), 0.35)

    def sample(self, do: Any, size: int, rng: np.random.Generator) -> Any:
        raise NotImplementedError


class Half(Policy):
    def begin(self, rng: np.random.Generator) -> None: ...


@pytest.mark.parametrize(
    ("policies", "system", "message"),
    [
        ([Half], Page(), "found Half without learn, means and next_pull"),
        (["screnning"], Page(), "did you mean 'screening'"),
        (["ucb"], "data/asia.bif", "an object with states, settable, sample and mean_reward, but found str"),
    ],
)
def test_wrong_uses_are_refused_in_a_sentence(policies: list[Any], system: Any, message: str) -> None:
    with pytest.raises(CausalBanditError, match=message):
        compare(policies, system, horizon=10, seeds=1)


@pytest.mark.parametrize(("made", "graphs"), [("InTurn", {"none"}), ("OnGraph", {"estimated", "oracle"})])
def test_run_labels_a_policy_of_ones_own_by_whether_it_works_on_a_graph(
    made: str, graphs: set[str], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(
        "from cb_pgm import UCB\n"
        "class InTurn(UCB): pass\n"
        "class OnGraph(UCB):\n"
        "    @classmethod\n"
        "    def from_context(cls, context):\n"
        "        assert context.graph is not None\n"
        "        return super().from_context(context)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    pipeline = Pipeline(
        "data/asia.csv", "xray=yes", truth="data/asia.bif", policies=[f"mine:{made}"], horizon=50
    )
    report = pipeline.run()
    assert set(report.summary()["graph"]) == graphs
    assert ("none: the policy uses no graph." in report.to_text()) == (made == "InTurn")
