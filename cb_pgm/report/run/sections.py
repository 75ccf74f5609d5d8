"""Sections of a run's page: regret curves, rounds to identification, the graphs, the searches."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from cb_pgm.plotting.graph_plots import draw_graphs, edge_verdicts
from cb_pgm.plotting.regret import line_name
from cb_pgm.plotting.results import pulls_to_name
from cb_pgm.report.html.page import Block, Heading, Paragraph, Picture, Pictures, Section
from cb_pgm.report.html.svg import inline_svg
from cb_pgm.report.pictures import MOST_NODES, pulls_picture, regret_picture
from cb_pgm.report.run.folder import RunFolder
from cb_pgm.report.story.replay import surroundings
from cb_pgm.report.story.section import Story, same_story, story_blocks, story_key
from cb_pgm.wording import count, listed
from discovery import EssentialGraph, compare

__all__ = ["graph_section", "pulls_section", "regret_section", "story_section"]


def regret_section(curves: pd.DataFrame, *, rounds: int) -> Section:
    """Return the section of a run's regret curves."""
    return Section("regret", "Regret", [regret_picture(curves, "regret", rounds)])


def pulls_section(results: pd.DataFrame, horizon: int) -> Section | None:
    """Return the section on rounds to identification; None where no policy identified any cause."""
    frame = pulls_to_name(results)
    if frame.empty:
        return None
    blocks: list[Block] = [pulls_picture(frame, "pulls", horizon)]
    silent = [
        line_name(str(policy), str(graph))
        for (policy, graph), own in results.groupby(["policy", "graph"], sort=False)
        if own["interventions_to_find"].isna().all()
    ]
    if silent:
        blocks.append(Paragraph(f"No cause identified: {listed(silent)}."))
    return Section("pulls", "Rounds to identification", blocks)


def graph_section(run: RunFolder) -> Section:
    """Return the section of the graph in use, beside the true one where it is known."""
    used, true = run.graphs["used"], run.graphs.get("true")
    parents = run.material["measured"]["reward_parents"]
    shown = surroundings(used if true is None else true, parents or used.nodes[:1], MOST_NODES)
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
    if len(shown) < len(used.nodes):
        blocks.append(
            Paragraph(
                f"The pictures show the {len(shown)} of {len(used.nodes):,} variables nearest to the causes."
            )
        )
    blocks.append(_beside(used, true, shown, parents, run.result["rehearsal"]))
    return Section("graph", "The graph" if true is None else "Estimated and true graph", blocks)


def story_section(run: RunFolder) -> Section | None:
    """Return the section on every search, in its policy's first run; None where no policy searches."""
    shown: list[tuple[str, EssentialGraph, Story]] = []
    blocks: list[Block] = []
    for position, story in enumerate(run.material["stories"]):
        graph = run.graphs["true" if story["graph"] == "oracle" else "used"]
        name = line_name(story["policy"], story["graph"])
        twin = next((other for other, *own in shown if same_story(own, (graph, story))), None)
        blocks.append(Heading(name))
        if twin is None:
            blocks += story_blocks(graph, story, f"story-{position}")
            shown.append((name, graph, story))
        else:
            rounds = count(sum(question["pulls"] for question in story["questions"]), "round")
            blocks.append(Paragraph(f"The same questions and answers as {twin}, in {rounds}."))
    if not blocks:
        return None
    about = Paragraph(
        "Each step asks whether setting a variable has an effect on the reward and, where the direction of "
        "an edge is unknown, whether it has one on that neighbour. These are the steps of each policy's "
        "first run."
    )
    return Section("story", "The search, step by step", [about, story_key(run.material["stories"]), *blocks])


def _beside(
    used: EssentialGraph,
    true: EssentialGraph | None,
    shown: Sequence[str],
    marked: Sequence[str],
    rehearsal: bool,
) -> Pictures:
    """Return one picture a graph, the same nodes in the same places."""
    edges = edge_verdicts(used, true)
    pictures = []
    for panel in edges["panel"].cat.categories:
        own = edges[edges["panel"] == panel].copy()
        own["panel"] = own["panel"].cat.set_categories([panel])
        pictures.append(_graph_picture(own, used if true is None else true, shown, marked, rehearsal))
    return Pictures(pictures)


def _graph_picture(
    edges: pd.DataFrame,
    placed: EssentialGraph,
    shown: Sequence[str],
    marked: Sequence[str],
    rehearsal: bool,
) -> Picture:
    (panel,) = edges["panel"].cat.categories
    counts = edges["verdict"].value_counts()
    verdicts = listed([f"{times} {verdict}" for verdict, times in counts.items()], none="no edges")
    name = "The estimated graph" if panel == "estimated" else "The true graph"
    causes = f" {listed(marked)} {'causes' if len(marked) == 1 else 'cause'} the reward." if marked else ""
    figure = draw_graphs(
        edges,
        placed,
        nodes=shown,
        marked=[node for node in marked if node in shown],
        marked_as="cause of the reward" + (" in the fitted model" if rehearsal else ""),
    )
    open_edges = len(edges) - int(edges["directed"].sum())
    return Picture(
        inline_svg(
            figure,
            f"graph-{panel}",
            f"{name} over {count(len(placed.nodes), 'variable')}: {verdicts}.{causes}",
        ),
        f"{count(open_edges, 'edge')} undirected: the data leave the direction open."
        if open_edges
        else "Every edge has a direction.",
        scrolls=True,
    )
