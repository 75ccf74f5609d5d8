"""Does what a policy must pull to name the reward variable fit the horizon? Said before the first pull."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from cb_pgm.policies.cn_ucb import CNUCB
from cb_pgm.theory.bounds import batch_size

if TYPE_CHECKING:
    from cb_pgm.pipeline.task import Entry

__all__ = ["budget_warnings"]

_SEQUENTIAL_SHARE = 0.1  # of the fixed budget's pulls, as measured on random trees


def budget_warnings(entries: Iterable[Entry], horizon: int) -> tuple[str, ...]:
    """Return a line for every CN-UCB whose answers don't fit the horizon, as far as one can tell."""
    warnings = []
    for entry in entries:
        if isinstance(entry.policy, CNUCB):
            said = _misfit(entry.policy, horizon)
            if said:
                warnings.append(f"{entry.name} on the {entry.graph} graph: {said}")
    return tuple(warnings)


def _misfit(policy: CNUCB, horizon: int) -> str | None:
    """Say what doesn't fit, if anything: one question, or as many as halving the variables takes.

    A question is about one variable: up to K arms of B pulls each, K its number of states.
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
        gaps = f"reward {needs.reward_gap:.3g} and effect {needs.effect_gap:.3g}"
        return f"no number of pulls is enough for certain answers at gaps of {gaps}"
    fixed = policy.evidence == "fixed"
    pulls = math.ceil(batch if fixed else _SEQUENTIAL_SHARE * batch)
    questions = max(1, math.ceil(math.log2(n)))
    about = f"{'' if fixed else 'about '}{n_states} × {pulls:,} pulls"
    if n_states * pulls > horizon:
        return f"one question may take {about}, more than the horizon of {horizon:,}: it may name nothing"
    # A further cause is looked for at every joint state of those found.
    passes = sum(n_states**found for found in range(policy.max_parents))
    if passes * questions * n_states * pulls > horizon:
        repeated = f", at {passes} settings," if passes > 1 else ""
        return (
            f"{questions} questions{repeated} to halve {n} variables may need {about} each, more than "
            f"the horizon of {horizon:,}: it may name nothing"
        )
    return None
