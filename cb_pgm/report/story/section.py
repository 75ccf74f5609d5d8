"""The section that tells a search step by step: what was asked, the answer, what that ruled out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from cb_pgm.plotting.graph_drawing import Placement, place
from cb_pgm.report.html.page import Block, Key, Paragraph, Picture, Step
from cb_pgm.report.html.svg import inline_svg
from cb_pgm.report.story.figures import KEY, draw_scene, scene_edges, scene_nodes
from cb_pgm.report.story.replay import Scene, replay, surroundings
from cb_pgm.wording import count, listed, number
from discovery import EssentialGraph

__all__ = ["Story", "same_story", "story_blocks", "story_key"]

_MOST_NODES = 40  # in a scene that shows the whole graph
_MOST_NODES_NEAR = 24  # in one of a larger graph: those nearest to the variable asked
_MOST_NODES_NARROW = 9  # on a phone
_PHONE = 4.4  # inches that a phone shows without scrolling
_MOST_SCENES = 40  # drawn in a story; the others are told in words

Story = Mapping[str, Any]


def story_key(stories: Sequence[Story]) -> Key:
    """Return what the boxes in the pictures of these stories mean."""
    held = any(question["fixed"] for story in stories for question in story["questions"])
    return Key([item for item in KEY if held or item[0] != "held"])


def story_blocks(graph: EssentialGraph, story: Story, identity: str) -> list[Block]:
    """Return the steps of a story on a graph; `identity` is unique in the page."""
    scenes = replay(graph, story["questions"])
    if not scenes:
        return [Paragraph("It asked nothing: no number of pulls would have given a certain answer.")]
    pulls = sum(scene.question["pulls"] for scene in scenes)
    blocks: list[Block] = [Paragraph(f"{count(len(scenes), 'question')} in {count(pulls, 'pull')}.")]
    everywhere = _places(graph, graph.nodes) if len(graph.nodes) <= _MOST_NODES else None
    for number_of, scene in enumerate(scenes, start=1):
        named = _named_in(scene, story, is_last=number_of == len(scenes))
        picture = None
        if number_of <= _MOST_SCENES:
            placement = everywhere or _places(graph, _nearby(graph, scene, _MOST_NODES_NEAR))
            picture = _picture(graph, scene, placement, named, f"{identity}-{number_of}")
        blocks.append(_step(scene, number_of, picture))
    blocks.append(Paragraph(_ending(story)))
    return blocks


def same_story(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Return whether two (graph, story) pairs tell the same, what answers cost left aside."""
    told = ("variable", "fixed", "moves", "children", "ruled_out")
    first, second = ([[q[key] for key in told] for q in story["questions"]] for _, story in (one, other))
    return bool(one[0] == other[0] and first == second and one[1]["named"] == other[1]["named"])


def _places(graph: EssentialGraph, nodes: Sequence[str]) -> Placement:
    return place(graph.consistent_extension(), nodes)


def _nearby(graph: EssentialGraph, scene: Scene, most: int) -> Sequence[str]:
    return surroundings(graph, [scene.question["variable"]], most)


def _named_in(scene: Scene, story: Story, *, is_last: bool) -> Sequence[str]:
    """Return the causes that this answer settles."""
    named: Sequence[str] = story["named"]
    if is_last:
        return [node for node in named if node not in scene.question["fixed"]]
    return [node for node in named if scene.after == (node,)]


def _step(scene: Scene, number_of: int, picture: Picture | None) -> Step:
    question = scene.question
    sentences = [_about_reward(question)]
    if question["undecided"]:
        sentences.append(_about_neighbours(scene))
    ruled_out = [node for node in scene.before if node not in scene.after]
    if ruled_out:
        why = f" Why: {question['reason']}." if question["reason"] else ""
        sentences.append(f"Ruled out: {listed(ruled_out)}.{why}")
    else:
        sentences.append("Ruled out: nothing new.")
    sentences.append(f"Left: {listed(scene.after, none='no variable')}.")
    return Step(
        f"{number_of}. {question['variable']}", "yes" if question["moves"] else "no", sentences, picture
    )


def _about_reward(question: Mapping[str, Any]) -> str:
    held = f" with {listed(list(question['fixed']))} held" if question["fixed"] else ""
    pulls, change = count(question["pulls"], "pull"), question["reward_change"]
    if change is None:
        moves = "moves" if question["moves"] else "doesn't move"
        return f"Setting it{held} {moves} the reward ({pulls})."
    if question["moves"]:
        return f"Setting it{held} changed the mean reward by up to {number(change)} ({pulls}): it moves it."
    return (
        f"Setting it{held} changed the mean reward by {number(change)} at most ({pulls}): it doesn't move it."
    )


def _about_neighbours(scene: Scene) -> str:
    question = scene.question
    moved = [node for node in question["undecided"] if node in question["children"]]
    still = [node for node in question["undecided"] if node not in moved]
    parts = [f"moves {listed(moved)}"] if moved else []
    parts += [f"doesn't move {listed(still)}"] if still else []
    own = {(question["variable"], node) for node in moved} | {(node, question["variable"]) for node in still}
    further = [f"{tail} → {head}" for tail, head in scene.learnt if (tail, head) not in own]
    follows = f"; so {listed(further)} too" if further else ""
    return f"It {' and '.join(parts)}{follows}."


def _picture(
    graph: EssentialGraph, scene: Scene, placement: Placement, named: Sequence[str], identity: str
) -> Picture:
    """Return a scene as a picture; on a phone only what is nearest to the variable asked, if it is wide."""
    wide, caption = _drawn(scene, len(graph.nodes), placement, named, identity)
    if placement.width <= _PHONE:
        return Picture(wide, caption, scrolls=True)
    near = _places(graph, _nearby(graph, scene, _MOST_NODES_NARROW))
    narrow, narrow_caption = _drawn(scene, len(graph.nodes), near, named, f"{identity}-narrow")
    return Picture(wide, caption, narrow=narrow, narrow_caption=narrow_caption, scrolls=True)


def _drawn(
    scene: Scene, n_variables: int, placement: Placement, named: Sequence[str], identity: str
) -> tuple[Markup, str]:
    """Return the drawn scene and what its caption says is left out."""
    shown = set(placement.widths)
    hidden = n_variables - len(shown)
    nodes = {node: style for node, style in scene_nodes(scene, named).items() if node in shown}
    told = [
        f"{meaning}: {listed([node for node, style in nodes.items() if style == name], most=12)}"
        for name, meaning in KEY
        if any(style == name for style in nodes.values())
    ]
    figure = draw_scene(placement, scene_edges(scene, shown), nodes)
    label = f"The graph after the answer about {scene.question['variable']}. {'; '.join(told)}."
    caption = f"{count(hidden, 'variable')} further away left out." if hidden else ""
    return inline_svg(figure, identity, label), caption


def _ending(story: Story) -> str:
    if not story["finished"]:
        return "The search was still going on when the rounds were over."
    note = f" Note: {story['note']}." if story["note"] else ""
    if story["named"]:
        whose = "its" if len(story["named"]) == 1 else "their"
        return f"So it named {listed(story['named'])} and went on with {whose} states.{note}"
    return f"It named no variable; left were {listed(story['candidates'], none='none')}.{note}"
