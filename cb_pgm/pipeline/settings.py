"""`RunSettings`: the settings of a run, carried as one value from the command line to the run's folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discovery.estimation.settings import EstimateSettings
from discovery.table.settings import TableSettings

if TYPE_CHECKING:
    import networkx as nx

    from discovery import EssentialGraph
    from discovery.table.discrete_table import Source

__all__ = ["RunSettings"]


@dataclass(frozen=True)
class RunSettings(TableSettings, EstimateSettings):
    """The settings of a run: those below, and those of `TableSettings` and `EstimateSettings`.

    Parameters
    ----------
    csv
        The table of observations: a CSV or Parquet file, or a data frame.
    reward
        The outcome: a numeric column, or "column=state" for the probability of that state.
    truth
        The true network in BIF, to simulate. None: a Bayesian network fitted to the table.
    hidden
        Variables of the true network that are sampled but never shown, listed or set. Columns of these names
        are left out of the table. Where one is a common cause of others no graph over these is true, and no
        policy plays on the "oracle" graph.
    graph
        A graph (JSON or BIF) to use instead of an estimate. From Python also one of networkx or pgmpy.
    policies
        The policies to play ("cb-pgm policies" explains them), or module:attribute(key=value) for one of your
        own, which runs code: it is imported from where Python imports, sys.path, and from nowhere else.
        Policies that work on a graph play on the "estimated" graph with the marginals of the table. With a
        true network they also play on the "oracle" graph, which is the true essential graph, with the same
        marginals. Policies that know the whole system count as "oracle" too, those that use no graph as
        "none".
    horizon
        Rounds of each run.
    runs
        Runs of each policy on each graph.
    seed
        The seed of all randomness. None: drawn, and recorded.
    failure_prob
        δ, the accepted probability of a wrong answer.
    reward_gap
        Δ, the smallest effect on the mean reward that a search has to detect, in units of the reward. None:
        that of the network that is simulated (`CausalSystem.effective_gaps`).
    effect_gap
        ε, the smallest effect on a neighbour's distribution that a search has to detect, a difference of
        probabilities. None: that of the network that is simulated.
    max_parents
        The largest number of parents of the reward that policies look for. None: as many as the network that
        is simulated has.
    minimize
        Look for the lowest mean reward.
    reward_range
        The lowest and the highest reward possible, for no-assumption bounds. None: as observed.
    noise_scale
        σ, the residual SD of the reward given its parents. None: ½ for rewards of 0 and 1, otherwise
        estimated from the rows (`cb_pgm.effects.noise`).
    not_settable
        Variables that can't be set.
    randomised
        Variables that were set at random in every row of the table, as the treatment of a trial. Its rows
        count as rows in which they were set.
    control
        States with which the others of their variables are compared, each STATE or COL=STATE. None: the state
        named control, placebo, none, no, false or 0, else the most frequent one.
    block
        Variables within whose joint states an experiment was randomised.
    graphs
        Draw graphs beside an experiment's answer, too.
    worth
        The smallest difference of mean rewards worth having. None: a tenth of the rewards' SD.
    cold
        Let policies start without any rows. Otherwise they learn from the table what they can before their
        first pull. On a fitted network it is a table drawn anew from it for each run, with as many rows of
        each intervention (`cb_pgm.problem.earlier_rows`).
    draws
        The number of resampled tables from which effects are estimated. None: 100, fewer of large tables.
    jobs
        The number of processes that estimate effects.
    dask
        The address of a Dask scheduler that estimates effects instead. None: not used.
    """

    csv: Source
    reward: str
    truth: str | Path | None = None
    hidden: Sequence[str] = ()
    graph: str | Path | EssentialGraph | nx.Graph[str] | None = None
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
    control: Sequence[str] = ()
    block: Sequence[str] = ()
    graphs: bool = False
    worth: float | None = None
    cold: bool = False
    draws: int | None = None
    jobs: int = 1
    dask: str | None = None
