"""The page of a run: what to do and why, warnings, the evidence, the simulation, and how to run it again."""

from __future__ import annotations

from pathlib import Path

from cb_pgm.plotting.regret import line_name
from cb_pgm.plotting.results import pulls_to_name
from cb_pgm.report.page import Block, Facts, Heading, Page, Paragraph, Picture, Points, Section, Table
from cb_pgm.report.run_folder import RunFolder, read_run
from cb_pgm.report.shared import (
    graph_picture,
    policies_table,
    pulls_picture,
    regret_picture,
    repeat_section,
    search_blocks,
)
from discovery import compare
from discovery.wording import count, listed, number, share

__all__ = ["run_page"]

_VERDICTS = {True: "✓ holds", False: "✗ fails", None: "? unknown"}


def run_page(folder: Path) -> Page:
    """Return the page of a run's folder.

    Raises
    ------
    ReportError
        If a file of the run is missing or lacks something.
    """
    run = read_run(folder)
    found = run.material["recommendation"]
    nothing = ["No arm was pulled, so there is nothing to recommend."]
    sentences, steps = (nothing, []) if found is None else (found["sentences"], found["next_steps"])
    advice = [*sentences[2:], *steps]
    sections = [
        Section("recommendation", "Why, and what to do next", [Points(advice)] if advice else []),
        _arms(run),
        _graph(run),
        _simulation(run),
        _search(run),
        _assumptions(run),
        _settings(run),
        repeat_section(
            run.settings["command"],
            run.result["seed"],
            run.settings["versions"],
            {run.settings["data"]["path"]: run.settings["data"]["sha256"]},
        ),
    ]
    against = "a model fitted to the table" if run.result["rehearsal"] else "a known truth"
    return Page(
        kind=f"The table, and a simulation on {against}",
        title=f"What {'lowers' if run.asked['minimize'] else 'raises'} {run.asked['reward']}",
        outcome=" ".join(sentences[:2]),
        warnings=[*run.result["warnings"], *run.result["graph"]["repairs"], *_fallbacks(run), *_failing(run)],
        sections=[section for section in sections if section.blocks],
    )


# -- the table ---------------------------------------------------------------------------------------------


def _arms(run: RunFolder) -> Section:
    effects, blocks = run.result["effects"], list[Block]()
    if effects is not None and effects["arms"]:
        first, nothing = effects["arms"][0], effects["do_nothing"]["mean"]
        experimental = None if first["set"] is None else first["set"]["mean"]
        bases = {
            "experimental": experimental,
            "graph-averaged": first["mean"],
            "with no intervention": nothing,
        }
        means = [f"{number(mean)} {basis}" for basis, mean in bases.items() if mean is not None]
        label = (
            f"Intervals for the mean of {run.asked['reward']} under each arm, first {first['variable']} = "
            f"{first['state']}: {', '.join(means)}."
        )
        caption = (
            "No-assumption bounds hold whatever is hidden. Graph-averaged means assume that nothing hidden "
            "causes both a variable and the reward; their intervals hold the means over graphs drawn from "
            "resampled tables. Experimental means are those of the rows in which the arm was set."
        )
        blocks.append(Picture(run.drawn_effects(effects), label, caption))
    return Section("effects", "The interventions", blocks)


def _graph(run: RunFolder) -> Section:
    used, true, effects = run.graphs["used"], run.graphs.get("true"), run.result["effects"]
    blocks: list[Block] = []
    if true is not None:
        scores = compare(used, true)
        verdict = "The graph in use is the true essential graph."
        if scores["shd"]:
            verdict = (
                f"The two graphs differ in {count(scores['shd'], 'edge')} (structural Hamming distance). "
                f"F1 is {scores['skeleton']['f1']:.0%} for adjacencies and {scores['arrow']['f1']:.0%} for "
                f"directed edges."
            )
        blocks.append(Paragraph(verdict))
    for name, arguments in run.drawn_graphs().items():
        if name == "graphs" and effects is not None:
            deciding = [" — ".join(edge["edge"]) for edge in effects["hangs_on"]]
            about = f" The best arm depends on {listed(deciding)}." if deciding else ""
            drawn = (
                "Many graphs fit the table. Here an edge is as wide as the share of graphs that have it "
                f"and has a head where nine tenths of these agree on its direction.{about}"
            )
            blocks.append(Paragraph(drawn))
        blocks.append(graph_picture(variables=len(used.nodes), **arguments))
    parents = run.material["measured"]["reward_parents"]
    if parents:
        where = "the fitted model" if run.result["rehearsal"] else "the true network"
        blocks.append(Paragraph(f"The reward's parents in {where}: {listed(parents)}."))
    return Section("graph", "The graph", blocks)


# -- the simulation ----------------------------------------------------------------------------------------


def _simulation(run: RunFolder) -> Section:
    horizon, runs = run.result["horizon"], run.asked["runs"]
    caption = f"Each policy over {horizon:,} rounds"
    if runs > 1:
        caption += f", {runs} runs; the rounds to identification are a median"
    caption += (
        ". They are simulated on a network fitted to the table: what they identify are its parents of the "
        "reward, which needn't be the world's."
        if run.result["rehearsal"]
        else ". Right means exactly the reward's parents in the true network."
    )
    blocks: list[Block] = [
        policies_table(run.entries, caption, known=not run.result["rehearsal"]),
        regret_picture(run.curves, horizon),
    ]
    named = pulls_to_name(run.entries)
    if not named.empty:
        blocks.append(pulls_picture(named, horizon))
    return Section("simulation", "The policies, simulated", blocks)


def _search(run: RunFolder) -> Section:
    blocks: list[Block] = []
    for story in run.material["stories"]:
        blocks += [Heading(line_name(story["policy"], story["graph"])), *search_blocks(story)]
    about = Paragraph(
        "Each question asks whether setting a variable affects the reward and, where the direction of an "
        "edge is unknown, that neighbour. These are the questions of each policy's first run."
    )
    return Section("search", "The search, question by question", [about, *blocks] if blocks else [])


def _fallbacks(run: RunFolder) -> list[str]:
    lines = []
    for (policy, graph), own in run.entries.groupby(["policy", "graph"], sort=False):
        for reason, times in own["fallback"].dropna().value_counts().items():
            often = f" in {share(times, len(own))} runs" if len(own) > 1 else ""
            lines.append(f"{line_name(str(policy), str(graph))} gave up its own method{often}: {reason}")
    return lines


# -- assumptions and settings ------------------------------------------------------------------------------


def _checked(run: RunFolder) -> list[tuple[str, str, bool | None]]:
    """Return every assumption with what was measured and whether it holds; None: unknown."""
    measured, given = run.material["measured"], run.settings["resolved"]
    parents, hidden = measured["reward_parents"], measured["hidden_confounders"]
    common = f"hidden: {listed(hidden)}" if hidden else "no hidden variable is a common cause"
    if run.result["rehearsal"]:
        common = "not visible in a table"
    rows: list[tuple[str, str, bool | None]] = [
        (
            f"The reward has at most {count(given['max_parents'], 'parent')}",
            f"{len(parents)}: {listed(parents)}",
            len(parents) <= given["max_parents"],
        ),
        ("No hidden common causes (Assumption 1)", common, None if run.result["rehearsal"] else not hidden),
    ]
    gaps = (
        (
            "Every ancestor of the parent changes the mean reward by at least Δ (Assumption 3)",
            *(measured["reward_gap"], measured["effective_reward_gap"], given["reward_gap"]),
        ),
        (
            "Every variable changes the distribution of its children by at least ε (Assumption 2)",
            *(measured["effect_gap"], measured["effective_effect_gap"], given["effect_gap"]),
        ),
    )
    for assumed, printed, effective, own in gaps:
        told = f"{number(printed)} over all, {number(effective)} effective; policies were given {number(own)}"
        rows.append((assumed, told, effective > 0 and own <= effective * (1 + 1e-9)))
    sigma, error, half = measured["noise_scale"], measured["marginal_error"], given["effect_gap"] / 2
    smallest = measured["smallest_probability"]
    rows += [
        (
            "Rewards are σ-subgaussian around their mean",
            f"σ = {number(sigma)}; policies were given {number(given['noise_scale'])}",
            given["noise_scale"] >= sigma * (1 - 1e-9),
        ),
        (
            "The table has enough rows: its frequencies are within ε/2 of the probabilities",
            f"{count(measured['marginal_rows'], 'row')}: within {number(error)}; ε/2 is {number(half)}",
            error < half,
        ),
        (
            "Every state has positive probability given any states of its parents (screening relies on it)",
            f"smallest probability {number(smallest)}",
            smallest > 0,
        ),
    ]
    return rows


def _failing(run: RunFolder) -> list[str]:
    return [
        f"An assumption fails: {assumed} ({told})" for assumed, told, holds in _checked(run) if holds is False
    ]


def _assumptions(run: RunFolder) -> Section:
    where = "the fitted model" if run.result["rehearsal"] else "the true network"
    about = Paragraph(
        f"Measured exactly in {where}. The effective gaps count only what the search for the parent meets: "
        f"effects of the parent's ancestors, and effects along edges inside its own chain component."
        + (" What holds in a fitted model may fail in the world." if run.result["rehearsal"] else "")
    )
    table = Table(
        "Assumptions of Lu, Meisami & Tewari (2021) and of this package",
        ["assumption", "measured", "verdict"],
        [(assumed, told, _VERDICTS[holds]) for assumed, told, holds in _checked(run)],
    )
    return Section("assumptions", "Assumptions checked", [about, table])


def _settings(run: RunFolder) -> Section:
    asked, result, resolved = run.asked, run.result, run.settings["resolved"]
    graph = run.graphs["used"]
    edges = f"{count(len(graph.directed), 'directed edge')}, {len(graph.undirected):,} undirected"
    started = max((entry["started_from"] for entry in result["policies"]), default=0)
    unsettable = [name for name in graph.nodes if name not in resolved["settable"]]
    facts = [
        ("Reward", f"{asked['reward']}{', to be minimized' if asked['minimize'] else ''}"),
        ("Table", f"{asked['csv']}: {result['data']['rows']:,} rows, {count(len(graph.nodes), 'variable')}"),
        ("Graph", f"{asked['graph'] or 'estimated by ' + result['graph']['method']}: {edges}"),
        ("Simulated", asked["truth"] or "a network fitted to the table, which knows no more than the table"),
        ("Policies", listed(asked["policies"])),
        ("Rounds", f"{result['horizon']:,} a run"),
        ("Runs", f"{asked['runs']:,} of each policy, seed {result['seed']}"),
        ("Start", "without any rows" if asked["cold"] else f"from at most {count(started, 'row')}"),
        ("Not settable", listed(unsettable, none="none: every variable can be set")),
    ]
    facts += [("Knowledge", str(asked["knowledge"]))] if asked["knowledge"] else []
    return Section("settings", "Settings", [Facts(facts)])
