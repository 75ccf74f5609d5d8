"""What the files of a run hold, key by key: a report checks them before it shows anything.

Keys that a report doesn't use aren't listed; they may hold anything.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

__all__ = ["Material", "Result", "Settings"]

Interval = tuple[float, float] | None


class Seen(TypedDict):
    """The observational rows of an arm; without any there is no mean."""

    mean: float | None


class Measured(TypedDict):
    """The interventional rows of an arm."""

    mean: float
    interval: Interval


class Arm(TypedDict):
    """What the table says of an arm."""

    variable: str
    state: str
    seen: Seen
    set: Measured | None
    bounds: Interval
    mean: float | None
    interval: Interval
    p_best: float | None
    p_better: float | None


class DoNothing(TypedDict):
    """The baseline; without a row in which nothing was set there is no mean."""

    mean: float | None


class Edge(TypedDict):
    """How many of the drawn graphs have an edge in each direction."""

    edge: tuple[str, str]
    forward: float
    backward: float


class Hanging(TypedDict):
    """An edge on which the best arm depends."""

    edge: tuple[str, str]


class Effects(TypedDict):
    """The answer of `effects`."""

    do_nothing: DoNothing
    arms: list[Arm]
    edges: list[Edge]
    hangs_on: list[Hanging]


class BestArm(TypedDict):
    """The arm that a policy found best; empty where none was pulled."""

    variable: NotRequired[str]
    state: NotRequired[str]
    grounds: NotRequired[str]


class Played(TypedDict):
    """One run of a policy on a graph."""

    policy: str
    graph: str
    run: int
    reward_variables: list[str]
    correct: bool | None
    interventions_to_find: int | None
    started_from: int
    regret: float
    grounds: str | None
    fallback: str | None


class Data(TypedDict):
    """The table of a run."""

    rows: int


class Graph(TypedDict):
    """How the graph was found."""

    method: str
    repairs: list[str]


class Result(TypedDict):
    """result.json."""

    data: Data
    warnings: list[str]
    graph: Graph
    rehearsal: bool
    horizon: int
    seed: int
    effects: Effects | None
    policies: list[Played]


class Asked(TypedDict):
    """The settings of a run as asked for."""

    csv: str
    reward: str
    graph: str | None
    knowledge: str | None
    policies: list[str]
    runs: int
    cold: bool
    failure_prob: float
    minimize: bool
    truth: str | None


class Resolved(TypedDict):
    """What was filled in for the settings."""

    reward_gap: float
    effect_gap: float
    noise_scale: float
    max_parents: int
    settable: list[str]


class Source(TypedDict):
    """The file of a table."""

    path: str
    sha256: str


class Settings(TypedDict):
    """settings.json."""

    settings: Asked
    resolved: Resolved
    data: Source
    versions: dict[str, str]
    command: str | None


class Question(TypedDict):
    """A query of a search, and its answer."""

    variable: str
    undecided: list[str]
    fixed: dict[str, str]
    moves: bool
    children: list[str]
    pulls: int
    reward_change: float | None
    ruled_out: list[str]
    reason: str


class Story(TypedDict):
    """The search of a policy."""

    policy: str
    graph: str
    run: int
    questions: list[Question]
    finished: bool
    named: list[str]
    candidates: list[str]
    note: str


class Assumed(TypedDict):
    """What the assumptions are about, in the system played against."""

    reward_parents: list[str]
    hidden: list[str]
    hidden_confounders: list[str]
    reward_gap: float
    effect_gap: float
    effective_reward_gap: float
    effective_effect_gap: float
    noise_scale: float
    smallest_probability: float
    observational_mean: float
    marginal_rows: int
    marginal_error: float


class Recommendation(TypedDict):
    """The recommendation of a run."""

    source: str
    leader: dict[str, str]
    sentences: list[str]
    next_steps: list[str]


class Material(TypedDict):
    """report.json."""

    graphs: dict[str, Any]
    stories: list[Story]
    measured: Assumed
    recommendation: Recommendation | None
