"""What a run leaves for its report beside the results: graphs, the searches' stories, what was measured."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cb_pgm.pipeline.run_report import RunReport
    from cb_pgm.pipeline.task import Played

__all__ = ["run_material"]


def run_material(report: RunReport) -> dict[str, Any]:
    """Return it ready for JSON.

    Keys: "graphs", with "used" and, against a truth, "true"; "stories", of every policy that asks questions
    the one of its first run; "measured", what the assumptions are about, in the system played against;
    "recommendation".
    """
    task, system = report.task, report.task.system
    graphs = {"used": task.graph.graph}
    if task.is_truth:
        graphs["true"] = system.essential_graph()
    firsts = [group[0] for group in report.groups()]
    reward_gap, effect_gap = system.effective_gaps(system.essential_graph())
    return {
        "graphs": {name: json.loads(graph.to_json()) for name, graph in graphs.items()},
        "stories": [_story(played) for played in firsts if played.outcome.story is not None],
        "measured": {
            "reward_parents": list(system.reward_parents),
            "reward_gap": system.reward_gap(),
            "effect_gap": system.effect_gap(),
            "effective_reward_gap": reward_gap,
            "effective_effect_gap": effect_gap,
            "noise_scale": system.noise_scale,
            "smallest_probability": min(float(table.min()) for table in system.model.tables),
            "observational_mean": task.as_asked(system.mean_reward()),
            "marginal_rows": task.table.n_rows,
            "marginal_error": _marginal_error(report),
        },
        "recommendation": _recommendation(report),
    }


def _story(played: Played) -> dict[str, Any]:
    outcome = played.outcome
    story = {} if outcome.story is None else outcome.story.to_dict()
    return {"policy": played.policy, "graph": played.graph, "run": played.run, **story}


def _marginal_error(report: RunReport) -> float:
    """How far the table's frequencies may be off, all at once, at the failure probability in use."""
    from cb_pgm.pipeline.inputs import marginals_over

    task = report.task
    return marginals_over(task.table, task.system.states).sampling_error(task.context.failure_prob)


def _recommendation(report: RunReport) -> dict[str, Any] | None:
    found = report.recommendation
    if found is None:
        return None
    return {
        "policy": found.policy,
        "graph": found.graph,
        "intervention": dict(found.intervention),
        "mean": found.mean,
        "low": found.low,
        "high": found.high,
        "grounds": found.grounds,
        "next_steps": list(found.next_steps),
    }
