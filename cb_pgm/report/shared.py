"""What several kinds of page show: regret, rounds to identification, graphs, a search, how to repeat."""

from __future__ import annotations

import shlex
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from cb_pgm.plotting.graphs import Placement, draw_graphs
from cb_pgm.plotting.regret import draw_regret, line_name, regret_bands
from cb_pgm.plotting.results import draw_pulls
from cb_pgm.report.page import Block, Code, Facts, Paragraph, Picture, Section, Table
from discovery import EssentialGraph
from discovery.wording import count, listed, number, share

__all__ = [
    "MOST_NODES",
    "graph_picture",
    "policies_table",
    "pulls_picture",
    "regret_picture",
    "repeat_section",
    "search_blocks",
    "surroundings",
]

_MOST_EDGES = 300
MOST_NODES = 60  # in one picture; of larger graphs the part around the reward's parents is drawn


def regret_picture(curves: pd.DataFrame, rounds: int, about: str = "") -> Picture:
    """Return regret curves: mean over runs with a band where there are several.

    Parameters
    ----------
    curves
        Columns policy, graph, run, round, regret.
    rounds
        The horizon.
    about
        On what, for the caption.
    """
    bands = regret_bands(curves)
    ends = [
        (line_name(str(line.policy), str(line.graph)), float(line.mean))
        for line in bands[bands["round"] == bands["round"].max()].itertuples()
    ]
    ends.sort(key=lambda end: end[1])
    finals = "; ".join(f"{name} {number(round(regret))}" for name, regret in ends)
    runs = int(bands["runs"].max())
    band = "; the band holds the middle 80 % of them" if runs > 1 else ""
    return Picture(
        draw_regret(bands),
        f"Cumulative regret over {rounds:,} rounds{about}, at the end: {finals}.",
        f"Regret{about} is the mean reward lost so far against always playing the best intervention on one "
        f"variable: lower is better, and below 0 a policy that sets several variables does better than that. "
        f"{'Mean of ' + str(runs) + ' runs' if runs > 1 else 'One run'}{band}.",
    )


def policies_table(results: pd.DataFrame, caption: str, *, known: bool = True) -> Table:
    """Return a row for each policy and graph over its runs.

    Parameters
    ----------
    results
        One row per run: columns policy, graph, correct, interventions_to_find, regret and perhaps
        reward_variables, the names identified.
    caption
        The table's caption.
    known
        Whether it is known which parents are right.
    """
    names = ["identified"] if "reward_variables" in results else []
    head = ["policy", *names, *(["right"] if known else []), "rounds to identification", "regret, mean (sd)"]
    rows = []
    for (policy, graph), own in results.groupby(["policy", "graph"], sort=False):
        runs, cells = len(own), [line_name(str(policy), str(graph))]
        pulls = sorted(int(rounds) for rounds in own["interventions_to_find"].dropna())
        if names:
            found = Counter(", ".join(variables) for variables in own["reward_variables"] if len(variables))
            told = [name if times == runs else f"{name} ({times}×)" for name, times in found.most_common(3)]
            cells.append("; ".join(told) or "–")
        if known:
            right = sum(value is True or value == 1 for value in own["correct"])
            cells.append("–" if not pulls else share(right, runs) if runs > 1 else "yes" if right else "no")
        cells.append(f"{statistics.median_low(pulls):,}" if pulls else "–")
        regret = number(round(float(own["regret"].mean())))
        cells.append(regret if runs == 1 else f"{regret} ({number(round(float(own['regret'].std())))})")
        rows.append(cells)
    return Table(caption, head, rows, numeric=(len(head) - 2, len(head) - 1))


def pulls_picture(frame: pd.DataFrame, horizon: int) -> Picture:
    """Return a mark for each run at its round of identification; `frame` as `pulls_to_name` returns it."""
    medians = frame.groupby("name", sort=False)["pulls"].quantile(0.5, interpolation="lower")
    told = "; ".join(f"{name} {number(round(median))}" for name, median in medians.items())
    return Picture(
        draw_pulls(frame, horizon),
        f"Rounds to identification, median: {told}.",
        "Each dot is a run that identified the reward's parents, each cross one that identified others; the "
        "bar is the median. Rounds without an intervention count too.",
    )


def graph_picture(
    edges: pd.DataFrame,
    placement: Placement,
    *,
    roles: Mapping[str, str],
    meanings: Mapping[str, str],
    variables: int,
) -> Picture:
    """Return graphs over so many variables; edges, roles and meanings are those of `draw_graphs`."""
    told = [
        f"{meaning}: {listed([node for node, its in roles.items() if its == role])}"
        for role, meaning in meanings.items()
        if role in roles.values()
    ]
    told += [f"{panel}: {count(len(own), 'edge')}" for panel, own in edges.groupby("panel", observed=False)]
    left_out = variables - sum(roles.get(node) != "reward" for node in placement.widths)
    further = f"{count(left_out, 'variable')} further away {'is' if left_out == 1 else 'are'} not shown."
    drawing = draw_graphs(edges, placement, roles=roles, meanings=meanings)
    label = f"Graph over {count(variables, 'variable')}. {'; '.join(told)}."
    return Picture(drawing, label, further if left_out else "", scrolls=True)


def surroundings(graph: EssentialGraph, centre: Sequence[str], most: int = MOST_NODES) -> tuple[str, ...]:
    """Return up to `most` nodes, in node order: `centre` and those nearest to it.

    Fewer where they have too many edges among them: a layout takes a minute for a thousand.
    """
    edges = len(graph.directed) + len(graph.undirected)
    if len(graph.nodes) <= most and edges <= _MOST_EDGES:
        return graph.nodes
    nearest = list(dict.fromkeys(centre or graph.nodes[:1]))
    chosen: set[str] = set()
    edges = 0
    for node in nearest:  # grows meanwhile
        around = {*graph.parents(node), *graph.neighbours(node), *graph.children(node)}
        edges += len(around & chosen)
        if len(chosen) == most or edges > _MOST_EDGES:
            break
        chosen.add(node)
        further = around - set(nearest)
        nearest += [other for other in graph.nodes if other in further]
    return tuple(node for node in graph.nodes if node in chosen)


def search_blocks(story: Mapping[str, Any]) -> list[Block]:
    """Return the questions of a search with their answers, and how it ended.

    `story` is as `SearchTrace.to_dict` returns it.
    """
    questions = story["questions"]
    if not questions:
        return [Paragraph("It asked nothing, since no number of rounds would have given a certain answer.")]
    rounds = count(sum(question["pulls"] for question in questions), "round")
    rows = [
        (
            f"{place}. Does {question['variable']} affect the reward?",
            "yes" if question["moves"] else "no",
            number(question["reward_change"]) if question["reward_change"] is not None else "–",
            f"{question['pulls']:,}",
            listed(question["children"], none="–"),
            listed(question["ruled_out"], none="–"),
        )
        for place, question in enumerate(questions, start=1)
    ]
    head = ["question", "answer", "change of the mean", "rounds", "affects its neighbours", "ruled out"]
    caption = f"{count(len(rows), 'question')} in {rounds}"
    return [Table(caption, head, rows, numeric=(2, 3)), Paragraph(_ending(story))]


def _ending(story: Mapping[str, Any]) -> str:
    if not story["finished"]:
        return "The search was still going on when the rounds were over."
    note = f" Note: {story['note']}." if story["note"] else ""
    if story["named"]:
        return f"The search identified {listed(story['named'])} as the reward's parents.{note}"
    left = listed(story["candidates"], none="no variable")
    return f"The search identified no parent; still possible: {left}.{note}"


def repeat_section(
    command: str | None,
    seed: int,
    versions: Mapping[str, str],
    hashes: Mapping[str, str],
    further: Mapping[str, str | None] | None = None,
) -> Section:
    """Return the section on how to get the same numbers again.

    Parameters
    ----------
    command
        The ``cb-pgm`` command as one shell line; None where the results were computed from Python.
    seed
        The one in use, drawn or given.
    versions
        Library → version.
    hashes
        Path → SHA-256 of its content as read.
    further
        Further facts by their term; None: unknown.
    """
    how: Block = Paragraph("Started from Python: call it again with the same settings, seed and data.")
    if command is not None:
        try:
            words = shlex.split(command)
        except ValueError:  # no command of ours
            words = [command]
        if words[1:2] == ["run"] and not any(word.partition("=")[0] == "--seed" for word in words):
            words += ["--seed", str(seed)]
        how = Code(shlex.join(words))
    facts = [("Seed", str(seed))]
    facts += [(path, f"SHA-256 {digest}") for path, digest in hashes.items()]
    facts += [(term, value or "unknown") for term, value in (further or {}).items()]
    facts += [("Versions", ", ".join(f"{library} {version}" for library, version in versions.items()))]
    return Section("again", "How to run it again", [how, Facts(facts)])
