"""The studies' scripts run through, leave what they say, and count right."""

import importlib
import itertools
import subprocess
import sys
from pathlib import Path

import headline_runs
import headline_settings
import headline_text
import pandas as pd
import pytest
import results
import results_run
import trees
import ucb_plus
from pictures import ink, words

from cb_pgm import instances
from cb_pgm.policies.registry import POLICIES

SCRIPTS = Path(__file__).parents[1] / "scripts"


def run(script: str, *arguments: str) -> str:
    command = [sys.executable, str(SCRIPTS / script), "--quick", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_every_table_is_made_by_a_script_that_says_what_it_takes() -> None:
    for name, module in results.TABLES.items():
        assert callable(importlib.import_module(module).make), name
    with pytest.raises(SystemExit):
        results.main(["--only", "tress"])


def test_a_table_is_made_and_written_and_the_same_seed_gives_the_same(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    page.write_text("Before.\n<!-- trees -->\n<!-- /trees -->\n")
    made = []
    monkeypatch.setattr(results, "page_of", lambda name: page)
    for number, seed in enumerate((3, 3, 4)):
        out = tmp_path / str(number)
        arguments = ["--only", "trees", "--jobs", "1", "--seed", str(seed), "--out", str(out)]
        assert results.main([*arguments, "--quick"]) == 0
        made.append((out / "trees.md").read_text())
    assert made[0] == made[1] != made[2]
    assert made[0] in capsys.readouterr().out
    with pytest.raises(SystemExit):
        results.main(["--only", "trees", "--quick", "--write-results"])
    monkeypatch.setattr(trees, "make", lambda run: {"trees": f"seed {run.seed}"})
    assert results.main(["--only", "trees", "--seed", "5", "--out", str(out), "--write-results"]) == 0
    assert page.read_text() == "Before.\n<!-- trees -->\nseed 5\n<!-- /trees -->\n"


def test_what_was_played_is_kept_but_for_a_half_written_record(tmp_path):
    work = results_run.Run("some", tmp_path, jobs=1)
    assert work.each(divmod, [(7, 2), (9, 4)]) == [[3, 1], [2, 1]]
    with (tmp_path / "records.jsonl").open("a", encoding="utf-8") as written:
        written.write('["(1, 1)", ')
    assert work.each(forbidden, [(9, 4), (7, 2)]) == [[2, 1], [3, 1]]
    assert work.each(divmod, [(9, 4), (1, 1)]) == [[2, 1], [1, 0]]


def forbidden(*unit):
    raise AssertionError(f"{unit} is played again")


@pytest.mark.slow
def test_estimated_vs_oracle(tmp_path):
    """About a minute. Its frame holds what its results say of each system, method and number of rows."""
    arguments = ("--only", "estimated_vs_oracle", "--out", str(tmp_path))
    said = run("results.py", *arguments)
    frame = pd.read_csv(tmp_path / "by_rows.csv")
    played = pd.read_csv(tmp_path / "study" / "results.csv").query("policy == 'cn-ucb'")
    methods = {"oracle", "ges-boss", "ges", "pc", "chow-liu"}
    assert set(frame["method"]) == methods
    assert len(frame) == 2 * len(methods) * 2  # systems, methods, numbers of rows
    means = played.groupby(["system", "method", "rows"])["regret"].mean()
    for row in frame.itertuples():
        assert row.regret == pytest.approx(means[row.system, row.method, row.rows], rel=1e-4)
        assert 0 <= row.right <= 1
        assert row.low <= row.regret <= row.high
    assert all(
        name in said for name in (*frame["system"], "ges-boss", "ges", "pc", "chow-liu", "screening", "ucb")
    )
    assert ink(tmp_path / "estimated_vs_oracle.png") > 0.01
    drawn = " ".join(words(tmp_path / "estimated_vs_oracle.svg"))
    assert all(name in drawn for name in (*frame["system"], "ges-boss", "ges", "pc", "chow-liu"))
    page = (tmp_path / "study" / "report.html").read_text("utf-8")
    assert all(name in page for name in frame["system"])
    assert run("results.py", *arguments) == said  # resumed: nothing left to play


def test_ucb_plus_is_measured_against_the_best_joint_state_of_the_parents():
    for n_parents in (1, 2):
        system = instances.random_tables(n_parents=n_parents, seed=1)
        best = headline_runs.best_mean(system)
        assert system.best_arm()[1] + ucb_plus.beyond(system) == pytest.approx(best)


# -- the headline --------------------------------------------------------------------------------------------


def headline_row(
    setting: str, policy: str, instance: int, regret: float, **known: object
) -> dict[str, object]:
    row = {
        "group": "world",
        "setting": setting,
        "policy": policy,
        "instance": instance,
        "n": 5,
        "n_states": 2,
        "horizon": 1000,
        "table_rows": 0,
        "regret": regret,
        "regret_to_name": None,
        "pulls_to_name": None,
        "correct": None,
        "batch": None,
        "raps_pulls_as_printed": 5e4,
        "regret_floor": 12.0,
    }
    return row | known


def test_wins_and_losses_are_counted_against_the_best_untold_rival_and_losses_get_a_reason():
    found = {"pulls_to_name": 90, "correct": True, "regret_to_name": 95.0}
    rows = [
        *(headline_row("won", "screening", i, 10.0, **found | {"regret_to_name": 9}) for i in range(2)),
        *(headline_row("won", "moss", i, 30.0) for i in range(2)),
        headline_row("won", "oracle", 0, 1.0),
        headline_row("early", "screening", 0, 100.0, **found),
        headline_row("early", "ucb", 0, 500.0),
        headline_row("early", "bbb", 0, 50.0),
        headline_row("early", "causal-ucb", 0, 1.0),
        headline_row("never", "screening", 0, 400.0),
        headline_row("never", "thompson", 0, 100.0),
        headline_row("near", "screening", 0, 105.0, **found),
        headline_row("near", "kl-ucb", 0, 100.0),
    ]
    table = headline_text.summarised(pd.DataFrame(rows))
    rivals = headline_text.best_rivals(table).set_index("setting")
    assert rivals["rival"].to_dict() == {"won": "moss", "early": "bbb", "never": "thompson", "near": "kl-ucb"}
    assert rivals["ratio"].to_dict() == pytest.approx({"won": 1 / 3, "early": 2, "never": 4, "near": 1.05})
    first, lost = headline_text.said_of_regret(table)
    assert "loses less in 1 of 4 rows, more in 2, and about as much (within a tenth) in 1" in first
    assert [line.split(":")[0] for line in lost.splitlines()[1:]] == ["* early", "* never"]
    assert "100 against 50 (bbb): 95% of it is lost before the causes are identified, in round 90" in lost
    assert "nothing is identified in 1 of 1 runs" in lost
    lines = headline_text.as_markdown(table).splitlines()
    assert next(line for line in lines if line.startswith("| early")).count("–") >= 1


@pytest.mark.parametrize("make", [instances.many_parents, instances.interaction, instances.confounded])
def test_no_setting_of_two_variables_beats_the_measure_of_regret(make):
    for seed in range(3):
        system = make(seed=seed)
        best = headline_runs.best_mean(system)
        names = list(system.states)[:5]
        for pair in itertools.combinations(names, 2):
            for states in itertools.product(*(system.states[name] for name in pair)):
                assert system.mean_reward(dict(zip(pair, states, strict=True))) <= best + 1e-9


def test_every_row_of_the_headline_has_a_name_of_its_own_and_known_policies():
    for quick in (False, True):
        rows = headline_settings.settings(quick)
        assert len({row.name for row in rows}) == len(rows)
        assert {name for row in rows for name in (*headline_settings.COMMON, *row.also)} <= set(POLICIES)
        assert {row.rows for row in rows if row.group == "network"} >= {0, 1000}


@pytest.mark.slow
def test_headline(tmp_path):
    """About two minutes. No regret is below zero, and a second call plays nothing again."""
    said = run("results.py", "--only", "headline", "--out", str(tmp_path))
    runs = pd.read_csv(tmp_path / "runs.csv")
    assert (runs["regret"].dropna() > -1e-6).all()
    assert {"bbb", "ucb-plus", "pomis", "moss"} <= set(runs["policy"])
    for words_of in ("proven for every policy", "RAPS' own run, told of one parent", "best untold rival"):
        assert words_of in said
    assert ink(tmp_path / "headline.png") > 0.01
    assert run("results.py", "--only", "headline", "--out", str(tmp_path)) == said
