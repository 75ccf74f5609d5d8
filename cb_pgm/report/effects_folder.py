"""A folder of `cb-pgm effects --out`: the answer as JSON, text, pictures and a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cb_pgm.effects.text import hanging_sentences, recommendation_sentences
from cb_pgm.files import json_text, write_text
from cb_pgm.plotting.effects import draw_effects, effects_frame
from cb_pgm.plotting.graphs import draw_graphs, drawn_edges_frame, place, with_reward
from cb_pgm.plotting.regret import save
from cb_pgm.report.page import Block, Code, Page, Picture, Points, Section, render
from cb_pgm.report.shared import graph_picture
from discovery.wording import visible

if TYPE_CHECKING:
    from cb_pgm.effects.report import EffectsReport

__all__ = ["write_effects"]


def write_effects(report: EffectsReport, variables: Sequence[str], folder: Path) -> None:
    """Write effects.json, effects.txt, report.html and the pictures of the arms and of the drawn graphs.

    `variables` are all of the table's, also those that can't be set.
    """
    answer = report.to_dict()
    write_text(folder / "effects.json", json_text(answer))
    write_text(folder / "effects.txt", visible(report.to_text()))
    arms = draw_effects(
        effects_frame(answer),
        report.do_nothing,
        reward=report.reward,
        title="What the table says of every intervention",
        level=f"{100 * (1 - report.failure_prob):.4g} %",
    )
    save(arms, folder / "effects")
    blocks: list[Block] = []
    if report.models:
        edges = drawn_edges_frame(answer).sort_values("share", ascending=False, kind="stable")
        edges = with_reward(edges, report.reward, report.scale.parents)
        arrows = zip(edges["source"].map(str), edges["target"].map(str), strict=True)
        placement = place([*variables, report.reward], arrows)
        settable = {arm.variable for arm in report.arms}
        roles = {name: "fixed" for name in variables if name not in settable}
        roles |= dict.fromkeys(report.decision.leader, "marked") | {report.reward: "reward"}
        meanings = {
            "fixed": "can't be set",
            "marked": "looks best to set",
            "reward": "the reward, below what explains it best",
        }
        save(draw_graphs(edges, placement, roles=roles, meanings=meanings), folder / "graphs")
        blocks.append(
            graph_picture(edges, placement, roles=roles, meanings=meanings, variables=len(variables))
        )
    first, *others = recommendation_sentences(report)
    why = [*others, *hanging_sentences(report), *report.decision.next]
    label = f"Intervals for the mean of {report.reward} under every intervention; the text has them, too."
    page = Page(
        kind="What a table says",
        title=f"What {'lowers' if report.minimize else 'raises'} {report.reward}",
        outcome=first,
        warnings=report.warnings,
        sections=[
            Section("why", "Why, and what to do next", [Points(why)]),
            Section("arms", "The interventions", [Picture(arms, label)]),
            *([Section("graphs", "Graphs drawn from the table", blocks)] if blocks else []),
            Section("text", "All of it as text", [Code(report.to_text())]),
        ],
    )
    write_text(folder / "report.html", render(page))
