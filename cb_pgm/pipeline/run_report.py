"""`RunReport`: the outcome of a run as one JSON object, as tidy frames and as text."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cb_pgm.effects.text import effects_text
from cb_pgm.model.intervention import Intervention
from cb_pgm.pipeline.recommendation import Recommendation, recommend, recommendation_lines
from cb_pgm.pipeline.task import Played, Task, budget_lines, groups_of
from cb_pgm.policies.registry import policy_kind
from discovery.table.discrete_table import source_name
from discovery.wording import count, decimal, listed

if TYPE_CHECKING:
    import pandas as pd

    from cb_pgm.effects.report import EffectsReport


__all__ = ["RunReport"]


@dataclass(frozen=True)
class RunReport:
    """A finished run: the task, the outcome of every policy in playing order, and the table's effects.

    `effects` is what the table of a rehearsal says of every arm; None where the truth is known.
    """

    task: Task
    played: tuple[Played, ...]
    effects: EffectsReport | None

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome for JSON; between equal runs only ``graph.seconds`` differs.

        Gaps and means are in units of the reward, except ``effect_gap``, a difference of probabilities.
        The keys of "truth" that compare graphs are null where hidden causes leave no true one.
        ``interventions_to_find`` is the number of rounds to identification, and ``regret`` is in units of the
        reward (`cb_pgm.simulation.Run`). ``effects`` and ``recommendation`` are as in
        `EffectsReport.to_dict`; against a known truth the first is null, and the second rests on pulls.
        """
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
            "effects": None if self.effects is None else self.effects.to_dict(),
            "recommendation": None if self.recommendation is None else self.recommendation.to_dict(),
            "policies": [self._entry(played) for played in self.played],
        }

    def to_text(self) -> str:
        """Return the settings, a table of outcomes with its legend, and the recommendation, as text."""
        return "\n".join(
            [
                *_what_was_played(self.task),
                "",
                *_table(self),
                *_fallbacks(self),
                "",
                *_legend(self),
                "",
                *recommendation_lines(self.recommendation),
                *([] if self.effects is None else ["", effects_text(self.effects, self.task.warnings)]),
            ]
        )

    def __repr__(self) -> str:
        names = listed(dict.fromkeys(played.policy for played in self.played), most=4)
        return f"RunReport({names} on {source_name(self.task.settings.csv)}, {len(self.played)} runs)"

    def curves(self) -> pd.DataFrame:
        """Return all regret curves as a tidy frame with the columns policy, graph, run, round and regret."""
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
        """The recommendation; None if no policy without the oracle's knowledge pulled an arm of the truth."""
        return recommend(self.task, self.played, self.effects)

    def groups(self) -> list[list[Played]]:
        """Return the runs of each policy on each graph, in playing order."""
        return groups_of(self.played)

    def _entry(self, played: Played) -> dict[str, Any]:
        outcome = played.outcome
        best = outcome.best_arm
        return {
            "policy": played.policy,
            "graph": played.graph,
            "run": played.run,
            "reward_variables": list(outcome.reward_variables),
            "correct": self.task.correct(played),
            "interventions_to_find": outcome.interventions_to_find,
            "started_from": outcome.started_from,
            "regret": float(outcome.regret),
            "grounds": outcome.grounds,
            "best_arm": None if best is None else _arm(best.intervention) | {"grounds": best.grounds},
            "fallback": outcome.fallback,
            "failure_shares": self.task.policy_of(played).budget.shares(),
        }

    def _truth(self) -> dict[str, Any]:
        system = self.task.system
        arm, mean = system.best_arm()
        effective_reward_gap, effective_effect_gap = system.effective_gaps(system.true_graph())
        scores = self.task.graph_scores
        return {
            "hidden": list(system.hidden),
            "reward_parents": list(system.reward_parents),
            "best_arm": _arm(arm),
            "best_mean": self.task.unit.outside(mean),
            "observational_mean": self.task.unit.outside(system.mean_reward()),
            "reward_gap": system.reward_gap(),
            "effect_gap": system.effect_gap(),
            "effective_reward_gap": effective_reward_gap,
            "effective_effect_gap": effective_effect_gap,
            "shd": None if scores is None else scores["shd"],
            "skeleton_f1": None if scores is None else scores["skeleton"]["f1"],
            "arrow_f1": None if scores is None else scores["arrow"]["f1"],
            "parent_aid": None if scores is None else scores["parent_aid"]["share"],
            "ancestor_aid": None if scores is None else scores["ancestor_aid"]["share"],
        }


def _arm(intervention: Intervention) -> dict[str, Any]:
    """Return {"variable", "state"}: two names, or two lists if several variables are set at once."""
    variables, states = list(intervention), list(intervention.values())
    if len(variables) == 1:
        return {"variable": variables[0], "state": states[0]}
    return {"variable": variables, "state": states}


def _what_was_played(task: Task) -> list[str]:
    settings, graph, system = task.settings, task.graph, task.system
    table_line = (
        f"Table   {source_name(settings.csv)}: {task.table.n_rows:,} rows, "
        f"{len(task.table.variables)} variables; reward {settings.reward}"
        f"{', to be minimized' if settings.minimize else ''}"
    )
    undirected = count(len(graph.graph.undirected), "undirected edge")
    graph_line = f"Graph   {graph.method}: {len(graph.graph.directed)} directed and {undirected}"
    if graph.repairs:
        graph_line += f", {count(len(graph.repairs), 'repair')}"
    parents = system.reward_parents
    causes = f"the reward's {'cause is' if len(parents) == 1 else 'causes are'} {listed(parents)}"
    if task.is_truth:
        if (scores := task.graph_scores) is not None:
            graph_line += (
                f"; structural Hamming distance to the true graph {scores['shd']}, "
                f"{scores['parent_aid']['share']:.0%} of effects identified wrongly (parent-AID)"
            )
        arm, mean = system.best_arm()
        unseen = f"; hidden: {listed(system.hidden)}" if system.hidden else ""
        played = [
            f"Truth   {settings.truth}: {causes}{unseen}",
            f"Best    {arm} with mean reward {task.unit.outside(mean):.4g}; without an intervention it is "
            f"{task.unit.outside(system.mean_reward()):.4g}",
        ]
    else:
        played = [f"Model   fitted to the table, for a rehearsal: {causes}"]
    runs = f" in each of {settings.runs} runs" if settings.runs > 1 else ""
    return [
        table_line,
        graph_line,
        *played,
        *budget_lines(task),
        f"Rounds  {settings.horizon:,}{runs}, seed {task.seed}",
    ]


def _table(report: RunReport) -> list[str]:
    several = report.task.settings.runs > 1
    regret = "regret (sd)" if several else "regret"
    right = ["right"] if report.task.is_truth else []
    head = ["policy", "graph", "identified", *right, "rounds to identification", regret]
    return _aligned([head, *(_row(report, group) for group in report.groups())])


def _row(report: RunReport, group: Sequence[Played]) -> list[str]:
    found = Counter(played.outcome.reward_variables for played in group if played.outcome.reward_variables)
    rounds = [
        played.outcome.interventions_to_find
        for played in group
        if played.outcome.interventions_to_find is not None
    ]
    regrets = [played.outcome.regret for played in group]
    identified, right, regret = "–", "–", decimal(statistics.fmean(regrets))
    if len(group) > 1:
        regret += f" ({decimal(statistics.stdev(regrets))})"
    if found and len(group) == 1:
        identified = ", ".join(group[0].outcome.reward_variables)
        right = "yes" if report.task.correct(group[0]) else "no"
    elif found:
        identified = "; ".join(f"{', '.join(causes)} ({times}×)" for causes, times in found.most_common(3))
        right = f"{sum(report.task.correct(played) is True for played in group)} of {len(group)}"
    after = f"{statistics.median_low(rounds):,}" if rounds else "–"
    verdict = [right] if report.task.is_truth else []
    return [group[0].policy, group[0].graph, identified, *verdict, after, regret]


def _fallbacks(report: RunReport) -> list[str]:
    lines = []
    for group in report.groups():
        reasons = Counter(played.outcome.fallback for played in group if played.outcome.fallback)
        for reason, times in reasons.items():
            often = f" in {times} of {len(group)} runs" if len(group) > 1 else ""
            lines.append(f"{_name(group[0])} gave up its own method{often}: {reason}")
    return lines


def _legend(report: RunReport) -> list[str]:
    """Return what the words of the table mean, as far as they occur in it."""
    task = report.task
    several = task.settings.runs > 1
    system = "true network" if task.is_truth else "fitted model"
    on_oracle = {entry.name for entry in task.entries if entry.graph == "oracle"}
    lines = []
    if any(entry.graph == "none" for entry in task.entries):
        lines.append("none: the policy uses no graph.")
    if any(entry.graph == "estimated" for entry in task.entries):
        graph = "given" if task.settings.graph is not None else "estimated"
        lines.append(f"estimated: the policy works on the {graph} graph, with marginals from the table.")
    if any(not policy_kind(name).is_oracle for name in on_oracle):
        lines.append(
            f"oracle: the policy works on the essential graph of the {system}, with marginals from the table."
        )
    lines += [
        f"{name}: {policy_kind(name).summary}." for name in sorted(on_oracle) if policy_kind(name).is_oracle
    ]
    if any(played.outcome.reward_variables for played in report.played):
        lines.append(
            "identified: the only variable, or set of variables, that could explain the reward alone."
        )
        if task.is_truth:
            lines.append("right: the identified causes are those of the true network.")
        else:
            lines.append("What is identified here are causes in the fitted model, not in the world.")
    lines.append(
        "regret: mean reward lost over all rounds against the best intervention on one variable"
        f"{', averaged over the runs, with the standard deviation' if several else ''}."
    )
    means = [statistics.fmean(played.outcome.regret for played in group) for group in report.groups()]
    if min(means) < 0:
        lines.append(
            "Regret below zero: the policy set several variables at once, better than any single one."
        )
    budgets = {entry.name: entry.policy.budget for entry in task.entries}
    lines += [f"{name}: {budget}." for name, budget in budgets.items() if len(budget.shares()) > 1]
    return lines


def _name(played: Played) -> str:
    return played.policy if played.graph == "none" else f"{played.policy} on the {played.graph} graph"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows with their cells in columns, of which the last two are right-aligned."""
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
