"""`RunSettings`: the settings of a run, carried as one value from the command line to the run's folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from discovery.estimation.settings import EstimateSettings
from discovery.table.discrete_table import Source
from discovery.table.settings import TableSettings

__all__ = ["RunSettings"]


@dataclass(frozen=True)
class RunSettings(TableSettings, EstimateSettings):
    """The settings of a run: those below, and those of `TableSettings` and `EstimateSettings`.

    Parameters
    ----------
    csv
        The table of observations: a CSV or Parquet file, or a data frame.
    reward
        A numeric column, or "column=state" for a reward of 1 where the column has that state and 0 elsewhere.
    truth
        The true network in BIF, to play against. None: a *rehearsal* on a model fitted to the table.
    hidden
        Variables of the true network that are sampled but never shown, listed or set; columns of these names
        are left out of the table. Where one is a common cause of others no graph over these is true, and no
        policy plays on the "oracle" graph.
    graph
        A graph in JSON or BIF to use instead of an estimate.
    policies
        Names from `cb_pgm.policies.registry`, or "module:attribute(key=value)" for policies of your own.
        Policies that work on a graph play on the "estimated"
        graph with the marginals of the table. With a true network they also play on the "oracle" graph, which
        is the true essential graph, with the same marginals. Policies that know the whole system count as
        "oracle" too, those that use no graph as "none".
    horizon
        Rounds of each run.
    runs
        Runs of each policy on each graph.
    seed
        Seed of all randomness; None: drawn, and kept in the task.
    failure_prob
        δ, the allowed probability of a wrong answer.
    reward_gap, effect_gap
        Δ, in units of the reward, and ε, a difference of probabilities: the smallest effects that a search
        has to detect. None: those of the true network or of the fitted model (`CausalSystem.effective_gaps`).
    max_parents
        The largest number of causes of the reward that policies look for; None: as many as the true network
        or the fitted model has.
    minimize
        Look for the lowest mean reward.
    reward_range
        The lowest and the highest reward, for the bounds that assume nothing; None: the observed ones.
    noise_scale
        σ of the rewards; None: ½ for rewards of 0 and 1, otherwise that of the residuals given the reward's
        causes in the fitted model (`cb_pgm.effects.noise`).
    not_settable
        Variables that can't be set.
    randomised
        Variables that were set at random in every row of the table; its rows count as rows in which they
        were set.
    cold
        Let policies start without any rows. Otherwise they learn from the table what they can before their
        first pull. In a rehearsal it is a table drawn anew from the fitted model for each run, with as many
        rows of each intervention (`cb_pgm.problem.earlier_rows`).
    draws
        In a rehearsal: the number of resampled tables from which the effects are estimated.
    jobs, dask
        Where these are drawn: the number of processes, or the address of a Dask scheduler.
    """

    csv: Source
    reward: str
    truth: str | Path | None = None
    hidden: Sequence[str] = ()
    graph: str | Path | None = None
    policies: Sequence[str] = ("cn-ucb", "screening", "moss")
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
    randomised: Sequence[str] = ()
    cold: bool = False
    draws: int = 100
    jobs: int = 1
    dask: str | None = None
