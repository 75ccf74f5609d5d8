"""Plan an experiment: compute the cost of each policy on a problem before the first real pull.

A plan is made for a system: the true network, a model fitted to a table, or a random tree of the expected
size and gaps. It compares the bounds of the theorems with simulated runs. It shows whether a policy can
identify the reward's parents within the horizon, and from which round on its regret stays below UCB's.
"""

from __future__ import annotations

import math
import statistics
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.registry import make_policy, policy_kind
from cb_pgm.search import is_forest
from cb_pgm.simulation import Run, simulate
from cb_pgm.theory.bounds import batch_size, exploration_bound, regret_bound

if TYPE_CHECKING:
    from cb_pgm.model.system import CausalSystem
    from discovery import EssentialGraph

__all__ = ["Budget", "Forecast", "Plan", "make_plan"]

#: The policies of a plan that names none.
DEFAULT_POLICIES = ("ucb", "cn-ucb-fixed", "cn-ucb", "screening")


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
    named, right
        The shares of runs, from 0 to 1, in which it identified parents of the reward, and the right ones.
    pulls_to_name
        Rounds to identification, the median over the runs that identified parents; None if no run did or the
        policy doesn't identify any.
    regret
        Mean pseudo-regret at the horizon, in units of the reward.
    beats_ucb_from
        The first recorded round from which its mean regret stays below UCB's; None if there is none within
        the horizon.
    fits
        Whether every run identified parents within the horizon; None for policies that don't identify any.
    """

    policy: str
    named: float
    right: float
    pulls_to_name: int | None
    regret: float
    beats_ucb_from: int | None
    fits: bool | None


@dataclass(frozen=True)
class Plan:
    """The size of a problem, the budgets required by theory, simulated forecasts, and advice.

    Attributes
    ----------
    n, n_states, horizon, noise_scale, failure_prob, runs
        n, K, T, σ, δ and the number of simulated runs per policy.
    printed, effective
        The budgets at the gaps of Assumptions 2 and 3 as printed, and at the effective gaps.
    forecasts
        One forecast per policy; UCB is always among them.
    advice
        Conclusions in words, one sentence each.
    """

    n: int
    n_states: int
    horizon: int
    noise_scale: float
    failure_prob: float
    runs: int
    printed: Budget
    effective: Budget
    forecasts: tuple[Forecast, ...]
    advice: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        return asdict(self)


def make_plan(
    system: CausalSystem,
    *,
    horizon: int,
    policies: Sequence[str] = DEFAULT_POLICIES,
    failure_prob: float = 0.05,
    runs: int = 5,
    seed: int = 0,
    progress: Callable[[int], object] | None = None,
) -> Plan:
    """Return a plan for experiments on `system`.

    Parameters
    ----------
    system
        The expected system. The policies know its graph, its exact marginals and its effective gaps.
    horizon
        T, the number of rounds of every simulated run.
    policies
        Names of policies; UCB is added.
    failure_prob
        δ of the policies.
    runs
        The number of simulated runs per policy.
    seed
        The source of all randomness. The draws of a policy depend on its name only, so adding a policy
        changes no other forecast.
    progress
        Called after each pull with the number of rounds simulated by it.

    Raises
    ------
    PolicyError
        If there is no policy of a given name, or its settings don't fit the system.
    CausalBanditError
        If the horizon is less than 1.
    """
    graph = system.essential_graph()
    effective = system.effective_gaps(graph)
    context = replace(
        PolicyContext.of_system(system, graph, system.marginals(), effective), failure_prob=failure_prob
    )
    played: dict[str, list[Run]] = {}
    for name in dict.fromkeys(("ucb", *policies)):
        policy = make_policy(name, context)
        for run in range(runs):
            draws = np.random.SeedSequence(seed, spawn_key=(zlib.crc32(name.encode()), run))
            outcome = simulate(policy, system, horizon, draws, progress=progress)
            played.setdefault(name, []).append(outcome)
    forecasts = tuple(_forecast(name, played[name], played["ucb"], system) for name in played)
    plan = Plan(
        n=len(system.states),
        n_states=max(map(len, system.states.values())),
        horizon=horizon,
        noise_scale=system.noise_scale,
        failure_prob=failure_prob,
        runs=runs,
        printed=_budget(graph, (system.reward_gap(), system.effect_gap()), context, horizon),
        effective=_budget(graph, effective, context, horizon),
        forecasts=forecasts,
        advice=(),
    )
    return replace(plan, advice=_advice(plan, len(system.reward_parents)))


def _budget(graph: EssentialGraph, gaps: tuple[float, float], context: PolicyContext, horizon: int) -> Budget:
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


def _forecast(name: str, runs: Sequence[Run], of_ucb: Sequence[Run], system: CausalSystem) -> Forecast:
    parents, kind = set(system.reward_parents), policy_kind(name)
    naming = [run for run in runs if run.interventions_to_find is not None]
    pulls = [run.interventions_to_find for run in naming if run.interventions_to_find is not None]
    return Forecast(
        policy=name,
        named=len(naming) / len(runs),
        right=sum(set(run.reward_variables) == parents for run in naming) / len(runs),
        pulls_to_name=int(statistics.median(pulls)) if pulls and kind.identifies else None,
        regret=statistics.fmean(run.regret for run in runs),
        beats_ucb_from=None if name == "ucb" else _crossing(runs, of_ucb),
        fits=len(naming) == len(runs) if kind.identifies else None,
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
    advice.append(f"least regret at {plan.horizon:,} rounds: {best.policy}, {best.regret:,.0f} on average")
    return tuple(advice)
