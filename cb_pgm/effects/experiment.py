"""The answer of an experiment: arms that were set, compared by their own rows; nothing is assumed of causes.

A *contrast* is the difference of an arm and the *control*, both of one variable. Its interval is Newcombe's
for rewards of 0 and 1 and Welch's for others (`cb_pgm.effects.measured`). Rows in blocks are compared within
their blocks: by least squares with an effect of each block, and White's standard errors (HC1), which for
pairs is the paired t-test ([1]_, chapters 9 and 10).

The arm with the best mean is recommended if it is better than each other one that it is compared with, and
than the rows in which nothing was set, where there are any: each interval excludes 0. Only the best arm can
be better than all others, so that the intervals need no correction for their number: equal arms are told
apart in at most δ of the tables.

References
----------
.. [1] Imbens & Rubin (2015), Causal Inference for Statistics, Social, and Biomedical Sciences.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from cb_pgm.effects.arms import Arm
from cb_pgm.effects.measured import Interval, Sample, difference_interval, floored
from cb_pgm.effects.values import Comparison, Contrast
from cb_pgm.errors import CausalBanditError
from discovery.wording import listed

__all__ = ["ENOUGH_ROWS", "Experiment", "controls_of", "experiment_of"]

#: Arms of a log with fewer rows lead only if they are better for sure, or there are no others.
ENOUGH_ROWS = 20

_CONTROLS = ("control", "placebo", "none", "no", "false", "0", "0.0")
_DRAWS = 4000

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Experiment:
    """Arms that were set, at least one, and the rows in which nothing was.

    Attributes
    ----------
    arms
        The arms with rows.
    controls
        For each variable that was set the state that its others are compared with.
    nothing
        float64 [m]: the rewards of the rows in which nothing was set.
    binary
        Whether rewards are 0 or 1.
    failure_prob
        δ: intervals are at 1 − δ.
    """

    arms: tuple[Arm, ...]
    controls: dict[str, str]
    nothing: Array
    binary: bool
    failure_prob: float

    @cached_property
    def samples(self) -> list[Sample]:
        """The rows of each arm, summarised, and at last those in which nothing was set, if there are any."""
        rewards = [arm.set_rewards for arm in self.arms] + ([self.nothing] if len(self.nothing) else [])
        return floored([Sample.of(own, binary=self.binary) for own in rewards])

    def sample_of(self, arm: Arm) -> Sample:
        """Return the rows of an arm, summarised."""
        return self.samples[self.arms.index(arm)]

    @cached_property
    def _in_blocks(self) -> dict[str, tuple[dict[str, int], Array, Array, float]]:
        """For each variable with blocks: places of states, effects, their covariances and the freedom."""
        found = {}
        for variable, own in self._blocked.items():
            fitted = None if _has_constant(own) else _within_blocks(own)
            if fitted is not None:
                found[variable] = ({arm.state: place for place, arm in enumerate(own)}, *fitted)
        return found

    @cached_property
    def _blocked(self) -> dict[str, list[Arm]]:
        """The arms of each variable whose rows are in several blocks."""
        arms = {name: [arm for arm in self.arms if arm.variable == name] for name in self.controls}
        return {
            name: own
            for name, own in arms.items()
            if np.ptp(np.concatenate([arm.set_blocks for arm in own])) > 0
        }

    @property
    def within(self) -> tuple[str, ...]:
        """The variables whose arms are compared within blocks."""
        return tuple(self._in_blocks)

    def without_blocks(self) -> list[str]:
        """Return the warning of each variable whose arms can't be compared within their blocks."""
        return [
            f"the arms of {name} are compared as if there were no blocks: one has the same reward in all rows"
            if _has_constant(own)
            else f"the arms of {name} are compared as if there were no blocks, as they don't differ within "
            f"these: where whole blocks were assigned, the intervals are too short"
            for name, own in self._blocked.items()
            if name not in self._in_blocks
        ]

    def difference(self, one: Arm, other: Arm) -> tuple[float, Interval]:
        """Return the mean of one arm less that of another, and its interval."""
        if one.variable == other.variable and one.variable in self._in_blocks:
            place, effects, covariance, freedom = self._in_blocks[one.variable]
            i, j = place[one.state], place[other.state]
            variance = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
            radius = float(stdtrit(freedom, 1 - self.failure_prob / 2)) * math.sqrt(max(variance, 0.0))
            difference = float(effects[i] - effects[j])
            return difference, (difference - radius, difference + radius)
        first, second = self.sample_of(one), self.sample_of(other)
        return first.mean - second.mean, difference_interval(first, second, self.failure_prob)

    def contrasts(self) -> list[Contrast]:
        """Return the contrast of every arm with the control of its variable."""
        place = {arm.name: arm for arm in self.arms}
        found = []
        for arm in self.arms:
            control = place.get((arm.variable, self.controls[arm.variable]))
            if control is None or arm is control:
                continue
            found.append(Contrast(*arm.name, control.state, *self.difference(arm, control), "experimental"))
        return found

    def probabilities(self, sign: int, rng: np.random.Generator) -> tuple[Array, Array | None]:
        """Return P(best) of each arm, and P(better than do()), float64 [arms], from their rows.

        The latter is None without rows in which nothing was set.
        """
        n = len(self.arms)
        drawn = np.stack([sample.drawn(_DRAWS, rng) for sample in self.samples], axis=1)
        for variable, (place, effects, covariance, _) in self._in_blocks.items():
            columns = [i for i, arm in enumerate(self.arms) if arm.variable == variable]
            where = [place[self.arms[i].state] for i in columns]
            level = np.concatenate([self.arms[i].set_rewards for i in columns]).mean() - effects.mean()
            drawn[:, columns] = (level + rng.multivariate_normal(effects, covariance, _DRAWS))[:, where]
        drawn *= sign
        best: Array = np.bincount(drawn[:, :n].argmax(axis=1), minlength=n) / _DRAWS
        return best, (drawn[:, :n] > drawn[:, n:]).mean(axis=0) if len(self.nothing) else None

    def leader(self, sign: int) -> tuple[Arm, Comparison | None, Arm | None, Comparison | None]:
        """Return the arm that looks best, its gain over do(), its closest rival and the gain over that.

        It is the one with the best mean, in a log among arms with enough rows, unless another one is better
        for sure.

        The closest rival is the arm over which the interval of the gain begins lowest. Arms of two variables
        that were both set at random in all rows aren't compared, as they share these. Of several variables'
        best arms the one leads whose gains begin highest.
        """
        enough = [arm for arm in self.arms if arm.has_enough(ENOUGH_ROWS)] or list(self.arms)
        found = []
        for variable in dict.fromkeys(arm.variable for arm in enough):
            leader = self._best([arm for arm in enough if arm.variable == variable], sign)
            others = [arm for arm in self.arms if arm.variable == variable and arm is not leader]
            better = [arm for arm in others if self._gain(arm, leader, sign).is_decided]
            leader = self._best(better or [leader], sign)
            rivals = [
                (self._gain(leader, arm, sign), arm)
                for arm in self.arms
                if arm is not leader
                and (arm.variable == variable or not (arm.randomised and leader.randomised))
            ]
            over, rival = min(
                rivals, key=lambda pair: (pair[0].interval[0], pair[0].gain), default=(None, None)
            )
            nothing = None if leader.randomised else self._over_nothing(leader, sign)
            lows = [gain.interval[0] for gain in (over, nothing) if gain is not None]
            found.append((min(lows, default=-math.inf), leader, nothing, rival, over))
        _, *chosen = max(found, key=lambda one: one[0])
        return tuple(chosen)  # type: ignore[return-value]

    def _best(self, arms: Sequence[Arm], sign: int) -> Arm:
        """Return the arm with the best mean, of several arms of one variable."""
        return max(arms, key=lambda arm: sign * self.difference(arm, arms[0])[0])

    def _gain(self, one: Arm, other: Arm, sign: int) -> Comparison:
        return _signed(*self.difference(one, other), sign, self.failure_prob)

    def _over_nothing(self, arm: Arm, sign: int) -> Comparison | None:
        if not len(self.nothing):
            return None
        own, nothing = self.sample_of(arm), self.samples[-1]
        interval = difference_interval(own, nothing, self.failure_prob)
        return _signed(own.mean - nothing.mean, interval, sign, self.failure_prob)


def experiment_of(
    arms: Sequence[Arm], nothing: Array, control: Collection[str], binary: bool, failure_prob: float
) -> Experiment | None:
    """Return the experiment that the arms with set rows make; None if there are none."""
    done = tuple(arm for arm in arms if len(arm.set_rewards))
    if not done:
        return None
    return Experiment(done, controls_of(done, control), nothing, binary, failure_prob)


def controls_of(arms: Iterable[Arm], control: Collection[str]) -> dict[str, str]:
    """Return for each variable the state that its others are compared with.

    `control` has states, or "variable=state". Without one that fits it is the state named control, placebo,
    none, no, false or 0, otherwise the one in most rows.

    Raises
    ------
    CausalBanditError
        If a state in `control` is none of these arms'.
    """
    arms = list(arms)
    found = {}
    used = set()
    for variable in dict.fromkeys(arm.variable for arm in arms):
        own = [arm for arm in arms if arm.variable == variable]
        given = {
            text: arm for arm in own for text in (arm.state, f"{variable}={arm.state}") if text in control
        }
        named = [arm for name in _CONTROLS for arm in own if arm.state.casefold() == name]
        most = max(own, key=lambda arm: len(arm.set_rewards) or int(arm.shown.sum()))
        found[variable] = next(iter([*given.values(), *named, most])).state
        used |= set(given)
    for text in control:
        if text not in used:
            known = listed(sorted({arm.state for arm in arms}), last="or")
            raise CausalBanditError(
                f"Expected a state that was set as the control but found {text!r}: choose {known}"
            )
    return found


def _has_constant(arms: Iterable[Arm]) -> bool:
    return any(np.ptp(arm.set_rewards) == 0 for arm in arms)


def _within_blocks(arms: Sequence[Arm]) -> tuple[Array, Array, float] | None:
    """Return the arms' effects, least squares with an effect of each block, their covariance and the freedom.

    None if there is one block only, or no freedom is left.
    """
    blocks = np.concatenate([arm.set_blocks for arm in arms])
    rewards = np.concatenate([arm.set_rewards for arm in arms])
    code = np.repeat(np.arange(len(arms)), [len(arm.set_rewards) for arm in arms])
    _, block, size = np.unique(blocks, return_inverse=True, return_counts=True)
    freedom = len(rewards) - len(size) - len(arms) + 1
    if len(size) == 1 or freedom < 1 or len(arms) < 2:
        return None
    design = np.column_stack([rewards, *(code == arm for arm in range(1, len(arms)))]).astype(np.float64)
    means = np.stack([np.bincount(block, column) / size for column in design.T], axis=1)
    centred = design - means[block]
    reward, treated = centred[:, 0], centred[:, 1:]
    if np.linalg.matrix_rank(treated) < treated.shape[1]:
        return None
    bread = np.linalg.inv(treated.T @ treated)
    effects = bread @ treated.T @ reward
    scores = treated * (reward - treated @ effects)[:, None]
    covariance = np.zeros((len(arms), len(arms)))
    covariance[1:, 1:] = bread @ (scores.T @ scores) @ bread * len(rewards) / freedom
    return np.concatenate([[0.0], effects]), covariance, float(freedom)


def _signed(difference: float, interval: Interval, sign: int, failure_prob: float) -> Comparison:
    low, high = sorted(sign * end for end in interval)
    return Comparison(sign * difference, (low, high), 1 - failure_prob)
