"""The page of a study: which policy has the lowest regret where, and how much the graph matters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from cb_pgm.errors import ReportError, StudyError
from cb_pgm.plotting.regret import line_name
from cb_pgm.provenance import VERSION
from cb_pgm.report.html.page import Facts, Page, Section, Table
from cb_pgm.report.repeat import repeat_section
from cb_pgm.report.study.sections import gaps_section, rows_section, systems_section
from cb_pgm.report.study.summary import outcome, overall_table, summaries
from cb_pgm.study.results import FILE, Results
from cb_pgm.wording import count, listed, number

__all__ = ["study_page"]

_MOST_ERRORS = 20
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
    found = summaries(longest)
    sections = [
        _settings(configuration, counts),
        rows_section(longest),
        systems_section(longest, curves[curves["horizon"] == horizon], horizon),
        gaps_section(played),
        _failures(results),
        _again(about),
    ]
    return Page(
        kind="Study",
        title=configuration["title"] or "A study",
        outcome=outcome(found, horizon) if found else "Every cell failed.",
        table=overall_table(found, horizon) if found else None,
        sections=[section for section in sections if section is not None],
        remarks=_remarks(counts, results),
        version=VERSION,
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


def _failures(results: pd.DataFrame) -> Section | None:
    failed = results[results["error"].notna()]
    if failed.empty:
        return None
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
    return Section("failed", "Cells that failed", [table])


def _again(about: dict[str, Any]) -> Section:
    return repeat_section(
        about["command"],
        about["seed"],
        about["versions"],
        about["data"],
        {"Commit": about["commit"], "Started": about["started"], "Finished": about.get("finished")},
    )
