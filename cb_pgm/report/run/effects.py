"""What the table of a rehearsal says of every arm: the recommendation, the arms and the graphs."""

from __future__ import annotations

from typing import Any

from cb_pgm.plotting.drawn_graph import draw_drawn_graph, drawn_edges_frame
from cb_pgm.plotting.effects import draw_effects, effects_frame
from cb_pgm.report.html.page import Paragraph, Picture, Points, Section
from cb_pgm.report.html.svg import inline_svg
from cb_pgm.report.pictures import MOST_NODES
from cb_pgm.report.run.folder import RunFolder
from cb_pgm.report.story.replay import surroundings
from cb_pgm.wording import number

__all__ = ["effects_sections"]


def effects_sections(run: RunFolder) -> list[Section]:
    """Return the sections on the recommendation and on the arms; none where the truth is known."""
    found, effects = run.material["recommendation"], run.result["effects"]
    if found is None:
        return []
    advice = Section("recommendation", "The recommendation", [Points(found["sentences"])])
    steps = Section("next", "What to do next", [Points(found["next_steps"])])
    return [advice, steps] if effects is None else [advice, steps, _arms(run, effects), _graphs(run, effects)]


def _arms(run: RunFolder, effects: dict[str, Any]) -> Section:
    frame, alone = effects_frame(effects), effects["do_nothing"]["mean"]
    reward = run.asked["reward"]
    first = effects["arms"][0]
    label = (
        f"Intervals for the mean of {reward} under each arm, the first {first['variable']} = "
        f"{first['state']}: {number(first['mean'])} over graphs; leaving things alone {number(alone)}."
    )
    picture = Picture(
        inline_svg(draw_effects(frame, alone, reward=reward), "arms", label),
        "What the table says of every arm. Nothing assumed: bounds at 99 %. Over graphs: the middle 90 % of "
        "the means over graphs drawn from resampled tables, if there is no hidden cause. Measured: rows in "
        "which the arm was set.",
        narrow=inline_svg(draw_effects(frame, alone, reward=reward, narrow=True), "arms-narrow", label),
    )
    return Section("effects", "The arms", [picture])


def _graphs(run: RunFolder, effects: dict[str, Any]) -> Section:
    used, leading = run.graphs["used"], list(run.material["recommendation"]["leader"])
    shown = surroundings(used, leading, MOST_NODES)
    figure = draw_drawn_graph(drawn_edges_frame(effects), used.nodes, nodes=shown, marked=leading)
    hanging = effects["hangs_on"]
    edges = [" and ".join(edge["edge"]) for edge in hanging]
    label = f"The drawn graphs as one. The best arm depends on {'; '.join(edges) or 'no edge'}."
    about = Paragraph(
        "An edge is as wide as the share of graphs that have it; it has an arrowhead where nine tenths of "
        "these agree on its direction."
    )
    picture = Picture(inline_svg(figure, "graphs", label), "The graphs drawn from the table.", scrolls=True)
    return Section("graphs", "What the choice hangs on", [about, picture])
