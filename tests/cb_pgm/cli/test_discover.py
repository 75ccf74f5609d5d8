"""`cb-pgm discover` beyond the graph itself: frequencies of edges, and a graph of one's own checked."""

import json

import numpy as np
import pandas as pd
import pytest

from cb_pgm.cli.program import main
from discovery import EssentialGraph

SMALL = ["discover", "data/asia.csv", "--ignore", "xray", "dysp", "asia", "--seed", "3"]
NODES = ["tub", "smoke", "lung", "bronc", "either"]


def own_graph(path, **edges):
    path.write_text(json.dumps({"nodes": NODES, **edges}))
    return str(path)


def test_bootstrap_gives_frequencies_in_json_text_and_picture(tmp_path, capsys):
    out = tmp_path / "out"
    assert main([*SMALL, "--bootstrap", "4", "--json", "--out", str(out)]) == 0
    content = json.loads(capsys.readouterr().out)
    shares = content["bootstrap"]
    assert (shares["resamples"], shares["seed"]) == (4, 3)
    found = {(edge["one"], edge["other"]): edge for edge in shares["edges"]}
    assert found["tub", "either"]["forwards"] == found["lung", "either"]["adjacent"] == 1
    assert "in 50% of resampled tables" in (out / "graph.svg").read_text()
    graph = tmp_path / "printed.json"
    graph.write_text(json.dumps(content))
    assert main(["compare", str(graph), str(out / "graph.json")]) == 0
    assert "distance 0" in capsys.readouterr().out
    assert main([*SMALL, "--bootstrap", "4"]) == 0
    assert "edges are found like this in at least 90% of the 4 resampled tables" in capsys.readouterr().out


def test_an_output_that_cannot_be_finished_is_not_begun(tmp_path, capsys, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "graph.svg")

    monkeypatch.setattr("cb_pgm.plotting.regret.save", full)
    assert main([*SMALL, "--method", "chow-liu", "--out", str(tmp_path / "out")]) == 1
    assert "No space left on device" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_without_edges_there_is_nothing_to_find(tmp_path, capsys):
    table = tmp_path / "table.csv"
    table.write_text("a,b\n" + "0,0\n0,1\n1,0\n1,1\n" * 50)
    assert main(["discover", str(table), "--bootstrap", "2"]) == 0
    assert "No edges" in capsys.readouterr().out


def test_check_names_what_the_table_refutes_and_gives_both_scores(tmp_path, capsys):
    path = own_graph(tmp_path / "own.json", directed=[["smoke", "lung"], ["lung", "either"]])
    assert main([*SMALL, "--check", path]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "independent of either" in out
    assert "the worst first" in out
    assert main([*SMALL, "--check", path, "--json"]) == 0
    check = json.loads(capsys.readouterr().out)["check"]
    assert check["score"] < check["estimated_score"]
    assert [test["p_value"] for test in check["failed"]] == sorted(t["p_value"] for t in check["failed"])
    assert {"tub", "either"} in [{test["one"], test["other"]} for test in check["failed"]]
    assert all(test["adjusted_p_value"] > check["level"] for test in check["held"])


def test_the_estimate_itself_passes_its_check(tmp_path, capsys):
    path = tmp_path / "found.json"
    assert main([*SMALL, "--out", str(path)]) == 0
    assert main([*SMALL, "--check", str(path)]) == 0
    out = capsys.readouterr().out
    assert "none of" in out
    assert "the same; structural Hamming distance between the two 0" in out


def test_a_dag_of_ones_own_stands_for_its_class(tmp_path, capsys):
    """A chain of directed edges isn't an essential graph, but no edge may be added to make it one."""
    from cb_pgm.problem.graph_files import read_graph

    chain = [["tub", "either"], ["either", "lung"], ["lung", "smoke"], ["smoke", "bronc"]]
    used = read_graph(own_graph(tmp_path / "chain.json", directed=chain))
    assert used.graph == EssentialGraph(NODES, [], chain)
    assert used.repairs == ()
    assert "leaves 4 directions open" in used.warnings[0]


@pytest.mark.parametrize(
    ("nodes", "names"), [(["tub", "smoke"], "lung"), ([*NODES, "either2"], "did you mean 'either'")]
)
def test_a_graph_over_other_variables_is_refused(nodes, names, tmp_path, capsys):
    path = tmp_path / "other.json"
    path.write_text(json.dumps({"nodes": nodes}))
    assert main([*SMALL, "--check", str(path)]) == 1
    assert names in capsys.readouterr().err


def test_a_limit_of_time_returns_a_graph_and_says_so(tmp_path, capsys):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (500, 14))
    codes[:, 1:] ^= codes[:, :-1] & rng.integers(0, 2, (500, 13))
    table = tmp_path / "table.csv"
    np.savetxt(
        table, codes, fmt="%d", delimiter=",", header=",".join(f"v{i}" for i in range(14)), comments=""
    )
    known = tmp_path / "known.toml"
    known.write_text("[search]\ntime_limit = 1e-9\n")
    assert main(["discover", str(table), "--knowledge", str(known), "--json"]) == 0
    printed = capsys.readouterr()
    assert "ended by the time limit of 1e-09 s: this is the best graph so far" in printed.err
    assert len(json.loads(printed.out)["nodes"]) == 14


def test_settings_of_the_search_stand_in_the_knowledge_file(tmp_path, capsys):
    own = own_graph(tmp_path / "own.json", undirected=[["tub", "either"]])
    checked = {}
    for name, said in {"default": "", "bic": 'score = "bic"', "weight": "equivalent_sample_size = 3"}.items():
        known = tmp_path / f"{name}.toml"
        known.write_text(f"[search]\n{said}\n")
        assert main([*SMALL, "--knowledge", str(known), "--check", own, "--json"]) == 0
        checked[name] = json.loads(capsys.readouterr().out)["check"]
    assert checked["bic"]["score_name"] == "bic"
    assert len({check["score"] for check in checked.values()}) == 3


def test_rows_in_which_a_variable_was_set_direct_its_edges(tmp_path, capsys):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 600)
    y = x ^ (rng.random(600) < 0.2)
    y[300:] = rng.integers(0, 2, 300)
    frame = pd.DataFrame({"x": x, "y": y, "set": np.where(np.arange(600) < 300, "", "y")})
    table = tmp_path / "table.csv"
    frame.to_csv(table, index=False)
    assert main(["discover", str(table), "--intervention-column", "set"]) == 0
    out = capsys.readouterr().out
    assert "300 rows and 300 in which a variable was set" in out
    assert "x → y (by interventions)" in out


def test_a_wide_table_is_told_beforehand_what_it_takes(tmp_path, capsys):
    rng = np.random.default_rng(0)
    table = tmp_path / "wide.csv"
    pd.DataFrame(rng.integers(0, 2, (60, 200)), columns=[f"v{i}" for i in range(200)]).to_csv(
        table, index=False
    )
    known = tmp_path / "known.toml"
    known.write_text("[search]\ntime_limit = 0.01\n")
    assert main(["discover", str(table), "--knowledge", str(known), "--json"]) == 0
    said = capsys.readouterr().err
    assert "200 columns: the search takes some 4 s where the graph is sparse" in said
    assert main(["discover", "data/asia.csv", "--json"]) == 0
    assert "columns" not in capsys.readouterr().err


def test_fci_gives_a_pag_that_check_and_compare_read(tmp_path, capsys):
    known = tmp_path / "known.toml"
    known.write_text("[search]\nalpha = 0.001\n")
    asked = [*SMALL, "--method", "fci", "--knowledge", str(known)]
    path = tmp_path / "pag.json"
    assert main([*asked, "--bootstrap", "3", "--out", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "fci found" in printed
    assert "in resampled tables" in printed
    assert main([*asked, "--bootstrap", "3", "--check", str(path), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["method"] == "fci"
    assert content["check"]["score"] is None
    assert all(0 < edge["adjacent"] <= 1 for edge in content["bootstrap"]["edges"])
    other = tmp_path / "printed.json"
    other.write_text(json.dumps(content))
    assert main(["compare", str(path), str(other)]) == 0
    assert "distance 0" in capsys.readouterr().out
    assert main([*SMALL, "--check", str(path)]) == 0
    assert "structural Hamming" not in capsys.readouterr().out


def test_a_pag_is_no_network_and_no_essential_graph(tmp_path, capsys):
    path = tmp_path / "pag.json"
    assert main([*SMALL, "--method", "fci", "--out", str(path)]) == 0
    essential = own_graph(tmp_path / "own.json", undirected=[["tub", "either"]])
    for command, named in (
        ([*SMALL, "--method", "fci", "--format", "bif"], "found bif"),
        (["compare", str(path), essential], "one of each"),
        (["run", "data/asia.csv", "--reward", "xray=yes", "--horizon", "10", "--method", "fci"], "a PAG"),
    ):
        capsys.readouterr()
        assert main(command) == 1
        assert named in capsys.readouterr().err


def test_the_method_may_stand_in_the_knowledge_file(tmp_path, capsys):
    known = tmp_path / "known.toml"
    known.write_text('[search]\nmethod = "chow-liu"\n')
    assert main([*SMALL, "--knowledge", str(known)]) == 0
    assert "; chow-liu found" in capsys.readouterr().out
    known.write_text('[search]\nmethod = "fci"\n')
    assert main([*SMALL, "--knowledge", str(known), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["method"] == "fci"
