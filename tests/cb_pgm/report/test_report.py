"""Reports: they say what the files say, need nothing from elsewhere, and take all text from data as text."""

import json
import re
import shutil
import subprocess
import sys
from base64 import b64decode
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from graphs import random_dag

from cb_pgm import CNUCB, Session, instances, search, simulate
from cb_pgm.cli.program import main
from cb_pgm.plotting.results import pulls_to_name, regret_by_rows
from cb_pgm.provenance import command, recorded_command
from cb_pgm.report import ReportError, write_report
from cb_pgm.report.page import Code, Facts, Heading, Page, Paragraph, Points, Section, Table, render
from cb_pgm.report.run_folder import read_run
from cb_pgm.report.shared import surroundings
from cb_pgm.search.trace import QueryRecord, SearchTrace
from cb_pgm.study import Study, run_study
from discovery import EssentialGraph
from discovery.wording import visible

KINDS = ("run", "rehearsal", "study", "session", "open")
VOID = {"meta", "link", "path", "use", "br", "img", "rect", "circle"}


class Elements(HTMLParser):
    """The elements of a page with their attributes, its text, and what isn't closed as it was opened."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.unbalanced: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        self.unbalanced += self._open

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self._open or self._open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data):
        self.text.append(data)


def drawings(page: str) -> list[str]:
    """The figures of a page, as SVG."""
    return [
        b64decode(found).decode() for found in re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', page)
    ]


@pytest.fixture(scope="module")
def pages(report_folders: dict[str, Path]) -> dict[str, str]:
    return {kind: (folder / "report.html").read_text("utf-8") for kind, folder in report_folders.items()}


@pytest.fixture(scope="module")
def elements(pages: dict[str, str]) -> dict[str, Elements]:
    return {kind: Elements(page) for kind, page in pages.items()}


# -- the file ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_it_needs_no_other_file_and_no_script(kind, pages, elements):
    for tag, attributes in elements[kind].found:
        assert tag not in ("script", "iframe", "object", "embed", "base", "form")
        assert not [name for name in attributes if name.startswith("on") or name == "srcset"]
        assert (attributes.get("src") or "data:image/svg+xml;base64,").startswith(
            "data:image/svg+xml;base64,"
        )
        assert (attributes.get("href") or "#").startswith(("#", "data:,"))
    assert not re.findall(r"url\(|@import|https?://", pages[kind])
    for drawing in drawings(pages[kind]):
        ElementTree.fromstring(drawing)
        addresses = re.findall(r"url\(([^)]*)\)|href=\"([^\"]*)\"|@import", drawing)
        assert all("".join(address).startswith("#") for address in addresses)


@pytest.mark.parametrize("kind", KINDS)
def test_every_element_is_closed_and_every_reference_has_its_target(kind, pages, elements):
    assert elements[kind].unbalanced == []
    names = [attributes["id"] for _, attributes in elements[kind].found if "id" in attributes]
    assert len(set(names)) == len(names)
    assert set(re.findall(r'href="#([^"]+)"', pages[kind])) <= set(names)


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_says_what_it_shows(kind, elements):
    figures = [attributes for tag, attributes in elements[kind].found if tag == "img"]
    assert (len(figures) > 0) == (kind != "open")  # before the first row there is nothing to draw
    for attributes in figures:
        assert len(attributes["alt"]) > 20


def test_only_the_templates_make_elements(elements, hostile_names):
    """Names of columns and states are text: no element comes of them, and all are to be read."""
    own = {tag for tag, _ in elements["run"].found}
    assert {tag for tag, _ in elements["rehearsal"].found} <= own
    assert {tag for tag, _ in elements["study"].found} <= own
    text = "".join(elements["rehearsal"].text)
    for name in hostile_names:
        assert visible(name) in text
        assert name == visible(name) or name not in text
    assert "<em>Small</em> & hostile" in "".join(elements["study"].text)
    assert "<u>trees</u>" in "".join(elements["study"].text)


def test_all_kinds_of_blocks_escape():
    nasty = '<b class="x">&'
    section = Section(
        "a",
        nasty,
        [
            Paragraph(nasty),
            Heading(nasty),
            Points([nasty]),
            Table(nasty, [nasty, nasty], [[nasty, nasty]]),
            Facts([(nasty, nasty)]),
            Code(nasty),
        ],
    )
    page = render(Page(nasty, nasty, nasty, [section], [nasty], nasty))
    assert "<b>" not in page
    assert "<b " not in page
    assert page.count("&lt;b class=&#34;x&#34;&gt;&amp;") == 20


def test_the_same_folder_gives_the_same_file_in_any_process(report_folders, pages, tmp_path):
    """One process, 4 s."""
    out = tmp_path / "again.html"
    command = [sys.executable, "-m", "cb_pgm", "report", str(report_folders["run"]), "--out", str(out)]
    subprocess.run(command, env={"PYTHONHASHSEED": "7", "PATH": ""}, check=True, capture_output=True)
    assert out.read_text("utf-8") == pages["run"]


# -- what it says ------------------------------------------------------------------------------------------


def test_a_run_says_what_its_files_say(report_folders, elements):
    result = json.loads((report_folders["run"] / "result.json").read_text("utf-8"))
    settings = json.loads((report_folders["run"] / "settings.json").read_text("utf-8"))
    text = "".join(elements["run"].text)
    regrets = [entry["regret"] for entry in result["policies"] if entry["policy"] == "ucb"]
    assert f"{np.mean(regrets):,.0f} ({np.std(regrets, ddof=1):,.0f})" in text
    assert any(f"{name} = yes" in text for name in ("either", "lung", "tub"))  # they have the same mean
    assert settings["data"]["sha256"] in text
    assert settings["versions"]["pgmpy"] in text
    assert "known truth" in text
    assert "ehearsal" not in text


def test_a_simulation_on_a_fitted_model_is_called_one(elements):
    text = "".join(elements["rehearsal"].text)
    above = text[: text.rindex("How to run it again")]
    assert "simulation on a model fitted to the table" in above
    assert "They are simulated on a network fitted to the table" in above
    assert "known truth" not in above


def test_warnings_come_first_and_an_assumption_that_fails_is_one(pages):
    """In asia "either" is determined by its parents, which screening's assumption excludes."""
    warnings = pages["run"].index("An assumption fails: Every state has positive probability")
    assert pages["run"].index('id="outcome"') < warnings < pages["run"].index("<h2>")


@pytest.mark.parametrize(("kind", "reward"), [("run", "xray=yes"), ("session", "xray=yes")])
def test_the_reward_is_drawn_in_the_graph(kind, reward, pages):
    graph = next(drawing for drawing in drawings(pages[kind]) if ">the reward</text>" in drawing)
    assert f">{reward}</text>" in graph


def test_all_pictures_of_a_page_have_a_variable_at_the_same_place(report_folders):
    drawn = read_run(report_folders["rehearsal"]).drawn_graphs()
    assert set(drawn) == {"graph", "graphs"}
    assert drawn["graph"]["placement"] is drawn["graphs"]["placement"]


@pytest.mark.parametrize("kind", [["--intervention-column", "set"], ["--ignore", "set", "--randomised", "a"]])
def test_a_run_on_a_log_or_a_trial_has_a_report(kind, tmp_path, capsys):
    """Of a log with a state that was only ever set; of a trial, in which something was set in each row."""
    rng = np.random.default_rng(1)
    rows = [(n % 3 if n % 2 else n % 4 // 2, *rng.integers(2, size=2), "a" * (n % 2)) for n in range(300)]
    pd.DataFrame(rows, columns=["a", "b", "y", "set"]).to_csv(tmp_path / "table.csv", index=False)
    run = ["run", str(tmp_path / "table.csv"), "--reward", "y=1", *kind, "--policy", "moss"]
    assert main([*run, "--horizon", "50", "--out", str(tmp_path / "run")]) == 0
    assert main(["report", str(tmp_path / "run")]) == 0, capsys.readouterr().err
    assert "experimental" in (tmp_path / "run" / "report.html").read_text()


def test_a_study_says_what_failed_and_what_is_unfinished(report_folders, elements, tmp_path):
    text = "".join(elements["study"].text)
    assert re.search(r"failed: 36 cells", text)
    assert "TypeError: must be real number" in text
    assert "chow-liu" in text
    folder = tmp_path / "study"
    shutil.copytree(report_folders["study"], folder)
    half = {"horizons": 20, "system": [{"instance": "tree", "n": 3}], "policy": [{"name": "ucb"}], "runs": 3}
    with pytest.raises(KeyboardInterrupt):
        run_study(Study.from_dict(half), folder, force=True, progress=_interrupt)
    assert re.search(r"\b1 of 3 cells", write_report(folder).read_text("utf-8"))


def _interrupt(_: int) -> None:
    raise KeyboardInterrupt


def test_a_study_of_failures_only_is_reported_too(tmp_path):
    nowhere = {"horizons": 20, "system": [{"instance": "tree", "n": 3}], "policy": [{"name": "math:sqrt"}]}
    assert run_study(Study.from_dict(nowhere), tmp_path)["failed"] == 1
    assert "very cell failed" in write_report(tmp_path).read_text("utf-8")


def test_a_session_says_where_it_stands(elements):
    text = "".join(elements["session"].text)
    assert "either = yes" in text
    assert re.search(r"1\d\d of 1,000 patients", text)
    assert "question by question" in text
    assert "0 of 9 rows" in "".join(elements["open"].text)


def test_a_session_says_what_its_status_says(report_folders, elements):
    """Every line of `session status` is on the page, the caveats of what was identified among them."""
    text = " ".join("".join(elements["session"].text).split())
    with Session.open(report_folders["session"]) as session:
        status = session.status()
    for line in status.to_text().splitlines()[1:]:
        assert " ".join(line[12:].split()) in text
    if status.assumption:
        assert text.index(status.assumption) < text.index("Where it stands", text.index("are recorded"))


def test_a_session_says_set_only_with_a_measured_gain(tmp_path):
    """Equal rewards without and with the drug, then much better ones with it."""
    states = {"drug": ["low", "high"], "recovered": ["no", "yes"]}
    means = {"equal": 0.5, "better": 0.97}
    for name, mean in means.items():
        rng = np.random.default_rng(0)
        start = {"states": states, "reward": "recovered=yes", "policy": "moss", "horizon": 900, "seed": 1}
        with Session.start(tmp_path / name, **start) as session:
            while session.status().told < 900:
                (pull,) = session.ask(batch=30)
                high = pull.intervention.get("drug") == "high"
                better = rng.random(pull.left) < (mean if high else 0.5)
                state = pull.intervention.get("drug", "low")
                session.tell([{"drug": state, "recovered": "yes" if one else "no"} for one in better])
        page = write_report(tmp_path / name).read_text("utf-8")
        outcome = re.search(r'<p class="outcome">(.*?)</p>', page, re.DOTALL)[1]
        assert outcome.startswith("Set drug = high") == (name == "better"), outcome


@pytest.mark.parametrize(("horizon", "ending"), [(100, "asked nothing"), (300, "still going on")])
def test_a_run_that_ends_before_its_search_is_told_as_that(horizon, ending, tmp_path):
    """A question takes 164 pulls here: too many for 100 rounds, and 300 leave the second one open."""
    options = ["--policy", "cn-ucb-fixed", "--horizon", str(horizon), "--seed", "1", "--out", str(tmp_path)]
    assert main(["run", "data/asia.csv", "--reward", "xray=yes", "--truth", "data/asia.bif", *options]) == 0
    stories = json.loads((tmp_path / "report.json").read_text("utf-8"))["stories"]
    assert [len(story["questions"]) for story in stories] == [horizon // 164] * 2
    assert ending in write_report(tmp_path).read_text("utf-8")


# -- how to run it again -----------------------------------------------------------------------------------


def code_blocks(page: str) -> list[str]:
    return [unescape(block) for block in re.findall(r"<code>(.*?)</code>", page, re.DOTALL)]


def test_results_computed_from_python_show_no_command(report_folders, pages):
    """The process's own arguments are pytest's here; neither the files nor the pages mention a command."""
    assert json.loads((report_folders["run"] / "settings.json").read_text("utf-8"))["command"] is None
    for kind in ("run", "rehearsal", "study"):
        assert code_blocks(pages[kind]) == []
        assert "Started from Python" in pages[kind]


def test_a_run_shows_the_command_that_made_it_and_the_seed_that_was_drawn(tmp_path):
    out = tmp_path / "a folder"
    arguments = ["run", "data/asia.csv", "--reward", "xray=yes", "--policy", "ucb", "--horizon", "30"]
    assert main([*arguments, "--out", str(out)]) == 0
    seed = json.loads((out / "result.json").read_text("utf-8"))["seed"]
    assert code_blocks(write_report(out).read_text("utf-8")) == [
        f"cb-pgm {' '.join(arguments)} --out '{out}' --seed {seed}"
    ]
    assert main([*arguments, "--out", str(out), "--force", "--seed", "5"]) == 0
    assert code_blocks(write_report(out).read_text("utf-8")) == [
        f"cb-pgm {' '.join(arguments)} --out '{out}' --force --seed 5"
    ]


def test_a_study_shows_the_command_that_made_it(tmp_path):
    file, out = tmp_path / "study.toml", tmp_path / "out"
    file.write_text('horizons = 20\n[[system]]\ninstance = "tree"\nn = 3\n[[policy]]\nname = "ucb"\n')
    assert main(["study", str(file), "--out", str(out)]) == 0
    assert code_blocks(write_report(out).read_text("utf-8")) == [f"cb-pgm study {file} --out {out}"]


def test_the_command_is_known_only_while_it_runs():
    with recorded_command(["run", "a table.csv"]):
        assert command() == "cb-pgm run 'a table.csv'"
    assert command() is None


# -- the story ---------------------------------------------------------------------------------------------


def drawn_dag(n: int, seed: int) -> nx.DiGraph:
    return random_dag([f"X{i}" for i in range(n)], 2.5 / n, np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(20))
def test_the_story_of_a_search_under_way_is_the_beginning_of_the_finished_one(seed):
    """What `sound` says was ruled out by its first k answers, for every k."""
    dag = drawn_dag(4 + seed % 8, seed)
    graph = EssentialGraph.from_dag(dag)
    target = graph.nodes[seed % len(graph.nodes)]
    result = search.solve(search.sound(graph), search.exact_answers(dag, (target,)))
    asked = [QueryRecord(step.query, step.probe, pulls=1) for step in result.queries]
    finished = SearchTrace.of(asked, result, graph)
    for known in range(len(asked)):
        under_way = SearchTrace.of(asked[:known], None, graph)
        assert under_way.result is None
        assert under_way.questions == finished.questions[:known]


def test_a_run_keeps_its_story():
    """Questions, answers and their cost, on a tree of 15: named when they end at the latest; 4 seconds."""
    system = instances.tree(15, 2, seed=4)
    graph = system.essential_graph()
    reward_gap, effect_gap = system.effective_gaps(graph)
    policy = CNUCB(
        graph, system.states, system.marginals(), reward_gap=reward_gap, effect_gap=effect_gap,
        noise_scale=system.noise_scale, evidence="sequential",
    )  # fmt: skip
    run = simulate(policy, system, 200_000, seed=1)
    assert run.story is not None
    assert run.story.result is not None
    assert run.story.result.reward_variables == run.reward_variables
    answer = search.exact_answers(system.dag, system.reward_parents)
    for question in run.story.questions:
        assert question.probe.is_ancestor == answer(question.query).is_ancestor
        assert question.pulls > 0
        assert question.reason
    total = sum(question.pulls for question in run.story.questions)
    assert run.interventions_to_find <= total + 64  # the test of sets, beside the search, may name sooner
    short = simulate(policy, system, 3, seed=1)
    assert short.story is not None
    assert (short.story.result, short.story.questions) == (None, ())


def test_surroundings_are_the_nearest():
    chain = EssentialGraph.from_dag(nx.DiGraph([("A", "B"), ("B", "C"), ("C", "D"), ("D", "E")]))
    assert surroundings(chain, ["C"], 3) == ("B", "C", "D")
    assert surroundings(chain, ["E"], 2) == ("D", "E")
    assert surroundings(chain, ["C"], 9) == chain.nodes
    names = [f"v{number}" for number in range(60)]
    clique = EssentialGraph(names, [], list(combinations(names, 2)))  # laying out 1,770 edges takes minutes
    assert surroundings(clique, ["v7"])[-1] == "v24"


# -- frames and figures ------------------------------------------------------------------------------------


def test_pulls_to_name_keeps_policies_that_named_something():
    results = pd.DataFrame(
        {
            "policy": ["a", "a", "b"],
            "graph": ["none", "none", "oracle"],
            "run": [0, 1, 0],
            "correct": [True, None, None],
            "interventions_to_find": [7, None, None],
        }
    )
    frame = pulls_to_name(results)
    assert frame["name"].tolist() == ["a", "a"]
    assert frame["pulls"].tolist()[0] == 7
    assert np.isnan(frame["pulls"][1])
    assert frame["right"].tolist() == [True, False]


def test_regret_by_rows_averages_runs_and_keeps_the_oracle():
    results = pd.DataFrame(
        {
            "system": "s",
            "policy": "p",
            "horizon": 10,
            "graph": ["pc 50 rows"] * 2 + ["oracle", "none"],
            "method": ["pc", "pc", "oracle", None],
            "rows": [50, 50, None, None],
            "regret": [1.0, 3.0, 0.5, 9.0],
            "correct": [True, False, True, None],
        }
    )
    frame = regret_by_rows(results, low=0, high=1)
    assert frame["method"].tolist() == ["pc", "oracle"]
    assert frame[["low", "regret", "high", "right", "runs"]].values.tolist() == [
        [1.0, 2.0, 3.0, 0.5, 2.0],
        [0.5, 0.5, 0.5, 1.0, 1.0],
    ]


def _schemes() -> list[dict[str, str]]:
    """The style sheet's colours: light, then dark."""
    sheet = files("cb_pgm.report").joinpath("templates/page.css").read_text("utf-8")
    blocks = re.findall(r":root \{(.*?)\}", sheet, re.DOTALL)
    return [dict(re.findall(r"(--[a-z-]+): (#[0-9a-f]{6})", block)) for block in blocks]


def _contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio of two colours."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1])
def test_letters_can_be_read_in_both_schemes(scheme):
    """At least 4.5 : 1 for letters on the page and on its boxes."""
    colours = _schemes()[scheme]
    for name in ("--ink", "--soft", "--accent"):
        assert _contrast(colours[name], colours["--paper"]) >= 4.5, name
    assert _contrast(colours["--ink"], colours["--raised"]) >= 4.5


# -- what can't be reported on -----------------------------------------------------------------------------


def test_a_folder_without_results_is_refused(tmp_path, capsys):
    with pytest.raises(ReportError, match="run, a study or a session"):
        write_report(tmp_path)
    assert main(["report", str(tmp_path / "nowhere")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("name", ["settings.json", "report.json", "regret.csv"])
def test_an_incomplete_run_is_refused_by_the_file_that_is_missing(name, report_folders, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(report_folders["run"], folder)
    (folder / name).unlink()
    with pytest.raises(ReportError, match=re.escape(name)):
        write_report(folder)
    if name.endswith("json"):
        (folder / name).write_text("{}")
        with pytest.raises(ReportError, match=re.escape(name)):
            write_report(folder)
        (folder / name).write_text("not json")
        with pytest.raises(ReportError, match="Expected JSON"):
            write_report(folder)


@pytest.mark.parametrize("name", ["results.jsonl", "session.sqlite"])
def test_another_file_of_that_name_is_refused(name, tmp_path):
    (tmp_path / name).write_text("this is no database at all, whatever its name says" * 30)
    with pytest.raises(ReportError):
        write_report(tmp_path)


def test_out_is_not_written_over_by_mistake(report_folders, tmp_path, capsys):
    out = tmp_path / "page.html"
    folder = str(report_folders["open"])
    assert main(["report", folder, "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"report": str(out), "bytes": out.stat().st_size}
    assert main(["report", folder, "--out", str(out)]) == 1
    assert "--force" in capsys.readouterr().err
    assert main(["report", folder, "--out", str(out), "--force"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_link_in_a_folder_leads_nowhere(report_folders, tmp_path, capsys):
    """A folder from somebody else could have a link where the report is to be written."""
    shutil.copytree(report_folders["run"], tmp_path / "run")
    (tmp_path / "run" / "report.html").unlink(missing_ok=True)
    (tmp_path / "run" / "report.html").symlink_to(tmp_path / "precious.txt")
    (tmp_path / "precious.txt").write_text("precious")
    assert main(["report", str(tmp_path / "run")]) == 1
    assert "found a link or a device" in capsys.readouterr().err
    assert (tmp_path / "precious.txt").read_text() == "precious"
    (tmp_path / "run" / "result.json").unlink()
    (tmp_path / "run" / "result.json").symlink_to("/dev/zero")
    assert main(["report", str(tmp_path / "run"), "--out", str(tmp_path / "page.html")]) == 1
    assert "found none in" in capsys.readouterr().err
