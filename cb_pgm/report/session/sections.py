"""The sections of a session's page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cb_pgm.plotting.results import draw_arms
from cb_pgm.report.html.page import Block, Code, Facts, Paragraph, Picture, Section, Table
from cb_pgm.report.html.svg import inline_svg
from cb_pgm.report.pictures import marked_graph
from cb_pgm.report.session.folder import SessionFolder
from cb_pgm.report.story.section import story_blocks, story_key
from cb_pgm.session.events import Asked, Told, Withdrawn
from cb_pgm.session.status import counted, setting_text
from cb_pgm.wording import count, listed, number, setting

__all__ = [
    "arms_section",
    "asked_section",
    "assumptions_section",
    "causes_section",
    "next_section",
    "record_section",
    "story_section",
]

MOST_ARMS = 12  # in a picture or table
_MOST_PULLS = 20  # in the record


def asked_section(read: SessionFolder) -> Section:
    """Return the section on what was decided at the start."""
    settings, status = read.settings, read.status
    unsettable = [name for name in settings.states if name not in settings.settable]
    facts = [
        ("Reward", f"{settings.reward}{', as low as can be' if settings.minimize else ''}"),
        ("Variables", count(len(settings.states), "variable")),
        ("Policy", settings.policy),
        ("Horizon", f"{counted(settings.horizon, settings.unit)}, seed {settings.seed}"),
        ("Ends", "at the horizon" if settings.stop == "horizon" else "as soon as the best arm is certain"),
        ("Can't be set", listed(unsettable, none="nothing: every variable can be")),
        ("Known before", counted(status.earlier, settings.unit) if status.earlier else "nothing"),
    ]
    if status.excluded:
        facts.append(("Turned out impossible", "; ".join(map(setting_text, status.excluded))))
    return Section("asked", "What was asked", [Facts(facts)])


def arms_section(read: SessionFolder) -> Section | None:
    """Return the picture of the best arms' means and intervals; None before the first pull."""
    arms = read.arms()[:MOST_ARMS]
    if not arms:
        return None
    told = "; ".join(f"{setting(arm.intervention)} {number(arm.mean)}" for arm in arms)
    label = f"Mean reward of each arm with its interval, best first: {told}."
    picture = Picture(
        inline_svg(draw_arms(arms, str(read.settings.reward)), "arms", label),
        "Dots are means, lines the intervals that hold for all arms at all times at once.",
        narrow=inline_svg(draw_arms(arms, str(read.settings.reward), narrow=True), "arms-narrow", label),
    )
    return Section("arms", "The arms", [picture])


def causes_section(read: SessionFolder) -> Section | None:
    """Return what is ruled out and left, and the graph; None for a policy that looks for no causes."""
    status, settings = read.status, read.settings
    if status.left is None and settings.graph is None:
        return None
    blocks: list[Block] = []
    if status.left is not None and status.ruled_out is not None:
        left = [" and ".join(names) for names in status.left]
        facts = [
            ("Ruled out", listed(status.ruled_out, most=30, none="no variable yet")),
            ("Left", listed(left, most=30, none="none")),
        ]
        if read.named_after is not None:
            after = f"after {counted(read.named_after, settings.unit)}"
            if not read.named_after:
                after = "from what was known before"
            facts.append(("Named", f"{listed(status.reward_variables)}, {after}"))
        blocks.append(Facts(facts))
    if settings.graph is not None:
        blocks.append(marked_graph(settings.graph, status.reward_variables, "named as cause of the reward"))
    return Section("causes", "What the reward depends on", blocks)


def story_section(read: SessionFolder) -> Section | None:
    """Return the search's story so far; None for a policy that asks no questions."""
    story, graph = read.state.policy.story, read.settings.graph
    if story is None or graph is None or not story.questions:
        return None
    told = story.to_dict()
    return Section(
        "story", "The search, step by step", [story_key([told]), *story_blocks(graph, told, "story")]
    )


def assumptions_section(read: SessionFolder) -> Section:
    """Return the section on what is assumed, and what was seen that bears on it."""
    settings = read.settings
    rows = [
        ("Rewards scatter by σ at most", f"given {number(settings.noise_scale)}"),
        ("The reward has few direct causes", f"{settings.max_parents} at most"),
    ]
    if settings.reward_gap is not None:
        rows.append(
            ("Ancestors of the cause move the reward by Δ at least", f"given {number(settings.reward_gap)}")
        )
    if settings.effect_gap is not None:
        rows.append(("Variables move their children by ε at least", f"given {number(settings.effect_gap)}"))
    if settings.marginals is not None and settings.marginals.rows is not None:
        error = settings.marginals.sampling_error(settings.failure_share)
        known = f"{settings.marginals.rows:,} rows: off by up to {number(error)}"
        rows.append(("Frequencies in the table are near enough, by less than ε/2", known))
    story = read.state.policy.story
    if story is not None:
        changes: dict[bool, list[float]] = {True: [], False: []}
        for question in story.questions:
            if question.reward_change is not None:
                changes[question.probe.is_ancestor].append(question.reward_change)
        if changes[True]:
            smallest = number(min(changes[True]))
            rows.append(("Seen so far: the smallest change of the reward that counted as one", smallest))
        if changes[False]:
            rows.append(("Seen so far: the largest that didn't", number(max(changes[False]))))
    rows.append(("The rewards seen fit what was named", read.status.fallback or "nothing speaks against it"))
    about = Paragraph(
        "The real world's gaps can't be measured beforehand; these were given or fitted to the table."
    )
    table = Table("What is assumed, and what speaks for it", ["assumed", "known"], rows)
    return Section("assumptions", "Assumptions", [about, table])


def record_section(read: SessionFolder) -> Section | None:
    """Return the section that lists the pulls, the latest first."""
    rows: dict[int, list[str]] = {}
    rewards: dict[int, list[float]] = {}
    for event, at in read.events:
        match event:
            case Asked(pull=int(pull)):
                rows[pull] = [
                    str(pull),
                    at.replace("T", " ")[:16],
                    setting_text(event.intervention),
                    f"{event.size:,}",
                    "",
                    "",
                    event.why,
                ]
            case Told():
                own = rewards.setdefault(event.pull, [])
                own += read.settings.reward.rewards(event.rows.fields).tolist()
                rows[event.pull][4:6] = [f"{len(own):,}", number(sum(own) / len(own)) if own else "–"]
            case Withdrawn():
                rows[event.pull][6] += f" (withdrawn{': ' + event.reason if event.reason else ''})"
    if not rows:
        return None
    latest = list(reversed(rows.values()))[:_MOST_PULLS]
    caption = (
        f"The last {len(latest)} of {len(rows)} pulls"
        if len(rows) > len(latest)
        else "All pulls, the latest first"
    )
    head = ["pull", "asked (UTC)", "set", "wanted", "told", "mean", "why"]
    return Section("record", "The record", [Table(caption, head, latest, numeric=(3, 4, 5))])


def next_section(read: SessionFolder, folder: Path) -> Section:
    """Return the section on how to go on, and with what the session was started."""
    source, facts = dict(read.settings.source), [("Seed", str(read.settings.seed))]
    versions = source.pop("versions", {})
    facts += [
        (name.capitalize() if name != "sha256" else "SHA-256", str(value)) for name, value in source.items()
    ]
    if isinstance(versions, Mapping):
        facts.append(("Versions", ", ".join(f"{library} {version}" for library, version in versions.items())))
    about = Paragraph(
        "A session is gone on with, not run again. Its log is kept whole under a chain of hashes, and what "
        "the policy knows follows from it; export writes all rows told as CSV."
    )
    verbs = Code(f"cb-pgm session ask {folder}\ncb-pgm session export {folder} --out rows.csv")
    return Section("again", "How to go on", [about, verbs, Facts(facts)])
