"""What an estimated graph's errors cost the searches, with exact answers of the truth."""

import json
from pathlib import Path

import networkx as nx
import pytest

from cb_pgm.cli.program import main
from cb_pgm.search.cost import search_costs
from discovery import EssentialGraph


def test_on_the_true_graph_every_search_finds_every_cause() -> None:
    dag = nx.DiGraph([("A", "B"), ("B", "C"), ("D", "C"), ("C", "E"), ("B", "E")])
    costs = search_costs(EssentialGraph.from_dag(dag), dag)
    assert list(costs) == ["forest", "general", "sound"]
    for cost in costs.values():
        assert (cost.right, cost.wrong, cost.none) == (tuple(dag.nodes), (), ())


def test_a_forest_is_only_searched_where_the_estimate_is_one() -> None:
    triangle = nx.DiGraph(["AB", "AC", "BC"])
    costs = search_costs(EssentialGraph.from_dag(triangle), triangle)
    assert list(costs) == ["general", "sound"]
    assert all(cost.right == ("A", "B", "C") for cost in costs.values())


def test_a_missing_arrow_costs_nothing_where_the_line_that_is_left_is_asked_about() -> None:
    """Truth A → C ← B; the estimate lacks B — C, and two questions each tell the three apart all the same."""
    dag = nx.DiGraph([("A", "C"), ("B", "C")])
    for cost in search_costs(EssentialGraph("ABC", [], [("A", "C")]), dag).values():
        assert (cost.right, cost.wrong, cost.none, cost.questions) == (("A", "B", "C"), (), (), 6)


def test_a_turned_arrow_costs_the_variable_below_it() -> None:
    """The estimate has D → B where the truth has B → D.

    Where D is the parent, B moves the reward and has nothing below it in the estimate: it is named, wrongly.
    """
    dag = nx.DiGraph([("A", "B"), ("C", "B"), ("B", "D")])
    for cost in search_costs(EssentialGraph("ABCD", ["DB", "AB", "CB"], []), dag).values():
        assert (cost.right, cost.wrong, cost.none) == (("A", "B", "C"), ("D",), ())


def test_the_command_says_what_errors_cost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Truth A → C ← B, an estimate without edges: C is missed where it is the parent."""
    (tmp_path / "truth.json").write_text(EssentialGraph("ABC", ["AC", "BC"], []).to_json())
    (tmp_path / "estimate.json").write_text(EssentialGraph("ABC", [], []).to_json())
    assert main(["compare", str(tmp_path / "estimate.json"), str(tmp_path / "truth.json"), "--json"]) == 0
    searches = json.loads(capsys.readouterr().out)["searches"]
    for cost in searches.values():
        assert (cost["right"], cost["wrong"]) == (["A", "B"], ["C"])
    assert main(["compare", "data/asia.bif", "data/asia.bif", "--json"]) == 0
    network = json.loads(capsys.readouterr().out)
    assert network["shd"] == 0
    for cost in network["searches"].values():
        assert len(cost["right"]) == 8
