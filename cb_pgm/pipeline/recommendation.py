"""The intervention worth doing after a run, with what to expect of it and what to do next."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cb_pgm.model.fitting import is_binary, rewards_of
from cb_pgm.model.intervention import Intervention
from cb_pgm.pipeline.task import Played, Task, groups_of

if TYPE_CHECKING:
    from cb_pgm.model.intervention import ArmEstimate
    from cb_pgm.pipeline.task import Task

__all__ = ["Recommendation", "recommend"]


@dataclass(frozen=True)
class Recommendation:
    """What to set, and why.

    Attributes
    ----------
    policy, graph
        Whose best arm it is.
    intervention
        What to set.
    mean, low, high
        The reward to expect and an interval for it, in the table's terms.
    grounds
        On what mean and interval rest.
    next_steps
        What to do next, in sentences.
    """

    policy: str
    graph: str
    intervention: Intervention
    mean: float
    low: float
    high: float
    grounds: str
    next_steps: tuple[str, ...]


def recommend(task: Task, played: Sequence[Played]) -> Recommendation | None:
    """Return the best arm of the policy that lost least; None where it pulled no arm.

    Policies with the oracle's knowledge don't count: nobody has that in earnest. Of several runs the arm that
    came out best most often is taken, with the estimate of the first run that had it.
    """
    groups = [group for group in groups_of(played) if group[0].graph != "oracle"]
    if not groups:
        return None
    best = min(groups, key=lambda group: sum(one.outcome.regret for one in group))
    arms = [one.outcome.best_arm for one in best if one.outcome.best_arm is not None]
    if not arms:
        return None
    chosen, _ = Counter(arm.intervention for arm in arms).most_common(1)[0]
    estimate = next(arm for arm in arms if arm.intervention == chosen)
    mean, (low, high), grounds = _expectation(task, estimate)
    if is_binary(rewards_of(task.table)):
        low, high = max(0.0, low), min(1.0, high)
    low, high = sorted((task.as_asked(low), task.as_asked(high)))
    steps = _after_truth(task, chosen) if task.is_truth else _after_rehearsal(task, chosen)
    return Recommendation(
        best[0].policy, best[0].graph, chosen, task.as_asked(mean), low, high, grounds, tuple(steps)
    )


def _expectation(task: Task, estimate: ArmEstimate) -> tuple[float, tuple[float, float], str]:
    """Return the mean reward to expect of an arm, an interval for it, and on what they rest.

    Against a truth these are the policy's own. In a rehearsal pulls tell only of the fitted model, so the
    table answers where it can: if the arm sets all of the reward's causes, doing and seeing it have the same
    mean.
    """
    arm = estimate.intervention
    mean = task.system.mean_reward(arm)
    interval = estimate.low, estimate.high
    if task.is_truth:
        return estimate.mean, interval, f"{estimate.rows:,} pulls; the truth is {task.as_asked(mean):.4g}"
    if set(arm) == set(task.system.reward_parents):
        rows = _rows_with(task, arm)
        radius = _radius(task, rows)
        about = f"{rows:,} rows of the table show it, and count if nothing else causes the reward"
        return mean, (mean - radius, mean + radius), about
    about = f"in the fitted model, {estimate.rows:,} pulls; how well the model fits is not in the interval"
    return mean, interval, about


def _after_truth(task: Task, arm: Intervention) -> list[str]:
    best, best_mean = task.system.best_arm()
    lost = best_mean - task.system.mean_reward(arm)
    verdict = f"{best} is better by {lost:.4g} a round."
    if lost <= 0:
        verdict = "No intervention on one variable is better."
    spread = "repeat it with --runs 20 for the spread, or " if task.settings.runs == 1 else ""
    return [verdict, f"Next: {spread}leave --truth away, as a rehearsal on the table alone."]


def _after_rehearsal(task: Task, arm: Intervention) -> list[str]:
    gain = task.system.mean_reward(arm) - task.system.mean_reward()
    if gain <= 0:
        return ["Next: nothing; in the fitted model no intervention is better than leaving things alone."]
    scale, failure_prob = task.context.noise_scale, task.context.failure_prob
    # Means of m rewards differ σ√(2/m)-subgaussian about the gain; decided at half of it both errors are ≤ δ.
    rows = math.ceil(16 * (scale / gain) ** 2 * math.log(1 / failure_prob))
    return [
        f"In the fitted model that is better than leaving things alone by {gain:.4g} a round.",
        f"Next: do it for {rows:,} rounds and nothing for {rows:,} others, and compare: enough to tell such "
        f"a gain from none (failure probability {failure_prob:g}).",
    ]


def _rows_with(task: Task, arm: Intervention) -> int:
    """How many rows of the table show the states that `arm` sets."""
    table = task.table
    shown = np.ones(table.n_rows, dtype=np.bool_)
    for variable, state in arm.items():
        shown &= table.codes[:, table.variables.index(variable)] == table.states[variable].index(state)
    return int(shown.sum())


def _radius(task: Task, rows: int) -> float:
    """Half the width of an interval that fails with probability δ at most, for one mean of `rows` rewards."""
    context = task.context
    return (
        context.noise_scale * math.sqrt(2 * math.log(2 / context.failure_prob) / rows) if rows else math.inf
    )
