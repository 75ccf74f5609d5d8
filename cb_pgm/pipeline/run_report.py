"""What a run found out, as one JSON object, as tidy frames, and as text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cb_pgm.model.intervention import Intervention

if TYPE_CHECKING:
    import pandas as pd

    from cb_pgm.pipeline.recommendation import Recommendation
    from cb_pgm.pipeline.task import Task
    from cb_pgm.simulation import Run
    from discovery.graphs.comparison import Comparison

__all__ = ["Played", "RunReport"]


@dataclass(frozen=True)
class Played:
    """One repetition of one policy on one graph ("estimated", "oracle" or "none"), and its outcome."""

    policy: str
    graph: str
    run: int
    outcome: Run


@dataclass(frozen=True)
class RunReport:
    """A finished run: the task, and every policy's outcomes in playing order."""

    task: Task
    played: tuple[Played, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON; nothing but ``graph.seconds`` differs between equal runs."""
        task = self.task
        return {
            "data": {
                "rows": task.table.n_rows,
                "variables": list(task.table.variables),
                "reward": task.settings.reward,
            },
            "warnings": list(task.warnings),
            "graph": {
                "method": task.graph.method,
                "directed": [list(edge) for edge in task.graph.graph.directed],
                "undirected": [list(edge) for edge in task.graph.graph.undirected],
                "repairs": list(task.graph.repairs),
                "seconds": round(task.graph.seconds, 3),
            },
            "truth": self._truth() if task.is_truth else None,
            "rehearsal": not task.is_truth,
            "horizon": task.settings.horizon,
            "seed": task.seed,
            "policies": [self._entry(played) for played in self.played],
        }

    def to_text(self) -> str:
        """Return for people what was played, a table of outcomes, and the recommendation."""
        from cb_pgm.pipeline.run_text import run_text

        return run_text(self)

    def curves(self) -> pd.DataFrame:
        """Return all regret curves as one tidy frame: policy, graph, run, round, regret."""
        import pandas as pd

        curves = [
            played.outcome.curve.assign(policy=played.policy, graph=played.graph, run=played.run)
            for played in self.played
        ]
        return pd.concat(curves, ignore_index=True)[["policy", "graph", "run", "round", "regret"]]

    def summary(self) -> pd.DataFrame:
        """Return a tidy frame with the entries of ``to_dict()["policies"]``, one row each."""
        import pandas as pd

        return pd.DataFrame([self._entry(played) for played in self.played])

    @cached_property
    def recommendation(self) -> Recommendation | None:
        """The intervention worth doing; None where no arm was pulled."""
        from cb_pgm.pipeline.recommendation import recommend

        return recommend(self)

    def groups(self) -> list[list[Played]]:
        """Return the repetitions of each policy on each graph, in playing order."""
        groups: dict[tuple[str, str], list[Played]] = {}
        for played in self.played:
            groups.setdefault((played.policy, played.graph), []).append(played)
        return list(groups.values())

    def correct(self, played: Played) -> bool | None:
        """Return whether those named are the reward's parents in the system; None where none is named."""
        named = played.outcome.reward_variables
        return set(named) == set(self.task.system.reward_parents) if named else None

    @cached_property
    def graph_scores(self) -> Comparison:
        """How the graph in use differs from the system's own, as `discovery.compare` says it."""
        from discovery import compare

        return compare(self.task.graph.graph, self.task.system.essential_graph())

    def _entry(self, played: Played) -> dict[str, Any]:
        outcome = played.outcome
        return {
            "policy": played.policy,
            "graph": played.graph,
            "run": played.run,
            "reward_variables": list(outcome.reward_variables),
            "correct": self.correct(played),
            "interventions_to_find": outcome.interventions_to_find,
            "regret": float(outcome.regret),
            "best_arm": None if outcome.best_arm is None else _arm(outcome.best_arm.intervention),
            "fallback": outcome.fallback,
        }

    def _truth(self) -> dict[str, Any]:
        system = self.task.system
        arm, mean = system.best_arm()
        effective_reward_gap, effective_effect_gap = system.effective_gaps(system.essential_graph())
        return {
            "reward_parents": list(system.reward_parents),
            "best_arm": _arm(arm),
            "best_mean": self.task.as_asked(mean),
            "observational_mean": self.task.as_asked(system.mean_reward()),
            "reward_gap": system.reward_gap(),
            "effect_gap": system.effect_gap(),
            "effective_reward_gap": effective_reward_gap,
            "effective_effect_gap": effective_effect_gap,
            "shd": self.graph_scores["shd"],
            "skeleton_f1": self.graph_scores["skeleton"]["f1"],
            "arrow_f1": self.graph_scores["arrow"]["f1"],
        }


def _arm(intervention: Intervention) -> dict[str, Any]:
    """Return {"variable", "state"}: two names, or two lists where several variables are set at once."""
    variables, states = list(intervention), list(intervention.values())
    if len(variables) == 1:
        return {"variable": variables[0], "state": states[0]}
    return {"variable": variables, "state": states}
