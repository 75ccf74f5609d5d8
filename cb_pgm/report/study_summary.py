"""A study's results summarised: one `Summary` a system, policy and graph, over its runs."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import pandas as pd

from cb_pgm.plotting.regret import line_name
from cb_pgm.report.page import Table
from cb_pgm.wording import count, number, share

__all__ = ["Summary", "outcome", "overall_table", "summaries", "system_table"]

_COLUMNS = (
    "Right are the runs that identified exactly the reward's causes; the rounds to identification are the "
    "median of the runs that identified any."
)


@dataclass(frozen=True)
class Summary:
    """The outcomes of a policy on a graph of a system.

    Attributes
    ----------
    system, policy, graph
        Their names.
    knows_truth
        Whether it was given the true graph, or more.
    regrets
        The final regret of each run.
    right
        The number of runs that identified exactly the causes.
    pulls
        Rounds to identification, of the runs that identified causes.
    """

    system: str
    policy: str
    graph: str
    knows_truth: bool
    regrets: tuple[float, ...]
    right: int
    pulls: tuple[int, ...]

    @property
    def name(self) -> str:
        """The policy and its graph, as figures call them."""
        return line_name(self.policy, self.graph)

    @property
    def regret(self) -> float:
        """The mean regret."""
        return statistics.fmean(self.regrets)


def summaries(results: pd.DataFrame) -> list[Summary]:
    """Return them for a study's results at one horizon, without failed cells, in order of appearance."""
    found = []
    for (system, policy, graph), own in results.groupby(["system", "policy", "graph"], sort=False):
        found.append(
            Summary(
                str(system),
                str(policy),
                str(graph),
                bool(graph == "oracle" or own["method"].eq("oracle").all()),
                tuple(map(float, own["regret"])),
                sum(value is True or value == 1 for value in own["correct"]),
                tuple(int(pulls) for pulls in own["interventions_to_find"].dropna()),
            )
        )
    return found


def outcome(found: list[Summary], horizon: int) -> str:
    """Return which policies have the lowest mean regret; the true graph counts only if there is no other."""
    fair = [one for one in found if not one.knows_truth]
    if {one.policy for one in fair} != {one.policy for one in found}:
        fair = found
    among = ", among policies that don't know the true graph" if len(fair) < len(found) else ""
    best = [min(own, key=lambda one: one.regret) for own in _by_system(fair)]
    names = [one.name for one in best]
    if len(best) == 1:
        regret = number(round(best[0].regret))
        return f"{names[0]} has the lowest mean regret over {horizon:,} rounds{among}: {regret}."
    winners = sorted(dict.fromkeys(names), key=names.count, reverse=True)
    shares = [f"{name} on {share(names.count(name), len(best))} systems" for name in winners]
    return f"The lowest mean regret over {horizon:,} rounds{among}: {'; '.join(shares)}."


def overall_table(found: list[Summary], horizon: int) -> Table:
    """Return one row a policy and graph, over all systems."""
    least = {own[0].system: min(one.regret for one in own) for own in _by_system(found)}
    by_name: dict[str, list[Summary]] = {}
    for one in found:
        by_name.setdefault(one.name, []).append(one)
    rows = []
    for name, own in by_name.items():
        runs, pulls = sum(len(one.regrets) for one in own), [n for one in own for n in one.pulls]
        first = sum(one.regret <= least[one.system] for one in own)
        rows.append(
            (
                name,
                f"{sum(one.right for one in own) / runs:.0%}" if pulls else "–",
                f"{statistics.median_low(pulls):,}" if pulls else "–",
                number(round(statistics.fmean(one.regret for one in own))),
                share(first, len(own)) if len(own) > 1 else "yes" if first else "no",
            )
        )
    about = (
        f"{count(len(least), 'system')}, {horizon:,} rounds. {_COLUMNS} Lowest regret counts the "
        f"systems on which a policy has the lowest mean regret."
    )
    head = ["policy", "right", "rounds to identification", "mean regret", "lowest regret"]
    return Table(about, head, rows, numeric=(1, 2, 3, 4))


def system_table(found: list[Summary]) -> Table:
    """Return one row a policy and graph of a single system."""
    rows = []
    for one in found:
        regret, runs = number(round(one.regret)), len(one.regrets)
        rows.append(
            (
                one.name,
                share(one.right, runs) if one.pulls else "–",
                f"{statistics.median_low(one.pulls):,}" if one.pulls else "–",
                f"{regret} ({number(round(statistics.stdev(one.regrets)))})" if runs > 1 else regret,
            )
        )
    head = ["policy", "right", "rounds to identification", "regret, mean (sd)"]
    return Table(_COLUMNS, head, rows, numeric=(2, 3))


def _by_system(found: list[Summary]) -> list[list[Summary]]:
    groups: dict[str, list[Summary]] = {}
    for one in found:
        groups.setdefault(one.system, []).append(one)
    return list(groups.values())
