"""Sections of a report that are mostly a picture: regret curves, pulls until a name, the graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cb_pgm.plotting.graph_plots import draw_graphs, edge_verdicts
from cb_pgm.plotting.regret import draw_regret, line_name, regret_bands
from cb_pgm.plotting.results import draw_pulls, pulls_to_name
from cb_pgm.report.html.page import Block, Paragraph, Picture, Pictures, Section
from cb_pgm.report.html.svg import inline_svg
from cb_pgm.report.story.replay import surroundings
from cb_pgm.wording import count, listed, number
from discovery import EssentialGraph, compare

if TYPE_CHECKING:
    import pandas as pd

    from cb_pgm.report.run.folder import RunFolder

__all__ = ["graph_section", "marked_graph", "pulls_section", "regret_picture", "regret_section"]

_MOST_NODES = 60  # in one picture; of larger graphs the part around the reward's causes is drawn


def regret_section(curves: pd.DataFrame, *, rounds: int) -> Section:
    """Return the section of a run's regret curves."""
    return Section("regret", "Regret", [regret_picture(curves, "regret", rounds)])


def regret_picture(curves: pd.DataFrame, identity: str, rounds: int, about: str = "") -> Picture:
    """Return regret curves: mean over runs with a band where there are several.

    Parameters
    ----------
    curves
        Columns policy, graph, run, round, regret.
    identity
        Unique in the page.
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
    told = "; ".join(f"{name} {number(round(regret))}" for name, regret in ends)
    label = f"Cumulative regret over {rounds:,} rounds{about}, at the end: {told}."
    runs = int(bands["runs"].max())
    band = ", the band the middle 80 % of them" if runs > 1 else ""
    return Picture(
        inline_svg(draw_regret(bands), identity, label),
        f"Regret is what was lost against always doing the best intervention{about}. "
        f"{'Mean of ' + str(runs) + ' runs' if runs > 1 else 'One run'}{band}. Lower is better; a flat end "
        f"means that nothing more is lost.",
        narrow=inline_svg(draw_regret(bands, narrow=True), f"{identity}-narrow", label),
    )


def pulls_section(results: pd.DataFrame, horizon: int) -> Section | None:
    """Return the section on rounds until causes were named; None where no policy named any."""
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
        blocks.append(Paragraph(f"Named no cause: {listed(silent)}."))
    return Section("pulls", "Pulls until the cause was named", blocks)


def pulls_picture(frame: pd.DataFrame, identity: str, horizon: int) -> Picture:
    """Return a mark for each run at the round where it named; `frame` as `pulls_to_name` returns it."""
    medians = frame.groupby("name", sort=False)["pulls"].quantile(0.5, interpolation="lower")
    told = "; ".join(f"{name} {number(round(median))}" for name, median in medians.items())
    label = f"Rounds until causes were named, median: {told}."
    return Picture(
        inline_svg(draw_pulls(frame, horizon), identity, label),
        "Each dot is a run that named the right causes, each cross one that named others; the bar is the "
        "median. Pulls of nothing count too.",
        narrow=inline_svg(draw_pulls(frame, horizon, narrow=True), f"{identity}-narrow", label),
    )


def graph_section(run: RunFolder) -> Section:
    """Return the section of the graph in use, beside the true one where it is known."""
    used, true = run.graphs["used"], run.graphs.get("true")
    parents = run.material["measured"]["reward_parents"]
    shown = surroundings(used if true is None else true, parents or used.nodes[:1], _MOST_NODES)
    blocks: list[Block] = []
    if true is not None:
        scores = compare(used, true)
        told = "The two are the same."
        if scores["shd"]:
            told = (
                f"The two differ in {count(scores['shd'], 'edge')} (structural Hamming distance); F1 is "
                f"{scores['skeleton']['f1']:.0%} for adjacencies, {scores['arrow']['f1']:.0%} for arrows."
            )
        blocks.append(Paragraph(told))
    if len(shown) < len(used.nodes):
        blocks.append(
            Paragraph(f"Drawn are the {len(shown)} of {len(used.nodes):,} variables nearest to the causes.")
        )
    blocks.append(_beside(used, true, shown, parents, run.result["rehearsal"]))
    return Section("graph", "The graph" if true is None else "Estimated beside true graph", blocks)


def marked_graph(graph: EssentialGraph, marked: Sequence[str], marked_as: str) -> Picture:
    """Return a graph by itself, the `marked` variables shaded."""
    shown = surroundings(graph, marked or graph.nodes[:1], _MOST_NODES)
    figure = draw_graphs(edge_verdicts(graph), graph, nodes=shown, marked=[*marked], marked_as=marked_as)
    told = f" Marked, {marked_as}: {listed(marked)}." if marked else ""
    label = f"The graph over {count(len(graph.nodes), 'variable')}.{told}"
    hidden = len(graph.nodes) - len(shown)
    caption = f"{count(hidden, 'variable')} further away left out." if hidden else ""
    return Picture(inline_svg(figure, "graph", label), caption, scrolls=True)


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
    told = listed([f"{times} {verdict}" for verdict, times in counts.items()], none="no edges")
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
            figure, f"graph-{panel}", f"{name} over {count(len(placed.nodes), 'variable')}: {told}.{causes}"
        ),
        f"{count(open_edges, 'line')} without an arrowhead: the data leave the direction open."
        if open_edges
        else "Every edge has a direction.",
        scrolls=True,
    )
