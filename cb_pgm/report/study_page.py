"""The page of a study: which policy has the lowest regret where, and how much the graph matters."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cb_pgm.errors import ReportError, StudyError
from cb_pgm.plotting.regret import line_name
from cb_pgm.plotting.results import draw_by_rows, pulls_to_name, regret_by_rows
from cb_pgm.report.page import Block, Facts, Heading, Page, Paragraph, Picture, Section, Table
from cb_pgm.report.shared import policies_table, pulls_picture, regret_picture, repeat_section
from cb_pgm.study.results import FILE, Results
from discovery.wording import count, listed, number, share

__all__ = ["study_page"]

_MOST_ERRORS = 20
_MOST_LINES = 7  # in a picture of regret curves
_COLUMNS = (
    "Right are the runs that identified exactly the reward's parents; the rounds to identification are the "
    "median of the runs that identified any."
)
# Columns that no row has where every cell failed.
_OUTCOMES = (
    "n",
    "reward_gap",
    "effect_gap",
    "noise_scale",
    "shd",
    "regret",
    "correct",
    "interventions_to_find",
    "left_out",
)


def study_page(folder: Path) -> Page:
    """Return the page of a study's folder, finished or not.

    Raises
    ------
    ReportError
        If its file is no study's, or no cell is done yet.
    """
    about, counts, results, curves = _read(folder / FILE)
    if not counts["done"]:
        raise ReportError(
            f"Expected a study with at least one cell played but found none in {folder}: run the study first"
        )
    played = results[results["error"].isna() & results["regret"].notna()]
    horizon = int(results["horizon"].max())
    longest, configuration = played[played["horizon"] == horizon], about["configuration"]
    longest = longest.assign(name=list(map(line_name, longest["policy"], longest["graph"])))
    sections = [
        Section("policies", "The policies", [_overall(longest, horizon)] if len(longest) else []),
        _by_rows(longest),
        _systems(longest, curves[curves["horizon"] == horizon], horizon),
        _gaps(played),
        _failures(results),
        _settings(configuration, counts),
        _again(about),
    ]
    return Page(
        kind="Study",
        title=configuration["title"] or "A study",
        outcome=_outcome(longest, horizon) if len(longest) else "Every cell failed.",
        sections=[section for section in sections if section.blocks],
        warnings=_remarks(counts, results),
    )


def _read(path: Path) -> tuple[dict[str, Any], dict[str, int], pd.DataFrame, pd.DataFrame]:
    try:
        found = Results.read(path)
    except StudyError as error:
        raise ReportError(str(error)) from None
    if "configuration" not in found.about:
        raise ReportError(f"Expected a study's results but found none of this version in {path}")
    results = found.frame()
    results = results.reindex(columns=[*dict.fromkeys((*results.columns, *_OUTCOMES))])
    return found.about, found.counts(), results, found.curves()


def _remarks(counts: dict[str, int], results: pd.DataFrame) -> list[str]:
    remarks = []
    if counts["done"] < counts["cells"]:
        remarks.append(f"Not finished: {counts['done']:,} of {counts['cells']:,} cells have been played.")
    if counts["failed"]:
        remarks.append(f"Not counted, since they failed: {count(counts['failed'], 'cell')}.")
    left_out = results["left_out"].dropna()
    remarks += [
        f"Not played, since {why}: {count(cells, 'cell')}." for why, cells in left_out.value_counts().items()
    ]
    return remarks


def _regrets(results: pd.DataFrame) -> pd.DataFrame:
    """Return the mean regret, a row a system and a column a policy and graph."""
    return results.pivot_table(index="system", columns="name", values="regret", sort=False)


def _outcome(results: pd.DataFrame, horizon: int) -> str:
    """Return which policies have the lowest mean regret; the true graph counts only if there is no other."""
    told = results["graph"].eq("oracle") | results["method"].eq("oracle")
    fair = results[~told]
    if set(fair["policy"]) != set(results["policy"]):
        fair = results
    among = ", among policies that don't know the true graph" if len(fair) < len(results) else ""
    regrets = _regrets(fair)
    winners = regrets.idxmin(axis=1).value_counts()
    if len(regrets) == 1:
        (name,), (regret,) = winners.index, regrets.min(axis=1)
        return f"{name} has the lowest mean regret over {horizon:,} rounds{among}: {number(round(regret))}."
    shares = [f"{name} on {share(int(times), len(regrets))} systems" for name, times in winners.items()]
    return f"The lowest mean regret over {horizon:,} rounds{among}: {'; '.join(shares)}."


def _overall(results: pd.DataFrame, horizon: int) -> Table:
    """Return one row a policy and graph, over all systems."""
    regrets = _regrets(results)
    lowest = regrets.le(regrets.min(axis=1), axis=0)
    rows = []
    for name, own in results.groupby("name", sort=False):
        pulls = sorted(int(rounds) for rounds in own["interventions_to_find"].dropna())
        right = sum(value is True or value == 1 for value in own["correct"]) / len(own)
        rows.append(
            (
                str(name),
                f"{right:.0%}" if pulls else "–",
                f"{statistics.median_low(pulls):,}" if pulls else "–",
                number(round(float(regrets[name].mean()))),
                share(int(lowest[name].sum()), int(regrets[name].notna().sum())),
            )
        )
    about = (
        f"{count(len(regrets), 'system')}, {horizon:,} rounds. {_COLUMNS} Best on counts the systems on "
        "which a policy has the lowest mean regret."
    )
    head = ["policy", "right", "rounds to identification", "mean regret", "best on"]
    return Table(about, head, rows, numeric=(1, 2, 3, 4))


def _settings(configuration: dict[str, Any], counts: dict[str, int]) -> Section:
    def labels(kind: str) -> str:
        return "; ".join(part["label"] for part in configuration[kind])

    facts = [
        ("Systems", labels("system")),
        ("Graphs", labels("graph")),
        ("Policies", labels("policy")),
        ("Rounds", listed([f"{horizon:,}" for horizon in configuration["horizons"]])),
        ("Runs", f"{configuration['runs']:,} of each policy on each graph of each system"),
        ("Cells", f"{counts['cells']:,}, one for every run"),
        ("Failure probability", number(configuration["failure_prob"])),
    ]
    return Section("settings", "Settings", [Facts(facts)])


def _by_rows(results: pd.DataFrame) -> Section:
    """Return the section on graphs estimated from more and more rows; empty where rows don't vary."""
    frame = regret_by_rows(results)
    if frame.loc[frame["method"] != "oracle", "rows"].nunique() < 2:
        return Section("rows", "Estimated against true graph", [])
    blocks: list[Block] = [
        Paragraph(
            "The same policy on graphs estimated from more and more rows, and on the true graph (the black "
            "line). Bands hold the middle 80 % of the runs."
        )
    ]
    for (policy, system), own in frame.groupby(["policy", "system"], sort=False):
        label = f"{policy} on {system}: regret and rate of identification against rows. {_ends(own)}."
        blocks += [Heading(f"{policy}, {system}"), Picture(draw_by_rows(own), label, f"{_ends(own)}.")]
    return Section("rows", "Estimated against true graph", blocks)


def _ends(frame: pd.DataFrame) -> str:
    """Return the regret and accuracy with the most rows, and on the true graph, in a sentence."""
    most = frame["rows"].max()
    ends = frame[(frame["rows"] == most) | frame["rows"].isna()]
    parts = [
        f"{'the true graph' if method == 'oracle' else method} {number(round(regret))} ({right:.0%})"
        for method, regret, right in zip(ends["method"], ends["regret"], ends["right"], strict=True)
    ]
    return f"Mean regret with {most:,.0f} rows (runs that identify the causes): {'; '.join(parts)}"


def _systems(results: pd.DataFrame, curves: pd.DataFrame, horizon: int) -> Section:
    """Return a table, regret curves and pulls of every system, at one horizon; empty without results."""
    blocks: list[Block] = []
    for system, own in results.groupby("system", sort=False):
        shown = _shown(own)
        of_system = curves[curves["system"] == system]
        blocks += [
            Heading(str(system)),
            policies_table(own.drop(columns="reward_variables"), _COLUMNS),
            regret_picture(_only(of_system, shown), horizon, about=f" on {system}"),
        ]
        named = pulls_to_name(_only(own, shown))
        if len(named):
            blocks.append(pulls_picture(named, horizon))
    return Section("systems", "System by system", blocks)


def _shown(results: pd.DataFrame) -> Sequence[tuple[str, str]]:
    """Return the (policy, graph) pairs to draw: those on the graphs from most rows, or from none."""
    pairs = results.drop_duplicates(["policy", "graph"])
    kept = pairs[pairs["rows"].isna() | (pairs["rows"] == pairs["rows"].max())].head(_MOST_LINES)
    return list(zip(kept["policy"], kept["graph"], strict=True))


def _only(frame: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    return frame[[pair in pairs for pair in zip(frame["policy"], frame["graph"], strict=True)]]


def _gaps(results: pd.DataFrame) -> Section:
    """Return the section on the gaps and the noise scale of every system; empty without results."""
    if results.empty:
        return Section("assumptions", "Gaps and noise", [])
    rows = [
        (str(system), *(_range(own[column]) for column in ("n", "reward_gap", "effect_gap", "noise_scale")))
        for system, own in results.groupby("system", sort=False)
    ]
    about = Paragraph(
        "Δ is the effective gap of the reward, ε that of effects on neighbours, σ the noise scale. They are "
        "exact, and every policy was given them. For systems drawn anew for every run these are the smallest "
        "and the largest. At a gap of 0 no answer can be certain."
    )
    head = ["system", "variables", "Δ", "ε", "σ"]
    blocks: list[Block] = [about, Table("Each system", head, rows, numeric=(1, 2, 3, 4))]
    estimated = results[results["method"].notna() & results["method"].ne("oracle") & results["rows"].notna()]
    if len(estimated):
        blocks.append(_wrong_edges(estimated))
    return Section("assumptions", "Gaps and noise", blocks)


def _range(values: pd.Series[float]) -> str:
    low, high = float(values.min()), float(values.max())
    return number(low) if low == high else f"{number(low)} to {number(high)}"


def _wrong_edges(results: pd.DataFrame) -> Table:
    """Return the mean structural Hamming distance, a row a system and method, a column a number of rows."""
    sizes = sorted(int(size) for size in results["rows"].unique())
    means = results.groupby(["system", "method", "rows"], sort=False)["shd"].mean()
    rows = [
        (
            f"{system}: {method}",
            *(number(round(float(means.get((system, method, size), float("nan"))), 1)) for size in sizes),
        )
        for system, method in results[["system", "method"]].drop_duplicates().itertuples(index=False)
    ]
    caption = "Wrong edges of the estimated graphs: mean structural Hamming distance to the true graph"
    columns = ["estimate", *(f"{size:,} rows" for size in sizes)]
    return Table(caption, columns, rows, numeric=range(1, len(columns)))


def _failures(results: pd.DataFrame) -> Section:
    failed = results[results["error"].notna()]
    rows = [
        (
            str(row.system),
            line_name(str(row.policy), str(row.graph)),
            f"{row.horizon:,}",
            str(row.run),
            str(row.error),
        )
        for row in failed.head(_MOST_ERRORS).itertuples()
    ]
    caption = f"The first {len(rows)} of {len(failed):,}" if len(failed) > len(rows) else "All of these cells"
    table = Table(caption, ["system", "policy", "rounds", "run", "error"], rows, numeric=(2, 3))
    return Section("failed", "Cells that failed", [table] if rows else [])


def _again(about: dict[str, Any]) -> Section:
    return repeat_section(
        about["command"],
        about["seed"],
        about["versions"],
        about["data"],
        {"Commit": about["commit"], "Started": about["started"], "Finished": about.get("finished")},
    )
