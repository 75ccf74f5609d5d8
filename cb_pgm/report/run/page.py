"""The page of a run: what to do and why, what each policy achieved, and how to run it again."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cb_pgm.plotting.regret import line_name
from cb_pgm.provenance import VERSION
from cb_pgm.report.html.page import Facts, Page, Points, Section, Table
from cb_pgm.report.repeat import repeat_section
from cb_pgm.report.run.assumptions import assumptions_section
from cb_pgm.report.run.effects import effects_sections
from cb_pgm.report.run.folder import RunFolder, read_run
from cb_pgm.report.run.sections import graph_section, pulls_section, regret_section, story_section
from cb_pgm.wording import count, listed, share

__all__ = ["run_page"]

Entries = Sequence[dict[str, Any]]


def run_page(folder: Path) -> Page:
    """Return the page of a run's folder."""
    run = read_run(folder)
    sections = [
        *effects_sections(run),
        _settings(run),
        regret_section(run.curves, rounds=run.result["horizon"]),
        pulls_section(run.entries, run.result["horizon"]),
        graph_section(run),
        story_section(run),
        assumptions_section(run),
        repeat_section(
            run.settings["command"],
            run.result["seed"],
            run.settings["versions"],
            {run.settings["data"]["path"]: run.settings["data"]["sha256"]},
        ),
    ]
    return Page(
        kind="Rehearsal on a model fitted to a table"
        if run.result["rehearsal"]
        else "Run against a known truth",
        title=f"What {'lowers' if run.asked['minimize'] else 'raises'} {run.asked['reward']}",
        outcome=_outcome(run),
        table=_table(run),
        sections=[section for section in sections if section is not None],
        version=VERSION,
    )


def _groups(run: RunFolder) -> list[Entries]:
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for entry in run.result["policies"]:
        groups.setdefault((entry["policy"], entry["graph"]), []).append(entry)
    return list(groups.values())


def _outcome(run: RunFolder) -> str:
    found = run.material["recommendation"]
    if found is None:
        return "No arm was pulled, so there is nothing to recommend."
    choice = " ".join(found["sentences"][:3])
    own = [entry for group in _groups(run) for entry in group if found["source"].startswith(_by(entry))]
    return choice if not own else f"{choice} {_identified(own)}"


def _by(entry: dict[str, Any]) -> str:
    """Return the beginning of a recommendation's source where it is of this policy and graph."""
    lasting = "" if entry["graph"] == "none" else f" on the {entry['graph']} graph"
    return f"{entry['policy']}{lasting},"


def _identified(entries: Entries) -> str:
    policy, graph = entries[0]["policy"], entries[0]["graph"]
    name = f"The policy {policy}{'' if graph == 'none' else f' on the {graph} graph'}"
    named = Counter(tuple(entry["reward_variables"]) for entry in entries if entry["reward_variables"])
    if not named:
        return f"{name} found this; it identifies no cause."
    causes, times = named.most_common(1)[0]
    rounds = [
        entry["interventions_to_find"] for entry in entries if tuple(entry["reward_variables"]) == causes
    ]
    often = "" if len(entries) == 1 else f" in {share(times, len(entries))} runs"
    right = next(entry["correct"] for entry in entries if tuple(entry["reward_variables"]) == causes)
    quoted = listed([f"“{cause}”" for cause in causes])
    return (
        f"{name} identified {quoted} as its direct {'cause' if len(causes) == 1 else 'causes'}{often}, after "
        f"{count(int(statistics.median_low(rounds)), 'round')}{'' if len(entries) == 1 else ' (median)'}; "
        f"that is {'right' if right else 'wrong'} in the true network."
    )


def _table(run: RunFolder) -> Table:
    several, known = run.asked["runs"] > 1, not run.result["rehearsal"]
    columns = [
        "policy",
        "identified",
        *(["right"] if known else []),
        "rounds to identification",
        "regret, mean (sd)" if several else "regret",
    ]
    return Table(
        f"Each policy over {run.result['horizon']:,} rounds"
        + (f", {run.asked['runs']} runs; the rounds to identification are a median" if several else "")
        + (
            ". Right means exactly the causes of the reward in the true network."
            if known
            else ". They play in a model fitted to the table, so what they identify are the model's causes."
        ),
        columns,
        [_row(group, known=known) for group in _groups(run)],
        numeric=(3, 4) if known else (2, 3),
    )


def _row(group: Entries, *, known: bool) -> list[str]:
    named = Counter(", ".join(entry["reward_variables"]) for entry in group if entry["reward_variables"])
    pulls = [entry["interventions_to_find"] for entry in group if entry["interventions_to_find"] is not None]
    regrets = [entry["regret"] for entry in group]
    regret = f"{round(statistics.fmean(regrets)):,}"
    names = "; ".join(
        name if times == len(group) else f"{name} ({times}×)" for name, times in named.most_common(3)
    )
    right = sum(entry["correct"] is True for entry in group)
    verdict = "–"
    if named:
        verdict = ("yes" if right else "no") if len(group) == 1 else share(right, len(group))
    return [
        line_name(group[0]["policy"], group[0]["graph"]),
        names or "–",
        *([verdict] if known else []),
        f"{int(statistics.median_low(pulls)):,}" if pulls else "–",
        f"{regret} ({statistics.stdev(regrets):,.0f})" if len(regrets) > 1 else regret,
    ]


def _settings(run: RunFolder) -> Section:
    asked, result, resolved = run.asked, run.result, run.settings["resolved"]
    graph = run.graphs["used"]
    edges = f"{count(len(graph.directed), 'directed edge')}, {len(graph.undirected):,} undirected"
    against = (
        "a model fitted to the table: a rehearsal, which knows no more of the world than the table does"
        if result["rehearsal"]
        else f"the network in {asked['truth']}"
    )
    unsettable = [name for name in graph.nodes if name not in resolved["settable"]]
    facts = [
        ("Reward", f"{asked['reward']}{', to be minimized' if asked['minimize'] else ''}"),
        ("Table", f"{asked['csv']}: {result['data']['rows']:,} rows, {count(len(graph.nodes), 'variable')}"),
        ("Graph", f"{asked['graph'] or 'estimated by ' + result['graph']['method']}: {edges}"),
        ("Played against", against),
        ("Policies", listed(asked["policies"])),
        ("Rounds", f"{result['horizon']:,} a run"),
        ("Runs", f"{asked['runs']:,} of each policy, seed {result['seed']}"),
        ("Start", "without any rows" if asked["cold"] else _start(result)),
        ("Not settable", listed(unsettable, none="none: every variable can be set")),
    ]
    facts += [("Knowledge", str(asked["knowledge"]))] if asked["knowledge"] else []
    remarks = [*result["warnings"], *result["graph"]["repairs"], *_fallbacks(run)]
    return Section("settings", "Settings", [Facts(facts), *([Points(remarks)] if remarks else [])])


def _start(result: dict[str, Any]) -> str:
    source = "the fitted model" if result["rehearsal"] else "the table"
    used = max((entry["started_from"] for entry in result["policies"]), default=0)
    return f"from rows of {source}, as far as a policy can use them: at most {count(used, 'row')}"


def _fallbacks(run: RunFolder) -> list[str]:
    lines = []
    for group in _groups(run):
        reasons = Counter(entry["fallback"] for entry in group if entry["fallback"])
        name = line_name(group[0]["policy"], group[0]["graph"])
        for reason, times in reasons.items():
            often = f" in {share(times, len(group))} runs" if len(group) > 1 else ""
            lines.append(f"{name} gave up its own method{often}: {reason}")
    return lines
