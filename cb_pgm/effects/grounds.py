"""Comparisons of arms by the means of rows, as grounds of a decision (`cb_pgm.effects.decision`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import stats

from cb_pgm.effects.arms import Arm, careful_sample
from cb_pgm.effects.canonical import Rows
from cb_pgm.effects.measured import Interval, Sample, anytime_interval
from cb_pgm.effects.noise import RewardScale
from cb_pgm.effects.values import Comparison

__all__ = ["Ground", "by_rows", "by_set_rows"]


@dataclass(frozen=True, eq=False)
class Ground:
    """The best arm on one ground, compared with do() and with the second best."""

    name: str
    leader: Arm
    mean: float
    interval: Interval
    over_nothing: Comparison | None
    second: Arm | None
    over_second: Comparison | None

    @property
    def is_decided(self) -> bool:
        """Whether the gain over do(), or without rows of it that over the closest rival, excludes 0."""
        gain = self.over_second if self.over_nothing is None else self.over_nothing
        return gain is not None and gain.is_decided


def by_rows(
    name: str,
    pieces: Sequence[tuple[Arm, Sample, Sample, float]],
    interval_of: dict[tuple[str, str], Interval],
    sign: int,
    failure_prob: float,
) -> Ground:
    """Compare arms by the means of rows.

    Each piece is an arm, its rows, the rows that stand for do() beside them, and the share of its own rows in
    do(), with which its mean counts there too.
    """
    ranked = sorted(pieces, key=lambda piece: (-sign * piece[1].mean, piece[0].name))
    leader, own, against, share = ranked[0]
    # Over do() and over each other arm, whichever leads; where do() mixes two arms both are one contrast.
    only_two = len(ranked) == 2 and abs(sum(piece[3] for piece in ranked) - 1) < 1e-9
    each = failure_prob / (1 if only_two else len(ranked))
    nothing = _welch(own, against, sign, each, 1 - share)
    second, over_second = None, None
    if len(ranked) > 1:
        second = ranked[1][0]
        over_second = _welch(own, ranked[1][1], sign, each)
    return Ground(name, leader, own.mean, interval_of[leader.name], nothing, second, over_second)


def by_set_rows(
    rows: Rows,
    leaders: Sequence[Arm],
    arms: Sequence[Arm],
    scale: RewardScale,
    sign: int,
    failure_prob: float,
) -> Ground:
    """Compare the best of `leaders` with all other arms, and with do() if it has rows, by set rows alone.

    An arm with few rows may be the best as well, so none is left out; the variance of few rows is taken for
    that of the scale at least. The closest rival is the arm over which the gain's interval begins lowest.
    """
    samples = {arm.name: careful_sample(arm.set_rewards, scale) for arm in arms}
    leader = min(leaders, key=lambda arm: (-sign * samples[arm.name].mean, arm.name))
    own = samples[leader.name]
    rivals = [arm for arm in arms if arm is not leader]
    each = failure_prob / max(1, len(rivals) + (len(rows.rewards) > 0))
    compared = [(_welch(own, samples[arm.name], sign, each), arm) for arm in rivals]
    over_second, second = min(
        compared, key=lambda pair: (pair[0].interval[0], pair[0].gain, pair[1].name), default=(None, None)
    )
    nothing = _welch(own, careful_sample(rows.rewards, scale), sign, each) if len(rows.rewards) else None
    interval = scale.cut(anytime_interval(own, failure_prob, scale.arm))
    return Ground("measured", leader, own.mean, interval, nothing, second, over_second)


def _welch(one: Sample, other: Sample, sign: int, failure_prob: float, factor: float = 1.0) -> Comparison:
    """Compare two means of independent rows; `factor` scales the difference."""
    gain = factor * sign * (one.mean - other.mean)
    variance = one.of_mean + other.of_mean
    if min(one.freedom, other.freedom) < 1 or variance == 0:
        return Comparison(gain, (-math.inf, math.inf), 1 - failure_prob)
    share = (one.of_mean / variance) ** 2 / one.freedom + (other.of_mean / variance) ** 2 / other.freedom
    quantile = stats.t.ppf(1 - failure_prob / 2, 1 / share if share else math.inf)
    radius = factor * float(quantile) * math.sqrt(variance)
    return Comparison(float(gain), (float(gain - radius), float(gain + radius)), 1 - failure_prob)
