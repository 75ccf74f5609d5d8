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
    "assumptions_section",
    "causes_section",
    "next_section",
    "record_section",
    "settings_section",
    "story_section",
]

INTERVALS = "The intervals hold for all arms and at all times at once."
MOST_ARMS = 12  # in a picture or table
_MOST_PULLS = 20  # in the record


def settings_section(read: SessionFolder) -> Section:
    """Return the section on the session's settings."""
    settings, status = read.settings, read.status
    unsettable = [name for name in settings.states if name not in settings.settable]
    ends = "at the horizon"
    if settings.stop != "horizon":
        ends = "as soon as the best arm is certain, or at the horizon"
    facts = [
        ("Reward", f"{settings.reward}{', to be minimized' if settings.minimize else ''}"),
        ("Variables", count(len(settings.states), "variable")),
        ("Policy", settings.policy if status.loaded else f"{settings.policy}, not loaded"),
        ("Horizon", f"{counted(settings.horizon, settings.unit)}, seed {settings.seed}"),
        ("Ends", ends),
        ("Not settable", listed(unsettable, none="none: every variable can be set")),
        ("Rows before the start", counted(status.earlier, settings.unit) if status.earlier else "none"),
    ]
    if status.excluded:
        facts.append(("Excluded as impossible", "; ".join(map(setting_text, status.excluded))))
    return Section("settings", "Settings", [Facts(facts)])


def arms_section(read: SessionFolder) -> Section | None:
    """Return the picture of the best arms' means and intervals; None before the first pull."""
    arms = read.arms()[:MOST_ARMS]
    if not arms:
        return None
    means = "; ".join(f"{setting(arm.intervention)} {number(arm.mean)}" for arm in arms)
    label = f"Mean reward of each arm with its interval, best first: {means}."
    unit = read.settings.unit
    picture = Picture(
        inline_svg(draw_arms(arms, str(read.settings.reward)), "arms", label),
        f"Dots are means, with the number of {unit} in brackets; lines are intervals. {INTERVALS}",
        narrow=inline_svg(draw_arms(arms, str(read.settings.reward), narrow=True), "arms-narrow", label),
    )
    return Section("arms", "The arms", [picture])


def causes_section(read: SessionFolder) -> Section | None:
    """Return the candidates for the causes, and the graph; None for a policy that looks for no causes."""
    status, settings = read.status, read.settings
    if status.left is None and settings.graph is None:
        return None
    blocks: list[Block] = []
    if status.left is not None and status.ruled_out is not None:
        left = [" and ".join(names) for names in status.left]
        facts = [
            ("Ruled out", listed(status.ruled_out, most=30, none="no variable yet")),
            ("Still possible", listed(left, most=30)),
        ]
        if read.identified_after is not None:
            after = f"after {counted(read.identified_after, settings.unit)}"
            if not read.identified_after:
                after = "from the rows before the start"
            facts.append(("Identified", f"{listed(status.reward_variables)}, {after}"))
        blocks.append(Facts(facts))
    if settings.graph is not None:
        blocks.append(
            marked_graph(settings.graph, status.reward_variables, "identified as a cause of the reward")
        )
    return Section("causes", "What the reward depends on", blocks)


def story_section(read: SessionFolder) -> Section | None:
    """Return the steps of the search so far; None for a policy that doesn't search."""
    story, graph = read.state.policy.story, read.settings.graph
    if story is None or graph is None or not story.questions:
        return None
    told = story.scaled(read.settings.reward_unit.width).to_dict()
    return Section(
        "story", "The search, step by step", [story_key([told]), *story_blocks(graph, told, "story")]
    )


def assumptions_section(read: SessionFolder) -> Section:
    """Return the section on the assumptions, and what the recorded rows say about them."""
    settings = read.settings
    rows = [
        ("Rewards are σ-subgaussian around their mean", f"σ = {number(settings.noise_scale)}"),
        ("The number of direct causes of the reward is limited", f"at most {settings.max_parents}"),
    ]
    if settings.reward_gap is not None:
        rows.append(
            (
                "Ancestors of the cause change the mean reward by at least Δ",
                f"Δ = {number(settings.reward_gap)}",
            )
        )
    if settings.effect_gap is not None:
        rows.append(("Variables change their children by at least ε", f"ε = {number(settings.effect_gap)}"))
    if settings.marginals is not None and settings.marginals.rows is not None:
        error = settings.marginals.sampling_error(settings.failure_prob)
        known = f"{settings.marginals.rows:,} rows: within {number(error)}"
        rows.append(("The table's frequencies are within ε/2 of the probabilities", known))
    story = read.state.policy.story
    if story is not None:
        changes: dict[bool, list[float]] = {True: [], False: []}
        for question in story.questions:
            if question.reward_change is not None:
                change = settings.reward_unit.difference(question.reward_change)
                changes[question.probe.is_ancestor].append(change)
        if changes[True]:
            smallest = number(min(changes[True]))
            rows.append(("The smallest change of the reward that was taken for an effect", smallest))
        if changes[False]:
            rows.append(("The largest change of the reward that was not", number(max(changes[False]))))
    rows.append(
        (
            "The recorded rewards agree with the causes identified",
            read.status.fallback or "no contradiction seen",
        )
    )
    about = Paragraph(
        "The gaps of the real world can't be measured beforehand. These were given, or come from a model "
        "fitted to the table."
    )
    table = Table("Assumptions, and what is known about them", ["assumption", "known"], rows)
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
    head = ["pull", "asked (UTC)", "intervention", "asked for", "recorded", "mean", "reason"]
    return Section("record", "The record", [Table(caption, head, latest, numeric=(3, 4, 5))])


def next_section(read: SessionFolder, folder: Path) -> Section:
    """Return the section on how to go on, and on what the session was started from."""
    source, facts = dict(read.settings.source), [("Seed", str(read.settings.seed))]
    versions = source.pop("versions", {})
    facts += [
        (name.capitalize() if name != "sha256" else "SHA-256", str(value)) for name, value in source.items()
    ]
    if isinstance(versions, Mapping):
        facts.append(("Versions", ", ".join(f"{library} {version}" for library, version in versions.items())))
    about = Paragraph(
        "A session is continued, not run again. All that the policy knows follows from its log. "
        "The second command writes all recorded rows as CSV."
    )
    verbs = Code(f"cb-pgm session ask {folder}\ncb-pgm session export {folder} --out rows.csv")
    return Section("again", "How to go on", [about, verbs, Facts(facts)])
