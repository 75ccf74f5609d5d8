"""The settings of a run, in one value that is carried from the command line to the run's folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from discovery.estimation.settings import EstimateSettings
from discovery.table.settings import TableSettings

__all__ = ["RunSettings"]


@dataclass(frozen=True)
class RunSettings(TableSettings, EstimateSettings):
    """The settings of a run: those below, and those of `TableSettings` and `EstimateSettings`.

    Parameters
    ----------
    csv
        The table of observations.
    reward
        A numeric column, or "column=state" for a reward of 1 where the column has that state and 0 elsewhere.
    truth
        A network in BIF to play against and score with; None: a *rehearsal*, on a model fitted to the table.
    graph
        A graph in JSON or BIF to use instead of an estimate.
    policies
        Names out of `cb_pgm.policies.registry.POLICIES`. Those that work on a graph play on the estimated one
        and, with a truth, also on the true one ("oracle"), there with exact marginals; those that are told
        what is played against count as the oracle's too.
    horizon, runs, seed
        Rounds; repetitions; what everything random comes from (None: drawn, and kept in the task).
    failure_prob
        δ.
    reward_gap, effect_gap
        Δ and ε for budgets; None: the effective ones of the truth or of the fitted model.
    max_parents
        How many causes of the reward policies look for; None: as many as the truth or the fitted model has.
    minimize
        Look for the lowest mean reward.
    reward_range, noise_scale
        For σ: rewards lie in this range, or σ itself. None: half the observed range.
    not_settable
        Variables that can't be set.
    """

    csv: str | Path
    reward: str
    truth: str | Path | None = None
    graph: str | Path | None = None
    policies: Sequence[str] = ("cn-ucb", "ucb")
    horizon: int = 100_000
    runs: int = 1
    seed: int | None = None
    failure_prob: float = 0.05
    reward_gap: float | None = None
    effect_gap: float | None = None
    max_parents: int | None = None
    minimize: bool = False
    reward_range: tuple[float, float] | None = None
    noise_scale: float | None = None
    not_settable: Sequence[str] = ()
