"""What an estimated graph's errors cost the searches, with exact answers of the truth."""

import json
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

from cb_pgm.search.cost import search_costs
from discovery import EssentialGraph


def test_on_the_true_graph_every_cause_is_found() -> None:
    dag = nx.DiGraph([("A", "B"), ("B", "C"), ("D", "C"), ("C", "E"), ("B", "E")])
    costs = search_costs(EssentialGraph.from_dag(dag), dag)
    for name in ("sound", *(["forest"] if "forest" in costs else [])):
        assert costs[name].right == tuple(dag.nodes)
        assert costs[name].wrong == costs[name].none == ()


def test_a_missing_collider_arrow_hides_what_is_below_it() -> None:
    """Truth A → C ← B; an estimate without B — C puts A — C into one component that misses B's arrow."""
    dag = nx.DiGraph([("A", "C"), ("B", "C")])
    costs = search_costs(EssentialGraph("ABC", [], [("A", "C")]), dag)
    for cost in costs.values():
        assert sorted(cost.right + cost.wrong + cost.none) == ["A", "B", "C"]
    assert "A" in costs["sound"].right


def test_a_turned_arrow_costs_what_is_named_wrongly() -> None:
    """The estimate has D → B where the truth has B → D: not all causes are named rightly any more."""
    dag = nx.DiGraph([("A", "B"), ("C", "B"), ("B", "D")])
    wrong = EssentialGraph("ABCD", [("D", "B"), ("A", "B"), ("C", "B")], [])
    sound = search_costs(wrong, dag)["sound"]
    assert set(sound.right) < set("ABCD")


@pytest.mark.parametrize("truth", ["data/asia.bif", "json"])
def test_the_command_says_what_errors_cost(truth: str, tmp_path: Path) -> None:
    if truth == "json":
        true = EssentialGraph("ABC", [("A", "C"), ("B", "C")], [])
        (tmp_path / "truth.json").write_text(true.to_json())
        (tmp_path / "estimate.json").write_text(EssentialGraph("ABC", [], []).to_json())
        arguments, n = [str(tmp_path / "estimate.json"), str(tmp_path / "truth.json")], 3
    else:
        arguments, n = [truth, truth], 8
    command = [sys.executable, "-m", "cb_pgm", "compare", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    searches = json.loads(done.stdout)["searches"]
    for cost in searches.values():
        assert len(cost["right"]) + len(cost["wrong"]) + len(cost["none"]) == n
    if truth != "json":
        assert len(searches["sound"]["right"]) == n
