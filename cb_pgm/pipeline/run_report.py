"""What a run found out, as one JSON object, as tidy frames, and as text for people."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cb_pgm.model.intervention import Intervention
from cb_pgm.pipeline.recommendation import Recommendation, recommend
from cb_pgm.pipeline.task import Played, Task, budget_line, groups_of

if TYPE_CHECKING:
    import pandas as pd


__all__ = ["RunReport"]


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
        return "\n".join(
            [
                *_what_was_played(self.task),
                "",
                *_table(self),
                *_fallbacks(self),
                "",
                *_recommended(self.recommendation),
            ]
        )

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
        return recommend(self.task, self.played)

    def groups(self) -> list[list[Played]]:
        """Return the repetitions of each policy on each graph, in playing order."""
        return groups_of(self.played)

    def _entry(self, played: Played) -> dict[str, Any]:
        outcome = played.outcome
        return {
            "policy": played.policy,
            "graph": played.graph,
            "run": played.run,
            "reward_variables": list(outcome.reward_variables),
            "correct": self.task.correct(played),
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
            "shd": self.task.graph_scores["shd"],
            "skeleton_f1": self.task.graph_scores["skeleton"]["f1"],
            "arrow_f1": self.task.graph_scores["arrow"]["f1"],
        }


def _arm(intervention: Intervention) -> dict[str, Any]:
    """Return {"variable", "state"}: two names, or two lists where several variables are set at once."""
    variables, states = list(intervention), list(intervention.values())
    if len(variables) == 1:
        return {"variable": variables[0], "state": states[0]}
    return {"variable": variables, "state": states}


def _what_was_played(task: Task) -> list[str]:
    settings, graph, system = task.settings, task.graph, task.system
    table_line = (
        f"Table   {settings.csv}: {task.table.n_rows:,} rows, {len(task.table.variables)} variables; reward "
        f"{settings.reward}{', minimized' if settings.minimize else ''}"
    )
    arrows, lines = len(graph.graph.directed), len(graph.graph.undirected)
    graph_line = f"Graph   {graph.method}: {arrows} arrows, {lines} undirected edges"
    if graph.repairs:
        graph_line += f", {len(graph.repairs)} repairs"
    parents = ", ".join(system.reward_parents) or "nothing"
    if task.is_truth:
        scores = task.graph_scores
        graph_line += f"; SHD {scores['shd']} to the truth"
        arm, mean = system.best_arm()
        against = (
            f"Truth   {settings.truth}: reward from {parents}; best {arm} with {task.as_asked(mean):.4g}, "
            f"do() {task.as_asked(system.mean_reward()):.4g}"
        )
    else:
        against = f"Played  a rehearsal, on a model fitted to the table: reward from {parents}"
    runs = f", {settings.runs} runs each" if settings.runs > 1 else ""
    return [
        table_line,
        graph_line,
        against,
        budget_line(task),
        f"Rounds  {settings.horizon:,}{runs}, seed {task.seed}",
    ]


def _table(report: RunReport) -> list[str]:
    several = report.task.settings.runs > 1
    head = ["policy", "graph", "names", "right", "pulls to name", "regret (sd)" if several else "regret"]
    return _aligned([head, *(_row(report, group) for group in report.groups())])


def _row(report: RunReport, group: Sequence[Played]) -> list[str]:
    named = Counter(played.outcome.reward_variables for played in group if played.outcome.reward_variables)
    pulls = [
        played.outcome.interventions_to_find
        for played in group
        if played.outcome.interventions_to_find is not None
    ]
    regrets = [played.outcome.regret for played in group]
    names, right, regret = "–", "–", f"{round(statistics.fmean(regrets)):,}"
    if len(group) > 1:
        regret += f" ({statistics.stdev(regrets):,.0f})"
    if named and len(group) == 1:
        names = ", ".join(group[0].outcome.reward_variables)
        right = "yes" if report.task.correct(group[0]) else "no"
    elif named:
        names = "; ".join(f"{', '.join(variables)} ({times}×)" for variables, times in named.most_common(3))
        right = f"{sum(report.task.correct(played) is True for played in group)} of {len(group)}"
    found = f"{statistics.median_low(pulls):,}" if pulls else "–"
    return [group[0].policy, group[0].graph, names, right, found, regret]


def _fallbacks(report: RunReport) -> list[str]:
    lines = []
    for group in report.groups():
        reasons = Counter(played.outcome.fallback for played in group if played.outcome.fallback)
        for reason, times in reasons.items():
            often = f" in {times} of {len(group)} runs" if len(group) > 1 else ""
            lines.append(f"{_name(group[0])} fell back to UCB over all arms{often}: {reason}")
    return lines


def _recommended(found: Recommendation | None) -> list[str]:
    if found is None:
        return ["Recommendation", "  None: nothing was played that one could do without knowing the truth."]
    setting = " and ".join(f"{variable} = {state}" for variable, state in found.intervention.items())
    graph = "" if found.graph == "none" else f" on the {found.graph} graph"
    return [
        f"Recommendation ({found.policy}{graph})",
        f"  Set {setting}.",
        f"  Expected reward {found.mean:.4g}, {found.low:.4g} to {found.high:.4g} ({found.grounds}).",
        *(f"  {step}" for step in found.next_steps),
    ]


def _name(played: Played) -> str:
    return played.policy if played.graph == "none" else f"{played.policy} on the {played.graph} graph"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows with their cells in columns, the last two right-aligned."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    numeric = len(widths) - 2
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if column >= numeric else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells))
    return lines
