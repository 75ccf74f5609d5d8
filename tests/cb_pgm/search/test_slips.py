"""The slips of the paper's text, each put back alone into the otherwise mended algorithms, with a
counterexample.

`scripts/printed_algorithms.py` holds them; `paper_slips` of `scripts/results` counts what fails on all DAGs
of five nodes.
"""

import random
from collections import Counter
from collections.abc import Sequence

import networkx as nx
import paper_slips
import pytest
from graphs import ordered_dags
from printed_algorithms import Run, Slips, outcome

from cb_pgm.search import exact_answers, general, solve, sound
from cb_pgm.search.clique_graphs import is_intersection_incomparable
from discovery import EssentialGraph

COUNTEREXAMPLES = {
    # slip put back: nodes, arrows, X_R, what happens
    "1 weights come back": (5, "12 23 34 35", "X2", "endless"),
    "2 central node never ends on a tie": (2, "12", "X1", "endless"),
    "3a stage 1 has no exit": (2, "", "X2", "endless"),
    "3b the probed node keeps its weight": (2, "", "X2", "endless"),
    "4a components upstream first": (3, "13 23", "X3", "wrong"),
    "5 key clique asks the separator": (4, "12 13 14 23", "X4", "wrong"),
    "8 nothing returned at the end": (1, "", "X1", "nothing"),
}


def dag_of(n: int, arrows: str) -> nx.DiGraph:
    dag = nx.DiGraph()
    dag.add_nodes_from(f"X{i + 1}" for i in range(n))
    dag.add_edges_from((f"X{tail}", f"X{head}") for tail, head in arrows.split())
    return dag


@pytest.mark.parametrize("slip", COUNTEREXAMPLES)
def test_each_slip_leads_astray_where_the_mended_text_does_not(slip: str) -> None:
    n, arrows, variable, expected = COUNTEREXAMPLES[slip]
    dag = dag_of(n, arrows)
    graph = EssentialGraph.from_dag(dag)
    seen = [
        outcome(graph, dag, variable, slips, random.Random(0)) for slips in (paper_slips.SLIPS[slip], Slips())
    ]
    assert seen == [expected, "right"]
    assert variable in solve(general(graph), exact_answers(dag, [variable])).candidates
    assert solve(sound(graph), exact_answers(dag, [variable])).reward_variables == (variable,)


def test_weights_that_come_back_in_stage_1_alone_harm_a_tree_of_seven() -> None:
    dag = dag_of(7, "12 13 24 25 26 37")
    slips = Slips(weights_come_back_in_stage_1=True)
    assert outcome(EssentialGraph.from_dag(dag), dag, "X1", slips, random.Random(0)) != "right"


def test_slip_4_names_the_deepest_variable_of_a_component_upstream() -> None:
    dag = dag_of(3, "13 23")
    run = Run(EssentialGraph.from_dag(dag), dag, "X3", Slips(order="upstream"), None)
    assert run.outcome() in (("X1",), ("X2",))


@pytest.mark.parametrize(
    ("arrows", "variable", "last_first"), [("12 13 14 23 34", "X2", False), ("12 13 23 24", "X3", True)]
)
def test_slip_6_cuts_off_the_reward_variable_though_theorem_3_applies(
    arrows: str, variable: str, last_first: bool
) -> None:
    dag = dag_of(4, arrows)
    graph = EssentialGraph.from_dag(dag)
    assert len(graph.chain_components()) == 1  # moral
    assert is_intersection_incomparable(dag.to_undirected())
    slips = Slips(last_first=last_first)
    assert outcome(graph, dag, variable, slips, random.Random(0)) == "wrong"
    assert solve(sound(graph), exact_answers(dag, [variable])).reward_variables == (variable,)


def test_slip_7_a_star_is_not_intersection_incomparable_as_printed() -> None:
    star = nx.Graph([("X1", "X2"), ("X1", "X3"), ("X1", "X4")])
    assert not is_intersection_incomparable(star)
    assert is_intersection_incomparable(star, strict=True)


@pytest.mark.slow
def test_counts_on_all_dags_of_five_nodes() -> None:
    """5,120 cases, each with six variants of the algorithms; about 20 seconds."""
    cases = [(EssentialGraph.from_dag(dag), dag, node) for dag in ordered_dags(5) for node in dag]
    forests = [case for case in cases if len(case[0].undirected) == 5 - len(case[0].chain_components())]
    assert (len(cases), len(forests)) == (5120, 3590)

    def count(slips: object, among: Sequence[tuple[object, ...]]) -> Counter[str]:
        return Counter(outcome(*case, slips, random.Random(0)) for case in among)

    assert count(Slips(), forests) == {"right": 3590}
    assert count(Slips(order="upstream"), forests) == {"right": 3590 - 962, "wrong": 962}
    assert count(Slips(weights_come_back=True), forests)["endless"] == 2
    assert count(Slips(weights_come_back_in_stage_1=True), forests)["right"] == 3590
    # The fault that can't be mended, by how ties are broken.
    assert count(Slips(), cases)["wrong"] == 31
    assert count(Slips(last_first=True), cases)["right"] == 5120 - 60
    assert count(Slips(key_clique_asks_separator=True), cases)["wrong"] == 309
    assert count(Slips(central_node_on_ties=True), forests)["endless"] == 1581
