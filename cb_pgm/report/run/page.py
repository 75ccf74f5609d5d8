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
from cb_pgm.report.run.folder import RunFolder, read_run
from cb_pgm.report.run.sections import graph_section, pulls_section, regret_section, story_section
from cb_pgm.wording import count, listed, number, setting, share

__all__ = ["run_page"]

Entries = Sequence[dict[str, Any]]


def run_page(folder: Path) -> Page:
    """Return the page of a run's folder."""
    run = read_run(folder)
    sections = [
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


def _where(run: RunFolder) -> str:
    return "the fitted model" if run.result["rehearsal"] else "the true network"


def _groups(run: RunFolder) -> list[Entries]:
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for entry in run.result["policies"]:
        groups.setdefault((entry["policy"], entry["graph"]), []).append(entry)
    return list(groups.values())


def _outcome(run: RunFolder) -> str:
    found = run.material["recommendation"]
    if found is None:
        return "No arm was pulled, so there is nothing to recommend."
    where = "In the rehearsal, set" if run.result["rehearsal"] else "Set"
    alone = run.material["measured"]["observational_mean"]
    change = "" if alone is None else f"; without an intervention it is {number(alone)}"
    own = [
        entry
        for entry in run.result["policies"]
        if (entry["policy"], entry["graph"]) == (found["policy"], found["graph"])
    ]
    return (
        f"{where} {setting(found['intervention'])}. The mean of {run.asked['reward']} is then "
        f"{number(found['mean'])} (between {number(found['low'])} and {number(found['high'])}){change}. "
        f"{_identified(own, _where(run))}"
    )


def _identified(entries: Entries, where: str) -> str:
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
        f"that is {'right' if right else 'wrong'} in {where}."
    )


def _table(run: RunFolder) -> Table:
    several = run.asked["runs"] > 1
    columns = [
        "policy",
        "identified",
        "right",
        "rounds to identification",
        "regret, mean (sd)" if several else "regret",
    ]
    return Table(
        f"Each policy over {run.result['horizon']:,} rounds"
        + (f", {run.asked['runs']} runs; the rounds to identification are a median" if several else "")
        + f". Right means exactly the causes of the reward in {_where(run)}.",
        columns,
        [_row(group) for group in _groups(run)],
        numeric=(3, 4),
    )


def _row(group: Entries) -> list[str]:
    named = Counter(", ".join(entry["reward_variables"]) for entry in group if entry["reward_variables"])
    pulls = [entry["interventions_to_find"] for entry in group if entry["interventions_to_find"] is not None]
    regrets = [entry["regret"] for entry in group]
    regret = f"{round(statistics.fmean(regrets)):,}"
    names = "; ".join(
        name if times == len(group) else f"{name} ({times}×)" for name, times in named.most_common(3)
    )
    right = sum(entry["correct"] is True for entry in group)
    return [
        line_name(group[0]["policy"], group[0]["graph"]),
        names or "–",
        ("yes" if right else "no")
        if named and len(group) == 1
        else share(right, len(group))
        if named
        else "–",
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
        ("Not settable", listed(unsettable, none="none: every variable can be set")),
    ]
    facts += [("Knowledge", str(asked["knowledge"]))] if asked["knowledge"] else []
    remarks = [*result["warnings"], *result["graph"]["repairs"], *_fallbacks(run)]
    return Section("settings", "Settings", [Facts(facts), *([Points(remarks)] if remarks else [])])


def _fallbacks(run: RunFolder) -> list[str]:
    lines = []
    for group in _groups(run):
        reasons = Counter(entry["fallback"] for entry in group if entry["fallback"])
        name = line_name(group[0]["policy"], group[0]["graph"])
        for reason, times in reasons.items():
            often = f" in {share(times, len(group))} runs" if len(group) > 1 else ""
            lines.append(f"{name} gave up its own method{often}: {reason}")
    return lines
