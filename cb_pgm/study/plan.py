"""Plan an experiment: compute the cost of each policy on a problem before the first real pull.

A plan is a study of one system: the true network, a model fitted to a table, or a random instance that is
drawn anew for each run, such as a tree of the expected size and gaps. It compares the bounds of the theorems
with simulated runs. It shows whether a policy can identify the reward's parents within the horizon, and from
which round on its regret stays below UCB's.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cb_pgm.errors import CausalBanditError, CausalSystemError
from cb_pgm.policies.registry import policy_kind
from cb_pgm.search import is_forest
from cb_pgm.study.cells import CellResult, earlier_of, play_cell, system_of
from cb_pgm.study.config import Study
from cb_pgm.study.tables import unit_of
from cb_pgm.theory.bounds import batch_size, exploration_bound, regret_bound
from cb_pgm.theory.regret_floor import graves_lai_constant, naming_floor, regret_floor
from discovery.wording import decimal

if TYPE_CHECKING:
    import pandas as pd

    from cb_pgm.model.reward_unit import RewardUnit
    from cb_pgm.model.system import CausalSystem

__all__ = ["DEFAULT_POLICIES", "Budget", "Floor", "Forecast", "Plan", "make_plan", "plan_study"]

#: The policies of a plan that names none.
DEFAULT_POLICIES = ("ucb", "cn-ucb-fixed", "cn-ucb", "screening")

_FEWEST_RUNS = 10  # of fewer the standard error itself is too uncertain
_STABLE = 0.1  # the standard error of a stable mean regret, as a share of it
_QUANTILES = (0.1, 0.5, 0.9)


@dataclass(frozen=True)
class Budget:
    """The fixed budget of CN-UCB at one pair of gaps.

    The last three attributes are None if a gap is 0, since no number of pulls is then enough.

    Attributes
    ----------
    reward_gap, effect_gap
        Δ, in units of the reward, and ε, a difference of probabilities.
    batch
        B of Theorem 1, in pulls per arm.
    exploration
        T1, the bound on all pulls until the reward's parent is identified (Lemma 1, Theorems 2 and 3).
    regret
        The theorem's bound on regret at the horizon, in units of the reward.
    """

    reward_gap: float
    effect_gap: float
    batch: int | None
    exploration: int | None
    regret: float | None


@dataclass(frozen=True)
class Floor:
    """What no policy can do without (`cb_pgm.theory.regret_floor`), in units of the reward and in rounds.

    Attributes
    ----------
    constant
        The Graves–Lai constant: the factor of log T in the least regret as T grows.
    constant_without_structure
        The same for a bandit whose arms have nothing in common.
    regret
        The regret that no policy avoids at the horizon, both here and where another state is the best.
    pulls_to_name
        The rounds that no policy can do without to identify the reward's parent, by Fano's inequality.
    """

    constant: float
    constant_without_structure: float
    regret: float
    pulls_to_name: float


@dataclass(frozen=True)
class Forecast:
    """The simulated performance of one policy.

    Attributes
    ----------
    policy
        The policy's name.
    runs
        The number of its simulated runs.
    named, right
        The shares of runs, from 0 to 1, in which it identified parents of the reward, and the right ones.
    pulls_to_name
        Rounds to identification, the median over the runs that identified parents; None if no run did or the
        policy doesn't identify any.
    pulls_low, pulls_high
        The 10 % and 90 % quantiles of the same; None where the median is.
    regret
        Mean pseudo-regret at the horizon, in units of the reward, as in `cb_pgm.simulation.Run`.
    regret_low, regret_median, regret_high
        The 10 %, 50 % and 90 % quantiles of the runs' regrets.
    standard_error
        That of the mean regret; None after a single run.
    beats_ucb_from
        The first recorded round from which its mean regret stays below UCB's; None if there is none within
        the horizon.
    fits
        Whether every run identified parents within the horizon; None for policies that don't identify any.
    """

    policy: str
    runs: int
    named: float
    right: float
    pulls_to_name: int | None
    pulls_low: int | None
    pulls_high: int | None
    regret: float
    regret_low: float
    regret_median: float
    regret_high: float
    standard_error: float | None
    beats_ucb_from: int | None
    fits: bool | None


@dataclass(frozen=True)
class Plan:
    """The size of a problem, the budgets required by theory, simulated forecasts, and advice.

    Attributes
    ----------
    n, n_states, horizon, noise_scale, failure_prob
        n, K, T, σ and δ.
    rows
        The number of rows from which policies start.
    instances
        The number of different systems played; 1 if the system is known.
    printed, effective
        The budgets at the gaps of Assumptions 2 and 3 as printed, and at the effective gaps. With several
        instances they are those of the one whose effective budget is the median.
    floor
        What no policy can do without, for the same system; None if the reward doesn't have one settable
        parent, or policies start from rows.
    forecasts
        One forecast per policy; UCB is always among them.
    advice
        Conclusions in words, one sentence each.
    stopped
        Why there are fewer runs than the forecasts need to be stable, in a sentence; None if they are stable,
        or all runs that were asked for have been played.
    """

    n: int
    n_states: int
    horizon: int
    noise_scale: float
    failure_prob: float
    rows: int
    instances: int
    printed: Budget
    effective: Budget
    floor: Floor | None
    forecasts: tuple[Forecast, ...]
    advice: tuple[str, ...]
    stopped: str | None

    def __repr__(self) -> str:
        names = ", ".join(forecast.policy for forecast in self.forecasts)
        return f"Plan({self.n} variables, {self.horizon:,} rounds: {names})"

    def to_frame(self) -> pd.DataFrame:
        """Return the forecasts, a row each, with the fields of `Forecast`."""
        import pandas as pd

        return pd.DataFrame([asdict(forecast) for forecast in self.forecasts])

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        return asdict(self)


def plan_study(
    system: Mapping[str, Any],
    *,
    horizon: int,
    policies: Sequence[str] = DEFAULT_POLICIES,
    failure_prob: float = 0.05,
    runs: int = 20,
    seed: int = 0,
) -> Study:
    """Return the study of a plan.

    Parameters
    ----------
    system
        The keys of a [[system]] of a study (`cb_pgm.study.config`). The policies know its graph, its exact
        marginals and its effective gaps.
    horizon
        T, the number of rounds of every simulated run.
    policies
        Names of policies; UCB is added.
    failure_prob
        δ of the policies.
    runs
        The largest number of simulated runs per policy.
    seed
        The source of all randomness. As in every study, adding a policy changes no other forecast, and all
        policies play on the same instances.

    Raises
    ------
    DiscoveryError, CausalBanditError
        If a setting is out of range, or a file can't be used.
    """
    names = list(dict.fromkeys(("ucb", *policies)))
    keys = {"horizons": horizon, "runs": runs, "seed": seed, "failure_prob": failure_prob}
    content = keys | {"system": [dict(system)], "policy": [{"name": names}]}
    return Study.from_dict(content, where="the plan")


def make_plan(
    study: Study, *, seconds: float | None = None, progress: Callable[[int], object] | None = None
) -> Plan:
    """Return a plan for experiments on the system of a study, or on systems like it.

    A policy is simulated until its forecast is stable: at least ten runs, and a standard error of the mean
    regret of a tenth of it or less.

    Parameters
    ----------
    study
        As `plan_study` returns it.
    seconds
        The time after which no further run is begun, but for the first one of each policy. None: no limit,
        and equal seeds give equal plans on all machines.
    progress
        Called with numbers of rounds, horizon × runs × policies together unless the time is up.

    Raises
    ------
    CausalBanditError
        If the settings of a policy don't fit the system, or hidden variables leave no true graph.
    """
    (horizon,), names = study.horizons, [part["name"] for part in study.policies]
    played: dict[str, list[CellResult]] = {name: [] for name in names}
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    stopped = None
    for cell in study.cells():
        own = played[cell.policy["name"]]
        if not _is_stable([result.row["regret"] for result in own]):
            if own and time.monotonic() > deadline:
                counts = sorted({len(results) for results in played.values()})
                few = " to ".join(map(str, counts if len(counts) < 2 else (counts[0], counts[-1])))
                stopped = f"stopped after {seconds:g} s, with {few} of {study.runs} runs of each policy"
                break
            result = play_cell(cell, study.seed)
            if result.error is not None:
                raise CausalBanditError(result.error.partition(": ")[2])
            if result.row["regret"] is None:
                raise CausalBanditError(result.row["left_out"])
            own.append(result)
        if progress is not None:
            progress(horizon)
    return _plan(study, played, stopped)


def _is_stable(regrets: Sequence[float]) -> bool:
    """Return whether the mean is known to a tenth of itself, by its standard error."""
    if len(regrets) < _FEWEST_RUNS:
        return False
    error = statistics.stdev(regrets) / math.sqrt(len(regrets))
    return error <= _STABLE * abs(statistics.fmean(regrets))


def _plan(study: Study, played: Mapping[str, Sequence[CellResult]], stopped: str | None) -> Plan:
    (part,), (horizon,) = study.systems, study.horizons
    unit = unit_of(part)
    systems = [system_of(part, run, study.seed) for run in range(max(map(len, played.values())))]
    different = list({id(system): system for system in systems}.values())
    effective = [
        (_budget(system, system.effective_gaps(system.essential_graph()), study), system)
        for system in different
    ]
    effective.sort(key=lambda one: one[0].exploration or math.inf)
    budget, system = effective[(len(effective) - 1) // 2]
    forecasts = [_forecast(name, own, played["ucb"]) for name, own in played.items()]
    rows = sum(len(rows) for _, rows in earlier_of(next(study.cells()), study.seed))
    plan = Plan(
        n=len(system.states),
        n_states=max(map(len, system.states.values())),
        horizon=horizon,
        noise_scale=unit.difference(system.noise_scale),
        failure_prob=study.failure_prob,
        rows=rows,
        instances=len(different),
        printed=_scaled(_budget(system, (system.reward_gap(), system.effect_gap()), study), unit),
        effective=_scaled(budget, unit),
        floor=None if rows else _floor(system, study, unit),
        forecasts=tuple(forecasts),
        advice=(),
        stopped=stopped,
    )
    return replace(plan, advice=_advice(plan, max(len(one.reward_parents) for one in different)))


def _floor(system: CausalSystem, study: Study, unit: RewardUnit) -> Floor | None:
    (horizon,), means = study.horizons, system.reward.means
    try:
        constant = graves_lai_constant(system)
    except CausalSystemError:
        return None
    least = naming_floor(
        len(system.states),
        study.failure_prob,
        float(means.min()),
        float(means.max()),
        system.reward.noise,
    )
    return Floor(
        unit.difference(constant),
        unit.difference(graves_lai_constant(system, structure=False)),
        unit.difference(regret_floor(system, horizon)),
        least,
    )


def _scaled(budget: Budget, unit: RewardUnit) -> Budget:
    regret = None if budget.regret is None else unit.difference(budget.regret)
    return replace(budget, reward_gap=unit.difference(budget.reward_gap), regret=regret)


def _budget(system: CausalSystem, gaps: tuple[float, float], study: Study) -> Budget:
    graph, (horizon,) = system.essential_graph(), study.horizons
    n_states = max(map(len, system.states.values()))
    batch = batch_size(
        len(system.states), n_states, *gaps, study.failure_prob, noise_scale=system.noise_scale
    )
    if math.isinf(batch):
        return Budget(*gaps, None, None, None)
    kind: Any = "general"
    if is_forest(graph):
        kind = "tree" if len(graph.chain_components()) == 1 else "forest"
    exploration = math.ceil(exploration_bound(graph, n_states, batch, kind))
    return Budget(*gaps, int(batch), exploration, regret_bound(graph, n_states, batch, horizon, kind))


def _forecast(name: str, played: Sequence[CellResult], of_ucb: Sequence[CellResult]) -> Forecast:
    kind, rows = policy_kind(name), [result.row for result in played]
    pulls = [row["interventions_to_find"] for row in rows if row["interventions_to_find"] is not None]
    low, median, high = (
        np.quantile(pulls, _QUANTILES).round().astype(int).tolist()
        if pulls and kind.identifies
        else [None] * 3
    )
    regrets = [row["regret"] for row in rows]
    regret_low, regret_median, regret_high = np.quantile(regrets, _QUANTILES).tolist()
    return Forecast(
        policy=name,
        runs=len(rows),
        named=len(pulls) / len(rows),
        right=sum(row["correct"] is True for row in rows) / len(rows),
        pulls_to_name=median,
        pulls_low=low,
        pulls_high=high,
        regret=statistics.fmean(regrets),
        regret_low=regret_low,
        regret_median=regret_median,
        regret_high=regret_high,
        standard_error=statistics.stdev(regrets) / math.sqrt(len(rows)) if len(rows) > 1 else None,
        beats_ucb_from=None if name == "ucb" else _crossing(played, of_ucb),
        fits=len(pulls) == len(rows) if kind.identifies else None,
    )


def _crossing(played: Sequence[CellResult], of_ucb: Sequence[CellResult]) -> int | None:
    """Return the first recorded round from which the mean regret stays below UCB's to the end."""
    own, ucb = (np.mean([result.curve for result in results], axis=0) for results in (played, of_ucb))
    not_below = np.flatnonzero(own[:, 1] >= ucb[:, 1])
    first = 0 if len(not_below) == 0 else int(not_below[-1]) + 1
    return int(own[first, 0]) if first < len(own) else None


def _advice(plan: Plan, parents: int) -> tuple[str, ...]:
    advice = []
    if parents > 1:
        advice.append(
            f"the reward has {parents} parents: CN-UCB's assumption of a single one fails, so its searches "
            f"look for all of them"
        )
    by_policy = {forecast.policy: forecast for forecast in plan.forecasts}
    for name in ("cn-ucb-fixed", "cn-ucb"):
        if name not in by_policy:
            continue
        forecast = by_policy[name]
        if plan.effective.batch is None:
            advice.append(f"{name} is the wrong tool: a gap is 0, so no number of pulls is enough")
        elif forecast.beats_ucb_from is None:
            why = "UCB loses less" if forecast.fits else "its search doesn't end in time"
            advice.append(f"{name} is the wrong tool at {plan.horizon:,} rounds: {why}")
    candidates = [forecast for forecast in plan.forecasts if not policy_kind(forecast.policy).is_oracle]
    best = min(candidates, key=lambda forecast: forecast.regret)
    advice.append(
        f"least regret at {plan.horizon:,} rounds: {best.policy}, {decimal(best.regret)} on average"
    )
    return tuple(advice)
