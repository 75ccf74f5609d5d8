"""The values that an answer from a table consists of."""

from __future__ import annotations

from dataclasses import dataclass

from cb_pgm.effects.measured import Interval
from cb_pgm.effects.noise import RewardScale
from cb_pgm.model.intervention import Intervention

__all__ = [
    "GROUNDS",
    "Answer",
    "ArmEffect",
    "ArmRows",
    "Comparison",
    "Contrast",
    "Decision",
    "DrawnEdge",
    "OpenEdge",
]

#: The ground that JSON names for each basis.
GROUNDS = {
    "experimental": "measured",
    "identified": "identified",
    "graph-averaged": "fitted",
    "given graph": "assumed",
}


@dataclass(frozen=True)
class ArmRows:
    """Rows that show an arm, or in which it was set: their number, their mean and an interval for it."""

    rows: int
    mean: float
    interval: Interval


@dataclass(frozen=True)
class Contrast:
    """The mean of one state less that of another of the same variable, and an interval for it.

    `against` is the state that it is compared with. `basis` is as in `Decision`; all but "experimental"
    presume that nothing hidden acts on both the variable and the reward.
    """

    variable: str
    state: str
    against: str
    difference: float
    interval: Interval
    basis: str


@dataclass(frozen=True)
class ArmEffect:
    """What a table says of do(variable = state), on each ground. Means are in the table's own terms.

    Attributes
    ----------
    variable, state
        The arm.
    seen
        The rows in which the state was seen without being set, summarised; None if there are none.
    set_rows
        The rows in which it was set; None if there are none.
    bounds
        For its mean with nothing assumed of causes; of an arm that was set in an experiment, the interval of
        its rows.
    mean, interval
        The mean over graphs, and the interval of the draws; None where no graphs are drawn.
    p_best, p_better
        The probability that the arm is the best of all arms and better than do(), and that it is better than
        do(): over graphs, or from its rows in an experiment. Equally good arms share a draw. `p_better` is
        None in an experiment.
    """

    variable: str
    state: str
    seen: ArmRows | None
    set_rows: ArmRows | None
    bounds: Interval
    mean: float | None
    interval: Interval | None
    p_best: float
    p_better: float | None

    @property
    def intervention(self) -> Intervention:
        """The arm as an intervention."""
        return Intervention({self.variable: self.state})


@dataclass(frozen=True)
class DrawnEdge:
    """An edge of the drawn graphs: (a, b), sorted by name, and the shares of graphs with a → b and b → a."""

    edge: tuple[str, str]
    forward: float
    backward: float


@dataclass(frozen=True)
class OpenEdge:
    """An edge whose direction decides which arm is best.

    Attributes
    ----------
    edge
        (a, b), sorted by name.
    forward, backward
        The number of drawn graphs with a → b and with b → a.
    best_if_forward, best_if_backward
        The best arm over the graphs of each kind; the empty intervention if none is better than do().
    """

    edge: tuple[str, str]
    forward: int
    backward: int
    best_if_forward: Intervention
    best_if_backward: Intervention

    @property
    def share(self) -> float:
        """The share of the graphs with this edge in which it points forward."""
        return self.forward / (self.forward + self.backward)


@dataclass(frozen=True)
class Comparison:
    """By how much one arm is better than something else, and an interval for that at `level`."""

    gain: float
    interval: Interval
    level: float

    @property
    def is_decided(self) -> bool:
        """Whether the interval excludes 0 and everything below."""
        return self.interval[0] > 0


@dataclass(frozen=True)
class Decision:
    """The arm that looks best, whether it is recommended, and what that rests on.

    Attributes
    ----------
    leader
        The arm that looks best.
    basis
        "experimental": rows in which the arms were set. The others presume that nothing hidden acts on both
        the variable and the reward, and that the rows are a random sample. "identified": all but one variable
        are ruled out as the reward's only cause, no second cause makes the rows likelier, and the rows of the
        one that is left count. "graph-averaged": means over graphs estimated from the table. "given graph":
        means over graphs that a given graph or background knowledge restricts.
    mean, interval
        The mean of `leader` on that basis, from the table's rows.
    over_nothing
        Its gain over do(); None where do() has no row. Gains are improvements: positive also where lower
        rewards are better.
    seen
        The rows that show the leader, where the basis isn't these; None if there are none.
    second, over_second
        The second best arm and the gain over it; None if there is no other. In an experiment it is the
        closest rival: the arm that is hardest to tell from the leader.
    is_decided
        Whether the leader is recommended: the interval of its gain over do() excludes 0; in an experiment
        that of its gain over the closest rival too.
    p_best
        P(best) of `leader`.
    contenders
        The arms that may still be the best, the likeliest first.
    e_value
        How strong a hidden cause would have to be to explain all of the contrast of the leader, and to move
        its interval to 0 (VanderWeele & Ding 2017); None in an experiment, or without a contrast.
    next
        What to do next, in sentences.
    """

    leader: Intervention
    basis: str
    mean: float
    interval: Interval
    over_nothing: Comparison | None
    seen: ArmRows | None
    second: Intervention | None
    over_second: Comparison | None
    is_decided: bool
    p_best: float
    contenders: tuple[Intervention, ...]
    e_value: tuple[float, float] | None
    next: tuple[str, ...]

    @property
    def grounds(self) -> str:
        """The basis as JSON has named it: "measured", "identified", "fitted" or "assumed"."""
        return GROUNDS[self.basis]

    @property
    def gain(self) -> Comparison | None:
        """The gain over do(), or where that has no row over the closest rival."""
        return self.over_second if self.over_nothing is None else self.over_nothing


@dataclass(frozen=True)
class Answer:
    """What a table says of every arm, and the decision.

    Attributes
    ----------
    reward
        The reward's name.
    minimize
        Whether the lowest mean is the best.
    rows, set_rows
        The numbers of rows in which nothing was set, and in which a variable was.
    draws, models
        The numbers of resampled tables and of models drawn from them; 0 where no graphs are drawn.
    is_searched
        Whether every draw estimates a graph on a resampled table; otherwise the graph is given.
    failure_prob
        δ: intervals are at 1 − δ.
    do_nothing, do_nothing_interval
        The mean of the rows in which nothing was set; None without any.
    scale
        The scale of the rewards.
    controls
        For each variable the state that its others are compared with.
    within_blocks
        The variables whose arms are compared within blocks; means of arms are those of all their rows.
    arms
        The arms with set rows first, then by their mean over graphs, the best first.
    contrasts
        Every arm against its variable's control.
    edges
        The edges of the drawn graphs, those in fewer than 2 % of them left out, sorted by name.
    hangs_on
        The edges that decide, the most decisive first.
    decision
        The arm that looks best, and whether it is recommended.
    warnings
        What a person should know, one line each.
    """

    reward: str
    minimize: bool
    rows: int
    set_rows: int
    draws: int
    models: int
    is_searched: bool
    failure_prob: float
    do_nothing: float | None
    do_nothing_interval: Interval | None
    scale: RewardScale
    controls: dict[str, str]
    within_blocks: tuple[str, ...]
    arms: tuple[ArmEffect, ...]
    contrasts: tuple[Contrast, ...]
    edges: tuple[DrawnEdge, ...]
    hangs_on: tuple[OpenEdge, ...]
    decision: Decision
    warnings: tuple[str, ...]
