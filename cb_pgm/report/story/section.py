"""A search step by step: what each step asked, the answer, and what that ruled out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from cb_pgm.plotting.graph_drawing import Placement, place
from cb_pgm.report.html.page import Block, Key, Paragraph, Picture, Step
from cb_pgm.report.html.svg import inline_svg
from cb_pgm.report.story.figures import KEY, draw_step, step_edges, step_nodes
from cb_pgm.report.story.replay import TraceStep, replay, surroundings
from cb_pgm.wording import count, listed, number
from discovery import EssentialGraph

__all__ = ["Story", "same_story", "story_blocks", "story_key"]

_MOST_NODES = 40  # in a picture of the whole graph
_MOST_NODES_NEAR = 24  # in one of a larger graph: those nearest to the variable asked about
_MOST_NODES_NARROW = 9  # on a phone
_PHONE = 4.4  # inches that a phone shows without scrolling
_MOST_PICTURES = 40  # of a search; later steps have text only

Story = Mapping[str, Any]


def story_key(stories: Sequence[Story]) -> Key:
    """Return the meaning of the boxes and edges in the pictures of these searches."""
    held = any(question["fixed"] for story in stories for question in story["questions"])
    return Key([item for item in KEY if held or item[0] != "held"])


def story_blocks(graph: EssentialGraph, story: Story, identity: str) -> list[Block]:
    """Return the steps of a search on a graph; `identity` is unique in the page."""
    steps = replay(graph, story["questions"])
    if not steps:
        return [Paragraph("It asked nothing, since no number of rounds would have given a certain answer.")]
    pulls = sum(step.question["pulls"] for step in steps)
    blocks: list[Block] = [Paragraph(f"{count(len(steps), 'question')} in {count(pulls, 'round')}.")]
    everywhere = _places(graph, graph.nodes) if len(graph.nodes) <= _MOST_NODES else None
    for number_of, step in enumerate(steps, start=1):
        named = _named_in(step, story, is_last=number_of == len(steps))
        picture = None
        if number_of <= _MOST_PICTURES:
            placement = everywhere or _places(graph, _nearby(graph, step, _MOST_NODES_NEAR))
            picture = _picture(graph, step, placement, named, f"{identity}-{number_of}")
        blocks.append(_step(step, number_of, picture))
    blocks.append(Paragraph(_ending(story)))
    return blocks


def same_story(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Return whether two (graph, story) pairs have the same questions and answers, whatever these cost."""
    compared = ("variable", "fixed", "moves", "children", "ruled_out")
    first, second = ([[q[key] for key in compared] for q in story["questions"]] for _, story in (one, other))
    return bool(one[0] == other[0] and first == second and one[1]["named"] == other[1]["named"])


def _places(graph: EssentialGraph, nodes: Sequence[str]) -> Placement:
    return place(graph.consistent_extension(), nodes)


def _nearby(graph: EssentialGraph, step: TraceStep, most: int) -> Sequence[str]:
    return surroundings(graph, [step.question["variable"]], most)


def _named_in(step: TraceStep, story: Story, *, is_last: bool) -> Sequence[str]:
    """Return the causes that this answer identifies."""
    named: Sequence[str] = story["named"]
    if is_last:
        return [node for node in named if node not in step.question["fixed"]]
    return [node for node in named if step.after == (node,)]


def _step(step: TraceStep, number_of: int, picture: Picture | None) -> Step:
    question = step.question
    sentences = [_about_reward(question)]
    if question["undecided"]:
        sentences.append(_about_neighbours(step))
    ruled_out = [node for node in step.before if node not in step.after]
    if ruled_out:
        reason = f" Reason: {question['reason']}." if question["reason"] else ""
        sentences.append(f"Ruled out: {listed(ruled_out)}.{reason}")
    else:
        sentences.append("Ruled out: nothing new.")
    sentences.append(f"Still possible: {listed(step.after, none='no variable')}.")
    title = f"{number_of}. Does {question['variable']} affect the reward?"
    return Step(title, "yes" if question["moves"] else "no", sentences, picture)


def _about_reward(question: Mapping[str, Any]) -> str:
    held = f", with {listed(question['fixed'])} held fixed," if question["fixed"] else ""
    rounds, change = count(question["pulls"], "round"), question["reward_change"]
    if change is None:
        effect = "an effect" if question["moves"] else "no effect"
        return f"Setting it{held} has {effect} on the reward ({rounds})."
    if question["moves"]:
        return f"Setting it{held} changed the mean reward by up to {number(change)} in {rounds}: an effect."
    return (
        f"Setting it{held} changed the mean reward by no more than {number(change)} in {rounds}: no effect."
    )


def _about_neighbours(step: TraceStep) -> str:
    question = step.question
    moved = [node for node in question["undecided"] if node in question["children"]]
    still = [node for node in question["undecided"] if node not in moved]
    parts = [f"an effect on {listed(moved)}"] if moved else []
    parts += [f"no effect on {listed(still)}"] if still else []
    own = {(question["variable"], node) for node in moved} | {(node, question["variable"]) for node in still}
    further = [f"{tail} → {head}" for tail, head in step.learnt if (tail, head) not in own]
    follows = f" Hence also {listed(further)}." if further else ""
    return f"It has {listed(parts)}.{follows}"


def _picture(
    graph: EssentialGraph, step: TraceStep, placement: Placement, named: Sequence[str], identity: str
) -> Picture:
    """Return a step's picture; a wide one has a narrow twin for phones, around the variable asked about."""
    wide, caption = _drawn(step, len(graph.nodes), placement, named, identity)
    if placement.width <= _PHONE:
        return Picture(wide, caption, scrolls=True)
    near = _places(graph, _nearby(graph, step, _MOST_NODES_NARROW))
    narrow, narrow_caption = _drawn(step, len(graph.nodes), near, named, f"{identity}-narrow")
    return Picture(wide, caption, narrow=narrow, narrow_caption=narrow_caption, scrolls=True)


def _drawn(
    step: TraceStep, n_variables: int, placement: Placement, named: Sequence[str], identity: str
) -> tuple[Markup, str]:
    """Return the drawn step, and a caption that counts the variables left out."""
    shown = set(placement.widths)
    hidden = n_variables - len(shown)
    nodes = {node: style for node, style in step_nodes(step, named).items() if node in shown}
    styles = [
        f"{meaning}: {listed([node for node, style in nodes.items() if style == name], most=12)}"
        for name, meaning in KEY
        if any(style == name for style in nodes.values())
    ]
    figure = draw_step(placement, step_edges(step, shown), nodes)
    label = f"The graph after the question about {step.question['variable']}. {'; '.join(styles)}."
    caption = f"{count(hidden, 'variable')} further away are not shown." if hidden else ""
    return inline_svg(figure, identity, label), caption


def _ending(story: Story) -> str:
    if not story["finished"]:
        return "The search was still going on when the rounds were over."
    note = f" Note: {story['note']}." if story["note"] else ""
    if story["named"]:
        cause = "the reward's cause" if len(story["named"]) == 1 else "the reward's causes"
        return f"The search identified {listed(story['named'])} as {cause}.{note}"
    left = listed(story["candidates"], none="no variable")
    return f"The search identified no cause; still possible: {left}.{note}"
