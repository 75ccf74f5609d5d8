"""Sections of a study's page: estimated against true graphs, every system by itself, gaps and noise."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from cb_pgm.plotting.results import draw_by_rows, pulls_to_name, regret_by_rows
from cb_pgm.report.html.page import Block, Heading, Paragraph, Picture, Section, Table
from cb_pgm.report.html.svg import inline_svg
from cb_pgm.report.pictures import pulls_picture, regret_picture
from cb_pgm.report.study.summary import summaries, system_table
from cb_pgm.wording import number

__all__ = ["gaps_section", "rows_section", "systems_section"]

_MOST_LINES = 7  # in a picture of regret curves


def rows_section(results: pd.DataFrame) -> Section | None:
    """Return the section on graphs estimated from more and more rows; None where rows don't vary."""
    frame = regret_by_rows(results)
    if frame.loc[frame["method"] != "oracle", "rows"].nunique() < 2:
        return None
    blocks: list[Block] = [
        Paragraph(
            "The same policy on graphs estimated from more and more rows, and on the true graph (the black "
            "line). Bands hold the middle 80 % of the runs."
        )
    ]
    for place, ((policy, system), own) in enumerate(frame.groupby(["policy", "system"], sort=False)):
        label = f"{policy} on {system}: regret and rate of identification against rows. {_ends(own)}."
        wide = inline_svg(draw_by_rows(own), f"rows-{place}", label)
        narrow = inline_svg(draw_by_rows(own, narrow=True), f"rows-{place}-narrow", label)
        blocks += [Heading(f"{policy}, {system}"), Picture(wide, f"{_ends(own)}.", narrow=narrow)]
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


def systems_section(results: pd.DataFrame, curves: pd.DataFrame, horizon: int) -> Section | None:
    """Return a table, regret curves and pulls of every system, at one horizon; None without results."""
    blocks: list[Block] = []
    for place, (system, own) in enumerate(results.groupby("system", sort=False)):
        shown = _shown(own)
        of_system = curves[curves["system"] == system]
        blocks += [
            Heading(str(system)),
            system_table(summaries(own)),
            regret_picture(_only(of_system, shown), f"regret-{place}", horizon, about=f" on {system}"),
        ]
        named = pulls_to_name(_only(own, shown))
        if len(named):
            blocks.append(pulls_picture(named, f"pulls-{place}", horizon))
    return Section("systems", "System by system", blocks) if blocks else None


def _shown(results: pd.DataFrame) -> Sequence[tuple[str, str]]:
    """Return the (policy, graph) pairs to draw: those on the graphs from most rows, or from none."""
    pairs = results.drop_duplicates(["policy", "graph"])
    kept = pairs[pairs["rows"].isna() | (pairs["rows"] == pairs["rows"].max())].head(_MOST_LINES)
    return list(zip(kept["policy"], kept["graph"], strict=True))


def _only(frame: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    return frame[[pair in pairs for pair in zip(frame["policy"], frame["graph"], strict=True)]]


def gaps_section(results: pd.DataFrame) -> Section | None:
    """Return the section on the gaps and the noise scale of every system; None without results."""
    if results.empty:
        return None
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
    estimated = results[results["method"].notna() & (results["method"] != "oracle")]
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
