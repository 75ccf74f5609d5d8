"""Recommend an intervention after a run, with its expected reward, the grounds for it and a next step."""

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
from cb_pgm.wording import setting

if TYPE_CHECKING:
    from cb_pgm.model.intervention import ArmEstimate
    from cb_pgm.pipeline.task import Task

__all__ = ["Recommendation", "recommend", "recommendation_lines"]


@dataclass(frozen=True)
class Recommendation:
    """A recommended intervention.

    Attributes
    ----------
    policy, graph
        The policy whose best arm it is, and the graph that the policy worked on.
    intervention
        The variables to set, with their states.
    mean, low, high
        The expected mean reward and a confidence interval for it, on the scale of the table.
    grounds
        The data behind the mean and the interval, as part of a sentence.
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
    """Return the best arm of the policy with the lowest regret; None if it pulled no arm.

    Policies on the "oracle" graph are left out, since in practice nobody has that knowledge. Over several
    runs it is the arm that was best most often, with the estimate of the first run in which it was.
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


def recommendation_lines(found: Recommendation | None) -> list[str]:
    """Return the recommendation as lines of text, a heading first."""
    if found is None:
        return ["Recommendation", "  None: no policy without the oracle's knowledge has pulled an arm."]
    graph = "" if found.graph == "none" else f" on the {found.graph} graph"
    return [
        f"Recommendation ({found.policy}{graph})",
        f"  Set {setting(found.intervention)}.",
        f"  Expected mean reward {found.mean:.4g}, between {found.low:.4g} and {found.high:.4g} "
        f"({found.grounds}).",
        *(f"  {step}" for step in found.next_steps),
    ]


def _expectation(task: Task, estimate: ArmEstimate) -> tuple[float, tuple[float, float], str]:
    """Return the expected mean reward of an arm, an interval for it, and the grounds for both.

    With a true network these are the policy's own estimates. In a rehearsal the pulls inform about the fitted
    model only, so the table is used where it can be: if the arm sets all of the reward's causes, the mean
    under the intervention equals the mean of the rows with these states.
    """
    arm = estimate.intervention
    mean = task.system.mean_reward(arm)
    interval = estimate.low, estimate.high
    if task.is_truth:
        grounds = f"from {estimate.rows:,} rounds; the true mean is {task.as_asked(mean):.4g}"
        return estimate.mean, interval, grounds
    if set(arm) == set(task.system.reward_parents):
        rows = _rows_with(task, arm)
        radius = _radius(task, rows)
        grounds = f"from {rows:,} rows of the table; valid if these are the causes and nothing confounds them"
        return mean, (mean - radius, mean + radius), grounds
    grounds = f"from {estimate.rows:,} rounds in the fitted model; errors of the model are not included"
    return mean, interval, grounds


def _after_truth(task: Task, arm: Intervention) -> list[str]:
    best, best_mean = task.system.best_arm()
    lost = best_mean - task.system.mean_reward(arm)
    verdict = f"In the true network {best} is better by {lost:.4g} per round."
    if lost <= 0:
        verdict = "In the true network no intervention on one variable is better."
    spread = "repeat with --runs 20 to see the spread, or " if task.settings.runs == 1 else ""
    return [verdict, f"Next: {spread}leave out --truth for a rehearsal on the table alone."]


def _after_rehearsal(task: Task, arm: Intervention) -> list[str]:
    gain = task.system.mean_reward(arm) - task.system.mean_reward()
    if gain <= 0:
        return ["In the fitted model this is no better than no intervention: an experiment isn't advised."]
    scale, failure_prob = task.context.noise_scale, task.context.failure_prob
    # Means of m rewards differ σ√(2/m)-subgaussian about the gain; decided at half of it both errors are ≤ δ.
    rows = math.ceil(16 * (scale / gain) ** 2 * math.log(1 / failure_prob))
    return [
        f"In the fitted model this is better than no intervention by {gain:.4g} per round.",
        f"Next: make the intervention in {rows:,} rounds and none in {rows:,} others, and compare the means. "
        f"That detects such a gain with failure probability {failure_prob:g}.",
    ]


def _rows_with(task: Task, arm: Intervention) -> int:
    """Return the number of rows of the table with the states that `arm` sets."""
    table = task.table
    shown = np.ones(table.n_rows, dtype=np.bool_)
    for variable, state in arm.items():
        shown &= table.codes[:, table.variables.index(variable)] == table.states[variable].index(state)
    return int(shown.sum())


def _radius(task: Task, rows: int) -> float:
    """Return half the width of a 1 − δ confidence interval for the mean of `rows` rewards."""
    context = task.context
    return (
        context.noise_scale * math.sqrt(2 * math.log(2 / context.failure_prob) / rows) if rows else math.inf
    )
