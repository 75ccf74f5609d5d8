"""Warn before the first pull if the pulls that CN-UCB needs to identify a cause don't fit the horizon."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from cb_pgm.policies.cn_ucb import CNUCB
from cb_pgm.theory.bounds import batch_size

if TYPE_CHECKING:
    from cb_pgm.model.reward_unit import RewardUnit
    from cb_pgm.pipeline.task import Entry

__all__ = ["budget_warnings"]

_SEQUENTIAL_SHARE = 0.1  # of the fixed budget's pulls, as measured on random trees


def budget_warnings(entries: Iterable[Entry], horizon: int, unit: RewardUnit) -> tuple[str, ...]:
    """Return a one-line warning for every CN-UCB whose queries probably don't fit the horizon (in rounds).

    `unit` is that of a person; the policies have rewards as they are inside.
    """
    warnings = []
    for entry in entries:
        if isinstance(entry.policy, CNUCB):
            misfit = _misfit(entry.policy, horizon, unit)
            if misfit:
                warnings.append(f"{entry.name} on the {entry.graph} graph: {misfit}")
    return tuple(warnings)


def _misfit(policy: CNUCB, horizon: int, unit: RewardUnit) -> str | None:
    """Return what doesn't fit: one query, or as many as halving the variables takes; None if both fit.

    A query is about one variable. It takes up to K arms of B pulls each, with K the number of its states.
    """
    needs, n, n_states = policy.requirements, len(policy.states), max(map(len, policy.states.values()))
    batch = batch_size(
        n,
        n_states,
        needs.reward_gap,
        needs.effect_gap,
        needs.failure_prob,
        noise_scale=needs.noise_scale,
        marginal_rows=policy.marginals.rows,
    )
    if math.isinf(batch):
        gaps = f"reward {unit.difference(needs.reward_gap):.3g} and effect {needs.effect_gap:.3g}"
        only = ", so only screening may identify a cause" if not policy.asks_first else ""
        return f"no number of pulls guarantees the answers at the gaps {gaps}{only}"
    # Screening needs no gaps and shares the rows, so that a cause may be identified long before.
    consequence = (
        "screening, on the same rows, will have to identify the cause"
        if not policy.asks_first
        else "it may identify no cause"
    )
    fixed = policy.evidence == "fixed"
    pulls = math.ceil(batch if fixed else _SEQUENTIAL_SHARE * batch)
    queries = max(1, math.ceil(math.log2(n)))
    about = f"{'' if fixed else 'about '}{n_states} × {pulls:,} pulls"
    if n_states * pulls > horizon:
        return f"one query may take {about}, more than the horizon of {horizon:,} rounds: {consequence}"
    # A further cause is looked for at every joint state of those found.
    passes = sum(n_states**found for found in range(policy.max_parents))
    if passes * queries * n_states * pulls > horizon:
        repeated = f", at {passes} settings of the causes found," if passes > 1 else ""
        return (
            f"its {queries} queries to search {n} variables{repeated} may take {about} each, more than the "
            f"horizon of {horizon:,} rounds: {consequence}"
        )
    return None
