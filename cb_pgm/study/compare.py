"""`compare`: policies against systems in one call, for scripts that need no file."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import isabstract
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from cb_pgm.errors import CausalBanditError
from cb_pgm.model.system import CausalSystem
from cb_pgm.policies.arms import UNIT_INTERVAL_SCALE
from cb_pgm.policies.base import Policy
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.registry import make_policy
from cb_pgm.processes import mapped
from cb_pgm.simulation import System, check_system, simulate
from discovery.wording import listed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["compare"]

#: A registered name, "module:attribute", a policy, its class, or what makes one from a `PolicyContext`.
PolicyLike: TypeAlias = "str | Policy | type[Policy] | Callable[[PolicyContext], Policy]"


def compare(
    policies: Sequence[PolicyLike],
    systems: System | list[System] | tuple[System, ...] | Mapping[str, System],
    horizon: int,
    seeds: int | Iterable[int] = 10,
    *,
    jobs: int = 1,
) -> pd.DataFrame:
    """Play every policy on every system, once for each seed.

    Parameters
    ----------
    policies
        Names from `cb_pgm.policies.registry`, "module:attribute" of your own, policies, classes of policies,
        or functions that take a `PolicyContext` and return a policy.
    systems
        A system, several, or several by name. Of a `CausalSystem` policies know the true essential graph, the
        marginals and the gaps; of any other object (`cb_pgm.simulation.System`) what can be set, and σ if it
        has a `noise_scale`; without one its rewards count as lying in [0, 1].
    horizon
        T, the rounds of each run.
    seeds
        The seeds, or how many: 0, 1, … The draws of a run depend on its seed, policy and system only, so
        adding a policy changes no other row.
    jobs
        The number of processes; they change no number.

    Returns
    -------
    pandas.DataFrame
        One row per policy, system and seed. Columns: policy, system, seed, horizon, regret (as in `Run`),
        reward_variables (the identified parents, names with spaces between), correct (None where nothing is
        identified or the parents aren't known), interventions_to_find, fallback.

    Raises
    ------
    CausalBanditError
        If there is no policy or no system, two have one name, or a policy doesn't fit a system.

    Examples
    --------
    >>> from cb_pgm import compare, instances
    >>> found = compare(["ucb", "screening"], instances.tree(5, 2, seed=1), horizon=500, seeds=3)
    >>> found.groupby("policy")["regret"].mean().idxmin()
    'screening'
    """
    if isinstance(systems, Mapping):
        named = dict(systems)
    else:
        several = systems if isinstance(systems, list | tuple) else [systems]
        named = {f"system {number}": system for number, system in enumerate(several, start=1)}
    labels = [_label(policy) for policy in policies]
    if not labels or not named or len(set(labels)) < len(labels):
        raise CausalBanditError(
            f"Expected policies with names of their own, and a system, but found {labels} and {list(named)}"
        )
    for system in named.values():
        check_system(system)
    numbers = range(seeds) if isinstance(seeds, int) else list(seeds)
    runs = [
        (label, policy, name, system, seed)
        for name, system in named.items()
        for label, policy in zip(labels, policies, strict=True)
        for seed in numbers
    ]
    import pandas as pd

    return pd.DataFrame(mapped(_row, horizon, runs, jobs=jobs))


def _row(horizon: int, run: tuple[str, PolicyLike, str, System, int]) -> dict[str, Any]:
    label, like, name, system, seed = run
    key = tuple(zlib.crc32(text.encode()) for text in (label, name))
    outcome = simulate(_made(like, system), system, horizon, np.random.SeedSequence(seed, spawn_key=key))
    found = outcome.reward_variables
    parents = getattr(system, "reward_parents", None)
    return {
        "policy": label,
        "system": name,
        "seed": seed,
        "horizon": horizon,
        "regret": float(outcome.regret),
        "reward_variables": " ".join(found),
        "correct": set(found) == set(parents) if found and parents is not None else None,
        "interventions_to_find": outcome.interventions_to_find,
        "fallback": outcome.fallback,
    }


def _label(policy: PolicyLike) -> str:
    if isinstance(policy, str):
        return policy
    return str(getattr(policy, "name", None) or getattr(policy, "__name__", type(policy).__name__))


def _made(policy: PolicyLike, system: System) -> Policy:
    if isinstance(policy, Policy):
        return policy
    if isabstract(policy):
        missing = sorted(policy.__abstractmethods__)  # type: ignore[union-attr]
        raise CausalBanditError(
            f"Expected a policy with its four methods but found {policy.__name__} without "  # type: ignore[union-attr]
            f"{listed(missing)}: write them (help(Policy))"
        )
    if isinstance(system, CausalSystem):
        graph = system.true_graph()
        context = PolicyContext.of_system(system, graph, system.marginals(), system.effective_gaps(graph))
    else:
        scale = float(getattr(system, "noise_scale", UNIT_INTERVAL_SCALE))
        context = PolicyContext(system.states, scale, system.settable)
    if isinstance(policy, str):
        return make_policy(policy, context)
    make: Callable[[PolicyContext], Policy] = getattr(policy, "from_context", policy)
    return make(context)
