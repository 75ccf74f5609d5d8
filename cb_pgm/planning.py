"""Plan an experiment: compute the cost of each policy on a problem before the first real pull.

A plan is made for a system, the true network or a model fitted to a table, or for systems drawn anew for each
run, such as random trees of the expected size and gaps. It compares the bounds of the theorems with simulated
runs. It shows whether a policy can identify the reward's parents within the horizon, and from which round on
its regret stays below UCB's.
"""

from __future__ import annotations

import math
import statistics
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cb_pgm.errors import CausalBanditError
from cb_pgm.model.reward_unit import RewardUnit
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.registry import make_policy, policy_kind
from cb_pgm.search import is_forest
from cb_pgm.simulation import Run, drawn_rows, simulate
from cb_pgm.theory.bounds import batch_size, exploration_bound, regret_bound
from cb_pgm.wording import decimal

if TYPE_CHECKING:
    from cb_pgm.model.intervention import Intervention
    from cb_pgm.model.system import CausalSystem

__all__ = ["Budget", "Forecast", "Plan", "make_plan"]

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
    forecasts: tuple[Forecast, ...]
    advice: tuple[str, ...]
    stopped: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        return asdict(self)


def make_plan(
    problem: CausalSystem | Callable[[np.random.Generator], CausalSystem],
    *,
    horizon: int,
    policies: Sequence[str] = DEFAULT_POLICIES,
    failure_prob: float = 0.05,
    runs: int = 20,
    seconds: float | None = None,
    seed: int = 0,
    rows: Mapping[Intervention, int] | None = None,
    unit: RewardUnit | None = None,
    progress: Callable[[int], object] | None = None,
) -> Plan:
    """Return a plan for experiments on a system, or on systems like it.

    A policy is simulated until its forecast is stable: at least ten runs, and a standard error of the mean
    regret of a tenth of it or less.

    Parameters
    ----------
    problem
        The expected system; or a function that draws one, such as a random tree of the expected size, and is
        called for each run anew. The policies know its graph, its exact marginals and its effective gaps.
    horizon
        T, the number of rounds of every simulated run.
    policies
        Names of policies; UCB is added.
    failure_prob
        δ of the policies.
    runs
        The largest number of simulated runs per policy.
    seconds
        The time after which no further run is begun or ended, but for the first one of each policy. None: no
        limit, and equal seeds give equal plans on all machines.
    seed
        The source of all randomness. The draws of a policy depend on its name and the number of the run only,
        so adding a policy changes no other forecast. All policies play on the same instances.
    rows
        How many rows of each intervention, drawn from the system, policies start from as far as they can use
        them: those of a table that there is already.
    unit
        A person's unit of rewards, which the plan is in, while the system has rewards as they are inside;
        None: that of the system.
    progress
        Called with numbers of rounds, `horizon` × `runs` × policies together unless the time is up.

    Raises
    ------
    PolicyError
        If there is no policy of a given name, or its settings don't fit the system.
    CausalSystemError
        If hidden variables leave no true graph over the observed ones.
    CausalBanditError
        If the horizon or the number of runs is less than 1.
    """
    if runs < 1:
        raise CausalBanditError(f"Expected at least 1 run but found {runs}")
    names = tuple(dict.fromkeys(("ucb", *policies)))
    played: dict[str, list[tuple[Run, CausalSystem]]] = {name: [] for name in names}
    drawn: list[PolicyContext] = []
    deadline = math.inf if seconds is None else time.monotonic() + seconds

    def step(rounds: int) -> None:
        if progress is not None:
            progress(rounds)
        if len(drawn) > 1 and time.monotonic() > deadline:
            raise _TimeIsUp

    stopped = None
    try:
        for run in range(runs):
            open_names = [name for name in names if not _is_stable([one.regret for one, _ in played[name]])]
            if not open_names:
                break
            drawn.append(_drawn(problem, seed, run, failure_prob, drawn))
            context, system = drawn[-1], drawn[-1].known_truth("a plan")
            table = np.random.SeedSequence(seed, spawn_key=(zlib.crc32(b"table"), run))
            earlier = drawn_rows(system, rows or {}, np.random.default_rng(table))
            for name in names:
                if name not in open_names:
                    step(horizon)
                    continue
                draws = np.random.SeedSequence(seed, spawn_key=(zlib.crc32(name.encode()), run))
                outcome = simulate(
                    make_policy(name, context), system, horizon, draws, earlier=earlier, progress=step
                )
                played[name].append((outcome, system))
    except _TimeIsUp:
        counts = sorted({len(own) for own in played.values()})
        few = " to ".join(str(counts[place]) for place in dict.fromkeys((0, len(counts) - 1)))
        stopped = f"stopped after {seconds:g} s, with {few} of {runs} runs of each policy"
        drawn = drawn[: counts[-1]]
    return _plan(horizon, sum((rows or {}).values()), drawn, played, stopped, unit or RewardUnit())


class _TimeIsUp(Exception):
    """Ends the simulation that is under way."""


def _drawn(
    problem: CausalSystem | Callable[[np.random.Generator], CausalSystem],
    seed: int,
    run: int,
    failure_prob: float,
    before: Sequence[PolicyContext],
) -> PolicyContext:
    """Return what policies know in a run: of the same system in all, or of one drawn for it."""
    if callable(problem):
        system = problem(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run,))))
    elif before:
        return before[0]
    else:
        system = problem
    graph = system.essential_graph()
    gaps = system.effective_gaps(graph)
    return replace(
        PolicyContext.of_system(system, graph, system.marginals(), gaps), failure_prob=failure_prob
    )


def _is_stable(regrets: Sequence[float]) -> bool:
    """Return whether the mean is known to a tenth of itself, by its standard error."""
    if len(regrets) < _FEWEST_RUNS:
        return False
    error = statistics.stdev(regrets) / math.sqrt(len(regrets))
    return error <= _STABLE * abs(statistics.fmean(regrets))


def _plan(
    horizon: int,
    rows: int,
    contexts: Sequence[PolicyContext],
    played: Mapping[str, Sequence[tuple[Run, CausalSystem]]],
    stopped: str | None,
    unit: RewardUnit,
) -> Plan:
    played = {name: [(run.outside(unit), drawn) for run, drawn in own] for name, own in played.items()}
    different = list({id(context): context for context in contexts}.values())
    by_budget = sorted(different, key=lambda context: _effective(context, horizon).exploration or math.inf)
    median = by_budget[(len(by_budget) - 1) // 2]
    system = median.known_truth("a plan")
    plan = Plan(
        n=len(system.states),
        n_states=max(map(len, system.states.values())),
        horizon=horizon,
        noise_scale=unit.difference(system.noise_scale),
        failure_prob=median.failure_prob,
        rows=rows,
        instances=len(different),
        printed=_scaled(_budget(median, (system.reward_gap(), system.effect_gap()), horizon), unit),
        effective=_scaled(_effective(median, horizon), unit),
        forecasts=tuple(_forecast(name, own, played["ucb"]) for name, own in played.items()),
        advice=(),
        stopped=stopped,
    )
    parents = max(len(context.known_truth("a plan").reward_parents) for context in different)
    return replace(plan, advice=_advice(plan, parents))


def _effective(context: PolicyContext, horizon: int) -> Budget:
    return _budget(context, context.known_gaps("a plan"), horizon)


def _scaled(budget: Budget, unit: RewardUnit) -> Budget:
    regret = None if budget.regret is None else unit.difference(budget.regret)
    return replace(budget, reward_gap=unit.difference(budget.reward_gap), regret=regret)


def _budget(context: PolicyContext, gaps: tuple[float, float], horizon: int) -> Budget:
    graph, _ = context.known_graph("a plan")
    n_states = max(map(len, context.states.values()))
    batch = batch_size(
        len(context.states), n_states, *gaps, context.failure_prob, noise_scale=context.noise_scale
    )
    if math.isinf(batch):
        return Budget(*gaps, None, None, None)
    kind: Any = "general"
    if is_forest(graph):
        kind = "tree" if len(graph.chain_components()) == 1 else "forest"
    exploration = math.ceil(exploration_bound(graph, n_states, batch, kind))
    return Budget(*gaps, int(batch), exploration, regret_bound(graph, n_states, batch, horizon, kind))


def _forecast(
    name: str,
    played: Sequence[tuple[Run, CausalSystem]],
    of_ucb: Sequence[tuple[Run, CausalSystem]],
) -> Forecast:
    kind, runs = policy_kind(name), [run for run, _ in played]
    right = [
        set(run.reward_variables) == set(system.reward_parents)
        for run, system in played
        if run.interventions_to_find is not None
    ]
    pulls = [run.interventions_to_find for run in runs if run.interventions_to_find is not None]
    low, median, high = (
        np.quantile(pulls, _QUANTILES).round().astype(int).tolist()
        if pulls and kind.identifies
        else [None] * 3
    )
    regrets = [run.regret for run in runs]
    regret_low, regret_median, regret_high = np.quantile(regrets, _QUANTILES).tolist()
    return Forecast(
        policy=name,
        runs=len(runs),
        named=len(pulls) / len(runs),
        right=sum(right) / len(runs),
        pulls_to_name=median,
        pulls_low=low,
        pulls_high=high,
        regret=statistics.fmean(regrets),
        regret_low=regret_low,
        regret_median=regret_median,
        regret_high=regret_high,
        standard_error=statistics.stdev(regrets) / math.sqrt(len(runs)) if len(runs) > 1 else None,
        beats_ucb_from=None if name == "ucb" else _crossing(runs, [run for run, _ in of_ucb]),
        fits=len(pulls) == len(runs) if kind.identifies else None,
    )


def _crossing(runs: Sequence[Run], of_ucb: Sequence[Run]) -> int | None:
    """Return the first recorded round from which the mean regret stays below UCB's to the end."""
    mean = np.mean([run.regrets for run in runs], axis=0)
    ucb = np.mean([run.regrets for run in of_ucb], axis=0)
    not_below = np.flatnonzero(mean >= ucb)
    first = 0 if len(not_below) == 0 else int(not_below[-1]) + 1
    return int(runs[0].rounds[first]) if first < len(mean) else None


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
        elif not forecast.fits:
            advice.append(
                f"{name} is the wrong tool at {plan.horizon:,} rounds: its search doesn't end in time"
            )
        elif forecast.beats_ucb_from is None:
            advice.append(f"{name} is the wrong tool at {plan.horizon:,} rounds: UCB loses less")
    candidates = [forecast for forecast in plan.forecasts if not policy_kind(forecast.policy).is_oracle]
    best = min(candidates, key=lambda forecast: forecast.regret)
    advice.append(
        f"least regret at {plan.horizon:,} rounds: {best.policy}, {decimal(best.regret)} on average"
    )
    return tuple(advice)
