"""A run's outcome for people: what was played, a table, and the recommendation."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cb_pgm.pipeline.run_report import Played, RunReport
    from cb_pgm.pipeline.task import Task

__all__ = ["budget_line", "run_text"]


def run_text(report: RunReport) -> str:
    """Return the outcome as text: a few lines of what was played, a line per policy, and what to do."""
    return "\n".join(
        [*_what_was_played(report), "", *_table(report), *_fallbacks(report), "", *_recommendation(report)]
    )


def budget_line(task: Task) -> str:
    """Return in a line what policies are given, and where the gaps come from."""
    settings, context = task.settings, task.context
    model = "the truth" if task.is_truth else "the fitted model"
    given = settings.reward_gap is not None, settings.effect_gap is not None
    source = {
        (True, True): "as given",
        (True, False): f"the latter effective, from {model}",
        (False, True): f"the former effective, from {model}",
        (False, False): f"effective, from {model}",
    }[given]
    return (
        f"Gaps    reward {context.reward_gap:.4g}, effect {context.effect_gap:.4g} ({source}); noise scale "
        f"{context.noise_scale:.4g}, failure probability {context.failure_prob:g}"
    )


def _what_was_played(report: RunReport) -> list[str]:
    task = report.task
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
        scores = report.graph_scores
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
        right = "yes" if report.correct(group[0]) else "no"
    elif named:
        names = "; ".join(f"{', '.join(variables)} ({times}×)" for variables, times in named.most_common(3))
        right = f"{sum(report.correct(played) is True for played in group)} of {len(group)}"
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


def _recommendation(report: RunReport) -> list[str]:
    found = report.recommendation
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
