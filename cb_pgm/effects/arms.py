"""The arms of a table: their rows, and the draws of their means that the decision is made on."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cb_pgm.effects.canonical import Rows
from cb_pgm.effects.draws import MODELS_A_DRAW, DrawnModels
from cb_pgm.effects.measured import Sample
from cb_pgm.effects.noise import RewardScale

__all__ = [
    "ENOUGH_SET_ROWS",
    "Arm",
    "Draws",
    "arms_of",
    "careful_sample",
    "draws_of",
    "draws_of_set_rows",
    "error_of_mean",
]

#: From this number of set rows on an arm's draws come from them instead of from graphs.
ENOUGH_SET_ROWS = 20

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Arm:
    """do(variable = state), by number and by name, with the rewards of its rows.

    Attributes
    ----------
    shown
        bool [N]: the observational rows that show the state.
    set_rewards
        float64 [m]: the rewards of the rows in which it was set.
    against
        float64: the rewards that stand for do() beside the set rows: those of the other rows where the
        variable was set at random in all of them, otherwise those in which nothing was set.
    share
        The share of the arm's own rows in do(): P(state) where the variable was set at random in all rows,
        otherwise 0.
    """

    number: int
    code: int
    variable: str
    state: str
    shown: NDArray[np.bool_]
    set_rewards: Array
    against: Array
    share: float

    @property
    def name(self) -> tuple[str, str]:
        """Variable and state."""
        return self.variable, self.state

    @property
    def is_measured(self) -> bool:
        """Whether there are enough set rows to draw its mean from them."""
        return len(self.set_rewards) >= ENOUGH_SET_ROWS


def arms_of(rows: Rows, settable: dict[str, tuple[str, ...]], randomised: Collection[str]) -> list[Arm]:
    """Return the arm of each settable state, by variable and state."""
    arms = []
    for number, variable in enumerate(rows.variables):
        for state in settable.get(variable, ()):
            code = rows.states[variable].index(state)
            shown = rows.codes[:, number] == code
            set_there = (rows.targets == number) & (rows.set_codes[:, number] == code)
            set_rewards, against, share = rows.set_rewards[set_there], rows.rewards, 0.0
            if variable in randomised and shown.any():
                set_rewards = np.concatenate([set_rewards, rows.rewards[shown]])
                against, share = rows.rewards[~shown], float(shown.mean())
            arms.append(Arm(number, code, variable, state, shown, set_rewards, against, share))
    return arms


def careful_sample(rewards: Array, scale: RewardScale) -> Sample:
    """Summarise rewards; of few ones the variance is taken for that of the scale at least."""
    sample = Sample.of(rewards)
    return sample if len(rewards) >= ENOUGH_SET_ROWS else sample.at_least(scale.arm**2)


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of the arms' means, as improvements over do(): positive is better, whatever is looked for.

    Attributes
    ----------
    means
        float64 [draws, arms]: means over graphs, in the table's own terms; None without graphs.
    gains
        float64 [draws, arms]: improvement over do(); of arms with enough set rows drawn from these. Where
        do() has no row they are improvements over a mean of 0 instead.
    directed
        For each draw the directed edges of its graph; empty without graphs.
    fitted
        float64 [arms]: the gain over do() in models fitted to the table's own rows; empty without graphs.
    over_nothing
        Whether the gains are those over do().
    """

    means: Array | None
    gains: Array
    directed: tuple[frozenset[tuple[int, int]], ...]
    fitted: Array
    over_nothing: bool = True

    @property
    def p_best(self) -> Array:
        """float64 [arms]: the share of draws in which each is the best; equally good ones share a draw."""
        best = self.gains.max(axis=1, keepdims=True)
        tied = self.gains >= best - 1e-12
        if self.over_nothing:
            tied &= best > 1e-12
        shared: Array = (tied / np.maximum(tied.sum(axis=1, keepdims=True), 1)).mean(axis=0)
        return shared

    @property
    def p_better(self) -> Array | None:
        """float64 [arms]: the share of draws in which each arm is better than do(), if that has rows."""
        if not self.over_nothing:
            return None
        better: Array = (self.gains > 1e-12).mean(axis=0)
        return better


def error_of_mean(values: Array) -> Array:
    """Return the standard errors of the means over draws of `values`, float64 [draws, arms].

    Models of one resampled table aren't independent, so their mean counts as one. 0 if there is only one such
    table.
    """
    by_table = values.reshape(-1, MODELS_A_DRAW, values.shape[1]).mean(axis=1)
    if len(by_table) < 2:
        return np.zeros(values.shape[1])
    error: Array = by_table.std(axis=0, ddof=1) / math.sqrt(len(by_table))
    return error


def draws_of(
    rows: Rows,
    arms: Sequence[Arm],
    models: DrawnModels,
    fitted: DrawnModels,
    sign: int,
    rng: np.random.Generator,
) -> Draws:
    """Return the draws of all arms; `sign` is −1 where lower rewards are better.

    The means of arms with enough set rows are drawn as normal about those of their rows, and do() with them:
    from the rows in which nothing was set, or as the mixture of the states that were set at random.
    """
    means, gains = _over_graphs(arms, models, sign)
    draws = len(models)
    unset = _normal(Sample.of(rows.rewards), draws, rng)
    mixtures: dict[int, Array] = {}
    for column, arm in enumerate(arms):
        if not arm.is_measured:
            continue
        if arm.share:
            if arm.number not in mixtures:
                codes = rows.codes[:, arm.number]
                mixtures[arm.number] = np.zeros((draws, rows.cards[arm.number]))
                for code in np.unique(codes):
                    own = Sample.of(rows.rewards[codes == code])
                    mixtures[arm.number][:, code] = _normal(own, draws, rng)
            states = mixtures[arm.number]
            shares = np.bincount(rows.codes[:, arm.number], minlength=states.shape[1]) / len(rows.codes)
            gains[:, column] = sign * (states[:, arm.code] - states @ shares)
        else:
            gains[:, column] = sign * (_normal(Sample.of(arm.set_rewards), draws, rng) - unset)
    return Draws(means, gains, models.directed, _over_graphs(arms, fitted, sign)[1].mean(axis=0))


def draws_of_set_rows(
    rows: Rows, arms: Sequence[Arm], scale: RewardScale, draws: int, sign: int, rng: np.random.Generator
) -> Draws:
    """Return the draws of arms with set rows, and of do() if it has rows, about the means of these alone."""
    drawn = [_normal(careful_sample(arm.set_rewards, scale), draws, rng) for arm in arms]
    gains = sign * np.stack(drawn, axis=1)
    if not len(rows.rewards):
        return Draws(None, gains, (), np.zeros(0), over_nothing=False)
    unset = _normal(careful_sample(rows.rewards, scale), draws, rng)
    return Draws(None, gains - sign * unset[:, None], (), np.zeros(0))


def _over_graphs(arms: Sequence[Arm], models: DrawnModels, sign: int) -> tuple[Array, Array]:
    """Return the arms' means in each model, and by how much they are better than do(), [models, arms]."""
    means = np.stack([models.means[arm.number][:, arm.code] for arm in arms], axis=1)
    return means, sign * (means - models.do_nothing[:, None])


def _normal(sample: Sample, draws: int, rng: np.random.Generator) -> Array:
    drawn: Array = sample.mean + np.sqrt(sample.of_mean) * rng.standard_normal(draws)
    return drawn
