"""Does what a policy must pull to name the reward variable fit the horizon? Said before the first pull."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from cb_pgm.policies.cn_ucb import CNUCB
from cb_pgm.theory import batch_size

if TYPE_CHECKING:
    from cb_pgm.task import Entry

__all__ = ["budget_warnings"]


def budget_warnings(entries: Iterable[Entry], horizon: int) -> tuple[str, ...]:
    """Return a line for every policy with a fixed budget of B pulls an arm that doesn't fit the horizon."""
    warnings = []
    for entry in entries:
        policy = entry.policy
        if isinstance(policy, CNUCB) and policy.evidence == "fixed":
            said = _misfit(policy, horizon)
            if said:
                warnings.append(f"{entry.name} on the {entry.graph} graph: {said}")
    return tuple(warnings)


def _misfit(policy: CNUCB, horizon: int) -> str | None:
    needs, n_states = policy.requirements, max(map(len, policy.states.values()))
    batch = batch_size(
        len(policy.states),
        n_states,
        needs.reward_gap,
        needs.effect_gap,
        needs.failure_prob,
        noise_scale=needs.noise_scale,
        marginal_rows=policy.marginals.rows,
    )
    if math.isinf(batch):
        gaps = f"{needs.reward_gap:.3g} and {needs.effect_gap:.3g}"
        return f"no number of pulls is enough for gaps of {gaps}; it plays UCB over all arms"
    question = n_states * int(batch)
    questions = max(1, math.ceil(math.log2(len(policy.states))))
    if question > horizon:
        found = f"a single question takes up to {n_states} × {int(batch):,} pulls"
    elif questions * question > horizon:
        found = f"halving takes {questions} questions, of up to {n_states} × {int(batch):,} pulls each"
    else:
        return None
    return f"{found}, more than the horizon of {horizon:,}: it may name nothing"
