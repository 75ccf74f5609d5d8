"""The page of a session: where it stands, its arms, the search for parents, the record, and how to go on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from cb_pgm.errors import ReportError, SessionError
from cb_pgm.model.intervention import ArmEstimate
from cb_pgm.plotting.beliefs import beliefs_frame, draw_beliefs
from cb_pgm.plotting.effects import arms_frame, draw_effects
from cb_pgm.plotting.graphs import edge_verdicts, place_graph, with_reward
from cb_pgm.report.page import Block, Code, Facts, Page, Paragraph, Picture, Section, Table
from cb_pgm.report.shared import graph_picture, search_blocks, surroundings
from cb_pgm.session.events import Asked, Event, Told, Withdrawn
from cb_pgm.session.log import Log
from cb_pgm.session.settings import SessionSettings
from cb_pgm.session.state import SessionState
from cb_pgm.session.status import Status, status_of
from cb_pgm.session.texts import counted, setting_text
from discovery.wording import listed, number

if TYPE_CHECKING:
    from cb_pgm.evidence.hypotheses import Beliefs

__all__ = ["session_page"]

_INTERVALS = "The intervals hold for all arms and at all times at once."
_MOST_ARMS = 12  # in a picture or table
_MOST_PULLS = 20  # in the record
_BELIEFS_GROWTH = 1.05  # of the rows from one point of the picture of beliefs to the next


@dataclass(frozen=True)
class _Read:
    """A session as read back, with the number of recorded rows after which the parents named were identified.

    That number is None while none are named. `believed` has the posterior after some numbers of rows.
    """

    state: SessionState
    status: Status
    events: tuple[tuple[Event, str], ...]
    identified_after: int | None
    believed: tuple[tuple[int, Beliefs], ...]

    @property
    def settings(self) -> SessionSettings:
        return self.state.settings

    def arms(self) -> list[ArmEstimate]:
        """Return every arm's estimate on the scale of the data, highest lower bound first."""
        estimates = sorted(self.state.policy.estimates(), key=lambda arm: arm.low, reverse=True)
        return [self.settings.as_asked(arm) for arm in estimates]


def session_page(folder: Path) -> Page:
    """Return the page of a session's folder, which is only read.

    Raises
    ------
    ReportError
        If the session can't be read.
    """
    try:
        with closing(Log(folder)) as log, log.reading() as state:
            events = tuple(log.events())
    except SessionError as error:
        raise ReportError(str(error)) from None
    read = _Read(state, status_of(state), events, *_history(state.settings, events))
    status = read.status
    sections = [
        _standing(read),
        _arms(read),
        _graph(read),
        _search(read),
        _beliefs(read),
        _assumptions(read),
        _record(read),
        _next(read, folder),
    ]
    return Page(
        kind=f"Session, {'finished' if status.over else 'under way'}",
        title=f"What {'lowers' if status.minimize else 'raises'} {status.reward}",
        outcome=f"{_outcome(read)} {status.told:,} of {counted(status.horizon, status.unit)} are recorded.",
        warnings=[
            *(f"{one.text[:1].upper()}{one.text[1:]}." for one in status.irregularities),
            *(text for text in (status.fallback, status.assumption) if text),
        ],
        sections=[section for section in sections if section.blocks],
    )


def _history(
    settings: SessionSettings, events: Sequence[tuple[Event, str]]
) -> tuple[int | None, tuple[tuple[int, Beliefs], ...]]:
    """Return the number of rows recorded when the parents named now were identified, and what was believed
    when.
    """
    state = SessionState(settings)
    named, after = state.policy.reward_variables, 0
    believed: list[tuple[int, Beliefs]] = []
    for event, _ in events:
        state.apply(event)
        if state.policy.reward_variables != named:
            named, after = state.policy.reward_variables, state.told
        beliefs = state.policy.beliefs()
        if beliefs is not None and (not believed or state.told >= believed[-1][0] * _BELIEFS_GROWTH + 1):
            believed.append((state.told, beliefs))
    return (after if named else None), tuple(believed)


def _outcome(read: _Read) -> str:
    """Return what to set, and "Set" only where its gain over no intervention was measured."""
    best = read.status.best_arm
    if best is None:
        return "No arm has been pulled yet."
    arms = {arm.intervention: arm for arm in read.arms()}
    alone = next((arm for arm in arms.values() if not arm.intervention), None)
    mean, low, high = (number(value, best.high - best.low) for value in (best.mean, best.low, best.high))
    estimate = f"mean {mean} (between {low} and {high})"
    certain = "certain to be the best arm" if read.status.certain else "not yet certain to be the best arm"
    if not best.intervention:
        return f"No intervention looks better than none: {estimate}, {certain}."
    name = setting_text(best.intervention)
    if alone is None:
        return (
            f"{name} looks best: {estimate}, {certain}. Whether it is better than no intervention isn't "
            f"known: no row without one is recorded."
        )
    gains = (best.low - alone.high, alone.low - best.high)
    if gains[1 if read.status.minimize else 0] > 0:
        return f"Set {name}: {estimate}, against {number(alone.mean)} without an intervention; {certain}."
    return f"{name} looks best: {estimate}, {certain}, nor to be better than no intervention."


def _standing(read: _Read) -> Section:
    """Return the lines of `cb-pgm session status`, and the settings."""
    settings, status = read.settings, read.status
    lines = re.sub(r"\n {12}", ". ", status.to_text()).splitlines()[1:]
    facts = [(line[:12].strip(), line[12:]) for line in lines]
    if read.identified_after is not None:
        rows = counted(read.identified_after, settings.unit)
        facts.append(("Identified after", rows if read.identified_after else "the rows before the start"))
    unsettable = [name for name in settings.states if name not in settings.settable]
    ends = "at the horizon"
    if settings.stop != "horizon":
        by = "rows in which arms were set" if settings.on == "experimental" else "the causes left"
        ends = f"once no arm can be better by {number(settings.tolerance)}, by {by}, or at the horizon"
    facts += [
        ("Reward", f"{settings.reward}{', to be minimized' if settings.minimize else ''}"),
        ("Policy", settings.policy if status.loaded else f"{settings.policy}, not loaded"),
        ("Ends", f"{ends}: {counted(settings.horizon, settings.unit)}"),
        ("Not settable", listed(unsettable, none="none: every variable can be set")),
        ("Rows before", counted(status.earlier, settings.unit) if status.earlier else "none"),
    ]
    return Section("status", "Where it stands", [Facts(facts)])


def _arms(read: _Read) -> Section:
    every = read.arms()
    arms, blocks = every[:_MOST_ARMS], list[Block]()
    if arms:
        rows = [
            (
                setting_text(arm.intervention) if arm.intervention else "no intervention",
                f"{arm.rows:,}",
                number(arm.mean, arm.high - arm.low),
                f"{number(arm.low, arm.high - arm.low)} to {number(arm.high, arm.high - arm.low)}",
            )
            for arm in arms
        ]
        unit, means = read.settings.unit, "; ".join(f"{row[0]} {row[2]}" for row in rows)
        drawing = draw_effects(arms_frame(arms), reward=str(read.settings.reward))
        label = f"Mean reward of each arm with its interval, best first: {means}."
        about = f"Dots are means, with the number of {unit} in brackets; lines are intervals. {_INTERVALS}"
        more = f", the best {len(rows)} of {len(every)}" if len(every) > len(rows) else ""
        head = ["arm", unit, "mean reward", "interval"]
        blocks = [
            Picture(drawing, label, about),
            Table(f"Every arm pulled{more}. {_INTERVALS}", head, rows, numeric=(1, 2, 3)),
        ]
    return Section("arms", "The arms", blocks)


def _graph(read: _Read) -> Section:
    graph, named, blocks = read.settings.graph, read.status.reward_variables, list[Block]()
    if graph is not None:
        reward = str(read.settings.reward)
        edges = with_reward(edge_verdicts(graph), reward, named)
        placement = place_graph(graph, edges, nodes=surroundings(graph, named), reward=reward)
        roles = {name: "fixed" for name in graph.nodes if name not in read.settings.settable}
        roles |= dict.fromkeys(named, "marked") | {reward: "reward"}
        meanings = {"reward": "the reward", "fixed": "can't be set", "marked": "identified as its parent"}
        blocks.append(
            graph_picture(edges, placement, roles=roles, meanings=meanings, variables=len(graph.nodes))
        )
    return Section("graph", "The graph", blocks)


def _search(read: _Read) -> Section:
    story, blocks = read.state.policy.story, list[Block]()
    if story is not None and story.questions:
        blocks = search_blocks(story.scaled(read.settings.reward_unit.width).to_dict())
    return Section("search", "The search, question by question", blocks)


def _beliefs(read: _Read) -> Section:
    """Return how the probabilities of causes moved, as a picture."""
    blocks: list[Block] = []
    if len(read.believed) > 1:
        unit = read.settings.unit
        drawing = draw_beliefs(
            beliefs_frame((rows, known.to_dict()) for rows, known in read.believed), unit=unit
        )
        label = f"Probability of each likely cause against {unit} recorded. Now: {read.status.beliefs}."
        about = (
            "The rest is spread over other causes. What is identified is decided by a test, not by these "
            "probabilities."
        )
        blocks = [Picture(drawing, label, about)]
    return Section("beliefs", "What the reward may depend on", blocks)


def _assumptions(read: _Read) -> Section:
    """Return the assumptions, and what the recorded rows say about them."""
    settings = read.settings
    rows = [
        ("Rewards are σ-subgaussian around their mean", f"σ = {number(settings.noise_scale)}"),
        ("The number of the reward's parents is limited", f"at most {settings.max_parents}"),
    ]
    if settings.reward_gap is not None:
        gap = f"Δ = {number(settings.reward_gap)}"
        rows.append(("Ancestors of the parent change the mean reward by at least Δ", gap))
    if settings.effect_gap is not None:
        rows.append(("Variables change their children by at least ε", f"ε = {number(settings.effect_gap)}"))
    if settings.marginals is not None and settings.marginals.rows is not None:
        error = settings.marginals.sampling_error(settings.failure_prob)
        known = f"{settings.marginals.rows:,} rows: within {number(error)}"
        rows.append(("The table's frequencies are within ε/2 of the probabilities", known))
    seen = read.status.fallback or read.status.assumption or "no contradiction seen"
    rows.append(("The recorded rewards agree with the parents identified", seen))
    about = Paragraph(
        "The gaps of the real world can't be measured beforehand. These were given, or come from a model "
        "fitted to the table."
    )
    table = Table("Assumptions, and what is known about them", ["assumption", "known"], rows)
    return Section("assumptions", "Assumptions", [about, table])


def _record(read: _Read) -> Section:
    """Return the list of the pulls, the latest first."""
    rows: dict[int, list[str]] = {}
    rewards: dict[int, list[float]] = {}
    for event, at in read.events:
        match event:
            case Asked(pull=int(pull)):
                asked = at.replace("T", "\N{NO-BREAK SPACE}")[:16]
                arm = setting_text(event.intervention)
                rows[pull] = [str(pull), asked, arm, f"{event.size:,}", "", "", event.why]
            case Told():
                own = rewards.setdefault(event.pull, [])
                own += read.settings.reward.rewards(event.rows.fields).tolist()
                rows[event.pull][4:6] = [f"{len(own):,}", number(sum(own) / len(own)) if own else "–"]
            case Withdrawn():
                rows[event.pull][6] += f" (withdrawn{': ' + event.reason if event.reason else ''})"
    latest = list(reversed(rows.values()))[:_MOST_PULLS]
    some = f"The last {len(latest)} of {len(rows)} pulls"
    caption = some if len(rows) > len(latest) else "All pulls, the latest first"
    head = ["pull", "asked (UTC)", "intervention", "asked for", "recorded", "mean", "reason"]
    return Section(
        "record", "The record", [Table(caption, head, latest, numeric=(1, 3, 4, 5))] if rows else []
    )


def _next(read: _Read, folder: Path) -> Section:
    """Return how to go on, and what the session was started from."""
    source, facts = dict(read.settings.source), [("Seed", str(read.settings.seed))]
    versions = source.pop("versions", {})
    names = {"sha256": "SHA-256"}
    facts += [(names.get(name, name.capitalize()), str(value)) for name, value in source.items()]
    if isinstance(versions, Mapping):
        facts.append(("Versions", ", ".join(f"{library} {version}" for library, version in versions.items())))
    about = Paragraph(
        "A session is continued, not run again. All that the policy knows follows from its log. "
        "The second command writes all recorded rows as CSV."
    )
    where = quote(str(folder))
    verbs = Code(f"cb-pgm session ask {where}\ncb-pgm session export {where} --out rows.csv")
    return Section("again", "How to go on", [about, verbs, Facts(facts)])
